"""What a migration is: one step from a format of the store to the next, frozen once it is released."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from sqlite3 import Connection, complete_statement

# A default would be read as a value of old rows, and their checksums do not hold it.
_MORE_THAN_NULLABLE = r"(?<!is )not null|\bunique\b|\bprimary key\b|\bdefault\b|\bgenerated\b"
_ADDITIVE = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"create table (?!.*\bas select\b)",
        r"create index ",
        rf'alter table "?\w+"? add (column )?(?!.*({_MORE_THAN_NULLABLE}))',
    )
)


@dataclass(frozen=True)
class Migration:
    """One step from a format of the store to the next.

    Parameters
    ----------
    number : of the format that it leads to; the number of its file.
    name, set : under which stores remember it. They never change.
    version : of the first release that has it.
    about : what it does, in words for a person.
    sql : statements, run first.
    run : what SQL alone cannot do, in the same transaction.
    prepare : work that is too long for one transaction. It is called in transactions of its own until it returns
        False, before ``sql`` and ``run``, and writes only what nobody reads yet: a killed upgrade leaves the store
        as it was for its readers, and the next one goes on.
    oldest_reader, oldest_writer : the oldest formats whose code can read and write a store after this step. None:
        for an additive step as before it, else the number of the step itself. A column that the search looks at, or
        that must agree with others, needs an ``oldest_writer`` too: older code does not keep it in step.
    """

    number: int
    name: str
    version: str
    about: str
    sql: tuple[str, ...] = ()
    run: Callable[[Connection], None] | None = None
    prepare: Callable[[Connection], bool] | None = None
    oldest_reader: int | None = None
    oldest_writer: int | None = None
    set: str = "format"

    @property
    def key(self) -> tuple[str, str]:
        """The names under which stores remember it."""
        return self.set, self.name

    @property
    def is_additive(self) -> bool:
        """Whether it only adds nullable columns, tables and indexes, so that a store may get it when it is opened.

        The steps of 0.1.0 count as such: they make the tables of a new store.
        """
        if self.number == 1:
            return True
        plain = self.run is None and self.prepare is None
        return plain and all(any(rule.match(text.strip()) for rule in _ADDITIVE) for text in self.sql)


def statements(text: str) -> tuple[str, ...]:
    """The statements of a text of SQL; each ends at the end of a line, and comments are on lines of their own."""
    found: list[str] = []
    part = ""
    for line in text.splitlines(keepends=True):
        part += "" if line.startswith("--") else line
        if complete_statement(part):
            found.append(part.strip().removesuffix(";"))
            part = ""
    return tuple(found)
