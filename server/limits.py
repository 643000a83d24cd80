"""Limits of load: the rate of requests for each key, and the number of threads that work at once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import NamedTuple, TypeVar

from workbench.errors import Busy, TooMany, WorkbenchError
from workbench.store.shared import Shared

T = TypeVar("T")
_MOST_KEYS = 10_000
_PARTS = 16
"""A process takes this part of a shared bucket at once."""


class Rates:
    """A token bucket for each key: in this process, or ``shared`` by the servers on a store. Then a process takes some
    tokens at once, so that most requests ask nobody."""

    def __init__(self, per_second: float, burst: int, shared: Shared | None = None, name: str = "") -> None:
        self._per_second = per_second
        self._burst = burst
        self._shared = shared
        self._name = name
        self._taken: OrderedDict[str, int] = OrderedDict()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> None:
        """Take one request of this key.

        Raises
        ------
        TooMany
            If its bucket is empty.
        """
        if not (self._has(key) if self._shared is None else self._granted(self._shared, key)):
            message = f"This key sent more than {self._per_second:g} requests per second. Wait a second."
            raise TooMany(message, retry_after=1)

    def _granted(self, shared: Shared, key: str) -> bool:
        """Whether a token is left of those that this process took, or the shared bucket gives more."""
        with self._lock:
            left = self._taken.pop(key, 0)
            if left > 1:
                self._taken[key] = left - 1
        if left:
            return True
        given = shared.grant(f"{self._name} {key}", self._per_second, self._burst, max(1, self._burst // _PARTS))
        if given is None:
            return self._has(key)  # as if there were no other server
        with self._lock:
            if given > 1:
                self._taken[key] = self._taken.pop(key, 0) + given - 1
            while len(self._taken) > _MOST_KEYS:
                self._taken.popitem(last=False)
        return given > 0

    def _has(self, key: str) -> bool:
        """Whether the bucket of this process has a token."""
        now = time.monotonic()
        with self._lock:
            left, then = self._buckets.pop(key, (float(self._burst), now))
            left = min(left + (now - then) * self._per_second, float(self._burst))
            enough = left >= 1
            self._buckets[key] = (left - 1 if enough else left, now)
            while len(self._buckets) > _MOST_KEYS:
                self._buckets.popitem(last=False)
        return enough


class Party(NamedTuple):
    """Whose a request is, as far as turns go: an organization, and who of it asks. Of requests without a credential
    that is known the organization is empty."""

    organization: str
    who: str = ""


class Threads:
    """Threads for one kind of work, and a bound on how many requests may wait for one of them.

    One party may use all threads while nobody else waits. As soon as several wait, the next free thread goes to the
    organization that runs the least, and there to who runs the least. If too many wait, the last request of who has the
    most waiting is turned away: one who floods the queue refuses nobody but himself.
    """

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"workbench-{name}")
        self._free = threads
        self._most_waiting = waiting
        self._waiting = 0
        self._running: Counter[str] = Counter()
        self._running_of: Counter[Party] = Counter()
        self._queues: OrderedDict[str, OrderedDict[str, deque[asyncio.Future[None]]]] = OrderedDict()
        """Those that wait, by organization and who; those that had a turn longest ago come first."""

    def load(self) -> tuple[int, int]:
        """How many requests run, and how many wait."""
        return sum(self._running.values()), self._waiting

    async def run(self, party: Party, work: Callable[[], T], cancelled: Callable[[], None]) -> T:
        """The result of ``work``, run in a thread. If the caller is cancelled, ``cancelled`` is called, and then this
        waits for the thread, which still uses its data.

        Raises
        ------
        Busy
            If too many requests are waiting already.
        """
        if self._free:
            self._free -= 1
            self._begins(party)
        else:
            await self._turn(party)
        try:
            # The thread's lines in the log are those of this request.
            future = asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, work)
            try:
                return await asyncio.shield(future)
            except asyncio.CancelledError:
                cancelled()
                await asyncio.wait([future])
                error = future.exception()  # if nobody looks at it, the event loop logs it
                if error is not None and not isinstance(error, WorkbenchError):
                    future.get_loop().call_exception_handler(
                        {"message": "Cancelled work failed.", "exception": error}
                    )
                raise
        finally:
            self._ends(party)

    async def _turn(self, party: Party) -> None:
        """Wait until a thread is handed to this request."""
        if self._waiting >= self._most_waiting:
            self._make_room(party)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(party.organization, OrderedDict()).setdefault(party.who, deque()).append(turn)
        self._waiting += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(party, turn)
            elif turn.exception() is None:  # it came as it was withdrawn
                self._ends(party)
            raise

    def _make_room(self, party: Party) -> None:
        """Turn away the last request of who has the most waiting, unless the new one is as many."""
        loud = max(self._queues, key=self._crowd)
        if self._crowd(loud) <= self._crowd(party.organization) + 1:
            loud = party.organization
        members = self._queues.get(loud, OrderedDict())
        who = max(members, key=lambda one: len(members[one]), default=party.who)
        crowd = len(members.get(who, ()))
        if loud == party.organization and crowd <= len(members.get(party.who, ())) + 1:
            raise _busy()
        last = members[who][-1]
        self._leave(Party(loud, who), last)
        if not last.done():
            last.set_exception(_busy())

    def _crowd(self, organization: str) -> int:
        """How many requests of an organization wait."""
        return sum(map(len, self._queues.get(organization, {}).values()))

    def _leave(self, party: Party, turn: asyncio.Future[None]) -> None:
        """Take a request out of the queue, if it is there."""
        members = self._queues.get(party.organization, OrderedDict())
        queue = members.get(party.who, deque())
        if turn in queue:
            queue.remove(turn)
            self._waiting -= 1
        if not queue:
            members.pop(party.who, None)
        if not members:
            self._queues.pop(party.organization, None)

    def _begins(self, party: Party) -> None:
        self._running[party.organization] += 1
        self._running_of[party] += 1

    def _ends(self, party: Party) -> None:
        """Give the thread of a party to who waits and runs the least; of equals, to who had a turn longest ago."""
        self._running[party.organization] -= 1
        self._running_of[party] -= 1
        self._running, self._running_of = +self._running, +self._running_of
        while self._queues:
            organization = min(self._queues, key=lambda one: self._running[one])
            members = self._queues[organization]
            who = min(members, key=lambda one: self._running_of[Party(organization, one)])
            turn = members[who][0]
            self._queues.move_to_end(organization)
            members.move_to_end(who)
            self._leave(Party(organization, who), turn)
            if not turn.done():
                self._begins(Party(organization, who))
                turn.set_result(None)
                return
        self._free += 1

    def close(self) -> None:
        """Wait for what is running, and start nothing more."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _busy() -> Busy:
    return Busy("The server is busy and too many requests are waiting. Try again in a moment.", retry_after=2)
