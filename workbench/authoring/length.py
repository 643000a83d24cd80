"""How long the texts for a language model are: what a wish costs before the model has written a word."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PARTS = re.compile(r"(?P<word>[A-Za-z]+)|(?P<digits>\d+)|(?P<signs>[!-/:-@\[-`{-~]+)|(?P<other>[^\x00-\x7f])|\n+")
_LENGTHS = {"word": 7, "digits": 3, "signs": 2, "other": 1}
"""How many characters of a kind are about one token; line breaks are one together, other spaces belong to words."""


def tokens(text: str) -> int:
    """About how many tokens a text has. Each model cuts texts in its own way; this needs none of their tables."""
    return sum(
        -(-len(found[0]) // _LENGTHS[found.lastgroup]) if found.lastgroup else 1 for found in _PARTS.finditer(text)
    )


@dataclass(frozen=True)
class ContextTexts:
    """The two texts for a language model, and the length of both."""

    system: str
    prompt: str
    characters: int
    tokens: int

    @classmethod
    def of(cls, system: str, prompt: str) -> ContextTexts:
        return cls(system, prompt, len(system) + len(prompt), tokens(system) + tokens(prompt))
