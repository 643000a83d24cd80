"""The loop between a wish and a draft: ask, check, say what is wrong, ask again, a bounded number of times.

Who answers is a function, `Respond`: a language model behind its seam, a script of a test, or stored answers that are
replayed. Nothing is kept here; see ``conversation``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from pydantic import JsonValue

from ..errors import Cancelled
from ..messages import counted
from .checked_answer import CheckedAnswer

TRIES = 3
"""Answers that are asked for at most for one wish."""
Role = Literal["system", "user", "assistant"]


class Turn(NamedTuple):
    """One message as a model takes it."""

    role: Role
    text: str


Respond = Callable[[Sequence[Turn]], str]
"""Gives the answer to messages: the system text, the prompt, and what was answered and found wrong so far."""


class Check(Protocol):
    """Checks an answer; ``draft`` is what its edits change."""

    def __call__(self, answer: str, *, draft: dict[str, JsonValue] | None = None) -> CheckedAnswer: ...


@dataclass(frozen=True)
class Attempt:
    """An answer as it came, and what its check found."""

    answer: str
    checked: CheckedAnswer


@dataclass(frozen=True)
class Written:
    """What came of a wish: ``checked`` is offered to the person, with a draft or with words alone."""

    checked: CheckedAnswer
    attempts: list[Attempt] = field(default_factory=list)


def write(
    turns: Sequence[Turn],
    respond: Respond,
    check: Check,
    *,
    before: dict[str, JsonValue] | None = None,
    tries: int = TRIES,
    stopped: Callable[[], bool] = lambda: False,
) -> Written:
    """Ask until an answer is sound, or is given in words; at most ``tries`` times.

    All problems of an answer go back at once. What only looks wrong goes back once: if the next answer is no better,
    the first one is offered, with what looks wrong beside it.

    Parameters
    ----------
    turns : the system text, what was said before, and the prompt with the wish.
    before : the draft or plot that is to be changed. Edits change this one, then the draft of the answer before.
    stopped : asked before each answer.

    Raises
    ------
    Cancelled
        If it was stopped.
    """
    attempts: list[Attempt] = []
    asked, draft = list(turns), before
    for _ in range(max(1, tries)):
        if stopped():
            raise Cancelled("The author was stopped. Nothing was saved.")
        answer = respond(asked)
        checked = check(answer, draft=draft)
        draft = draft if checked.draft is None else checked.draft
        attempts.append(Attempt(answer, checked))
        is_last_word = checked.draft is None and not checked.problems
        polished = sum(one.checked.is_sound for one in attempts) > 1
        if is_last_word or (checked.is_sound and (not checked.words or polished)):
            break
        asked += [Turn("assistant", answer), Turn("user", checked.words)]
    return Written(_offered(attempts), attempts)


def _offered(attempts: Sequence[Attempt]) -> CheckedAnswer:
    """The sound answer with the fewest hints; else the last one if it is in words; else words of our own."""
    sound = [one.checked for one in attempts if one.checked.is_sound]
    if sound:
        return min(reversed(sound), key=lambda one: len(one.hints))
    last = attempts[-1].checked
    if not last.problems:
        return last
    first = last.problems[0]["msg"]
    more = f" (and {counted(len(last.problems) - 1, 'more problem')})" if len(last.problems) > 1 else ""
    said = (
        f"No sound draft came in {counted(len(attempts), 'try', 'tries')}, so nothing is offered. The last one fails: "
        f"{first}{more} Say it in other words, or name the tests and columns that you mean."
    )
    return CheckedAnswer(say=said, problems=last.problems)
