"""Who gets a thread: one organization may use all of them until another one waits."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable

import pytest

from server.limits import Party, Threads
from workbench.errors import Busy, Cancelled


class Gate:
    """Work that runs until it is let go, and the order in which it began."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self._free = threading.Semaphore(0)
        self._lock = threading.Lock()

    def work(self, name: str) -> Callable[[], str]:
        def run() -> str:
            with self._lock:
                self.began.append(name)
            self._free.acquire()
            return name

        return run

    def let_go(self, count: int = 1) -> None:
        self._free.release(count)


async def settled(gate: Gate, count: int) -> None:
    """Wait until so many have begun."""
    while len(gate.began) < count:
        await asyncio.sleep(0.001)


def nothing() -> None:
    """Nobody withdraws here."""


def test_one_organization_uses_all_threads_while_nobody_else_waits() -> None:
    gate, threads = Gate(), Threads("test", 4, 10)

    async def main() -> None:
        mine = [asyncio.create_task(threads.run(Party("ours"), gate.work("ours"), nothing)) for _ in range(4)]
        await settled(gate, 4)
        gate.let_go(4)
        await asyncio.gather(*mine)

    asyncio.run(asyncio.wait_for(main(), 10))
    threads.close()


def test_the_next_free_thread_goes_to_the_organization_that_runs_the_least() -> None:
    gate, threads = Gate(), Threads("test", 2, 10)

    async def main() -> None:
        async def ask(name: str) -> str:
            return await threads.run(Party(name), gate.work(name), nothing)

        tasks = [asyncio.create_task(ask("ours")) for _ in range(5)]
        await settled(gate, 2)
        tasks += [asyncio.create_task(ask("theirs")) for _ in range(2)]
        await asyncio.sleep(0)
        gate.let_go()
        await settled(gate, 3)
        assert gate.began == ["ours", "ours", "theirs"]
        gate.let_go(6)
        await asyncio.gather(*tasks)

    asyncio.run(asyncio.wait_for(main(), 10))
    assert gate.began.count("theirs") == 2
    threads.close()


def test_more_than_may_wait_are_turned_away_and_those_who_leave_make_room() -> None:
    gate, threads = Gate(), Threads("test", 1, 1)

    async def main() -> None:
        running = asyncio.create_task(threads.run(Party("ours"), gate.work("first"), nothing))
        await settled(gate, 1)
        waiting = asyncio.create_task(threads.run(Party("ours"), gate.work("gone"), nothing))
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await threads.run(Party("theirs"), gate.work("turned away"), nothing)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        last = asyncio.create_task(threads.run(Party("theirs"), gate.work("last"), nothing))
        await asyncio.sleep(0)
        gate.let_go(2)
        assert await asyncio.gather(running, last) == ["first", "last"]

    asyncio.run(asyncio.wait_for(main(), 10))
    assert gate.began == ["first", "last"]
    threads.close()


def test_a_turn_that_is_withdrawn_as_it_comes_goes_to_the_next() -> None:
    gate, threads = Gate(), Threads("test", 1, 5)

    async def main() -> None:
        running = asyncio.create_task(threads.run(Party("ours"), gate.work("first"), nothing))
        await settled(gate, 1)
        withdrawn = asyncio.create_task(threads.run(Party("ours"), gate.work("withdrawn"), nothing))
        after = asyncio.create_task(threads.run(Party("ours"), gate.work("after"), nothing))
        await asyncio.sleep(0)
        gate.let_go(2)
        await running
        withdrawn.cancel()
        await asyncio.gather(withdrawn, return_exceptions=True)
        gate.let_go()
        assert await after == "after"

    asyncio.run(asyncio.wait_for(main(), 10))
    threads.close()


def test_one_who_floods_the_queue_has_only_own_requests_turned_away() -> None:
    """All others got "The server is busy" as long as it went on."""
    gate, threads = Gate(), Threads("test", 1, 4)
    loud, colleague, stranger = Party("ours", "loud"), Party("ours", "colleague"), Party("theirs", "one")

    async def main() -> None:
        async def ask(party: Party) -> str:
            return await threads.run(party, gate.work(party.who), nothing)

        flood = [asyncio.create_task(ask(loud)) for _ in range(5)]
        await settled(gate, 1)
        others = [asyncio.create_task(ask(one)) for one in (colleague, stranger)]
        flood += [asyncio.create_task(ask(loud)) for _ in range(3)]
        await asyncio.sleep(0)
        gate.let_go(10)
        assert await asyncio.gather(*others) == ["colleague", "one"]
        told = await asyncio.gather(*flood, return_exceptions=True)
        assert [one == "loud" for one in told] == [True] * 3 + [False] * 5
        assert all(one == "loud" or isinstance(one, Busy) for one in told)
        assert threads.load() == (0, 0)

    asyncio.run(asyncio.wait_for(main(), 10))
    assert gate.began == ["loud", "loud", "one", "colleague", "loud"]
    threads.close()


@pytest.mark.parametrize(
    ("error", "heard"),
    [(Cancelled("It was cancelled."), []), (RuntimeError("a mistake"), ["Cancelled work failed."])],
)
def test_cancelled_work_leaves_a_trace_in_the_log_only_for_a_mistake(error: Exception, heard: list[str]) -> None:
    threads, began, free = Threads("test", 1, 10), threading.Event(), threading.Event()
    said: list[str] = []

    def work() -> None:
        began.set()
        free.wait()
        raise error

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context["message"]))
        task = asyncio.create_task(threads.run(Party("ours"), work, free.set))
        while not began.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        del task
        gc.collect()

    asyncio.run(asyncio.wait_for(main(), 10))
    threads.close()
    assert said == heard
