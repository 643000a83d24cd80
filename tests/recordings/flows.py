"""What a client does with records and people: each flow on a fresh copy of the store."""

from __future__ import annotations

import json

from tests.recordings.asking import UNKNOWN, Asking, flow
from tests.recordings.operations import (
    FILE,
    IDS,
    KEYED,
    PLOT,
    RATINGS,
    RECIPE,
    SAMPLES,
    D,
    P,
    ask,
    parquet,
    samples,
)
from tests.stores.old_store import KEYS, id_of

ARROW = "application/vnd.apache.arrow.stream"
HERE, BOARD, SAVED = P.format_map(IDS), D.format_map(IDS), PLOT.format_map(IDS)
CELL = f"/cell_instances/{IDS['instance_id']}"
_LAST = (
    *(
        "plot_id}",
        "dashboard_id}",
        "/simulations/{simulation_id}",
        "study_id}",
        "analysis_id}",
        "property_set_id}",
    ),
    *("material_id}", "raw_data_id}", "model_id}", "record_id}", "measurement_id}", "batch_id}", "instance_id}"),
    *("specification_id}", "drive_cycle_id}", "user_id}", "project_id}"),
)


@flow(longest=16_000)
def every_operation(asking: Asking) -> None:
    """Each operation once as it is meant to be used: what makes and changes first, then what deletes."""
    ids: dict[str, str] = {}
    sent = asking.json("POST", f"{HERE}/ingests/files", b"Time [s],Voltage [V]\n0,1\n", params={"name": "b.csv"})
    ids["file_id"] = sent["file"]
    deletes = [name for name in KEYED if name.startswith("DELETE")]
    for name in KEYED:
        if name.startswith("DELETE") or name.endswith("/ingests"):
            continue
        given = {place: id for place, id in ids.items() if f"{{{place}}}" in name}
        ask(asking, name, given, label=name) if not given else ask(asking, name, given)
    begun = ask(asking, f"POST {P}/ingests", ids, label=f"POST {P}/ingests").json()
    asking.wait(f"{HERE}/ingests/{begun['id']}")
    asking("GET", f"{HERE}/ingests/{begun['id']}/none")

    def rank(name: str) -> int:
        parts = ("/members/", "/raw_data/{raw_data_id}", "/studies/{study_id}/")
        if any(part in name for part in parts) and name.count("{") > 1:
            return -1
        return next(n for n, tail in enumerate(_LAST) if name.endswith(tail))

    for name in sorted(deletes, key=rank):
        ask(asking, name)
        ask(asking, name, note="once more")


@flow()
def addresses(asking: Asking) -> None:
    """Paths and methods that are not there, hosts, and what every answer carries.

    ``/`` and ``/favicon.ico`` were not there in 0.1.0; now the web page is.
    """
    for path in ("/nothing", "/projects/", "/healthz/", "/users", f"/projects/{UNKNOWN}/x"):
        asking("GET", path)
    for method in ("PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"):
        asking(method, "/projects")
        asking(method, "/healthz")
        asking(method, f"{HERE}/figures")
    for host in ("127.0.0.1:8765", "LOCALHOST", "[::1]:1", "evil.example", "localhost.evil.example", ""):
        asking("GET", "/healthz", who=None, headers={"Host": host}, note=f"host {host}")
    asking("GET", "/healthz", who=None)
    asking("GET", "/user/billing-portal")
    origin = {"Origin": "https://page.example", "Access-Control-Request-Method": "GET"}
    asking("OPTIONS", "/projects", who=None, headers=origin, note="a page asks before")
    asking("GET", "/healthz", who=None, headers={"X-Correlation-Id": "mine"}, note="a correlation id of its own")


@flow(
    requests_per_second=0.001, burst=4, billing_portal="https://pay.example/x", origins=("https://page.example",)
)
def limits(asking: Asking) -> None:
    """The rate of a key, a billing portal, and a page of another origin."""
    asking("GET", "/user/billing-portal")
    origin = {"Origin": "https://page.example", "Access-Control-Request-Method": "GET"}
    asking("OPTIONS", "/projects", who=None, headers=origin, note="a page that is allowed")
    asking("GET", "/healthz", who=None, headers={"Origin": "https://page.example"}, note="of a page")
    for number in range(6):
        asking("GET", "/roles/project", note=f"{number}")
    asking("POST", "/projects", b'{"name": ', note="too many, malformed")
    asking("GET", "/roles/project", who="viewer")
    asking("GET", "/healthz", who=None)


@flow(small_body=500, large_body=1000, upload=2000)
def sizes(asking: Asking) -> None:
    """Bodies at their bounds."""
    for size in (400, 600, 1100, 2100):
        asking("POST", f"{HERE}/datasets", b" " * size, note=f"{size} small")
        asking(
            "POST",
            "/projects",
            json.dumps({"name": "n", "description": "d" * size}).encode(),
            note=f"{size} large",
        )
        sent = {"Content-Type": "application/octet-stream"}
        asking(
            "POST", f"{HERE}/ingests/files", b"x" * size, params={"name": "a"}, headers=sent, note=f"{size} upload"
        )
        asking("POST", f"{HERE}/datasets", b" " * size, zipped=True, note=f"{size} small, zipped")
    form = {"data": {"name": "n" * 600}, "files": FILE}
    asking("POST", "/material_property_datasets", note="a form beyond", **form)
    for announced in ("500", "501", "-1", "x"):
        asking(
            "POST", f"{HERE}/datasets", b"{}", headers={"Content-Length": announced}, note=f"announced {announced}"
        )


@flow(longest=5000)
def conflicts(asking: Asking) -> None:
    """Names that are taken, with the id of who has them, and what may not be changed or deleted."""
    taken = (
        ("/projects", {"name": "Second project"}),
        ("/cell_specifications", {"name": "Coin", "ratings": RATINGS, "project_id": IDS["project_id"]}),
        (f"/cell_specifications/{IDS['specification_id']}/cell_instances", {"name": "P-A-1"}),
        (f"/cell_specifications/{IDS['specification_id']}/cell_batches", {"name": "A"}),
        (f"{CELL}/cell_measurements/create", {"name": "weighing"}),
        (f"{CELL}/cell_measurements/initiate-upload", {"measurement": {"name": "life 1"}}),
        ("/materials", {"name": "LP57", "project_id": IDS["project_id"]}),
        ("/materials", {"name": "LP57"}),
        ("/models", {"name": "Circuit", "config": {}, "project_id": IDS["project_id"]}),
        ("/drive-cycles", {"name": "Town", "data": [[0, 0.5], [10, -0.25], [20, 1]]}),
        ("/drive-cycles", {"name": "Town", "data": [[0, 0.5]]}),
        (f"{HERE}/studies", {"name": "Empty study"}),
        (f"{HERE}/dashboards", {"name": "Ageing"}),
        (f"{BOARD}/plots", {"name": "Masses", "config": RECIPE}),
        (f"{HERE}/records/studies", {"name": "empty STUDY"}),
        (f"{HERE}/records/instances", {"name": "P-A-1", "specification_id": IDS["specification_id"]}),
    )
    for path, body in taken:
        for who in ("admin", "contributor"):
            asking("POST", path, body, who=who)
    for path, body in (
        (f"{HERE}/studies/{id_of('studies', 'Empty study')}", {"name": "Fade of pouches"}),
        (CELL, {"name": "P-A-2"}),
        (CELL, {"batch_id": None}),
        (
            CELL,
            {"batch_id": id_of("batches", "B"), "properties": {"mass": {"value": 1.0, "unit": "g"}, "n": None}},
        ),
        (CELL, {"cell_specification_id": id_of("specifications", "Coin")}),
        (CELL, {"specification_id": UNKNOWN}),
        (CELL, {"created_at": "2020-01-01T00:00:00Z"}),
        (CELL, {"project_id": id_of("projects", "Second project")}),
        (CELL, {"date_manufactured": "yesterday"}),
        (CELL, {"date_manufactured": "2025-02-03"}),
        (f"/cell_measurements/{IDS['measurement_id']}", {"measurement_type": "file"}),
        (f"/cell_measurements/{IDS['measurement_id']}", {"end_time": "2020-01-01T00:00:00Z"}),
        (
            f"/cell_measurements/{IDS['measurement_id']}",
            {"start_time": "2025-04-02T10:00:00+02:00", "tags": ["b", "A ", "a"]},
        ),
        (f"/cell_measurements/{IDS['measurement_id']}", {"tags": ["x" * 51]}),
        (f"/cell_measurements/{IDS['measurement_id']}", {"protocol": {"x": 1e400}}),
        (f"/cell_specifications/{IDS['specification_id']}", {"ratings": {"capacity": {"value": "5"}}}),
        (f"/cell_specifications/{IDS['specification_id']}", {"ratings": {"capacity": {"value": 5, "unit": "mV"}}}),
        (f"/cell_specifications/{IDS['specification_id']}", {"anode_id": UNKNOWN}),
        (f"/models/{IDS['model_id']}", {"chemistry": "steam"}),
        (f"/models/{IDS['model_id']}", {"config": [1]}),
        (f"/raw_data/{IDS['raw_data_id']}", {"source": ""}),
        (f"/raw_data/{IDS['raw_data_id']}", {"metadata": {"a": [1, 1.0, None, "ü"]}}),
        (f"/materials/{IDS['material_id']}", {"manufacturer": "a\u0000b"}),
        (f"/materials/{IDS['material_id']}", {"name": " " * 3}),
        (f"/materials/{IDS['material_id']}", {"name": "n" * 501}),
        (HERE, {"name": "Second project"}),
    ):
        asking("PATCH", path, body)
    for path in (CELL, f"/cell_specifications/{IDS['specification_id']}?full=true", f"{HERE}/catalog"):
        asking("GET", path)


@flow()
def tags(asking: Asking) -> None:
    """Tags of one and of many measurements."""
    two = [IDS["measurement_id"], id_of("measurements", "P-A-1", "weighing")]
    bulk = "/cell_measurements/tags/bulk"
    for body in (
        {"measurement_ids": two, "add": ["new", "NEW", " rpt "]},
        {"measurement_ids": two, "remove": ["new"], "add": ["other"]},
        {"measurement_ids": [], "add": ["x"]},
        {"measurement_ids": [*two, UNKNOWN], "add": ["x"]},
        {"measurement_ids": two, "add": [5]},
        {"measurement_ids": two, "add": ["t" * 51]},
        {"measurement_ids": ["a"] * 1001},
    ):
        for who in ("admin", "viewer"):
            asking("POST", bulk, body, who=who)
    for params in ({}, {"q": "E"}, {"limit": "1", "offset": "1"}):
        asking("GET", "/cell_measurements/tags", params={"project_id": IDS["project_id"], **params})
    asking("GET", "/cell_measurements", params={"project_id": IDS["project_id"], "tags_all": "other"})


@flow(longest=5000)
def people(asking: Asking) -> None:
    """Members, roles and what keys may after a change of them."""
    organization = f"/organizations/{IDS['organization_id']}/users"
    nobody, contributor, admin = (KEYS[name]["user_id"] for name in ("nobody", "contributor", "admin"))
    for body in (
        {"email": "new@lab.example"},
        {"email": "new@lab.example"},
        {"email": "NEW@lab.example", "role_name": "Admin"},
        {"email": "no address"},
        {"email": ""},
        {"email": "x@lab.example", "role_name": "King"},
        {"email": "stranger@elsewhere.example"},
    ):
        asking("POST", f"{organization}/by-email", body)
    members = f"{HERE}/members"
    for role in ("project-viewer", "project-contributor", "project-admin", "project-king", None):
        asking("POST", members, {"user_id": nobody, "project_role_id": role})
        asking("GET", HERE, who="nobody")
        asking("PATCH", HERE, {"description": f"by {role}"}, who="nobody")
        asking("POST", "/materials", {"name": f"by {role}", "project_id": IDS["project_id"]}, who="nobody")
    asking("POST", members, {"user_id": UNKNOWN, "project_role_id": "project-viewer"})
    asking("PATCH", f"{members}/{nobody}", {"project_role_id": "project-viewer"})
    asking("PATCH", f"{members}/{UNKNOWN}", {"project_role_id": "project-viewer"})
    asking("GET", "/projects", who="nobody")
    asking("GET", f"{HERE}/catalog", who="nobody")
    asking("DELETE", f"{members}/{nobody}")
    asking("DELETE", f"{members}/{nobody}", note="once more")
    asking("GET", HERE, who="nobody")
    for body in (
        {"email": "guest@lab.example", "project_role_id": "project-viewer"},
        {"email": "guest@lab.example", "project_role_id": "x"},
    ):
        asking("POST", f"{HERE}/invites", body)
    asking("PATCH", f"{organization}/{contributor}", {"is_active": False})
    asking("GET", "/users/me", who="contributor")
    asking("PATCH", f"{organization}/{contributor}", {"is_active": True})
    asking("GET", "/users/me", who="contributor")
    asking("PATCH", f"{organization}/{admin}/role", {"role_name": "Member"}, note="the only Admin")
    asking("PATCH", f"{organization}/{admin}", {"is_active": False}, note="the only Admin")
    asking("DELETE", f"{organization}/{admin}", note="the only Admin")
    asking("PATCH", f"{organization}/{contributor}/role", {"role_name": "Admin"})
    asking("GET", "/users/me", who="contributor")
    asking("POST", f"{organization}/{contributor}/resend-invite")
    asking("DELETE", f"{organization}/{contributor}")
    asking("GET", "/users/me", who="contributor")
    asking("POST", f"{organization}/{contributor}/resend-invite", {})
    for who in ("admin", "viewer", "stranger"):
        for path in (organization, "/users/me", "/roles/project", "/organizations/current/usage", "/projects"):
            asking("GET", path, who=who)


@flow()
def kinds(asking: Asking) -> None:
    """Records of any kind by their own names: lists as Arrow, tables, forms, changes."""
    for kind in (
        "materials",
        "measurements",
        "instances",
        "specifications",
        "analyses",
        "simulations",
        "dashboards",
        "sessions",
        "drive_cycles",
    ):
        place = f"{HERE}/records/{kind}"
        for body in (
            {},
            {"fields": ["id", "name"]},
            {"where": {"name": "life 1"}},
            {"limit": 1},
            {"fields": ["nme"]},
            {"where": {"x": 1}},
            {"limit": -1},
        ):
            asking("POST", f"{place}/list", body)
        asking("POST", f"{place}/list", {"where": {"ids": []}, "fields": []}, who="viewer")
    tests = f"{HERE}/records/measurements"
    life, weighing = IDS["measurement_id"], id_of("measurements", "P-A-1", "weighing")
    for params in (
        {},
        {"dataset": "steps"},
        {"dataset": "cycles"},
        {"dataset": "cycles", "life": "true"},
        {"dataset": "steps", "life": "1"},
        {"life": "true"},
        {"dataset": "none"},
        {"columns": "Voltage [V]"},
        {"columns": "Voltag"},
        {"dataset": "cycles", "life": "true", "columns": "Cycle count"},
    ):
        asking("GET", f"{tests}/{life}/table", params=params)
        asking("GET", f"{tests}/{weighing}/table", params=params)
    asking("GET", f"{tests}/{life}/table", headers={"Accept": f"{ARROW}; compression=zstd"}, note="packed")
    asking("GET", f"{HERE}/records/materials/{IDS['material_id']}/table")
    for kind, fields in (
        ("measurements", {"name": "by kind", "instance_id": IDS["instance_id"], "tags": ["t"]}),
        ("simulations", {"name": "by kind", "model_id": IDS["model_id"]}),
        ("analyses", {"name": "by kind", "measurement_id": life, "analysis_type": "x"}),
        ("materials", {"name": "by kind"}),
    ):
        place = f"{HERE}/records/{kind}/with-tables"
        for more in (
            {},
            {"sign": "discharge"},
            {"sign": "charge"},
            {"columns": '{"series": ["a"]}'},
            {"fields": "[]"},
            {"fields": '{"nme": 1}'},
        ):
            sent = {"fields": json.dumps({**fields, "name": f"by kind {more.get('sign')}"}), **more}
            asking("POST", place, data=sent, files={"series": SAMPLES}, note=f"{kind} {more}")
        names = json.dumps({"series": ["Time [s]", "Step count", "Current [A]", "Voltage [V]"]})
        sent = {"fields": json.dumps({**fields, "name": "named"}), "columns": names}
        made = asking("POST", place, data=sent, files={"series": SAMPLES}, note=f"{kind}, named columns").json()
        if kind == "measurements":
            running = made["id"]
    for record, start in ((running, 60.0), (running, 0.0), (id_of("measurements", "P-A-3", "running"), 1e6)):
        more = {"series": ("s.parquet", parquet(samples(20, start, 2)), "text/plain")}
        asking("POST", f"{tests}/{record}/extend", files=more, note=f"from {start}")
    asking("GET", f"{tests}/{running}/table")
    asking(
        "POST",
        f"{HERE}/records/materials/{IDS['material_id']}/extend",
        files={"series": SAMPLES},
        note="no measurement",
    )
    for kind, body in (
        ("materials", {"name": "new", "source": {"a": [1.0]}}),
        ("materials", {"name": "new"}),
        ("instances", {"name": "new", "specification_id": IDS["specification_id"], "batch_id": UNKNOWN}),
        ("measurements", {"name": "new", "processing_status": "ready"}),
        ("measurements", {"name": "new", "instance_id": IDS["instance_id"], "measurement_type": "x"}),
        ("studies", {"name": "new", "id": UNKNOWN}),
        ("sessions", {"name": "new"}),
        ("dashboards", {"name": "new", "layout": []}),
        ("nothing", {"name": "new"}),
    ):
        asking("POST", f"{HERE}/records/{kind}", body)
    study = id_of("studies", "Empty study")
    for body in ({"description": "changed"}, {"name": "Fade of pouches"}, {"nme": 1}, {}, {"created_by": UNKNOWN}):
        asking("PATCH", f"{HERE}/records/studies/{study}", body)
    for kind, id in (("measurements", life), ("simulations", IDS["simulation_id"]), ("measurements", UNKNOWN)):
        for method in ("POST", "POST", "DELETE", "DELETE"):
            asking(method, f"{HERE}/studies/{study}/{kind}/{id}", {} if method == "POST" else None)
    asking("DELETE", f"{HERE}/records/studies/{study}")
    asking("DELETE", f"{HERE}/records/materials/{IDS['material_id']}", who="viewer")


@flow()
def search(asking: Asking) -> None:
    """Search: words and parts, kinds, pages, and whose records."""
    for text in (
        "life",
        "LIFE",
        "P-A",
        "電池",
        "电池",
        "ü",
        "pouch",
        "a",
        "",
        "  ",
        "no such",
        "%",
        "_",
        '"',
        "life OR 1",
        "x" * 500,
        "Fade pouch",
    ):
        asking("GET", "/search", params={"q": text})
    for params in (
        {"limit": "2"},
        {"limit": "2", "offset": "2"},
        {"limit": "0"},
        {"limit": "101"},
        {"per_type": "1"},
        {"per_type": "21"},
        {"entity_types": "cell_instance"},
        {"entity_types": "cell_measurement"},
        {"entity_types": "none"},
        {"project_id": IDS["project_id"]},
        {"project_id": id_of("projects", "Second project")},
        {"project_id": UNKNOWN},
    ):
        asking("GET", "/search", params={"q": "life", **params})
    for who in ("viewer", "nobody", "stranger"):
        asking("GET", "/search", params={"q": "life"}, who=who)
    asking("GET", "/search")
    asking("GET", "/search", params=[("q", "life"), ("entity_types", "cell_instance"), ("entity_types", "study")])
