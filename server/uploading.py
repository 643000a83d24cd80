"""Uploads as endpoints see them: begun, sent to a signed address, and confirmed."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import TimeoutError
from contextlib import suppress
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import quote

from typing_extensions import TypedDict

from workbench.errors import BadRequest, Conflict, Forbidden, NotFound
from workbench.store import Transaction
from workbench.store.db import lease
from workbench.store.files.uploads import Purpose, Upload, UploadObject

from .context import RequestContext
from .signing import Ticket

T = TypeVar("T")
PATIENCE = 6.0
"""How long a confirm waits for its data to be stored, in seconds; clients wait for ten."""


class Target(TypedDict):
    """Where a client sends one file of an upload."""

    filename: str
    signed_url: str
    token: str
    path: str
    multipart: None


def target(context: RequestContext, upload: Upload, one: UploadObject) -> Target:
    """Where a client sends a file."""
    ticket = context.state.signer.sign(Ticket("put", ("object", one.id)), context.state.settings.url_seconds)
    return {
        "filename": one.filename,
        "signed_url": f"{context.base_url}/storage/{ticket}/{quote(one.filename)}",
        "token": ticket,
        "path": f"{upload.target}/{one.filename}",
        "multipart": None,
    }


def targets(context: RequestContext, upload: Upload) -> list[Target]:
    """Where a client sends the files of an upload."""
    return [target(context, upload, one) for one in upload.objects]


def find(context: RequestContext, target: str, purpose: Purpose) -> Upload:
    """The upload of a confirm.

    Raises
    ------
    NotFound, Forbidden
        If the caller can reach none, or another user began it.
    """
    upload = context.store.uploads.newest(target, purpose, context.scope)
    visible = context.scope.projects or (context.scope.project_id,)
    if upload is None or upload.scope.project_id not in (None, *visible):
        raise NotFound(f"There is no upload '{target}'.")
    if upload.user_id != context.actor:
        raise Forbidden("Only the user who began the upload may confirm it.")
    return upload


def require(upload: Upload, filename: str) -> UploadObject:
    one = upload.object(filename)
    if one is None or one.size is None:
        raise Conflict(f"The bytes of '{filename}' have not arrived. Send them to their signed address first.")
    return one


def replace_earlier(context: RequestContext, db: Transaction, target: str, purpose: Purpose, name: str) -> None:
    """End an earlier upload for the same record, so that a begin whose answer was lost can be sent again.

    Its address takes no bytes any more. ``name`` is that of the record.

    Raises
    ------
    Conflict
        If another user began it, or if its bytes have arrived: a confirm could not say which of the two it means. It
        holds until the address of the earlier one expires.
    """
    earlier = context.store.uploads.newest(target, purpose, context.scope)
    if earlier is None or earlier.state != "open":
        return
    expires = earlier.beat / 1e6 + context.state.settings.url_seconds
    of_another = earlier.user_id != context.actor
    if time.time() < expires and (of_another or any(one.size is not None for one in earlier.objects)):
        ends = f"after {datetime.fromtimestamp(expires, UTC):%Y-%m-%d %H:%M} UTC"
        raise Conflict(
            f"Another user is extending '{name}'. Begin when that is confirmed, or {ends}."
            if of_another
            else f"Samples for '{name}' have arrived and are not confirmed. Confirm them, or begin again {ends}."
        )
    context.store.uploads.settle(db, earlier.id, "failed", was=["open"])


def take_in(context: RequestContext, upload: Upload) -> None:
    """Start to store an upload, and wait a few seconds for the end."""
    future = context.state.intake.start(upload)
    with suppress(TimeoutError):
        future.result(PATIENCE)


def begin_running(context: RequestContext, upload: Upload, make: Callable[[Transaction], None]) -> bool:
    """Change an upload from open to running, with ``make(connection)`` in the same transaction; False if another
    request was faster."""
    with context.writing(upload.target) as db:
        if not context.store.uploads.settle(db, upload.id, "running", was=["open"], lease=lease.take()):
            return False
        make(db)
    return True


def check_same(name: str, given: T | None, begun: T) -> None:
    """Refuse a confirm that differs from the beginning of its upload; None is not compared."""
    if given is not None and given != begun:
        raise BadRequest(
            f"'{name}' differs from the beginning of the upload. Give the same value, or leave it out."
        )
