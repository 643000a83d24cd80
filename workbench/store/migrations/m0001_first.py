"""Format 1: the stores of 0.1.0, in ten steps whose names they keep."""

from __future__ import annotations

import secrets
import time
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from sqlite3 import Connection

import orjson

from .migration import Migration, statements

_SEALED = (
    *("organizations", "users", "projects", "materials", "material_properties", "specifications", "batches"),
    *("instances", "measurements", "analyses", "models", "simulations", "studies", "drive_cycles", "dashboards"),
    *("plots", "raw_data", "sessions", "plot_revisions", "messages", "plot_drafts"),
)


def _first_records(db: Connection) -> None:
    """What every store has from the start: an organization, a user and a project."""
    now = time.time_ns() // 1000
    organization, user, project = (_new_id(now + n) for n in range(3))
    db.execute("INSERT INTO organizations VALUES (?, 'Local', ?, ?, 'local')", [organization, now, now])
    row = [user, now + 1, now + 1]
    db.execute("INSERT INTO users VALUES (?, 'Local user', ?, ?, 'local@localhost', 'local user')", row)
    row = [project, now + 2, now + 2, organization, user]
    db.execute("INSERT INTO projects VALUES (?, 'Default', ?, ?, ?, ?, NULL, 'default')", row)
    db.execute(
        "INSERT INTO search_entries (entity, id, organization_id, created_at, name, folded, words) "
        "VALUES ('project', ?, ?, ?, 'Default', 'default', '')",
        [project, organization, now + 2],
    )
    db.execute("INSERT INTO facts (name, value) VALUES ('clock', ?)", [now + 2])


def _new_id(micros: int) -> str:
    """A version 7 UUID of this moment."""
    millis, rest = divmod(micros, 1000)
    fraction = rest * 4096 // 1000
    number = (millis & (1 << 48) - 1) << 80 | 7 << 76 | fraction << 64 | 2 << 62 | secrets.randbits(62)
    text = f"{number:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _checksums(db: Connection) -> None:
    """The checksum of every row that is there."""
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in (name for name in _SEALED if name in there):
        cursor = db.execute(f"SELECT * FROM {table}")  # noqa: S608
        names = [item[0] for item in cursor.description]
        for values in cursor.fetchall():
            row = {name: value for name, value in zip(names, values, strict=True) if value is not None}
            id = f"{row['plot_id']} {row['revision']}" if table == "plot_revisions" else row["id"]
            crc = zlib.crc32(orjson.dumps(row, default=repr, option=orjson.OPT_SORT_KEYS))
            db.execute("INSERT OR REPLACE INTO seals VALUES (?, ?, ?)", [table, id, crc])


@cache
def _sections() -> dict[str, tuple[str, ...]]:
    """The statements of the file beside this one, by the names above them."""
    text = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    _, *parts = text.split("\n\n-- ")
    return {part.partition("\n")[0]: statements(part.partition("\n")[2]) for part in parts}


def _step(set: str, name: str, run: Callable[[Connection], None] | None = None) -> Migration:
    made = _sections().get(f"{set}.{name}", ())
    return Migration(1, name, "0.1.0", "The tables of 0.1.0.", made, run, set=set)


MIGRATIONS = (
    _step("store", "revisions_and_facts"),
    _step("series", "series_and_chunks"),
    _step("pieces", "pieces"),
    _step("rows", "tables"),
    _step("rows", "first_records", _first_records),
    _step("rows", "raw_data"),
    _step("rows", "chats"),
    _step("rows", "checksums", _checksums),
    _step("people", "people"),
    _step("uploads", "uploads"),
)
