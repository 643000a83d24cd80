"""The store beside its peers, in one run: ``python benchmarks/store.py [--full]``.

Every operation runs on all contenders in turn, several rounds, so that a busy machine strikes all alike; read
the ratios. The table goes to the screen and to ``benchmarks/results/store.md``.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import profiles
from numpy.typing import NDArray
from peers import CONTENDERS, Columns, Contender, DuckDB, Ours, minmax_union, minmaxlttb_union

from workbench.store import Store
from workbench.store.scope import EVERYTHING
from workbench.store.series import compiled
from workbench.table import Table

MOST = 2000
HERE = Path(__file__).resolve().parent


@dataclass
class Report:
    """Lines of the table: operation, ours, the best peer, ratio, gate, verdict."""

    lines: list[list[str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def add(
        self, what: str, ours: str, peers: str, measure: float, gate: float, aim: float, *, low: bool = False
    ) -> None:
        """A gate is a least measure, or with ``low`` a greatest one; so is the aim."""
        sign = "<=" if low else ">="

        def holds(bound: float) -> bool:
            return measure <= bound if low else measure >= bound

        verdict = "good" if holds(aim) else "holds" if holds(gate) else "MISSED"
        if verdict == "MISSED":
            self.failed.append(what)
        self.lines.append([what, ours, peers, f"{measure:.3g}", f"{sign} {gate:g}", f"{sign} {aim:g}", verdict])
        print(" | ".join(self.lines[-1]), flush=True)

    def text(self, head: str) -> str:
        titles = ["operation", "ours", "peers", "measure", "gate", "aim", ""]
        rows = [titles, ["---"] * len(titles), *self.lines]
        return head + "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def interleaved(work: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The median time of each, in seconds, over rounds in which all take turns."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(rounds + 1):
        for name, call in work.items():
            gc.collect()
            begin = time.perf_counter()
            call()
            if turn:
                times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(found) for name, found in times.items()}


def ratios(times: Mapping[str, float]) -> tuple[str, str, dict[str, float]]:
    """Ours in ms, the peers as multiples of it, and these as numbers."""
    mine = times[Ours.name]
    others = {name: seconds / mine for name, seconds in times.items() if name != Ours.name}
    return f"{mine * 1e3:.3g} ms", ", ".join(f"{name} {ratio:.2f}x" for name, ratio in others.items()), others


def ingest(report: Report, folder: Path, rounds: int) -> None:
    made = {"decimal": profiles.decimal(1_000_000, 1), "float": profiles.single(1_000_000, 2)}
    times: dict[str, list[float]] = {kind.name: [] for kind in CONTENDERS}
    processor: dict[str, list[float]] = {kind.name: [] for kind in CONTENDERS}
    sizes: dict[str, dict[str, float]] = {"decimal": {}, "float": {}}
    for turn in range(rounds):
        for kind in CONTENDERS:
            spent = computed = 0.0
            for name, columns in made.items():
                place = folder / f"ingest{turn}{kind.__name__}{name}"
                place.mkdir()
                contender = kind(place)
                gc.collect()
                begin, before = time.perf_counter(), time.process_time()
                contender.ingest("one", columns)
                spent += time.perf_counter() - begin
                computed += time.process_time() - before
                sizes[name][kind.name] = contender.bytes() / 1_000_000
                shutil.rmtree(place)
            times[kind.name].append(spent)
            processor[kind.name].append(computed)
    # Some write with two threads and some with one, so what counts is the work; the clock has a gate that is wider.
    for what, found, gate in (("second of the processor", processor, 1.0), ("second", times, 0.7)):
        best = {name: min(each) for name, each in found.items()}
        _, words, others = ratios(best)
        rate = f"{2 / best[Ours.name]:.3g} Mrow"
        report.add(f"ingest, for each {what}", rate, words, min(others.values()), gate, 1)
    for name, gate, aim in (("decimal", 3.0, 2.0), ("float", 10.0, 9.0)):
        mine = sizes[name][Ours.name]
        peers = {key: size for key, size in sizes[name].items() if key != Ours.name}
        words = ", ".join(f"{key} {size:.3g}" for key, size in peers.items())
        report.add(f"bytes a row, {name}", f"{mine:.3g}", words, mine, gate, aim, low=True)
    share = sizes["decimal"][Ours.name] / min(v for k, v in sizes["decimal"].items() if k != Ours.name)
    report.add("bytes a row, decimal, share of the smallest peer", f"{share:.2f}", "", share, 0.5, 0.4, low=True)


def keeps_contract(columns: Columns, whole: Columns, names: list[str]) -> bool:
    ends = all(columns[n][0] == whole[n][0] and columns[n][-1] == whole[n][-1] for n in names)
    extremes = all(
        columns[n].min() == whole[n].min() and columns[n].max() == whole[n].max() for n in names if n != "t"
    )
    return ends and extremes and MOST / 2 <= len(columns["t"]) <= MOST


@dataclass(frozen=True)
class Asked:
    """What is asked of each contender, in how many rounds, and the least and the wanted ratio."""

    work: Callable[[Contender], object]
    rounds: int
    gate: float
    aim: float


def reduce_all(ids: Sequence[str], window: tuple[float, float] | None, contender: Contender) -> None:
    for one in ids:
        contender.reduced(one, "t", ["U", "I"], MOST, window)


def by_numpy(work: Callable[[], object]) -> None:
    """The same by the code that is used where the loops are not compiled."""
    found, compiled.LOOPS = compiled.LOOPS, None
    try:
        work()
    finally:
        compiled.LOOPS = found


def reads(report: Report, folder: Path, sources: int, rounds: int) -> None:
    contenders: list[Contender] = []
    for kind in CONTENDERS:
        contenders.append(kind(folder))
    ids = [f"m{k}" for k in range(sources)]
    kept = {}
    for k, source in enumerate(ids):
        columns = profiles.decimal(1_000_000, k)
        kept[source] = {name: columns[name] for name in ("t", "U", "I")}
        for contender in contenders:
            contender.ingest(source, columns)
    sound = sum(
        keeps_contract(contenders[0].reduced(one, "t", ["U", "I"], MOST), kept[one], ["t", "U", "I"])
        for one in ids
    )
    asked = {
        f"overview, {sources} x 1M, U and I, contract kept in {sound}/{sources}": Asked(
            partial(reduce_all, ids, None), rounds, 5, 20
        ),
        f"window of 20 000 rows, {sources} x 1M, U and I": Asked(
            partial(reduce_all, ids, (400_000.0, 419_999.0)), rounds, 1, 2.5
        ),
        "full column of 1M": Asked(lambda contender: contender.column(ids[0], "U"), 5 * rounds, 0.9, 1.5),
    }
    for title, one in asked.items():
        times = interleaved({c.name: partial(one.work, c) for c in contenders}, one.rounds)
        mine, words, others = ratios(times)
        against = min(others.values()) if title.startswith("overview") else others["DuckDB file"]
        report.add(title, mine, words, against, one.gate, one.aim)
    for title, one in asked.items() if compiled.LOOPS else ():
        work = partial(one.work, contenders[0])
        times = interleaved({Ours.name: work, "numpy": partial(by_numpy, work)}, one.rounds)
        mine, words, others = ratios(times)
        report.add(f"{title.split(',')[0]}, beside the loops of numpy", mine, words, others["numpy"], 1, 1.5)
    if sound < sources:
        report.failed.append("contract of the overview")


def growth(report: Report, folder: Path, exponents: list[int]) -> None:
    store = Store.open(folder / "growth.wb")
    rng = np.random.default_rng(3)
    for exponent in exponents:
        with store.series.writer(f"n{exponent}") as writer:
            for start in range(0, 10**exponent, 10**6):
                part = profiles.decimal(10**6, exponent)
                t = np.arange(start, start + 10**6, dtype=np.float64)
                writer.add(Table.of({"t": t, "U": part["U"], "I": part["I"] + rng.integers(0, 2) * 0.0}))
            writer.publish()

    def sample(exponent: int, window: tuple[float, float] | None = None) -> None:
        store.series.recent.forget()
        store.series.sample(f"n{exponent}", "t", ["U", "I"], window=window, most=MOST, scope=EVERYTHING)

    times = interleaved({str(e): lambda e=e: sample(e) for e in exponents}, 30)  # type: ignore[misc]
    third = interleaved({str(e): lambda e=e: sample(e, (10**e / 3, 10**e / 1.5)) for e in exponents}, 30)  # type: ignore[misc]
    words = ", ".join(f"1e{e}: {times[str(e)] * 1e3:.2f} ms" for e in exponents)
    ratio = times[str(exponents[-1])] / times["6"]
    report.add(f"overview growth, 1e6 to 1e{exponents[-1]} rows", words, "", ratio, 2, 1.3, low=True)
    words = ", ".join(f"1e{e}: {third[str(e)] * 1e3:.2f} ms" for e in exponents)
    report.add("middle third growth, the same", words, "", third[str(exponents[-1])] / third["6"], 3, 2, low=True)
    store.close()


def envelope_error(x: NDArray[Any], y: NDArray[Any], rows: NDArray[Any], pixels: int = 1000) -> float:
    """Mean over pixel columns of what the line through ``rows`` misses or overshoots of the true envelope of y.

    Each side is allowed one column of sideways tolerance; in % of the range of y.
    """
    edges = np.linspace(x[0], x[-1], pixels + 1)
    grid = np.searchsorted(x, edges[:-1])
    low, high = np.minimum.reduceat(y, grid), np.maximum.reduceat(y, grid)
    crossings = np.interp(edges, x[rows], y[rows])
    places = np.clip(np.searchsorted(edges, x[rows], side="right") - 1, 0, pixels - 1)
    got_low, got_high = np.minimum(crossings[:-1], crossings[1:]), np.maximum(crossings[:-1], crossings[1:])
    np.minimum.at(got_low, places, y[rows])
    np.maximum.at(got_high, places, y[rows])

    def widened(values: NDArray[Any], pick: Callable[..., NDArray[Any]]) -> NDArray[Any]:
        padded = np.concatenate([values[:1], values, values[-1:]])
        return pick(pick(padded[:-2], padded[1:-1]), padded[2:])

    missed = np.maximum(widened(got_low, np.minimum) - low, 0) + np.maximum(
        high - widened(got_high, np.maximum), 0
    )
    overshot = np.maximum(widened(low, np.minimum) - got_low, 0) + np.maximum(
        got_high - widened(high, np.maximum), 0
    )
    return float((missed + overshot).mean() / (y.max() - y.min()) * 100)


def error(report: Report, folder: Path) -> None:
    names = ["U", "I", "temp"]
    store = Store.open(folder / "error.wb")
    for title, make in (
        ("decimal with spikes", profiles.spiked),
        ("decimal", profiles.decimal),
        ("float", profiles.single),
    ):
        columns = make(1_000_000, 9)
        store.series.append(title, "series", Table.of(columns))
        got = store.series.sample(title, "t", names, most=MOST, scope=EVERYTHING)
        kept = {
            "ours": got.rows,
            "MinMax": minmax_union(columns, "t", names, MOST),
            "MinMaxLTTB": minmaxlttb_union(columns, "t", names, MOST),
        }
        errors = {
            key: [envelope_error(columns["t"], columns[name], rows) for name in names]
            for key, rows in kept.items()
        }
        means = {key: float(np.mean(found)) for key, found in errors.items()}
        best = min(means["MinMax"], means["MinMaxLTTB"])
        words = ", ".join(f"{key} {means[key]:.4f} ({len(kept[key])} rows)" for key in ("MinMax", "MinMaxLTTB"))
        whole = all(
            columns[n][got.rows].min() == columns[n].min() and columns[n][got.rows].max() == columns[n].max()
            for n in names
        )
        mine = f"{means['ours']:.4f} % ({len(got.rows)} rows, {'all' if whole else 'NOT all'} extremes)"
        report.add(f"error at {MOST} rows, {title}", mine, words, means["ours"] / best, 1, 0.25, low=True)
    store.close()


def summaries(report: Report, folder: Path, rounds: int) -> None:
    place = folder / "summaries"
    place.mkdir()
    contenders = [kind(place) for kind in CONTENDERS]
    rng = np.random.default_rng(4)
    cycle = np.arange(1000.0)
    tables = {}
    for k in range(200):
        fade = 3 * (1 - cycle / rng.uniform(3000, 4500)) + rng.normal(0, 0.01, 1000)
        tables[f"m{k:03}"] = {"cycle": cycle, "Q": np.round(fade, 6), "E": np.round(fade * 3.6, 6)} | {
            f"other {j}": np.round(rng.normal(3, 1, 1000), 6) for j in range(17)
        }
    ids = list(tables)
    for contender in contenders:
        contender.put_summaries(tables)
    answers = [contender.summarise(ids) for contender in contenders]
    for answer in answers[1:]:
        for mine, theirs in zip(answers[0], answer, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-11)
    times = interleaved({c.name: lambda c=c: c.summarise(ids) for c in contenders}, 5 * rounds)  # type: ignore[misc]
    mine, words, others = ratios(times)
    report.add("summary read + aggregate, 200k rows x 3, 8 metrics", mine, words, others[DuckDB.name], 1.5, 3)


MEMORY = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
import profiles
from workbench.store import Store
from workbench.store.scope import EVERYTHING
from workbench.table import Table
store, n = Store.open(sys.argv[1]), int(sys.argv[2])
part = Table.of(profiles.decimal(262144, 1))
def peak():
    # getrusage also counts what the parent held before it became this process.
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) / 1024
with store.series.writer("warm") as writer:
    for _ in range(4):
        writer.add(part)
    writer.publish()
before = peak()
with store.series.writer("long") as writer:
    for _ in range(n // part.n + 1):
        writer.add(part)
    writer.publish()
written = peak()
connection = store.connection()
connection.execute("pragma mmap_size = 0")
store.series.sample("warm", "t", ["U", "I"], most=2000, scope=EVERYTHING)
for _ in range(3):
    store.series.recent.forget()
    store.series.sample("long", "t", ["U", "I"], most=2000, scope=EVERYTHING)
print(written - before, peak() - written)
"""


def memory(report: Report, folder: Path, n: int) -> None:
    command = [sys.executable, "-c", MEMORY, str(folder / "memory.wb"), str(n), str(HERE)]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    written, read = (float(value) for value in found)
    report.add(
        f"peak memory that {n:.0e} rows x 8 add on writing",
        f"{written:.0f} MB",
        f"{n * 64 / 2**20:.0f} MB of samples",
        written,
        64,
        32,
        low=True,
    )
    report.add("and on an overview", f"{read:.0f} MB", "", read, 16, 8, low=True)


WHERE = """
## Where the time and the bytes go, and what did not help

The loops of a reduced read are compiled where a C compiler is at hand: running sums, bytes side by side, the order of
kept rows, candidates and the choice of samples. With numpy alone (the lines above) a reduced read of one source takes
1.5 to 1.9 ms of a fast processor, of which the choice took half and decoding a quarter; compiled 0.54 to 0.66. The
choice waited for branches that nobody can predict. It seeks the least and the greatest of a pixel column without their
places first, and moves scores to another array, of which the processor takes several at once: half the time of a
choice, a tenth of an overview. What is left is zstd, SQLite and some hundred calls from Python. A window is found by
its share of the range first, which takes two or three looks at heads where a search by halves took twelve. Of its
first and last chunk only the rows of the window become values; that half of both chunks was divided and dropped took a
twentieth of it.
Of 2.28 bytes a row of decimals 1.58 are the samples, 0.46 the pyramid, 0.03 the heads and 0.2 the ends of SQLite's
pages.

- Threads for several sources: the interpreter's lock makes them slower than one.
- The choice of samples for all columns at once, in arrays of two dimensions: up to a quarter slower.
- Candidates sought in four lanes at once, and the head of a chunk read with its values: a hundredth of a window, less
  than two runs differ by.
- Differences from the mean of the last 2 to 16 samples, or from the median of a block, in place of the last one: fewer
  bytes for a temperature that only has noise, more for voltages and currents. What is written of these is within 5 %
  of the entropy of the differences, of the temperature within 15 %.
- Larger pages and chunks written in the order of their keys: the ends of pages stay 0.2 bytes a row, since the parts of
  chunks that fit no page of their own fill two thirds of a page. Pages of 1 kB save 6 % for four times as many pages.
- zstd without short matches: 2 % fewer bytes for these made decimals, 5 % more for real files.
- zstd with two searches (`dfast`): 1 to 5 % fewer bytes for floats, for 10 to 20 % more time of encoding; levels 2 and
  above: more bytes for the noise of decimals.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="100 sources of 1M rows, growth up to 1e8 rows")
    parser.add_argument("--sources", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=None)
    options = parser.parse_args()
    sources = options.sources or (100 if options.full else 20)
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts: dict[str, Callable[[], None]] = {
            "ingest": lambda: ingest(report, folder, options.rounds),
            "reads": lambda: reads(report, folder, sources, options.rounds),
            "growth": lambda: growth(report, folder, [6, 7, 8] if options.full else [6, 7]),
            "error": lambda: error(report, folder),
            "summaries": lambda: summaries(report, folder, options.rounds),
            "memory": lambda: memory(report, folder, 100_000_000 if options.full else 10_000_000),
        }
        for part, run in parts.items():
            if options.only is None or part in options.only:
                run()
    head = (
        "# The store beside its peers\n\n"
        f"Written by `python benchmarks/store.py{' --full' if options.full else ''}`: Python "
        f"{platform.python_version()}, {os.cpu_count()} cores, {sources} sources of 1M rows x 8. Medians of "
        "interleaved rounds (ingest: best), one process; ours writes with two threads and reads with one. "
        "A ratio is a peer's time over ours.\n\n"
    )
    if options.only is None:
        (HERE / "results").mkdir(exist_ok=True)
        (HERE / "results" / "store.md").write_text(report.text(head) + WHERE, encoding="utf-8")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    print("MISSED: " + ", ".join(report.failed) if report.failed else "all gates hold")
    return bool(report.failed)


if __name__ == "__main__":
    sys.exit(main())
