"""What a page asks comes from any thread and happens on the loop of the view."""

from __future__ import annotations

import asyncio
import threading

from workbench.notebook.event_loop import at_home


def test_a_call_from_another_thread_happens_on_the_loop() -> None:
    happened: list[str] = []

    async def main() -> None:
        door = at_home(lambda what: happened.append(f"{what} in {threading.current_thread().name}"))
        door("first")
        other = threading.Thread(target=door, args=("second",))
        other.start()
        other.join()
        assert len(happened) == 1
        await asyncio.sleep(0)

    asyncio.run(main())
    home = threading.main_thread().name
    assert happened == [f"first in {home}", f"second in {home}"]


def test_without_a_loop_it_happens_in_the_caller() -> None:
    happened: list[str] = []
    at_home(happened.append)("at once")
    assert happened == ["at once"]


def test_after_the_loop_has_ended_nothing_happens() -> None:
    happened: list[str] = []

    async def main() -> None:
        doors.append(at_home(happened.append))

    doors: list = []
    asyncio.run(main())
    other = threading.Thread(target=doors[0], args=("late",))
    other.start()
    other.join()
    assert happened == []
