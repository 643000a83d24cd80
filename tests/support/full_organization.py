"""An organization with one record of every kind, made over the wire as a client makes it."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from support.server_in_process import Lab, Person
from workbench.store.records.alerts import Seen
from workbench.store.scope import Scope

RATINGS = {
    "capacity": {"value": 5, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}
RECIPE: dict[str, Any] = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances"}}},
    "transform": "def transform(data, params):\n    return {'data': [], 'layout': {}}\n",
}


def samples(n: int = 600, **more: Any) -> Any:
    """A time series of discharge and charge steps, as an Arrow table."""
    time = np.arange(n) * 1.0
    step = (time // 100).astype(np.int64)
    turn = step % 2 == 0
    voltage = np.where(turn, 4.0 - time % 100 / 200, 3.5 + time % 100 / 200)
    columns = {
        "Time [s]": time,
        "Step count": step,
        "Current [A]": np.where(turn, 1.0, -1.0),
        "Voltage [V]": voltage,
        "Cycle from cycler": step // 2,
    }
    return pa.table({**columns, **more})


def parquet(table: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def put(lab: Lab, entry: dict[str, Any], data: bytes) -> Any:
    """Send bytes to a signed address, without a credential, as storage is sent to."""
    path = urlsplit(entry["signed_url"]).path
    return lab.client.put(path, content=data, headers={"Content-Type": "application/octet-stream"})


def upload(lab: Lab, who: Person, instance: str, name: str, table: Any, **fields: Any) -> dict[str, Any]:
    """A time series measurement by the three steps of an upload."""
    begun = begin(lab, who, instance, name)
    assert put(lab, begun["uploads"][0], parquet(table)).status_code == 200
    body = {
        "cell_instance_id": instance,
        "measurement": {"name": name, **fields},
        "measurement_type": "time_series",
    }
    made: dict[str, Any] = lab.json(
        "POST", f"/cell_measurements/{begun['measurement_id']}/confirm-upload", who, json=body
    )
    return made


def begin(lab: Lab, who: Person, instance: str, name: str, **more: Any) -> dict[str, Any]:
    path = f"/cell_instances/{instance}/cell_measurements/initiate-upload"
    made: dict[str, Any] = lab.json("POST", path, who, json={"measurement": {"name": name}, **more})
    return made


@dataclass
class World:
    """The ids of the records of one organization, by the names of their positions."""

    who: Person
    mark: str
    ids: dict[str, str] = field(default_factory=dict)


def make(lab: Lab, who: Person, mark: str) -> World:
    """One record of every kind; all their names begin with ``mark``."""
    world = World(who, mark, {"organization_id": who.organization_id, "user_id": who.user_id})
    ids = world.ids

    def new(position: str, path: str, body: dict[str, Any]) -> None:
        ids[position] = lab.json("POST", path, who, json={"name": f"{mark} {position}", **body})["id"]

    new("project_id", "/projects", {})
    project = {"project_id": ids["project_id"]}
    new("specification_id", "/cell_specifications", {"ratings": RATINGS, **project})
    new("batch_id", f"/cell_specifications/{ids['specification_id']}/cell_batches", {})
    new(
        "instance_id",
        f"/cell_specifications/{ids['specification_id']}/cell_instances",
        {"batch_id": ids["batch_id"]},
    )
    ids["measurement_id"] = upload(lab, who, ids["instance_id"], f"{mark} measurement", samples())["id"]
    new("material_id", "/materials", project)
    new("study_id", f"/projects/{ids['project_id']}/studies", {})
    new("spare_id", f"/projects/{ids['project_id']}/studies", {})
    new("model_id", "/models", {"config": {"type": mark}, **project})
    new("drive_cycle_id", "/drive-cycles", {"data": [[0, 1], [1, len(mark)]]})
    new("dashboard_id", f"/projects/{ids['project_id']}/dashboards", {})
    plots = f"/projects/{ids['project_id']}/dashboards/{ids['dashboard_id']}/plots"
    new("plot_id", plots, {"config": RECIPE})
    ids["session_id"] = lab.json("POST", "/agent/sessions", who, json={**project, "title": f"{mark} session"})[
        "id"
    ]
    said = {
        "role": "assistant",
        "content": {"parts": [{"type": "draft", "draft": {"name": f"{mark} draft", "config": RECIPE}}]},
    }
    shares = f"/projects/{ids['project_id']}/shares"
    ids["key_id"] = lab.store.people.issue(who.organization_id, who.user_id).id
    ids["share_id"] = lab.json("POST", shares, who, json={"dashboard_id": ids["dashboard_id"]})["id"]
    alert = {
        "plot_id": ids["plot_id"],
        "name": f"{mark} alert",
        "step": "cells",
        "column": "name",
        "equals": "no cell",
    }
    ids["alert_id"] = lab.json("POST", f"/projects/{ids['project_id']}/alerts", who, json=alert)["id"]
    ids["occurrence_id"] = _found(lab, ids)
    runs = f"/projects/{ids['project_id']}/analyses/runs"
    ids["run_id"] = lab.call("POST", runs, who, json={"type": "retention", "check": True}).json()["id"]
    board = f"/projects/{ids['project_id']}/dashboards/{ids['dashboard_id']}"
    begun = lab.json("POST", f"{board}/authoring-context", who, json={"prompt": mark, "plot_id": ids["plot_id"]})
    lab.json("POST", f"/agent/sessions/{begun['session_id']}/messages", who, json=said)
    _with_files(lab, world)
    _under_way(lab, world)
    _to_be_read(lab, world)
    return world


def _found(lab: Lab, ids: dict[str, str]) -> str:
    """Something that the alert found."""
    store = lab.store
    with store.transaction() as db:
        store.alerts.allow(db, "https://hooks.example.com/", lab.admin.user_id, private=False)
        scope = Scope("", ids["project_id"])
        alert = store.alerts.get(ids["alert_id"], scope)
        (one,) = store.alerts.note(db, alert, [Seen({"id": "a cell"})], store.latest())
    return one.id


def _with_files(lab: Lab, world: World) -> None:
    ids, who, mark = world.ids, world.who, world.mark

    def sent(position: str, path: str, fields: dict[str, str], part: str = "file") -> None:
        files = {part: ("data.parquet", parquet(samples()))}
        ids[position] = lab.json("POST", path, who, data={"name": f"{mark} {position}", **fields}, files=files)[
            "id"
        ]

    sent("analysis_id", "/analyses", {"measurement_id": ids["measurement_id"], "analysis_type": "dcir_from_hppc"})
    sent(
        "property_set_id",
        "/material_property_datasets",
        {"material_id": ids["material_id"], "project_id": ids["project_id"]},
    )
    sent(
        "simulation_id",
        "/simulations",
        {"project_id": ids["project_id"], "model_id": ids["model_id"], "study_id": ids["study_id"]},
        "time_series",
    )


def _to_be_read(lab: Lab, world: World) -> None:
    """A cycler file that was sent, and an ingest of another one."""
    place = f"/projects/{world.ids['project_id']}/ingests"
    for position in ("file_id", "ingest_id"):
        sent = lab.json("POST", f"{place}/files", world.who, params={"name": "a.csv"}, content=b"a,b\n1,2\n")
        world.ids[position] = sent["file"]
    world.ids["ingest_id"] = lab.json("POST", place, world.who, json={"files": [world.ids["ingest_id"]]})["id"]


def _under_way(lab: Lab, world: World) -> None:
    """Uploads that are begun and sent, not confirmed; and raw data that are."""
    ids, who, mark = world.ids, world.who, world.mark
    begun = begin(lab, who, ids["instance_id"], f"{mark} pending")
    assert put(lab, begun["uploads"][0], parquet(samples())).status_code == 200
    ids["upload_id"] = begun["measurement_id"]
    for position in ("raw_data_id", "raw_upload_id"):
        body = {"project_id": ids["project_id"], "name": f"{mark} {position}", "filename": "a.csv"}
        raw = lab.json("POST", "/raw_data/initiate-upload", who, json=body)
        assert put(lab, raw["uploads"][0], mark.encode()).status_code == 200
        ids[position] = raw["raw_data_id"]
    body["name"] = f"{mark} raw"
    lab.json("POST", f"/raw_data/{ids['raw_data_id']}/confirm-upload", who, json=body)
