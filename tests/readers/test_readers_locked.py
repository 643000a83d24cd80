"""A parser runs under a lock: it reads its file and the libraries, writes one folder, and can do nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cycler_file import cycler_text
from support.locked_worker import UNLOCKED, Asked
from support.workbooks import workbook

import workbench as wb
from workbench.ingest.plan import unpack
from workbench.ingest.plan.paths import find
from workbench.ingest.plan.sheet import read_sheet
from workbench.ingest.processes import warm_workers, worker_process
from workbench.ingest.processes.worker_process import DIED
from workbench.lock import seccomp_filter, system_calls
from workbench.readers.file.parser_process import can_lock
from workbench.transform.protected import allowed_calls

pytestmark = pytest.mark.skipif(not can_lock(), reason="this machine has no Landlock")

STAND_IN = """
import ctypes, os, signal, socket, subprocess, sys, tempfile, threading, time
import workbench.ingest.read.worker as worker

def try_all(name):
    done = []
    def attempt(what, make):
        try:
            found = make()
        except Exception as error:
            done.append(f"{what}: {type(error).__name__}")
        else:
            done.append(f"{what}: worked {found!r}"[:200])
    def wrote(path):
        with open(path, "wb") as file:
            return file.write(b"x")
    own = tempfile.gettempdir()
    attempt("passwd", lambda: open("/etc/passwd").read())
    attempt("beside", lambda: open(os.path.join(os.path.dirname(name), "secret.txt")).read())
    attempt("list", lambda: os.listdir("/"))
    attempt("connect", lambda: socket.create_connection(("127.0.0.1", PORT)))
    attempt("unix socket", lambda: socket.socket(socket.AF_UNIX))
    attempt("fork", os.fork)
    attempt("program", lambda: subprocess.run(["/bin/true"]))
    attempt("exec", lambda: os.execv("/bin/true", ["true"]))
    attempt("elsewhere", lambda: wrote(os.path.join(os.path.dirname(own), "made")))
    attempt("its file", lambda: wrote(name))
    attempt("home", lambda: wrote("/tmp/made"))
    attempt("link", lambda: os.symlink("/etc/passwd", os.path.join(own, "link")))
    attempt("hidden file", lambda: os.open(own, os.O_TMPFILE | os.O_RDWR))
    attempt("remove", lambda: (wrote(os.path.join(own, "a")), os.unlink(os.path.join(own, "a"))))
    attempt("environ of the system", lambda: open("/proc/self/environ", "rb").read())
    attempt("signal", lambda: os.kill(os.getppid(), 0))
    attempt("limit", lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_FSIZE, (1, 1)))
    done.append(f"environment: {dict(os.environ)}")
    attempt("own folder", lambda: wrote(os.path.join(own, "b")))
    attempt("its bytes", lambda: open(name, "rb").read())
    one = threading.Thread(target=lambda: done.append("thread: worked"))
    one.start(); one.join()
    return done

def outcome(path, options, file):
    if path.name == "crash.csv":
        ctypes.string_at(0)
    file.write(b"spooled")
    return {"refused": "\\n".join(try_all(str(path))), "format": "", "unmapped": False}

worker.warm_up = lambda: None
worker.outcome_of = outcome
"""


STRANGE = """
import orjson, os
import workbench.ingest.read.worker as worker
import workbench.readers.file.locked_child as child

def outcome(path, options, file):
    content = path.read_bytes()
    if content.startswith(b"ASK"):
        said = child.ask(*orjson.loads(content[3:]))
        return {"refused": f"answered {said}", "format": "", "unmapped": False}
    if content.startswith(b"SAY"):
        child.send(3, b"A", content[3:])
        os._exit(0)
    return {"refused": "well", "format": "", "unmapped": False}

worker.warm_up = lambda: None
worker.outcome_of = outcome
"""


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Callable[..., Asked]]:
    made: list[Asked] = []

    def start(before: str = "", *, locked: bool = True) -> Asked:
        made.append(Asked(tmp_path / f"scratch{len(made)}", before, locked=locked))
        return made[-1]

    yield start
    for one in made:
        one.worker.close()


def test_a_parser_can_do_nothing_but_read_its_file(
    asked: Callable[..., Asked], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_KEY", "secret")
    (tmp_path / "secret.txt").write_text("secret")
    path = tmp_path / "a.csv"
    path.write_text("rows")
    with socket.create_server(("127.0.0.1", 0)) as server:
        ask = asked(STAND_IN.replace("PORT", str(server.getsockname()[1])))
        found = dict(line.split(": ", 1) for line in ask(path)["refused"].split("\n"))
    allowed = {name for name, said in found.items() if said.startswith("worked")}
    assert allowed == {"own folder", "its bytes", "thread"}
    assert found["environment"] == "{}"
    assert len(found) == 21
    assert ask.spool.read_bytes() == b"spooled"
    assert path.read_text() == "rows"


def test_a_crash_costs_its_file_alone(asked: Callable[..., Asked], tmp_path: Path) -> None:
    ask = asked(STAND_IN.replace("PORT", "1"))
    for name in ("crash.csv", "a.csv"):
        (tmp_path / name).write_text("rows")
    assert ask(tmp_path / "crash.csv")["refused"] == DIED
    assert "its bytes: worked" in ask(tmp_path / "a.csv")["refused"]


NO_LANDLOCK = """
import workbench.lock.kernel as kernel
kernel.LANDLOCK_CREATE = 100_000
"""


def test_a_server_without_the_lock_reads_nothing_and_says_so(asked: Callable[..., Asked], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Time [s],Current [A],Voltage [V]\n" + "".join(f"{n},1,{3 + n / 100}\n" for n in range(50)))
    refused = asked(NO_LANDLOCK)(path)["refused"]
    assert "Landlock" in refused
    assert "--trust-files" in refused
    assert "prepared" in asked(NO_LANDLOCK, locked=False)(path)  # in a notebook, as before


def test_a_lock_that_does_not_hold_is_not_used(asked: Callable[..., Asked], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("rows")
    open_ = "import workbench.lock.kernel as kernel\nkernel.Kernel.restrict = lambda self, rules=None: None\n"
    assert "it opens a file of the system" in asked(open_)(path)["refused"]


def test_every_reader_gives_the_same_under_the_lock(asked: Callable[..., Asked], real_files: list[Path]) -> None:
    locked, free = asked(), asked(UNLOCKED, locked=False)
    for path in real_files:
        answers = [ask.with_samples(path) for ask in (locked, free)]
        assert answers[0] == answers[1], path.name


@pytest.fixture
def real_files(long: bool) -> list[Path]:
    folder = Path(__file__).parents[3] / "shared" / "data"
    found = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "truth.json")
    if not found:
        pytest.skip("the real files are not here")
    if long:
        return found
    one_each = {path.suffix: path for path in sorted(found, key=lambda path: -path.stat().st_size)}
    return sorted(one_each.values())


def test_the_lock_of_scripts_allows_what_it_did() -> None:
    known = {
        system_calls.X86_64: "ec53a9bee10f2305ce9076a502087814d1c23e064d78d09bad033969220bc75e",
        system_calls.ARM64: "aa0cb45596f14e98e8a48c4ed3c1ad3a0d8abab577acae8f16e181bdce3d4484",
    }
    for machine, digest in known.items():
        program = seccomp_filter.program(machine, allowed_calls.ALLOWED)
        assert hashlib.sha256(seccomp_filter.packed(program)).hexdigest() == digest


def test_a_parser_started_by_itself_is_locked_too(tmp_path: Path) -> None:
    """What `readers.read` does in a notebook with a file of MATLAB."""
    plugin = tmp_path / "plugin.py"
    plugin.write_text(
        "import pyarrow as pa\n"
        "def load(job):\n"
        "    try:\n        open('/etc/passwd')\n        said = 'open'\n"
        "    except PermissionError:\n        said = 'shut'\n"
        "    return {'set': said}, pa.table({'a': [1.0]})\n"
    )
    words = (
        "from pathlib import Path; from workbench.readers.file.parser_process import load_in_process; import sys; "
        "facts, table = load_in_process('plugin:load', Path(sys.argv[1]), 'x', None); "
        "print(facts['set'], table.num_rows)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run(
        [sys.executable, "-c", words, str(plugin)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["shut", "1"], done.stderr


QUESTIONS: tuple[Any, ...] = (
    ["remove", {"names": ["..", ".", "", "../list", "/etc", "a/../.."]}],
    ["remove", {"names": [1, None]}],
    ["programs", {"runs": [{"program": "sh", "words": ["-c", "id"], "output": "x"}], "seconds": 1}],
    ["programs", {"runs": [{"program": "/bin/sh", "words": [], "output": "x"}], "seconds": 1}],
    ["programs", {"runs": [{"program": "mdb-tables", "words": ["/etc/passwd"], "output": "/tmp/made"}] * 99}],
    ["programs", {"runs": [{"program": "mdb-tables", "words": [{}], "output": None}], "seconds": "x"}],
    ["programs", {"runs": [], "seconds": 1e308}],
    ["parse", {"job": {"loader": "os:system", "path": "id", "seconds": 1}}],
    ["parse", {"job": 5}],
    ["imported", {"modules": ["this", "antigravity", "../x"]}],
    ["imported", {"modules": 7}],
    ["nothing", {}],
    [{"a": []}, {}],
)


@pytest.mark.parametrize("question", [json.dumps(one) for one in QUESTIONS])
def test_a_process_that_was_taken_over_may_ask_for_anything(
    question: str, asked: Callable[..., Asked], tmp_path: Path
) -> None:
    ask = asked(STRANGE)
    hostile, honest = tmp_path / "hostile.csv", tmp_path / "honest.csv"
    hostile.write_text(f"ASK{question}")
    honest.write_text("rows")
    before = sorted(path.name for path in tmp_path.rglob("*") if "reading-" not in str(path))
    said = ask(hostile)["refused"]
    assert said.startswith(("answered", DIED))
    assert "uid=" not in said
    assert ask(honest)["refused"] == "well"
    after = sorted(path.name for path in tmp_path.rglob("*") if "reading-" not in str(path))
    assert set(before) <= set(after)
    assert not Path("/tmp/made").exists()


@pytest.mark.parametrize("answer", [b"", b"no json", b"[1]", b"null", b"5", b'{"a":\n1}', b'{"prepared": {}}'])
def test_a_process_that_was_taken_over_may_answer_anything(
    answer: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_workers, "PROGRAM", STRANGE + warm_workers.PROGRAM)
    (tmp_path / "a.csv").write_bytes(b"SAY" + answer)
    (tmp_path / "b.csv").write_bytes(b"rows")
    with wb.open(tmp_path / "lab.db") as bench:
        report = bench.ingest([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert [file.why for file in report] == [DIED, "well"]


def test_a_small_ingest_in_a_notebook_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_workers, "PROGRAM", STAND_IN.replace("PORT", "1") + warm_workers.PROGRAM)
    (tmp_path / "a.csv").write_text("rows")
    with wb.open(tmp_path / "lab.db") as bench:
        (file,) = bench.ingest(tmp_path / "a.csv")
        assert "passwd: PermissionError" in file.why
        assert "environment: {}" in file.why


def test_archives_sheets_and_the_beginnings_of_files_are_looked_at_by_locked_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What parses them raises here, and the locked process has them whole."""

    def parsed(*_: Any, **__: Any) -> None:
        raise AssertionError("parsed in this process")

    for name in ("_is_archive", "_members"):
        monkeypatch.setattr(unpack, name, parsed)
    monkeypatch.setattr("workbench.ingest.plan.sheet._cells_or_why", parsed)
    monkeypatch.setattr("workbench.ingest.read.unknown_files._why", parsed)
    monkeypatch.setattr("workbench.ingest.read.worker_pool.outcome_of", parsed)
    with zipfile.ZipFile(tmp_path / "rack.zip", "w") as container:
        container.writestr("A/c1.csv", cycler_text())
        container.writestr("A/c2.csv", cycler_text(1))
    with wb.open(tmp_path / "lab.db") as bench:
        report = bench.ingest(tmp_path / "rack.zip", name_rule="{batch}/{cell}")
        assert [(file.status, file.instance) for file in report] == [("stored", "c1"), ("stored", "c2")]
        with bench.serve() as served, wb.connect(served.url, served.api_key) as far:
            (tmp_path / "in").mkdir()
            (tmp_path / "in" / "c3.csv").write_text(cycler_text(2))
            (tmp_path / "in" / "notes.md").write_text("Made by hand.")
            report = far.ingest(tmp_path / "in")
            assert [Path(file.path).name for file in report] == ["c3.csv"]
            assert [Path(path).name for path in report.skipped] == ["notes.md"]
    sheet = workbook(tmp_path / "labels.xlsx", {"Cells": [["file", "cell"], ["c1.csv", "K1"]]})
    assert [(row.pattern, row.labels.instance) for row in read_sheet(sheet).rows] == [("c1.csv", "K1")]


def test_what_cannot_be_unpacked_is_refused_in_the_same_words_with_and_without_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "rack.zip", "w", zipfile.ZIP_DEFLATED) as container:
        for name in ("a.csv", "b.csv"):
            container.writestr(name, cycler_text())
    data = bytearray((tmp_path / "rack.zip").read_bytes())
    data[60:400] = bytes(340)
    (tmp_path / "rack.zip").write_bytes(data)
    said = []
    for locks in (True, False):
        monkeypatch.setattr(warm_workers, "can_lock", lambda locks=locks: locks)
        said.append(find(tmp_path / "rack.zip").refused)
    assert said[0] == said[1]
    assert "damaged" in next(iter(said[0].values()))


def test_the_lock_holds_for_more_files_than_a_process_may_open(
    asked: Callable[..., Asked], tmp_path: Path
) -> None:
    paths = [tmp_path / f"{number}.csv" for number in range(600)]
    for path in paths:
        path.write_text(cycler_text())
    ask = asked()
    assert "prepared" in ask(paths[-1], *paths[:-1])
    assert "prepared" in ask(paths[0], *paths[1:])


def test_workers_stay_for_the_next_ingest_and_end_when_nothing_comes(tmp_path: Path) -> None:
    warm_workers.WARM.close()
    with warm_workers.workers(1) as (first,):
        pass
    with warm_workers.workers(1) as (second,):
        assert second is first
        scratch = second.scratch
    warm_workers.WARM.close()
    assert not first.is_alive
    assert not scratch.exists()
    with pytest.raises(KeyboardInterrupt), warm_workers.workers(1) as (third,):
        raise KeyboardInterrupt
    assert not third.is_alive


def test_a_worker_that_starts_early_is_the_one_of_the_next_ingest() -> None:
    with warm_workers.workers(1) as (kept,):
        pass
    warm_workers.WARM.close()
    warm_workers.start()
    with warm_workers.workers(1) as (early,):
        assert early is not kept
        assert early.is_alive
    warm_workers.start()
    with warm_workers.workers(1) as (same,):
        assert same is early


def test_a_worker_that_starts_still_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_workers, "PROGRAM", "import time; time.sleep(3600)")
    monkeypatch.setattr(worker_process, "GRACE", 1800.0)
    warm_workers.start()
    with warm_workers.workers(1) as (starting,):
        assert starting.is_alive
    warm_workers.WARM.close()
    assert not starting.is_alive
    assert not starting.scratch.exists()


def test_a_process_that_writes_too_much_is_ended(asked: Callable[..., Asked], tmp_path: Path) -> None:
    few = (
        "import workbench.readers.file.locked_parent as p; p._MOST_FILES = 50\n"
        "import os, tempfile, time\nimport workbench.ingest.read.worker as worker\n"
        "def outcome(path, options, file):\n"
        "    if path.name == 'honest.csv':\n        return {'refused': 'well', 'format': ''}\n"
        "    for n in range(100):\n        open(os.path.join(tempfile.gettempdir(), str(n)), 'w').close()\n"
        "    time.sleep(60)\n"
        "worker.warm_up = lambda: None\nworker.outcome_of = outcome\n"
    )
    ask = asked(few)
    for name in ("a.csv", "honest.csv"):
        (tmp_path / name).write_text("rows")
    assert "writes more than" in ask(tmp_path / "a.csv")["refused"]
    assert ask(tmp_path / "honest.csv")["refused"] == "well"
