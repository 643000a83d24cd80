"""Assistants that start a program on this machine and speak to it over its standard input and output."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from fastapi import FastAPI
from mcp.server.stdio import stdio_server

from .asking import Door, InProcess
from .protocol import Entrance, server


async def serve(door: Door, credentials: Mapping[str, str], project: str | None) -> None:
    """Answer one assistant until it closes the standard input."""
    entrance = Entrance(lambda _: door, credentials, project, secrets.token_hex(8))
    made = server(entrance)
    async with stdio_server() as (incoming, outgoing):
        await made.run(incoming, outgoing, made.create_initialization_options())


async def serve_application(app: FastAPI, credentials: Mapping[str, str], project: str | None) -> None:
    """Answer one assistant from an application of this process."""
    async with app.router.lifespan_context(app):
        await serve(InProcess(app), credentials, project)
