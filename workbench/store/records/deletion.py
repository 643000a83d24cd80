"""Deleting records: what goes with a record, and which links to it are emptied."""

from __future__ import annotations

import sqlite3

from ...records import KINDS, Plot, Record, Session
from ...records.record import InProject
from ..db import checksums
from ..series.series import Series
from . import edits, messages, revisions, search
from .constraints import pointing_at
from .tables import ASSIGNMENTS, values_of

SAMPLED = tuple(table for table, cls in KINDS.items() if cls.samples)
"""The tables of records that may have sampled data."""


def projects_with(db: sqlite3.Connection, cls: type[Record], ids: list[str]) -> set[str]:
    """The projects that lose a record when these of one kind are deleted with what cannot exist without them."""
    listed, found = values_of(ids), set[str]()
    if issubclass(cls, InProject):
        query = f'SELECT DISTINCT project_id FROM "{cls.table}" WHERE id IN (SELECT value FROM json_each(?))'  # noqa: S608
        found = {project for (project,) in db.execute(query, [listed]) if project is not None}
    for other, member in pointing_at(cls):
        if member.link is not None and member.link.on_delete == "cascade":
            below = f'SELECT id FROM "{other.table}" WHERE "{member.name}" IN (SELECT value FROM json_each(?))'  # noqa: S608
            if children := [id for (id,) in db.execute(below, [listed])]:
                found |= projects_with(db, other, children)
    return found


def remove(
    db: sqlite3.Connection,
    series: Series,
    cls: type[Record],
    ids: list[str],
    gone: dict[str, list[str]],
    touched: set[str],
    now: int,
) -> None:
    """Delete these records of one kind, and with them what cannot exist without them.

    ``now`` is when, by the clock of the store. ``gone`` takes the ids of all deleted records by table, ``touched`` the
    other tables that changed.
    """
    listed = values_of(ids)
    for other, member in pointing_at(cls):
        column = f'"{member.name}" IN (SELECT value FROM json_each(?))'  # noqa: S608
        if member.link is not None and member.link.on_delete == "cascade":
            found = db.execute(f'SELECT id FROM "{other.table}" WHERE {column}', [listed])  # noqa: S608
            children = [id for (id,) in found]
            if children:
                remove(db, series, other, children, gone, touched, now)
            continue
        emptied = f'UPDATE "{other.table}" SET "{member.name}" = NULL WHERE {column} RETURNING id'  # noqa: S608
        if changed := [id for (id,) in db.execute(emptied, [listed])]:
            checksums.update(db, other.table, changed)
            touched.add(other.table)
    for table, (study, other_table, column) in ASSIGNMENTS.items():
        side = study if cls.table == "studies" else column if cls.table == other_table else None
        if side is not None:
            cut = f'DELETE FROM "{table}" WHERE "{side}" IN (SELECT value FROM json_each(?))'  # noqa: S608
            if db.execute(cut, [listed]).rowcount:
                touched |= {"studies", table}
    if cls is Plot and revisions.forget(db, listed):
        touched.add("dashboards")
    if cls is Session:
        messages.forget(db, listed)
    if cls.table in SAMPLED:
        for id in ids:
            series.delete(id, connection=db)
    search.forget(db, ids)
    edits.forget(db, cls.table, ids)
    edits.note_deleted(db, cls, ids, now)
    checksums.drop(db, cls.table, ids)
    db.execute(f'DELETE FROM "{cls.table}" WHERE id IN (SELECT value FROM json_each(?))', [listed])  # noqa: S608
    gone.setdefault(cls.table, []).extend(ids)
