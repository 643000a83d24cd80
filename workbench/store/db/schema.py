"""Checks that the tables of a store are those that the migrations make and the record classes need."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ...errors import Damaged
from ...records import KINDS, Record
from .. import migrations
from ..migrations import Migration
from ..records.tables import column_texts, index_texts
from .checksums import ROWID
from .formats import Objects, State, columns_of, fingerprint, objects, reference

_NAME = re.compile(r'INDEX "(\w+)"')


MOST = 5


def refuse_wrong_tables(db: sqlite3.Connection, state: State, path: Path) -> None:
    """Refuse a store whose tables are wrong.

    Raises
    ------
    Damaged
        The message says what differs and what to do.
    """
    if lost := _lost_steps(db, state):
        raise Damaged(
            f"The store '{path}' is damaged: it has format {state.format.number}, and its list of the steps that lead "
            f"there lacks {lost}. Restore a backup."
        )
    wrong = [] if state.is_new else differences(db, state.pending)
    if wrong:
        more = f"; and {len(wrong) - MOST} more" if len(wrong) > MOST else ""
        raise Damaged(
            f"The tables of the store '{path}' are not those of format {state.format.number}: "
            f"{'; '.join(wrong[:MOST])}{more}. Restore a backup; if there is none, report this text."
        )


def _lost_steps(db: sqlite3.Connection, state: State) -> int:
    """How many steps a store does not name although it has tables or columns of such steps, and their format. It would
    be taken for one that lacks these tables, and shown as if they were empty."""
    lost = [step for step in state.pending if step.number <= state.format.number]
    if state.is_new or not lost:
        return 0
    _, before = reference(tuple(step for step in migrations.MIGRATIONS if step not in state.pending))
    _, after = reference(tuple(step for step in migrations.MIGRATIONS if step.number <= state.format.number))
    there = any(
        name in columns_of(db, table)
        for table, columns in after.items()
        for name in columns
        if name not in before.get(table, ())
    )
    return len(lost) if there else 0


def differences(db: sqlite3.Connection, pending: tuple[Migration, ...] = ()) -> list[str]:
    """What is wrong with the tables, as sentences; empty if nothing is.

    ``pending`` are steps that the store does not have yet: then it is compared with what the other steps make.
    """
    found = objects(db)
    wrong = [] if pending else [text for cls in KINDS.values() for text in _undeclared(found, cls)]
    left = db.execute("select value from facts where name = 'schema'").fetchone()
    if pending or left is None or left[0] != fingerprint(found):
        wrong += _changed(db, found, tuple(step for step in migrations.MIGRATIONS if step not in pending))
    return list(dict.fromkeys(wrong))


def _undeclared(found: Objects, cls: type[Record]) -> Iterator[str]:
    """Where the table of a kind is not what its class says."""
    table = found.get(("table", cls.table))
    if table is None:
        yield _missing("table", cls.table, f"the class {cls.__name__} is kept there")
        return
    for name, text in column_texts(cls).items():
        if not _declares(table, text):
            yield _wrong_column(cls, table, name, text)
    for text in index_texts(cls):
        name = _NAME.findall(text)[0]
        if found.get(("index", name)) != text:
            yield _wrong_index(name, text, found.get(("index", name)))


def _declares(table: str, text: str) -> bool:
    return f"{text}," in table or f"{text})" in table


def _wrong_column(cls: type[Record], table: str, name: str, text: str) -> str:
    made, _ = reference(migrations.MIGRATIONS)
    if not _declares(made.get(("table", cls.table), ""), text):
        return (
            f"the class {cls.__name__} declares '{name}', but no migration makes that column: add a file to "
            f'workbench/store/migrations with ALTER TABLE "{cls.table}" ADD COLUMN {text}'
        )
    if f'"{name}" ' not in table:
        return f"the table '{cls.table}' has no column '{name}' (it should be {text})"
    return f"the column '{name}' of the table '{cls.table}' has another declaration (it should be {text})"


def _wrong_index(name: str, text: str, there: str | None) -> str:
    made, _ = reference(migrations.MIGRATIONS)
    if made.get(("index", name)) != text:
        return f"no migration makes the index '{name}': add a file to workbench/store/migrations with {text}"
    if there is None:
        return _missing("index", name, text)
    return f"the index '{name}' has another declaration (it should be {text})"


def _changed(db: sqlite3.Connection, found: Objects, steps: tuple[Migration, ...]) -> Iterator[str]:
    """Where the tables are not what these steps make. Further tables of a store are left alone."""
    made, columns = reference(steps)
    for (type, name), text in made.items():
        there = found.get((type, name))
        if there is None:
            yield _missing(type, name)
        elif there != text and type != "table":
            yield f"the {type} '{name}' has another declaration (it should be {text})"
        elif there != text:
            held = columns_of(db, name)
            for one, declared in columns[name].items():
                if one not in held:
                    yield f"the table '{name}' has no column '{one}' (it should be {declared})"
                elif held[one] != declared:
                    yield f"the column '{one}' of the table '{name}' is {held[one]} and should be {declared}"


def _missing(type: str, name: str, why: str = "") -> str:
    return f"there is no {type} '{name}'" + (f" ({why})" if why else "")


def stand_ins(pending: tuple[Migration, ...]) -> list[str]:
    """Statements for a connection that only reads an older store: temporary views with empty tables for the missing
    ones, and nulls for the missing columns. The store itself does not change."""
    if not pending:
        return []
    texts, before = reference(tuple(step for step in migrations.MIGRATIONS if step not in pending))
    made = []
    for table, columns in reference(migrations.MIGRATIONS)[1].items():
        added = [name for name in columns if name not in before.get(table, ())]
        nulls = ", ".join(f'NULL AS "{name}"' for name in added)
        if table not in before:
            made.append(f'CREATE TEMP VIEW "{table}" AS SELECT {nulls} WHERE 0')
        elif added:
            place = "" if "without rowid" in texts["table", table].lower() else f", rowid AS {ROWID}"
            made.append(f'CREATE TEMP VIEW "{table}" AS SELECT *, {nulls}{place} FROM main."{table}"')  # noqa: S608
    return made
