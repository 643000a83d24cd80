"""What a request says is kept or refused at its place; nothing is dropped in silence."""

from __future__ import annotations

import json
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.full_organization import RATINGS, World, begin, make, parquet, put, samples
from support.server_in_process import Lab, Person, lab

_BOARD = "/projects/{project_id}/dashboards/{dashboard_id}"
_SET = "/material_property_datasets"
_TILE = {"plot_id": "p", "x": 0, "y": 0, "w": 6, "h": 4}
_BOARDS = "/projects/{project_id}/dashboards"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, World]]:
    with lab(tmp_path_factory.mktemp("bodies")) as made:
        yield made, make(made, made.admin, "ours")


def sent(made: Lab, ours: World, method: str, path: str, **body: Any) -> Any:
    return made.call(method, path.format_map(ours.ids), **body)


def refused(answer: Any, status: int, *locs: list[Any]) -> None:
    assert answer.status_code == status, answer.text
    if locs:
        assert [problem["loc"] for problem in answer.json()["detail"]] == list(locs)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "/cell_specifications/{specification_id}/cell_instances",
            {"name": "A", "cell_specification_id": str(uuid.uuid4())},
        ),
        ("/cell_specifications/{specification_id}/cell_batches", {"name": "A", "specification_id": "other"}),
        ("/projects/{project_id}/studies", {"name": "A", "project_id": "other"}),
        ("/projects/{project_id}/dashboards", {"name": "A", "project_id": None}),
        ("/cell_instances/{instance_id}/cell_measurements/create", {"name": "A", "cell_instance_id": "other"}),
    ],
)
def test_a_body_does_not_contradict_its_address(world: tuple[Lab, World], path: str, body: dict[str, Any]) -> None:
    answer = sent(*world, "POST", path, json=body)
    refused(answer, 400)
    assert "is not what the path says" in answer.json()["message"]


def test_a_body_may_say_what_its_address_says(world: tuple[Lab, World]) -> None:
    made, ours = world
    body = {"name": "The same", "cell_specification_id": ours.ids["specification_id"]}
    path = "/cell_specifications/{specification_id}/cell_instances".format_map(ours.ids)
    assert made.json("POST", path, json=body)["cell_specification_id"] == ours.ids["specification_id"]


def test_a_confirm_does_not_contradict_its_upload(world: tuple[Lab, World]) -> None:
    made, ours = world
    begun = begin(made, made.admin, ours.ids["instance_id"], "Contradicted")
    assert put(made, begun["uploads"][0], parquet(samples())).status_code == 200
    path = f"/cell_measurements/{begun['measurement_id']}/confirm-upload"
    for wrong in ({"measurement_type": "file"}, {"cell_instance_id": "other"}):
        refused(made.call("POST", path, json={"measurement": {"name": "Contradicted", **wrong}}), 400)
    assert made.json("POST", path, json={"measurement": {"name": "Contradicted"}})["processing_status"] == "ready"


def test_what_a_measurement_holds_stays(world: tuple[Lab, World]) -> None:
    made, ours = world
    path = f"/cell_measurements/{ours.ids['measurement_id']}"
    for other in ("properties", "file"):
        refused(made.call("PATCH", path, json={"measurement_type": other}), 400)
    kept = {"measurement_type": "time_series", "notes": "the same type"}
    assert made.json("PATCH", path, json=kept)["notes"] == "the same type"


@pytest.mark.parametrize(
    ("more", "loc"),
    [
        ({"columns": "{}"}, "columns"),
        ({"plots": "{}"}, "plots"),
        ({"metadata": "[]"}, "metadata"),
        ({"metadata": "x"}, "metadata"),
    ],
)
def test_the_texts_of_an_analysis_are_of_their_shape(world: tuple[Lab, World], more: Any, loc: str) -> None:
    made, ours = world
    data = {"measurement_id": ours.ids["measurement_id"], "name": "A", "analysis_type": "t", **more}
    answer = made.call("POST", "/analyses", data=data, files={"file": ("a.parquet", parquet(samples()))})
    refused(answer, 422, [loc])
    assert "body" not in answer.json()["message"]


def test_a_property_set_has_columns_and_needs_no_project(world: tuple[Lab, World]) -> None:
    made, ours = world
    files = {"file": ("a.parquet", parquet(pa.table({"x": [1.0], "y": [2.0]})))}
    data = {"material_id": ours.ids["material_id"], "name": "OCV"}
    refused(made.call("POST", _SET, data={**data, "columns": "[]"}, files=files), 422, ["columns"])
    refused(made.call("POST", _SET, data={"material_id": data["material_id"]}, files=files), 422, ["name"])
    one = made.json("POST", _SET, data=data, files=files)
    assert one["project_id"] == ours.ids["project_id"]
    refused(made.call("PATCH", f"{_SET}/{one['id']}", json={"columns": []}), 422, ["columns"])
    answer = made.call("PATCH", f"{_SET}/{one['id']}/file", data={"columns": "[]"}, files=files)
    refused(answer, 422, ["columns"])
    assert made.json("GET", f"{_SET}/{one['id']}/data") == {"x": [1.0], "y": [2.0]}


def test_a_property_set_of_no_named_project_takes_a_contributor(world: tuple[Lab, World]) -> None:
    made, ours = world
    viewer = made.person("looks@lab")
    made.store.people.give_role(made.organization.id, ours.ids["project_id"], viewer.user_id, "project-viewer")
    made.store.people.give_role(made.organization.id, made.project.id, viewer.user_id, "project-contributor")
    data = {"material_id": ours.ids["material_id"], "name": "Not theirs"}
    answer = made.call("POST", _SET, viewer, data=data, files={"file": ("a.parquet", parquet(samples()))})
    refused(answer, 403)


def test_a_custom_variable_has_a_name_and_an_expression(world: tuple[Lab, World]) -> None:
    path = "/models/{model_id}/custom-variables"
    for body, loc in (({"name": " ", "expression": "x"}, "name"), ({"name": "x", "expression": ""}, "expression")):
        refused(sent(*world, "POST", path, json=body), 422, [loc])
    long = {"name": "x", "expression": "a + " * 1000 + "b"}
    assert sent(*world, "POST", path, json=long).status_code == 200


def test_any_prompt_of_a_character_is_taken_and_problems_are_at_the_prompt(world: tuple[Lab, World]) -> None:
    path = f"{_BOARD}/authoring-context"
    for prompt in (" ", "\n", "x"):
        assert sent(*world, "POST", path, json={"prompt": prompt}).status_code == 200
    refused(sent(*world, "POST", path, json={"prompt": "a\0b"}), 422, ["prompt"])
    upper = world[1].ids["plot_id"].upper()
    assert sent(*world, "POST", path, json={"prompt": "x", "plot_id": upper}).status_code == 200


def test_what_a_zoom_needs_is_said(world: tuple[Lab, World]) -> None:
    """A list of another kind is a list, so "must be a list" did not help."""
    right = {"traces": [0], "x": [0, 1], "width": 100}
    for wrong, words in (
        ({"traces": [-1]}, "'traces' is a list of trace numbers, from 0."),
        ({"x": [None, 1]}, "two numbers or two times"),
        ({"x": [0]}, "two numbers or two times"),
        ({"x": ["a", "b"]}, "two numbers or two times"),
        ({"y": [0, 1, 2]}, "two numbers or two times"),
    ):
        answer = sent(*world, "POST", f"{_BOARD}/plots/{{plot_id}}/figure/detail", json={**right, **wrong})
        refused(answer, 422, [*wrong])
        assert words in answer.json()["detail"][0]["msg"]


def test_the_title_of_a_session_is_kept_whole_or_refused(world: tuple[Lab, World]) -> None:
    made, ours = world
    body = {"project_id": ours.ids["project_id"]}
    assert made.json("POST", "/agent/sessions", json={**body, "title": "t" * 500})["title"] == "t" * 500
    for title in ("t" * 501, " ", "a\0b"):
        refused(made.call("POST", "/agent/sessions", json={**body, "title": title}), 422, ["title"])


def test_projects_are_not_found_by_who_made_them(world: tuple[Lab, World]) -> None:
    """The interface: the record holds no creator, so there is no filter on a creator e-mail."""
    made, _ = world
    refused(made.call("GET", "/projects", params={"created_by_email": "ilike.%a%"}), 422, ["created_by_email"])
    document = made.client.get("/openapi.json").json()
    names = {parameter["name"] for parameter in document["paths"]["/projects"]["get"]["parameters"]}
    assert "created_by_email" not in names
    assert "name" in names


def test_a_slash_too_many_is_told_and_leads_nowhere(world: tuple[Lab, World]) -> None:
    made, _ = world
    for method, path in (("GET", "/projects/"), ("POST", "/projects/"), ("GET", f"/projects/{made.project.id}/")):
        answer = made.call(method, path)
        refused(answer, 404)
        assert "location" not in answer.headers
        assert answer.json()["message"].endswith("Leave out the slash at its end.")
    assert "slash" not in made.call("GET", "/nowhere/").json()["message"]


def test_json_in_a_parameter_is_told_by_its_name(world: tuple[Lab, World]) -> None:
    made, ours = world
    answer = sent(made, ours, "GET", f"{_BOARD}/plots/{{plot_id}}/data", params={"values": "x"})
    refused(answer, 422, ["values"])
    assert answer.json()["detail"][0]["msg"].startswith("'values' is not JSON")


def test_a_specification_that_arrives_twice_is_there_once(world: tuple[Lab, World]) -> None:
    made, ours = world
    body = json.dumps({"name": "Twice", "ratings": RATINGS, "project_id": ours.ids["project_id"]})
    first, second = (made.call("POST", "/cell_specifications", content=body) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 409)
    assert second.json()["detail"]["existing_id"] == first.json()["id"]


def test_a_form_that_arrives_twice_makes_one_record(world: tuple[Lab, World]) -> None:
    made, ours = world
    table, other = parquet(samples()), parquet(samples(300))
    requests: dict[str, tuple[str, dict[str, Any]]] = {
        "/analyses": ("file", {"measurement_id": ours.ids["measurement_id"], "analysis_type": "t"}),
        "/simulations": ("time_series", {"project_id": ours.ids["project_id"], "study_id": ours.ids["study_id"]}),
        _SET: ("file", {"material_id": ours.ids["material_id"], "project_id": ours.ids["project_id"]}),
    }
    for path, (part, said_of_all) in requests.items():

        def once(
            who: Person,
            content: bytes = table,
            *,
            path: str = path,
            part: str = part,
            told: dict[str, Any] = said_of_all,
            **more: str,
        ) -> str:
            files = {part: ("a.parquet", content)}
            return str(
                made.json("POST", path, who, data={**told, "name": "Sent twice", **more}, files=files)["id"]
            )

        first = once(made.admin)
        assert once(made.admin) == first
        colleague = made.person("colleague@lab", everywhere="project-contributor")
        others = {once(colleague), once(made.admin, other), once(made.admin, notes="again")}
        assert len(others | {first}) == 4
    assert made.store.verify() == []


def test_a_simulation_of_a_study_that_is_not_there_leaves_nothing(
    world: tuple[Lab, World], tmp_path: Path
) -> None:
    made, ours = world
    data = {"name": "Of no study", "project_id": ours.ids["project_id"], "study_id": str(uuid.uuid4())}
    files = {"time_series": ("a.parquet", parquet(samples()))}
    refused(made.call("POST", "/simulations", data=data, files=files), 404)
    there = made.json("GET", "/simulations", params={"project_id": ours.ids["project_id"]})["simulations"]
    assert "Of no study" not in [one["name"] for one in there]


def test_files_of_a_form_never_touch_the_folder_for_temporary_files(
    world: tuple[Lab, World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, ours = world
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    large = parquet(samples(400_000))
    assert len(large) > 1 << 20  # more than Starlette keeps in memory
    given = {"name": "Large", "analysis_type": "t", "measurement_id": ours.ids["measurement_id"]}
    made.json("POST", "/analyses", data=given, files={"file": ("a.parquet", large)})
    incoming = Path(f"{made.store.path}.files") / "incoming"
    assert [path.name for path in incoming.iterdir() if not path.name.startswith("object-")] == []


def test_a_form_that_is_refused_leaves_no_file(world: tuple[Lab, World]) -> None:
    made, _ = world
    file = ("a.parquet", parquet(samples()))
    refused(made.call("POST", "/analyses", data={"name": "No kind"}, files={"file": file}), 422)
    twice = [("file", file), ("file", file)]
    refused(made.call("POST", "/analyses", data={"name": "Twice"}, files=twice), 422, ["file"])
    cut = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc'
    headers = {"content-type": "multipart/form-data; boundary=x"}
    refused(made.call("POST", "/analyses", content=cut, headers=headers), 422, [])
    incoming = Path(f"{made.store.path}.files") / "incoming"
    assert [path.name for path in incoming.iterdir() if not path.name.startswith("object-")] == []


def test_an_unknown_parameter_and_a_wrong_one_are_both_reported(world: tuple[Lab, World]) -> None:
    made, _ = world
    answer = made.call("GET", "/search", params={"q": "a", "limit": "many", "nonsense": "1"})
    refused(answer, 422, ["nonsense"], ["q"], ["limit"])
    assert [problem["type"] for problem in answer.json()["detail"]] == [
        "extra_forbidden",
        "string_too_short",
        "out_of_range",
    ]
    refused(made.call("GET", "/search", params={"nonsense": "1"}), 422, ["nonsense"])


@pytest.mark.parametrize(
    ("method", "path", "body", "said"),
    [
        ("POST", _BOARDS, {"name": "x", "layout": [_TILE | {"w": -1}]}, "'w' must be at least 1."),
        ("POST", _BOARDS, {"name": "x", "layout": [_TILE | {"y": 10**9}]}, "'y' must be at most"),
        ("POST", "/projects/{project_id}/alerts", {"name": "x" * 300}, "'name' must have at most 200 characters."),
        ("POST", "/projects/{project_id}/alerts", {"key": ["a"] * 99}, "'key' must have at most"),
        ("POST", "/organizations/{organization_id}/keys", {"days": -1}, "'days' must be more than 0."),
        ("PATCH", f"{_BOARD}/plots/{{plot_id}}", {"note": "x" * 2001}, "'note' must have at most"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_in_our_words(
    world: tuple[Lab, World], method: str, path: str, body: dict[str, Any], said: str
) -> None:
    answer = sent(*world, method, path, json=body)
    assert answer.status_code == 422
    assert any(problem["msg"].startswith(said) for problem in answer.json()["detail"]), answer.text
    assert "Input should" not in answer.text
    assert "after validation" not in answer.text
