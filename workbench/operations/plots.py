"""Operations on the revisions of saved plots."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from ..records import Dashboard, Plot, Revision
from ..store.records.people import Right
from .operation import Limit, Local, Offset, Page, operation

PLOT = "/projects/{project_id}/dashboards/{dashboard_id}/plots/{plot_id}"


WithConfig = Annotated[bool | None, Field(description="With false the recipes are left empty.")]


class CameFrom(TypedDict):
    """The session that a revision came from; null if it was not made from a draft."""

    session_id: str | None


class PlotOperations:
    """What users can do with the revisions of a plot."""

    group = "Dashboards and plots"

    @operation("GET", f"{PLOT}/revisions", Right.READ)
    def revisions(
        self: Local, plot: Plot, limit: Limit = 100, offset: Offset = 0, config: WithConfig = None
    ) -> Page[Revision]:
        """A page of the revisions of a plot, the oldest first."""
        self.store.rows.get(Dashboard, plot.dashboard_id, self.scope)
        found = self.store.plots.history(plot.id, self.scope)
        items = found[offset : offset + limit]
        if config is False:
            items = [one.model_copy(update={"config": {}}) for one in items]
        return Page(items, len(items), len(found))

    @operation("GET", f"{PLOT}/revisions/{{number}}", Right.READ, since="0.1.1")
    def revision(self: Local, plot: Plot, number: int) -> Revision:
        """One revision of a plot."""
        return self.store.plots.revision(plot.id, number, self.scope)

    @operation("GET", f"{PLOT}/revisions/{{number}}/session", Right.READ, since="0.1.1")
    def session_of(self: Local, plot: Plot, number: int) -> CameFrom:
        """The session whose draft became a revision; only its user can read the session."""
        found = self.store.plots.revision(plot.id, number, self.scope)
        return {"session_id": self.store.sessions.of_revision(plot.id, found.revision)}

    @operation("POST", f"{PLOT}/revisions/{{number}}/restore", Right.WRITE)
    def restore(self: Local, plot: Plot, number: int) -> Plot:
        """Make an earlier revision the newest one."""
        self.store.rows.get(Dashboard, plot.dashboard_id, self.scope)
        with self.writing(plot.id, revision=number):
            return self.store.plots.restore(plot.id, number, self.scope, self.actor)
