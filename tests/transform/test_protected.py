"""Protected drawing: answers as in this process, limits with words, and a pool that outlives what dies in it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import orjson
import pandas as pd
import pytest
from support.hostile_scripts import WITNESS, dataset
from support.waiting import until

import workbench as wb
from workbench.dataset import Dataset, unpack
from workbench.errors import Busy, Cancelled, NotProtected, ScriptError
from workbench.lock import system_calls
from workbench.transform import inprocess, protected
from workbench.transform.protected import allowed_calls as calls
from workbench.transform.protected.queue import Turns
from workbench.transform.protected.unlockable import Unlockable
from workbench.transform.script import check_script

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lock is Linux's")

DATA = dataset()
EMPTY = "def transform(data, params):\n    return {'data': [], 'layout': {'title': {'text': str(params)}}}"
LOOP = "def transform(data, params):\n    n = 0\n    while True:\n        n += 1"
OPENED = "def transform(data, params):\n    return {'data': [], 'layout': {'meta': pd.io.common.os.listdir('/')}}"


FAILING = {
    "import": "import os\ndef transform(data, params):\n    return 1",
    "import inside": "def transform(data, params):\n    import socket",
    "syntax": "def transform(data, params)\n    return 1",
    "shape": "def transfrom(data, params):\n    return 1",
    "column": "def transform(data, params):\n    print('seen')\n    return px.line(data['cells']['capacity'])",
    "step": "def transform(data, params):\n    return data['cell']",
    "param": "def transform(data, params):\n    return params['colour']",
    "zero": "def transform(data, params):\n    print('é' * 3)\n    x = [1 / n for n in (1, 0)]\n    return x",
    "result": "def transform(data, params):\n    return 'figure'",
    "value": "def transform(data, params):\n    return {'data': [{'y': {1, 2}}]}",
    "module by name": "def transform(data, params):\n    __import__('polars')",
    "exit": "def transform(data, params):\n    raise SystemExit(3)",
    "several": "import os\nimport sys\ndef transform(data, params):\n    return 1",
}


@pytest.mark.parametrize("name", FAILING)
def test_an_error_is_the_same_as_in_this_process(pool: protected.Pool, name: str) -> None:
    found = []
    for draw in (inprocess.draw, pool.draw):
        with pytest.raises(ScriptError) as caught:
            draw(FAILING[name], DATA, {"color": "red"})
        found.append((caught.value.problems, caught.value.log))
    assert found[0] == found[1]
    assert all(problem.loc == ("config", "transform") for problem in found[1][0])


WRITTEN = """
class Own(dict):
    def items(self, *_):
        raise RuntimeError('broken')

    get = items

def transform(data, params):
    return Own(data=[], layout={})
"""


@pytest.mark.parametrize(
    ("error", "outcome"), [("RuntimeError('broken')", "refused"), ("MemoryError()", "limited")]
)
def test_an_error_while_a_figure_is_written_is_not_the_end_of_the_process(
    pool: protected.Pool, error: str, outcome: str
) -> None:
    ended = protected.draw(WRITTEN.replace("RuntimeError('broken')", error), DATA, {}, by=pool)
    assert ended["outcome"] == outcome
    assert ended["why"].startswith("Line 4: ")


def test_a_check_is_the_same(pool: protected.Pool) -> None:
    for text in (*FAILING.values(), WITNESS):
        assert pool.check(text) == check_script(text)


PARAMS = {"s": "é\u2028", "n": 2**70, "f": 0.1, "none": None, "l": [1, "a", True], "d": {"x": -0.0}, "big": 1e308}


def test_params_arrive_as_they_are(pool: protected.Pool) -> None:
    assert pool.draw(EMPTY, DATA, PARAMS).figure == inprocess.draw(EMPTY, DATA, PARAMS).figure


def test_a_dataset_may_be_given_in_many_forms(pool: protected.Pool) -> None:
    steps, _ = unpack(DATA)
    frame = pd.DataFrame({"x": [1.0, None], "name": ["a", None], "n": [1, 2]})
    given = [
        DATA,
        memoryview(DATA),
        Dataset(steps),
        {"rows": frame, "curves": {"a": frame, "b": {"columns": {"x": [1.0, 2.0]}, "complete": False}}},
        {"steps": {"rows": [{"x": 1.0, "name": "a"}, {"x": None, "name": None}], "curves": {"a": frame}}},
        {"rows": {"x": [1.0, 2.0], "name": ["a", "b"]}},
    ]
    for one in given:
        told = protected.draw(
            "def transform(data, params):\n    print(list(data['rows'].columns))\n    return {'data': []}",
            one,
            {},
            by=pool,
        )
        assert (told["outcome"], told["why"]) == ("figure", "")
        assert "name" in told["log"]
        assert told["processes_left"] == 0


def test_what_a_time_out_says(pool: protected.Pool) -> None:
    began = time.monotonic()
    ended = pool.run(LOOP, DATA, {}, seconds=1)
    assert ended.outcome == "limited"
    assert ended.problems[0].ctx["line"] in (3, 4)
    assert "1 s" in ended.problems[0].msg
    assert time.monotonic() - began < 5, "not the limit of the pool"


def test_a_time_out_inside_one_long_call_names_its_line(pool: protected.Pool) -> None:
    text = "def transform(data, params):\n    a = np.ones((1500, 1500))\n    return a @ a @ a @ a @ a @ a @ a"
    text += " @ a" * 200
    ended = pool.run(text, DATA, {}, seconds=1)
    assert (ended.outcome, ended.problems[0].ctx["line"]) == ("limited", 3)


def test_too_large_a_figure_says_so(pool: protected.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "limits", replace(pool.limits, figure_bytes=10_000))
    ended = pool.run(
        "def transform(data, params):\n    return go.Figure(go.Bar(x=np.random.rand(5000)))", DATA, {}
    )
    assert ended.outcome == "limited"
    assert "0.1 MB" in ended.problems[0].msg


def open_descriptors() -> int:
    """How many this process holds, once the other pool's spares are settled."""
    found = [-1, -2, -3]
    while len(set(found[-3:])) > 1:
        time.sleep(0.15)
        found.append(len(os.listdir("/proc/self/fd")))
    return found[-1]


def held_by(process: int) -> list[str]:
    """What the descriptors of a process are; one may be closed while they are read."""
    found = []
    for path in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(path))
    return found


def test_a_zygote_holds_nothing_of_the_servers_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "do not tell")
    threads = threading.active_count()
    with (tmp_path / "open.txt").open("w") as left:
        os.set_inheritable(left.fileno(), True)
        opened = open_descriptors()
        made = protected.new(workers=1)
        for _ in range(3):
            made.draw(EMPTY, DATA, {}, content="x")
        process = made.zygote_process()
        assert "do not tell" not in Path(f"/proc/{process}/environ").read_text()
        there = held_by(process)
        assert not [name for name in there if name.startswith("/") and name != "/dev/null"]
        assert len(os.listdir(f"/proc/{process}/task")) == 1
        made.close()
        assert not Path(f"/proc/{process}").exists()
        assert open_descriptors() == opened
        assert threading.active_count() == threads


@pytest.mark.long
def test_a_killed_zygote_is_replaced_also_under_a_figure(pool: protected.Pool) -> None:
    before = pool.draw(WITNESS, DATA, {}).figure
    os.kill(pool.zygote_process(), signal.SIGKILL)
    assert pool.draw(WITNESS, DATA, {}).figure == before
    slow = WITNESS.replace("import re", "import time; time.sleep(0.7)\nimport re")
    killer = threading.Timer(0.3, lambda: os.kill(pool.zygote_process(), signal.SIGKILL))
    killer.start()
    assert pool.draw(slow, DATA, {}).figure == before
    killer.join()


def test_a_killed_process_is_told_and_replaced(pool: protected.Pool) -> None:
    before = pool.draw(WITNESS, DATA, {}).figure
    ended = pool.run("def transform(data, params):\n    pd.io.common.os._exit(0)", DATA, {}, account=True)
    assert ended.outcome == "killed"
    assert ended.processes_left == 0
    assert pool.draw(WITNESS, DATA, {}).figure == before


def test_a_spare_that_is_killed_while_it_waits_harms_nobody(pool: protected.Pool) -> None:
    pool.draw(EMPTY, DATA, {})
    children = Path(f"/proc/{pool.zygote_process()}/task/{pool.zygote_process()}/children")
    for _ in range(5):
        for child in children.read_text().split():
            os.kill(int(child), signal.SIGKILL)
        assert any(pool.run(EMPTY, DATA, {}).outcome == "figure" for _ in range(5))
    for _ in range(3):
        pool.draw(EMPTY, DATA, {})


def test_figures_from_many_threads(pool: protected.Pool) -> None:
    expected = inprocess.draw(EMPTY, DATA, {"n": 7}).figure
    drawn: list[bytes] = []

    def work() -> None:
        for _ in range(5):
            drawn.append(pool.draw(EMPTY, DATA, {"n": 7}, content="shared").figure)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert drawn == [expected] * 30


def test_a_withdrawn_request_ends_its_process(pool: protected.Pool) -> None:
    looks = iter([False, False, True])
    with pytest.raises(Cancelled):
        pool.draw(LOOP, DATA, {}, cancelled=lambda: next(looks, True))


def test_the_queue_of_a_pool_says_when_it_is_full(pool: protected.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    turns, gone = Turns(2, queue=4, queue_each=1, seconds=60), threading.Event()
    monkeypatch.setattr(pool, "turns", turns)
    monkeypatch.setattr(pool, "limits", replace(pool.limits, seconds=60))

    def loop_on() -> None:
        with pytest.raises(Cancelled):
            pool.draw(LOOP, DATA, {}, organization="a", cancelled=gone.is_set)

    def one_draws_and_one_waits() -> bool:
        return turns._running.get("a") == 1 and len(turns._waiting) == 1

    loops = [threading.Thread(target=loop_on) for _ in range(2)]
    for loop in loops:
        loop.start()
    until(one_draws_and_one_waits)
    with pytest.raises(Busy, match="wait") as caught:
        pool.draw(EMPTY, DATA, {}, organization="a")
    assert (caught.value.status, caught.value.retry_after > 0) == (503, True)
    pool.draw(EMPTY, DATA, {}, organization="b")
    assert one_draws_and_one_waits(), "nobody had to end for the other organization"
    gone.set()
    for loop in loops:
        loop.join()


FILTERED = """
import ctypes, platform, sys
from workbench.transform.protected import allowed_calls as calls
from workbench.lock import seccomp_filter as bpf, system_calls
architecture = system_calls.ARCHITECTURES[platform.machine()]
number = {refused}
rules = [(0x20, 0, 0, 0), (0x15, 0, {skip}, number), {inner} (6, 0, 0, 0x00050000 | {errno}), (6, 0, 0, 0x7fff0000)]
code = bpf.packed(rules)
buffer = ctypes.create_string_buffer(code, len(code))
import struct
head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(buffer)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.c_ulong(ctypes.addressof(head)), 0, 0) == 0
from workbench.errors import NotProtected
from workbench.transform import protected
from workbench.dataset import pack
print(protected.new(workers=1).fence().holds)
try:
    print(protected.draw({script!r}, pack({{}}), {{}}))
except NotProtected as error:
    print("NotProtected", error)
"""


def filtered(refused: int, errno: int, inner: str = "") -> str:
    """What a server says where the kernel refuses it a system call (or, with errno 0, pretends to have done it)."""
    text = FILTERED.format(refused=refused, errno=errno, inner=inner, skip=1 + inner.count("),"), script=OPENED)
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    return done.stdout


PRCTL = 157 if os.uname().machine == "x86_64" else 167
ONLY_SECCOMP = "(0x20, 0, 0, 16), (0x15, 0, 1, 22),"


@pytest.mark.parametrize("errno", [1, 0])
def test_without_the_lock_nothing_is_drawn_and_the_mend_is_named(errno: int) -> None:
    said = filtered(PRCTL, errno, ONLY_SECCOMP)
    assert said.splitlines()[0] == "False"
    assert "NotProtected" in said
    assert "--trust-transforms" in said
    assert "container" in said


@pytest.mark.long
def test_a_kernel_without_landlock_is_locked_by_the_rest() -> None:
    said = filtered(444, 38)
    assert said.splitlines()[0] == "True"
    assert "'outcome': 'refused'" in said
    assert "PermissionError" in said


@pytest.mark.parametrize(("system", "name"), [("darwin", "macOS"), ("win32", "Windows"), ("sunos5", "sunos5")])
def test_elsewhere_nothing_is_drawn_or_parsed(system: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    drawer = protected.new()
    fence = drawer.fence()
    assert (fence.holds, f"locked in on {name}" in fence.why, "container" in fence.why) == (False, True, True)
    for do in (lambda: drawer.draw(WITNESS, DATA, {}), lambda: drawer.check(WITNESS)):
        with pytest.raises(NotProtected, match=f"locked in on {name}"):
            do()
    drawer.close()


def test_every_saved_plot_of_the_demo_is_the_same_twice(pool: protected.Pool, demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        plots = [plot for board in bench.dashboards.list()["id"] for plot in bench.dashboards.get(board).plots()]
        assert len(plots) >= 4
        for plot in plots:
            config = plot.recipe().config
            answered = bench.backend.answered(config, {})
            near = inprocess.draw(config.transform, answered.packed, answered.values)
            for _ in range(2):
                far = pool.draw(config.transform, answered.packed, answered.values, content=answered.content)
                assert (far.figure, far.log) == (near.figure, near.log), plot.name


SWEEP = """
def transform(data, params):
    c = np.ctypeslib.ctypes
    libc = c.CDLL(None, use_errno=True)
    passed = []
    for number in params["numbers"]:
        c.set_errno(0)
        if libc.syscall(number, -1, 0, 0, 0, 0, 0) != -1 or c.get_errno() not in (1, 13):
            passed.append(number)
    return {"data": [], "layout": {"meta": passed}}
"""


def test_the_kernel_refuses_every_call_that_is_not_on_the_list(pool: protected.Pool) -> None:
    architecture = system_calls.ARCHITECTURES[os.uname().machine]
    allowed = {call.number(architecture) for call in calls.ALLOWED}
    # These two pass every filter by the kernel's own word (Linux 6.14), and it ends whoever calls them.
    probes = (335, 336) if architecture == system_calls.X86_64 else ()
    others = [number for number in range(1000) if number not in allowed and number not in probes]
    drawn = pool.draw(SWEEP, DATA, {"numbers": others})
    assert orjson.loads(drawn.figure)["layout"]["meta"] == []


TELLS = """
def transform(data, params):
    modules = pd.io.common.os.sys.modules
    s, platform = modules["sys"], modules["platform"]
    told = [platform.uname().node, platform.node(), s.path, s.executable, s.argv, s.orig_argv]
    told.append(dict(modules["os"].environ))
    return {"data": [], "layout": {"meta": told}}
"""


def test_a_script_learns_neither_the_machines_name_nor_its_search_path(pool: protected.Pool) -> None:
    told = orjson.loads(pool.draw(TELLS, DATA, {}).figure)["layout"]["meta"]
    assert told == ["", "", [], "", [""], [""], {}]


@pytest.mark.long
def test_a_thousand_figures_leave_nothing_behind(pool: protected.Pool) -> None:
    hostile = [
        "def transform(data, params):\n    pd.io.common.os._exit(1)",
        "def transform(data, params):\n    np.ctypeslib.ctypes.string_at(0)",
        "def transform(data, params):\n    return np.ones(10**10)",
        "def transform(data, params):\n    pd.io.common.os.fork()",
        OPENED,
    ]
    first = pool.draw(WITNESS, DATA, {}).figure

    def size() -> tuple[int, int, int]:
        process = pool.zygote_process()
        pages = [int(Path(f"/proc/{one}/statm").read_text().split()[1]) // 256 for one in (process, "self")]
        return pages[0], pages[1], len(os.listdir("/proc/self/fd"))

    for _ in range(50):
        pool.draw(WITNESS, DATA, {})
    before = size()
    for n in range(1000):
        if n % 4 == 0:
            assert pool.run(hostile[n // 4 % len(hostile)], DATA, {}).outcome != "figure"
        else:
            assert pool.draw(WITNESS, DATA, {}, content="w").figure == first
    after = size()
    assert after[0] - before[0] < 8
    assert after[1] - before[1] < 8
    assert after[2] <= before[2] + 4
    process = pool.zygote_process()
    children = Path(f"/proc/{process}/task/{process}/children")
    until(lambda: len(children.read_text().split()) <= 3, "the end of its children")


def test_what_comes_back_is_json_of_a_figure(pool: protected.Pool) -> None:
    assert orjson.loads(pool.draw(EMPTY, DATA, {}).figure)["data"] == []


def test_required_gives_the_fence_or_says_why_not(pool: protected.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protected, "shared", lambda: pool)
    assert protected.required().holds
    monkeypatch.setattr(protected, "shared", Unlockable)
    with pytest.raises(NotProtected, match="cannot be locked in"):
        protected.required()
