"""What the two databases say differently: the store's SQL asks a dialect for it. This is SQLite's; that of PostgreSQL
is in ``store.postgres``."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

SqlValue: TypeAlias = str | int | float | bytes | None
"""What a database takes and gives."""
Condition: TypeAlias = tuple[str, list[SqlValue]]
"""A piece of SQL and its parameters."""


Question: TypeAlias = tuple[str, Sequence[SqlValue]]
"""A statement of the store and its values."""


FACTS = "select name, value from facts"
REVISIONS = "select name, revision from revisions"


BEHIND = 1_000_000
"""Microseconds by which the clock of a machine may be behind that of the store: changes in a row take it so far."""
_LONGEST_STEP = 4096


def unforeseen_step() -> int:
    """Microseconds between two times of a store whose clock is ahead: few, because each takes it further ahead."""
    return 1 + secrets.randbelow(_LONGEST_STEP)


class Present(NamedTuple):
    """The facts of a store by name and the revisions of its tables, at one moment."""

    facts: dict[str, SqlValue]
    revisions: dict[str, int]


class Dialect:
    """SQL for SQLite. A connection to another database has its own as ``dialect``."""

    any_value = "?"
    """A parameter of a column that holds texts and whole numbers."""

    later = "max(value + iif(value > ?, ?, 1), ?)"
    """The time after the one that the clock of the store gave last; see `next_time`."""
    in_listed_order = ""
    """What keeps the order of a list in JSON, ``wanted``, through a cross join."""
    search_indexes: tuple[str, ...] = ("search_names", "search_words")
    """Indexes of the search that are files of their own kind, which verify looks into."""
    tables = "SELECT name FROM main.sqlite_master WHERE type = 'table'"
    """A query of the names of all tables."""

    def next_time(self, db: Any, now: int) -> int | None:  # Any: of SQLite or of PostgreSQL
        """A time for a change, later than any before, in microseconds, by a transaction; None if the store has lost its
        clock.

        While the clock of the machine is behind that of the store, two copies of it would give the same times, and what
        is kept of one would pass for an answer of the other. So the times are some unforeseen step apart then.
        """
        query = f"update facts set value = {self.later} where name = 'clock' returning value"  # noqa: S608
        row = db.execute(query, (now + BEHIND, unforeseen_step(), now)).fetchone()
        return None if row is None else int(row[0])

    def array_of(self, expression: str) -> str:
        """All values of an expression in one row, as JSON: Python's sqlite3 gives up the interpreter for each row that
        it fetches, and a busy process is slow to get it back."""
        return f"json_group_array({expression})"

    def json_number(self, expression: str, path: str) -> str:
        """The SQL for a value inside JSON that is a number."""
        return f"json_extract({expression}, '{path}')"

    def json_text(self, expression: str, path: str) -> str:
        """The SQL for a value inside JSON that is a text."""
        return f"json_extract({expression}, '{path}')"

    def entry_columns(self, words: str) -> dict[str, SqlValue]:
        """Further columns of an entry of the search, from its ``words``."""
        return {}

    def count_after(self, table: str, column: str) -> str | None:
        """The statement after which new rows of a table are numbered after its parameter; None where the rows that are
        there decide."""
        return None

    def names_with(self, folded: str) -> Condition:
        """A query of the entries of the search whose folded name holds a text of three letters or more."""
        return "SELECT rowid AS entry FROM search_names WHERE search_names MATCH ?", [_phrase(folded)]

    def words_with(self, text: str) -> Condition | None:
        """A query of the entries that have words which begin with each word of a text; None if it has no word."""
        words = [part for part in text.split() if any(letter.isalnum() for letter in part)]
        if not words:
            return None
        quoted = " ".join(f"{_phrase(word)}*" for word in words)
        return "SELECT rowid AS entry FROM search_words WHERE search_words MATCH ?", [quoted]


SQLITE = Dialect()


def dialect_of(db: object) -> Dialect:
    """The dialect of a connection."""
    return getattr(db, "dialect", SQLITE)


def _phrase(folded: str) -> str:
    """A text as the indexes of FTS5 take it."""
    return '"' + folded.replace('"', '""') + '"'


def like(text: str) -> str:
    """A text that LIKE takes as it is."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
