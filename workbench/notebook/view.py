"""``View``, a live view of one recipe: controls, figure and texts. Every change is drawn at once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, cast

import ipywidgets as widgets
from pydantic import JsonValue

from ..backend import Backend, FigureAnswer
from ..engine.choices import options_from
from ..engine.zoom import Detail
from ..errors import Cancelled, Invalid, ScriptError, WorkbenchError
from ..lint import Lint
from ..recipe.params import Choice, Param
from ..recipe.plot import PlotConfig
from ..recipe.recipe import Recipe
from ..recipe.values import check_value, effective, undeclared
from ..records import Plot
from ..transform.own_process import OwnProcess
from ..typed_arrays import decode
from . import status_text as words
from .background_worker import Clock, Job, Runner
from .closing import close_all
from .event_loop import at_home
from .field import same
from .history import History
from .panel import ControlPanel
from .plot_view import ACTS, TILE_ACTS, ControlNames, KeyGuard, PlotView
from .recipe_panel import RecipeDesk
from .saved_picture import Still, show_live
from .surface import Asked, Looked, Picture, Reason, Shown, Stills, Stops, Surface
from .time_limit import TimeLimit, seconds_of

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True)
class State:
    """What a view shows: a recipe and a value for each of its params."""

    config: PlotConfig
    values: dict[str, JsonValue]


@dataclass(frozen=True)
class Drawing:
    """A drawn state: its answer, the figure as the surface takes it, and how long it took in seconds."""

    state: State
    answer: FigureAnswer
    picture: Picture
    seconds: float
    reason: Reason


class View:
    """A recipe with its controls and its figure, live: the result of ``bench.show``.

    Attributes
    ----------
    widget : the whole view as a widget, for a layout of your own.
    """

    def __init__(
        self,
        backend: Backend,
        config: PlotConfig,
        values: Mapping[str, JsonValue] | None = None,
        *,
        figure: Callable[[FigureAnswer], go.Figure],
        surface: Surface | None = None,
        clock: Clock | None = None,
        title: str = "",
        home: Plot | None = None,
        tile: int = 0,
        still: Still | None = None,
        protected: bool | None = None,
        time_limit: TimeLimit = ...,
    ) -> None:
        self._backend = backend
        self._protected = protected
        self._foreign = backend.is_untrusted(config)
        self._own = OwnProcess(seconds_of(time_limit))
        self._waiting: Job | None = None
        self._stopped = False
        self._as_figure = figure
        self._history = History(State(config, effective(config, values)))
        self._drawing: Drawing | None = None
        self._error: BaseException | None = None
        self._zoomed = ""
        self._hints: list[str] = []
        self._more = ""
        self._without_detail: list[str] = []
        self._title = title
        self._home = home
        self._desk: RecipeDesk | None = None
        self._still = None if tile or not (surface is None or isinstance(surface, Stills)) else Still()
        self.surface: Surface = surface or PlotView(TILE_ACTS if tile else ACTS, tile, still or self._still, title)
        if kept := still or self._still:
            kept.shows(self._shown)
        if isinstance(self.surface, Stills) and self._still is not None:
            self.surface.keep_in(self._still)
        self._runner = Runner(self.surface.set_busy, clock)
        self._stop_soon = at_home(self._runner.stop)
        self._panel = ControlPanel(self._chosen)
        self._controls_open = not tile
        self._answered: list[Callable[[], None]] = []
        self.widget = widgets.VBox()
        self._build(guarded=not tile)
        self._draw("first")

    # For users of Python

    @property
    def values(self) -> dict[str, JsonValue]:
        """The present value of every data and view param."""
        return dict(self._history.present.values)

    @property
    def params(self) -> dict[str, Param]:
        """The params of the recipe that is shown."""
        return dict(self._history.present.config.params)

    @property
    def options(self) -> dict[str, list[Choice]]:
        """The choices of each param that has some, as of the last figure."""
        return {} if self._drawing is None else self._drawing.answer.options

    @property
    def time_limit(self) -> float | None:
        """Most seconds that a script of your own may take; None: no limit. A protected script has limits of its own."""
        return self._own.seconds

    @time_limit.setter
    def time_limit(self, seconds: float | None) -> None:
        self._own.seconds = seconds_of(seconds)

    def on_answer(self, call: Callable[[], None]) -> None:
        """Add a function that is called after every new figure."""
        self._answered.append(call)

    def set(self, **values: JsonValue) -> View:
        """Choose values by param name, as the controls do. The figure is drawn again.

        Raises
        ------
        Invalid
            For a name that is not a param, or a value that its control refuses. Nothing changes.
        """
        self._go(values, quiet=0.0, what="")
        return self

    def show(self, config: PlotConfig, title: str | None = None) -> View:
        """Show another recipe in this view. Chosen values that fit it stay; undo goes back."""
        if title is not None:
            self._title = title
        if config != self._history.present.config:
            self._run_recipe(config)
        return self

    def refresh(self, wait: bool = False) -> View:
        """Read the data again, with records that are new. With ``wait``, the call returns when the figure is drawn.

        Raises
        ------
        WorkbenchError
            With ``wait``: what is wrong. It is also shown next to the figure.
        """
        if not wait:
            self._draw("data")
            return self
        self._runner.withdraw("draw")
        self._stopped = False
        job = self._waiting = self._job("data")
        try:
            job.done(job.run(job))
        except Exception as error:  # whatever it is, it is shown next to the figure too
            job.failed(error)
            raise
        finally:
            self._waiting = None
        return self

    def stop(self) -> None:
        """Stop the drawing that runs now. The figure that is shown stays, and the view says where the script was."""
        self._stop_now()
        self._runner.stop()

    def figure(self) -> go.Figure:
        """The figure of the present values as a plain plotly figure; the data is read again."""
        state = self._history.present
        answer = self._backend.figure(
            state.config, state.values, protected=self._is_protected(state.config), own=self._own
        )
        return self._as_figure(answer)

    def recipe(self) -> Recipe:
        """The recipe with the present values as its defaults."""
        state = self._history.present
        raw = state.config.dump()
        for name, value in state.values.items():
            if not same(raw["params"][name]["default"], value):
                raw["params"][name]["default"] = value
        made = Recipe(raw)
        made.foreign = self._foreign or bool(self._protected)
        return made

    def undo(self) -> bool:
        """Undo the last change; False if there is none."""
        return self._moved(self._history.undo())

    def redo(self) -> bool:
        """Redo the last change that was undone; False if there is none."""
        return self._moved(self._history.redo())

    def close(self) -> None:
        """Stop the work of this view, remove it from the page, and free all its widgets."""
        self._stop_now()
        self._runner.close()
        self._panel.close()
        for part in (self.surface, None if self._desk is None else self._desk.widget, self.widget):
            if isinstance(part, widgets.Widget):
                close_all(part)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        name = self._title or (self._home and self._home.name)
        of = f"'{name}'" if name else ", ".join(self._history.present.config.plan.steps)
        return f"<view of {of}{': ' if values else ''}{values}>"

    def _ipython_display_(self) -> None:
        """Show the live view. Below it is a picture for the saved notebook, which is hidden while the view is live."""
        show_live(self.widget, repr(self))
        if self._still is not None:
            self._still.display()

    def _shown(self) -> dict[str, JsonValue]:
        """What this view shows, for the saved notebook."""
        state = self._history.present
        return {
            "name": self._title or ("" if self._home is None else self._home.name),
            # A text: notebooks sort the keys of objects, and the steps of a plan have an order.
            "recipe": json.dumps(state.config.dump()),
            "values": dict(state.values),
            "as_of": self._backend.moment,
        }

    # How it is built

    def _build(self, guarded: bool) -> None:
        self.widget.add_class("wb-view")
        self.surface.on_range(at_home(self._looked))
        children = [self._panel.widget] if self._controls_open else []
        if isinstance(self.surface, PlotView):
            self.surface.on_act(self._act)
            self.surface.on_check(self._check)
            self.surface.on_drawn(self._runner.drawn)
        if isinstance(self.surface, Stops):
            self.surface.on_stop(self._stop_pressed)
        # Each surface is a widget too; the protocol cannot say so, since ipywidgets has no types.
        children.append(cast(widgets.Widget, self.surface))
        if self._controls_open:
            children.append(ControlNames())
        self.widget.children = [*children, KeyGuard()] if guarded else children
        self._show_controls({})

    def _stop_pressed(self) -> None:
        self._stop_now()
        self._stop_soon()

    def _stop_now(self) -> None:
        """End what runs, in any thread: the loop may be waiting for it."""
        self._stopped = True
        self._own.stop()
        if (waiting := self._waiting) is not None:
            waiting.cancel.set()

    def _act(self, name: str) -> str | None:
        if name == "copy":
            return json.dumps(self.recipe().raw(), ensure_ascii=False, indent=2)
        acts: dict[str, Callable[[], View | bool | None]] = {
            "undo": self.undo,
            "redo": self.redo,
            "refresh": self.refresh,
            "controls": self._toggle_controls,
            "recipe": self._toggle_desk,
        }
        acts[name]()
        return None

    # The controls of a tile and the recipe panel; both are built when they are first opened

    def _toggle_controls(self) -> None:
        self._controls_open = not self._controls_open
        rest = [child for child in self.widget.children if child is not self._panel.widget]
        # As in `__init__`: each surface is a widget.
        place = self.widget.children.index(cast(widgets.Widget, self.surface)) + 1
        if self._controls_open:
            named = any(isinstance(child, ControlNames) for child in rest)
            rest = [*rest[:place], self._panel.widget, *rest[place:], *([] if named else [ControlNames()])]
        self.widget.children = rest
        self._show_controls(self.options)
        self._say()

    def _toggle_desk(self) -> None:
        if self._desk is None:
            self._desk = RecipeDesk(self._backend, self._run_recipe, self.recipe, self._home)
            self._feed_desk()
            self.widget.children = [*self.widget.children, self._desk.widget]
        else:
            layout = self._desk.widget.layout
            layout.display = None if layout.display == "none" else "none"
        self._say()

    @property
    def _desk_open(self) -> bool:
        return self._desk is not None and self._desk.widget.layout.display != "none"

    def _feed_desk(self, recipe: bool = True) -> None:
        if self._desk is None:
            return
        if recipe:
            self._desk.show(self._history.present.config)
        at_hand = None if self._drawing is None else self._drawing.answer.at_hand
        self._desk.show_data(None if at_hand is None else at_hand.dataset)
        self._desk.show_problems(self._error)

    def _run_recipe(self, config: PlotConfig) -> None:
        """Show another recipe. Chosen values that fit it stay."""
        before = self._history.present
        values = {}
        for name, param in config.params.items():
            old = before.config.params.get(name)
            kept = old is not None and old.kind == param.kind and same(old.default, param.default)
            if kept and not check_value(name, param, before.values[name])[1]:
                values[name] = before.values[name]
        self._foreign = self._foreign or self._backend.is_untrusted(config)
        self._history.change(State(config, effective(config, values)))
        self._show_controls(self.options)
        self._draw("recipe")

    def _is_protected(self, config: PlotConfig) -> bool:
        """Whether a script runs protected in this view: it was asked for, or the script is not this user's own.

        A view that has shown the script of somebody else stays so: a changed letter does not make it one's own.
        """
        return self._foreign or self._backend.is_untrusted(config) if self._protected is None else self._protected

    def _show_controls(self, options: Mapping[str, list[Choice]]) -> None:
        if not self._controls_open:
            return
        state = self._history.present
        known = {name: choices for name, choices in options.items() if name in state.config.params}
        for name, param in state.config.params.items():
            if options_from(param) is not None and name not in known:
                known[name] = _as_choices(state.values[name])  # until the first answer has the real choices
        self._panel.show(state.config.params, state.values, known)

    # What a user does on the page

    def _chosen(self, name: str, value: JsonValue, quiet: float) -> None:
        try:
            self._go({name: value}, quiet, name)
        except Invalid as error:
            self._panel.mark(words.by_param(error))

    def _go(self, values: Mapping[str, JsonValue], quiet: float, what: str) -> None:
        state = self._history.present
        if unknown := [
            undeclared(name, state.config.params, state.config.transform)
            for name in values
            if name not in state.config.params
        ]:
            raise Invalid(unknown)
        new = State(state.config, effective(state.config, {**state.values, **values}))
        changed = [name for name in new.values if not same(new.values[name], state.values[name])]
        if not changed:
            return
        self._history.change(new, what, time.monotonic())
        kinds = {new.config.params[name].kind for name in changed}
        if what not in changed:
            self._show_controls(self.options)
        self._panel.mark({})
        self._draw("data" if "data" in kinds else "view", quiet)

    def _moved(self, moved: bool) -> bool:
        if moved:
            self._show_controls(self.options)
            if self._desk is not None:
                self._desk.show(self._history.present.config)
            self._draw("recipe")
        return moved

    def _check(self) -> None:
        """Draw again if the data of the figure has changed in the store."""
        drawing = self._drawing
        if drawing is None or not self._runner.idle:
            return

        def run(job: Job) -> bool:
            return self._backend.is_current(drawing.answer)

        def done(current: bool) -> None:
            if not current and self._drawing is drawing:
                self._draw("data")

        self._runner.submit(Job("check", run, done, lambda error: None))

    # Drawing

    def _draw(self, reason: Reason, quiet: float = 0.0) -> None:
        self._stopped = False
        self._runner.submit(self._job(reason), quiet)

    def _job(self, reason: Reason) -> Job:
        state = self._history.present
        at_hand = self._at_hand(state) if reason == "view" else None
        locked = self._is_protected(state.config)

        def run(job: Job) -> Drawing:
            started = time.perf_counter()
            if not locked:
                self._own.start()
            if at_hand is None:
                answer = self._backend.figure(
                    state.config, state.values, job.progress, job.cancel, protected=locked, own=self._own
                )
            else:
                answer = self._backend.redraw(
                    state.config, state.values, at_hand, job.cancel, protected=locked, own=self._own
                )
            content = "" if answer.at_hand is None else answer.at_hand.content
            picture = self.surface.prepare(answer.figure, content[:16])
            return Drawing(state, answer, picture, time.perf_counter() - started, reason)

        return Job("draw", run, self._drawn, self._failed)

    def _at_hand(self, state: State) -> FigureAnswer | None:
        """The last answer, if only view params have changed since."""
        drawing = self._drawing
        if drawing is None or drawing.state.config is not state.config:
            return None
        before = drawing.answer.values
        data = [name for name, param in state.config.params.items() if param.kind == "data"]
        return drawing.answer if all(same(before[name], state.values[name]) for name in data) else None

    def _drawn(self, drawing: Drawing) -> None:
        self._drawing, self._error, self._zoomed, self._hints = drawing, None, "", []
        self._more, self._without_detail = "", []
        self._history.correct(State(drawing.state.config, dict(drawing.answer.values)))
        self.surface.apply(drawing.picture, drawing.reason)
        self.surface.set_error([])
        self._show_controls(drawing.answer.options)
        self._feed_desk(recipe=False)
        self._say()
        for call in self._answered:
            call()

        def run(job: Job) -> tuple[list[Lint], str, list[str]]:
            return drawing.answer.lint, *_detail_of(drawing.answer)

        self._runner.submit(Job("lint", run, self._linted, self._failed))

    def _linted(self, found: tuple[list[Lint], str, list[str]]) -> None:
        hints, self._more, self._without_detail = found
        self._hints = [one.message for one in hints]
        self._say()

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, Cancelled):
            if not self._stopped:
                return
            error = WorkbenchError("You stopped this before the figure was drawn. Read the data again to draw it.")
        self._error = error
        wrong = words.by_param(error)
        self._panel.mark(wrong)
        self.surface.set_error(words.problems(error))
        if self._desk is not None:
            self._desk.show_problems(error)
        self._say()

    def _say(self) -> None:
        drawing = self._drawing
        badge: dict[str, str] = {}
        notes: list[str] = []
        if drawing is not None:
            if drawing.answer.at_hand is not None:
                badge["samples"] = words.samples(drawing.answer.at_hand.dataset)
            badge["detail"] = "" if self._zoomed else self._more
            badge["zoom"] = self._zoomed
            badge["cost"] = words.cost(drawing.answer, drawing.seconds)
            notes = [*(warning["message"] for warning in drawing.answer.warnings), *self._without_detail]
        self.surface.show(
            Shown(
                self._title,
                badge,
                notes,
                self._hints,
                self._log(),
                undo=self._history.can_undo,
                redo=self._history.can_redo,
                panel=self._desk_open,
                controls=self._controls_open,
            )
        )

    def _log(self) -> str:
        if isinstance(self._error, ScriptError):
            return self._error.log
        return "" if self._drawing is None else self._drawing.answer.log

    # Zoom

    def _looked(self, looked: list[Looked], asked: Asked) -> None:
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
            found |= self._backend.detail(
                state.config,
                answer.values,
                traces=one.traces,
                x=one.x,
                y=one.y,
                width=one.width,
                shown=answer,
                cancel=cancel,
                protected=self._is_protected(state.config),
                own=self._own,
            )
        if answer.at_hand is None or words.is_whole(answer.at_hand.dataset):
            return found, words.closely(found, [], [])
        traced = answer.traced
        asked = [n for one in looked for n in one.traces if n < len(traced)]
        coarse = [n for n in asked if traced[n]["detail"] == "none" and traced[n]["shown"] > 1]
        return found, words.closely(found, coarse, _names(answer))


def _detail_of(answer: FigureAnswer) -> tuple[str, list[str]]:
    """What zoom has, in words; nothing where the figure shows all there is."""
    more = words.has_more(answer.traced)
    whole = not more if answer.at_hand is None else words.is_whole(answer.at_hand.dataset)
    return ("", []) if whole else (more, words.without_detail(answer.traced, _names(answer)))


def _names(answer: FigureAnswer) -> list[str]:
    return [str(trace.get("name") or "") for trace in decode(answer.figure)["data"]]


def _as_choices(value: JsonValue) -> list[Choice]:
    values = value if isinstance(value, list) else [value]
    return [{"value": one, "label": None} for one in values if one is not None]
