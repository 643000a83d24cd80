"""Growth, kill and restart, again and again: what alerts find is there once, and each message arrives under one id."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support.alert_case import grow, make, watch_cycles
from support.hook_server import Hook, hook_server

import workbench as wb
from workbench.alerts.thread import AlertThread

ROUNDS, LONG_ROUNDS = 3, 30
CHILD = """
import sys
import workbench as wb
from support.alert_case import grow
from workbench.alerts.thread import AlertThread
with wb.open(sys.argv[1]) as bench:
    thread = AlertThread(bench.backend.store, None)
    while True:
        print("grow", flush=True)
        grow(bench, sys.argv[2])
        print("send", flush=True)
        thread.turn()
"""


def killed(path: Path, test: str, lines: int) -> None:
    """A process that grows the test and sends messages, killed after it began so many things."""
    environment = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
    code = f"import sys; sys.path[:0] = {environment!r}\n{CHILD}"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path), test], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        for _ in range(lines):
            assert child.stdout.readline() in ("grow\n", "send\n")
        child.kill()


def check(bench: wb.Bench, hook: Hook, known: int) -> None:
    """All cycles but those that were there before the alert were found once, sent, and noted in the audit log."""
    cycles = len(bench.measurements.cycles(bench.measurements.list()["id"][0]))
    found = bench.alerts.occurrences()
    assert sorted(one["Cycle count"] for one in found["key"]) == list(range(known, cycles))
    assert set(found["delivery"]) == {"delivered"}
    assert set(hook.ids) == set(found["id"])
    store = bench.backend.store  # type: ignore[attr-defined]
    log = store.people.audit_log(bench.backend.organization.id, limit=10_000)  # type: ignore[attr-defined]
    noted = Counter(entry["target"] for entry in log if entry["action"] == "alert")
    assert noted == Counter(found["id"])


@pytest.mark.long
def test_each_is_found_once(tmp_path: Path, long: bool) -> None:
    path, chance = tmp_path / "lab.db", random.Random(6)
    with hook_server() as hook:
        with wb.open(path) as bench:
            test = make(bench, 2)
            bench.alerts.allow(hook.url, private=True)
            watch_cycles(bench, webhook=hook.url)
        for _ in range(LONG_ROUNDS if long else ROUNDS):
            killed(path, test, chance.randint(1, 7))
        with wb.open(path) as bench:
            grow(bench, test)
            with bench.backend.store.transaction() as db:  # type: ignore[attr-defined]
                db.execute("update alert_deliveries set next_at = 1 where next_at is not null")
            AlertThread(bench.backend.store, None).turn()  # type: ignore[attr-defined]
            check(bench, hook, known=2)
            assert bench.verify() == []
