"""Tables whose rows carry no checksum: revisions, facts, and what else the store keeps for itself.

SQLite's own check finds a damaged page and a damaged index. It does not find a damaged letter in a text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from ...errors import Damaged
from ...records import KINDS
from . import checksums, row_checksums

_CHECKED_ELSEWHERE = frozenset({*KINDS, *checksums.FURTHER, *row_checksums.TABLES, "chunks", "pieces"})
_OF_THE_SEARCH = "search_"


def tables(db: sqlite3.Connection) -> list[str]:
    """Their names. Samples and the bytes of files are checked on every read, the search against what it indexes."""
    rows = db.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@'"
    )
    return [name for (name,) in rows if name not in _CHECKED_ELSEWHERE and not name.startswith(_OF_THE_SEARCH)]


def check(db: sqlite3.Connection, table: str) -> Iterator[str]:
    """Sentences about rows that cannot be as they were written."""
    try:
        for _ in db.execute(f'SELECT * FROM "{table}"'):  # noqa: S608  # each text is decoded
            pass
    except (sqlite3.DatabaseError, UnicodeDecodeError, Damaged) as error:
        yield f"the table '{table}' cannot be read ({error})"
        return
    if table == "revisions":
        stray = "SELECT name FROM revisions WHERE name NOT IN (SELECT name FROM main.sqlite_master)"
        for (name,) in db.execute(stray):
            yield f"there is a revision of '{name}', which is not a table"
