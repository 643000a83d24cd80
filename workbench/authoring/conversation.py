"""A conversation about one plot: wishes, answers, drafts and the decision, kept in a session that can be replayed.

The notebook and the command hold one. It works on a store here and on a server alike, since all it needs is in `Desk`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from ..engine.reader import Cancel
from ..errors import BadRequest
from ..records import Dashboard, Message, Plot
from .answer import read_answer, whole_characters
from .checked_answer import CheckedAnswer
from .context import AuthoringContext
from .loop import TRIES, Attempt, Respond, Turn, Written, write

Draft = dict[str, JsonValue]
"""Name and recipe."""


class Desk(Protocol):
    """What a conversation needs of a store, here or on a server; `workbench.backend.Backend` has it."""

    def authoring_context(
        self,
        board: Dashboard,
        prompt: str,
        plot: str | None = None,
        draft: Mapping[str, JsonValue] | None = None,
        session: str | None = None,
    ) -> AuthoringContext: ...
    def say(self, session_id: str, role: str, content: dict[str, JsonValue]) -> Message: ...
    def check_answer(
        self,
        answer: str | Mapping[str, JsonValue],
        values: dict[str, JsonValue] | None = None,
        draft: Draft | None = None,
        cancel: Cancel | None = None,
    ) -> CheckedAnswer: ...
    def propose(self, wish: str, draft: Draft | None = None, cancel: Cancel | None = None) -> CheckedAnswer: ...
    def decide(
        self,
        dashboard: Dashboard,
        name: str | None = None,
        plot_id: str | None = None,
        new_plot_id: str | None = None,
        session_id: str | None = None,
        only_newest: bool | None = None,
    ) -> Plot: ...


@dataclass(frozen=True)
class _Stopped:
    """Cancels a request as soon as a function says so."""

    is_set: Callable[[], bool]


@dataclass(frozen=True)
class Said:
    """A line of the conversation as a person sees it: ``who`` is ``you`` or ``author``."""

    who: str
    text: str


class Conversation:
    """One person, one author, one plot.

    Attributes
    ----------
    said : what was said, in order.
    drafts : the drafts that were offered, in order; undo takes the last one off.
    plot : the saved plot, if there is one.
    """

    def __init__(self, desk: Desk, board: Dashboard, plot: Plot | None = None) -> None:
        self._desk = desk
        self.board = board
        self.plot = plot
        self.session_id: str | None = None
        self.said: list[Said] = []
        self.drafts: list[Draft] = []
        self._start: Draft | None = None if plot is None else {"name": plot.name, "config": plot.config}
        self._sent: Draft | None = None
        """The last draft that came, sound or not: what the edits of the next answer change."""

    @property
    def draft(self) -> Draft | None:
        """What is shown now: the newest draft, else the saved plot, else nothing."""
        return self.drafts[-1] if self.drafts else self._start

    @property
    def before(self) -> Draft | None:
        """What was shown before the newest draft."""
        return self.drafts[-2] if len(self.drafts) > 1 else (self._start if self.drafts else None)

    def ask(
        self,
        wish: str,
        respond: Respond | None = None,
        *,
        tries: int = TRIES,
        stopped: Callable[[], bool] = lambda: False,
    ) -> CheckedAnswer:
        """Ask for a plot, or for a change of the present one.

        Parameters
        ----------
        respond : who answers; without it the built-in author does.
        tries : answers that are asked for at most.
        stopped : asked before each answer, and while a draft is drawn.
        """
        cancel = _Stopped(stopped)
        context = self._begun(wish)
        self._keep("user", {"text": wish})
        self.said.append(Said("you", wish))
        if respond is None:
            checked = self._desk.propose(wish, self.draft, cancel)
            return self._heard(Written(checked, [Attempt(_text(checked), checked)]))
        turns = [Turn("system", context.system), Turn("user", context.prompt)]

        def check(answer: str, *, draft: Draft | None = None) -> CheckedAnswer:
            return self._desk.check_answer(answer, draft=draft, cancel=cancel)

        return self._heard(write(turns, respond, check, before=self.draft, tries=tries, stopped=stopped))

    def context(self, wish: str) -> AuthoringContext:
        """The two texts for a language model of one's own, for a wish; its answer is given to `paste`."""
        return self._begun(wish)

    def paste(self, answer: str, *, stopped: Callable[[], bool] = lambda: False) -> CheckedAnswer:
        """Take an answer that a person brings from a language model of their own."""
        if self.session_id is None:
            self._begun("A pasted answer")
        checked = self._desk.check_answer(answer, draft=self._sent or self.draft, cancel=_Stopped(stopped))
        return self._heard(Written(checked, [Attempt(answer, checked)]))

    def undo(self) -> Draft | None:
        """Go back to what was shown before the newest draft, and give it; nothing is lost in the session."""
        if not self.drafts:
            raise BadRequest("There is no draft to undo.")
        self.drafts.pop()
        self._sent = None
        self.said.append(Said("you", "Undo"))
        content: dict[str, JsonValue] = {"text": "Undo"}
        if self.drafts:
            content["parts"] = [{"type": "draft", "draft": self.drafts[-1]}]
        self._keep("user", content)
        return self.draft

    def accept(self, name: str | None = None) -> Plot:
        """Save the present draft on the dashboard: as the next revision of the plot, or as a new plot.

        Raises
        ------
        BadRequest
            If there is no draft.
        Conflict
            If the name is taken, or if the draft is not sound any more, because the data changed.
        """
        if not self.drafts:
            raise BadRequest("There is no draft to accept. Ask for a plot first.")
        plot = self.plot
        # The newest draft of the session is saved, and that may be of another conversation about the plot, or one that
        # was not sound.
        shown: list[JsonValue] = [{"type": "draft", "draft": self.drafts[-1]}]
        self._keep("user", {"text": "Accept", "parts": shown})
        saved = self._desk.decide(
            self.board,
            name=name,
            plot_id=None if plot is None else plot.id,
            new_plot_id=str(uuid.uuid4()) if plot is None else None,
            session_id=self.session_id,
            only_newest=True,
        )
        self.plot, self._start, self.drafts = saved, {"name": saved.name, "config": saved.config}, []
        self._sent = None
        self.said.append(
            Said("author", f"Saved '{saved.name}' on '{self.board.name}', revision {saved.revision}.")
        )
        return saved

    # What is kept

    def _begun(self, wish: str) -> AuthoringContext:
        plot_id = None if self.plot is None else self.plot.id
        draft = self.drafts[-1] if self.drafts else None
        context = self._desk.authoring_context(self.board, wish, plot_id, draft, self.session_id)
        self.session_id, self._sent = context.session_id, None
        return context

    def _heard(self, written: Written) -> CheckedAnswer:
        checked = written.checked
        for attempt in written.attempts:
            self._sent = attempt.checked.draft or self._sent
            if attempt.checked is not checked:
                parts: list[JsonValue] = [{"type": "attempt", "answer": _whole(attempt)}]
                self._keep("assistant", {"parts": parts})
                self._keep("user", {"parts": [{"type": "repair", "text": attempt.checked.words}]})
        shown: list[JsonValue] = [{"type": "text", "text": checked.say}]
        if checked.is_sound and checked.draft is not None:
            shown.append({"type": "draft", "draft": checked.draft})
            self.drafts.append(checked.draft)
        self._keep("assistant", {"parts": shown})
        self.said.append(Said("author", _spoken(checked)))
        return checked

    def _keep(self, role: str, content: dict[str, JsonValue]) -> None:
        if self.session_id is not None:
            self._desk.say(self.session_id, role, content)


def _spoken(checked: CheckedAnswer) -> str:
    if checked.problems and checked.draft is not None:
        return f"{checked.say} This draft cannot be used: {checked.problems[0]['msg']}".strip()
    return checked.say or (checked.problems[0]["msg"] if checked.problems else "Here is a draft.")


def _text(checked: CheckedAnswer) -> str:
    return json.dumps({"say": checked.say, "draft": checked.draft}, ensure_ascii=False)


def _whole(attempt: Attempt) -> str:
    """An answer as it is kept: edits as the draft that they gave, since they mean nothing without the one before."""
    edits = attempt.checked.draft is not None and read_answer(attempt.answer).edits is not None
    return _text(attempt.checked) if edits else whole_characters(attempt.answer)


def answers_in(messages: Sequence[Message]) -> list[str]:
    """The answers of the author in the messages of a session, in order, as they can be given again."""
    found: list[str] = []
    for message in messages:
        parts = message.content.get("parts")
        if message.role != "assistant" or not isinstance(parts, list):
            continue
        of_kind = {part.get("type"): part for part in parts if isinstance(part, dict)}
        if "attempt" in of_kind:
            found.append(str(of_kind["attempt"].get("answer", "")))
        else:
            say = of_kind.get("text", {}).get("text", "")
            draft = of_kind.get("draft", {}).get("draft")
            found.append(json.dumps({"say": say, "draft": draft}, ensure_ascii=False))
    return found


def replayed(answers: Sequence[str]) -> Respond:
    """An author that gives stored answers again, in order."""
    waiting = list(answers)

    def respond(turns: Sequence[Turn]) -> str:
        if not waiting:
            raise BadRequest("The stored session has no further answer.")
        return waiting.pop(0)

    return respond
