"""The rows of the revisions of plots: their history."""

from __future__ import annotations

import sqlite3

import orjson

from ...errors import Conflict
from ...records import Plot, Revision
from ...table import Plain, to_micros
from ..db import checksums
from .tables import SqlValue, json_of, moment_of, rows_as_dicts

_COLUMNS = (
    "r.plot_id, r.revision, r.name, r.config, r.origin, r.created_at, r.created_by, u.email, r.note "
    "FROM plot_revisions AS r LEFT JOIN users AS u ON u.id = r.created_by"
)


def of_plot(db: sqlite3.Connection, plot_id: str) -> list[Revision]:
    """All revisions of a plot, the oldest first."""
    query = f"SELECT {_COLUMNS} WHERE r.plot_id = ? ORDER BY r.revision"
    return [_revision(row) for row in db.execute(query, [plot_id])]


def one(db: sqlite3.Connection, plot_id: str, number: int) -> Revision | None:
    """One revision of a plot; None if there is none."""
    query = f"SELECT {_COLUMNS} WHERE r.plot_id = ? AND r.revision = ?"
    row = db.execute(query, [plot_id, number]).fetchone()
    return None if row is None else _revision(row)


def scripts(db: sqlite3.Connection) -> list[str]:
    """Every script of every revision in the store, each once."""
    path = "json_extract(config, '$.transform')"
    rows = db.execute(f"SELECT DISTINCT {path} FROM plot_revisions WHERE json_valid(config)")  # noqa: S608
    return [script for (script,) in rows if isinstance(script, str)]


def check_revision(present: Plot, changes: dict[str, Plain]) -> None:
    """Take ``revision`` out of the changes; Conflict if the plot has a newer revision."""
    started = changes.pop("revision", present.revision)
    if started != present.revision:
        raise Conflict(
            f"The plot '{present.name}' is at revision {present.revision}, the change started from {started}.",
            present.id,
            {"revision": present.revision, "started_from": started},
        )


def keep(db: sqlite3.Connection, plot: Plot, origin: str, actor: str | None) -> None:
    """Add the plot's present state to its history."""
    row: dict[str, SqlValue] = {
        "plot_id": plot.id,
        "revision": plot.revision,
        "name": plot.name,
        "config": orjson.dumps(plot.config).decode(),
        "origin": origin,
        "created_at": to_micros(plot.updated_at),
        "created_by": actor,
    }
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    db.execute(f"INSERT INTO plot_revisions ({names}) VALUES ({marks})", list(row.values()))  # noqa: S608
    checksums.keep(db, checksums.REVISIONS, row)


def annotate(db: sqlite3.Connection, plot_id: str, number: int, note: str) -> None:
    """Keep a note with a revision."""
    changed = db.execute(
        "UPDATE plot_revisions SET note = ? WHERE plot_id = ? AND revision = ? RETURNING *",
        [note, plot_id, number],
    )
    for row in rows_as_dicts(changed):
        checksums.keep(db, checksums.REVISIONS, row)


def forget(db: sqlite3.Connection, listed: str) -> bool:
    """Delete the history of plots that are being deleted, and their tiles on dashboards. True if there were tiles."""
    chosen = "plot_id IN (SELECT value FROM json_each(?)) RETURNING plot_id, revision"
    dropped = db.execute(f"DELETE FROM plot_revisions WHERE {chosen}", [listed])  # noqa: S608
    checksums.drop(db, checksums.REVISIONS, [f"{plot} {number}" for plot, number in dropped])
    gone = set(orjson.loads(listed))
    boards = db.execute(
        "SELECT id, layout FROM dashboards WHERE id IN (SELECT dashboard_id FROM plots "
        "WHERE id IN (SELECT value FROM json_each(?)))",
        [listed],
    ).fetchall()
    changed = False
    for board, text in boards:
        layout = json_of(text)
        left = [tile for tile in layout if tile["plot_id"] not in gone]
        if left != layout:
            changed = True
            db.execute("UPDATE dashboards SET layout = ? WHERE id = ?", [orjson.dumps(left).decode(), board])
            checksums.update(db, "dashboards", [board])
    return changed


def _revision(row: tuple[Plain, ...]) -> Revision:
    plot_id, number, name, config, origin, created_at, created_by, email, note = row
    return Revision(
        plot_id=plot_id,
        revision=number,
        name=name,
        config=json_of(config),
        origin=origin,
        created_at=moment_of(created_at),
        created_by=created_by,
        created_by_email=email,
        note=note,
    )
