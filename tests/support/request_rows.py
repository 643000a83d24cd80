"""What a request of each operation of the server carries beside the ids of its path.

``{name}`` stands for an id. The tests of rights, of ids of others and of credentials walk over these rows.
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from .full_organization import RATINGS, RECIPE, parquet, samples

Row = dict[str, Any]
FILE = {"file": ("data.parquet", parquet(samples()))}
NEW: Row = {"json": {"name": "A new one"}}
CHANGE: Row = {"json": {"name": "Another name"}}
NOTHING: Row = {}
OF_PROJECT, OF_DASHBOARD = "/projects/{project_id}", "/projects/{project_id}/dashboards/{dashboard_id}"
_PLOT = OF_DASHBOARD + "/plots/{plot_id}"
_KIND = OF_PROJECT + "/records/{kind}"
_SERIES = {"series": ("series.parquet", parquet(samples()))}
_MORE = samples()
_LATER = {
    "series": (
        "series.parquet",
        parquet(
            _MORE.set_column(0, "Time [s]", pc.add(_MORE["Time [s]"], 600.0)).set_column(
                1, "Step count", pc.add(_MORE["Step count"], 6)
            )
        ),
    )
}
_STUDY = OF_PROJECT + "/studies/{study_id}"
_SET = "/material_property_datasets/{property_set_id}"
_ORG = "/organizations/{organization_id}/users"
_KEYS = "/organizations/{organization_id}/keys"
_CONFIRM = {
    "json": {
        "measurement": {"name": "Confirmed"},
        "measurement_type": "time_series",
        "cell_instance_id": "{instance_id}",
    }
}
_RAW = {"json": {"name": "Raw", "filename": "a.csv", "project_id": "{project_id}"}}
_ZOOM = {"traces": [0], "x": [0, 1], "width": 100}

# What a request of each operation carries beside the ids of its path; ``{name}`` stands for an id.
ROWS: dict[str, Row] = {
    "GET /dashboards": NOTHING,
    "GET /users/me/recent": NOTHING,
    "PUT /users/me/recent/{bookmark_kind}/{bookmark_id}": NOTHING,
    "PUT /users/me/stars/{bookmark_kind}/{bookmark_id}": NOTHING,
    "DELETE /users/me/stars/{bookmark_kind}/{bookmark_id}": NOTHING,
    f"GET {OF_PROJECT}/kinds": NOTHING,
    f"GET {OF_PROJECT}/analyses/types": NOTHING,
    f"POST {OF_PROJECT}/analyses/runs": {"json": {"type": "retention", "check": True}},
    f"GET {OF_PROJECT}/analyses/runs/{{run_id}}": NOTHING,
    f"DELETE {OF_PROJECT}/analyses/runs/{{run_id}}": NOTHING,
    f"GET {OF_PROJECT}/analyses/arrival": NOTHING,
    f"PUT {OF_PROJECT}/analyses/arrival": {"json": {"on": True}},
    f"GET {OF_PROJECT}/gallery": NOTHING,
    f"GET {OF_PROJECT}/gallery/{{name}}": NOTHING,
    f"POST {OF_PROJECT}/gallery/{{name}}/figure": {"json": {}},
    f"POST {OF_PROJECT}/gallery/{{name}}/figure/detail": {"json": _ZOOM},
    f"POST {OF_PROJECT}/gallery/{{name}}/sketch": {"json": {}},
    f"POST {OF_PROJECT}/gallery/{{name}}/dataset": {"json": {}},
    f"GET {OF_PROJECT}/alerts": NOTHING,
    f"POST {OF_PROJECT}/alerts": {"json": {"plot_id": "{plot_id}", "name": "New cell", "step": "cells"}},
    f"GET {OF_PROJECT}/alerts/choices": {"params": {"plot_id": "{plot_id}"}},
    f"DELETE {OF_PROJECT}/alerts/{{alert_id}}": NOTHING,
    f"GET {OF_PROJECT}/alerts/occurrences": NOTHING,
    f"POST {OF_PROJECT}/alerts/occurrences/{{occurrence_id}}/acknowledge": NOTHING,
    "GET /webhook-addresses": NOTHING,
    "POST /webhook-addresses": {"json": {"address": "https://hooks.example.org/lab"}},
    "DELETE /webhook-addresses": {"params": {"address": "https://hooks.example.com/"}},
    f"POST {OF_PROJECT}/gallery": {"json": {"measurements": ["{measurement_id}"]}},
    f"POST {OF_PROJECT}/gallery/{{name}}": {"json": {"measurements": ["{measurement_id}"]}},
    f"GET {OF_PROJECT}/shares": NOTHING,
    f"POST {OF_PROJECT}/shares": {"json": {"dashboard_id": "{dashboard_id}"}},
    f"DELETE {OF_PROJECT}/shares/{{share_id}}": NOTHING,
    "GET /shared/{token}": NOTHING,
    "GET /shared/{token}/plots/{shown_plot_id}/figure": NOTHING,
    "POST /shared/{token}/plots/{shown_plot_id}/figure/detail": {"json": _ZOOM},
    "GET /shared/{token}/plots/{shown_plot_id}/data": NOTHING,
    f"GET {OF_DASHBOARD}/export": NOTHING,
    f"GET {OF_DASHBOARD}/sketch": NOTHING,
    f"GET {_PLOT}/figure": NOTHING,
    f"GET {_PLOT}/export": NOTHING,
    f"GET {_PLOT}/export/size": NOTHING,
    f"GET {OF_DASHBOARD}/export/size": NOTHING,
    f"POST {OF_PROJECT}/figures/current": {
        "json": {"plots": [{"id": "{plot_id}", "revision": 1, "content": "none", "values": {}}]}
    },
    "GET /healthz": NOTHING,
    "GET /readyz": NOTHING,
    "GET /metrics": NOTHING,
    "GET /user/billing-portal": NOTHING,
    "GET /session": NOTHING,
    "POST /session": {"json": {"key": "nonsense"}, "headers": {"X-Workbench": "1"}},
    "DELETE /session": {"headers": {"X-Workbench": "1"}},
    "GET /users/me": NOTHING,
    "GET /organizations/current/usage": NOTHING,
    f"GET {_ORG}": NOTHING,
    "GET /organizations/{organization_id}/audit-log": NOTHING,
    f"POST {_ORG}/by-email": {"json": {"email": "new@lab.org"}},
    f"PATCH {_ORG}/{{user_id}}": {"json": {"is_active": True}},
    f"PATCH {_ORG}/{{user_id}}/role": {"json": {"role_name": "Admin"}},
    f"POST {_ORG}/{{user_id}}/resend-invite": {"json": {}},
    f"DELETE {_ORG}/{{user_id}}": NOTHING,
    f"GET {_KEYS}": NOTHING,
    f"POST {_KEYS}": {"json": {"user_id": "{user_id}", "days": 1}},
    f"DELETE {_KEYS}/{{key_id}}": NOTHING,
    "GET /roles/project": NOTHING,
    f"POST {OF_PROJECT}/members": {"json": {"user_id": "{user_id}", "project_role_id": "project-admin"}},
    f"PATCH {OF_PROJECT}/members/{{user_id}}": {"json": {"project_role_id": "project-admin"}},
    f"DELETE {OF_PROJECT}/members/{{user_id}}": NOTHING,
    f"POST {OF_PROJECT}/invites": {"json": {"email": "other@lab.org", "project_role_id": "project-viewer"}},
    "GET /projects": NOTHING,
    "POST /projects": NEW,
    f"GET {OF_PROJECT}": NOTHING,
    f"PATCH {OF_PROJECT}": CHANGE,
    f"DELETE {OF_PROJECT}": NOTHING,
    f"GET {OF_PROJECT}/catalog": NOTHING,
    "GET /cell_specifications": NOTHING,
    "POST /cell_specifications": {"json": {"name": "New", "ratings": RATINGS, "project_id": "{project_id}"}},
    f"GET {OF_PROJECT}/cell_specs": NOTHING,
    "GET /cell_specifications/{specification_id}": NOTHING,
    "PATCH /cell_specifications/{specification_id}": CHANGE,
    "DELETE /cell_specifications/{specification_id}": NOTHING,
    "GET /cell_specifications/{specification_id}/cell_instances": NOTHING,
    "POST /cell_specifications/{specification_id}/cell_instances": NEW,
    "GET /cell_instances/{instance_id}": NOTHING,
    "PATCH /cell_instances/{instance_id}": CHANGE,
    "DELETE /cell_instances/{instance_id}": NOTHING,
    "GET /cell_specifications/{specification_id}/cell_batches": NOTHING,
    "POST /cell_specifications/{specification_id}/cell_batches": NEW,
    "GET /cell_batches/{batch_id}": NOTHING,
    "PATCH /cell_batches/{batch_id}": CHANGE,
    "DELETE /cell_batches/{batch_id}": NOTHING,
    "GET /cell_instances/{instance_id}/cell_measurements": NOTHING,
    "GET /cell_measurements": {"params": {"project_id": "{project_id}"}},
    "GET /cell_measurements/tags": {"params": {"project_id": "{project_id}"}},
    "POST /cell_measurements/tags/bulk": {"json": {"measurement_ids": ["{measurement_id}"], "add": ["tag"]}},
    "GET /cell_measurements/{measurement_id}": NOTHING,
    "PATCH /cell_measurements/{measurement_id}": CHANGE,
    "DELETE /cell_measurements/{measurement_id}": NOTHING,
    "POST /cell_instances/{instance_id}/cell_measurements/create": {
        "json": {"name": "Mass", "properties": {"g": 1}}
    },
    "GET /cell_measurements/{measurement_id}/time_series/download": NOTHING,
    "GET /cell_measurements/{measurement_id}/steps/download": NOTHING,
    "GET /cell_measurements/{measurement_id}/cycles": NOTHING,
    "GET /cell_measurements/{measurement_id}/steps_and_cycles": NOTHING,
    "GET /cell_measurements/{measurement_id}/files": NOTHING,
    "GET /cell_measurements/{measurement_id}/files/{filename}": NOTHING,
    "POST /cell_measurements/{measurement_id}/raw_data": {"json": {"raw_data_ids": ["{raw_data_id}"]}},
    "DELETE /cell_measurements/{measurement_id}/raw_data/{raw_data_id}": NOTHING,
    "GET /cell_measurements/{measurement_id}/raw_data": NOTHING,
    "POST /cell_instances/{instance_id}/cell_measurements/initiate-upload": {
        "json": {"measurement": {"name": "Up"}}
    },
    "POST /cell_measurements/{upload_id}/confirm-upload": _CONFIRM,
    "POST /cell_measurements/{measurement_id}/initiate-extend": {"json": {}},
    "POST /cell_measurements/{measurement_id}/confirm-extend": {"json": {}},
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
    f"GET {_SET}": NOTHING,
    f"PATCH {_SET}": CHANGE,
    f"DELETE {_SET}": NOTHING,
    f"GET {_SET}/data": NOTHING,
    f"PATCH {_SET}/file": {"files": FILE},
    f"GET {_SET}/download-url": NOTHING,
    "GET /analyses": {"params": {"measurement_id": "{measurement_id}"}},
    "POST /analyses": {
        "data": {"name": "New", "measurement_id": "{measurement_id}", "analysis_type": "any"},
        "files": FILE,
    },
    "GET /analyses/{analysis_id}": NOTHING,
    "PATCH /analyses/{analysis_id}": CHANGE,
    "DELETE /analyses/{analysis_id}": NOTHING,
    "GET /analyses/{analysis_id}/download-url": NOTHING,
    f"GET {OF_PROJECT}/studies": NOTHING,
    f"POST {OF_PROJECT}/studies": NEW,
    f"GET {_STUDY}": NOTHING,
    f"PATCH {_STUDY}": CHANGE,
    f"DELETE {_STUDY}": NOTHING,
    f"POST {_STUDY}/measurements/{{measurement_id}}": {"json": {}},
    f"DELETE {_STUDY}/measurements/{{measurement_id}}": NOTHING,
    f"GET {_STUDY}/measurements": NOTHING,
    f"POST {_STUDY}/simulations/{{simulation_id}}": {"json": {}},
    f"DELETE {_STUDY}/simulations/{{simulation_id}}": NOTHING,
    f"GET {_STUDY}/simulations": NOTHING,
    "GET /models": {"params": {"project_id": "{project_id}"}},
    "POST /models": {"json": {"name": "New", "config": {}, "project_id": "{project_id}"}},
    "POST /models/upload-custom": {
        "data": {"name": "New", "project_id": "{project_id}"},
        "files": {"file": ("model.json", b"{}")},
    },
    "GET /models/{model_id}": NOTHING,
    "PATCH /models/{model_id}": CHANGE,
    "DELETE /models/{model_id}": NOTHING,
    "POST /models/{model_id}/custom-variables": {"json": {"name": "v", "expression": "1"}},
    "GET /simulations": {"params": {"study_id": "{study_id}"}},
    "POST /simulations/statuses": {"json": {"simulation_ids": ["{simulation_id}"]}},
    "POST /simulations": {
        "data": {"name": "New", "project_id": "{project_id}", "model_id": "{model_id}", "study_id": "{study_id}"},
        "files": {"time_series": ("t.parquet", parquet(samples()))},
    },
    "GET /simulations/{simulation_id}": NOTHING,
    "DELETE /simulations/{simulation_id}": NOTHING,
    "GET /simulations/{simulation_id}/time_series/download": NOTHING,
    "GET /simulations/{simulation_id}/steps/download": NOTHING,
    "GET /drive-cycles": NOTHING,
    "POST /drive-cycles": {"json": {"name": "New", "data": [[0, 1]], "measurement_id": "{measurement_id}"}},
    "GET /drive-cycles/{drive_cycle_id}": NOTHING,
    "DELETE /drive-cycles/{drive_cycle_id}": NOTHING,
    "POST /raw_data/initiate-upload": _RAW,
    "POST /raw_data/{upload_id}/confirm-upload": _RAW,
    "GET /raw_data": {"params": {"project_id": "{project_id}"}},
    "GET /raw_data/{raw_data_id}": NOTHING,
    "PATCH /raw_data/{raw_data_id}": CHANGE,
    "DELETE /raw_data/{raw_data_id}": NOTHING,
    "GET /raw_data/{raw_data_id}/download-url": NOTHING,
    "GET /raw_data/{raw_data_id}/cell_measurements": NOTHING,
    "GET /search": {"params": {"q": "SECRET", "project_id": "{project_id}"}},
    "GET /recipe/schema": NOTHING,
    f"POST {OF_PROJECT}/datasets": {"json": {"config": RECIPE}},
    f"POST {OF_PROJECT}/figures": {"json": {"config": RECIPE}},
    f"POST {OF_PROJECT}/figures/picture": {"json": {"config": RECIPE}},
    f"GET {OF_PROJECT}/authoring-context": {"params": {"wish": "Fade"}},
    f"POST {OF_PROJECT}/figures/detail": {"json": {"config": RECIPE, **_ZOOM}},
    f"GET {OF_PROJECT}/dashboards": NOTHING,
    f"POST {OF_PROJECT}/dashboards": NEW,
    f"GET {OF_DASHBOARD}": NOTHING,
    f"PATCH {OF_DASHBOARD}": CHANGE,
    f"DELETE {OF_DASHBOARD}": NOTHING,
    f"GET {OF_DASHBOARD}/plots": NOTHING,
    f"POST {OF_DASHBOARD}/plots": {"json": {"name": "New", "config": RECIPE}},
    f"GET {_PLOT}": NOTHING,
    f"PATCH {_PLOT}": {"json": {"revision": 1, "name": "Renamed"}},
    f"DELETE {_PLOT}": NOTHING,
    f"GET {_PLOT}/revisions": NOTHING,
    f"GET {_PLOT}/revisions/{{number}}": NOTHING,
    f"GET {_PLOT}/revisions/{{number}}/session": NOTHING,
    f"POST {_PLOT}/revisions/{{number}}/restore": NOTHING,
    f"POST {_PLOT}/figure": {"json": {}},
    f"POST {_PLOT}/figure/detail": {"json": _ZOOM},
    f"GET {_PLOT}/data": NOTHING,
    f"POST {_PLOT}/dataset": {"json": {}},
    f"POST {OF_PROJECT}/recipes/check": {"json": {"config": RECIPE}},
    f"POST {OF_PROJECT}/recipes/options": {"json": {"config": RECIPE}},
    f"GET {_KIND}": NOTHING,
    f"POST {_KIND}": {"json": {"name": "New", "measurement_type": "properties", "instance_id": "{instance_id}"}},
    f"POST {_KIND}/list": {"json": {}},
    f"POST {_KIND}/with-tables": {"data": {"fields": '{"name": "New"}'}, "files": _SERIES},
    f"PATCH {_KIND}/{{record_id}}": CHANGE,
    f"DELETE {_KIND}/{{record_id}}": NOTHING,
    f"GET {_KIND}/{{record_id}}/table": NOTHING,
    f"POST {_KIND}/{{record_id}}/extend": {"files": _LATER},
    f"POST {OF_PROJECT}/ingests/files": {"params": {"name": "a.csv"}, "content": b"a,b"},
    f"POST {OF_PROJECT}/ingests": {"json": {"files": ["{file_id}"]}},
    f"GET {OF_PROJECT}/ingests/{{ingest_id}}": NOTHING,
    f"POST {OF_PROJECT}/authoring/answers": {
        "json": {"answer": {"say": "A plot", "draft": {"name": "P", "config": RECIPE}}}
    },
    f"POST {OF_PROJECT}/authoring/proposals": {"json": {"wish": "How many cells are there in each batch?"}},
    f"POST {OF_DASHBOARD}/authoring-context": {"json": {"prompt": "A plot", "plot_id": "{plot_id}"}},
    f"POST {OF_DASHBOARD}/authoring-decision": {"json": {"plot_id": "{plot_id}"}},
    "GET /agent/sessions": {"params": {"project_id": "{project_id}"}},
    "GET /agent/sessions/{session_id}": NOTHING,
    "GET /store/verify": NOTHING,
    "GET /store/backup": NOTHING,
    "POST /agent/sessions": {"json": {"project_id": "{project_id}", "title": "New"}},
    "GET /agent/sessions/{session_id}/messages": NOTHING,
    "POST /agent/sessions/{session_id}/messages": {"json": {"role": "user", "content": {"text": "Hello"}}},
    "GET /storage/{ticket}/{filename}": NOTHING,
    "PUT /storage/{ticket}/{filename}": {"content": b"bytes"},
}
