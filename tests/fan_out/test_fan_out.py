"""Work over many things: which functions may fan out, in which order results come, and what happens if workers die."""

from __future__ import annotations

import ast
import sys
import threading
import time
import types
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.dying_workers import die, die_the_first_time, refuse
from support.server_in_process import Lab
from typer.testing import CliRunner

import workbench
import workbench as wb
from server import Settings, create_app
from workbench import errors
from workbench.cli import app
from workbench.fan_out import FanOut, fan_out, own_task, own_tasks
from workbench.fan_out.own_tasks import carry_out
from workbench.fan_out.setting import Setting, setting_of
from workbench.fan_out.worker_processes import WorkerProcesses
from workbench.version import __version__

ROOT = Path(workbench.__file__).parent
TASKS = {
    "workbench.analyses.run:computed_of",
    "workbench.fleet:dataset_kept",
    "workbench.fleet:measurement_written",
    "workbench.ingest.read.fanned_out:read_file",
    "workbench.ingest.recompute:made_anew",
    "workbench.store.verify_apart:wrong_files",
    "workbench.store.verify_apart:wrong_series",
}


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch):
    """A task of the workbench, as far as this process knows."""

    def double(number: int) -> int:
        if number < 0:
            raise errors.BadRequest(f"{number} is below 0.")
        return 2 * number

    double.__module__, double.__qualname__ = "workbench.made_here", "double"
    monkeypatch.setitem(own_tasks._OWN, "workbench.made_here:double", double)
    monkeypatch.setitem(sys.modules, "workbench.made_here", types.ModuleType("workbench.made_here"))
    return double


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("serial", Setting("serial")),
        ("threads", Setting("threads")),
        ("threads:3", Setting("threads", 3)),
        (" processes:12 ", Setting("processes", 12)),
        ("dask://lab:8786", Setting("dask", address="tcp://lab:8786")),
        ("dask+tls://lab:8786", Setting("dask", address="tls://lab:8786")),
    ],
)
def test_a_text_names_an_executor(text: str, setting: Setting) -> None:
    assert setting_of(text) == setting


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("proceses", "There is no executor 'proceses'. Did you mean 'processes'?"),
        ("processes:0", "as `processes:4`"),
        ("serial:2", "as `processes:4`"),
        ("processes:many", "as `processes:4`"),
        ("tcp://lab:8786", "Write it as dask://host:8786"),
        ("dask", "dask://host:8786"),
        ("dask://", "dask://host:8786"),
    ],
)
def test_what_names_none_is_refused_with_what_is_meant(text: str, words: str) -> None:
    with pytest.raises(errors.BadRequest) as refused:
        FanOut.of(text)
    assert words in str(refused.value)


def test_the_environment_names_one_where_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_EXECUTOR", "processes:2")
    assert (FanOut.of().leaves, FanOut.of("serial").leaves) == (True, False)
    monkeypatch.setenv("WORKBENCH_EXECUTOR", "")
    assert (FanOut.of(cores=3).name, FanOut.of(cores=3).width()) == ("threads", 3)


@pytest.mark.parametrize("where", ["serial", "threads:2", "given"])
def test_results_come_in_order_and_each_raises_its_own_error(where: str, doubled) -> None:
    with ThreadPoolExecutor(2) as pool:
        here = FanOut.of(pool if where == "given" else where)
        seen: list[object] = []
        for task, result in here.results(doubled, [3, -1, 5, 0], lambda one: (one,)):
            try:
                seen.append((task, result()))
            except errors.BadRequest as error:
                seen.append((task, str(error)))
    assert seen == [(3, 6), (-1, "-1 is below 0."), (5, 10), (0, 0)]


def test_after_cancel_no_task_begins_and_none_is_given(doubled) -> None:
    stop = threading.Event()
    begun: list[int] = []
    seen = []

    def arguments(one: int) -> tuple[int]:
        begun.append(one)
        return (one,)

    for task, result in FanOut.of("serial").results(doubled, range(10), arguments, cancel=stop):
        seen.append((task, result()))
        if task == 2:
            stop.set()
    assert (seen, begun) == ([(0, 0), (1, 2), (2, 4)], [0, 1, 2])


def test_close_waits_for_tasks_whose_results_nobody_takes_any_more(
    doubled, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, done = threading.Event(), []

    def slow(number: int) -> int:
        begun.set()
        time.sleep(0.2)
        done.append(number)
        return number

    monkeypatch.setitem(own_tasks._OWN, "workbench.made_here:double", slow)
    slow.__module__, slow.__qualname__ = "workbench.made_here", "double"
    here = FanOut.of("threads:1")
    results = here.results(slow, range(4), lambda one: (one,))
    next(results)  # as the traceback of an error keeps the iterator alive
    assert begun.wait(10)
    here.close()
    assert done == [0]
    time.sleep(0.3)
    assert done == [0]


def test_jobs_bound_what_is_on_its_way(doubled) -> None:
    class Counting(Executor):
        """Does a task when its result is asked for, and notes how many waited."""

        def __init__(self) -> None:
            self.waiting = self.most = 0

        def submit(self, fn, /, *args, **kwargs):
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            future: Future = Future()

            def result(timeout=None):
                self.waiting -= 1
                return fn(*args, **kwargs)

            future.result = result  # type: ignore[method-assign]
            return future

    pool = Counting()
    got = [result() for _, result in FanOut.of(pool).results(doubled, range(9), lambda one: (one,), jobs=2)]
    assert (got, pool.most) == ([2 * one for one in range(9)], 2)


@pytest.mark.parametrize("what", [print, len, lambda: None, die], ids=["print", "len", "lambda", "of a test"])
def test_no_other_function_fans_out(what) -> None:
    with pytest.raises(TypeError, match="marked with own_task"):
        next(FanOut.of("serial").results(what, [1], lambda one: (one,)))


def test_a_script_of_a_user_cannot_be_marked_as_a_task() -> None:
    space: dict = {"__name__": "transform"}
    exec("def transform(data, params):\n    return None\n", space)
    own_task(space["transform"])
    try:
        with pytest.raises(TypeError, match="'transform:transform'"):
            next(FanOut.of("processes").results(space["transform"], [1], lambda one: (one,)))
        with pytest.raises(errors.BadRequest, match="There is no task"):
            carry_out(__version__, "os:system", ["true"])
    finally:
        del own_tasks._OWN["transform:transform"]


def marked(path: Path) -> set[str]:
    """The tasks that a file declares."""
    module = ".".join(["workbench", *path.relative_to(ROOT).with_suffix("").parts])
    return {
        f"{module}:{one.name}"
        for one in ast.walk(ast.parse(path.read_text()))
        if isinstance(one, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id == "own_task" for mark in one.decorator_list)
    }


def test_these_are_all_the_tasks_and_none_draws() -> None:
    """Whoever adds one looks here whether it can run a script of a user."""
    declared = {name for path in ROOT.rglob("*.py") if "own_task" in path.read_text() for name in marked(path)}
    assert declared == TASKS
    for name in TASKS:
        text = (ROOT.parent / name.partition(":")[0].replace(".", "/")).with_suffix(".py").read_text()
        assert not any(word in text for word in ("drawing", "Drawer", "protected", "own_process"))


def test_another_version_of_the_workbench_is_refused() -> None:
    with pytest.raises(errors.OtherVersion, match=r"A worker has version .* and this process 0\.0\.0"):
        carry_out("0.0.0", "workbench.analyses.run:computed_of", [])


def test_a_task_that_loses_its_process_is_done_by_another(tmp_path: Path) -> None:
    with WorkerProcesses(1) as workers:
        assert workers.submit(die_the_first_time, str(tmp_path / "mark")).result() == (
            f"after {(tmp_path / 'mark').read_text()}"
        )
        assert str(workers.pids()[0]) != (tmp_path / "mark").read_text()


def test_a_task_that_ends_every_process_is_given_up_and_others_go_on() -> None:
    with WorkerProcesses(1) as workers:
        with pytest.raises(errors.WorkerDied, match="3 worker processes died at the same task"):
            workers.submit(die).result()
        assert workers.submit(len, "abc").result() == 3


def test_errors_come_back_as_they_were() -> None:
    problem = errors.Problem(("config", 0), "is wrong.")
    sent = [
        errors.Invalid([problem]),
        errors.Conflict("It is taken.", "id", {"revision": 3}),
        errors.FileRefused("No.", unmapped=True),
        errors.Busy("Wait.", retry_after=7),
    ]
    with WorkerProcesses(1) as workers:
        for error in sent:
            with pytest.raises(type(error)) as raised:
                workers.submit(refuse, error).result()
            assert (str(raised.value), vars(raised.value)) == (str(error), vars(error))


def test_an_executor_that_is_gone_is_named(doubled) -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(errors.ExecutorAway, match="run this again when it is there"):
        next(FanOut.of(pool).results(doubled, [1], lambda one: (one,)))


def test_no_scheduler_at_the_address_is_said_in_words(monkeypatch: pytest.MonkeyPatch, doubled) -> None:
    pytest.importorskip("distributed")
    from workbench.fan_out import dask_cluster

    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.2)
    with pytest.raises(errors.ExecutorAway, match=r"No Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        next(FanOut.of("dask://127.0.0.1:9").results(doubled, [1], lambda one: (one,)))


def test_what_was_started_is_ended_by_close(doubled) -> None:
    here = FanOut.of("processes:1")
    started, _ = here._started(None, fan_out.ExitStack())
    assert isinstance(started, WorkerProcesses)
    assert started.submit(len, "ab").result() == 2
    assert len(started.pids()) == 1
    here.close()
    assert started.pids() == []


def test_a_server_gives_its_executor_to_every_request(tmp_path: Path) -> None:
    made = create_app(tmp_path / "lab.db", Settings(readers=0, executor="processes:1"), protected=False)
    with TestClient(made, base_url="http://localhost") as client:
        state = made.state.workbench
        assert (state.fan_out.name, state.fan_out.leaves) == ("processes", True)
        lab = Lab(made, client)
        assert lab.json("GET", "/store/verify") == {"problems": []}


def test_a_command_refuses_an_executor_that_does_not_exist(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db"):
        pass
    for words in (["verify"], ["analyse", "kinds"], ["recompute"], ["ingest", "x.csv"], ["serve"]):
        done = CliRunner().invoke(app, [*words, "--store", str(tmp_path / "lab.db"), "--executor", "proceses"])
        assert isinstance(done.exception, errors.BadRequest) or done.exit_code != 0, words
        said = str(done.exception) + done.output
        assert "Did you mean 'processes'?" in said, words


class _WithoutScheduler(Executor):
    """A Dask client whose scheduler went away: what it is sent never ends."""

    _client = types.SimpleNamespace(status="closed")

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]  # as the base class has it
        return Future()


def test_what_was_sent_to_a_scheduler_that_is_gone_does_not_wait_forever(doubled, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fan_out, "ASK_SECONDS", 0.01)
    for _, result in FanOut.of(_WithoutScheduler(), cores=2).results(doubled, [1], lambda number: (number,)):
        with pytest.raises(errors.ExecutorAway, match="does not answer any more"):
            result()


class _WithoutWorkers(Executor):
    """A Dask client whose workers all ended: what it is sent waits for another one."""

    _client = types.SimpleNamespace(status="running", nthreads=dict)

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]  # as the base class has it
        return Future()


def test_a_scheduler_whose_workers_all_ended_is_named(doubled, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when they lack the workbench: each ends at its first task, and the command waited for ever."""
    monkeypatch.setattr(fan_out, "ASK_SECONDS", 0.01)
    monkeypatch.setattr(fan_out, "NO_WORKER_SECONDS", 0.05)
    for _, result in FanOut.of(_WithoutWorkers(), cores=2).results(doubled, [1], lambda number: (number,)):
        with pytest.raises(errors.ExecutorAway, match=r"has had no worker for .*see its log"):
            result()
