"""Processor time of a request on PostgreSQL with two servers, beside one server on a file: ``python
benchmarks/two_servers.py [--full]``.

The servers run as a team starts them. Requests of each kind go to the one on the file and to the two in turn, in short
runs, so that a busy machine strikes all alike; each request is about another record, page or name. Two servers on the
file show what is due to there being two: of several processes that share a core, each finds less of its own in the
caches of the core. They are asked by people who wait for nothing, as when it matters what a request costs, and one
request after another. Then both servers are kept busy while their metrics and their readiness are asked for. PostgreSQL
is that of the tests; its own processor time is measured beside that of the servers. The whole is measured once more
while a record is changed again and again.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import NamedTuple, TypeAlias

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tests")]

import psutil  # noqa: E402 - after the path
from support.many_files import write  # noqa: E402 - after the path
from support.postgres import server as postgres  # noqa: E402 - after the path

import workbench as wb  # noqa: E402 - after the path
from benchmarks.life import TESTS, life  # noqa: E402 - after the path
from benchmarks.server import Connection, serving  # noqa: E402 - after the path

RESULT = HERE / "results" / "two_servers.md"
MOST = 1.3
"""How much more processor time a request may take on PostgreSQL than on a file."""
CLIENTS, LONGEST_READY_S = 8, 2.0
FILE, FILE_TWICE, POSTGRES = "SQLite, one server", "SQLite, two servers", "PostgreSQL, two servers"
DATABASE = "PostgreSQL itself"
PEOPLE = {f"{CLIENTS} people at once": CLIENTS, "one after another": 1}
CHANGES_A_SECOND = 20
CHANGING = f"{CLIENTS} people, {CHANGES_A_SECOND} changes a second"
CHANGE = """
import sys, time
import workbench as wb
from workbench.records import Instance
with wb.open(sys.argv[1]) as bench:
    rows, scope = bench.backend.store.rows, bench.backend.scope
    cell, number = rows.page(Instance, scope, limit=1).items[0], 0
    while True:
        number += 1
        rows.update(Instance, cell.id, {"notes": f"seen {number}"}, scope)
        print(number, flush=True)
        time.sleep(float(sys.argv[2]))
"""
Asked: TypeAlias = tuple[str, str, bytes | None]


class Side(NamedTuple):
    """A store that is served: its servers, their processes, and what is asked of them."""

    name: str
    processes: list[int]
    addresses: list[str]
    asked: dict[str, list[Asked]]
    keys: list[str]

    def address(self, number: int) -> str:
        """The server of a person."""
        return self.addresses[number % len(self.addresses)]


def filled(place: str | Path, files: Path) -> tuple[list[str], dict[str, list[Asked]]]:
    """Ingest the files: a key for each person, and what is asked of the servers: several requests of each kind."""
    with wb.open(place) as bench:
        bench.ingest(
            files, specification="S", rating="1Ah,3V,4.2V", name_rule="{cell}_{test}", jobs=os.cpu_count()
        )
        board = bench.dashboards.create("Bench")
        plot = board.save("life", life())
        ids = bench.measurements.list(limit=TESTS)["id"]
        work = bench.backend
        people = work.store.people
        keys = [people.issue(work.organization.id, work.actor).key for _ in range(CLIENTS)]
        of = f"/projects/{work.project.id}"
        pages = range(0, TESTS, 25)
        search = f"/search?project_id={work.project.id}&q="
        return keys, {
            "a record": [("GET", f"/cell_measurements/{id}", None) for id in ids],
            "a list of 25": [("GET", f"{of}/records/measurements?limit=25&offset={n}", None) for n in pages],
            "a figure from the cache": [("POST", f"{of}/dashboards/{board.id}/plots/{plot.id}/figure", b"{}")],
            "a search": [("GET", f"{search}cell{n:05}", None) for n in range(TESTS)],
        }


def spent(processes: list[int]) -> float:
    """Processor time of these processes and of those that they started, in s."""
    total = 0.0
    for number in processes:
        one = psutil.Process(number)
        for process in (one, *one.children(recursive=True)):
            with suppress(psutil.NoSuchProcess, OSError):
                # The clock of a process on Linux: to the nanosecond, where its times of user and system have 10 ms.
                total += time.clock_gettime((~process.pid << 3) | 2)
    return total


def of_postgres() -> list[int]:
    """The processes of the server of PostgreSQL."""
    folder = str(postgres().folder)
    return [
        one.pid
        for one in psutil.process_iter(["cmdline"])
        if "-D" in (words := one.info["cmdline"] or []) and any(folder in word for word in words)
    ]


def run(people: list[Connection], asked: list[list[Asked]]) -> None:
    """Each of these people asks for theirs, one after another."""

    def ask(connection: Connection, requests: list[Asked]) -> None:
        for request in requests:
            connection.ask(*request)

    at_work = [threading.Thread(target=ask, args=one) for one in zip(people, asked, strict=True)]
    for thread in at_work:
        thread.start()
    for thread in at_work:
        thread.join()


def measured(sides: list[Side], rounds: int, in_a_run: int, people: int) -> dict[str, dict[str, list[float]]]:
    """Question -> side, or PostgreSQL itself -> processor time of a request in each round, in ms."""
    database = of_postgres()
    found: dict[str, dict[str, list[float]]] = {}
    connections = {
        side.name: [Connection(side.address(n), side.keys[n]) for n in range(max(people, len(side.addresses)))]
        for side in sides
    }
    for question in sides[0].asked:
        per = found[question] = {name: [] for name in (*(one.name for one in sides), DATABASE)}
        for turn in range(rounds + 2):
            for side in sides[:: 1 if turn % 2 else -1]:
                own, every = connections[side.name], side.asked[question]
                requests = [every[(turn * in_a_run + n) % len(every)] for n in range(in_a_run)]
                before, before_database = spent(side.processes), spent(database)
                if people == 1:  # the servers take turns
                    for n, request in enumerate(requests):
                        own[n % len(own)].ask(*request)
                else:
                    run(own, [requests[n::people] for n in range(people)])
                if turn >= 2:  # caches and prepared statements are there
                    per[side.name].append((spent(side.processes) - before) * 1e3 / in_a_run)
                    if side.name == POSTGRES:
                        per[DATABASE].append((spent(database) - before_database) * 1e3 / in_a_run)
    return found


@contextmanager
def changing(places: Iterable[str | Path]) -> Iterator[None]:
    """Meanwhile a process changes a cell of each store again and again."""
    words = [sys.executable, "-c", CHANGE]
    pause = str(1 / CHANGES_A_SECOND)
    writers = [
        subprocess.Popen([*words, str(place), pause], stdout=subprocess.PIPE, cwd=HERE.parent) for place in places
    ]
    over = threading.Event()

    def read(writer: subprocess.Popen[bytes]) -> None:
        while not over.is_set() and writer.stdout and writer.stdout.readline():
            pass

    try:
        for writer in writers:
            if writer.stdout is None or not writer.stdout.readline():
                raise RuntimeError("the process that changes a store ended")
            threading.Thread(target=read, args=[writer], daemon=True).start()
        yield
    finally:
        over.set()
        for writer in writers:
            writer.kill()
            writer.wait()


def table(found: dict[str, dict[str, list[float]]]) -> tuple[list[str], list[str]]:
    """The lines of a table, and what takes more than `MOST` times that of one server on a file. A ratio is the median
    of those of the rounds."""
    lines, missed = [], []
    for question, per in found.items():
        ms = {name: statistics.median(each) for name, each in per.items()}
        ratios = {
            other: statistics.median(ours / one for ours, one in zip(per[POSTGRES], per[other], strict=True))
            for other in (FILE, FILE_TWICE)
        }
        costs = " | ".join(f"{ms[name]:.2f}" for name in (FILE, FILE_TWICE, POSTGRES))
        lines.append(
            f"| {question} | {costs} | {ratios[FILE]:.2f} | {ratios[FILE_TWICE]:.2f} | {ms[DATABASE]:.2f} |"
        )
        if ratios[FILE] > MOST:
            missed.append(f"{question}: {ratios[FILE]:.2f}")
    return lines, missed


def under_load(side: Side, seconds: float) -> tuple[int, list[float]]:
    """How many requests people made, and the seconds that metrics and readiness took meanwhile."""
    stop, made = threading.Event(), [0] * CLIENTS

    def person(number: int) -> None:
        one = Connection(side.address(number), side.keys[number])
        for question in cycle([request for requests in side.asked.values() for request in requests[:4]]):
            if stop.is_set():
                return
            one.ask(*question)
            made[number] += 1

    people = [threading.Thread(target=person, args=[number]) for number in range(CLIENTS)]
    for one in people:
        one.start()
    took: list[float] = []
    began = time.monotonic()
    asked = [Connection(side.address(n), side.keys[n]) for n in range(len(side.addresses))]
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
    rounds, in_a_run, busy = (20, 80, 20.0) if full else (5, 80, 5.0)
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as name, ExitStack() as stack:
        scratch = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(scratch / "cache")
        files = scratch / "files"
        write(files, TESTS)
        on_file, on_postgres = scratch / "one.db", postgres().address()
        made = {place: filled(place, files) for place in (on_file, on_postgres)}
        sides = []
        for side, place, number in ((FILE, on_file, 1), (FILE_TWICE, on_file, 2), (POSTGRES, on_postgres, 2)):
            keys, asked = made[place]
            serve = ["--store", str(place), "--metrics"]
            servers = [stack.enter_context(serving(serve)) for _ in range(number)]
            for address, _ in servers:
                connection = Connection(address, keys[0])
                for requests in asked.values():
                    connection.ask(*requests[0])
            sides.append(Side(side, [pid for _, pid in servers], [one for one, _ in servers], asked, keys))
        found = {how: measured(sides, rounds, in_a_run, people) for how, people in PEOPLE.items()}
        with changing(made):
            found[CHANGING] = measured(sides, max(5, rounds // 2), in_a_run, CLIENTS)
        requests_made, took = under_load(sides[-1], busy)
    tables, missed = [], []
    for how, one in found.items():
        lines, over = table(one)
        missed += [f"{text} ({how})" for text in over if how in PEOPLE]
        tables += [
            f"| {how} | {FILE} | {FILE_TWICE} | {POSTGRES} | to one on a file | to two | {DATABASE} |",
            "|---|---|---|---|---|---|---|",
            *lines,
            "",
        ]
    slowest = max(took)
    if slowest > LONGEST_READY_S:
        missed.append(f"metrics and readiness took up to {slowest:.1f} s")
    page = [
        "# Two servers on PostgreSQL",
        "",
        f"Processor time of the servers for a request, ms; {TESTS} tests; medians of {rounds} rounds of {in_a_run}",
        f"requests for each kind and side, in turn; {os.cpu_count()} cores (load at the end {os.getloadavg()[0]:.1f}).",
        "The ratios are those of PostgreSQL to the others, as the medians of those of the rounds.",
        "`python benchmarks/two_servers.py --full` makes this page.",
        "",
        *tables,
        f"Under load ({CLIENTS} people without a pause, {requests_made} requests in {busy:g} s) both servers answered "
        f"`/readyz` and `/metrics` {len(took)} times: median {statistics.median(took) * 1e3:.0f} ms, longest "
        f"{slowest * 1e3:.0f} ms.",
        "",
        f"Gate: at most {MOST:g} times the processor time of one server on a file, and an answer of both within "
        f"{LONGEST_READY_S:g} s; {'missed: ' + '; '.join(missed) if missed else 'kept by all'}.",
        "",
        "One after another, two processes that take turns cost more than one, on a file as well: while one waits, the",
        "cores forget what it had. The ratio to two servers on a file shows what is due to PostgreSQL alone.",
        "While somebody changes records, less is remembered, on a file as well; no gate is about that.",
        "",
    ]
    RESULT.write_text("\n".join(page), "utf-8")
    print("\n".join(page))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
