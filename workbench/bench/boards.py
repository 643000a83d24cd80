"""Dashboards and the plots on them, as people hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..recipe.recipe import Recipe
from ..records import Dashboard, Plot, Project, Record
from .collections import Collection, Ref
from .figure import Figure, figure_of

if TYPE_CHECKING:
    from ..notebook.board_view import BoardView
    from ..notebook.view import View
    from . import Bench


class Board:
    """One dashboard: ``plots()``, ``plot(name)``, ``save(name, recipe)``, ``show()``."""

    def __init__(self, bench: Bench, record: Dashboard) -> None:
        self._bench = bench
        self.record = record

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def name(self) -> str:
        return self.record.name

    def __repr__(self) -> str:
        return f"<dashboard '{self.name}'>"

    def save(self, name: str, recipe: Recipe | Mapping[str, Any], *, since: int | None = None) -> SavedPlot:
        """Save a recipe under a name: a new plot, or the next revision of the one of that name.

        Parameters
        ----------
        since : the revision that this was made from (``plot.revision``), so that nobody's newer one is put aside
            unseen. Without it the recipe becomes the newest revision, whatever there was.

        Raises
        ------
        Invalid
            If the recipe is not sound; nothing is saved then.
        Conflict
            If somebody has saved since that revision; nothing is saved then.
        """
        plot = self._bench.backend.save_plot(self.record, name, self._bench.config_of(recipe), since=since)
        return SavedPlot(self._bench, plot)

    def plots(self) -> list[SavedPlot]:
        """The plots of this dashboard, the oldest first."""
        return [SavedPlot(self._bench, plot) for plot in self._bench.backend.plots(self.record)]

    def plot(self, ref: Ref) -> SavedPlot:
        """A plot of this dashboard by its id or name."""
        return SavedPlot(self._bench, self._bench.backend.plot(self.record, ref))

    def show(self, share: bool = False) -> BoardView:
        """All plots of the dashboard, live in a grid; each answers for itself if it fails.

        ``share`` gives the params that several plots have under one name one control for all.
        """
        from ..notebook.board_view import BoardView

        bench = self._bench
        record = bench.backend.get(Dashboard, self.id)
        return BoardView(bench.backend, record, bench.backend.plots(record), figure=figure_of, share=share)


class SavedPlot:
    """A recipe saved on a dashboard; every save is a revision, and none is ever lost."""

    def __init__(self, bench: Bench, record: Plot) -> None:
        self._bench = bench
        self.record = record

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def revision(self) -> int:
        return self.record.revision

    def __repr__(self) -> str:
        return f"<plot '{self.name}', revision {self.revision}>"

    def recipe(self, revision: int | None = None) -> Recipe:
        """The newest recipe of the plot, or that of an earlier revision."""
        backend = self._bench.backend
        config = self.record.config if revision is None else backend.revision(self.record, revision).config
        recipe = Recipe(config)
        recipe.foreign = not backend.is_own(self.record, revision)
        return recipe

    def figure(
        self, values: Mapping[str, Any] | None = None, *, protected: bool | None = None, **by_name: Any
    ) -> Figure:
        """The figure of the newest revision with the given values, else the defaults; protected if somebody else
        or a model wrote its script, unless ``protected`` says otherwise."""
        return self._bench.figure(self.recipe(), values, protected=protected, **by_name)

    def show(self, values: Mapping[str, Any] | None = None, **by_name: Any) -> View:
        """The newest revision as a live view; what is saved there becomes the next one."""
        return self._bench.show(self, values, **by_name)

    def history(self) -> pd.DataFrame:
        """All revisions, the oldest first: number, name, how it came about, when and by whom."""
        revisions = self._bench.backend.history(self.record)
        columns = ["revision", "name", "origin", "created_at", "created_by_email"]
        return pd.DataFrame([{c: getattr(r, c) for c in columns} for r in revisions], columns=columns)

    def restore(self, revision: int) -> SavedPlot:
        """Make an earlier revision the newest one; the others stay."""
        self.record = self._bench.backend.restore(self.record, revision)
        return self


class Boards(Collection[Dashboard]):
    """The dashboards of the bench's project."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench.backend, Dashboard)
        self._bench = bench

    def create(self, *args: Any, **fields: Any) -> Board:  # type: ignore[override]
        """``create("Ageing")``, or ``create(project, "Ageing")`` for another project; ``description`` may be given.

        Raises
        ------
        Conflict
            If the project has a dashboard of that name; ``existing_id`` is its id.
        """
        bench = self._bench
        if len(args) == 2 and isinstance(args[0], str | Project | Record):
            bench = bench.project(args[0])
            args = args[1:]
        if args:
            fields["name"] = args[0]
        return Board(bench, bench.backend.create(Dashboard, fields))

    def get(self, ref: Ref) -> Board:  # type: ignore[override]
        """The dashboard of an id or a name."""
        return Board(self._bench, self._backend.get(Dashboard, ref))
