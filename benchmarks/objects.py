"""Samples in a folder and in S3 beside the store's file: ``python benchmarks/objects.py [--full]``.

The S3 server is that of the tests, a Python program on this machine, behind a proxy that lets every request wait for
20 ms, as a bucket in the same region does. Read the ratios, and of S3 what its cache does for it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tests")]

from support.object_server import BUCKET, Proxy, environment, s3_server  # noqa: E402 - after the path

from benchmarks.profiles import decimal  # noqa: E402 - after the path
from workbench.store import Store  # noqa: E402 - after the path
from workbench.store.objects.relocate import relocate  # noqa: E402 - after the path
from workbench.store.scope import EVERYTHING  # noqa: E402 - after the path
from workbench.table import Table  # noqa: E402 - after the path

RESULT = HERE / "results" / "objects.md"
WAIT = 0.02
SERIES = 4
GATES = {"folder": 3.0, "S3, again": 4.0}
"""How many times as long as from the file an overview or a window may take at most."""


@contextmanager
def far_s3() -> Iterator[Proxy]:
    """An S3 that is 20 ms away, in the environment of this process."""
    with s3_server() as port:
        proxy = Proxy(port)

        def waits(line: str) -> str:
            time.sleep(WAIT)
            return ""

        proxy.fail = waits
        os.environ.update(environment(proxy.port))
        yield proxy
        proxy.close()


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def overviews(store: Store) -> None:
    owners = [f"m{number}" for number in range(SERIES)]
    store.objects.read_ahead(owners)
    for owner in owners:
        store.series.sample(owner, "t", ["U", "I"], most=2000, scope=EVERYTHING)


def windows(store: Store) -> None:
    for number in range(SERIES):
        info = store.series.info(f"m{number}", scope=EVERYTHING)
        rows = 0 if info is None else info.rows
        span = (0.31 * rows, 0.34 * rows)
        store.series.sample(f"m{number}", "t", ["U", "I"], window=span, most=2000, scope=EVERYTHING)


def column(store: Store) -> None:
    store.series.read("m0", ["U"], scope=EVERYTHING)


READS: dict[str, Callable[[Store], None]] = {
    f"overview of {SERIES} series, 2 columns, 2000 points": overviews,
    f"window of 3 % of {SERIES} series": windows,
    "one whole column of one series": column,
}


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--full", action="store_true", help="10 million samples a series instead of 1 million")
    full = asked.parse_args().full
    rows = 10_000_000 if full else 1_000_000
    rounds = 5
    tables = [Table.of(decimal(rows, number)) for number in range(SERIES)]
    lines, missed = [], []
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as scratch, far_s3() as proxy:
        places = {"file": None, "folder": "folder:samples", "S3": f"s3://{BUCKET}/samples"}
        paths, stored = {}, {}
        for name, place in places.items():
            paths[name] = Path(scratch, name, "lab.db")
            paths[name].parent.mkdir()
            with Store.open(paths[name]) as store:
                if place is not None:
                    relocate(store, place)

                def fill(store: Store = store) -> None:
                    for number in range(SERIES):
                        with store.series.writer(f"m{number}") as writer:
                            writer.add(tables[number])
                            writer.publish()

                stored[name] = timed(fill)
        cells = [f"{stored[name]:.2f} s" for name in places]
        ratio = [f"{stored[name] / stored['file']:.1f}x" for name in places]
        lines.append(
            f"| store {SERIES} series of {rows:,} samples | {cells[0]} | {cells[1]} ({ratio[1]}) "
            f"| {cells[2]} ({ratio[2]}) | - | - |"
        )
        for what, read in READS.items():
            times: dict[str, list[float]] = {name: [] for name in ("file", "folder", "S3", "S3, again")}
            requests = []
            for _ in range(rounds):
                for name, path in paths.items():
                    path.with_name(f"{path.name}.objects").unlink(missing_ok=True)
                    with Store.open(path) as store:
                        store.series.info("m0", scope=EVERYTHING)
                        proxy.lines.clear()
                        times[name].append(timed(lambda store=store, read=read: read(store)))  # type: ignore[misc]
                    if name == "S3":
                        requests.append(len(proxy.lines))
                        with Store.open(path) as store:
                            store.series.info("m0", scope=EVERYTHING)
                            times["S3, again"].append(timed(lambda store=store, read=read: read(store)))  # type: ignore[misc]
            took = {name: statistics.median(found) for name, found in times.items()}
            shown = [f"{1e3 * took['file']:.1f} ms"]
            for name in ("folder", "S3", "S3, again"):
                against = took[name] / took["file"]
                shown.append(f"{1e3 * took[name]:.1f} ms ({against:.1f}x)")
                if name in GATES and read is not column and against > GATES[name]:
                    missed.append(f"{what}, {name}: {against:.1f} times, at most {GATES[name]:g}")
            lines.append(f"| {what} | {' | '.join(shown)} | {statistics.median(requests):.0f} |")
        sizes = {name: _size(path.parent) for name, path in paths.items()}
    gates = ", ".join(f"{name} at most {most:g}x" for name, most in GATES.items())
    text = "\n".join(
        [
            "# Samples in a folder and in S3 beside the file",
            "",
            f"{SERIES} series of {rows:,} samples, 8 columns, on {os.cpu_count()} cores (load at the end "
            f"{os.getloadavg()[0]:.1f}); median of {rounds} rounds in turn, each with the store opened anew. S3 is "
            f"moto, a Python program on this machine, {1e3 * WAIT:.0f} ms away. `again`: with the local cache that the "
            "first read filled. `benchmarks/objects.py` makes this page.",
            "",
            "| what | file | folder | S3, nothing cached | S3, again | requests, nothing cached |",
            "|---|---|---|---|---|---|",
            *lines,
            "",
            f"On the disk: {sizes['file'] / 1e6:.1f} MB in the file; {sizes['folder'] / 1e6:.1f} MB with the folder. "
            f"Gates, for overview and window: {gates}; "
            f"{'missed: ' + '; '.join(missed) if missed else 'all kept'}.",
            "",
        ]
    )
    RESULT.write_text(text)
    print(text)
    return 1 if missed else 0


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
