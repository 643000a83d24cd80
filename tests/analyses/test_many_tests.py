"""Many small tests: the run is killed, goes on, is stopped, goes on, and nothing is computed twice; the same again
reads no record whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.small_ageing_test import CYCLES, small_test

import workbench as wb
from workbench.records import Analysis

CHILD = """
import sys
import workbench as wb

with wb.open(sys.argv[1]) as bench:
    bench.analyse("capacity_by_step", progress=lambda done, of, name: print(done, of, flush=True))
"""


def filled(path: Path, tests: int) -> None:
    ratings = {"capacity": {"value": 1.0, "unit": "A.h"}, "voltage_min": {"value": 3.0, "unit": "V"}}
    with wb.open(path) as bench:
        bench.specifications.create(name="cell", ratings={**ratings, "voltage_max": {"value": 4.2, "unit": "V"}})
        cell = bench.instances.create(name="cell", specification="cell")
        for number in range(tests):
            made = bench.measurements.create(
                name=f"test {number}", instance=cell, time_series=small_test(number), sign="discharge"
            )
            assert made.cycle_count == CYCLES


def killed_after(path: Path, done: int) -> int:
    """Run the analysis in a process of its own, which is killed once so many are done; gives the number in all."""
    command = [sys.executable, "-c", CHILD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            seen, of = map(int, line.split())
            if seen >= done:
                os.kill(child.pid, signal.SIGKILL)
                return of
        raise AssertionError("the run ended before it was killed")


def states(bench: wb.Bench) -> dict[str, object]:
    """The records of the analysis: id -> when it was changed."""
    listed = bench.analyses.list(analysis_type="capacity_by_step", fields=["id", "updated_at"])
    return dict(zip(listed["id"], listed["updated_at"], strict=True))


@pytest.mark.parametrize("tests", [24, pytest.param(1000, marks=pytest.mark.long)])
def test_a_run_is_killed_stopped_and_goes_on_and_nothing_is_done_twice(tmp_path: Path, tests: int) -> None:
    filled(tmp_path / "many.db", tests)
    with wb.open(tmp_path / "many.db") as bench:
        assert len(bench.analyse("kinds").computed) == tests
    assert killed_after(tmp_path / "many.db", tests // 4) == tests
    with wb.open(tmp_path / "many.db") as bench:
        assert bench.verify() == []
        first = states(bench)
        assert tests // 4 <= len(first) < tests
        stop, told = threading.Event(), []

        def until_half(done: int, of: int, name: str) -> None:
            told.append((done, of, name))
            if done >= tests // 2:
                stop.set()

        second = bench.analyse("capacity_by_step", progress=until_half, cancel=stop)
        assert second.cancelled
        assert second.unchanged == len(first)
        assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
        assert {of for _, of, _ in told} == {tests}
        kept = states(bench)
        assert len(kept) == len(first) + len(second.computed)
        rest = bench.analyse("capacity_by_step")
        assert (rest.cancelled, rest.invalid, rest.unchanged) == (False, {}, len(kept))
        last = states(bench)
        assert len(last) == tests
        assert {id: last[id] for id in kept} == kept
        assert {id: kept[id] for id in first} == first
        of = bench.analyses.list(analysis_type="capacity_by_step", fields=["measurement_id"])["measurement_id"]
        assert of.nunique() == tests
        assert bench.verify() == []


def test_the_same_again_reads_no_record_whole(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps the same again at a small part of the first run: reading records whole was most of its time."""
    with wb.open(demo_copy) as bench:
        bench.analyse("retention")
        monkeypatch.setattr(Analysis, "model_validate", _refused)
        again = bench.analyse("retention")
        assert again.computed == []
        assert again.unchanged == again.tests == 13


def _refused(*_: object) -> None:
    raise AssertionError("a record was read whole")
