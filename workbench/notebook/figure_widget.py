"""A plain plotly FigureWidget that follows the width of its cell, and a ``Surface`` that draws on it.

It is for users who want to change the figure in Python. The live view's own plot is lighter, because each FigureWidget
sends plotly.js (5 MB) to the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import anywidget
import ipywidgets as widgets
import plotly.graph_objects as go
import traitlets

from ..engine.zoom import Detail
from ..export import CONFIG
from ..inert_page import inert_script
from ..transform.figure import to_plotly
from .background_worker import Step
from .plot_view import FIGURES, STILLS, worded
from .saved_picture import Still
from .surface import STOP, Asked, Looked, Reason, Shown, ShownProblem

HERE = Path(__file__).parent
PIXELS = 1000
"""The width that detail is read for: Python does not know how wide the page draws the figure."""
Ranges: TypeAlias = Callable[[list[Looked], Asked], None]
Plotly: TypeAlias = Any
"""A figure, a part of one, or an argument of plotly, which has no types."""


class Widener(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types
    """Makes the figures next to it as wide as their cell, and keeps what plotly writes from fetching. With a ``Still``
    it keeps a picture of the first of them in it, for the saved notebook."""

    _esm = inert_script(FIGURES) + "".join((HERE / name).read_text("utf-8") for name in (*STILLS, "widener.js"))
    _css = (HERE / "plot_view.css").read_text("utf-8")
    still = traitlets.Unicode("").tag(sync=True)

    def keep_in(self, still: Still) -> None:
        """Set where the picture is kept."""
        self.still = still.id
        self.on_msg(lambda _, said, __: still.keep(str(said["picture"]), dark=said.get("dark") is True))


class WideFigureWidget(go.FigureWidget):  # type: ignore[misc]  # plotly has no types
    """A FigureWidget as wide as its cell, without a button that sends it to a service."""

    _esm = str(go.FigureWidget._esm)  # a text: what plotly has there keeps each widget that reads it

    def __init__(self, *args: Plotly, **kwargs: Plotly) -> None:
        super().__init__(*args, **kwargs)
        self._config = dict(CONFIG)
        self.add_class("wb-figure-widget")
        self.layout.autosize = True

    def _repr_mimebundle_(self, *args: Plotly, **kwargs: Plotly) -> Plotly:
        return widgets.VBox([Widener(), self])._repr_mimebundle_(*args, **kwargs)


def figure_widget(figure: bytes) -> WideFigureWidget:
    """The figure of encoded bytes as a FigureWidget."""
    return to_plotly(figure, WideFigureWidget)


class FigureSurface(widgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A ``Surface`` that draws on a FigureWidget, its attribute ``figure``; ``beside`` is what serves it on the page.

    If a new figure has the same number and types of traces, their values are updated. Otherwise all traces are
    replaced.
    """

    def __init__(self) -> None:
        self.figure: Plotly = WideFigureWidget()
        self._text = widgets.HTML()
        self._shown = Shown()
        self._busy = ""
        self._wrong = ""
        self._overview: dict[int, dict[str, Plotly]] = {}
        self._mute = False
        self._range: Ranges = lambda looked, asked: None
        self.beside = Widener()
        self._stop = widgets.Button(description="Stop", tooltip=STOP, icon="stop")
        self._stop.layout.display = "none"
        super().__init__([self.beside, self._text, self._stop, self.figure])

    def prepare(self, figure: bytes, keep: str) -> Plotly:
        made: Plotly = to_plotly(figure)
        return made.update_layout(uirevision=keep, autosize=True)

    def apply(self, prepared: Plotly, reason: Reason) -> None:
        new = prepared
        same = [trace.type for trace in new.data] == [trace.type for trace in self.figure.data]
        self._mute = True
        try:
            with self.figure.batch_update():
                if same:
                    for old, trace in zip(self.figure.data, new.data, strict=True):
                        old.update(trace.to_plotly_json(), overwrite=True)
            if not same:
                self.figure.data = []
                self.figure.add_traces(new.data)
            self.figure.update_layout(new.layout.to_plotly_json())
        finally:
            self._mute = False
        self._overview = {}
        if reason == "first":
            self.figure.layout.on_change(self._ranged, "xaxis.range", "xaxis.autorange")
        elif self.figure.layout.xaxis.range is not None and not self.figure.layout.xaxis.autorange:
            self._ranged(self.figure.layout)

    def detail(self, traces: Mapping[int, Detail], asked: Asked) -> None:
        self._mute = True
        try:
            with self.figure.batch_update():
                for n, trace in enumerate(self.figure.data):
                    finer = traces.get(n)
                    values = {} if finer is None else {"x": finer.x, "y": finer.y, **finer.others}
                    before = self._overview.setdefault(n, {})
                    before |= {path: trace[path] for path in values if path not in before}
                    for path, value in {**before, **values}.items():
                        trace[path] = value
        finally:
            self._mute = False

    def on_range(self, call: Ranges) -> None:
        self._range = call

    def keep_in(self, still: Still) -> None:
        self.beside.keep_in(still)

    def on_stop(self, call: Callable[[], None]) -> None:
        self._stop.on_click(lambda _: call())

    def set_busy(self, progress: Step | None) -> None:
        self._stop.layout.display = "none" if progress is None else None
        self._busy = "" if progress is None else worded(progress)["text"]
        self._update()

    def set_error(self, problems: Sequence[ShownProblem]) -> None:
        lines = [f"{one['message']} {one.get('text') or one.get('place') or ''}".strip() for one in problems]
        self._wrong = "<br>".join(f"<b>{escape(line)}</b>" for line in lines)
        self._update()

    def show(self, shown: Shown) -> None:
        self._shown = shown
        self._update()

    def _update(self) -> None:
        parts = [
            self._shown.title,
            *self._shown.badge.values(),
            *self._shown.notes,
            *self._shown.hints,
            self._busy,
        ]
        self._text.value = " · ".join(escape(part) for part in parts if part) + (
            f"<br>{self._wrong}" if self._wrong else ""
        )

    def _ranged(self, layout: Plotly, *_: object) -> None:
        if self._mute:
            return
        axis = layout.xaxis
        # After a double click the range is still the old one; only autorange shows that everything is visible.
        if axis.autorange or axis.range is None:
            self.detail({}, {})
            self._range([], {})
            return
        own = [n for n, trace in enumerate(self.figure.data) if getattr(trace, "xaxis", None) in (None, "x")]
        span = list(layout.yaxis.range) if layout.yaxis.range and not layout.yaxis.autorange else None
        self._range([Looked(own, list(axis.range), span, PIXELS)], {})
