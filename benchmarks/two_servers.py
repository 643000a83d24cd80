"""Processor time of a request on PostgreSQL with two servers, beside one server on a file: ``python
benchmarks/two_servers.py [--full]``.

The servers run as a team starts them. Requests of each kind go to the one on the file and to the two in turn, in short
runs, so that a busy machine strikes all alike. Then both servers are kept busy while their metrics and their readiness
are asked for. PostgreSQL is that of the tests; its own processor time is measured beside that of the servers.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tests")]

import psutil  # noqa: E402 - after the path
from support.many_files import write  # noqa: E402 - after the path
from support.postgres import server as postgres  # noqa: E402 - after the path

import workbench as wb  # noqa: E402 - after the path
from benchmarks.server import Connection, serving  # noqa: E402 - after the path

RESULT = HERE / "results" / "two_servers.md"
TESTS = 100
MOST = 1.3
"""How much more processor time a request may take on PostgreSQL than on a file."""
CLIENTS, LONGEST_READY_S = 8, 2.0
FILE, POSTGRES, DATABASE = "SQLite, one server", "PostgreSQL, two servers", "database"
DRAW = """
def transform(data, params):
    table = data["life"]
    return {"data": [{"type": "scatter", "x": table["Cycle count"], "y": table["Discharge capacity [A.h]"]}]}
"""


class Side(NamedTuple):
    """A store that is served: connections to its servers, their processes, and what is asked of them."""

    name: str
    connections: list[Connection]
    processes: list[int]
    addresses: list[str]
    asked: dict[str, tuple[str, str, bytes | None]]
    key: str

    def address(self, number: int) -> str:
        """The server of a person."""
        return self.addresses[number % len(self.addresses)]


def life() -> dict[str, object]:
    """A recipe over the cycles of a hundred tests."""
    steps = {
        "tests": {"op": "list", "source": "measurements", "limit": 100},
        "life": {
            "op": "summary",
            "source": "measurements",
            "ids": {"from": "tests", "column": "id"},
            "dataset": "cycles",
            "columns": ["Cycle count", "Discharge capacity [A.h]"],
        },
    }
    return {"plan": {"steps": steps}, "transform": DRAW}


def filled(place: str | Path, files: Path) -> tuple[str, dict[str, tuple[str, str, bytes | None]]]:
    """Ingest the files: a key, and what is asked of the servers."""
    with wb.open(place) as bench:
        bench.ingest(
            files, specification="S", rating="1Ah,3V,4.2V", name_rule="{cell}_{test}", jobs=os.cpu_count()
        )
        board = bench.dashboards.create("Bench")
        plot = board.save("life", life())
        id = bench.measurements.list(limit=1)["id"][0]
        work = bench.backend
        key = work.store.people.issue(work.organization.id, work.actor).key
        of = f"/projects/{work.project.id}"
        return key, {
            "a record": ("GET", f"/cell_measurements/{id}", None),
            "a list of 25": ("GET", f"{of}/records/measurements?limit=25", None),
            "a figure from the cache": ("POST", f"{of}/dashboards/{board.id}/plots/{plot.id}/figure", b"{}"),
            "a search": ("GET", f"/search?q=cell00042&project_id={work.project.id}", None),
        }


def spent(processes: list[int]) -> float:
    """Processor time of these processes and of those that they started, in s."""
    total = 0.0
    for number in processes:
        one = psutil.Process(number)
        for process in (one, *one.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                used = process.cpu_times()
                total += used.user + used.system
    return total


def of_postgres() -> list[int]:
    """The processes of the server of PostgreSQL."""
    folder = str(postgres().folder)
    return [
        one.pid
        for one in psutil.process_iter(["cmdline"])
        if "-D" in (words := one.info["cmdline"] or []) and any(folder in word for word in words)
    ]


def measured(sides: list[Side], rounds: int, in_a_run: int) -> dict[str, dict[str, float]]:
    """Question -> side, or PostgreSQL itself -> processor time of a request in ms."""
    database = of_postgres()
    found: dict[str, dict[str, float]] = {}
    for question in sides[0].asked:
        total = dict.fromkeys([*(one.name for one in sides), DATABASE], 0.0)
        for turn in range(rounds + 2):
            for side in sides[:: 1 if turn % 2 else -1]:
                before, before_database = spent(side.processes), spent(database)
                for n in range(in_a_run):
                    side.connections[n % len(side.connections)].ask(*side.asked[question])
                if turn >= 2:  # caches and prepared statements are there
                    total[side.name] += spent(side.processes) - before
                    total[DATABASE] += spent(database) - before_database
        found[question] = {name: seconds * 1e3 / (rounds * in_a_run) for name, seconds in total.items()}
    return found


def under_load(side: Side, seconds: float) -> tuple[int, list[float]]:
    """How many requests people made, and the seconds that metrics and readiness took meanwhile."""
    stop, made = threading.Event(), [0] * CLIENTS

    def person(number: int) -> None:
        one = Connection(side.address(number), side.key)
        for question in cycle(side.asked.values()):
            if stop.is_set():
                return
            one.ask(*question)
            made[number] += 1

    people = [threading.Thread(target=person, args=[number]) for number in range(CLIENTS)]
    for one in people:
        one.start()
    took: list[float] = []
    began = time.monotonic()
    asked = [Connection(side.address(n), side.key) for n in range(len(side.addresses))]
    try:
        while time.monotonic() - began < seconds:
            for one in asked:
                for path in ("/readyz", "/metrics"):
                    before = time.perf_counter()
                    one.ask("GET", path)
                    took.append(time.perf_counter() - before)
            time.sleep(0.1)
    finally:
        stop.set()
        for person_at_work in people:
            person_at_work.join()
    return sum(made), took


def main() -> int:
    """Make the page; 1 if a gate is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="more rounds")
    full = parser.parse_args().full
    rounds, in_a_run, busy = (30, 40, 20.0) if full else (8, 40, 5.0)
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as name, ExitStack() as stack:
        scratch = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(scratch / "cache")
        files = scratch / "files"
        write(files, TESTS)
        sides = []
        for side, place, number in ((FILE, scratch / "one.db", 1), (POSTGRES, postgres().address(), 2)):
            key, asked = filled(place, files)
            serve = ["--store", str(place), "--metrics"]
            servers = [stack.enter_context(serving(serve)) for _ in range(number)]
            connections = [Connection(address, key) for address, _ in servers]
            for connection in connections:
                for question in asked.values():
                    connection.ask(*question)
            sides.append(
                Side(side, connections, [pid for _, pid in servers], [one for one, _ in servers], asked, key)
            )
        found = measured(sides, rounds, in_a_run)
        requests, took = under_load(sides[1], busy)
    lines, missed = [], []
    for question, per in found.items():
        ratio = per[POSTGRES] / per[FILE]
        lines.append(f"| {question} | {per[FILE]:.2f} | {per[POSTGRES]:.2f} | {ratio:.2f} | {per[DATABASE]:.2f} |")
        if ratio > MOST:
            missed.append(f"{question}: {ratio:.2f}")
    slowest = max(took)
    if slowest > LONGEST_READY_S:
        missed.append(f"metrics and readiness took up to {slowest:.1f} s")
    page = [
        "# Two servers on PostgreSQL",
        "",
        f"Processor time of the servers for a request, ms; {TESTS} tests; {rounds} rounds of {in_a_run} requests for",
        f"each kind and side, in turn; {os.cpu_count()} cores (load at the end {os.getloadavg()[0]:.1f}).",
        "`python benchmarks/two_servers.py --full` makes this page.",
        "",
        f"| request | {FILE} | {POSTGRES} | ratio | PostgreSQL itself |",
        "|---|---|---|---|---|",
        *lines,
        "",
        f"Under load ({CLIENTS} people without a pause, {requests} requests in {busy:g} s) both servers answered "
        f"`/readyz` and `/metrics` {len(took)} times: median {statistics.median(took) * 1e3:.0f} ms, longest "
        f"{slowest * 1e3:.0f} ms.",
        "",
        f"Gate: at most {MOST:g} times the processor time of one server on a file, and an answer of both within "
        f"{LONGEST_READY_S:g} s; {'missed: ' + '; '.join(missed) if missed else 'kept by all'}.",
        "",
    ]
    RESULT.write_text("\n".join(page), "utf-8")
    print("\n".join(page))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
