"""Every operation of the server with what a request of it carries."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.recordings.asking import UNKNOWN, Asking
from tests.stores.old_store import KEYS, PROJECT, id_of

Row = dict[str, Any]


def samples(n: int = 60, start: float = 0.0, step: int = 0) -> pa.Table:
    """A discharge and a charge, a sample a second."""
    half = np.arange(n) < n // 2
    return pa.table(
        {
            "Time [s]": start + np.arange(n, dtype=float),
            "Step count": step + np.where(half, 0, 1).astype(np.int64),
            "Current [A]": np.where(half, 1.0, -1.0),
            "Voltage [V]": np.where(half, 4.0 - np.arange(n) / n, 3.2 + np.arange(n) / n),
        }
    )


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


IDS = {
    "project_id": id_of("projects", PROJECT),
    "specification_id": id_of("specifications", "Pouch 500"),
    "batch_id": id_of("batches", "A"),
    "instance_id": id_of("instances", "P-A-1"),
    "measurement_id": id_of("measurements", "P-A-1", "life 1"),
    "material_id": id_of("materials", "NMC 811"),
    "property_set_id": id_of("material_properties", "OCP"),
    "analysis_id": id_of("analyses", "resistance"),
    "study_id": id_of("studies", "Fade of pouches"),
    "simulation_id": id_of("simulations", "1C"),
    "model_id": id_of("models", "Single particle"),
    "drive_cycle_id": id_of("drive_cycles", "Town"),
    "dashboard_id": id_of("dashboards", "Ageing"),
    "plot_id": id_of("plots", "Masses"),
    "raw_data_id": id_of("raw_data", "export.txt"),
    "session_id": id_of("sessions", "Draw lines instead"),
    "organization_id": id_of("organizations", "Local"),
    "user_id": KEYS["viewer"]["user_id"],
    "upload_id": id_of("uploads", "upload measurement open"),
    "raw_upload_id": id_of("uploads", "upload raw_data open"),
    "record_id": id_of("measurements", "P-A-1", "weighing"),
    "ingest_id": UNKNOWN,
    "file_id": UNKNOWN,
    "kind": "measurements",
    "number": "1",
    "ticket": "none",
    "filename": "list.csv",
}
RATINGS = {
    "capacity": {"value": 5, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}
RECIPE: Row = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name"]}}},
    "transform": "def transform(data, params):\n"
    "    return {'data': [{'type': 'bar', 'y': data['cells']['name']}], 'layout': {}}\n",
}
SAMPLES = ("data.parquet", parquet(samples()), "application/octet-stream")
FILE = {"file": SAMPLES}
NEW: Row = {"json": {"name": "A new one"}}
CHANGE: Row = {"json": {"name": "Another name"}}
NOTHING: Row = {}
P, D = "/projects/{project_id}", "/projects/{project_id}/dashboards/{dashboard_id}"
PLOT, KIND, STUDY = D + "/plots/{plot_id}", P + "/records/{kind}", P + "/studies/{study_id}"
SET, ORG, INGESTS = (
    "/material_property_datasets/{property_set_id}",
    "/organizations/{organization_id}/users",
    P + "/ingests",
)
CELL, TEST, SPEC = (
    "/cell_instances/{instance_id}",
    "/cell_measurements/{measurement_id}",
    "/cell_specifications/{specification_id}",
)
RAW: Row = {"json": {"name": "Raw", "filename": "a.csv", "project_id": "{project_id}"}}
ZOOM = {"traces": [0], "x": [0, 1], "width": 100}
CONFIRM: Row = {
    "json": {
        "measurement": {"name": "Confirmed"},
        "measurement_type": "time_series",
        "cell_instance_id": "{instance_id}",
    }
}

OPERATIONS: dict[str, Row] = {
    "GET /healthz": NOTHING,
    "GET /user/billing-portal": NOTHING,
    "GET /users/me": NOTHING,
    "GET /organizations/current/usage": NOTHING,
    f"GET {ORG}": NOTHING,
    f"POST {ORG}/by-email": {"json": {"email": "new@lab.example", "role_name": "Member"}},
    f"PATCH {ORG}/{{user_id}}": {"json": {"is_active": True}},
    f"PATCH {ORG}/{{user_id}}/role": {"json": {"role_name": "Admin"}},
    f"POST {ORG}/{{user_id}}/resend-invite": {"json": {}},
    f"DELETE {ORG}/{{user_id}}": NOTHING,
    "GET /roles/project": NOTHING,
    f"POST {P}/members": {"json": {"user_id": "{user_id}", "project_role_id": "project-contributor"}},
    f"PATCH {P}/members/{{user_id}}": {"json": {"project_role_id": "project-viewer"}},
    f"DELETE {P}/members/{{user_id}}": NOTHING,
    f"POST {P}/invites": {"json": {"email": "other@lab.example", "project_role_id": "project-viewer"}},
    "GET /projects": NOTHING,
    "POST /projects": NEW,
    f"GET {P}": NOTHING,
    f"PATCH {P}": CHANGE,
    f"DELETE {P}": NOTHING,
    f"GET {P}/catalog": NOTHING,
    "GET /cell_specifications": NOTHING,
    "POST /cell_specifications": {"json": {"name": "New", "ratings": RATINGS, "project_id": "{project_id}"}},
    f"GET {P}/cell_specs": NOTHING,
    f"GET {SPEC}": NOTHING,
    f"PATCH {SPEC}": CHANGE,
    f"DELETE {SPEC}": NOTHING,
    f"GET {SPEC}/cell_instances": NOTHING,
    f"POST {SPEC}/cell_instances": NEW,
    f"GET {CELL}": NOTHING,
    f"PATCH {CELL}": CHANGE,
    f"DELETE {CELL}": NOTHING,
    f"GET {SPEC}/cell_batches": NOTHING,
    f"POST {SPEC}/cell_batches": NEW,
    "GET /cell_batches/{batch_id}": NOTHING,
    "PATCH /cell_batches/{batch_id}": CHANGE,
    "DELETE /cell_batches/{batch_id}": NOTHING,
    f"GET {CELL}/cell_measurements": NOTHING,
    "GET /cell_measurements": {"params": {"project_id": "{project_id}"}},
    "GET /cell_measurements/tags": {"params": {"project_id": "{project_id}"}},
    "POST /cell_measurements/tags/bulk": {"json": {"measurement_ids": ["{measurement_id}"], "add": ["tag"]}},
    f"GET {TEST}": NOTHING,
    f"PATCH {TEST}": CHANGE,
    f"DELETE {TEST}": NOTHING,
    f"POST {CELL}/cell_measurements/create": {"json": {"name": "Mass", "properties": {"g": 1}}},
    f"GET {TEST}/time_series/download": NOTHING,
    f"GET {TEST}/steps/download": NOTHING,
    f"GET {TEST}/cycles": NOTHING,
    f"GET {TEST}/steps_and_cycles": NOTHING,
    f"GET {TEST}/files": NOTHING,
    f"GET {TEST}/files/{{filename}}": NOTHING,
    f"POST {TEST}/raw_data": {"json": {"raw_data_ids": ["{raw_data_id}"]}},
    f"DELETE {TEST}/raw_data/{{raw_data_id}}": NOTHING,
    f"GET {TEST}/raw_data": NOTHING,
    f"POST {CELL}/cell_measurements/initiate-upload": {"json": {"measurement": {"name": "Up"}}},
    "POST /cell_measurements/{upload_id}/confirm-upload": CONFIRM,
    f"POST {TEST}/initiate-extend": {"json": {}},
    f"POST {TEST}/confirm-extend": {"json": {}},
    "GET /materials": {"params": {"project_id": "{project_id}"}},
    "POST /materials": {"json": {"name": "New", "project_id": "{project_id}"}},
    "GET /materials/{material_id}": NOTHING,
    "PATCH /materials/{material_id}": CHANGE,
    "DELETE /materials/{material_id}": NOTHING,
    "GET /material_property_datasets": {"params": {"material_id": "{material_id}"}},
    "POST /material_property_datasets": {
        "data": {"name": "New", "material_id": "{material_id}", "project_id": "{project_id}"},
        "files": FILE,
    },
    f"GET {SET}": NOTHING,
    f"PATCH {SET}": CHANGE,
    f"DELETE {SET}": NOTHING,
    f"GET {SET}/data": NOTHING,
    f"PATCH {SET}/file": {"files": FILE},
    f"GET {SET}/download-url": NOTHING,
    "GET /analyses": {"params": {"measurement_id": "{measurement_id}"}},
    "POST /analyses": {
        "data": {"name": "New", "measurement_id": "{measurement_id}", "analysis_type": "any"},
        "files": FILE,
    },
    "GET /analyses/{analysis_id}": NOTHING,
    "PATCH /analyses/{analysis_id}": CHANGE,
    "DELETE /analyses/{analysis_id}": NOTHING,
    "GET /analyses/{analysis_id}/download-url": NOTHING,
    f"GET {P}/studies": NOTHING,
    f"POST {P}/studies": NEW,
    f"GET {STUDY}": NOTHING,
    f"PATCH {STUDY}": CHANGE,
    f"DELETE {STUDY}": NOTHING,
    f"POST {STUDY}/measurements/{{measurement_id}}": {"json": {}},
    f"DELETE {STUDY}/measurements/{{measurement_id}}": NOTHING,
    f"GET {STUDY}/measurements": NOTHING,
    f"POST {STUDY}/simulations/{{simulation_id}}": {"json": {}},
    f"DELETE {STUDY}/simulations/{{simulation_id}}": NOTHING,
    f"GET {STUDY}/simulations": NOTHING,
    "GET /models": {"params": {"project_id": "{project_id}"}},
    "POST /models": {"json": {"name": "New", "config": {}, "project_id": "{project_id}"}},
    "POST /models/upload-custom": {
        "data": {"name": "New", "project_id": "{project_id}"},
        "files": {"file": ("model.json", b"{}", "application/json")},
    },
    "GET /models/{model_id}": NOTHING,
    "PATCH /models/{model_id}": CHANGE,
    "DELETE /models/{model_id}": NOTHING,
    "POST /models/{model_id}/custom-variables": {"json": {"name": "v", "expression": "1"}},
    "GET /simulations": {"params": {"study_id": "{study_id}"}},
    "POST /simulations/statuses": {"json": {"simulation_ids": ["{simulation_id}"]}},
    "POST /simulations": {
        "data": {"name": "New", "project_id": "{project_id}", "model_id": "{model_id}", "study_id": "{study_id}"},
        "files": {"time_series": SAMPLES},
    },
    "GET /simulations/{simulation_id}": NOTHING,
    "DELETE /simulations/{simulation_id}": NOTHING,
    "GET /simulations/{simulation_id}/time_series/download": NOTHING,
    "GET /simulations/{simulation_id}/steps/download": NOTHING,
    "GET /drive-cycles": NOTHING,
    "POST /drive-cycles": {"json": {"name": "New", "data": [[0, 1]], "measurement_id": "{measurement_id}"}},
    "GET /drive-cycles/{drive_cycle_id}": NOTHING,
    "DELETE /drive-cycles/{drive_cycle_id}": NOTHING,
    "POST /raw_data/initiate-upload": RAW,
    "POST /raw_data/{raw_upload_id}/confirm-upload": {"json": {**RAW["json"], "filename": "open.txt"}},
    "GET /raw_data": {"params": {"project_id": "{project_id}"}},
    "GET /raw_data/{raw_data_id}": NOTHING,
    "PATCH /raw_data/{raw_data_id}": CHANGE,
    "DELETE /raw_data/{raw_data_id}": NOTHING,
    "GET /raw_data/{raw_data_id}/download-url": NOTHING,
    "GET /raw_data/{raw_data_id}/cell_measurements": NOTHING,
    "GET /search": {"params": {"q": "life", "project_id": "{project_id}"}},
    "GET /recipe/schema": NOTHING,
    f"POST {P}/datasets": {"json": {"config": RECIPE}},
    f"POST {P}/figures": {"json": {"config": RECIPE}},
    f"POST {P}/figures/detail": {"json": {"config": RECIPE, **ZOOM}},
    f"GET {P}/dashboards": NOTHING,
    f"POST {P}/dashboards": NEW,
    f"GET {D}": NOTHING,
    f"PATCH {D}": CHANGE,
    f"DELETE {D}": NOTHING,
    f"GET {D}/plots": NOTHING,
    f"POST {D}/plots": {"json": {"name": "New", "config": RECIPE}},
    f"GET {PLOT}": NOTHING,
    f"PATCH {PLOT}": {"json": {"revision": 4, "name": "Renamed"}},
    f"DELETE {PLOT}": NOTHING,
    f"GET {PLOT}/revisions": NOTHING,
    f"POST {PLOT}/revisions/{{number}}/restore": NOTHING,
    f"POST {PLOT}/figure": {"json": {}},
    f"POST {PLOT}/figure/detail": {"json": ZOOM},
    f"GET {PLOT}/data": NOTHING,
    f"POST {PLOT}/dataset": {"json": {}},
    f"POST {P}/recipes/check": {"json": {"config": RECIPE}},
    f"POST {P}/recipes/options": {"json": {"config": RECIPE}},
    f"GET {KIND}": NOTHING,
    f"POST {KIND}": {"json": {"name": "New", "measurement_type": "properties", "instance_id": "{instance_id}"}},
    f"POST {KIND}/list": {"json": {}},
    f"POST {KIND}/with-tables": {
        "data": {"fields": json.dumps({"name": "With tables", "instance_id": IDS["instance_id"]})},
        "files": {"series": SAMPLES},
    },
    f"PATCH {KIND}/{{record_id}}": CHANGE,
    f"DELETE {KIND}/{{record_id}}": NOTHING,
    f"GET {KIND}/{{record_id}}/table": NOTHING,
    f"POST {KIND}/{{record_id}}/extend": {
        "files": {"series": ("s.parquet", parquet(samples(60, 1e6, 30)), "application/octet-stream")}
    },
    f"POST {INGESTS}/files": {"params": {"name": "a.csv"}, "content": b"a,b\n1,2\n"},
    f"POST {INGESTS}": {"json": {"files": ["{file_id}"]}},
    f"GET {INGESTS}/{{ingest_id}}": NOTHING,
    f"POST {D}/authoring-context": {"json": {"prompt": "A plot", "plot_id": "{plot_id}"}},
    f"POST {D}/authoring-decision": {"json": {"name": "Decided", "new_plot_id": UNKNOWN}},
    "GET /agent/sessions": {"params": {"project_id": "{project_id}"}},
    "POST /agent/sessions": {"json": {"project_id": "{project_id}", "title": "New"}},
    "GET /agent/sessions/{session_id}/messages": NOTHING,
    "POST /agent/sessions/{session_id}/messages": {"json": {"role": "user", "content": {"text": "Hello"}}},
    "GET /storage/{ticket}/{filename}": NOTHING,
    "PUT /storage/{ticket}/{filename}": {"content": b"bytes"},
}
"""``METHOD /path`` -> what a request of it carries; ``{name}`` is an id of ``IDS``."""
OPEN = ("GET /healthz",)
SIGNED = ("GET /storage/{ticket}/{filename}", "PUT /storage/{ticket}/{filename}")
KEYED = [name for name in OPERATIONS if name not in (*OPEN, *SIGNED)]


def filled(value: Any, ids: dict[str, str]) -> Any:
    """A value with its ids."""
    if isinstance(value, str):
        return re.sub(r"^\{(\w+)\}$", lambda found: ids[found[1]], value)
    if isinstance(value, dict):
        return {key: filled(item, ids) for key, item in value.items()}
    return [filled(item, ids) for item in value] if isinstance(value, list) else value


def ask(asking: Asking, name: str, ids: dict[str, str] | None = None, **more: Any) -> Any:
    """Send the request of an operation; ``more`` in place of what its row says."""
    found = {**IDS, **(ids or {})}
    method, _, path = name.partition(" ")
    row = {**filled(OPERATIONS[name], found), **more}
    given = row.pop("json", None)
    if "body" in more:
        row = {key: value for key, value in row.items() if key not in ("data", "files", "content")}
    elif given is not None:
        row["body"] = given
        row.setdefault("note", "")
    if "files" in row and "note" not in row:
        row["note"] = "a form"
    row.setdefault("label", name + "".join(f" {place}={id}" for place, id in (ids or {}).items()))
    return asking(method, path.format_map(found), **row)
