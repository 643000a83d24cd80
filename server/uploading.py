"""Uploads: a client begins one, sends the files to signed addresses, and confirms it; then the store takes them in."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from typing_extensions import TypedDict

from workbench.errors import BadRequest, Conflict, FileRefused, Forbidden, NotFound, WorkbenchError
from workbench.ingest import extend, register
from workbench.records import Measurement
from workbench.store import Transaction
from workbench.store.db import lease
from workbench.store.files.uploads import Purpose, Upload, UploadObject
from workbench.table import concat

from . import log
from .context import RequestContext
from .requests import SentFile
from .signing import Ticket

if TYPE_CHECKING:
    from .state import State

T = TypeVar("T")
SERIES, STEPS, MORE = "time_series.parquet", "steps.parquet", "time_series_extend.parquet"
PATIENCE = 6.0
"""How long a confirm waits for its data to be stored, in seconds; clients wait for ten."""
WHOLE = 2 << 30
"""Most bytes, unpacked, of a table that is held in memory as a whole: steps, an extension."""
LEFT = 24 * 3600
"""Seconds after which a file that no request finished is removed."""
ABANDONED = 7 * 24 * 3600
"""Seconds after which an upload that nobody confirmed is removed with its bytes."""


# Where the bytes of uploads are


def _object_path(state: State, object_id: str) -> Path:
    return state.files / "incoming" / f"object-{object_id}"


def _running_folder(state: State, upload: Upload) -> Path:
    return state.files / "running" / upload.id


def _running_path(state: State, upload: Upload, filename: str) -> Path:
    return _running_folder(state, upload) / filename


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


def arrive(state: State, object_id: str, sent: SentFile) -> None:
    """Keep the bytes that were sent for a file. They may be sent again until the upload is confirmed.

    Raises
    ------
    Conflict
        If the upload is confirmed already.
    """
    upload, one = state.store.uploads.of_object(object_id)
    if upload.state != "open":
        raise _confirmed(one)
    content = None
    if upload.purpose == "raw_data" or upload.about.get("measurement_type") == "file":
        content = state.store.blobs.put(sent.blocks())
    else:
        with sent.path.open("rb") as file:
            os.fsync(file.fileno())
        sent.path.replace(_object_path(state, object_id))
    if not state.store.uploads.arrived(object_id, sent.size, content):
        raise _confirmed(one)


def _confirmed(one: UploadObject) -> Conflict:
    return Conflict(f"The upload of '{one.filename}' is confirmed, so its bytes stay. Begin a new upload.")


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
        raise NotFound(f"No upload '{target}' here.")
    if upload.user_id != context.actor:
        raise Forbidden("Only the user who began the upload may confirm it.")
    return upload


def require(upload: Upload, filename: str) -> UploadObject:
    one = upload.object(filename)
    if one is None or one.size is None:
        raise Conflict(f"The bytes of '{filename}' have not arrived. Send them to their signed address first.")
    return one


# Storing


class Intake:
    """The threads that store what was uploaded, also what another process left undone when it ended."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="workbench-intake")

    def start(self, upload: Upload) -> Future[None]:
        """Store an upload whose record exists and has the status ``running``."""
        return self._pool.submit(self._take, upload)

    def resume(self) -> None:
        """Go on with uploads that a process left undone, and remove those that nobody confirmed."""
        uploads = self.state.store.uploads
        for upload in uploads.unfinished():
            if upload.lease is not None and lease.is_held(upload.lease, upload.beat):
                continue
            with self.state.store.transaction() as db:
                mine = uploads.take_over(db, upload, lease.take())
            if mine:
                log.event("upload resumed", upload=upload.id, target=upload.target)
                self.start(upload)
        _sweep(self.state.files)
        for upload in uploads.stale(int((time.time() - ABANDONED) * 1e6)):
            uploads.forget(upload.id)
            for one in upload.objects:
                _object_path(self.state, one.id).unlink(missing_ok=True)
        self._pool.submit(self._sweep_blobs)

    def _sweep_blobs(self) -> None:
        """Remove the bytes of files whose records are gone."""
        with suppress(WorkbenchError):
            gone = self.state.store.blobs.sweep(self.state.store.rows.blobs)
            if gone:
                log.event("files removed that no record has", count=gone)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _take(self, upload: Upload) -> None:
        try:
            _gather(self.state, upload)
            if upload.purpose == "extension":
                _extend(self.state, upload)
            else:
                _register(self.state, upload)
        except WorkbenchError as error:
            self._failed(upload, str(error))
        except Exception:  # Whatever broke, the record must not stay at "running" for ever.
            log.failed("upload broke", upload=upload.id, target=upload.target)
            self._failed(upload, "The data could not be stored. The server's log has the reason.")
        finally:
            shutil.rmtree(_running_folder(self.state, upload), ignore_errors=True)

    def _failed(self, upload: Upload, why: str) -> None:
        status = "ready" if upload.purpose == "extension" else "failed"
        store = self.state.store
        with suppress(NotFound), store.transaction() as db:
            store.uploads.settle(db, upload.id, "failed", was=["running"], error=why)
            ended = {"processing_status": status, "processing_error": why}
            store.rows.update(Measurement, upload.target, ended, upload.scope, upload.user_id, connection=db)


def _sweep(files: Path) -> None:
    """Remove what killed requests left behind: parts of bodies and of downloads."""
    before = time.time() - LEFT
    for folder, pattern in (("incoming", "[!o]*"), ("downloads", ".[!l]*"), ("apart", "spool-*")):
        for path in (files / folder).glob(pattern):
            with suppress(OSError):
                if path.stat().st_mtime < before:
                    path.unlink()


def _gather(state: State, upload: Upload) -> None:
    """Move the files of an upload to a folder where no request can replace them."""
    for one in upload.objects:
        there, place = _object_path(state, one.id), _running_path(state, upload, one.filename)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if there.exists():
            there.replace(place)
        elif one.size is not None and not place.exists():
            raise FileRefused(f"The bytes of '{one.filename}' are gone. Upload them again.")


def _register(state: State, upload: Upload) -> None:
    steps = upload.object(STEPS)
    given = None
    if steps is not None and steps.size is not None:
        given = concat(list(state.apart.tables(_running_path(state, upload, STEPS), most=WHOLE)()))
    store = state.store
    record = store.rows.get(Measurement, upload.target, upload.scope)
    if record.processing_status != "ready":
        register(
            store,
            upload.scope,
            {"instance_id": record.instance_id, "source": record.source},
            state.apart.tables(_running_path(state, upload, SERIES)),
            steps=given,
            derive=False,
            id=upload.target,
            present=True,
            actor=upload.user_id,
        )
    with store.transaction() as db:
        store.uploads.settle(db, upload.id, "done", was=["running"])


def _extend(state: State, upload: Upload) -> None:
    store = state.store
    more = list(state.apart.tables(_running_path(state, upload, MORE), most=WHOLE)())
    with store.transaction() as db:
        extend(store, upload.scope, upload.target, more, held=True, actor=upload.user_id)
        ended = {"processing_status": "ready", "processing_error": None}
        store.rows.update(Measurement, upload.target, ended, upload.scope, upload.user_id, connection=db)
        store.uploads.settle(db, upload.id, "done", was=["running"])


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
