"""What a rule finds, before the fix is added."""

from __future__ import annotations

from typing import NamedTuple


class Observation(NamedTuple):
    """One finding of a rule: a sentence, and where it is."""

    message: str
    trace: int | None = None
    axis: str | None = None
