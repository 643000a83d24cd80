"""Dashboards and saved plots: ``bench.dashboards``, ``Board`` and ``SavedPlot``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from pydantic import JsonValue

from ..recipe.recipe import Recipe
from ..records import Dashboard, Plot
from .collections import Collection, Ref
from .figure import Figure, figure_of
from .recipe_input import ParamValue, RecipeLike, Values

if TYPE_CHECKING:
    from ..notebook.board_view import BoardView
    from ..notebook.view import View
    from .bench import Bench


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

    def save(self, name: str, recipe: RecipeLike, *, since: int | None = None) -> SavedPlot:
        """Save a recipe under a name: as a new plot, or as the next revision of the plot of that name.

        Parameters
        ----------
        since : the revision that the recipe was made from (``plot.revision``). The save is refused if there is a newer
            one by then. Without ``since`` the recipe becomes the newest revision in any case.

        Raises
        ------
        Invalid
            If the recipe is not sound; nothing is saved.
        Conflict
            If somebody has saved after that revision; nothing is saved.
        """
        plot = self._bench.backend.save_plot(self.record, name, self._bench.config_of(recipe), since=since)
        return SavedPlot(self._bench, plot)

    def plots(self) -> list[SavedPlot]:
        """The plots of this dashboard, the oldest first."""
        return [SavedPlot(self._bench, plot) for plot in self._bench.backend.plots(self.record)]

    def plot(self, ref: Ref) -> SavedPlot:
        """The plot of an id or a name; NotFound if the dashboard has none."""
        return SavedPlot(self._bench, self._bench.backend.plot(self.record, ref))

    def show(self, share: bool = False) -> BoardView:
        """All plots of the dashboard, live in a grid. A plot that fails shows its problems and leaves the others alone.

        With ``share``, a param that several plots have under one name gets one control for all of them.
        """
        from ..notebook.board_view import BoardView

        bench = self._bench
        record = bench.backend.get(Dashboard, self.id)
        return BoardView(bench.backend, record, bench.backend.plots(record), figure=figure_of, share=share)


class SavedPlot:
    """A recipe saved on a dashboard. Every save is a new revision, and all revisions are kept."""

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
        """The recipe of the newest revision, or of the revision of this number."""
        backend = self._bench.backend
        config = self.record.config if revision is None else backend.revision(self.record, revision).config
        recipe = Recipe(config)
        recipe.foreign = not backend.is_own(self.record, revision)
        return recipe

    def figure(
        self, values: Values | None = None, *, protected: bool | None = None, **by_name: ParamValue
    ) -> Figure:
        """The figure of the newest revision with the given values; other params have their defaults.

        ``protected`` and the errors are those of ``Bench.figure``.
        """
        return self._bench.figure(self.recipe(), values, protected=protected, **by_name)

    def show(
        self,
        values: Values | None = None,
        *,
        figure_widget: bool = False,
        protected: bool | None = None,
        **by_name: ParamValue,
    ) -> View:
        """The newest revision as a live view. A save in the view becomes the next revision.

        ``figure_widget``, ``protected`` and the errors are those of ``Bench.show``.
        """
        return self._bench.show(self, values, figure_widget=figure_widget, protected=protected, **by_name)

    def history(self) -> pd.DataFrame:
        """All revisions as a frame, the oldest first: number, name, origin, time and author."""
        revisions = self._bench.backend.history(self.record)
        columns = ["revision", "name", "origin", "created_at", "created_by_email"]
        return pd.DataFrame([{c: getattr(r, c) for c in columns} for r in revisions], columns=columns)

    def restore(self, revision: int) -> SavedPlot:
        """Save an earlier revision again as the newest one; all revisions are kept."""
        self.record = self._bench.backend.restore(self.record, revision)
        return self


class Boards(Collection[Dashboard]):
    """The dashboards of the bench's project."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench.backend, Dashboard)
        self._bench = bench

    def create(self, *args: Ref, **fields: JsonValue) -> Board:  # type: ignore[override]
        """``create("Ageing")``, or ``create(project, "Ageing")`` for another project; ``description`` is optional.

        Raises
        ------
        Conflict
            If the project has a dashboard of that name; ``existing_id`` is its id.
        """
        if len(args) > 2:
            raise TypeError(f"create takes a project and a name, not {len(args)} arguments.")
        bench = self._bench.project(args[0]) if len(args) == 2 else self._bench
        named = {"name": args[-1]} if args else {}
        return Board(bench, bench.backend.create(Dashboard, {**fields, **named}))

    def get(self, ref: Ref) -> Board:  # type: ignore[override]
        """The dashboard of an id or a name; NotFound if there is none."""
        return Board(self._bench, self._backend.get(Dashboard, ref))
