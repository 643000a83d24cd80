"""What each operation refuses, and every list with its filters: each flow on a fresh copy of the store."""

from __future__ import annotations

import re

from tests.recordings.asking import UNKNOWN, Asking, flow
from tests.recordings.operations import (
    CELL,
    IDS,
    KEYED,
    KIND,
    OPERATIONS,
    ORG,
    PLOT,
    SPEC,
    STUDY,
    TEST,
    D,
    P,
    ask,
    filled,
)
from tests.stores.old_store import KEYS, id_of

# Who may


@flow()
def without_a_key(asking: Asking) -> None:
    """No key, a malformed body without one, and keys that open nothing: 401."""
    for name in KEYED:
        ask(asking, name, who=None)
        if OPERATIONS[name]:
            ask(asking, name, who=None, body=b'{"name": ', note="malformed body")
    powerless = (
        {"X-API-Key": "nonsense"},
        {"X-API-Key": "wb_none_none"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic eDp5"},
    )
    for name in ("GET /users/me", f"GET {P}", "POST /projects", f"POST {PLOT}/figure", f"DELETE {TEST}"):
        for headers in (*powerless, {"X-API-Key": "x" * 300}, {"X-API-Key": ""}):
            ask(asking, name, who=None, headers=headers, note=next(iter(headers.items()))[1][:20])
        for who in ("revoked", "expired", "suspended"):
            ask(asking, name, who=who)
        ask(asking, name, who=None, body=b"x", headers={"Content-Length": "99999999"}, note="announced too large")
    for headers in (
        {"Authorization": f"Bearer {KEYS['viewer']['key']}"},
        {"Authorization": f"bearer  {KEYS['viewer']['key']}"},
    ):
        asking("GET", "/users/me", who=None, headers=headers, note="bearer")
    for organization in (IDS["organization_id"], id_of("organizations", "Other laboratory"), "x"):
        asking(
            "GET", "/users/me", headers={"X-Organization-Id": organization}, note=f"organization {organization}"
        )


@flow(longest=500)
def viewers(asking: Asking) -> None:
    """What a viewer's key may: read; the rest is 403. Sessions are their user's alone."""
    for name in KEYED:
        ask(asking, name, who="viewer")


@flow(longest=500)
def strangers(asking: Asking) -> None:
    """Keys of another organization, and of a member without a role: what is there is not found."""
    for name in KEYED:
        if "{" in name:
            ask(asking, name, who="stranger")
        ask(asking, name, who="nobody")


@flow(longest=500)
def contributors(asking: Asking) -> None:
    """What takes more than a contributor."""
    for name in KEYED:
        if (
            "/members" in name
            or "/invites" in name
            or "/organizations/{" in name
            or name in (f"PATCH {P}", f"DELETE {P}")
        ):
            ask(asking, name, who="contributor")
            ask(asking, name, who="manager", note="a project's admin") if not name.startswith("DELETE") else None
    for who in ("contributor", "manager"):
        asking("POST", "/projects", {"name": f"by a {who}"}, who=who)
        asking("GET", "/projects", who=who)


# What is not there


@flow()
def unknown_ids(asking: Asking) -> None:
    """An unknown id, a malformed one and one of another project, in every place of a path."""
    others = {"instance_id": id_of("instances", "Q-1"), "dashboard_id": id_of("dashboards", "Of the second")}
    others["specification_id"] = id_of("specifications", "Prismatic")
    for name in KEYED:
        for place in re.findall(r"\{(\w+)\}", name.partition(" ")[2]):
            if place not in ("filename", "kind"):
                ask(asking, name, {place: UNKNOWN})
                ask(asking, name, {place: "no-id"})
        for place, other in others.items():
            if f"{{{place}}}" in name and "{project_id}" in name and not name.startswith("DELETE"):
                ask(asking, name, {place: other})
    for kind in ("users", "plots", "nothing", "Measurements"):
        ask(asking, f"GET {KIND}", {"kind": kind})
    for name in (f"PATCH {PLOT}", f"GET {PLOT}", f"POST {PLOT}/figure"):
        ask(asking, name, {"dashboard_id": id_of("dashboards", "Empty board")})
    for number in ("0", "99", "x", "1.0", "-1"):
        ask(asking, f"POST {PLOT}/revisions/{{number}}/restore", {"number": number})
    for ticket in ("none", "AAAA" * 20, "!"):
        asking("GET", f"/storage/{ticket}/a", who=None)
        asking("PUT", f"/storage/{ticket}/a", b"x", who=None)


# Queries


@flow()
def wrong_queries(asking: Asking) -> None:
    """A parameter that is not there, for every operation, and values that are none of theirs."""
    for name in KEYED:
        ask(asking, name, params=[*filled(OPERATIONS[name], IDS).get("params", {}).items(), ("nonsense", "1")])
    wrong = [("limit", "0"), ("limit", "1000000"), ("limit", "x"), ("offset", "-1")]
    sorts = [("order_by", "nme"), ("order", "up"), ("created_at", "gt.never"), ("name", "ilike.x")]
    for name in LISTS:
        given = list(filled(OPERATIONS[name], IDS).get("params", {}).items())
        bare = any(part in name for part in ("sessions", "tags", "search", "/revisions"))
        for pair in (*wrong, *(() if bare else sorts)):
            ask(asking, name, params=[*given, pair])
        ask(asking, name, params=[*given, ("limit", "1"), ("limit", "2")])
    for pair in (
        ("created_at", "2025"),
        ("created_at_gt", "x"),
        ("name", "ilike.%"),
        ("offset", "9" * 20),
        ("limit", ""),
    ):
        ask(asking, "GET /projects", params=[pair])


# Lists

_NAMES = [
    ("name", "ilike.%e%"),
    ("name", "life 1"),
    ("order_by", "name"),
    ("order", "desc"),
    ("created_at", "gt.2025-01-01T00:00:00Z"),
]
_TIMES = [
    ("created_at_lt", "2025-01-01T00:00:00Z"),
    ("updated_at_gt", "2025-01-01"),
    ("updated_at", "lte.2030-01-01T00:00:00+02:00"),
]
_USUAL = [("limit", "1"), ("limit", "2"), ("offset", "1"), ("offset", "1000"), *_NAMES, *_TIMES]
LISTS: dict[str, list[tuple[str, str]]] = {
    "GET /projects": [("description", "ilike.%FIRST%")],
    "GET /cell_specifications": [
        *(("full", value) for value in ("true", "false", "1", "maybe")),
        ("manufacturer", "Cells Ltd"),
        ("form_factor", "ilike.%POUCH%"),
        ("project_id", IDS["project_id"]),
        ("project_id", UNKNOWN),
        ("material_id", IDS["material_id"]),
        ("material_ids", UNKNOWN),
        ("anode_material_id", IDS["material_id"]),
        ("cathode_material_id", IDS["material_id"]),
        ("exclude_cell_spec_id", IDS["specification_id"]),
    ],
    f"GET {SPEC}/cell_instances": [("batch_id", IDS["batch_id"]), ("batch_id", UNKNOWN)],
    f"GET {SPEC}/cell_batches": [],
    f"GET {CELL}/cell_measurements": [("measurement_type", "properties"), ("tags_any", "RPT")],
    "GET /cell_measurements": [
        *(("measurement_type", value) for value in ("time_series", "file", "properties", "none")),
        ("tags_all", "ageing"),
        ("tags_any", "eis"),
        ("q", "weigh"),
        ("order_by", "start_time"),
        ("start_time", "gte.2025-04-03T00:00:00Z"),
        ("start_time_lt", "2025-04-03T00:00:00Z"),
    ],
    "GET /cell_measurements/tags": [("q", "e")],
    "GET /materials": [("manufacturer", "Elements"), ("product_id", "N-811")],
    "GET /material_property_datasets": [],
    "GET /analyses": [("project_id", IDS["project_id"])],
    f"GET {P}/studies": [("description", "ilike.%batch%")],
    f"GET {STUDY}/measurements": [],
    f"GET {STUDY}/simulations": [],
    "GET /models": [],
    "GET /simulations": [
        ("state", "completed"),
        ("state", "lost"),
        ("summary", "true"),
        ("parameterized_model_id", IDS["model_id"]),
    ],
    "GET /drive-cycles": [],
    "GET /raw_data": [],
    "GET /raw_data/{raw_data_id}/cell_measurements": [],
    f"GET {TEST}/raw_data": [],
    f"GET {P}/dashboards": [],
    f"GET {D}/plots": [],
    f"GET {PLOT}/revisions": [],
    f"GET {KIND}": [("ref", "weighing"), ("ref", "life 2"), ("ref", "weighin"), ("ref", UNKNOWN)],
    "GET /agent/sessions": [],
    "GET /agent/sessions/{session_id}/messages": [],
    "GET /search": [
        ("entity_types", "cell_instance"),
        ("entity_types", "none"),
        ("per_type", "1"),
        ("per_type", "99"),
    ],
}
"""Operations that answer a list, with the filters of their own."""


@flow()
def lists(asking: Asking) -> None:
    """Every list whole, with every filter, sort and page."""
    for name, own in LISTS.items():
        given = list(filled(OPERATIONS[name], IDS).get("params", {}).items())
        ask(asking, name, params=given)
        for pair in (*_USUAL, *own):
            ask(asking, name, params=[*given, pair])
    for pairs in (
        [("name", "ilike.%l%"), ("name", "ilike.%i%")],
        [("name", "eq.life 1"), ("order_by", "name"), ("order", "desc"), ("limit", "2"), ("offset", "1")],
        [("created_at", "gt.2025-01-01T00:00:00Z"), ("created_at", "lt.2026-01-01T00:00:00Z")],
        [("tags_any", "RPT"), ("tags_any", "EIS"), ("tags_all", "ageing")],
        [],
    ):
        asking("GET", "/cell_measurements", params=[("project_id", IDS["project_id"]), *pairs])
    for pairs in ([], [("project_id", UNKNOWN)], [("project_id", "")]):
        asking("GET", "/cell_measurements", params=pairs)
        asking("GET", "/raw_data", params=pairs)
        asking("GET", "/analyses", params=pairs)
        asking("GET", "/simulations", params=pairs)
    for model in (IDS["model_id"], UNKNOWN):
        asking("GET", "/simulations", params={"parameterized_model_id": model})
    asking("GET", "/simulations", params={"experiment_template_id": UNKNOWN})
    asking("GET", "/analyses", params={"project_id": IDS["project_id"], "measurement_id": IDS["measurement_id"]})


# Bodies


@flow()
def wrong_bodies(asking: Asking) -> None:
    """Bodies that are not JSON, and objects with too little, too much and the wrong things in them."""
    raw = (b'{"name": ', b"[]", b'{"name": "a", "name": "b"}', b'{"name": NaN}')
    few = (b"", b"5", b'{"name": "\xff"}', b'{"name": "\\ud800"}', b'{"name": Infinity}', b"\xef\xbb\xbf{}")
    for name in KEYED:
        row = filled(OPERATIONS[name], IDS)
        if "json" not in row:
            continue
        for body in raw:
            ask(asking, name, body=body)
        ask(asking, name, body={**row["json"], "nonsense": 1}, note="an unknown property")
        for key, value in row["json"].items():
            without = {other: one for other, one in row["json"].items() if other != key}
            if name.startswith("POST") and key in (
                "name",
                "config",
                "measurement",
                "role",
                "filename",
                "files",
                "prompt",
                "email",
            ):
                ask(asking, name, body=without, note=f"without {key}")
            for wrong in ({"a": 1}, 5, None):
                if type(wrong) is not type(value) and (name, key) not in _ANY:
                    ask(asking, name, body={**without, key: wrong}, note=f"{key} is {wrong}")
    for name in (f"POST {P}/datasets", "POST /projects", f"POST {PLOT}/figure"):
        body = filled(OPERATIONS[name], IDS)["json"]
        ask(asking, name, body=body, headers={"Content-Type": "text/plain"}, note="as text")
        ask(asking, name, body=body, zipped=True, note="zipped")
        for one in few:
            ask(asking, name, body=one)
        ask(asking, name, body=b'{"a": 1}', headers={"Content-Encoding": "gzip"}, note="not zipped")
        ask(asking, name, body=b'{"a": 1}', headers={"Content-Encoding": "br"}, note="another coding")
        ask(asking, name, body=b"{}", headers={"Content-Length": "40000000"}, note="announced too large")
        ask(asking, name, body=b"[" * 100_000, note="nested too deep")
        ask(asking, name, body=b"[" * 100_000 + b"]" * 100_000, zipped=True, note="nested, zipped")
    ask(asking, f"POST {P}/datasets", body=b" " * 1_100_000, note="too large")
    ask(asking, f"POST {P}/datasets", body=b" " * 1_100_000, zipped=True, note="too large when unpacked")


_ANY = {
    (f"POST {CELL}/cell_measurements/initiate-upload", "measurement"),
    (f"POST {P}/recipes/check", "config"),
    (f"POST {ORG}/by-email", "role_name"),
    ("POST /cell_specifications", "project_id"),
}
"""Places where another kind of value is taken, or would change what the rest of the recording meets."""
_FORMS = [name for name in KEYED if "files" in OPERATIONS[name]]


@flow()
def wrong_forms(asking: Asking) -> None:
    """Forms that are none, that lack a part or have one too many, and files that are not parquet."""
    for name in _FORMS:
        row = filled(OPERATIONS[name], IDS)
        fields, files = row.get("data", {}), row["files"]
        part = next(iter(files))
        ask(asking, name, body={"name": "x"}, note="JSON")
        ask(
            asking,
            name,
            body=b"--x\r\n",
            headers={"Content-Type": "multipart/form-data; boundary=x"},
            note="cut off",
        )
        ask(asking, name, body=b"x", headers={"Content-Type": "multipart/form-data"}, note="no boundary")
        ask(asking, name, data={**fields, "nonsense": "1"}, note="an unknown part")
        ask(asking, name, files={**files, "other": ("o", b"o", "text/plain")}, note="an unknown file")
        ask(asking, name, files={part: ("x.parquet", b"no parquet", "text/plain")}, note="no parquet")
        ask(asking, name, files={part: ("x.parquet", b"", "text/plain")}, note="an empty file")
        for key in fields:
            ask(
                asking,
                name,
                data={other: one for other, one in fields.items() if other != key},
                note=f"without {key}",
            )
            if key.endswith("_id"):
                ask(asking, name, data={**fields, key: UNKNOWN}, note=f"unknown {key}")
            if key == "name":
                ask(asking, name, data={**fields, key: "  "}, note=f"blank {key}")
        for key in ("columns", "metadata", "plots", "fields", "metrics"):
            if key in ("columns", "fields"):
                ask(asking, name, data={**fields, key: "{no json"}, note=f"{key} no JSON")
