"""Undo and redo: the states of a view, the present one among them."""

from __future__ import annotations

from typing import Generic, TypeVar

S = TypeVar("S")
MOST = 200
TOGETHER_S = 0.5


class History(Generic[S]):
    """A line of states. Changes of one thing in quick succession are one step back."""

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
        """Go on to another state. ``what`` names the thing that changed, ``now`` the time in seconds."""
        together = what != "" and what == self._what and now - self._when < TOGETHER_S and not self._future
        if not (together and self._past):
            self._past = [*self._past, self.present][-MOST:]
        self._future.clear()
        self.present, self._what, self._when = state, what, now

    def correct(self, state: S) -> None:
        """Put another state in place of the present one: nothing that anybody did."""
        self.present = state

    def undo(self) -> bool:
        """Go one state back; False if there is none."""
        return self._move(self._past, self._future)

    def redo(self) -> bool:
        """Go one state on again; False if there is none."""
        return self._move(self._future, self._past)

    def _move(self, source: list[S], target: list[S]) -> bool:
        if not source:
            return False
        target.append(self.present)
        self.present = source.pop()
        self._what = ""
        return True
