"""``AuthorView``: from a wish to a saved plot in a notebook. Conversation, live draft, difference, decision, undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import anywidget
import ipywidgets as widgets
import traitlets
from pydantic import JsonValue

from ..authoring import CheckedAnswer, Conversation, Respond, Turn
from ..authoring.checked_answer import Finding
from ..authoring.difference import difference
from ..authoring.other_choices import failing_choices
from ..backend import Backend, FigureAnswer
from ..errors import BadRequest, Cancelled, WorkbenchError
from ..language_models import LanguageModel
from ..recipe.check import sound
from ..recipe.plot import PlotConfig
from ..records import Dashboard, Plot
from .background_worker import Clock, Job, Runner, Step, clock_here
from .closing import close_all
from .event_loop import at_home
from .model_writing import ModelWriting
from .plot_view import KeyGuard
from .saved_picture import show_live
from .surface import Message, Synced
from .view import View

if TYPE_CHECKING:
    import plotly.graph_objects as go

HERE = Path(__file__).parent
SCRIPTS = ("answer_view.js", "author_panel.js")
"""The parts of the panel's script, in order: a widget is one text, which imports nothing."""
BESIDE_PX = 300
"""Height of the plot before, where it is shown beside the draft."""
Draft: TypeAlias = Mapping[str, JsonValue]


class AuthorPanel(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types
    """The panel on the page; `AuthorView` answers its messages."""

    _esm = "".join((HERE / name).read_text("utf-8") for name in SCRIPTS)
    _css = (HERE / "author_panel.css").read_text("utf-8")
    said: traitlets.List[dict[str, str]] = traitlets.List([]).tag(sync=True)
    draft: traitlets.Dict[str, Synced] = traitlets.Dict({}).tag(sync=True)
    state: traitlets.Dict[str, Synced] = traitlets.Dict({}).tag(sync=True)
    told = traitlets.Unicode("").tag(sync=True)
    writing: traitlets.Dict[str, Synced] = traitlets.Dict({}).tag(sync=True)
    context = traitlets.Unicode("").tag(sync=True)


class AuthorView:
    """The result of ``bench.author``: ask, look at the draft, ask again, accept.

    Attributes
    ----------
    widget : the whole view as a widget, for a layout of your own.
    checked : the last answer after its check; None before the first.
    view : the live view of the present draft; None before the first.
    """

    def __init__(
        self,
        backend: Backend,
        board: Dashboard,
        plot: Plot | None = None,
        *,
        figure: Callable[[FigureAnswer], go.Figure],
        respond: Respond | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._backend = backend
        self._respond = respond
        self._figure = figure
        self._clock = clock
        self._writing: ModelWriting | None = None
        if isinstance(respond, LanguageModel):
            self._writing = ModelWriting(respond, self._show_writing, clock or clock_here())
        self.conversation = Conversation(backend, board, plot)
        self.checked: CheckedAnswer | None = None
        self.view: View | None = None
        self._earlier: View | None = None
        self._is_beside = False
        self._failing: list[str] = []
        self._panel = AuthorPanel()
        self._panel.on_msg(at_home(self._heard))
        # A picture keeps its box: one that the page builds anew would wait for its next figure.
        self._places = (widgets.Box(), widgets.Box())
        self._pictures = widgets.Box(list(self._places))
        self._pictures.add_class("wb-author-pictures")
        self.widget = widgets.VBox([self._panel, self._pictures, KeyGuard()])
        self._runner = Runner(self._busy, clock)
        self._show()

    # For users of Python

    @property
    def draft(self) -> Draft | None:
        """The draft or the saved plot that is shown now: its name and its recipe."""
        return self.conversation.draft

    @property
    def plot(self) -> Plot | None:
        """The saved plot, once a draft was accepted."""
        return self.conversation.plot

    def ask(self, wish: str) -> CheckedAnswer:
        """Ask for a plot, or for a change of the present one, and wait for the answer."""
        return self._taken(self._asked(wish, lambda: False))

    def paste(self, answer: str) -> CheckedAnswer:
        """Check the answer of a language model of your own, and show its draft."""
        return self._taken(self.conversation.paste(answer))

    def undo(self) -> None:
        """Go back to what was shown before the newest draft."""
        self.conversation.undo()
        self.checked = None
        self._show()

    def accept(self, name: str | None = None) -> Plot:
        """Save the draft on the dashboard, as the next revision of the plot or as a new one."""
        saved = self.conversation.accept(name)
        self._backend.met(saved)
        self._show()
        return saved

    def close(self) -> None:
        """Stop the work, remove the view from the page, and free all its widgets."""
        self._runner.close()
        if self._writing is not None:
            self._writing.close()
        for view in (self.view, self._earlier):
            if view is not None:
                view.close()
        close_all(self.widget)

    def __repr__(self) -> str:
        draft = self.draft
        return "<author>" if draft is None else f"<author of {str(draft['name'])!r}>"

    def _ipython_display_(self) -> None:
        show_live(self.widget, repr(self))

    # Messages of the page

    def _heard(self, _: object, content: Message, buffers: object) -> None:
        text = str(content.get("text", ""))
        acts: dict[str, Callable[[], object]] = {
            "ask": lambda: self.begin(text),
            "paste": lambda: self._work(lambda stopped: self.conversation.paste(text, stopped=stopped)),
            "context": lambda: self._copy(text),
            "stop": self._stop,
            "undo": self.undo,
            "beside": self._toggle,
            "accept": lambda: self.accept(str(content["name"]).strip() or None),
        }
        try:
            self._panel.told = ""
            acts[str(content["kind"])]()
        except WorkbenchError as error:
            self._panel.told = str(error)
            self._state("")

    def begin(self, wish: str) -> None:
        """Ask without waiting: the answer is shown when it comes."""
        self._panel.said = [*self._panel.said, {"who": "you", "text": wish}]
        self._work(lambda stopped: self._asked(wish, stopped))

    def _asked(self, wish: str, stopped: Callable[[], bool]) -> CheckedAnswer:
        writing = self._writing
        if writing is None:
            return self.conversation.ask(wish, self._respond, stopped=stopped)

        def respond(turns: Sequence[Turn]) -> str:
            return writing.respond(turns, stopped)

        return self.conversation.ask(wish, respond, stopped=stopped)

    def _stop(self) -> None:
        runs = self._runner.draws
        self._runner.stop()
        if self._writing is not None:
            self._writing.stop()
        if not runs:  # what only waits ends without a word
            self._stopped()

    def _stopped(self) -> None:
        self._show()
        self._panel.told = "Stopped. Nothing was saved."

    def _work(self, call: Callable[[Callable[[], bool]], CheckedAnswer]) -> None:
        def failed(error: BaseException) -> None:
            if isinstance(error, Cancelled):
                self._stopped()
            else:
                self._show()
                self._panel.told = str(error)

        self._runner.withdraw("check")  # choices of the draft before
        self._state("The author is at work …")

        def done(checked: CheckedAnswer) -> None:
            self._taken(checked)

        self._runner.submit(Job("draw", lambda job: call(job.cancel.is_set), done, failed))

    def _copy(self, wish: str) -> None:
        if not wish:
            raise BadRequest("Write what the plot should show first; the context is made for it.")
        context = self.conversation.context(wish)
        self._panel.context = ""
        self._panel.context = f"{context.system}\n\n{context.prompt}"

    # What is shown

    def _taken(self, checked: CheckedAnswer) -> CheckedAnswer:
        self.checked, self._failing = checked, []
        self._show()
        if checked.is_sound and checked.draft is not None:
            self._try_others(self._config(checked.draft), checked)
        return checked

    def _try_others(self, config: PlotConfig, checked: CheckedAnswer) -> None:
        """Draw the other choices of small params, after the picture is shown."""

        def done(failing: list[str]) -> None:
            if self.checked is checked and failing:
                self._failing = failing
                self._show()

        def run(job: Job) -> list[str]:
            return failing_choices(config, self._backend, checked.values, job.cancel.is_set)

        self._runner.submit(Job("check", run, done, lambda error: None))

    def _show_writing(self, end: str, characters: int) -> None:
        if self._panel.state.get("busy"):
            self._panel.writing = {"text": end, "characters": characters}

    def _busy(self, step: Step | None) -> None:
        if step is None:
            self._state("")

    def _show(self) -> None:
        talk, checked = self.conversation, self.checked
        self._panel.said = [{"who": one.who, "text": one.text} for one in talk.said]
        self._show_pictures()
        parts = [] if not talk.drafts else difference(talk.before, talk.drafts[-1])
        numbers = checked.numbers.as_text() if checked is not None and checked.numbers is not None else ""
        self._panel.draft = {
            "name": "" if talk.draft is None else str(talk.draft["name"]),
            "board": talk.board.name,
            "accept": bool(talk.drafts),
            "parts": parts if talk.before is not None else [],
            "numbers": numbers,
            "hints": [] if checked is None else [*(one["message"] for one in _remarks(checked)), *self._failing],
            "problems": []
            if checked is None or checked.draft is None
            else [one["msg"] for one in checked.problems],
            "words": "" if checked is None or not checked.problems else checked.words,
        }
        self._state("")

    def _state(self, busy: str) -> None:
        talk = self.conversation
        self._panel.state = {
            "busy": busy,
            "undo": bool(talk.drafts),
            "beside": talk.before is not None,
            "shown": self._is_beside and talk.before is not None,
            "spent": "" if self._writing is None else self._writing.spent,
        }
        if not busy:
            self._panel.writing = {}

    def _toggle(self) -> None:
        self._is_beside = not self._is_beside
        self._show_pictures()
        self._state("")

    def _show_pictures(self) -> None:
        talk = self.conversation
        self.view = self._shown(self.view, talk.draft, 0)
        self._earlier = self._shown(self._earlier, talk.before if self._is_beside else None, BESIDE_PX)
        for place, view in zip(self._places, (self._earlier, self.view), strict=True):
            children = () if view is None else (view.widget,)
            if place.children != children:
                place.children = children
            place.layout.display = None if children else "none"

    def _shown(self, view: View | None, draft: Draft | None, tile: int) -> View | None:
        """A live view of a draft. Its script is of somebody else, so it runs protected."""
        if draft is None:
            if view is not None:
                view.close()
            return None
        config, title = self._config(draft), f"{'Before: ' if tile else ''}{draft['name']}"
        if view is not None:
            return view.show(config, title)
        return View(
            self._backend,
            config,
            figure=self._figure,
            title=title,
            clock=self._clock,
            tile=tile,
            protected=True,
        )

    def _config(self, draft: Draft) -> PlotConfig:
        return sound(draft["config"])


def _remarks(checked: CheckedAnswer) -> list[Finding]:
    return [*checked.warnings, *checked.hints]


def author_view(
    backend: Backend,
    board: Dashboard,
    plot: Plot | None,
    wish: str | None,
    *,
    figure: Callable[[FigureAnswer], go.Figure],
    respond: Respond | None = None,
) -> AuthorView:
    """The view, which is already asked for the wish if there is one."""
    made = AuthorView(backend, board, plot, figure=figure, respond=respond)
    if wish:
        made.begin(wish)
    return made
