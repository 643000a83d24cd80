"""A busy team: 20 clients read and 4 write while files are ingested and a backup runs. No error, nothing stale, and
nobody sees a lock."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from support.full_organization import RATINGS, parquet, samples
from support.server_process import ROOT, Server

from workbench.store.store import Store

LEAST, LONG_LEAST = 600, 6000
"""Requests that are answered while files are ingested and backups run."""
READERS, WRITERS = 20, 4
COUNTING = {
    "plan": {
        "steps": {"tests": {"op": "list", "source": "instances", "fields": ["name", "notes"], "limit": 1000}}
    },
    "transform": "def transform(data, params):\n"
    "    notes = list(data['tests']['notes'])\n"
    "    return {'data': [{'type': 'scatter', 'y': list(range(len(notes))), 'text': notes}], 'layout': {}}\n",
}
INGEST = """
import sys, workbench as wb
with wb.open(sys.argv[1], project="Default") as bench:
    n = 0
    while n == 0 or not __import__("pathlib").Path(sys.argv[3]).exists():
        n += 1
        report = bench.ingest(sys.argv[2], specification="Ingested", instance=f"I{n}")
        assert len(report.files) == 1, report
        for record in bench.measurements.list(fields=["id"])["id"].tolist()[-1:]:
            bench.measurements.delete(record)
print(n)
"""


class Load:
    """What all clients share: when to stop, and what went wrong."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.stop = threading.Event()
        self.wrong: list[str] = []
        self.requests = 0
        self.written = [0] * WRITERS

    def client(self, work: Any, *args: Any) -> threading.Thread:
        def run() -> None:
            with self.server.client() as client:
                try:
                    while not self.stop.is_set() and not self.wrong:
                        work(self, client, *args)
                except Exception as error:
                    self.wrong.append(f"{work.__name__}: {error!r}")

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def told(self, answer: Any) -> Any:
        self.requests += 1
        if answer.status_code != 200:
            raise AssertionError((answer.request.url, answer.status_code, answer.text))
        return answer.json()


def reads(load: Load, client: Any, project: str, cells: list[str]) -> None:
    """A list, a record, a search and a figure; each shows at least what was acknowledged before it was asked for."""
    before = list(load.written)
    found = load.told(client.get(f"/cell_instances/{cells[0]}"))
    assert int(found["notes"] or 0) >= before[0], "a record is stale"
    before = list(load.written)
    drawn = load.told(client.post(f"/projects/{project}/figures", json={"config": COUNTING}))
    shown = [int(text or 0) for text in drawn["figure"]["data"][0]["text"][:WRITERS]]
    assert all(now >= then for now, then in zip(shown, before, strict=True)), "a figure is stale"
    load.told(client.get("/projects"))
    load.told(client.get("/search", params={"q": "cell", "per_type": 20}))


def writes(load: Load, client: Any, number: int, cell: str) -> None:
    """Count up in the notes of a cell of one's own."""
    load.told(client.patch(f"/cell_instances/{cell}", json={"notes": str(load.written[number] + 1)}))
    load.written[number] += 1


@pytest.mark.long
def test_a_busy_team_meets_no_error_and_nothing_stale(tmp_path: Path, long: bool) -> None:
    store, ended = tmp_path / "lab.db", tmp_path / "ended"
    server = Server(store, "--trust-transforms", "--workers", "2")
    try:
        with server.client() as client:
            load = Load(server)
            project = load.told(client.get("/projects"))["items"][0]["id"]
            body = {"name": "S", "ratings": RATINGS, "project_id": project}
            specification = load.told(client.post("/cell_specifications", json=body))["id"]
            path = f"/cell_specifications/{specification}/cell_instances"
            cells = [load.told(client.post(path, json={"name": f"cell {n}"}))["id"] for n in range(WRITERS)]
        (tmp_path / "file.parquet").write_bytes(parquet(samples(200_000)))
        words = [sys.executable, "-c", INGEST, str(store), str(tmp_path / "file.parquet"), str(ended)]
        ingest = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threads = [load.client(reads, project, cells) for _ in range(READERS)]
        threads += [load.client(writes, number, cell) for number, cell in enumerate(cells)]
        backups = 0
        while not load.wrong and (backups < 3 or load.requests < (LONG_LEAST if long else LEAST)):
            with Store.open(store, create=False) as opened:
                opened.backup(tmp_path / f"backup-{backups}.db")
            backups += 1
            load.stop.wait(1)
        load.stop.set()
        for thread in threads:
            thread.join(90)
        ended.touch()
        printed, complained = ingest.communicate(timeout=120)
    finally:
        server.stop()
    assert load.wrong == []
    assert ingest.returncode == 0, complained
    assert int(printed) >= 1
    assert all(load.written)
    for copy in (store, tmp_path / f"backup-{backups - 1}.db"):
        with Store.open(copy, create=False) as opened:
            assert opened.verify() == []
