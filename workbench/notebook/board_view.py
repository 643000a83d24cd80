"""``BoardView``, a live dashboard: its plots in a grid, each with a view, and common params shared on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import ipywidgets as widgets
from pydantic import JsonValue

from ..backend import Backend, FigureAnswer
from ..errors import Invalid, Problem, WorkbenchError, listed
from ..recipe.check import sound
from ..recipe.params import Choice, Param
from ..recipe.values import same_key, undeclared
from ..records import Dashboard, Plot
from ..records.dashboard import Tile
from . import status_text as words
from .background_worker import Clock
from .closing import close_all
from .event_loop import at_home
from .panel import ControlPanel
from .plot_view import ControlNames, KeyGuard, PlotView
from .saved_picture import Still, show_live
from .surface import Shown
from .time_limit import TimeLimit
from .view import View

if TYPE_CHECKING:
    import plotly.graph_objects as go

UNIT_PX = 46
COLUMNS = 12
WIDTH, HEIGHT = 6, 8
"""The size of a plot without a place on the grid."""


class BoardView:
    """All plots of a dashboard, live: the result of ``board.show()``.

    Attributes
    ----------
    views : name of the plot -> its live view. A plot whose recipe is not sound has no view; its tile says why.
    widget : the whole dashboard as a widget, for a layout of your own.
    """

    def __init__(
        self,
        backend: Backend,
        board: Dashboard,
        plots: Sequence[Plot],
        *,
        figure: Callable[[FigureAnswer], go.Figure],
        share: bool = False,
        time_limit: TimeLimit = ...,
        clock: Callable[[], Clock] | None = None,
    ) -> None:
        self._backend = backend
        self._figure = figure
        self._clock = clock
        self._time_limit = time_limit
        self.views: dict[str, View] = {}
        places = {place.plot_id: place for place in board.layout}
        ordered = sorted(plots, key=lambda plot: _order(places.get(plot.id)))
        self._still = Still(board.name, [(plot.name, _share_of(places.get(plot.id))) for plot in ordered])
        self._tiles = widgets.Box([self._tile(plot, places.get(plot.id)) for plot in ordered])
        self._tiles.add_class("wb-board")
        self._shared = ControlPanel(self._chosen, self._is_shared)
        # A checkbox would make the page load MathJax, for the label, before it draws a plot.
        self._share = widgets.ToggleButton(
            value=share,
            description="Share params of the same name",
            tooltip="One control for all plots that have the param",
        )
        self._share.observe(at_home(lambda _: self._set_sharing()), "value")
        self.widget = widgets.VBox([self._bar(board), self._tiles, ControlNames(), KeyGuard()])
        self.widget.add_class("wb-board-frame")
        for view in self.views.values():
            view.on_answer(self._show_shared)
        if share:
            self._set_sharing()

    @property
    def values(self) -> dict[str, dict[str, JsonValue]]:
        """Name of the plot -> its present values."""
        return {name: view.values for name, view in self.views.items()}

    def set(self, **values: JsonValue) -> BoardView:
        """Choose values in every plot that has a param of the name.

        Raises
        ------
        Invalid
            If no plot has a param of the name, or if a plot refuses a value. The plots before it have taken the value.
        """
        for name, value in values.items():
            holders = [view for view in self.views.values() if name in view.params]
            if not holders:
                raise Invalid(_unknown(name, self.views))
            for view in holders:
                view.set(**{name: value})
        return self

    def refresh(self, wait: bool = False) -> BoardView:
        """Read every plot again. With ``wait``, the call returns when all figures are drawn.

        Problems of a plot are shown in its tile.
        """
        for view in self.views.values():
            try:
                view.refresh(wait)
            except WorkbenchError:
                continue  # the view shows it in its tile
        return self

    def close(self) -> None:
        """Stop the work of every plot, remove the dashboard from the page, and free all its widgets."""
        for view in self.views.values():
            view.close()
        self._shared.close()
        for widget in (self._share, self.widget):
            close_all(widget)

    def __repr__(self) -> str:
        return f"<view of {words.many(len(self.views), 'plot')}: {', '.join(self.views)}>"

    def _ipython_display_(self) -> None:
        show_live(self.widget, repr(self))
        self._still.display()

    # How it is built

    def _bar(self, board: Dashboard) -> widgets.HBox:
        name = widgets.HTML(escape(board.name))
        refresh = widgets.Button(
            icon="refresh", tooltip="Read every plot again", layout=widgets.Layout(width="34px", height="26px")
        )
        refresh.on_click(at_home(lambda _: self.refresh()))
        bar = widgets.HBox([name, refresh, *([self._share] if self._common() else [])])
        bar.add_class("wb-board-bar")
        return bar

    def _tile(self, plot: Plot, place: Tile | None) -> widgets.Widget:
        tile = self._view(plot, max(240, UNIT_PX * (HEIGHT if place is None else place.h)))
        tile.add_class("wb-tile")
        for name in [f"wb-w{WIDTH}"] if place is None else [f"wb-x{place.x}", f"wb-w{place.w}"]:
            tile.add_class(name)
        return tile

    def _view(self, plot: Plot, height: int) -> widgets.Widget:
        try:
            config = sound(plot.config)
        except Invalid as error:
            surface = PlotView((), height)
            surface.show(Shown(plot.name))
            surface.set_error(words.problems(error))
            return widgets.VBox([surface])
        clock = None if self._clock is None else self._clock()
        view = View(
            self._backend,
            config,
            figure=self._figure,
            title=plot.name,
            home=self._backend.met(plot),
            tile=height,
            still=self._still,
            clock=clock,
            protected=None if self._backend.is_own(plot) else True,
            time_limit=self._time_limit,
        )
        self.views[plot.name] = view
        return view.widget

    # Shared params

    def _holders(self) -> dict[str, list[View]]:
        held: dict[str, list[View]] = {}
        for view in self.views.values():
            for name, param in view.params.items():
                if param.control is not None:
                    held.setdefault(name, []).append(view)
        return held

    def _common(self) -> dict[str, list[View]]:
        """The params that several plots have with the same name and kind."""
        return {
            name: views
            for name, views in self._holders().items()
            if len(views) > 1 and len({(_p(view, name).kind, _p(view, name).multiple) for view in views}) == 1
        }

    def _is_shared(self, name: str) -> bool:
        return name in self._common()

    def _set_sharing(self) -> None:
        bar, *rest = [child for child in self.widget.children if child is not self._shared.widget]
        if not self._share.value:
            self.widget.children = [bar, *rest]
            return
        for name, views in self._common().items():
            self._spread(name, views[0].values[name])
        self.widget.children = [bar, self._shared.widget, *rest]
        self._show_shared()

    def _show_shared(self) -> None:
        if not self._share.value:
            return
        common = self._common()
        firsts = {name: views[0] for name, views in common.items()}
        params = {name: _p(view, name) for name, view in firsts.items()}
        values = {name: view.values[name] for name, view in firsts.items()}
        options: dict[str, list[Choice]] = {}
        for name, views in common.items():
            offered = [choice for view in views for choice in view.options.get(name, ())]
            if offered:
                options[name] = _distinct(offered)
        self._shared.show(params, values, options)
        for name, held in self._shared.fields.items():
            held.remark(self._others(name, common[name]))

    def _others(self, name: str, views: Sequence[View]) -> str:
        """Which plots have another value than the shared control shows: each keeps controls and an undo of its own."""
        shown = same_key(views[0].values[name])
        held = {plot: view for plot, view in self.views.items() if view in views}
        others = [f"'{plot}'" for plot, view in held.items() if same_key(view.values[name]) != shown]
        return f"Other values in {listed(others, 3)}." if others else ""

    def _chosen(self, name: str, value: JsonValue, quiet: float) -> None:
        wrong = self._spread(name, value)
        self._shared.mark({name: wrong} if wrong else {})

    def _spread(self, name: str, value: JsonValue) -> str:
        """Set a value in all plots that have the param. Returns the message of the first one that refuses it."""
        refusal = ""
        for view in self._common().get(name, ()):
            try:
                view.set(**{name: value})
            except Invalid as error:
                refusal = refusal or error.problems[0].msg
        return refusal


def _p(view: View, name: str) -> Param:
    return view.params[name]


def _share_of(place: Tile | None) -> float:
    """The part of the width of the board that a plot takes."""
    return (WIDTH if place is None else place.w) / COLUMNS


def _order(place: Tile | None) -> tuple[int, int, int]:
    return (1, 0, 0) if place is None else (0, place.y, place.x)


def _distinct(choices: list[Choice]) -> list[Choice]:
    return list({same_key(choice["value"]): choice for choice in reversed(choices)}.values())[::-1]


def _unknown(name: str, views: Mapping[str, View]) -> Problem:
    return undeclared(name, {param for view in views.values() for param in view.params})
