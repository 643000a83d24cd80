"""The runner with a clock of the test's own: newest wins, bursts are drawn a few times, progress after 250 ms."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from workbench.errors import Cancelled
from workbench.notebook.background_worker import BUSY_AFTER_S, AtOnce, Job, Lane, Runner, Step, clock_here
from workbench.notebook.history import TOGETHER_S, History


class HandClock:
    """Time stands still until the test moves it; the worker works when the test says so."""

    def __init__(self, takes: float = 0.0) -> None:
        self.time = 100.0
        self.takes = takes
        self.calls: list[tuple[float, int, Callable[[], None]]] = []
        self.taken_back: set[int] = set()
        self.numbers = count()

    def now(self) -> float:
        return self.time

    def soon(self, call: Callable[[], None]) -> None:
        self.later(0.0, call)

    def later(self, seconds: float, call: Callable[[], None]) -> Callable[[], Any]:
        number = next(self.numbers)
        heapq.heappush(self.calls, (self.time + seconds, number, call))
        return lambda: self.taken_back.add(number)

    def work(self, call: Callable[[], None]) -> None:
        self.later(self.takes, call)

    def go(self, seconds: float) -> None:
        end = self.time + seconds
        while self.calls and self.calls[0][0] <= end:
            self.time, number, call = heapq.heappop(self.calls)
            if number not in self.taken_back:
                call()
        self.time = end


class Bench:
    """A runner that notes what it ran and what it was given."""

    def __init__(self, takes: float = 0.0) -> None:
        self.clock = HandClock(takes)
        self.busy: list[Step | None] = []
        self.runner = Runner(self.busy.append, self.clock)
        self.ran: list[Any] = []
        self.done: list[Any] = []
        self.failed: list[BaseException] = []

    def job(self, name: Any, lane: Lane = "draw", run: Callable[[Job], Any] | None = None) -> Job:
        def work(job: Job) -> Any:
            self.ran.append(name)
            return name if run is None else run(job)

        return Job(lane, work, self.done.append, self.failed.append)


def test_a_single_change_starts_at_once() -> None:
    bench = Bench()
    bench.runner.submit(bench.job("a"))
    bench.clock.go(0.0)
    assert bench.done == ["a"]
    assert bench.runner.idle


@pytest.mark.parametrize("every", [0.0, 0.02, 0.06, 0.1])
@pytest.mark.parametrize("takes", [0.01, 0.3, 1.0])
def test_thirty_fast_changes_are_at_most_three_computations_and_the_last_is_shown(
    every: float, takes: float
) -> None:
    bench = Bench(takes)
    for n in range(30):
        bench.runner.submit(bench.job(n))
        bench.clock.go(every)
    bench.clock.go(10)
    assert len(bench.ran) <= 3
    assert bench.ran[0] == 0, "the first change answers at once"
    assert bench.done[-1] == 29


@pytest.mark.parametrize("stall", [0.1, 0.3, 0.6, 1.5])
def test_a_page_that_hears_nobody_while_it_draws_gets_no_more_drawings(stall: float) -> None:
    """The page dispatches keys between its drawings only: those that were pressed meanwhile come all at once."""
    bench = Bench(takes=0.02)
    page: dict[str, float] = {"free": 0.0}

    def shown(result: Any) -> None:
        bench.done.append(result)
        page["free"] = bench.clock.time + stall
        bench.clock.later(stall, bench.runner.drawn)

    bench.runner.drawn()  # the first picture of the view
    bench.clock.go(5)
    pressed = [bench.clock.time + 0.04 * n for n in range(30)]
    for n, moment in enumerate(pressed):
        bench.clock.go(max(0.0, max(moment, page["free"] + 0.005) - bench.clock.time))
        job = bench.job(n)
        job.done = shown
        bench.runner.submit(job)
    bench.clock.go(10)
    assert len(bench.ran) <= 3
    assert bench.done[-1] == 29


def test_lint_waits_until_the_page_has_drawn() -> None:
    bench = Bench()
    bench.runner.drawn()
    job = bench.job("picture")
    job.done = lambda result: bench.runner.submit(bench.job("lint", "lint"))
    bench.runner.submit(job)
    bench.clock.go(0.1)
    assert bench.ran == ["picture"]
    bench.runner.drawn()
    bench.clock.go(0.1)
    assert bench.ran == ["picture", "lint"]


def test_a_failure_shows_no_picture_to_wait_for() -> None:
    def broken(job: Job) -> None:
        raise ValueError

    bench = Bench()
    bench.runner.drawn()
    bench.runner.submit(bench.job("bad", run=broken))
    bench.clock.go(0.0)
    assert len(bench.failed) == 1
    bench.clock.go(1.0)
    bench.runner.submit(bench.job("good"))
    bench.clock.go(0.0)
    assert bench.done == ["good"]


def test_a_page_that_went_away_is_not_waited_for() -> None:
    bench = Bench()
    bench.runner.drawn()
    for n in range(3):
        bench.runner.submit(bench.job(n))
        bench.clock.go(4.0)
    assert bench.done == [0, 1, 2]


def test_changes_that_never_pause_are_drawn_now_and_then() -> None:
    bench = Bench()
    for n in range(200):
        bench.runner.submit(bench.job(n))
        bench.clock.go(0.05)
    assert 3 <= len(bench.ran) <= 6
    assert len(bench.done) >= 3


def test_slow_clicks_are_each_drawn_without_waiting() -> None:
    bench = Bench()
    for n in range(5):
        bench.runner.submit(bench.job(n))
        bench.clock.go(0.0)
        assert bench.done[-1] == n
        bench.clock.go(1.0)


def test_a_stale_result_is_dropped_and_its_work_withdrawn() -> None:
    bench = Bench(takes=0.5)
    first = bench.job("old")
    bench.runner.submit(first)
    bench.clock.go(0.1)
    bench.runner.submit(bench.job("new"))
    assert first.cancel.is_set()
    bench.clock.go(5)
    assert bench.ran == ["old", "new"]
    assert bench.done == ["new"]


def test_a_withdrawn_job_is_stopped_at_its_next_step() -> None:
    bench = Bench()
    job = bench.job("a", run=lambda job: job.progress("cells", 0, 2, ""))
    bench.runner.submit(job)
    job.cancel.set()
    bench.clock.go(1)
    assert bench.done == []
    assert bench.failed == []

    def stopped(job: Job) -> None:
        job.cancel.set()
        with pytest.raises(Cancelled):
            job.progress("cells", 0, 2, "")

    bench.runner.submit(bench.job("b", run=stopped))
    bench.clock.go(1)
    assert bench.ran == ["a", "b"]


def test_text_waits_for_a_pause() -> None:
    bench = Bench()
    bench.runner.submit(bench.job("a"), quiet=0.15)
    bench.clock.go(0.1)
    assert bench.ran == []
    bench.clock.go(0.1)
    assert bench.done == ["a"]


def test_progress_is_told_after_a_quarter_of_a_second_and_ends() -> None:
    quick, slow = Bench(takes=0.2), Bench(takes=1.0)
    for bench in (quick, slow):
        bench.runner.submit(bench.job("a"))
        bench.clock.go(5)
    assert quick.busy == [None]
    assert slow.busy == [Step(), None]


def test_steps_are_told_at_most_ten_times_a_second() -> None:
    bench = Bench(takes=2.0)
    job = bench.job("a")
    bench.runner.submit(job)
    for n in range(99):
        bench.clock.go(0.02)
        job.progress("cycles", 1, 4, f"{n} of 100")
    bench.clock.go(1)
    told = [step for step in bench.busy if step is not None and step.name]
    assert 10 <= len(told) <= 20
    assert told[0] == Step("cycles", 1, 4, f"{round(BUSY_AFTER_S / 0.02)} of 100")
    assert bench.busy[-1] is None


def test_what_fails_is_told_and_the_next_one_runs() -> None:
    bench = Bench()

    def fail(job: Job) -> None:
        raise ValueError("no")

    bench.runner.submit(bench.job("a", run=fail))
    bench.clock.go(1)
    bench.runner.submit(bench.job("b"))
    bench.clock.go(1)
    assert [str(error) for error in bench.failed] == ["no"]
    assert bench.done == ["b"]


def test_a_drawing_goes_before_detail_and_makes_it_needless() -> None:
    bench = Bench(takes=0.1)
    bench.runner.submit(bench.job("detail", "detail"))
    bench.clock.go(0.05)
    bench.runner.submit(bench.job("check", "check"))
    bench.runner.submit(bench.job("draw"))
    bench.clock.go(5)
    assert bench.ran == ["detail", "draw", "check"]
    assert bench.done == ["draw", "check"]


def test_nothing_is_done_after_closing() -> None:
    bench = Bench(takes=0.1)
    bench.runner.submit(bench.job("a"))
    bench.runner.submit(bench.job("b"), quiet=0.2)
    bench.runner.close()
    bench.clock.go(5)
    assert bench.done == []
    assert bench.runner.idle


def test_without_a_loop_everything_happens_in_the_caller() -> None:
    clock = clock_here()
    assert isinstance(clock, AtOnce)
    threads = []
    runner = Runner(lambda step: None, clock)
    for _ in range(4):
        runner.submit(Job("draw", lambda job: threads.append(threading.current_thread()), id, id), quiet=0.15)
    assert threads == [threading.current_thread()] * 4


def test_history_goes_back_and_on() -> None:
    history = History("a")
    assert not history.undo()
    history.change("b")
    history.change("c")
    assert history.undo()
    assert history.present == "b"
    assert history.undo()
    assert history.present == "a"
    assert history.redo()
    assert history.present == "b"
    history.change("d")
    assert not history.can_redo
    assert history.undo()
    assert history.present == "b"


def test_quick_changes_of_one_thing_are_one_step_back() -> None:
    history = History(0)
    for n in range(1, 6):
        history.change(n, "share", now=0.1 * n)
    history.change(10, "count", now=0.6)
    history.change(11, "count", now=0.6 + 2 * TOGETHER_S)
    seen = []
    while history.undo():
        seen.append(history.present)
    assert seen == [10, 5, 0]


def test_a_correction_is_no_step() -> None:
    history = History("a")
    history.change("b")
    history.correct("c")
    assert history.undo()
    assert history.present == "a"
    assert history.redo()
    assert history.present == "c"
