"""What one caller may ask at once: rates by key, and places for work in flight."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

from workbench.errors import Busy, TooMany

T = TypeVar("T")
_MOST_KEYS = 10_000


class Rates:
    """A bucket of requests for each key, refilled at a steady rate; of one process."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> None:
        """Take one request of this key.

        Raises
        ------
        TooMany
            If its bucket is empty.
        """
        now = time.monotonic()
        with self._lock:
            left, then = self._buckets.pop(key, (float(self._burst), now))
            left = min(left + (now - then) * self._per_second, float(self._burst))
            enough = left >= 1
            self._buckets[key] = (left - 1 if enough else left, now)
            while len(self._buckets) > _MOST_KEYS:
                self._buckets.popitem(last=False)
        if not enough:
            message = f"More than {self._per_second:g} requests per second with this key; wait a moment."
            raise TooMany(message, retry_after=1)


class Threads:
    """Threads for one kind of work, off the event loop, with a bound on what may wait for one.

    ``share`` is how many of them one organization may hold at a time; None for all.
    """

    def __init__(self, name: str, threads: int, waiting: int, share: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"workbench-{name}")
        self._waiting = waiting
        self._threads = threads
        self._share = share
        self._within = 0
        self._shares: dict[str, tuple[asyncio.Semaphore, int]] = {}

    async def run(self, organization: str, work: Callable[[], T], cancelled: Callable[[], None]) -> T:
        """The answer of ``work``, run in a thread. Where the caller is cancelled, ``cancelled`` is told, and the
        thread is waited for, since it still holds what it works with."""
        async with self._place(organization):
            future = asyncio.get_running_loop().run_in_executor(self._pool, work)
            try:
                return await asyncio.shield(future)
            except asyncio.CancelledError:
                cancelled()
                await asyncio.wait([future])
                raise

    @asynccontextmanager
    async def _place(self, organization: str) -> AsyncIterator[None]:
        if self._within >= self._threads + self._waiting:
            raise Busy("The server has more to do than it can; try again in a moment.", retry_after=2)
        self._within += 1
        try:
            if self._share is None:
                yield
                return
            semaphore, users = self._shares.get(organization, (asyncio.Semaphore(self._share), 0))
            self._shares[organization] = (semaphore, users + 1)
            try:
                async with semaphore:
                    yield
            finally:
                semaphore, users = self._shares[organization]
                self._shares[organization] = (semaphore, users - 1)
                if users == 1:
                    del self._shares[organization]
        finally:
            self._within -= 1

    def close(self) -> None:
        """Wait for what runs, and take nothing more."""
        self._pool.shutdown(wait=True, cancel_futures=True)
