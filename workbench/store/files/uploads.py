"""Uploads in progress, files attached to records, and which measurements come from which raw data."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import orjson

from ...errors import NotFound
from ...records import Measurement, RawData
from ...table import JsonObject, Plain
from ..db import row_checksums
from ..db.database_file import Host
from ..records.tables import reach, values_of
from ..scope import Scope

Purpose = Literal["measurement", "extension", "raw_data"]
State = Literal["open", "running", "done", "failed"]


@dataclass(frozen=True)
class UploadObject:
    """One file of an upload. ``size`` is None until its bytes have arrived; ``blob`` is their SHA-256 in the store."""

    id: str
    filename: str
    size: int | None = None
    blob: str | None = None
    content_type: str | None = None


@dataclass(frozen=True)
class Upload:
    """An upload, from its beginning until it is processed. ``target`` is the id of its record."""

    id: str
    target: str
    purpose: Purpose
    scope: Scope
    user_id: str
    about: JsonObject
    state: State
    lease: str | None
    beat: int
    objects: tuple[UploadObject, ...]

    def object(self, filename: str) -> UploadObject | None:
        return next((one for one in self.objects if one.filename == filename), None)


@dataclass(frozen=True)
class Attachment:
    """A file kept with a record."""

    filename: str
    content_type: str
    size: int
    blob: str


class Uploads:
    """The uploads of a store."""

    def __init__(self, store: Host) -> None:
        self._store = store

    def signing_secret(self) -> bytes:
        """The secret that signs addresses. All servers on the store have the same."""
        row = self._store.execute("select value from facts where name = 'signing'").fetchone()
        return str(row[0]).encode()

    def begin(
        self,
        purpose: Purpose,
        target: str,
        scope: Scope,
        user_id: str,
        filenames: Sequence[str],
        about: Mapping[str, Plain],
        *,
        content_type: str | None = None,
    ) -> Upload:
        """Note that files will come for the record with the id ``target``."""
        made = tuple(UploadObject(secrets.token_hex(16), name, content_type=content_type) for name in filenames)
        upload = Upload(secrets.token_hex(16), target, purpose, scope, user_id, dict(about), "open", None, 0, made)
        with self._store.transaction() as db:
            now = self._store.tick(db)
            db.execute(
                "insert into uploads (id, target, purpose, organization_id, project_id, user_id, about, state, "
                "created_at, beat) values (?, ?, ?, ?, ?, ?, ?, 'open', ?, ?)",
                [
                    *(upload.id, target, purpose, scope.organization_id, scope.project_id, user_id),
                    *(orjson.dumps(upload.about).decode(), now, now),
                ],
            )
            db.executemany(
                "insert into upload_objects (id, upload, place, filename, content_type) values (?, ?, ?, ?, ?)",
                [(one.id, upload.id, place, one.filename, content_type) for place, one in enumerate(made)],
            )
            row_checksums.keep(db, "uploads", "id = ?", [upload.id])
            row_checksums.keep(db, "upload_objects", "upload = ?", [upload.id])
        return replace(upload, beat=now)

    def newest(self, target: str, purpose: Purpose, scope: Scope) -> Upload | None:
        """The newest upload for a record, if there is one in the organization."""
        row = self._store.execute(
            f"select {_COLUMNS} from uploads where target = ? and purpose = ? and organization_id = ? "  # noqa: S608
            "order by created_at desc limit 1",
            [target, purpose, scope.organization_id],
        ).fetchone()
        return None if row is None else self._upload(row)

    def of_object(self, object_id: str) -> tuple[Upload, UploadObject]:
        """The upload and the object of this id.

        Raises
        ------
        NotFound
            If there is none, or none any more.
        """
        row = self._store.execute(
            f"select {_COLUMNS} from uploads where id = (select upload from upload_objects where id = ?)",  # noqa: S608
            [object_id],
        ).fetchone()
        if row is None:
            raise NotFound("This upload is not under way.")
        upload = self._upload(row)
        return upload, next(one for one in upload.objects if one.id == object_id)

    def unfinished(self) -> list[Upload]:
        """The uploads whose processing began and did not end."""
        rows = self._store.execute(
            f"select {_COLUMNS} from uploads where state = 'running' order by created_at"  # noqa: S608
        )
        return [self._upload(row) for row in rows.fetchall()]

    def stale(self, before: int) -> list[Upload]:
        """The uploads that began before a time (microseconds since 1970) and are not being processed."""
        rows = self._store.execute(
            f"select {_COLUMNS} from uploads where state <> 'running' and created_at < ?",  # noqa: S608
            [before],
        )
        return [self._upload(row) for row in rows.fetchall()]

    def arrived(self, object_id: str, size: int, blob: str | None) -> bool:
        """Note that the bytes of an object have arrived; False if the upload is not open any more."""
        with self._store.transaction() as db:
            done = db.execute(
                "update upload_objects set size = ?, piece = ? where id = ? and "
                "(select state from uploads where id = upload) = 'open'",
                [size, blob, object_id],
            )
            row_checksums.keep(db, "upload_objects", "id = ?", [object_id])
            return bool(done.rowcount)

    def release(self, upload_id: str) -> None:
        """Note that the bytes of an upload are not needed any more: they are swept as those that nothing refers to."""
        with self._store.transaction() as db:
            db.execute("update upload_objects set piece = null where upload = ?", [upload_id])
            row_checksums.keep(db, "upload_objects", "upload = ?", [upload_id])

    def settle(
        self,
        db: sqlite3.Connection,
        upload_id: str,
        state: State,
        *,
        was: Iterable[State],
        lease: str | None = None,
        error: str | None = None,
    ) -> bool:
        """Set the state of an upload; False if its state is not one of ``was``."""
        done = db.execute(
            "update uploads set state = ?, lease = ?, error = ?, beat = ? where id = ? "
            "and state in (select value from json_each(?))",
            [state, lease, error, self._store.tick(db), upload_id, values_of(was)],
        )
        row_checksums.keep(db, "uploads", "id = ?", [upload_id])
        return bool(done.rowcount)

    def take_over(self, db: sqlite3.Connection, upload: Upload, lease: str) -> bool:
        """Take over an upload of a process that is gone; False if another process was faster."""
        done = db.execute(
            "update uploads set lease = ?, beat = ? where id = ? and state = 'running' and lease is ?",
            [lease, self._store.tick(db), upload.id, upload.lease],
        )
        row_checksums.keep(db, "uploads", "id = ?", [upload.id])
        return bool(done.rowcount)

    def forget(self, upload_id: str) -> None:
        """Drop an upload and its objects."""
        with self._store.transaction() as db:
            db.execute("delete from uploads where id = ?", [upload_id])

    def _upload(self, row: Sequence[Plain]) -> Upload:
        id, target, purpose, organization, project, user, about, state, lease, beat = row
        found = self._store.execute(
            "select id, filename, size, piece, content_type from upload_objects where upload = ? order by place",
            [id],
        )
        objects = tuple(UploadObject(*one) for one in found)
        scope = Scope(organization, project)
        return Upload(id, target, purpose, scope, user, orjson.loads(about), state, lease, beat, objects)

    # Files attached to records

    def attach(self, db: sqlite3.Connection, owner: str, name: str, file: Attachment) -> None:
        """Keep a file with a record; it replaces an older one of that name."""
        db.execute(
            "insert or replace into attachments (owner, name, filename, content_type, size, piece) "
            "values (?, ?, ?, ?, ?, ?)",
            [owner, name, file.filename, file.content_type, file.size, file.blob],
        )
        row_checksums.keep(db, "attachments", "owner = ? and name = ?", [owner, name])

    def attached(self, owner: str, name: str) -> Attachment | None:
        row = self._store.execute(
            "select filename, content_type, size, piece from attachments where owner = ? and name = ?",
            [owner, name],
        ).fetchone()
        return None if row is None else Attachment(*row)

    def detach(self, db: sqlite3.Connection, owner: str) -> None:
        db.execute("delete from attachments where owner = ?", [owner])

    # Raw data and the measurements that come from it

    def link(self, measurement_id: str, raw_data_ids: Sequence[str], db: sqlite3.Connection) -> None:
        """Note that a measurement comes from these files. Doing it twice changes nothing."""
        db.executemany(
            "insert or ignore into measurement_raw_data values (?, ?)",
            [(measurement_id, id) for id in raw_data_ids],
        )
        self._store.bump(db, "measurement_raw_data", RawData.table)

    def unlink(self, measurement_id: str, raw_data_id: str, db: sqlite3.Connection) -> None:
        """Remove the note that a measurement comes from this file."""
        db.execute(
            "delete from measurement_raw_data where measurement_id = ? and raw_data_id = ?",
            [measurement_id, raw_data_id],
        )
        self._store.bump(db, "measurement_raw_data", RawData.table)

    def raw_data_of(self, measurement_id: str, scope: Scope) -> list[str]:
        """The ids of the raw data of a measurement, oldest first."""
        clause, params = reach(RawData, scope)
        rows = self._store.execute(
            "select t.id from raw_data as t join measurement_raw_data as m on m.raw_data_id = t.id "  # noqa: S608
            f"where m.measurement_id = ? and {clause} order by t.id",
            [measurement_id, *params],
        )
        return [id for (id,) in rows]

    def measurements_of(self, raw_data_id: str, scope: Scope) -> list[str]:
        """The ids of the measurements that come from a file, oldest first."""
        clause, params = reach(Measurement, scope)
        rows = self._store.execute(
            "select t.id from measurements as t join measurement_raw_data as m on m.measurement_id = t.id "  # noqa: S608
            f"where m.raw_data_id = ? and {clause} order by t.id",
            [raw_data_id, *params],
        )
        return [id for (id,) in rows]


_COLUMNS = "id, target, purpose, organization_id, project_id, user_id, about, state, lease, beat"
