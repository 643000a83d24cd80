"""Records over the wire: lists, filters, paging, conflicts, and what each kind answers."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.full_organization import RATINGS, parquet, samples, upload
from support.server_in_process import Lab


def specification(lab: Lab, name: str = "LG M50", **more: Any) -> dict[str, Any]:
    body = {"name": name, "ratings": RATINGS, "project_id": lab.project.id, **more}
    made: dict[str, Any] = lab.json("POST", "/cell_specifications", json=body)
    return made


def cell(lab: Lab, name: str = "Cell 1") -> dict[str, Any]:
    made: dict[str, Any] = lab.json(
        "POST", f"/cell_specifications/{specification(lab)['id']}/cell_instances", json={"name": name}
    )
    return made


def names(answer: Any) -> list[str]:
    return [item["name"] for item in answer["items"]]


def test_lists_are_filtered_sorted_and_paged(served: Lab) -> None:
    made = [
        served.json("POST", "/projects", json={"name": name}) for name in ("b", "Äb", "c 100%", "eq.x", "ä.b,")
    ]
    first = served.json("GET", "/projects", params={"limit": 2, "order_by": "name"})
    assert (first["count"], first["total"]) == (2, 6)
    every: list[str] = []
    for offset in range(0, 6, 2):
        every += names(
            served.json("GET", "/projects", params={"limit": 2, "offset": offset, "order_by": "created_at"})
        )
    assert every == ["Default", *(one["name"] for one in made)]
    assert served.json("GET", "/projects", params={"offset": 100}) == {"items": [], "count": 0, "total": 6}

    def found(**params: Any) -> list[str]:
        return names(served.json("GET", "/projects", params={"order_by": "created_at", **params}))

    assert found(name="ilike.%ä%") == ["Äb", "ä.b,"]
    assert found(name="ilike.%100%%") == ["c 100%"]
    assert found(name="ilike.%%") == every
    assert found(name="eq.b") == ["b"]
    assert found(name="eq.eq.x") == ["eq.x"]
    assert found(name="eq.ä.b,") == ["ä.b,"]
    assert found(name="eq.B") == []
    assert found(order="desc")[0] == "ä.b,"
    second, third = made[1]["created_at"], made[2]["created_at"]
    assert found(created_at_gt=second) == ["c 100%", "eq.x", "ä.b,"]
    assert found(created_at_gt=second.replace("Z", "+00:00"), created_at_lt=made[3]["created_at"]) == ["c 100%"]
    assert found(created_at=[f"gte.{second}", f"lte.{third}"]) == ["Äb", "c 100%"]
    assert found(updated_at=f"gt.{third}") == ["eq.x", "ä.b,"]


@pytest.mark.parametrize(
    ("params", "loc"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": "x"}, "limit"),
        ({"offset": -1}, "offset"),
        ({"order_by": "id"}, "order_by"),
        ({"order": "up"}, "order"),
        ({"created_at_gt": "yesterday"}, "created_at_gt"),
        ({"created_at": "2026-01-01"}, "created_at"),
        ({"name": "ilike.part"}, "name"),
        ({"nam": "x"}, "nam"),
    ],
)
def test_parameters_out_of_range_are_422_at_their_name(served: Lab, params: dict[str, Any], loc: str) -> None:
    answer = served.call("GET", "/projects", params=params)
    assert answer.status_code == 422
    assert [item["loc"] for item in answer.json()["detail"]] == [[loc]]


def test_a_taken_name_says_who_has_it(served: Lab) -> None:
    first = specification(served)
    again = served.call(
        "POST",
        "/cell_specifications",
        json={"name": "LG M50", "ratings": RATINGS, "project_id": served.project.id},
    )
    assert again.status_code == 409
    assert again.json()["error_code"] == "CONFLICT"
    assert again.json()["detail"] == {"existing_id": first["id"]}
    batches = f"/cell_specifications/{first['id']}/cell_batches"
    batch = served.json("POST", batches, json={"name": "Batch"})
    folded = served.call("POST", batches, json={"name": "bATCH"})
    assert folded.json()["detail"] == {"existing_id": batch["id"]}
    other = served.json("POST", "/projects", json={"name": "Elsewhere"})
    assert specification(served, project_id=other["id"])["project_id"] == other["id"]


def test_specifications_batches_and_cells(served: Lab) -> None:
    graphite = served.json("POST", "/materials", json={"name": "Graphite", "project_id": served.project.id})
    spec = specification(
        served, anode_id=graphite["id"], form_factor="21700", properties={"mass": {"value": 68, "unit": "g"}}
    )
    assert (spec["ratings"]["capacity"], spec["instance_ids"]) == ({"value": 5.0, "unit": "A.h"}, None)
    batch = served.json(
        "POST",
        f"/cell_specifications/{spec['id']}/cell_batches",
        json={"name": "A", "date_manufactured": "2026-01-31"},
    )
    assert (batch["instance_count"], batch["cell_specification_id"]) == (0, spec["id"])
    path = f"/cell_specifications/{spec['id']}/cell_instances"
    one = served.json("POST", path, json={"name": "1", "batch_id": batch["id"], "notes": "n"})
    assert (one["batch_name"], one["cell_specification_id"], one["notes"]) == ("A", spec["id"], "n")
    served.json("POST", path, json={"name": "2"})
    assert names(served.json("GET", path, params={"batch_id": batch["id"]})) == ["1"]
    assert served.json("GET", f"{path}?limit=200")["total"] == 2
    full = served.json("GET", "/cell_specifications", params={"full": "true", "project_id": served.project.id})[
        "items"
    ][0]
    assert full["anode"]["name"] == "Graphite"
    assert full["instance_ids"][0] == {"id": one["id"], "name": "1"}
    assert served.json("GET", f"/projects/{served.project.id}/cell_specs")[0]["instance_ids"] is None
    assert (
        served.json("GET", f"/projects/{served.project.id}/cell_specs?full=true")[0]["anode"]["name"] == "Graphite"
    )
    assert served.json("GET", f"/cell_batches/{batch['id']}")["instance_count"] == 1
    assert served.json("PATCH", f"/cell_instances/{one['id']}", json={"batch_id": None})["batch_id"] is None
    strange = specification(served, "Other")
    theirs = served.json("POST", f"/cell_specifications/{strange['id']}/cell_batches", json={"name": "B"})
    wrong = served.call("PATCH", f"/cell_instances/{one['id']}", json={"batch_id": theirs["id"]})
    assert (wrong.status_code, wrong.json()["error_code"]) == (400, "BAD_REQUEST")
    served.json("PATCH", f"/cell_instances/{one['id']}", json={"batch_id": batch["id"]})
    assert served.call("DELETE", f"/cell_batches/{batch['id']}").status_code == 204
    assert served.json("GET", f"/cell_instances/{one['id']}")["batch_id"] is None
    assert served.call("DELETE", f"/cell_specifications/{spec['id']}").status_code == 204
    assert served.call("GET", f"/cell_instances/{one['id']}").status_code == 404


def test_specifications_are_found_by_their_materials(served: Lab) -> None:
    one, two = (
        served.json("POST", "/materials", json={"name": name, "project_id": served.project.id})["id"]
        for name in "ab"
    )
    first = specification(served, "first", anode_id=one)
    specification(served, "second", cathode_id=one, anode_id=two)
    specification(served, "third")

    def found(**params: Any) -> list[str]:
        return names(served.json("GET", "/cell_specifications", params={"order_by": "name", **params}))

    assert found(material_id=one) == ["first", "second"]
    assert found(anode_material_id=one) == ["first"]
    assert found(material_ids=[one, two], exclude_cell_spec_id=first["id"]) == ["second"]
    assert found(exclude_cell_spec_id=first["id"]) == ["second", "third"]
    assert found(material_id="nothing") == []
    assert found(form_factor="eq.pouch") == []


def test_what_only_the_server_may_set_is_refused(served: Lab) -> None:
    made = upload(served, served.admin, cell(served)["id"], "m", samples())
    for body in (
        {"files": [{"filename": "a", "piece": "0" * 64, "size": 1}]},
        {"processing_status": "failed"},
        {"content_hash": "x"},
        {"created_at": "2026-01-01T00:00:00Z"},
        {"sample_count": 3},
    ):
        answer = served.call("PATCH", f"/cell_measurements/{made['id']}", json=body)
        assert answer.status_code == 422, body
        assert answer.json()["detail"][0]["loc"] == list(body)
    assert "files" not in made


def test_measurements_are_found_in_their_project(served: Lab) -> None:
    instance = cell(served)["id"]
    path = f"/cell_instances/{instance}/cell_measurements"
    upload(
        served, served.admin, instance, "Ageing", samples(), tags=["Warm", "a"], start_time="2026-01-02T00:00:00Z"
    )
    mass = {
        "name": "Mass",
        "properties": {"mass": 1.5},
        "tags": ["warm "],
        "notes": "Weighed",
        "measurement_type": "properties",
    }
    one = served.json("POST", f"{path}/create", json=mass)
    assert one["tags"] == ["Warm"]
    protocol = {"name": "Third", "protocol": {"name": "Pulse test"}, "start_time": "2026-01-01T00:00:00+01:00"}
    served.json("POST", f"{path}/create", json=protocol)

    def found(where: str = "/cell_measurements", **params: Any) -> list[str]:
        fixed = {"project_id": served.project.id} if where == "/cell_measurements" else {}
        return names(served.json("GET", where, params={**fixed, "order_by": "name", **params}))

    assert found() == ["Ageing", "Mass", "Third"]
    for text, wanted in (
        ("AGE", ["Ageing"]),
        ("weigh", ["Mass"]),
        ("pulse", ["Third"]),
        ("war", ["Ageing", "Mass"]),
    ):
        assert found(q=text) == wanted
    of_cell = served.json("GET", f"/cell_instances/{instance}")["name"]
    for text in (of_cell.upper(), served.json("GET", f"/cell_instances/{instance}")["cell_specification_name"]):
        assert found(q=text) == []
        assert found(q=text, cells=True) == ["Ageing", "Mass", "Third"]
    assert found(q="pulse", cells=True) == ["Third"]
    assert found(tags_all=["a", "WARM"]) == ["Ageing"]
    assert found(tags_any=["a", "b"]) == ["Ageing"]
    assert found(path, measurement_type="properties") == ["Mass", "Third"]
    assert found(path, order_by="start_time", start_time_gt="2026-01-01T00:00:00Z") == ["Ageing"]
    assert served.call("GET", "/cell_measurements").status_code == 422
    tags = served.json("GET", "/cell_measurements/tags", params={"project_id": served.project.id})
    assert tags["items"] == [{"tag": "Warm", "usage_count": 2}, {"tag": "a", "usage_count": 1}]
    assert (
        served.json(
            "GET", "/cell_measurements/tags", params={"project_id": served.project.id, "q": "WA", "limit": 1}
        )["total"]
        == 1
    )


def test_tags_of_many_change_all_or_nothing(served: Lab) -> None:
    instance = cell(served)["id"]
    ids = [
        served.json("POST", f"/cell_instances/{instance}/cell_measurements/create", json={"name": str(n)})["id"]
        for n in range(3)
    ]
    bulk = "/cell_measurements/tags/bulk"
    assert served.json("POST", bulk, json={"measurement_ids": ids, "add": ["x", "y"]}) == {"updated_count": 3}
    assert served.json("POST", bulk, json={"measurement_ids": ids, "add": ["X"]}) == {"updated_count": 0}
    assert served.json("POST", bulk, json={"measurement_ids": ids[:1], "remove": ["Y"]}) == {"updated_count": 1}
    for body in (
        {"measurement_ids": [*ids, "unknown"], "add": ["z"]},
        {"measurement_ids": ids, "add": ["z", " "]},
        {"measurement_ids": ids, "add": ["z" * 51]},
        {"measurement_ids": ids, "add": [f"t{n}" for n in range(60)]},
    ):
        assert served.call("POST", bulk, json=body).status_code in (400, 404)
    kept = [served.json("GET", f"/cell_measurements/{id}")["tags"] for id in ids]
    assert kept == [["x"], ["x", "y"], ["x", "y"]]


def test_property_sets_select_columns_by_their_place(served: Lab) -> None:
    material = served.json("POST", "/materials", json={"name": "NMC", "project_id": served.project.id})["id"]
    table = parquet(pa.table({"a": ["0", "x", "1,5"], "b": [1, None, 3], "c": [0.0, 1.0, 2.0]}))
    columns = [
        {"name": "U", "unit": "V", "source_column_index": 0},
        {"name": "S", "unit": None, "source_column_index": 1},
    ]
    form = {
        "name": "OCV",
        "material_id": material,
        "project_id": served.project.id,
        "columns": json.dumps(columns),
    }
    made = served.json("POST", "/material_property_datasets", data=form, files={"file": ("ocv.parquet", table)})
    assert made["columns"][1] == {"name": "S", "unit": "", "source_column_index": 1}
    assert (made["data_version"], made["nan_counts"]) == (1, {"U": 1, "S": 1})
    path = f"/material_property_datasets/{made['id']}"
    text = served.call("GET", f"{path}/data").text
    assert text == '{"U":[0.0,null,1.5],"S":[1.0,null,3.0]}'
    renamed = served.json("PATCH", path, json={"columns": [{"name": "Z", "unit": "", "source_column_index": 2}]})
    assert renamed["data_version"] == 1
    assert served.json("GET", f"{path}/data") == {"Z": [0.0, 1.0, 2.0]}
    newer = served.json(
        "PATCH", f"{path}/file", files={"file": ("b.parquet", parquet(pa.table({"q": [1], "r": [2], "s": [3]})))}
    )
    assert newer["data_version"] == 2
    assert served.json("GET", f"{path}/data") == {"Z": [3.0]}
    for kind, start in (("parquet", b"PAR1"), ("original", b"PAR1")):
        url = served.json("GET", f"{path}/download-url", params={"kind": kind})["url"]
        assert url.startswith("http://localhost/storage/")
        assert served.client.get(url).content.startswith(start)
    assert served.json("GET", "/material_property_datasets", params={"material_id": material})["total"] == 1
    wrong = {**form, "columns": json.dumps([{"name": "A", "unit": "", "source_column_index": 9}])}
    bad = served.call("POST", "/material_property_datasets", data=wrong, files={"file": ("a", table)})
    assert bad.json()["detail"][0]["loc"] == ["columns", 0, "source_column_index"]


def test_analyses_come_back_to_the_bit(served: Lab) -> None:
    measured = upload(served, served.admin, cell(served)["id"], "m", samples())
    table = pa.table(
        {"SOC": [0.1, float("nan"), None], "R [Ohm]": pa.array([1, 2, 3], pa.float32()), "note": ["a", None, "ä"]}
    )
    form = {
        "measurement_id": measured["id"],
        "name": "Resistance",
        "analysis_type": "dcir_from_hppc",
        "metadata": '{"limit": 1.0}',
        "notes": "n",
    }
    made = served.json("POST", "/analyses", data=form, files={"file": ("a.parquet", parquet(table))})
    assert made["columns"][1] == {"name": "R [Ohm]", "unit": "Ohm", "dtype": None}
    assert (made["plots"], made["metadata"], made["project_id"]) == ([], {"limit": 1.0}, served.project.id)
    url = served.json("GET", f"/analyses/{made['id']}/download-url")["url"]
    back = pq.read_table(io.BytesIO(served.client.get(url).content))
    assert back.schema.types == table.schema.types
    assert [str(column) for column in back.to_pydict().values()] == [
        str(column) for column in table.to_pydict().values()
    ]
    part = served.client.get(url, headers={"Range": "bytes=-8"})
    assert (part.status_code, part.content[-4:]) == (206, b"PAR1")
    served.json("POST", "/analyses", data={**form, "name": "Later"}, files={"file": ("a.parquet", parquet(table))})
    assert names(served.json("GET", "/analyses", params={"measurement_id": measured["id"]})) == [
        "Later",
        "Resistance",
    ]
    assert served.json("GET", "/analyses", params={"project_id": served.project.id, "limit": 1})["total"] == 2
    for params in ({}, {"measurement_id": measured["id"], "project_id": served.project.id}):
        assert served.call("GET", "/analyses", params=params).status_code == 422
    assert served.json("PATCH", f"/analyses/{made['id']}", json={"metadata": {"a": 1}})["metadata"] == {"a": 1}


def test_studies_hold_measurements_and_simulations(served: Lab) -> None:
    measured = upload(served, served.admin, cell(served)["id"], "m", samples())["id"]
    path = f"/projects/{served.project.id}/studies"
    study = served.json("POST", path, json={"name": "Study", "description": "d"})
    where = f"{path}/{study['id']}/measurements"
    for _ in range(2):
        assert isinstance(served.json("POST", f"{where}/{measured}", json={}), dict)
    assert served.json("GET", where)["total"] == 1
    assert served.json("GET", f"{path}/{study['id']}")["validation_count"] == 1
    assert served.call("DELETE", f"{where}/{measured}").status_code == 204
    assert served.json("GET", where)["items"] == []


def test_simulations_are_listed_their_own_way(served: Lab) -> None:
    study = served.json("POST", f"/projects/{served.project.id}/studies", json={"name": "S"})["id"]
    form = {"name": "Run", "project_id": served.project.id, "study_id": study, "metrics": '{"rmse": 0.1}'}
    files = {
        "time_series": ("t.parquet", parquet(samples())),
        "steps": ("s.parquet", parquet(pa.table({"Step count": [0]}))),
    }
    made = served.json("POST", "/simulations", data=form, files=files)
    waiting = served.json("POST", "/simulations", data={**form, "name": "Queued", "state": "queued"}, files=files)
    listed = served.json("GET", "/simulations", params={"study_id": study})
    assert (listed["total"], listed["model_scalar_parameters"]) == (2, {})
    assert [one["name"] for one in listed["simulations"]] == ["Run", "Queued"]
    assert [bool(one["storage_folder"]) for one in listed["simulations"]] == [True, False]
    one = served.json("GET", "/simulations", params={"study_id": study, "state": "queued", "limit": 1000})
    assert one["simulations"][0]["id"] == waiting["id"]
    assert served.json("GET", "/simulations", params={"experiment_template_id": "x"})["simulations"] == []
    assert served.call("GET", "/simulations").status_code == 422
    statuses = served.json(
        "POST", "/simulations/statuses", json={"simulation_ids": [made["id"], "unknown"], "limit": 10}
    )
    assert [(one["simulation_id"], one["status"]) for one in statuses] == [(made["id"], "completed")]
    for limit in (1, 2**63, 10**30):
        asked = {"simulation_ids": [made["id"], "unknown"], "limit": limit}
        assert served.json("POST", "/simulations/statuses", json=asked) == statuses
    for part in ("time_series", "steps"):
        found = served.call("GET", f"/simulations/{made['id']}/{part}/download")
        assert served.client.get(found.headers["location"]).content.startswith(b"PAR1")
        assert served.call("GET", f"/simulations/{waiting['id']}/{part}/download").status_code == 404


def test_models_of_the_system_are_read_and_not_written(served: Lab) -> None:
    made = served.json(
        "POST",
        "/models",
        json={
            "name": "SPM",
            "config": {"type": "SPM"},
            "project_id": served.project.id,
            "simulation_settings": {"a": 1},
        },
    )
    assert made["user_id"] == served.admin.user_id
    assert (
        served.json("PATCH", f"/models/{made['id']}", json={"simulation_settings": None})["simulation_settings"]
        is None
    )
    changed = served.json(
        "POST", f"/models/{made['id']}/custom-variables", json={"name": "v", "expression": "a + b"}
    )
    assert changed["config"] == {"type": "SPM", "custom_variables": {"v": "a + b"}}
    odd = served.json("POST", "/models", json={"name": "Odd", "config": {"custom_variables": ["a"]}})["id"]
    refused = served.call("POST", f"/models/{odd}/custom-variables", json={"name": "v", "expression": "a"})
    assert (refused.status_code, "custom_variables" in refused.json()["message"]) == (409, True)
    assert served.json("PATCH", f"/models/{odd}", json={"config": {"custom_variables": None}})
    served.json("POST", f"/models/{odd}/custom-variables", json={"name": "v", "expression": "a"})
    custom = served.json(
        "POST",
        "/models/upload-custom",
        data={"name": "Mine", "chemistry": "ecm", "project_id": served.project.id},
        files={"file": ("m.json", b'{"x": 1}')},
    )
    assert (custom["is_custom_model"], custom["chemistry"]) == (True, "ecm")
    with served.store.transaction() as db:
        db.execute("UPDATE models SET organization_id = NULL, project_id = NULL WHERE id = ?", [made["id"]])
    assert served.json("GET", f"/models/{made['id']}")["name"] == "SPM"
    for method, body in (("PATCH", {"name": "x"}), ("DELETE", None)):
        answer = served.call(method, f"/models/{made['id']}", json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (403, "FORBIDDEN")


def test_drive_cycles_are_kept_once(served: Lab) -> None:
    body = {"name": "cycle.csv", "data": [[0, 1], [1, 2.5]]}
    made = served.json("POST", "/drive-cycles", json=body)
    assert served.json("POST", "/drive-cycles", json=body)["id"] == made["id"]
    assert made["data"] == [[0.0, 1.0], [1.0, 2.5]]
    assert len(made["content_hash"]) == 64
    assert served.json("GET", "/drive-cycles")["total"] == 1
    assert served.json("GET", f"/drive-cycles/{made['id']}") == made
    for data in ([], [[0]], [[1, 0], [0, 0]], [["0", 1]]):
        assert served.call("POST", "/drive-cycles", json={"name": "x", "data": data}).status_code == 422
    (problem,) = served.call("POST", "/drive-cycles", json={"name": "x", "data": [[0, "a"]]}).json()["detail"]
    assert (problem["loc"], problem["msg"]) == (["data", 0, 1], "An entry of 'data' must be a number.")
    assert served.call("DELETE", f"/drive-cycles/{made['id']}").status_code == 204
    assert served.call("GET", f"/drive-cycles/{made['id']}").status_code == 404


def test_search_pages_and_refuses_short_texts(served: Lab) -> None:
    spec = specification(served, "Kokam pouch")
    for n in range(7):
        served.json("POST", f"/cell_specifications/{spec['id']}/cell_instances", json={"name": f"Kokam {n}"})
    found = served.json("GET", "/search", params={"q": " KOKAM ", "limit": 4})
    assert (found["query"], found["total"], len(found["results"])) == ("KOKAM", 6, 4)
    rest = served.json("GET", "/search", params={"q": "KOKAM", "limit": 4, "offset": 4})
    assert len(rest["results"]) == 2
    cells = served.json(
        "GET", "/search", params={"q": "kokam", "per_type": 20, "entity_types": ["cell_instance", "plot"]}
    )
    assert cells["total"] == 7
    assert cells["results"][0]["parent_id"] == spec["id"]
    assert served.call("GET", "/search", params={"q": "k"}).status_code == 422
    refused = served.call("GET", "/search", params={"q": "kokam", "entity_types": ["cell_instnce", "plot"]})
    assert refused.status_code == 422
    assert [problem["msg"] for problem in refused.json()["detail"]] == [
        "There is no kind 'cell_instnce'. Did you mean 'cell_instance' or 'cell_batch'?"
    ]
    others = {"q": "kokam", "entity_types": ["pipeline", "cell_instance"]}
    assert served.json("GET", "/search", params=others)["total"] == 5
    assert served.json("GET", "/search", params={**others, "entity_types": ["pipeline"]})["total"] == 0
    assert served.call("GET", "/search", params={"q": "   "}).status_code == 400
    for params in ({"limit": 101}, {"per_type": 21}, {"offset": -1}):
        assert served.call("GET", "/search", params={"q": "kokam", **params}).status_code == 422


def test_members_and_roles(served: Lab) -> None:
    organization = f"/organizations/{served.organization.id}/users"
    added = served.json("POST", f"{organization}/by-email", json={"email": "New@Lab.org", "role_name": "Member"})
    assert (added["already_member"], added["invite_sent"], added["role_name"]) == (False, False, "Member")
    assert served.json("POST", f"{organization}/by-email", json={"email": "new@lab.org"})["already_member"] is True
    assert served.call("POST", f"{organization}/by-email", json={"email": "nonsense"}).json()["detail"][0][
        "loc"
    ] == ["email"]
    project = served.json("POST", "/projects", json={"name": "Shared"})["id"]
    role = next(role for role in served.json("GET", "/roles/project") if role["name"] == "Project Viewer")
    body = {"user_id": added["user_id"], "project_role_id": role["id"]}
    assert served.call("POST", f"/projects/{project}/members", json=body).status_code == 204
    listed = {user["email"]: user for user in served.json("GET", organization)}
    assert listed["new@lab.org"]["user_project_roles"] == [{"project_id": project, "project_role_id": role["id"]}]
    assert listed["local@localhost"]["organization_role"] == {"name": "Admin"}
    assert listed["new@lab.org"]["every_project_role_id"] is None
    served.person("reader@lab.org", everywhere="project-viewer")
    listed = {user["email"]: user for user in served.json("GET", organization)}
    assert listed["reader@lab.org"]["every_project_role_id"] == role["id"]
    shown = served.json("GET", f"/projects/{project}")["user_project_roles"]
    assert (shown[0]["user_id"], shown[0]["project_roles"]["name"]) == (added["user_id"], "Project Viewer")
    assert served.call("DELETE", f"/projects/{project}/members/{added['user_id']}").status_code == 204
    assert served.call("DELETE", f"/projects/{project}/members/{added['user_id']}").status_code == 404
    invited = served.json(
        "POST", f"/projects/{project}/invites", json={"email": "third@lab.org", "project_role_id": role["id"]}
    )
    assert invited["role_name"] == "Project Viewer"
    last = served.call("PATCH", f"{organization}/{served.admin.user_id}/role", json={"role_name": "Member"})
    assert last.status_code == 409
    assert served.call("GET", "/organizations/another/users").status_code == 404


def test_an_invite_to_a_project_does_not_end_a_suspension(served: Lab) -> None:
    lead, boss = served.person("lead@lab"), served.person("boss@lab", role="Admin")
    project = f"/projects/{served.project.id}"
    given = {"user_id": lead.user_id, "project_role_id": "project-admin"}
    assert served.call("POST", f"{project}/members", json=given).status_code == 204
    user = f"/organizations/{served.organization.id}/users/{boss.user_id}"
    assert served.call("PATCH", user, json={"is_active": False}).status_code == 204

    invite = {"email": "boss@lab", "project_role_id": "project-viewer"}
    refused = served.call("POST", f"{project}/invites", lead, json=invite)
    assert (refused.status_code, refused.json()["error_code"]) == (403, "FORBIDDEN")
    assert "suspended" in refused.json()["message"]
    assert served.call("GET", "/users/me", boss).status_code == 401
    served.json("POST", f"{project}/invites", json=invite)
    assert served.json("GET", "/users/me", boss)["organization_role"] == {"name": "Admin"}


def test_the_id_of_a_project_out_of_reach_stays_hidden_where_its_name_is_taken(served: Lab) -> None:
    """It was in the answer to a change of a name, and not in that to a new project."""
    lead = served.person("lead@lab")
    own, hidden = f"/projects/{served.project.id}", served.json("POST", "/projects", json={"name": "Hidden"})
    given = {"user_id": lead.user_id, "project_role_id": "project-admin"}
    assert served.call("POST", f"{own}/members", json=given).status_code == 204
    for method, path in (("POST", "/projects"), ("PATCH", own)):
        refused = served.call(method, path, lead, json={"name": "Hidden"})
        assert (refused.status_code, refused.json()["detail"]) == (409, {}), method
        told = served.call(method, path, json={"name": "Hidden"})
        assert told.json()["detail"] == {"existing_id": hidden["id"]}, method


def test_who_deletes_what_all_projects_share_takes_nothing_from_a_project_out_of_reach(served: Lab) -> None:
    """A contributor of one project deleted the cells and tests of another one with their shared specification."""
    hidden = served.json("POST", "/projects", json={"name": "Hidden"})["id"]
    given = {"project_id": None, "name": "LG M50", "ratings": RATINGS}
    place = f"/projects/{hidden}/records"
    shared = f"/cell_specifications/{served.json('POST', f'{place}/specifications', json=given)['id']}"
    body = {"name": "Cell", "specification_id": shared.rpartition("/")[2]}
    test = upload(served, served.admin, served.json("POST", f"{place}/instances", json=body)["id"], "t", samples())
    ada = served.person("ada@lab", everywhere="project-viewer")
    role = {"user_id": ada.user_id, "project_role_id": "project-contributor"}
    assert served.call("POST", f"/projects/{served.project.id}/members", json=role).status_code == 204
    for path in (shared, f"/projects/{served.project.id}/records/specifications/{shared.rpartition('/')[2]}"):
        refused = served.call("DELETE", path, ada)
        assert (refused.status_code, refused.json()["error_code"]) == (403, "FORBIDDEN")
        assert "Hidden" not in refused.text
    assert served.json("GET", f"/cell_measurements/{test['id']}")["processing_status"] == "ready"
    assert served.call("PATCH", shared, ada, json={"notes": "seen"}).status_code == 200, "it is hers to change"
    assert served.call("POST", f"/projects/{hidden}/members", json=role).status_code == 204
    assert served.call("DELETE", shared, ada).status_code == 204
    assert served.call("GET", f"/cell_measurements/{test['id']}").status_code == 404


def test_less_in_one_project_than_in_every_one_is_refused(served: Lab) -> None:
    """It changed nothing, and the answer said that it had."""
    ada = served.person("ada@lab", everywhere="project-contributor")
    members = f"/projects/{served.project.id}/members"
    less = {"user_id": ada.user_id, "project_role_id": "project-viewer"}
    for method, path, body in (
        ("POST", members, less),
        ("PATCH", f"{members}/{ada.user_id}", {"project_role_id": "project-viewer"}),
        (
            "POST",
            f"/projects/{served.project.id}/invites",
            {"email": "ada@lab", "project_role_id": "project-viewer"},
        ),
    ):
        refused = served.call(method, path, json=body)
        assert refused.status_code == 409, (method, path)
        assert "Project Contributor of every project" in refused.json()["message"]
    assert served.json("GET", f"/projects/{served.project.id}")["user_project_roles"] == []
    assert served.call("POST", members, json={**less, "project_role_id": "project-admin"}).status_code == 204
    assert served.call("DELETE", f"{members}/{ada.user_id}").status_code == 204
    for nobody in (ada.user_id, "nobody"):
        gone = served.call("DELETE", f"{members}/{nobody}")
        assert gone.status_code == 404
        assert "with a role in this project alone" in gone.json()["message"]


def test_who_makes_a_project_leads_it(served: Lab) -> None:
    maker = served.person("maker@lab", everywhere="project-contributor")
    mine = served.json("POST", "/projects", maker, json={"name": "Mine"})
    assert mine["user_project_roles"][0]["user_id"] == maker.user_id
    assert served.json("PATCH", f"/projects/{mine['id']}", maker, json={"description": "d"})["description"] == "d"
    assert served.call("PATCH", f"/projects/{served.project.id}", maker, json={"name": "x"}).status_code == 403
    assert served.call("DELETE", f"/projects/{mine['id']}", maker).status_code == 204
    secret = served.json("POST", "/projects", json={"name": "Secret"})
    outsider = served.person("outsider@lab")
    served.store.people.give_role(
        served.organization.id, served.project.id, outsider.user_id, "project-contributor"
    )
    taken = served.call("POST", "/projects", outsider, json={"name": "Secret"})
    assert taken.status_code == 409
    assert secret["id"] not in taken.text
