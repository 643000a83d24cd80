"""What assistants can read without a tool: the schema of a recipe, and how recipes are written in a project."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.errors import BadRequest, WorkbenchError

from .. import errors
from ..responses import dumps
from .arguments import Refused, project
from .asking import Asking

SCHEMA = "workbench://recipe/schema"
CONTEXT = "workbench://context"
OF_PROJECT = CONTEXT + "/{project}"


@dataclass(frozen=True)
class Resource:
    """A text under an address; ``template`` says that the address has a place to fill in."""

    uri: str
    name: str
    description: str
    media_type: str
    template: bool = False


RESOURCES = (
    Resource(SCHEMA, "recipe-schema", "JSON Schema of a recipe.", "application/schema+json"),
    Resource(CONTEXT, "context", "How to write a recipe in the only project of the key.", "text/markdown"),
    Resource(
        OF_PROJECT,
        "context-of-project",
        "How to write a recipe in the project of this name or id.",
        "text/markdown",
        True,
    ),
)


async def read(asking: Asking, uri: str) -> tuple[str, str]:
    """The text at an address, and its media type.

    Raises
    ------
    Refused
        As the HTTP interface refuses it; also for an unknown address.
    """
    here = replace(asking, tool="read_resource")
    try:
        if uri == SCHEMA:
            reply = await here.ask("GET", "/recipe/schema")
            if reply.ok:
                return reply.content.decode(), RESOURCES[0].media_type
        elif uri == CONTEXT or uri.startswith(f"{CONTEXT}/"):
            named = uri.removeprefix(CONTEXT).strip("/")
            found = await project(here, named or asking.project)
            reply = await here.ask("GET", f"/projects/{found}/authoring-context")
            if reply.ok:
                said = reply.json()
                return f"{said['system']}\n\n{said['prompt']}", "text/markdown"
        else:
            known = ", ".join(one.uri for one in RESOURCES)
            raise BadRequest(f"There is nothing at '{uri[:200]}'. There are {known}.")
    except WorkbenchError as error:
        raise Refused(error.status, {**errors.body(error)}) from None
    raise Refused(reply.status, reply.json())


def refused_text(error: Refused) -> str:
    """The error of a resource as text."""
    return dumps({"status": error.status, **error.body}).decode()
