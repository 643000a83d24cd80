"""The command for assistants of other makers: mcp."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from ..environment import API_KEY
from ..errors import BadRequest, Unauthorized, WorkbenchError
from ..server_package import check_server_package
from .help import Commands
from .options import OrganizationOption, ProjectOption, StoreOption, existing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from server.assistants.asking import Reply

    from ..remote.client import Client

commands = Commands()
NOT_INSTALLED = "Assistants need the extra 'mcp': pip install 'battery-workbench[mcp]'."


@commands.add("workbench mcp --store lab.db --project Ageing")
def mcp(
    store: StoreOption = None,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="URL", help="Address of a server, instead of a store on this machine."),
    ] = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
) -> None:
    """Answer an assistant (MCP) over standard input and output; an assistant's settings name this command.

    It can do what the key in `$WORKBENCH_API_KEY` can do over HTTP. A server also answers at `/mcp`. With `--url`, an
    organization is named by its id."""
    if url is not None and store is not None:
        raise BadRequest("Give either --url or --store.")
    if find_spec("mcp") is None:
        raise BadRequest(NOT_INSTALLED)
    check_server_package()
    import anyio

    key = os.environ.get(API_KEY, "")
    credentials = {"x-api-key": key} if key else {}
    if url is not None:
        from server.assistants.at_stdio import serve

        from ..remote.client import Client

        client = Client(url, key) if key else None
        credentials |= {} if organization is None else {"x-organization-id": organization}
        try:
            anyio.run(serve, OnServer(client), credentials, project)
        finally:
            if client is not None:
                client.close()
        return
    from server import Settings, create_app
    from server.assistants.at_stdio import serve_application

    from .members import organization_of

    # No tool sends files, so that no processes wait to read them.
    app = create_app(existing(store), Settings(readers=0), create=False)
    if organization is not None:
        # A key belongs to one organization, and HTTP refuses it under the name of another.
        credentials["x-organization-id"] = organization_of(app.state.workbench.store, organization, None).id
    anyio.run(serve_application, app, credentials, project)


_SENT = ("x-assistant", "x-organization-id")
"""The headers of a tool that go on to the server; the client sends the key itself."""


class OnServer:
    """Asks a server over the network; without a key it asks nobody."""

    def __init__(self, client: Client | None) -> None:
        self._client = client

    async def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """The answer of the server; an error is a reply too."""
        import anyio.to_thread
        import orjson

        from server.assistants.asking import Reply
        from server.errors import body as body_of
        from server.responses import dumps

        client = self._client

        def ask() -> Reply:
            if client is None:
                raise Unauthorized(f"Set ${API_KEY} to a key of the server. An administrator can make one.")
            sent = None if body is None else orjson.loads(body)
            told = {name: value for name, value in headers.items() if name in _SENT}
            found = client.ask(method, path, json=sent, headers=told, changes=method != "GET")
            return Reply(found.status, found.content)

        try:
            return await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)
        except WorkbenchError as error:
            return Reply(error.status, dumps(body_of(error)))
