"""Runs the work of a view in a thread of its own; of several jobs of one kind, only the newest counts.

State changes only on the kernel's event loop, in the thread that made the runner. The worker runs one job at a time,
and results and progress come back to the loop. Without a loop, as in a plain script, everything runs at once in the
caller.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from ..engine.reader import Progress
from ..errors import Cancelled

Lane: TypeAlias = Literal["draw", "detail", "check", "lint"]
LANES: tuple[Lane, ...] = ("draw", "detail", "check", "lint")
"""The kinds of jobs, in the order in which they get the worker."""
Result: TypeAlias = Any
"""What ``run`` of a job returns and ``done`` of the same job takes."""
BURST_S = 0.4
QUIET_S = (0.0, 0.12, 0.25)
LONGEST_WAIT_S = 3.0
BUSY_AFTER_S = 0.25
BUSY_EVERY_S = 0.1
DRAWN_S = 2.0
BREATH_S = 0.12
IDLE_S = 20.0


@dataclass(frozen=True)
class Step:
    """Progress of a job: name and place of the plan's step, the number of steps, and what it reads now."""

    name: str = ""
    index: int = 0
    of: int = 0
    detail: str = ""


@dataclass(eq=False)
class Job:
    """A unit of work. ``run`` is called in the worker with the job, then ``done`` or ``failed`` on the loop."""

    lane: Lane
    run: Callable[[Job], Result]
    done: Callable[[Result], None]
    failed: Callable[[BaseException], None]
    cancel: threading.Event = field(default_factory=threading.Event)
    stopped: bool = False
    progress: Progress = field(default=lambda step, index, of, detail: None)


class Clock(Protocol):
    """The event loop and the worker as the runner needs them; tests have their own."""

    def now(self) -> float: ...

    def soon(self, call: Callable[[], None]) -> None:
        """Call on the loop, from any thread."""

    def later(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        """Call on the loop after some seconds; returns a function that cancels the call."""

    def work(self, call: Callable[[], None]) -> None:
        """Call in the worker, after all calls that were given before."""


class LoopClock:
    """The kernel's loop and one daemon thread, which ends after 20 s without work."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._alive = False

    def now(self) -> float:
        return time.monotonic()

    def soon(self, call: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    def later(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        return self._loop.call_later(seconds, call).cancel

    def work(self, call: Callable[[], None]) -> None:
        with self._lock:
            self._calls.put(call)
            if not self._alive:
                self._alive = True
                threading.Thread(target=self._live, name="workbench view", daemon=True).start()

    def _live(self) -> None:
        while True:
            try:
                self._calls.get(timeout=IDLE_S)()
            except queue.Empty:
                with self._lock:
                    if self._calls.empty():
                        self._alive = False
                        return


class AtOnce:
    """Without a loop: every call runs before this one returns."""

    def now(self) -> float:
        return time.monotonic()

    def soon(self, call: Callable[[], None]) -> None:
        call()

    def later(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        call()
        return lambda: None

    def work(self, call: Callable[[], None]) -> None:
        call()


def clock_here() -> Clock:
    """The clock of the event loop of this thread; without a loop, one that runs everything at once."""
    try:
        return LoopClock(asyncio.get_running_loop())
    except RuntimeError:
        return AtOnce()


class Runner:
    """Runs the newest job of each lane. Older jobs are cancelled, and their results are dropped.

    Parameters
    ----------
    busy : called with a ``Step`` when a drawing has taken 250 ms, then at most ten times a second, and with None when
        it ends.
    """

    def __init__(self, busy: Callable[[Step | None], None], clock: Clock | None = None) -> None:
        self._busy = busy
        self._clock: Clock = clock or clock_here()
        self._pending: dict[Lane, Job] = {}
        self._waits: dict[Lane, Callable[[], None]] = {}
        self._running: Job | None = None
        self._shown_at = 0.0
        self._take_back: Callable[[], None] = lambda: None
        self._page_answers = self._page_draws = False
        self._give_up: Callable[[], None] = lambda: None
        self._closed = False
        self._burst = 0
        self._last = self._burst_began = -LONGEST_WAIT_S - BURST_S

    @property
    def idle(self) -> bool:
        return self._running is None and not self._pending

    @property
    def draws(self) -> bool:
        """Whether a drawing runs."""
        return self._running is not None and self._running.lane == "draw"

    def submit(self, job: Job, quiet: float = 0.0) -> None:
        """Replace the lane's older job by this one.

        During a burst of changes, a drawing waits for a pause. ``quiet`` is the least length of that pause in seconds.
        """
        if self._closed:
            return
        self.withdraw(job.lane)
        if job.lane == "draw":
            self.withdraw("detail")  # the page will ask for detail of the new figure
        wait = self._wait(job.lane, quiet)
        self._pending[job.lane] = job
        if wait > 0:
            self._waits[job.lane] = self._clock.later(wait, lambda: self._ready(job))
        else:
            self._next()

    def drawn(self) -> None:
        """The page has drawn the figure.

        While a page draws, it sends no events. Changes that the user made meanwhile arrive only now, so the next
        drawing waits for them. This also keeps figures from piling up in front of a slow page.
        """
        self._page_answers = True
        self._freed()

    def _freed(self) -> None:
        self._page_draws = False
        self._give_up()
        self._last = max(self._last, self._clock.now() - BURST_S + QUIET_S[-1])
        job = self._pending.get("draw")
        if job is not None and "draw" not in self._waits:
            self._waits["draw"] = self._clock.later(BREATH_S, lambda: self._ready(job))
        self._next()

    def _page_is_gone(self) -> None:
        self._page_answers = False
        self._freed()

    def withdraw(self, lane: Lane) -> None:
        """Drop the waiting job of a lane and cancel the one that runs."""
        self._waits.pop(lane, lambda: None)()
        self._pending.pop(lane, None)
        if self._running is not None and self._running.lane == lane:
            self._running.cancel.set()

    def stop(self) -> None:
        """Stop the drawing that runs, and drop the one that waits. ``failed`` of the one that ran says how it ended."""
        running = self._running
        if running is not None and running.lane == "draw":
            running.stopped = True
        self.withdraw("draw")

    def close(self) -> None:
        self._closed = True
        for lane in LANES:
            self.withdraw(lane)
        self._take_back()
        self._give_up()

    def _wait(self, lane: Lane, quiet: float) -> float:
        """Seconds to wait before a job starts.

        A single change is drawn at once. The more changes follow each other, the longer the pause that is waited for;
        but a change is drawn after three seconds at the latest.
        """
        if lane != "draw":
            return quiet
        now = self._clock.now()
        if now - self._last > BURST_S:
            self._burst, self._burst_began = 0, now
        self._last = now
        wait = max(quiet, QUIET_S[min(self._burst, len(QUIET_S) - 1)])
        self._burst += 1
        return max(0.0, min(wait, self._burst_began + LONGEST_WAIT_S - now))

    def _ready(self, job: Job) -> None:
        self._waits.pop(job.lane, None)
        self._next()

    def _next(self) -> None:
        if self._running is not None:
            return
        for lane in LANES:
            held = lane in self._waits or (lane in ("draw", "lint") and self._page_draws)
            if lane in self._pending and not held:
                self._start(self._pending.pop(lane))
                return

    def _start(self, job: Job) -> None:
        self._running = job
        if job.lane == "draw":
            self._burst_began = self._clock.now()
            self._shown_at = self._clock.now() + BUSY_AFTER_S - BUSY_EVERY_S
            self._take_back = self._clock.later(BUSY_AFTER_S, lambda: self._show_busy(job, Step()))
            job.progress = lambda step, index, of, detail: self._progress(job, Step(step, index, of, detail))
        self._clock.work(lambda: self._run(job))

    def _run(self, job: Job) -> None:
        """In the worker."""
        try:
            result = job.run(job)
        except BaseException as error:  # also SystemExit of a script: the worker thread must go on
            caught = error
            self._clock.soon(lambda: self._finish(job, lambda: job.failed(caught), shows=False))
        else:
            self._clock.soon(lambda: self._finish(job, lambda: job.done(result), shows=job.lane == "draw"))

    def _finish(self, job: Job, report: Callable[[], None], *, shows: bool) -> None:
        self._running = None
        if job.lane == "draw":
            self._take_back()
            if job.lane not in self._pending:
                self._busy(None)
        try:
            if not job.cancel.is_set() or (job.stopped and not self._closed):
                # Jobs after a drawing wait until the page has drawn it, so that the page gets the processor.
                if shows and self._page_answers:
                    self._page_draws = True
                    self._give_up = self._clock.later(DRAWN_S, self._page_is_gone)
                report()
        finally:
            self._next()

    def _progress(self, job: Job, step: Step) -> None:
        """In the worker."""
        if job.cancel.is_set():
            raise Cancelled("The request was cancelled.")
        now = self._clock.now()
        if now - self._shown_at >= BUSY_EVERY_S:
            self._shown_at = now
            self._clock.soon(lambda: self._show_busy(job, step))

    def _show_busy(self, job: Job, step: Step) -> None:
        if self._running is job and not job.cancel.is_set():
            self._busy(step)
