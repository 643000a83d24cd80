"""Saved plots. Every change is a new revision, and every revision can still be read."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import NotFound
from ...records import Plot, Revision
from ...records.values import is_whole
from ...table import Plain
from ..db.connections import Transaction
from ..scope import Scope
from . import revisions
from .rows import Rows


class Plots:
    """Plots by name on their dashboard, and their history."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def save(
        self,
        dashboard_id: str,
        name: str,
        config: Mapping[str, Plain],
        scope: Scope,
        actor: str | None = None,
        *,
        origin: str = "save",
        id: str | None = None,
        since: int | None = None,
    ) -> Plot:
        """The plot of this name with this recipe: a new plot, or the next revision of the one that is there.

        Parameters
        ----------
        origin : how it came about, kept with the revision.
        id : the id of a plot that must be new.
        since : the revision that the recipe was made from; Conflict if the plot has a newer one.
        """
        with self.rows.store.transaction() as db:
            found: list[Plot] = []
            if isinstance(name, str) and is_whole(name):  # else a new plot of that name is refused
                found = self.rows.page(Plot, scope, where={"dashboard_id": dashboard_id, "name": name}).items
            if found and id is None:
                if since is not None:
                    revisions.check_revision(found[0], {"revision": since})
                kept: Plot = self.rows.change(db, found[0], {"config": dict(config)}, scope, actor, origin)
                return kept
            data = {"dashboard_id": dashboard_id, "name": name, "config": dict(config)}
            return self.rows.create(Plot, data, scope=scope, actor=actor, id=id, origin=origin)

    def history(self, plot_id: str, scope: Scope) -> list[Revision]:
        """All revisions of a plot, the oldest first."""
        self.rows.get(Plot, plot_id, scope)
        with self.rows.store.snapshot() as db:
            return revisions.of_plot(db, plot_id)

    def scripts(self) -> list[str]:
        """Every script of every revision in the store, each once."""
        with self.rows.store.snapshot() as db:
            return revisions.scripts(db)

    def revision(self, plot_id: str, number: int, scope: Scope) -> Revision:
        """One revision of a plot."""
        self.rows.get(Plot, plot_id, scope)
        with self.rows.store.snapshot() as db:
            found = revisions.one(db, plot_id, number)
        if found is None:
            raise NotFound(f"The plot '{plot_id}' has no revision {number}.")
        return found

    def annotate(self, db: Transaction, plot: Plot, note: str | None) -> None:
        """Keep a note with the present revision of a plot, in the transaction that made it."""
        if note is not None:
            revisions.annotate(db, plot.id, plot.revision, note)

    def restore(self, plot_id: str, number: int, scope: Scope, actor: str | None = None) -> Plot:
        """Make the recipe and name of an earlier revision the newest one; nothing is lost."""
        with self.rows.store.transaction() as db:
            old = self.revision(plot_id, number, scope)
            present = self.rows.get(Plot, plot_id, scope)
            changes = {"name": old.name, "config": old.config}
            restored: Plot = self.rows.change(db, present, changes, scope, actor, f"restore {number}")
            return restored
