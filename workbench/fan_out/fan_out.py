"""One function over many tasks, on the executor that was chosen. Results come in the order of the tasks."""

from __future__ import annotations

import atexit
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol, TypeVar

from ..errors import BadRequest, ExecutorAway, WorkerDied
from ..version import __version__
from .dask_cluster import has_no_worker, is_lost
from .own_tasks import carry_out, name_of
from .setting import Given, Setting, meant, setting_of

Task = TypeVar("Task")
Result = TypeVar("Result")
ASK_SECONDS = 5
"""How long a result is waited for before the connection of its executor is looked at."""
NO_WORKER_SECONDS = 60
"""How long a scheduler may be without a worker while results are waited for: one that died is started again sooner."""
AHEAD = 4
"""How many tasks for each worker are on their way while the results of others are taken."""


class Cancel(Protocol):
    """Says whether the work is to stop; a ``threading.Event``."""

    def is_set(self) -> bool: ...


class FanOut:
    """Where work over many things runs. It may be used by several threads; `close` ends what it started.

    Attributes
    ----------
    leaves : whether tasks run in other processes.
    """

    def __init__(self, setting: Setting | Executor, *, cores: int) -> None:
        self._setting = setting
        self._cores = cores
        self.leaves = isinstance(setting, Executor) or setting.kind in ("processes", "dask")
        self._lock = threading.Lock()
        self._kept: Executor | None = setting if isinstance(setting, Executor) else None
        self._wide = cores
        self._pools: set[ThreadPoolExecutor] = set()
        self._ends = ExitStack()

    @classmethod
    def threads(cls, cores: int) -> FanOut:
        """In threads of this process, whatever the environment says."""
        return cls(Setting("threads"), cores=cores)

    @classmethod
    def of(cls, given: Given = None, *, cores: int = 1) -> FanOut:
        """Where ``given`` says, else where the environment says, else in threads of this process, one for each core.

        Raises
        ------
        BadRequest
            If that names no executor.
        """
        said = meant(given)
        if said is None:
            return cls.threads(cores)
        if isinstance(said, Executor):
            return cls(said, cores=cores)
        if isinstance(said, str):
            return cls(setting_of(said), cores=cores)
        raise BadRequest(f"'executor' is a text such as 'processes:4', or an Executor, not {type(said).__name__}.")

    def results(
        self,
        function: Callable[..., Result],
        tasks: Sequence[Task],
        arguments: Callable[[Task], tuple[Any, ...]],
        *,
        jobs: int | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[tuple[Task, Callable[[], Result]]]:
        """Each task with what gives its result, in the order of ``tasks``.

        Parameters
        ----------
        function : of the workbench, marked with ``own_task``.
        arguments : what the function gets for a task; plain values that can go to another process.
        jobs : how many are done at the same time at most. Without it, as many as the executor has workers.
        cancel : once it is set, no other task begins and none is given.

        Raises
        ------
        TypeError
            If the function is not one that may fan out.
        ExecutorAway
            If the executor cannot be reached. A result raises what the function raised, or `WorkerDied`.
        """
        name = name_of(function)
        left = deque(tasks)
        waiting: deque[tuple[Task, Future[Any]]] = deque()
        with ExitStack() as ends:
            executor, most = self._started(jobs, ends)

            def begin(task: Task) -> Future[Any]:
                if not self.leaves:
                    return executor.submit(function, *arguments(task))
                return executor.submit(carry_out, __version__, name, arguments(task))

            try:
                while left or waiting:
                    if cancel is not None and cancel.is_set():
                        return
                    while left and len(waiting) < most:
                        waiting.append((left[0], self._sent(begin, left[0])))
                        left.popleft()
                    task, future = waiting.popleft()
                    yield task, lambda future=future: self._result(future, executor)  # type: ignore[misc]
                    if not future.done():  # nobody asked for it
                        future.cancel()
            finally:
                for _, future in waiting:
                    future.cancel()

    def _sent(self, begin: Callable[[Task], Future[Any]], task: Task) -> Future[Any]:
        try:
            return begin(task)
        except (BrokenExecutor, RuntimeError, OSError) as error:  # closed, broken or gone
            if not self.leaves:
                raise
            raise self._away(error) from error

    def _result(self, future: Future[Any], executor: Executor) -> Any:
        seen = time.monotonic()  # when there was a worker
        try:
            while True:
                try:
                    return future.result(ASK_SECONDS)
                except TimeoutError:
                    if future.done():  # of the function itself
                        raise
                    if is_lost(executor):
                        raise self._away(ConnectionError()) from None
                    if not has_no_worker(executor):
                        seen = time.monotonic()
                    elif time.monotonic() - seen > NO_WORKER_SECONDS:
                        raise ExecutorAway(
                            f"The scheduler '{self.name}' has had no worker for {NO_WORKER_SECONDS} s. A worker that "
                            "lacks the workbench or its packages ends at its first task: see its log. What was done is "
                            "kept; start workers and run this again."
                        ) from None
        except BrokenExecutor as error:
            raise self._away(error) from error
        except CancelledError as error:
            raise self._away(error) from error
        except Exception as error:
            if type(error).__name__ == "KilledWorker":  # of Dask, which is not imported for this
                raise WorkerDied(
                    "Several workers of the cluster died at the same task. It may need more memory than they have, or "
                    "they lack a package of the workbench: see their log."
                ) from error
            raise

    def _away(self, error: BaseException) -> ExecutorAway:
        where = "The executor" if isinstance(self._setting, Executor) else f"The executor '{self.name}'"
        return ExecutorAway(
            f"{where} does not answer any more ({type(error).__name__}). What was done is kept; run this again when it "
            "is there."
        )

    @property
    def name(self) -> str:
        """What it is called in a message."""
        if isinstance(self._setting, Executor):
            return type(self._setting).__name__
        return self._setting.address or self._setting.kind

    def width(self, jobs: int | None = None) -> int:
        """How many tasks are done at the same time, at most ``jobs`` where that is said."""
        if not isinstance(self._setting, Executor) and self._setting.kind == "serial":
            return 1
        said = None if isinstance(self._setting, Executor) else self._setting.workers
        return jobs or said or self._wide

    def _started(self, jobs: int | None, ends: ExitStack) -> tuple[Executor, int]:
        """An executor, and how many tasks may be on their way."""
        if isinstance(self._setting, Executor):
            return self._setting, jobs or AHEAD * self._cores
        if self._setting.kind == "serial":
            return ends.enter_context(_Serial()), 1
        if self._setting.kind == "threads":
            wide = self.width(jobs)
            return ends.enter_context(self._pool(wide)), AHEAD * wide
        with self._lock:
            if self._kept is None:
                self._kept = self._start(self._setting)
                atexit.register(self.close)
            return self._kept, jobs or AHEAD * self._wide

    @contextmanager
    def _pool(self, wide: int) -> Iterator[ThreadPoolExecutor]:
        """Threads that `close` waits for too.

        Whoever takes results may end by an error, whose traceback keeps the iterator alive. Its tasks still run then,
        and what they use, such as a store, is closed next.
        """
        pool = ThreadPoolExecutor(wide, "workbench-fan-out")
        with self._lock:
            self._pools.add(pool)
        try:
            with pool:
                yield pool
        finally:
            with self._lock:
                self._pools.discard(pool)

    def _start(self, setting: Setting) -> Executor:
        if setting.address is not None:
            from .dask_cluster import Cluster

            cluster = Cluster(setting.address)
            self._wide = cluster.width()
            self._ends.callback(cluster.close)
            return cluster.executor
        from .worker_processes import WorkerProcesses

        made = WorkerProcesses(setting.workers or self._cores)
        self._wide = made.size
        self._ends.callback(made.shutdown, cancel_futures=True)
        return made

    def close(self) -> None:
        """End the processes, or the connection, that this has started. The next work starts them again.

        Tasks that run in threads end first, and those that wait are not begun.
        """
        with self._lock:
            pools = list(self._pools)
            if not isinstance(self._setting, Executor):
                self._kept = None
            ends, self._ends = self._ends, ExitStack()
        atexit.unregister(self.close)
        for pool in pools:
            pool.shutdown(cancel_futures=True)
        ends.close()


class _Serial(Executor):
    """Runs each task at once, in this thread."""

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        future: Future[Result] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # whatever it is, the future carries it
            future.set_exception(error)
        return future
