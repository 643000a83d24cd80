"""A watched folder: what is at rest is taken in, an unfinished line waits, and a kill at any moment costs nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cycler_file import cycler_text

import workbench as wb
from workbench.errors import BadRequest, StoreError
from workbench.ingest.read.live_file import snapshot
from workbench.ingest.report.report import Report
from workbench.ingest.watch_folder import Looks
from workbench.local import LocalBackend

QUICK = {"settle": 0.02, "every": 0.02, "once": True}
RULE = "{cell}_{test}"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def test_half_lines_are_never_stored(bench: wb.Bench, data: Path) -> None:
    text = cycler_text(3).encode()
    whole = [line.count(b",") == 5 for line in text.splitlines()]
    assert all(whole)
    rng = random.Random(5)
    for cut in [*sorted(rng.sample(range(1400, len(text)), 8)), len(text)]:
        (data / "a.csv").write_bytes(text[:cut])
        list(bench.watch(data, **QUICK))
        (record,) = bench.measurements.list()["id"]
        frame = bench.measurements.time_series(record)
        lines = text[:cut].count(b"\n") - 1
        assert len(frame) == lines
        assert frame["Note"].iloc[-1] == text[:cut].split(b"\n")[lines].decode().rsplit(",", 1)[1]
    assert len(bench.measurements.list()) == 1


def test_what_waits_is_said(bench: wb.Bench, data: Path) -> None:
    text = cycler_text(2).rstrip("\n")
    (data / "a.csv").write_text(text)
    (report,) = bench.watch(data, **QUICK)
    held = len(text.rpartition("\n")[2])
    assert any(f"is not complete yet ({held} bytes)" in line for line in report[0].assumed)
    assert report[0].rows == 65
    assert bench.ingest(data)[0].added == 1


def test_a_snapshot_ends_with_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for content, kept in ((b"a\nb\nc", b"a\nb\n"), (b"a\r\nb", b"a\r\n"), (b"a\n", b"a\n"), (b"a\0b", b"a\0b")):
        path.write_bytes(content)
        with snapshot(path) as shot:
            assert shot.path.name == "a.txt"
            assert shot.path.read_bytes() == kept
            assert shot.held == len(content) - len(kept)


def test_a_file_is_ready_when_it_stood_still() -> None:
    looks, path = Looks(10.0), Path("a.csv")
    looks.look({path: (5, 1)}, 0.0)
    assert looks.ready(9.0) == set()
    looks.look({path: (6, 2)}, 9.0)
    assert looks.ready(18.0) == set()
    assert looks.ready(19.0) == {path}
    looks.taken({path}, Report())
    assert looks.ready(30.0) == set()
    assert not looks.waiting()
    looks.look({path: (7, 3)}, 31.0)
    assert looks.waiting()
    assert looks.ready(41.0) == {path}
    looks.look({}, 42.0)
    assert looks.ready(60.0) == set()


def test_what_appears_later_is_taken_too_and_strange_files_are_skipped(bench: wb.Bench, data: Path) -> None:
    (data / "notes.txt").write_text("call the lab\n")
    (data / ".hidden.csv").write_text(cycler_text())
    stages = iter(
        [lambda: (data / "a.csv").write_text(cycler_text()), lambda: (data / "b.csv").write_text("no\n")]
    )
    told: list[Report] = []
    ended = time.monotonic() + 30
    for report in bench.watch(
        data, settle=0.02, every=0.02, stopped=lambda: len(told) > 1 or time.monotonic() > ended
    ):
        if report.files:
            told.append(report)
        assert report.skipped in ([], [str(data / "notes.txt")], [str(data / "b.csv")])
        next(stages, lambda: (data / "b.csv").write_text(cycler_text(2, 0.1)))()
    assert [file.status for report in told for file in report] == ["stored", "stored"]
    assert sorted(bench.measurements.list()["name"]) == ["a", "b"]


def test_a_sheet_that_changes_is_applied(bench: wb.Bench, data: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "cells.csv"
    sheet.write_text("file,tags\n*,x\n")
    (data / "a_RPT.csv").write_text(cycler_text())
    told = []
    ended = time.monotonic() + 30
    for report in bench.watch(
        data,
        sheet=sheet,
        name_rule=RULE,
        settle=0.02,
        every=0.02,
        stopped=lambda: len(told) > 1 or time.monotonic() > ended,
    ):
        told.append([file.status for file in report])
        sheet.write_text("file,tags\n*,longer\n")
    assert told == [["stored"], ["updated"]]
    assert bench.measurements.list()["tags"].tolist() == ["longer"]


def test_parts_are_taken_together(bench: wb.Bench, data: Path) -> None:
    for number in (1, 2):
        (data / f"c_RPT_{number}.csv").write_text(cycler_text(2, number / 10))
    (report,) = bench.watch(data, name_rule="{cell}_{test}_{part}", **QUICK)
    assert [file.rows for file in report] == [132]
    (data / "c_RPT_3.csv").write_text(cycler_text(1, 0.3))
    (report,) = [r for r in bench.watch(data, name_rule="{cell}_{test}_{part}", **QUICK) if r[0].added]
    assert [file.status for file in report] == ["extended"]


def test_a_folder_that_is_not_there(bench: wb.Bench, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="no folder"):
        list(bench.watch(tmp_path / "nowhere"))


# Killed

FILES = 5
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(wb.__file__).parents[1])}


def command(*words: str) -> list[str]:
    return [sys.executable, "-c", "from workbench.cli import main; main()", *words]


def texts() -> dict[str, bytes]:
    return {f"c{n}_RPT.csv": cycler_text(60 + n, n / 1000).encode() for n in range(FILES)}


def sound(store: Path, expected: dict[str, bytes]) -> None:
    """The store is whole, and every test in it is the beginning of what its cycler wrote."""
    with wb.open(store) as bench:
        assert bench.verify() == []
        listed = bench.measurements.list()
        assert not listed["instance_id"].duplicated().any()
        for row in listed.to_dict("records"):
            frame = bench.measurements.time_series(row["id"])
            lines = expected[f"{row['instance_name']}_RPT.csv"].decode().splitlines()[1 : len(frame) + 1]
            assert frame["Note"].tolist() == [line.rpartition(",")[2] for line in lines]
            assert bench.measurements.steps(row["id"])["End index"].iloc[-1] == len(frame) - 1


def complete(store: Path, expected: dict[str, bytes]) -> None:
    with wb.open(store) as bench:
        found = {
            row["instance_name"]: row["sample_count"]
            for row in bench.measurements.list(fields=["instance_name", "sample_count"]).to_dict("records")
        }
        assert found == {name.partition("_")[0]: text.count(b"\n") - 1 for name, text in expected.items()}
        assert bench.verify() == []


def killed(words: list[str], after: float, meanwhile: Iterator[None]) -> None:
    """Run a command, kill it after so many seconds of its life, and do something else on the way."""
    process = subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + after
    while time.monotonic() < until and process.poll() is None:
        next(meanwhile, None)
        time.sleep(0.05)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def writing(folder: Path, expected: dict[str, bytes], rng: random.Random) -> Iterator[None]:
    """Cyclers that write a little at a time, wherever a line may be."""
    left = dict.fromkeys(expected, 0)
    while left:
        name = rng.choice(sorted(left))
        text = expected[name]
        more = rng.randint(200, 6000)
        with (folder / name).open("ab") as file:
            file.write(text[left[name] : left[name] + more])
        left[name] += more
        if left[name] >= len(text):
            del left[name]
        yield


@pytest.fixture(scope="module")
def span(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Seconds that an ingest of the files takes here and now: kills are to fall within it, however busy the machine."""
    place = tmp_path_factory.mktemp("span")
    (place / "in").mkdir()
    for name, text in texts().items():
        (place / "in" / name).write_bytes(text)
    began = time.monotonic()
    whole = command("ingest", str(place / "in"), "--store", str(place / "lab.db"), "--name-rule", RULE)
    subprocess.run(whole, env=ENVIRONMENT, capture_output=True, check=True)
    return time.monotonic() - began


@pytest.mark.long
def test_a_watch_that_is_killed_loses_and_repeats_nothing(tmp_path: Path, span: float, *, long: bool) -> None:
    rng = random.Random(11)
    left, expected = 50 if long else 2, texts()
    while left:
        place = tmp_path / f"{left}"
        (place / "in").mkdir(parents=True)
        store, cyclers = place / "lab.db", writing(place / "in", expected, rng)
        quick = ["--name-rule", RULE, "--settle", "0.1", "--every", "0.1"]
        watch = command("watch", str(place / "in"), "--store", str(store), *quick)
        for _ in range(min(left, 5)):
            left -= 1
            killed(watch, rng.uniform(0.4, 1.6) * span, cyclers)
            if store.exists():
                sound(store, expected)
        for _ in cyclers:
            pass
        done = subprocess.run([*watch, "--once"], env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        complete(store, expected)


@pytest.mark.long
def test_an_ingest_that_is_killed_is_completed_by_the_next(
    tmp_path: Path, data: Path, span: float, *, long: bool
) -> None:
    rng = random.Random(12)
    expected = texts()
    for name, text in expected.items():
        (data / name).write_bytes(text)
    for round_ in range(50 if long else 2):
        store = tmp_path / f"{round_}.db"
        jobs = str(1 + round_ % 2)
        ingest = command("ingest", str(data), "--store", str(store), "--name-rule", RULE, "--jobs", jobs)
        killed(ingest, rng.uniform(0.4, 1.0) * span, iter(()))
        if store.exists():
            sound(store, expected)
        done = subprocess.run(ingest, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        complete(store, expected)
        again = subprocess.run([*ingest, "--json"], env=ENVIRONMENT, capture_output=True, text=True, check=True)
        assert '"5 already there"' in again.stdout


def test_a_watch_goes_on_when_the_store_is_back(
    bench: wb.Bench, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a sheet that changed meanwhile."""
    sheet = data.parent / "cells.csv"
    sheet.write_text("file,cell\na.csv,first\n")
    (data / "a.csv").write_text(cycler_text(1))
    own, left = type(bench.backend).ingest, 0

    def away(backend: LocalBackend, *given: Any, **named: Any) -> Report:
        nonlocal left
        if left:
            left -= 1
            raise StoreError("The store cannot be reached.")
        return own(backend, *given, **named)

    monkeypatch.setattr(type(bench.backend), "ingest", away)
    rounds = bench.watch(data, settle=0.0, every=0.01, sheet=sheet)
    assert next(rounds).summary == "1 stored"
    left = 3
    sheet.write_text("file,cell,batch\na.csv,first,A\n")
    (report,) = next(rounds)
    assert report.path == str(data)
    assert report.why == "The store cannot be reached. The watch goes on and tries again."
    assert next(rounds).summary == "1 updated", "said once, and the sheet is applied"
    rounds.close()  # type: ignore[attr-defined]  # it is a generator
    left = 1
    with pytest.raises(StoreError):
        list(bench.watch(data, **QUICK))
