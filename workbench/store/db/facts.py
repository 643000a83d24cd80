"""The facts of a store: single values by name, such as its format, its clock and its switches."""

from __future__ import annotations

import sqlite3

from .dialect import SqlValue, dialect_of


def set_fact(db: sqlite3.Connection, name: str, value: SqlValue) -> None:
    """Keep a fact of the store, in a transaction."""
    given = dialect_of(db).any_value
    db.execute(f"insert or replace into facts (name, value) values (?, {given})", (name, value))  # noqa: S608
