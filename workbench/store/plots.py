"""Saved plots: every change is a new revision, and every revision stays readable."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from ..errors import Conflict, NotFound
from ..records import Plot, Revision
from ..table import from_micros, to_micros

if TYPE_CHECKING:
    from .rows import Rows
    from .store import Scope

_COLUMNS = (
    "r.plot_id, r.revision, r.name, r.config, r.origin, r.created_at, r.created_by, u.email "
    "FROM plot_revisions AS r LEFT JOIN users AS u ON u.id = r.created_by"
)


class Plots:
    """Plots by name on their dashboard, and their history."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def save(
        self,
        dashboard_id: str,
        name: str,
        config: Mapping[str, Any],
        scope: Scope,
        actor: str | None = None,
        *,
        origin: str = "save",
        id: str | None = None,
    ) -> Plot:
        """The plot of this name with this recipe: a new plot, or the next revision of the one that is there.

        Parameters
        ----------
        origin : how it came about, kept with the revision.
        id : the id of a plot that must be new.
        """
        with self.rows.store.transaction() as db:
            found = self.rows.page(Plot, scope, where={"dashboard_id": dashboard_id, "name": name}).items
            if found and id is None:
                kept: Plot = self.rows.change(db, found[0], {"config": dict(config)}, scope, actor, origin)
                return kept
            data = {"dashboard_id": dashboard_id, "name": name, "config": dict(config)}
            return self.rows.create(Plot, data, scope=scope, actor=actor, id=id, origin=origin)

    def history(self, plot_id: str, scope: Scope) -> list[Revision]:
        """All revisions of a plot, the oldest first."""
        self.rows.get(Plot, plot_id, scope)
        rows = self.rows.store.connection().execute(
            f"SELECT {_COLUMNS} WHERE r.plot_id = ? ORDER BY r.revision",
            [plot_id],
        )
        return [_revision(row) for row in rows]

    def revision(self, plot_id: str, number: int, scope: Scope) -> Revision:
        """One revision of a plot."""
        self.rows.get(Plot, plot_id, scope)
        row = (
            self.rows.store.connection()
            .execute(f"SELECT {_COLUMNS} WHERE r.plot_id = ? AND r.revision = ?", [plot_id, number])
            .fetchone()
        )
        if row is None:
            raise NotFound(f"The plot '{plot_id}' has no revision {number}.")
        return _revision(row)

    def restore(self, plot_id: str, number: int, scope: Scope, actor: str | None = None) -> Plot:
        """Make the recipe and name of an earlier revision the newest one; nothing is lost."""
        with self.rows.store.transaction() as db:
            old = self.revision(plot_id, number, scope)
            present = self.rows.get(Plot, plot_id, scope)
            changes = {"name": old.name, "config": old.config}
            restored: Plot = self.rows.change(db, present, changes, scope, actor, f"restore {number}")
            return restored

    def check_revision(self, present: Plot, changes: dict[str, Any]) -> None:
        """Take ``revision`` out of the changes; Conflict if the plot has moved on since."""
        started = changes.pop("revision", present.revision)
        if started != present.revision:
            raise Conflict(
                f"The plot '{present.name}' is at revision {present.revision}, the change started from {started}.",
                present.id,
                {"revision": present.revision, "started_from": started},
            )

    def keep(self, db: sqlite3.Connection, plot: Plot, origin: str, actor: str | None) -> None:
        """Add the plot's present state to its history."""
        row = (plot.revision, plot.name, orjson.dumps(plot.config).decode(), origin, to_micros(plot.updated_at))
        db.execute("INSERT INTO plot_revisions VALUES (?, ?, ?, ?, ?, ?, ?)", [plot.id, *row, actor])

    def forget(self, db: sqlite3.Connection, listed: str) -> bool:
        """Drop the history of plots that are being deleted and their places on dashboards; True if there were
        any places."""
        db.execute("DELETE FROM plot_revisions WHERE plot_id IN (SELECT value FROM json_each(?))", [listed])
        gone = set(orjson.loads(listed))
        boards = db.execute(
            "SELECT id, layout FROM dashboards WHERE id IN (SELECT dashboard_id FROM plots "
            "WHERE id IN (SELECT value FROM json_each(?)))",
            [listed],
        ).fetchall()
        changed = False
        for board, text in boards:
            layout = orjson.loads(text)
            left = [tile for tile in layout if tile["plot_id"] not in gone]
            if left != layout:
                changed = True
                db.execute("UPDATE dashboards SET layout = ? WHERE id = ?", [orjson.dumps(left).decode(), board])
        return changed


def _revision(row: tuple[Any, ...]) -> Revision:
    plot_id, number, name, config, origin, created_at, created_by, email = row
    return Revision(
        plot_id=plot_id,
        revision=number,
        name=name,
        config=orjson.loads(config),
        origin=origin,
        created_at=from_micros(created_at),
        created_by=created_by,
        created_by_email=email,
    )
