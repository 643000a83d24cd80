"""A server killed at any moment, while files come in and plots are saved: what was acknowledged is there, nothing half
is visible, and what is sent once more does no harm."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
from support.full_organization import RATINGS, RECIPE, parquet, samples
from support.server_process import Server
from support.waiting import until

from workbench.store.scope import EVERYTHING
from workbench.store.store import Store

ROUNDS = 50
ROWS = 20_000


@dataclass
class Acknowledged:
    """What the server said that it has."""

    measurements: dict[str, int] = field(default_factory=dict)
    plots: dict[str, int] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    unfinished: list[dict[str, Any]] = field(default_factory=list)


def told(answer: Any) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()


def upload(client: Any, cell: str, name: str, rows: int, said: Acknowledged) -> None:
    """An upload in its three steps; each that the server did not answer is kept to be sent again."""
    begun = told(
        client.post(
            f"/cell_instances/{cell}/cell_measurements/initiate-upload", json={"measurement": {"name": name}}
        )
    )
    body = {"cell_instance_id": cell, "measurement": {"name": name}, "measurement_type": "time_series"}
    left = {"id": begun["measurement_id"], "body": body, "rows": rows, "url": begun["uploads"][0]["signed_url"]}
    said.unfinished.append(left)
    confirm(client, left, said)


def confirm(client: Any, left: dict[str, Any], said: Acknowledged) -> None:
    path = "/storage/" + left["url"].split("/storage/")[1]
    sent = client.put(path, content=parquet(samples(left["rows"])))
    assert sent.status_code in (200, 204, 409), sent.text
    answer = client.post(f"/cell_measurements/{left['id']}/confirm-upload", json=left["body"])
    assert answer.status_code == 200, answer.text
    said.measurements[left["id"]] = left["rows"]
    said.unfinished.remove(left)


def raw_file(client: Any, project: str, name: str, data: bytes, said: Acknowledged) -> None:
    body = {"project_id": project, "name": name, "filename": f"{name}.bin"}
    begun = told(client.post("/raw_data/initiate-upload", json=body))
    path = "/storage/" + begun["uploads"][0]["signed_url"].split("/storage/")[1]
    assert client.put(path, content=data).status_code in (200, 204)
    told(client.post(f"/raw_data/{begun['raw_data_id']}/confirm-upload", json=body))
    said.files[begun["raw_data_id"]] = data


def save(client: Any, board: str, plot: str, said: Acknowledged) -> None:
    present = told(client.get(f"{board}/plots/{plot}"))["revision"]
    changed = client.patch(f"{board}/plots/{plot}", json={"revision": present, "config": RECIPE})
    said.plots[plot] = told(changed)["revision"]


def until_killed(server: Server, work: Any, chance: random.Random) -> None:
    """Work in a loop until the server is gone, which it is at a moment that nobody chose."""
    stopped = threading.Event()

    def run() -> None:
        with server.client() as client:
            while not stopped.is_set():
                try:
                    work(client)
                except (httpx.TransportError, httpx.RemoteProtocolError):
                    return

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(chance.uniform(0.05, 1.5))
    server.kill()
    stopped.set()
    for thread in threads:
        thread.join(70)
        assert not thread.is_alive()


def settled(client: Any, id: str) -> dict[str, Any]:
    """A measurement when nothing is processed any more."""

    def found() -> dict[str, Any] | None:
        one: dict[str, Any] = told(client.get(f"/cell_measurements/{id}"))
        return None if one["processing_status"] in ("pending", "running") else one

    return until(found, f"the end of the processing of {id}")


def everything(client: Any, path: str, project: str) -> set[str]:
    """The ids of a list, page by page."""
    ids: list[str] = []
    while True:
        page = told(client.get(path, params={"project_id": project, "limit": 100, "offset": len(ids)}))
        ids += [one["id"] for one in page["items"]]
        if not page["items"]:
            return set(ids)


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_was_acknowledged_is_there_after_every_kill(tmp_path: Path, workers: str) -> None:
    store, chance, said, count = tmp_path / "lab.db", random.Random(3), Acknowledged(), 0
    server = Server(store, "--trust-transforms", "--workers", workers)
    key = server.key
    with server.client() as client:
        project = told(client.get("/projects"))["items"][0]["id"]
        body = {"name": "S", "ratings": RATINGS, "project_id": project}
        specification = told(client.post("/cell_specifications", json=body))["id"]
        cell = told(client.post(f"/cell_specifications/{specification}/cell_instances", json={"name": "C"}))["id"]
        board = (
            f"/projects/{project}/dashboards/"
            + told(client.post(f"/projects/{project}/dashboards", json={"name": "B"}))["id"]
        )
        plot = told(client.post(f"{board}/plots", json={"name": "P", "config": RECIPE}))["id"]
    lock = threading.Lock()

    def work(client: Any) -> None:
        nonlocal count
        with lock:
            count += 1
            number = count
        kind = number % 3
        if kind == 0:
            upload(client, cell, f"M{number}", ROWS + number, said)
        elif kind == 1:
            raw_file(client, project, f"R{number}", bytes([number % 251]) * (1 << 20) + b"end", said)
        else:
            with lock:
                save(client, board, plot, said)

    for _ in range(ROUNDS):
        until_killed(server, work, chance)
        server = Server(store, "--trust-transforms", "--workers", workers, key=key)
        with server.client() as client:
            for left in list(said.unfinished):  # the client sends again what was not answered
                confirm(client, left, said)
            for id, rows in said.measurements.items():
                found = settled(client, id)
                assert (found["processing_status"], found["sample_count"]) == ("ready", rows)
            assert everything(client, "/cell_measurements", project) == set(said.measurements)
            assert told(client.get(f"{board}/plots/{plot}"))["revision"] >= said.plots.get(plot, 1)
            assert everything(client, "/raw_data", project) >= set(said.files)
            for id, data in said.files.items():
                url = told(client.get(f"/raw_data/{id}/download-url"))["url"]
                assert client.get("/storage/" + url.split("/storage/")[1]).content == data
    server.stop()
    with Store.open(store, create=False) as opened:
        assert opened.verify() == []
        for id, rows in said.measurements.items():
            time_column = opened.series.read(id, ["Time [s]"], scope=EVERYTHING)["Time [s]"].values
            assert np.array_equal(time_column, np.arange(rows))
    assert len(said.measurements) + len(said.files) + len(said.plots) >= 3
