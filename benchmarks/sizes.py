"""The same questions to a store of a hundred tests and to one of ten thousand: ``python benchmarks/sizes.py [--full]``.

Each size is ingested from files into a file of SQLite by processes. The small one is also ingested into PostgreSQL with
S3 by a Dask cluster; the large one is copied there, which takes less time. The questions are asked in turn, small and
large, file and PostgreSQL. PostgreSQL and the S3 server are those of the tests; its tables are analysed before, as a
server does by itself.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tests")]

import distributed  # noqa: E402 - after the path
import psycopg  # noqa: E402 - after the path
from support.many_files import write  # noqa: E402 - after the path
from support.object_server import BUCKET, environment, s3_server  # noqa: E402 - after the path
from support.postgres import server as postgres  # noqa: E402 - after the path

import workbench as wb  # noqa: E402 - after the path
from benchmarks.life import TESTS as SMALL  # noqa: E402 - after the path
from benchmarks.life import life  # noqa: E402 - after the path
from workbench.recipe.check import sound  # noqa: E402 - after the path
from workbench.records import Instance  # noqa: E402 - after the path
from workbench.store import Store  # noqa: E402 - after the path
from workbench.store.objects.copying import copy_store  # noqa: E402 - after the path
from workbench.store.objects.relocate import keep_samples  # noqa: E402 - after the path

RESULT = HERE / "results" / "sizes.md"
ROUNDS = 40
MOST = 1.5
"""How many times as long as in the small store a question may take in the large one."""
FILE, POSTGRES = "SQLite, one file", "PostgreSQL and S3"
NUMBER = count(int(time.time()))


class Made(NamedTuple):
    """A store that was filled with so many tests."""

    bench: wb.Bench
    seconds: float
    bytes: int
    tests: int


def questions(bench: wb.Bench, number: int) -> dict[str, Callable[[], object]]:
    """What is asked. A dashboard has six plots."""
    backend = bench.backend
    saved = [sound(life(k)) for k in range(6)]

    def board_again() -> None:
        for config in saved:
            backend.figure(config, {})

    return {
        "a list of 100 tests": lambda: bench.measurements.list(limit=100),
        "a page of 25 cells, with the total": lambda: backend.store.rows.page(Instance, backend.scope, limit=25),
        "search, one hit": lambda: bench.find(f"cell{number - 7:05d}"),
        "search, every cell": lambda: bench.find("cell0"),
        "search, two letters": lambda: bench.find("ce"),
        "a dashboard of six plots, from the cache": board_again,
        "a figure of 100 tests that no cache has": lambda: backend.figure(sound(life(next(NUMBER))), {}),
    }


def filled(place: str | Path, files: Path, executor: str | None, size: Callable[[], int]) -> Made:
    """Ingest the files; how long it took, and how many bytes it added."""
    bench = wb.open(place, **({} if executor is None else {"executor": executor}))
    before, began = size(), time.perf_counter()
    report = bench.ingest(
        files, specification="S", rating="1Ah,3V,4.2V", name_rule="{cell}_{test}", jobs=os.cpu_count()
    )
    took = time.perf_counter() - began
    assert len(report.stored) == len(list(files.iterdir())), report
    return Made(bench, took, size() - before, len(report.stored))


def copied(source: Path, address: str, tests: int) -> Made:
    """Copy a store to PostgreSQL and S3; how long it took."""
    began = time.perf_counter()
    with Store.open(source) as store:
        copy_store(store, address, f"s3://{BUCKET}/copied")
    took = time.perf_counter() - began
    return Made(wb.open(address), took, of_postgres(address), tests)


def of_postgres(place: str) -> int:
    """Bytes of the tables and indexes of a store, and of its large objects' tables."""
    with Store.open(place, read_only=True) as store:
        query = "select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class where relnamespace = "
        row = store.execute(
            f"{query}(select oid from pg_namespace where nspname = current_schema()) and relkind = 'r'"
        )
        return int(row.fetchone()[0])


def least(asked: dict[str, dict[str, Callable[[], object]]]) -> dict[str, dict[str, float]]:
    """Question -> store -> the least of all rounds in ms, all asked once a round, in turn. The others say what
    else the machine does."""
    names = list(next(iter(asked.values())))
    times: dict[str, dict[str, list[float]]] = {name: {store: [] for store in asked} for name in names}
    for turn in range(ROUNDS + 2):
        for name in names:
            for store in list(asked)[:: 1 if turn % 2 else -1]:
                began = time.perf_counter()
                asked[store][name]()
                times[name][store].append((time.perf_counter() - began) * 1e3)
    return {name: {store: min(took[2:]) for store, took in per.items()} for name, per in times.items()}


def main() -> int:
    """Make the page; 1 if a question takes more than `MOST` times as long in the large store."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--full", action="store_true", help="10 000 tests instead of 2 000")
    asked.add_argument("--tests", type=int, help="so many tests in the large store")
    chosen = asked.parse_args()
    large = chosen.tests or (10_000 if chosen.full else 2_000)
    sizes = (SMALL, large)
    made: dict[str, Made] = {}
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as name, ExitStack() as stack:
        scratch = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(scratch / "cache")
        os.environ.update(environment(stack.enter_context(s3_server())))
        cluster = stack.enter_context(
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
        )
        dask = cluster.scheduler_address.replace("tcp://", "dask://")
        for number in sizes:
            files = scratch / f"files{number}"
            write(files, number)
            path = scratch / f"{number}.db"
            made[f"{FILE}, {number}"] = filled(path, files, None, lambda path=path: _bytes(path))
            address = postgres().address(f"n{number}")
            if number != SMALL:
                made[f"{POSTGRES}, {number}"] = copied(path, address, number)
                continue
            with Store.open(address) as store:
                keep_samples(store, f"s3://{BUCKET}/n{number}")
            made[f"{POSTGRES}, {number}"] = filled(
                address, files, dask, lambda address=address: of_postgres(address)
            )
        with psycopg.connect(postgres().address().partition("&schema")[0], autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        for one in made.values():
            stack.callback(one.bench.close)
        took = least({name: questions(one.bench, int(name.rpartition(" ")[2])) for name, one in made.items()})
    lines, missed = [], []
    for question, per in took.items():
        cells = []
        for place in (FILE, POSTGRES):
            ratio = per[f"{place}, {large}"] / per[f"{place}, {SMALL}"]
            cells.append(f"{per[f'{place}, {SMALL}']:.1f} | {per[f'{place}, {large}']:.1f} | {ratio:.2f}")
            if ratio > MOST:
                missed.append(f"{question} ({place}): {ratio:.2f}")
        lines.append(f"| {question} | {' | '.join(cells)} |")
    filling = [
        f"| {name} tests{', copied from the file' * (name == f'{POSTGRES}, {large}')} | {one.seconds:.1f} s | "
        f"{one.tests / one.seconds:.0f} | {one.bytes / one.tests / 1e3:.1f} kB |"
        for name, one in made.items()
    ]
    page = [
        "# A hundred tests and many",
        "",
        f"Each test is a file of 48 samples with three cycles, of a cell of its own; {os.cpu_count()} cores (load at",
        f"the end {os.getloadavg()[0]:.1f}). ms on the clock, the least of {ROUNDS} rounds, in turn over all stores.",
        "`python benchmarks/sizes.py --full` makes this page.",
        "",
        f"| question | file: {SMALL} tests | {large} | ratio | PostgreSQL: {SMALL} tests | {large} | ratio |",
        "|---|---|---|---|---|---|---|",
        *lines,
        "",
        f"Gate: at most {MOST:g} times as long; {'missed: ' + '; '.join(missed) if missed else 'kept by all'}.",
        "",
        "| filled | took | tests a second | bytes a test |",
        "|---|---|---|---|",
        *filling,
        "",
    ]
    RESULT.write_text("\n".join(page), "utf-8")
    print("\n".join(page))
    return 1 if missed else 0


def _bytes(path: Path) -> int:
    return sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*") if one.suffix != ".objects")


if __name__ == "__main__":
    sys.exit(main())
