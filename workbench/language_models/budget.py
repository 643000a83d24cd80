"""What a session may cost, in tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..authoring.length import tokens
from ..environment import MODEL_TOKENS
from ..errors import TooLarge

USUAL = 200_000
"""Tokens of a session if nobody says otherwise: about ten wishes that each need a repair."""
LEAST_ANSWER = 500
"""An answer of fewer tokens cannot hold a recipe, so that asking for it would be for nothing."""


@dataclass
class Budget:
    """The tokens that the requests of a session may take together, those of texts and of answers.

    A request that is stopped or fails counts as far as it went.
    """

    most: int = USUAL
    spent: int = 0

    def left_for_answer(self, texts: Iterable[str]) -> int:
        """The tokens that are left for an answer to these texts.

        Raises
        ------
        TooLarge
            If that is too few.
        """
        asked = sum(tokens(text) for text in texts)
        left = self.most - self.spent - asked
        if left < LEAST_ANSWER:
            raise TooLarge(
                f"The session has used {self.spent} of {self.most} tokens, and the next request needs about {asked} "
                f"more and room for its answer. Start a new session, or raise ${MODEL_TOKENS}."
            )
        return left

    def spend(self, used: int) -> None:
        """Count the tokens of a request."""
        self.spent += used
