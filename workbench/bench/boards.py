"""Dashboards and saved plots: ``bench.dashboards``, ``Board`` and ``SavedPlot``."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ..backend import Backend
from ..errors import BadRequest, Invalid, Problem
from ..quick_import import later
from ..records import Dashboard, Plot
from ..records.values import is_whole
from .as_of import AsOf, then
from .collections import Collection, Ref
from .recipe_input import ParamValue, RecipeLike, Values, is_untrusted

if TYPE_CHECKING:
    import pandas as pd

    from ..engine.reader import Progress
    from ..notebook.board_view import BoardView
    from ..notebook.view import View
    from ..recipe import recipe as recipes
    from ..recipe.recipe import Recipe
    from ..standalone_page.page import PageSize
    from . import figure as figures
    from . import page_exports
    from .bench import Bench
    from .figure import Figure
else:  # frames bring pandas, figures plotly, and pages what draws them
    figures = later("workbench.bench.figure")
    page_exports = later("workbench.bench.page_exports")
    recipes = later("workbench.recipe.recipe")
    pd = later("pandas")


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

    def save(self, name: str, recipe: RecipeLike | SavedPlot, *, since: int | None = None) -> SavedPlot:
        """Save a recipe under a name: as a new plot, or as the next revision of the plot of that name.

        Its script is noted as your own on this machine, unless it is somebody else's (``recipe.foreign``).

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
        if not isinstance(name, str):
            raise Invalid(Problem(("name",), "'name' must be a text.", "str_type"))
        if not is_whole(name):
            raise Invalid(Problem(("name",), "Text must be whole Unicode characters without NUL.", "value_error"))
        backend = self._bench.backend
        own = not is_untrusted(backend, self._bench._to_draw(recipe))
        config = self._bench.config_of(recipe)
        plot = backend.save_plot(self.record, name, config, since=since)
        if own:
            backend.own(config)
        return SavedPlot(self._bench, plot)

    def plots(self) -> list[SavedPlot]:
        """The plots of this dashboard, the oldest first."""
        return [SavedPlot(self._bench, plot) for plot in self._bench.backend.plots(self.record)]

    def plot(self, ref: Ref) -> SavedPlot:
        """The plot of an id or a name; NotFound if the dashboard has none."""
        return SavedPlot(self._bench, self._bench.backend.plot(self.record, ref))

    @property
    def backend(self) -> Backend:
        """What carries out what the dashboard asks for."""
        return self._bench.backend

    def export(
        self,
        out: str | Path,
        values: Mapping[str, Values] | None = None,
        *,
        controls: bool = False,
        protected: bool | None = None,
        with_recipe: bool = True,
        progress: Progress | None = None,
        as_of: AsOf | None = None,
    ) -> PageSize:
        """Write the dashboard to one file, its plots in the order of their places. Returns what the file holds.

        A plot that cannot be drawn is there with the reason.

        Parameters
        ----------
        out : the path. ``.html`` is a page that needs no network, ``.pdf`` a report to print (title, day, figures,
            values, warnings), ``.ipynb`` a notebook that draws the plots, ``.zip`` a page and a table of each.
        values : chosen values of plots, by the name or the id of a plot; the others have their saved values.
        controls, protected, with_recipe, as_of : as in ``Bench.export``.
        progress : called as ``progress("figures", done, of, plot)``.

        Raises
        ------
        BadRequest
            For an unknown ending, or a page of more than 10 MB.
        ExportUnavailable
            For a report, if kaleido or a browser is missing.
        Invalid
            For values of a plot that the dashboard does not have.
        """
        return page_exports.export_board(
            self,
            out,
            values,
            controls=controls,
            protected=protected,
            with_recipe=with_recipe,
            progress=progress,
            backend=then(self._bench.backend, as_of),
        )

    def export_size(
        self, values: Mapping[str, Values] | None = None, *, protected: bool | None = None
    ) -> PageSize:
        """What ``export("board.html", controls=True)`` would write, as ``Bench.export_size``."""
        return page_exports.board_size(self, values, protected)

    def _saved(self, plot: Plot) -> SavedPlot:
        """A plot of this dashboard, as it was just saved."""
        return SavedPlot(self._bench, plot)

    def show(
        self, share: bool = False, *, time_limit: float | EllipsisType | None = ..., as_of: AsOf | None = None
    ) -> BoardView:
        """All plots of the dashboard, live in a grid. A plot that fails shows its problems and leaves the others alone.

        With ``share``, a param that several plots have under one name gets one control for all of them.
        ``time_limit`` is that of ``Bench.show``, for each plot. With ``as_of`` today's plots show the data as they were
        then, as in ``Bench.figure``.
        """
        bench = self._bench
        record = bench.backend.get(Dashboard, self.id)
        plots = bench.backend.plots(record)
        # As in ``Bench.show``: the process that draws begins before the widgets are loaded.
        from ..transform import own_processes

        if any(bench.backend.is_own(plot) for plot in plots):
            own_processes.begin_to_start()
        from ..notebook.board_view import BoardView

        return BoardView(
            then(bench.backend, as_of),
            record,
            plots,
            figure=figures.figure_of,
            share=share,
            time_limit=time_limit,
        )


class SavedPlot:
    """A recipe saved on a dashboard. Every save is a new revision, and all revisions are kept."""

    def __init__(self, bench: Bench, record: Plot) -> None:
        self._bench = bench
        self.record = bench.backend.met(record)

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
        record = self.record
        if revision is not None:
            number = _number(revision)
            config = backend.revision(record, number).config
            record = backend.met(record.model_copy(update={"config": config, "revision": number}))
        recipe = recipes.Recipe(record.config)
        recipe.foreign = not backend.is_own(record)
        return recipe

    def trust(self, revision: int | None = None) -> SavedPlot:
        """Make the script of the newest revision, or of the revision of this number, your own on this machine.

        It then runs with your rights, as long as no letter of it changes. Read it first:
        ``print(plot.recipe().transform)``.
        """
        self._bench.trust(self.recipe(revision))
        return self

    def figure(
        self,
        values: Values | None = None,
        *,
        protected: bool | None = None,
        as_of: AsOf | None = None,
        **by_name: ParamValue,
    ) -> Figure:
        """The figure of the newest revision with the given values; other params have their defaults.

        ``protected``, ``as_of`` and the errors are those of ``Bench.figure``.
        """
        return self._bench.figure(self.recipe(), values, protected=protected, as_of=as_of, **by_name)

    def show(
        self,
        values: Values | None = None,
        *,
        figure_widget: bool = False,
        protected: bool | None = None,
        time_limit: float | EllipsisType | None = ...,
        as_of: AsOf | None = None,
        **by_name: ParamValue,
    ) -> View:
        """The newest revision as a live view. A save in the view becomes the next revision.

        ``figure_widget``, ``protected``, ``time_limit``, ``as_of`` and the errors are those of ``Bench.show``.
        """
        return self._bench.show(
            self,
            values,
            figure_widget=figure_widget,
            protected=protected,
            time_limit=time_limit,
            as_of=as_of,
            **by_name,
        )

    def history(self) -> pd.DataFrame:
        """All revisions as a frame, the oldest first: number, name, origin, time and author."""
        revisions = self._bench.backend.history(self.record)
        columns = ["revision", "name", "origin", "created_at", "created_by_email"]
        return pd.DataFrame([{c: getattr(r, c) for c in columns} for r in revisions], columns=columns)

    def session(self, revision: int | None = None) -> str | None:
        """The id of the session whose draft became a revision, by default the newest; None if it came from no draft.

        Your own sessions are in ``bench.sessions``; nobody reads those of others.
        """
        number = self.revision if revision is None else _number(revision)
        return self._bench.backend.session_of(self.record, number)["session_id"]

    def restore(self, revision: int) -> SavedPlot:
        """Save an earlier revision again as the newest one; all revisions are kept."""
        backend = self._bench.backend
        self.record = backend.met(backend.restore(self.record, _number(revision)))
        return self


def _number(revision: int) -> int:
    """The number of a revision. One out of ``history()`` is numpy's, which SQLite would not find."""
    try:
        return index(revision)
    except TypeError:
        raise BadRequest(f"A revision is named by its number, a whole one, not by {revision!r}.") from None


class Boards(Collection[Dashboard]):
    """The dashboards of the bench's project."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench.backend, Dashboard)
        self._bench = bench

    # Gives a Board, which is more than the record that other collections give.
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

    # As `create`: a Board.
    def get(self, ref: Ref) -> Board:  # type: ignore[override]
        """The dashboard of an id or a name; NotFound if there is none."""
        return Board(self._bench, self._backend.get(Dashboard, ref))
