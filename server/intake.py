"""Storing what was uploaded, on threads of its own: a confirm may be answered before that ends."""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from workbench.errors import Conflict, FileRefused, NotFound, WorkbenchError
from workbench.ingest import extend, register
from workbench.ingest.read.parquet_subprocess import ParquetSubprocess
from workbench.records import Measurement
from workbench.store.db import lease
from workbench.store.files.uploads import Upload, UploadObject
from workbench.store.store import Store
from workbench.table import concat
from workbench.whole_file import synchronise

from . import log
from .requests import SentFile

SERIES, STEPS, MORE = "time_series.parquet", "steps.parquet", "time_series_extend.parquet"
WHOLE = 2 << 30
"""Most bytes, unpacked, of a table that is held in memory as a whole: steps, an extension."""
LEFT = 24 * 3600
"""Seconds after which a file that no request finished is removed."""
ABANDONED = 7 * 24 * 3600
"""Seconds after which an upload that nobody confirmed is removed with its bytes."""


class Intake:
    """The threads that store what was uploaded, also what another process left undone when it ended."""

    def __init__(self, store: Store, files: Path, reader: ParquetSubprocess) -> None:
        self.store = store
        self.files = files
        self._reader = reader
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="workbench-intake")

    def receive(self, object_id: str, sent: SentFile) -> None:
        """Keep the bytes that were sent for a file. They may be sent again until the upload is confirmed.

        Raises
        ------
        Conflict
            If the upload is confirmed already.
        """
        upload, one = self.store.uploads.of_object(object_id)
        if upload.state != "open":
            raise _confirmed(one)
        content = None
        kept = upload.purpose == "raw_data" or upload.about.get("measurement_type") == "file"
        if kept or self.store.shared is not None:  # the server that is asked next may be on another machine
            content = self.store.blobs.put(sent.blocks())
        else:
            with sent.path.open("rb") as file:
                os.fsync(file.fileno())
            place = self._object_path(object_id)
            sent.path.replace(place)
            synchronise(place.parent)  # before the answer
        if not self.store.uploads.arrived(object_id, sent.size, content):
            raise _confirmed(one)

    def start(self, upload: Upload) -> Future[None]:
        """Store an upload whose record exists and has the status ``running``."""
        return self._pool.submit(self._take, upload)

    def resume(self) -> None:
        """Go on with uploads that a process left undone, and remove those that nobody confirmed."""
        uploads = self.store.uploads
        for upload in uploads.unfinished():
            if upload.lease is not None and self.store.is_held(upload.lease, upload.beat):
                continue
            with self.store.transaction() as db:
                mine = uploads.take_over(db, upload, lease.take())
            if mine:
                log.event("upload resumed", upload=upload.id, target=upload.target)
                self.start(upload)
        _sweep(self.files)
        for upload in uploads.stale(int((time.time() - ABANDONED) * 1e6)):
            uploads.forget(upload.id)
            for one in upload.objects:
                self._object_path(one.id).unlink(missing_ok=True)
        self._pool.submit(self._sweep_blobs)

    def _sweep_blobs(self) -> None:
        """Remove the bytes of files whose records are gone."""
        with suppress(WorkbenchError):
            gone = self.store.blobs.sweep(self.store.rows.blobs)
            if gone:
                log.event("files removed that no record has", count=gone)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _take(self, upload: Upload) -> None:
        try:
            self._gather(upload)
            if upload.purpose == "extension":
                self._extend(upload)
            else:
                self._register(upload)
            if self.store.shared is not None:
                self.store.uploads.release(upload.id)
        except WorkbenchError as error:
            self._failed(upload, str(error))
        except Exception:  # Whatever broke, the record must not stay at "running" for ever.
            log.failed("upload broke", upload=upload.id, target=upload.target)
            self._failed(upload, "The data could not be stored. The server's log has the reason.")
        finally:
            shutil.rmtree(self._running_folder(upload), ignore_errors=True)

    def _failed(self, upload: Upload, why: str) -> None:
        status = "ready" if upload.purpose == "extension" else "failed"
        store = self.store
        with suppress(NotFound), store.transaction() as db:
            store.uploads.settle(db, upload.id, "failed", was=["running"], error=why)
            ended = {"processing_status": status, "processing_error": why}
            store.rows.update(Measurement, upload.target, ended, upload.scope, upload.user_id, connection=db)

    def _gather(self, upload: Upload) -> None:
        """Move the files of an upload to a folder where no request can replace them."""
        for one in upload.objects:
            there, place = self._object_path(one.id), self._running_path(upload, one.filename)
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if one.blob is not None:
                with place.open("wb") as file:
                    file.writelines(self.store.blobs.get(one.blob))
            elif there.exists():
                there.replace(place)
            elif one.size is not None and not place.exists():
                raise FileRefused(f"The bytes of '{one.filename}' are gone. Upload them again.")

    def _register(self, upload: Upload) -> None:
        steps = upload.object(STEPS)
        given = None
        if steps is not None and steps.size is not None:
            given = concat(list(self._reader.tables(self._running_path(upload, STEPS), most=WHOLE)()))
        store = self.store
        record = store.rows.get(Measurement, upload.target, upload.scope)
        if record.processing_status != "ready":
            register(
                store,
                upload.scope,
                {"instance_id": record.instance_id, "source": record.source},
                self._reader.tables(self._running_path(upload, SERIES)),
                steps=given,
                derive=False,
                id=upload.target,
                present=True,
                actor=upload.user_id,
            )
        with store.transaction() as db:
            store.uploads.settle(db, upload.id, "done", was=["running"])

    def _extend(self, upload: Upload) -> None:
        store = self.store
        more = list(self._reader.tables(self._running_path(upload, MORE), most=WHOLE)())
        with store.transaction() as db:
            extend(store, upload.scope, upload.target, more, held=True, actor=upload.user_id)
            ended = {"processing_status": "ready", "processing_error": None}
            store.rows.update(Measurement, upload.target, ended, upload.scope, upload.user_id, connection=db)
            store.uploads.settle(db, upload.id, "done", was=["running"])

    def _object_path(self, object_id: str) -> Path:
        return self.files / "incoming" / f"object-{object_id}"

    def _running_folder(self, upload: Upload) -> Path:
        return self.files / "running" / upload.id

    def _running_path(self, upload: Upload, filename: str) -> Path:
        return self._running_folder(upload) / filename


def _confirmed(one: UploadObject) -> Conflict:
    return Conflict(f"The upload of '{one.filename}' is confirmed, so its bytes stay. Begin a new upload.")


def _sweep(files: Path) -> None:
    """Remove what killed requests left behind: parts of bodies and of downloads."""
    before = time.time() - LEFT
    for folder, pattern in (
        ("incoming", "[!o]*"),
        ("downloads", ".[!l]*"),
        ("apart", "spool-*"),
        ("apart", "reading-*"),
    ):
        for path in (files / folder).glob(pattern):
            with suppress(OSError):
                if path.stat().st_mtime < before:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
