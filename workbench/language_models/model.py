"""`LanguageModel`: an author of the checked loop that asks a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from threading import Event
from typing import TYPE_CHECKING

from ..authoring.length import tokens
from ..authoring.loop import Turn
from ..errors import BadRequest, Cancelled
from .budget import Budget
from .choice import Chosen, chosen

if TYPE_CHECKING:
    from pydantic_ai.models import Model

NOT_INSTALLED = "Language models need the extra 'llm': pip install 'battery-workbench[llm]'."


@dataclass
class LanguageModel:
    """Answers the turns of a conversation; use one for each session, since its budget is that of a session.

    Attributes
    ----------
    model : the model of pydantic-ai.
    title : what people call it.
    budget : what the session may take, and has taken.
    heard : called with each part of an answer as it arrives.
    stop : set it to stop the request that runs: the connection closes, and the wish ends with `Cancelled`.
    """

    model: Model
    title: str
    budget: Budget = field(default_factory=Budget)
    heard: Callable[[str], None] | None = None
    stop: Event = field(default_factory=Event)
    key: str | None = field(default=None, repr=False)

    def __call__(self, turns: Sequence[Turn]) -> str:
        """The answer to these turns.

        Raises
        ------
        TooLarge
            If the budget of the session is too small for it. Nothing is asked then.
        Cancelled
            If it was stopped.
        ServerAway
            If the model's server cannot be reached, or refuses.
        """
        from .requests import asked

        texts = [turn.text for turn in turns]
        most = self.budget.left_for_answer(texts)
        if self.stop.is_set():
            raise Cancelled("The author was stopped. Nothing was saved.")
        parts: list[str] = []
        used = 0

        def heard(part: str) -> None:
            parts.append(part)
            if self.heard is not None:
                self.heard(part)

        try:
            used = asked(self, turns, most, heard)
        finally:
            # A provider counts what it has read and written so far, also where the request is stopped or breaks.
            self.budget.spend(used if used > 0 else sum(map(tokens, [*texts, *parts])))
        return "".join(parts)


def open_model(
    model: str | None = None,
    *,
    url: str | None = None,
    heard: Callable[[str], None] | None = None,
    spent: int = 0,
) -> LanguageModel:
    """The language model that is meant, for one session.

    Parameters
    ----------
    model : ``provider:name``; by default ``$WORKBENCH_MODEL``.
    url : address of an OpenAI-compatible server, such as ``http://gpu:8000/v1``; by default ``$WORKBENCH_MODEL_URL``.
    heard : called with each part of an answer as it arrives.
    spent : tokens that the session has taken before.

    Raises
    ------
    BadRequest
        If no model is chosen, the extra ``llm`` or the provider's package is not installed, or its key is missing.
    """
    if find_spec("pydantic_ai") is None:
        raise BadRequest(NOT_INSTALLED)
    meant: Chosen = chosen(model, url)
    from .requests import made

    return LanguageModel(made(meant), meant.title, Budget(meant.tokens, spent), heard, key=meant.key)
