"""One finding about a figure, as a user sees it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lint:
    """One thing that looks wrong in a figure: what it is and the fix (``message``), and where.

    ``trace`` is the index in ``figure.data``, ``axis`` the name in its layout (``xaxis``, ``yaxis2``). They are None if
    the finding is not about one trace or axis.
    """

    code: str
    message: str
    trace: int | None = None
    axis: str | None = None

    def __str__(self) -> str:
        return self.message

    def as_dict(self) -> dict[str, str | int]:
        """The finding as JSON, without the places that are None."""
        raw = {"code": self.code, "message": self.message, "trace": self.trace, "axis": self.axis}
        return {key: value for key, value in raw.items() if value is not None}
