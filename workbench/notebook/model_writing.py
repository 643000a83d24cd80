"""What a language model writes for a view: shown while it comes, stopped at once, with what it has cost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ..authoring import Turn
from ..errors import Cancelled
from ..language_models import LanguageModel
from .background_worker import Clock

EVERY_S = 0.1
"""The page gets what was written at most this often."""
MOST_SHOWN = 4_000
"""Characters at the end of an answer that the page shows."""


class ModelWriting:
    """Asks a language model for a view.

    Parameters
    ----------
    model : who answers. What it hears already goes on to be heard.
    show : called on the event loop with the end of what was written of one answer, and how many characters it has;
        with 0 when a request begins.
    clock : that of the view.
    """

    def __init__(self, model: LanguageModel, show: Callable[[str, int], None], clock: Clock) -> None:
        self._model = model
        self._show = show
        self._clock = clock
        self._others = model.heard
        self._lock = threading.Lock()
        self._end, self._characters = "", 0
        self._shown_at = 0.0
        model.heard = self._heard

    @property
    def spent(self) -> str:
        """What the session has cost so far, in words."""
        budget = self._model.budget
        return f"{self._model.title}: {budget.spent} of {budget.most} tokens of this session."

    def respond(self, turns: Sequence[Turn], stopped: Callable[[], bool]) -> str:
        """The answer of the model; see `LanguageModel`. It begins anew where an earlier request was stopped."""
        self._model.stop.clear()
        if stopped():  # the button was pressed before the request began
            raise Cancelled("The author was stopped. Nothing was saved.")
        with self._lock:
            self._end, self._characters, self._shown_at = "", 0, self._clock.now()
        self._clock.soon(lambda: self._show("", 0))
        try:
            return self._model(turns)
        finally:
            self._clock.soon(self._shown)

    def stop(self) -> None:
        """End the request that runs."""
        self._model.stop.set()

    def close(self) -> None:
        """End the request that runs, and listen no more."""
        self.stop()
        self._model.heard = self._others

    def _heard(self, part: str) -> None:
        """In the thread of the model's requests."""
        if self._others is not None:
            self._others(part)
        with self._lock:
            self._characters += len(part)
            self._end = (self._end + part)[-MOST_SHOWN:]
            now = self._clock.now()
            if now - self._shown_at < EVERY_S:
                return
            self._shown_at = now
        self._clock.soon(self._shown)

    def _shown(self) -> None:
        with self._lock:
            end, characters = self._end, self._characters
        self._show(end, characters)
