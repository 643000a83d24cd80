"""One finding about a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Lint:
    """One thing that is odd about a figure: what and the mend (``message``), and where.

    ``trace`` is the place in ``figure.data``, ``axis`` the name in its layout (``xaxis``, ``yaxis2``); None where it
    is about no trace or axis in particular.
    """

    code: str
    message: str
    trace: int | None = None
    axis: str | None = None

    def __str__(self) -> str:
        return self.message

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it, without the places that it does not have."""
        raw = {"code": self.code, "message": self.message, "trace": self.trace, "axis": self.axis}
        return {key: value for key, value in raw.items() if value is not None}
