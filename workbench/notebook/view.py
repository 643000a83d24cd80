"""A live view of one recipe: controls, picture, words; what a person changes is drawn at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, cast

import ipywidgets as widgets

from ..engine.zoom import Detail, traceable
from ..errors import Cancelled, Invalid
from ..local import FigureAnswer, LocalWorkbench
from ..recipe.plot import PlotConfig
from ..recipe.recipe import Recipe
from ..recipe.values import effective, undeclared
from ..typed_arrays import decode
from . import words
from .fields import same
from .history import History
from .panel import ControlPanel
from .plot_view import KeyGuard, PlotView
from .runner import Clock, Job, Runner
from .surface import Looked, Reason, Shown, Surface


@dataclass(frozen=True)
class State:
    """What is to be shown: a recipe, and a value for each of its params."""

    config: PlotConfig
    values: dict[str, Any]


@dataclass(frozen=True)
class Drawing:
    """A state that was drawn: its answer, and how long it took in seconds."""

    state: State
    answer: FigureAnswer
    seconds: float
    reason: Reason


class View:
    """A recipe with its controls and its picture, live: what ``bench.show`` gives.

    Attributes
    ----------
    widget : the whole, for a layout of one's own.
    """

    def __init__(
        self,
        work: LocalWorkbench,
        config: PlotConfig,
        values: Mapping[str, Any] | None = None,
        *,
        figure: Callable[[FigureAnswer], Any],
        surface: Surface | None = None,
        clock: Clock | None = None,
        title: str = "",
    ) -> None:
        self._work = work
        self._as_figure = figure
        self._history = History(State(config, effective(config, values)))
        self._drawing: Drawing | None = None
        self._error: BaseException | None = None
        self._zoomed = ""
        self._title = title
        self.surface: Surface = surface or PlotView()
        self._runner = Runner(self.surface.set_busy, clock)
        self._panel = ControlPanel(self._chosen)
        self.widget = widgets.VBox()
        self._build()
        self._draw("first")

    # What a person in Python does

    @property
    def values(self) -> dict[str, Any]:
        """The present value of every param, data and view."""
        return dict(self._history.present.values)

    def set(self, **values: Any) -> View:
        """Choose values by param name, as the controls do; the picture follows.

        Raises
        ------
        Invalid
            For a name that is no param, or a value that its control refuses; nothing changes then.
        """
        self._go(values, quiet=0.0, what="")
        return self

    def refresh(self, wait: bool = False) -> View:
        """Read again, so that new records come in. With ``wait`` the picture is there when this returns.

        Raises
        ------
        WorkbenchError
            With ``wait``: what is wrong, which stands beside the picture too.
        """
        if not wait:
            self._draw("data")
            return self
        self._runner.withdraw("draw")
        job = self._job("data")
        try:
            job.done(job.run(job))
        except Exception as error:
            job.failed(error)
            raise
        return self

    def figure(self) -> Any:
        """The present picture as a plain plotly figure, read anew."""
        state = self._history.present
        return self._as_figure(self._work.figure(state.config, state.values))

    def recipe(self) -> Recipe:
        """The present state as a recipe: the chosen values are its defaults."""
        state = self._history.present
        raw = state.config.dump()
        for name, value in state.values.items():
            if not same(raw["params"][name]["default"], value):
                raw["params"][name]["default"] = value
        return Recipe(raw)

    def undo(self) -> bool:
        """Take the last change back; False if there is none."""
        return self._moved(self._history.undo())

    def redo(self) -> bool:
        """Make a change again that was taken back; False if there is none."""
        return self._moved(self._history.redo())

    def close(self) -> None:
        """Stop the work of this view and take it off the page."""
        self._runner.close()
        self.widget.close()

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"<view of {', '.join(self._history.present.config.plan.steps)}{': ' if values else ''}{values}>"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    # How it is built

    def _build(self) -> None:
        self.widget.add_class("wb-view")
        self.surface.on_range(self._looked)
        children = [self._panel.widget]
        if isinstance(self.surface, PlotView):
            self.surface.on_act(self._act)
            self.surface.on_check(self._check)
        children.append(cast(widgets.Widget, self.surface))
        self.widget.children = [*children, KeyGuard()]
        self._show_controls({})

    def _act(self, name: str) -> str | None:
        if name == "copy":
            return json.dumps(self.recipe().raw(), ensure_ascii=False, indent=2)
        acts: dict[str, Callable[[], Any]] = {"undo": self.undo, "redo": self.redo, "refresh": self.refresh}
        acts[name]()
        return None

    def _show_controls(self, options: Mapping[str, list[dict[str, Any]]]) -> None:
        state = self._history.present
        self._panel.show(state.config.params, state.values, options)

    # What a person on the page does

    def _chosen(self, name: str, value: Any, quiet: float) -> None:
        try:
            self._go({name: value}, quiet, name)
        except Invalid as error:
            self._panel.mark(words.by_param(error))

    def _go(self, values: Mapping[str, Any], quiet: float, what: str) -> None:
        state = self._history.present
        if unknown := [
            undeclared(name, state.config.params) for name in values if name not in state.config.params
        ]:
            raise Invalid(unknown)
        new = State(state.config, effective(state.config, {**state.values, **values}))
        changed = [name for name in new.values if not same(new.values[name], state.values[name])]
        if not changed:
            return
        self._history.change(new, what, time.monotonic())
        kinds = {new.config.params[name].kind for name in changed}
        if what not in changed:
            self._show_controls(self._options())
        self._panel.mark({})
        self._draw("data" if "data" in kinds else "view", quiet)

    def _moved(self, moved: bool) -> bool:
        if moved:
            self._show_controls(self._options())
            self._draw("recipe")
        return moved

    def _options(self) -> dict[str, list[dict[str, Any]]]:
        return {} if self._drawing is None else self._drawing.answer.options

    def _check(self) -> None:
        """Draw anew if what the picture was drawn from has changed in the store."""
        drawing = self._drawing
        if drawing is None or not self._runner.idle:
            return

        def run(job: Job) -> bool:
            return self._work.is_current(drawing.answer)

        def done(current: bool) -> None:
            if not current and self._drawing is drawing:
                self._draw("data")

        self._runner.submit(Job("look", run, done, lambda error: None))

    # Drawing

    def _draw(self, reason: Reason, quiet: float = 0.0) -> None:
        self._runner.submit(self._job(reason), quiet)

    def _job(self, reason: Reason) -> Job:
        state = self._history.present
        at_hand = self._at_hand(state) if reason == "view" else None

        def run(job: Job) -> Drawing:
            started = time.perf_counter()
            if at_hand is None:
                answer = self._work.figure(state.config, state.values, job.progress, job.cancel)
            else:
                answer = self._work.redraw(state.config, state.values, at_hand, job.cancel)
            return Drawing(state, answer, time.perf_counter() - started, reason)

        return Job("draw", run, self._drawn, self._failed)

    def _at_hand(self, state: State) -> FigureAnswer | None:
        """The last answer, if only view params differ from what it was asked with."""
        drawing = self._drawing
        if drawing is None or drawing.state.config is not state.config:
            return None
        before = drawing.answer.values
        data = [name for name, param in state.config.params.items() if param.kind == "data"]
        return drawing.answer if all(same(before[name], state.values[name]) for name in data) else None

    def _drawn(self, drawing: Drawing) -> None:
        self._drawing, self._error, self._zoomed = drawing, None, ""
        self._history.correct(State(drawing.state.config, dict(drawing.answer.values)))
        content = "" if drawing.answer.at_hand is None else drawing.answer.at_hand.content
        self.surface.apply(drawing.answer.figure, drawing.reason, content[:16])
        self.surface.set_error([])
        self._show_controls(drawing.answer.options)
        self._say()

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, Cancelled):
            return
        self._error = error
        wrong = words.by_param(error)
        self._panel.mark(wrong)
        self.surface.set_error(words.problems(error))
        self._say()

    def _say(self) -> None:
        drawing = self._drawing
        badge: dict[str, str] = {}
        notes: list[str] = []
        if drawing is not None:
            if drawing.answer.at_hand is not None:
                badge["samples"] = words.samples(drawing.answer.at_hand.dataset)
            badge["zoom"] = self._zoomed
            badge["cost"] = words.cost(drawing.answer, drawing.seconds)
            notes = [warning["message"] for warning in drawing.answer.warnings]
        self.surface.show(
            Shown(self._title, badge, notes, undo=self._history.can_undo, redo=self._history.can_redo)
        )

    # Zoom

    def _looked(self, looked: list[Looked], asked: Mapping[str, Any]) -> None:
        drawing = self._drawing
        if drawing is None:
            return
        if not looked:
            self._runner.withdraw("detail")
            self._zoomed = ""
            self._say()
            return

        def run(job: Job) -> tuple[dict[int, Detail], str]:
            return self._finer(drawing, looked, job.cancel)

        def done(found: tuple[dict[int, Detail], str]) -> None:
            if self._drawing is drawing:
                self.surface.detail(found[0], asked)
                self._zoomed = found[1]
                self._say()

        self._runner.submit(Job("detail", run, done, self._failed))

    def _finer(self, drawing: Drawing, looked: list[Looked], cancel: Event) -> tuple[dict[int, Detail], str]:
        found: dict[int, Detail] = {}
        state, answer = drawing.state, drawing.answer
        for one in looked:
            found |= self._work.detail(
                state.config,
                answer.values,
                traces=one.traces,
                x=one.x,
                y=one.y,
                width=one.width,
                shown=answer,
                cancel=cancel,
            )
        if answer.at_hand is None or words.is_whole(answer.at_hand.dataset):
            return found, words.closely(found, [], [])
        figure = decode(answer.figure)
        finest = traceable(figure, answer.at_hand.dataset)
        asked = [n for one in looked for n in one.traces if len(figure["data"][n].get("x", ())) > 1]
        coarse = [n for n in asked if n not in found and n not in finest]
        return found, words.closely(found, coarse, [str(trace.get("name") or "") for trace in figure["data"]])
