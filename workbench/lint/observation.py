"""What a rule finds, before the fix is added."""

from __future__ import annotations

from typing import NamedTuple


class Observation(NamedTuple):
    """One finding of a rule: a sentence, and where it is."""

    message: str
    trace: int | None = None
    axis: str | None = None


def listed(names: list[str], most: int = 4) -> str:
    """Names in a sentence: the first few, and how many more."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
