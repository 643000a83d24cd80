"""Undo and redo: the past, present and future states of a view."""

from __future__ import annotations

from typing import Generic, TypeVar

S = TypeVar("S")
MOST = 200
TOGETHER_S = 0.5


class History(Generic[S]):
    """A sequence of states. Quick changes of the same thing are undone in one step."""

    def __init__(self, state: S) -> None:
        self._past: list[S] = []
        self._future: list[S] = []
        self.present = state
        self._what = ""
        self._when = float("-inf")

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    def change(self, state: S, what: str = "", now: float = 0.0) -> None:
        """Go to a new state. ``what`` names the thing that changed, ``now`` is the time in seconds."""
        together = what != "" and what == self._what and now - self._when < TOGETHER_S and not self._future
        if not (together and self._past):
            self._past = [*self._past, self.present][-MOST:]
        self._future.clear()
        self.present, self._what, self._when = state, what, now

    def correct(self, state: S) -> None:
        """Replace the present state; this is not a change that can be undone."""
        self.present = state

    def undo(self) -> bool:
        """Go back to the state before; False if there is none."""
        return self._move(self._past, self._future)

    def redo(self) -> bool:
        """Go forward to the state that was undone; False if there is none."""
        return self._move(self._future, self._past)

    def _move(self, source: list[S], target: list[S]) -> bool:
        if not source:
            return False
        target.append(self.present)
        self.present = source.pop()
        self._what = ""
        return True
