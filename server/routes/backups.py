"""A copy of the whole store, for those who administer all of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from fastapi import APIRouter
from starlette.responses import Response

from workbench.store.objects.backup import backup as backup_to
from workbench.store.objects.place import IN_FILE

from ..auth import StoreAdmin
from ..context import RequestContext
from ..requests import new_file
from ..responses import streamed
from ..routing import Route, heavy

router = APIRouter(route_class=Route, tags=["The store"])

MEDIA = "application/vnd.sqlite3"
_BLOCK = 1 << 20


@router.get(
    "/store/backup",
    response_class=Response,
    responses={200: {"content": {MEDIA: {"schema": {"type": "string", "format": "binary"}}}}},
)
@heavy
def backup(context: StoreAdmin) -> Response:
    """A copy of the store as it is now, one SQLite file. Takes an Admin of every organization in it."""
    _note(context)
    copy = new_file(context.state.files, "backup.db", MEDIA)
    try:
        backup_to(context.store, copy.path, IN_FILE)
        size, file = copy.path.stat().st_size, copy.path.open("rb")
    finally:
        # The open file stays readable until it was sent; its name goes now, so that nothing is left behind.
        copy.path.unlink(missing_ok=True)
    headers = {"content-disposition": 'attachment; filename="backup.db"'}
    return streamed(_blocks(file), MEDIA, headers, length=size)


def _note(context: RequestContext) -> None:
    """Note in the audit log of every organization that its records were handed out. The copy has the entries too."""
    caller = context.caller
    with context.writing(context.organization) as db:
        for one in context.store.rows.organizations():
            if one.id != context.organization:
                context.store.people.note(
                    db,
                    context.operation,
                    one.id,
                    context.actor,
                    key_id=caller.key_id,
                    target=one.id,
                    request=context.id,
                )


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while block := file.read(_BLOCK):
            yield block
