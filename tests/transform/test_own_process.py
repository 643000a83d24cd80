"""The process for scripts of one's own: the same figures, and whatever a script does, it can be stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from workbench.dataset import pack
from workbench.errors import Cancelled, ScriptError
from workbench.import_path import pythonpath
from workbench.transform import inprocess, own_process, own_processes
from workbench.transform.own_process import OwnProcess

NOTHING = pack({})
GOOD = """
def transform(data, params):
    print("drawn with", params["a"])
    return go.Figure(go.Scatter(x=[1, 2], y=[params["a"], 3]))
"""
ENDLESS = {
    "a loop": "    while True:\n        pass",
    "a call that lets nothing else run": "    import re\n    return re.match(r'(a+)+$', 'a' * 50 + 'b')",
    "a loop that refuses to end": (
        "    while True:\n        try:\n            while True:\n                pass\n"
        "        except BaseException:\n            pass"
    ),
}


def script(body: str) -> str:
    return f"def transform(data, params):\n{body}\n"


@pytest.fixture(scope="module", autouse=True)
def processes() -> Iterator[None]:
    yield
    own_processes.shared().close()


def running() -> list[int]:
    processes = own_processes.shared()
    return [one._process.pid for one in (*processes._idle, *processes._busy) if not one.dead]


def test_a_figure_and_its_log_are_those_of_this_process() -> None:
    drawer = OwnProcess(60)
    for value in (1, 2.5, 2**60, "text", None):
        drawn = drawer.draw(GOOD, NOTHING, {"a": value}, content="nothing")
        assert drawn == inprocess.draw(GOOD, NOTHING, {"a": value})
    assert len(running()) == 1


def test_an_error_is_that_of_this_process() -> None:
    drawer = OwnProcess(60)
    for body in (
        "    print('so far')\n    return undefined",
        "    return 5",
        "    raise SystemExit(3)",
        "  broken(",
    ):
        with pytest.raises(ScriptError) as here:
            inprocess.draw(script(body), NOTHING, {})
        with pytest.raises(ScriptError) as there:
            drawer.draw(script(body), NOTHING, {})
        assert there.value.problems == here.value.problems
        assert there.value.log == here.value.log


@pytest.mark.parametrize("name", ENDLESS)
def test_a_script_that_never_ends_meets_its_limit(name: str) -> None:
    with pytest.raises(ScriptError) as ended:
        OwnProcess(0.3).draw(script(ENDLESS[name]), NOTHING, {})
    (problem,) = ended.value.problems
    assert "took more than 0.3 s, so it was stopped" in problem.msg
    assert "view.time_limit" in problem.msg
    assert problem.ctx["line"] >= 2
    assert OwnProcess(60).draw(GOOD, NOTHING, {"a": 1}).log == "drawn with 1\n"


def test_a_script_is_stopped_and_says_its_line() -> None:
    drawer = OwnProcess(None)
    OwnProcess(60).draw(GOOD, NOTHING, {"a": 1})
    threading.Timer(0.4, drawer.stop).start()
    with pytest.raises(ScriptError) as ended:
        drawer.draw(script(ENDLESS["a call that lets nothing else run"]), NOTHING, {})
    (problem,) = ended.value.problems
    assert problem.msg == "Line 3: You stopped the script. It was at this line."
    assert "re.match" in problem.ctx["text"]


def test_a_stop_ends_no_other_script_and_none_that_comes_later() -> None:
    first, second = OwnProcess(60), OwnProcess(60)
    first.stop()
    assert first.draw(GOOD, NOTHING, {"a": 1})
    slow = script("    import time\n    time.sleep(0.3)\n    return go.Figure()")
    threading.Timer(0.1, first.stop).start()
    assert second.draw(slow, NOTHING, {})


def test_a_figure_that_is_no_longer_wanted_may_still_end_but_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_process, "GRACE_SECONDS", 0.3)
    drawer, unwanted = OwnProcess(None), threading.Event()
    drawer.draw(GOOD, NOTHING, {"a": 1})
    before = running()
    threading.Timer(0.1, unwanted.set).start()
    slow = script("    import time\n    time.sleep(0.2)\n    return go.Figure()")
    drawer.draw(slow, NOTHING, {}, cancelled=unwanted.is_set)
    assert running() == before, "the process is used again"
    with pytest.raises(Cancelled):
        drawer.draw(script("    while True: pass"), NOTHING, {}, cancelled=lambda: True)
    unwanted.clear()
    threading.Timer(0.1, unwanted.set).start()
    with pytest.raises(Cancelled):
        drawer.draw(script("    while True: pass"), NOTHING, {}, cancelled=unwanted.is_set)
    assert not set(running()) & set(before)


def test_others_do_not_wait_for_a_slow_script() -> None:
    endless, quick = OwnProcess(None), OwnProcess(None)
    quick.draw(GOOD, NOTHING, {"a": 1})
    ended: list[BaseException] = []

    def draw() -> None:
        try:
            endless.draw(script(ENDLESS["a loop"]), NOTHING, {})
        except ScriptError as error:
            ended.append(error)

    thread = threading.Thread(target=draw)
    thread.start()
    assert quick.draw(GOOD, NOTHING, {"a": 2})
    assert thread.is_alive()
    endless.stop()
    thread.join(20)
    assert len(ended) == 1
    assert len(running()) <= 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_a_process_that_dies_is_replaced() -> None:
    drawer = OwnProcess(60)
    drawer.draw(GOOD, NOTHING, {"a": 1})
    (process,) = running()
    threading.Timer(0.3, os.kill, (process, signal.SIGKILL)).start()
    with pytest.raises(ScriptError, match=r"ended .*signal 9.*A new process replaces it"):
        drawer.draw(script("    while True: pass"), NOTHING, {})
    assert drawer.draw(GOOD, NOTHING, {"a": 1})


def test_a_dataset_is_sent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.transform import own_process_pipe

    sizes: list[int] = []
    sent = own_process_pipe.Process._send
    monkeypatch.setattr(
        own_process_pipe.Process,
        "_send",
        lambda self, job, packed: (sizes.append(len(packed)), sent(self, job, packed))[1],
    )
    drawer = OwnProcess(60)
    for value in (1, 2, 3):
        drawer.draw(GOOD, NOTHING, {"a": value}, content="only once")
    assert sizes == [0, len(NOTHING), 0, 0]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_no_process_outlives_a_notebook_that_was_killed() -> None:
    code = (
        "from workbench.transform.own_process import OwnProcess\n"
        "from workbench.transform.own_processes import shared\n"
        "from workbench.dataset import pack\n"
        "import threading\n"
        "shared().start()\n"
        "print(shared()._idle[0]._process.pid, flush=True)\n"
        "OwnProcess(None).draw('def transform(data, params):\\n    while True: pass', pack({}), {})\n"
    )
    notebook = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": pythonpath()},
    )
    assert notebook.stdout is not None
    with notebook.stdout:
        process = int(notebook.stdout.readline())
        time.sleep(0.5)
        notebook.kill()
        notebook.wait()
    until = time.monotonic() + 20
    while alive(process):
        assert time.monotonic() < until
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
