"""The queue of figures: shares the workers fairly between organizations, and refuses at once when it is full."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...errors import Busy, Cancelled

_LOOK = 0.05


@dataclass(eq=False)
class _Waiting:
    organization: str | None
    ready: bool = False


@dataclass
class Turns:
    """Lets at most ``workers`` figures run at once; of one organization at most half as many (but at least one).

    Parameters
    ----------
    queue : most waiting figures of all organizations.
    queue_each : most waiting figures of one organization.
    seconds : longest wait, s.

    The organization with the fewest running figures goes first; within it the figure that waits longest. Work without
    an organization (a local notebook) may use all the workers.
    """

    workers: int
    queue: int = 32
    queue_each: int = 8
    seconds: float = 30.0
    _waiting: deque[_Waiting] = field(default_factory=deque)
    _running: dict[str | None, int] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def load(self) -> tuple[int, int]:
        """How many figures are drawn now, and how many wait."""
        with self._changed:
            return sum(self._running.values()), len(self._waiting)

    @contextmanager
    def turn(self, organization: str | None, cancelled: Callable[[], bool] | None = None) -> Iterator[None]:
        """Wait for a free worker and hold it while the block runs.

        Raises
        ------
        Busy
            If the queue is full, or no worker became free in time.
        Cancelled
            If ``cancelled()`` became true while waiting.
        """
        place = self._enter(organization, cancelled)
        try:
            yield
        finally:
            with self._changed:
                self._running[place.organization] -= 1
                if not self._running[place.organization]:
                    del self._running[place.organization]
                self._call_next()

    def _enter(self, organization: str | None, cancelled: Callable[[], bool] | None) -> _Waiting:
        place = _Waiting(organization)
        until = time.monotonic() + self.seconds
        with self._changed:
            self._refuse_if_full(organization)
            self._waiting.append(place)
            self._call_next()
            try:
                while not place.ready:
                    if cancelled is not None and cancelled():
                        raise Cancelled("The request was cancelled while it waited to be drawn.")
                    if time.monotonic() > until:
                        raise self._busy(f"No figure could be started within {self.seconds:g} s.")
                    self._changed.wait(_LOOK if cancelled is not None else until - time.monotonic() + 0.01)
            except BaseException:  # whatever ends the wait, the place must become free
                self._leave(place)
                raise
        return place

    def _leave(self, place: _Waiting) -> None:
        if place.ready:
            self._running[place.organization] -= 1
            if not self._running[place.organization]:
                del self._running[place.organization]
            self._call_next()
        else:
            self._waiting.remove(place)

    def _refuse_if_full(self, organization: str | None) -> None:
        own = sum(one.organization == organization for one in self._waiting)
        if organization is not None and own >= self.queue_each:
            raise self._busy(f"{own} figures of this organization already wait to be drawn. More may not wait.")
        if len(self._waiting) >= self.queue:
            raise self._busy(f"{len(self._waiting)} figures already wait to be drawn. More may not wait.")

    def _busy(self, why: str) -> Busy:
        return Busy(f"{why} Try again in a few seconds.", retry_after=5)

    def _most(self, organization: str | None) -> int:
        return self.workers if organization is None else max(1, self.workers // 2)

    def _call_next(self) -> None:
        """Start waiting figures while there are free workers. The caller holds the lock."""
        while sum(self._running.values()) < self.workers:
            able = [w for w in self._waiting if self._running.get(w.organization, 0) < self._most(w.organization)]
            if not able:
                return
            chosen = min(able, key=lambda one: self._running.get(one.organization, 0))
            self._waiting.remove(chosen)
            chosen.ready = True
            self._running[chosen.organization] = self._running.get(chosen.organization, 0) + 1
            self._changed.notify_all()
