"""What the wire costs, and whether the server stays quick when it is busy: ``python benchmarks/server.py``.

The server runs as a team starts it, in a process of its own; the clients are on the same processors. Beside our two
encodings stands the same answer given by FastAPI as it comes. Rounds are interleaved; a missed gate ends with code 1.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import orjson
import profiles
import pyarrow as pa
import pyarrow.csv

import workbench as wb
from workbench.engine import arrow
from workbench.records import Measurement
from workbench.store.store import Store
from workbench.table import Table

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "server.md"
SOURCES, POINTS, ROUNDS = 100, 2000, 7
COLUMNS = ["Time [s]", "Voltage [V]", "Current [A]"]
AGAIN_MS = {"a list of 25 records": 1.5, "one record": 0.7}
"""The most processor time of a request that is asked again."""
CLIENTS = 4
USERS, BUSY_S, DRAWING = 20, 20.0, 8
DRAW = """
def transform(data, params):
    traces = [
        {"type": "scatter", "x": f["Time [s]"], "y": f["Voltage [V]"], "name": key}
        for key, f in list(data["series"].items())[:4]
    ]
    return {"data": traces, "layout": {}}
"""
FASTAPI = """
import pathlib, sys, orjson, uvicorn
from fastapi import FastAPI
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse, Response
folder = pathlib.Path(sys.argv[1])
answer = orjson.loads((folder / "answer.json").read_bytes())
SAME = {path.stem: path.read_bytes() for path in folder.glob("*.json")}
app = FastAPI()
@app.get("/healthz")
def health(): return {}
@app.post("/datasets")
def datasets(): return JSONResponse(jsonable_encoder(answer))
@app.api_route("/bytes/{name}", methods=["GET", "POST"])
async def same(name: str): return Response(SAME[name], media_type="application/json")
uvicorn.run(app, port=int(sys.argv[2]), log_level="error")
"""


class Beside(NamedTuple):
    """Processor time of one kind of request, in ms: asked again, after a change of the store, and of a bare route."""

    name: str
    size: int
    again: float
    changed: float
    bare: float


class Connection:
    """One kept-alive connection, as light as the standard library makes it."""

    def __init__(self, url: str, key: str = "") -> None:
        self._http = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
        self._headers = {"X-API-Key": key, "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> bytes:
        told = {**self._headers, **headers}
        try:
            self._http.request(method, path, body, told)
            answer = self._http.getresponse()
        except (ConnectionError, http.client.HTTPException):  # the server closed it while nothing was asked
            self._http.close()
            self._http.request(method, path, body, told)
            answer = self._http.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]!r}")
        return content


@contextmanager
def serving(words: list[str]) -> Iterator[tuple[str, int]]:
    """A server of ours: its address and its process."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from workbench.cli import main; main()", "serve", "--port", "0", "--json", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=HERE.parent,
    )
    address = ""
    while not address:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            raise RuntimeError("the server ended before it listened")
        address = json.loads(line).get("listening", "")
    try:
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(60)
        if process.stdout:
            process.stdout.close()


@contextmanager
def fastapi(folder: Path, **answers: bytes) -> Iterator[tuple[str, int]]:
    """A plain FastAPI server, its address and process. It encodes ``answer`` itself, and sends all as they are."""
    for name, content in answers.items():
        (folder / f"{name}.json").write_bytes(content)
    port = random.randint(20_000, 40_000)
    process = subprocess.Popen([sys.executable, "-c", FASTAPI, str(folder), str(port)])
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                Connection(url).ask("GET", "/healthz")
                break
            except OSError:
                time.sleep(0.05)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(30)


def filled(path: Path) -> tuple[str, str, dict[str, Any]]:
    """A store with long series and a saved plot: the project, a key, and the plan."""
    ratings = {name: {"value": value, "unit": unit} for name, value, unit in RATINGS}
    with wb.open(path) as bench:
        bench.specifications.create(name="cell", ratings=ratings)
        cell = bench.instances.create(name="cell", specification="cell")
        ids = []
        for k in range(SOURCES):
            columns = profiles.decimal(20_000, k)
            named = {{"t": COLUMNS[0], "U": COLUMNS[1], "I": COLUMNS[2]}.get(n, n): v for n, v in columns.items()}
            fields = {"name": f"long {k}", "instance_id": cell.id, "measurement_type": "time_series"}
            ids.append(bench.backend.create_with_tables(Measurement, fields, {"series": Table.of(named)}).id)
        step = {"op": "series", "source": "measurements", "ids": ids, "x": COLUMNS[0], "columns": COLUMNS[1:]}
        plan = {"steps": {"series": {**step, "max_points": POINTS}}}
        board = bench.dashboards.create("Bench")
        plot = board.save("figure", {"plan": plan, "transform": DRAW})
        work = bench.backend
        keys = [work.store.people.issue(work.organization.id, work.actor).key for _ in range(CLIENTS)]
        place = f"/projects/{work.project.id}"
        plot_path = f"{place}/dashboards/{board.id}/plots/{plot.id}"
        about = {"plan": plan, "plot": plot_path, "specification": cell.specification_id, "keys": keys}
        return keys[0], place, about


RATINGS = (("capacity", 5.0, "A.h"), ("voltage_min", 2.5, "V"), ("voltage_max", 4.2, "V"))


def from_json(content: bytes) -> int:
    """Every column of a JSON answer as an array; how many values there are."""
    series = orjson.loads(content)["steps"]["series"]
    return sum(np.array(values, float).size for one in series.values() for values in one["columns"].values())


def from_arrow(content: bytes) -> int:
    """The same of an Arrow answer."""
    steps, _ = arrow.from_arrow(content)
    return sum(column.values.size for one in steps["series"].values() for column in one.table.values())


def medians(work: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median of each in ms, all run once a round; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds + 1):
        for name, one in work.items():
            began = time.perf_counter()
            one()
            times[name].append((time.perf_counter() - began) * 1e3)
    return {name: statistics.median(spent[1:]) for name, spent in times.items()}


def encodings(url: str, key: str, place: str, plan: Any, folder: Path) -> tuple[dict[str, float], int]:
    """Request to arrays, in ms, by Arrow, by our JSON, by FastAPI's."""
    ours = Connection(url, key)
    body = orjson.dumps({"config": {"plan": plan}})
    path = f"{place}/datasets"
    told = ours.ask("POST", path, body)
    with fastapi(folder, answer=told) as (other, _):
        theirs = Connection(other)
        found = medians(
            {
                "arrow": lambda: from_arrow(ours.ask("POST", path, body, Accept=arrow.MEDIA_TYPE)),
                "json": lambda: from_json(ours.ask("POST", path, body)),
                "fastapi": lambda: from_json(theirs.ask("POST", "/datasets", b"")),
            },
            ROUNDS,
        )
    return found, from_json(told)


def figures(url: str, keys: list[str], plot: str, seconds: float = 5.0) -> tuple[float, int]:
    """Cached figures per second over several connections, and the bytes of one. Each has a key of its own, since a key
    may send 500 requests a second."""
    size = len(Connection(url, keys[0]).ask("POST", f"{plot}/figure", b"{}"))
    counts = [0] * len(keys)
    until = time.perf_counter() + seconds

    def ask(place: int) -> None:
        one = Connection(url, keys[place])
        while time.perf_counter() < until:
            one.ask("POST", f"{plot}/figure", b"{}")
            counts[place] += 1

    _together([lambda n=n: ask(n) for n in range(len(keys))])
    return sum(counts) / seconds, size


@contextmanager
def changes(path: Path) -> Iterator[Callable[[], None]]:
    """What changes a store from this process, so that the server remembers nothing of it."""
    with Store.open(path) as store:

        def change() -> None:
            with store.transaction() as db:
                store.tick(db)

        yield change


def cpu_s(pid: int) -> float:
    """Processor time that a process has used, in s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_requests(url: str, key: str, pid: int, about: dict[str, Any], place: str, folder: Path) -> list[Beside]:
    """Processor time of the server for a request, in ms, and of a bare FastAPI route that returns the same bytes.

    What is asked again while nobody changes the store is remembered. So each request is also measured after a change,
    which this process commits. The clock of a process counts in steps of 10 ms, so each measure takes many requests; a
    busy machine changes little.
    """
    asked = {
        "a cached figure": ("POST", f"{about['plot']}/figure", b"{}"),
        "a list of 25 records": ("GET", f"{place}/records/measurements?limit=25", None),
        "one record": ("GET", f"/cell_specifications/{about['specification']}", None),
        "the projects": ("GET", "/projects", None),
    }
    ours = Connection(url, key)
    answers = {f"answer{n}": ours.ask(*one) for n, one in enumerate(asked.values())}
    found = []
    with fastapi(folder, answer=b"{}", **answers) as (other, bare), changes(folder / "lab.db") as change:
        theirs = Connection(other)
        for n, (name, (method, path, body)) in enumerate(asked.items()):
            measured: list[tuple[int, Connection, str, Callable[[], None]]] = [
                (pid, ours, path, lambda: None),
                (pid, ours, path, change),
                (bare, theirs, f"/bytes/answer{n}", lambda: None),
            ]
            spent: list[list[float]] = [[], [], []]
            for _ in range(5):
                for times, (process, one, target, before) in zip(spent, measured, strict=True):
                    began = cpu_s(process)
                    for _ in range(8):
                        until = time.perf_counter() + 0.11  # a key may send 500 requests a second
                        for _ in range(50):
                            before()
                            one.ask(method, target, body)
                        time.sleep(max(until - time.perf_counter(), 0))
                    times.append((cpu_s(process) - began) / 400 * 1e3)
            found.append(Beside(name, len(answers[f"answer{n}"]), *map(statistics.median, spent)))
    return found


def hits(url: str, key: str, plot: str, seconds: float) -> list[float]:
    """How long a cached figure takes, in ms, asked every 20 ms or so."""
    one, times, until = Connection(url, key), [], time.perf_counter() + seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        one.ask("POST", f"{plot}/figure", b"{}")
        times.append((time.perf_counter() - began) * 1e3)
        time.sleep(0.02)
    return times


def hits_while_others_draw(
    url: str, key: str, about: dict[str, Any], place: str, seconds: float = 10.0
) -> tuple[list[float], int]:
    """The same while eight others draw figures that no cache has; how many they drew."""
    over = threading.Event()
    drawn = [0] * DRAWING

    def draw(number: int) -> None:
        one = Connection(url, key)
        while not over.is_set():
            config = {"plan": about["plan"], "transform": f"{DRAW}# {number} {drawn[number]} {time.time()}\n"}
            one.ask("POST", f"{place}/figures", orjson.dumps({"config": config}))
            drawn[number] += 1

    others = [threading.Thread(target=draw, args=(number,)) for number in range(DRAWING)]
    for thread in others:
        thread.start()
    time.sleep(2)
    try:
        return hits(url, key, about["plot"], seconds), sum(drawn)
    finally:
        over.set()
        for thread in others:
            thread.join()


def _together(work: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def p99(times: list[float]) -> float:
    return float(np.percentile(times, 99))


def projects(url: str, key: str, seconds: float, before: Callable[[], None] = lambda: None) -> list[float]:
    """How long ``GET /projects`` takes, in ms, asked every 20 ms or so. ``before`` is called before each."""
    one, times, until = Connection(url, key), [], time.perf_counter() + seconds
    while time.perf_counter() < until:
        before()
        began = time.perf_counter()
        one.ask("GET", "/projects")
        times.append((time.perf_counter() - began) * 1e3)
        time.sleep(0.02)
    return times


def under_load(
    url: str, key: str, about: dict[str, Any], place: str, folder: Path
) -> tuple[list[float], int, int]:
    """``GET /projects`` while 20 people draw, list and read, and files are read in; how much they did."""
    done = [0]
    over = threading.Event()

    def user(number: int) -> None:
        one, chance = Connection(url, key), random.Random(number)
        while not over.is_set():
            kind = chance.random()
            if kind < 0.6:
                one.ask("POST", f"{about['plot']}/figure", b"{}")
            elif kind < 0.9:
                one.ask("GET", f"{place}/records/measurements?limit=20")
            else:
                one.ask("GET", f"{place}/catalog")
            done[0] += 1
            over.wait(chance.uniform(0.2, 1.0))

    def ingest() -> None:
        nonlocal stored
        with wb.connect(url, key) as far:
            while not over.is_set():
                files = [_file(folder, random.random()) for _ in range(2)]
                stored += len(far.ingest(files, specification="cell").stored)

    stored = 0
    others = [threading.Thread(target=user, args=(n,)) for n in range(USERS)] + [threading.Thread(target=ingest)]
    for thread in others:
        thread.start()
    time.sleep(3)
    try:
        return projects(url, key, BUSY_S), done[0], stored
    finally:
        over.set()
        for thread in others:
            thread.join()


def _file(folder: Path, seed: float) -> Path:
    """A cycler file of 200 000 rows."""
    path = folder / f"test {seed}.csv"
    n = 200_000
    time_ = np.arange(n, dtype=float)
    current = np.where((time_ // 500) % 2 == 0, 1.0, -1.0)
    voltage = 3.7 - 0.1 * current + seed * 1e-3 + (time_ % 500) * 1e-5
    table = pa.table({"Time [s]": time_, "Current [A]": current, "Voltage [V]": voltage})
    pa.csv.write_csv(table, path)  # lets this process go on: it measures at the same time
    return path


def resident(pid: int) -> float:
    """MB that a process holds."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


class Memory:
    """The most that a process held since it was made."""

    def __init__(self, pid: int) -> None:
        self._pid, self.most, self._over = pid, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self.most = max(self.most, resident(self._pid))

    def stop(self) -> None:
        self._over.set()
        self._thread.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="has no effect: it is small")
    parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        key, place, about = filled(folder / "lab.db")
        with serving(["--store", str(folder / "lab.db")]) as (url, pid):
            rate, size = figures(url, about["keys"], about["plot"])
            cpu = cpu_of_requests(url, key, pid, about, place, folder)
            alone = hits(url, key, about["plot"], 5.0)
            beside, drawn = hits_while_others_draw(url, key, about, place)
            with changes(folder / "lab.db") as change:  # an ingest changes the store all the time too
                idle = projects(url, key, 6.0, change)
            times, values = encodings(url, key, place, about["plan"], folder)
            settled = resident(pid)
            memory = Memory(pid)
            busy, done, stored = under_load(url, key, about, place, folder)
            memory.stop()
    arrow_, json_, fastapi_ = times["arrow"], times["json"], times["fastapi"]
    ratio = p99(busy) / p99(idle)
    held_up = statistics.median(beside) / statistics.median(alone)
    gates = [
        (
            "series to arrays: Arrow against our JSON",
            f"{json_ / arrow_:.1f} times faster",
            json_ >= 3 * arrow_,
            ">= 3",
        ),
        ("our JSON against FastAPI's", f"{fastapi_ / json_:.1f} times faster", fastapi_ >= 8 * json_, ">= 8"),
        (f"a figure of {size / 1000:.0f} kB from the cache", f"{rate:.0f} per second", rate >= 572, ">= 572"),
        *(
            (
                f"processor time of {one.name}, asked again",
                f"{one.again:.2f} ms",
                one.again <= most,
                f"<= {most} ms",
            )
            for one in cpu
            if (most := AGAIN_MS.get(one.name)) is not None
        ),
        (
            f"a cached figure while {DRAWING} others draw, against alone (median)",
            f"{held_up:.1f} times ({statistics.median(alone):.1f} and {statistics.median(beside):.1f} ms)",
            held_up <= 3,
            "<= 3",
        ),
        ("p99 of `GET /projects`, busy against idle", f"{ratio:.1f} times", ratio <= 10, "<= 10"),
        (
            "memory that grows under load",
            f"{memory.most - settled:.0f} MB",
            memory.most - settled <= 200,
            "<= 200 MB",
        ),
    ]
    text = "\n".join(
        [
            "# The server",
            "",
            f"`workbench serve`, one process, its clients on the same {os.cpu_count()} processors. Medians of {ROUNDS}",
            "interleaved rounds. `benchmarks/server.py` makes this page.",
            "",
            f"| {SOURCES} sources x {POINTS} samples x {len(COLUMNS)} columns: {values:,} values, in arrays | ms |",
            "|---|---|",
            f"| Arrow | {arrow_:.0f} |",
            f"| our JSON | {json_:.0f} |",
            f"| the same by FastAPI (`jsonable_encoder`, `json`) | {fastapi_:.0f} |",
            "",
            "| processor time of a request, in ms | bytes | asked again | after a change of the store | "
            "a bare FastAPI route with the same bytes |",
            "|---|---|---|---|---|",
            *(
                f"| {one.name} | {one.size:,} | {one.again:.2f} | {one.changed:.2f} | {one.bare:.2f} |"
                for one in cpu
            ),
            "",
            "| gate | measured | bar | kept |",
            "|---|---|---|---|",
            *(f"| {name} | {found} | {bar} | {'yes' if kept else 'no'} |" for name, found, kept, bar in gates),
            "",
            f"Idle and after a change each, `GET /projects` has a median of {statistics.median(idle):.1f} ms and a p99",
            f"of {p99(idle):.1f} ms;",
            f"busy, {statistics.median(busy):.1f} and {p99(busy):.1f} ms: {USERS} people made {done} requests and an",
            f"ingest stored {stored} files of 200 000 rows, in {BUSY_S:.0f} s. The {DRAWING} who drew made {drawn}",
            "figures.",
            "",
        ]
    )
    RESULT.write_text(text)
    print(text)
    return 0 if all(kept for _, _, kept, _ in gates) else 1


if __name__ == "__main__":
    sys.exit(main())
