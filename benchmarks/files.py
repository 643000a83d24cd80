"""From a file to a stored measurement with steps and cycles, beside libraries that only read it.

``python benchmarks/files.py [--full] [--data FOLDER] [--peers PYTHON ...]``. ``--peers`` are Pythons of environments in
which other readers are installed (batterydf, cellpy, ionworksdata ...); this one is always asked. All take turns in
one run. The files are real ones of each format, from the folder of shared data, and long ones in the style of the five
commonest text formats, which ``longer.py`` makes: 100 000 rows, and with ``--full`` a million.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from file_peers import PEERS
from longer import GOES_ON, longer

from workbench.c_allocator import keep_what_is_freed
from workbench.errors import FileRefused
from workbench.ingest import ingest
from workbench.ingest.plan.read_options import ReadOptions
from workbench.ingest.read.prepare import prepare
from workbench.readers import read
from workbench.readers.file import sheets as views
from workbench.records import Project
from workbench.store.scope import Scope
from workbench.store.store import Store

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
RESULT = HERE / "results" / "files.md"
FOLDERS = (
    "bdf_csv", "bdf_parquet", "pyprobe_parquet", "arbin_csv", "arbin_xlsx", "arbin_res", "neware_csv", "neware_nda",
    "neware_ndax", "maccor_txt", "biologic_mpt", "biologic_csv", "biologic_mpr", "novonix_csv", "basytec_txt",
    "landt_csv", "pec_csv", "nasa_mat",
)  # fmt: skip
SIZES, MORE_SIZES = (100_000,), (100_000, 1_000_000)
"""Rows of the long files: samples of a day and of twelve days, one each second."""
PATIENCE = 2.0
"""Seconds that a peer may take for a long file, if it is to be asked for one of ten times the size."""
SLOW = 2.0
"""Times the fastest reading alone, from which on the page says where the time goes."""


class Peer:
    """Readers in another process, of this Python or another."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, HERE / "file_peers.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, peer: str, path: Path) -> dict[str, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"peer": peer, "path": str(path)}) + "\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        self._process.communicate()


def largest(data: Path, full: bool) -> Iterator[Path]:
    """The largest file of each format; without ``full`` of those below 3 MB."""
    for folder in FOLDERS:
        files = [f for f in (data / folder).glob("*") if f.name != "empty.ndax" and "README" not in f.name]
        small = [f for f in files if full or f.stat().st_size < 3_000_000] or files
        if small:
            yield max(small, key=lambda file: file.stat().st_size)


@contextmanager
def lab() -> Iterator[tuple[Store, Scope]]:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "lab.db") as store:
        organization = store.rows.organizations()[0]
        project = store.rows.page(Project, Scope(organization.id, None), limit=1).items[0]
        yield store, Scope(organization.id, project.id)


def ours(path: Path) -> dict[str, float]:
    """Seconds of reading alone, of reading to steps and cycles, and of all of it up to the store."""
    made: dict[str, float] = {}
    views._cached.cache_clear()
    begun = time.perf_counter()
    made["rows"] = sum(batch.n for batch in read(path, one_pass=True).batches)
    made["read"] = time.perf_counter() - begun
    views._cached.cache_clear()
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as spool:
        prepare(path, ReadOptions(), spool)
    made["prepared"] = time.perf_counter() - begun
    with lab() as (store, scope):
        views._cached.cache_clear()
        begun = time.perf_counter()
        report = ingest(store, scope, [path])
        made["stored"] = time.perf_counter() - begun
        if not report.ok:
            raise FileRefused(report[0].why)
    return made


def measured(
    path: Path, peers: list[Peer], rounds: int, leave_out: frozenset[str] = frozenset()
) -> tuple[dict[str, float], dict[str, float | str]]:
    """Medians of ours by stage, and of each peer that is not left out; a peer that fails says with what."""
    mine: dict[str, list[float]] = {}
    theirs: dict[tuple[str, int], list[float]] = {}
    failed: dict[str, str] = {}
    fitting = [name for name, (_, kinds) in PEERS.items() if path.parent.name.startswith(kinds)]
    fitting = [name for name in fitting if name not in leave_out]
    for turn in range(rounds + 1):
        for stage, seconds in ours(path).items():
            mine.setdefault(stage, []).append(seconds)
        for place, peer in enumerate(peers):
            for name in fitting:
                said = peer.ask(name, path)
                if "seconds" in said:
                    theirs.setdefault((name, place), []).extend([said["seconds"]] if turn else [])
                else:
                    failed[name] = str(said["failed"])
    # In an environment with other readers pandas can take twice as long: the fastest environment counts.
    known: dict[str, float | str] = {}
    for (name, _), found in sorted(theirs.items(), key=lambda one: fitting.index(one[0][0])):
        if found:
            known[name] = min(statistics.median(found), float(known.get(name, "inf")))
    known |= {name: why for name, why in failed.items() if name not in known and why != "ModuleNotFoundError"}
    return {stage: statistics.median(found[1:]) for stage, found in mine.items()}, known


def why(mine: dict[str, float], alone: float) -> str:
    """Where the time goes, if it is more than :data:`SLOW` times that of the fastest reader."""
    if mine["stored"] <= SLOW * alone:
        return ""
    parts = {
        "reading": mine["read"],
        "signs, steps and cycles": max(mine["prepared"] - mine["read"], 0.0),
        "the store": max(mine["stored"] - mine["prepared"], 0.0),
    }
    whole = sum(parts.values())
    return ", ".join(f"{part} {100 * spent / whole:.0f} %" for part, spent in parts.items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="the largest files too, more rounds")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--peers", nargs="*", default=[], metavar="PYTHON")
    asked = parser.parse_args()
    if not asked.data.is_dir():
        print(
            f"There is no folder of cycler files: name one with --data ({DATA.name} beside the checkout is absent)."
        )
        return 0
    keep_what_is_freed()  # as the processes that read do
    lines, long = [], []
    with ExitStack() as stack:
        peers = [Peer(python) for python in (sys.executable, *asked.peers)]
        for peer in peers:
            stack.callback(peer.close)
        for path in largest(asked.data, asked.full):
            try:
                mine, theirs = measured(path, peers, 5 if asked.full else 2)
            except FileRefused as refused:
                print(f"{path.parent.name}: {refused}")
                continue
            lines.append(line(path.parent.name, mine, theirs))
            print(lines[-1], flush=True)
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="workbench-bench-")))
        for path in largest(asked.data, full=False):
            if path.parent.name in GOES_ON:
                for row in grown(path, scratch, peers, MORE_SIZES if asked.full else SIZES):
                    long.append(row)
                    print(row, flush=True)
    load = f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    RESULT.write_text(HEAD + "\n".join(lines) + LONG + "\n".join(long) + TAIL.format(load=load))
    return 0


def grown(real: Path, scratch: Path, peers: list[Peer], sizes: tuple[int, ...]) -> Iterator[str]:
    """The lines of long files in the style of a real one; each is removed when it is measured."""
    slow: set[str] = set()
    for rows in sizes:
        path = scratch / real.parent.name / f"long{'.csv' if 'csv' in real.parent.name else '.txt'}"
        path.parent.mkdir(exist_ok=True)
        longer(real, path, rows)
        mine, theirs = measured(path, peers, 3 if rows <= SIZES[0] else 2, frozenset(slow))
        slow |= {name for name, value in theirs.items() if not isinstance(value, float) or value > PATIENCE}
        yield line(real.parent.name, mine, theirs)
        path.unlink()


def line(kind: str, mine: dict[str, float], theirs: dict[str, float | str]) -> str:
    """A line of the page."""
    times = {name: value for name, value in theirs.items() if isinstance(value, float)}
    fastest = min(times, key=lambda name: times[name], default="ours")
    alone = times.get(fastest, mine["read"])
    beside = ", ".join(
        f"{name} {value * 1e3:.0f}" if isinstance(value, float) else f"{name} fails ({value})"
        for name, value in theirs.items()
    )
    cells = [f"{mine[stage] * 1e3:.0f}" for stage in ("read", "prepared", "stored")]
    row = [kind, f"{mine['rows']:,.0f}", *cells, beside, f"{mine['stored'] / alone:.1f}", why(mine, alone)]
    return "| " + " | ".join(row) + " |"


HEAD = """# Files: from a file to a stored measurement, beside readers alone

`python benchmarks/files.py`: one real file a format, medians in ms, all in one run by turns. Ours: *read* to
canonical columns; *prepared* with signs, checks, steps and cycles; *stored* as a measurement whose samples are
compressed, summed up in a pyramid and checked. The readers beside give a frame and no more; batterydf, PyProBE and
cellpy name its columns too, as ours does. The ratio is ours, stored, to the fastest of them.

| format | rows | read | prepared | stored | readers alone | ratio | where more than twice: where the time goes |
|---|---|---|---|---|---|---|---|
"""
LONG = """

Long files in the style of the five commonest text formats, those of Arbin, Neware, Maccor and BioLogic and the
exchange format BDF: the rows of the real files again and again, with times and counters that go on
(`benchmarks/longer.py`). Samples each second make 86,400 rows a day. A reader that took more than 2 s, or failed, was
not asked for ten times the size.

| format | rows | read | prepared | stored | readers alone | ratio | where more than twice: where the time goes |
|---|---|---|---|---|---|---|---|
"""
TAIL = """

The load at the end of this run was {load}.

Why it is more than twice reading alone:

- A locked process reads the files of a command. Its fork and its lock take about 20 ms, and what it touches first
  some 15 ms more than in a process that has read a file before, once for all files of a command. The command starts
  the parent of that process before it opens the store.
- A small file pays for its records and their transaction, some 15 ms whatever its size, and for the search of
  its header among all formats, where pandas gets its row as an argument.
- A long file is parsed once, by compiled code where it is plain (`workbench/readers/table/plain_rows.py`) and else by
  the parser of pandas in blocks of 16,384 rows: where the first 262,144 rows leave the sign of the current open, or a
  later row has another kind than they, it is parsed a second time.
- Clock times and durations are parsed, which pandas leaves as text; every column is checked for cells that are not
  numbers. Texts in columns cost pandas and us more than numbers do.
- The bytes of the file and of its samples are hashed, so that neither is stored twice. A thread hashes those of the
  file while they are read.
- Steps and cycles are exact sums over all samples. The store compresses every column in chunks with checksums and
  reduces it to the pyramid that makes an overview fast. It does so while the file is still read, batch for batch, and
  begins again where later samples change what the first ones mean. Cycles that are counted are known at the end alone:
  the other columns are written before, and the pyramid waits in at most 48 MB.
- A workbook is searched for cells that would fill the memory before it is parsed, and each sheet becomes text.
- MATLAB and HDF5 files are parsed by a process of their own, since damaged ones crash their parsers; it starts in
  about a second on a quiet machine.

What was stored is never read from its file again, so all this is paid once.

The readers of text became faster after the table above was made. One run beside the version before it, by turns, ms to
read and to store: a simulated Novonix file of 16,333 rows with AM and PM 90 to 24 and 180 to 95, the Novonix file above
47 to 27 and 124 to 93, Arbin 18 to 11 and 79 to 68, Neware 48 to 35 and 138 to 117, Maccor 64 to 56 and 159 to 143,
BioLogic text 31 to 26 and 104 to 90, Landt 77 to 69 and 193 to 175, BDF 27 to 21 and 114 to 103.

Then plain text got a compiled parser, and samples are stored while their file is read. One run beside the version
before it, by turns, medians of four, the long files of a million rows above on a slower machine, as a multiple of the
time that pandas takes to read them alone: Arbin 2.0 to 1.5, BDF 3.0 to 2.6, Neware 3.1 to 2.6, Maccor 1.4 to 1.1,
BioLogic 1.04 to 0.86. The long BDF file counts no cycles, so it is stored after it was read; five columns of the Neware
file are texts.

Then the next rows were parsed on a thread of their own, and samples whose cycles are counted at the end were stored
while their file is read. Beside the version before both, by turns, medians of three, twice: BDF 2.4 and 2.6 to 1.8 and
1.8, Neware 2.6 and 2.2 to 2.1 and 1.8 times the time of pandas. What waits for the cycles was packed afterwards; then,
without the older version by turns, BDF took 1.9 and 2.2, and BioLogic, 1.25 and 1.22 before, 1.16 and 1.18. The second
processor is busy then, so a folder should gain nothing. The process that reads takes up to 40 MB more.

What was tried and did not help: larger blocks for the hash; weaker compression of the samples on their way from the
process that reads to the one that stores, or none where they go over a disk. The parser of Arrow needs 1.6 times the
processor time of that of pandas for the same text. Smaller batches after the first let the store begin sooner, but the
last bit of counters that were shifted depends on the batch.
"""

if __name__ == "__main__":
    sys.exit(main())
