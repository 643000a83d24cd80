"""A file is known by the bytes that it had when its reading began, whatever happens to it meanwhile."""

from __future__ import annotations

import hashlib
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.errors import FileRefused
from workbench.ingest.plan.read_options import ReadOptions
from workbench.ingest.read import prepare as module
from workbench.ingest.read.prepare import Prepared, prepare
from workbench.table import Table

HEAD = "Time [s],Current [A],Voltage [V]\n"
ROWS = 70_000
READ = ReadOptions(sign="discharge")


def rows(count: int, first: int = 0, volts: float = 3.5) -> str:
    return "".join(f"{n},1.0,{volts + n % 1000 / 10_000:.4f}\n" for n in range(first, first + count))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def prepared(path: Path, options: ReadOptions = READ) -> Prepared:
    with path.with_name("spool").open("w+b") as spool:
        return prepare(path, options, spool)


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    """A file that is hashed by a thread."""
    path = tmp_path / "test.csv"
    path.write_text(HEAD + rows(ROWS))
    assert path.stat().st_size > module._CHUNK
    return path


def after_the_last_row(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Let something happen once all rows are read, before the file is known."""
    cycles_of = module.cycles_of

    def then(steps: Table) -> Table:
        happens()
        return cycles_of(steps)

    monkeypatch.setattr(module, "cycles_of", then)


def wait_for(monkeypatch: pytest.MonkeyPatch, event: threading.Event) -> None:
    """Let the hash of a file wait for an event."""
    of = module._Facts._of

    def late(self: module._Facts, path: Path, most: int) -> module.FileFacts:
        assert event.wait(60)
        return of(self, path, most)

    monkeypatch.setattr(module._Facts, "_of", late)


def test_rows_that_come_after_the_reading_are_not_known(long_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grown, before = threading.Event(), long_file.read_text()

    def grow() -> None:
        with long_file.open("a") as file:
            file.write(rows(2, ROWS))
        grown.set()

    wait_for(monkeypatch, grown)
    after_the_last_row(monkeypatch, grow)
    found = prepared(long_file)
    assert found.rows == ROWS
    assert found.size == len(before)
    assert found.file_hash == sha256(before)


def test_a_file_that_is_rewritten_meanwhile_is_read_again(
    long_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, times = HEAD + rows(ROWS - 1, volts=3.6), []

    def rewrite() -> None:
        times.append(1)
        if len(times) == 1:
            long_file.write_text(other)

    after_the_last_row(monkeypatch, rewrite)
    found = prepared(long_file)
    assert len(times) == 2
    assert found.rows == ROWS - 1
    assert found.voltage_min == 3.6
    assert found.file_hash == sha256(other)


def test_a_file_that_is_rewritten_each_time_is_refused(long_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[int] = []

    def rewrite() -> None:
        times.append(1)
        long_file.write_text(HEAD + rows(ROWS - len(times)))

    after_the_last_row(monkeypatch, rewrite)
    with pytest.raises(FileRefused, match="Ingest it when nothing writes to it"):
        prepared(long_file)


def test_a_file_that_is_gone_after_it_was_read_was_read(long_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed, text = threading.Event(), long_file.read_text()
    hashed.set()
    wait_for(monkeypatch, hashed)
    found = module._Facts.found

    def then_gone(self: module._Facts) -> list[module.FileFacts]:
        facts = found(self)
        long_file.unlink(missing_ok=True)
        return facts

    monkeypatch.setattr(module._Facts, "found", then_gone)
    assert prepared(long_file).file_hash == sha256(text)


def test_a_file_is_hashed_where_no_more_threads_are_allowed(
    long_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert prepared(long_file).file_hash == sha256(long_file.read_text())


PARTS = """
import resource, sys
from pathlib import Path
from workbench.ingest.plan.read_options import ReadOptions
from workbench.ingest.read.prepare import prepare
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
first, *others = sorted(Path(sys.argv[1]).glob("*.csv"))
with open(Path(sys.argv[1], "spool"), "w+b") as spool:
    print(prepare(first, ReadOptions(sign="discharge", parts=tuple(map(str, others))), spool).rows)
"""


def test_a_test_may_have_more_parts_than_files_may_be_open(tmp_path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 64
    for part in range(80):
        (tmp_path / f"{part:03}.csv").write_text(HEAD + rows(10, 10 * part))
    words = [sys.executable, "-c", PARTS, str(tmp_path)]
    done = subprocess.run(words, check=True, timeout=120, capture_output=True, text=True)
    assert done.stdout.strip() == "800"
