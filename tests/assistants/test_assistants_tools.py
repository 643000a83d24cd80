"""What assistants can do with the tools: a search becomes a saved plot, and nobody gets more than over HTTP."""

from __future__ import annotations

import json
import uuid
from typing import Any

import jsonschema
import pytest
from support import needs
from support.ageing_lab import Ageing

PLAN: dict[str, Any] = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name"]}}}
BARS = "def transform(data, params):\n    return px.bar(data['cells'], x='name', title='Cells')\n"
RECIPE: dict[str, Any] = {"plan": PLAN, "transform": BARS}
DRAFT = {"name": "Cells by name", "config": RECIPE}


def test_a_search_becomes_a_saved_plot(ageing: Ageing) -> None:
    boards, found, context = ageing.tools(
        ageing.contributor,
        ("list_records", {"kind": "dashboards", "fields": ["id", "name"]}),
        ("search", {"q": "Cell"}),
        ("authoring_context", {"dashboard_id": ageing.board, "prompt": "The cells by name"}),
    )
    assert boards.value["items"] == [{"id": ageing.board, "name": "Ageing board"}]
    assert [one["name"] for one in found.value["results"]] == ["Cell 1", "Cell 2", "Cell 3"]
    assert "The cells by name" in context.value["prompt"]
    session = context.value["session_id"]
    wrong = {**RECIPE, "plan": {"steps": {"cells": {"op": "lst", "source": "instances"}}}}
    checked, data, drawn, poor, kept, saved = ageing.tools(
        ageing.contributor,
        ("check_recipe", {"config": wrong}),
        ("run_plan", {"config": {"plan": PLAN}, "rows": 2}),
        ("draw_figure", {"config": RECIPE, "rows": 2, "picture": False}),
        ("save_draft", {"session_id": session, "draft": {"name": "Wrong", "config": wrong}}),
        ("save_draft", {"session_id": session, "draft": DRAFT, "say": "Here they are."}),
        ("accept_draft", {"dashboard_id": ageing.board, "session_id": session}),
    )
    assert checked.value["problems"][0]["loc"] == ["config", "plan", "steps", "cells", "op"]
    assert "Did you mean 'list'?" in poor.value["problems"][0]["msg"]
    assert len(data.value["steps"]["cells"]) == 2
    assert data.value["shown"] == {"cells": "the first 2 of 3"}
    assert drawn.value["title"] == "Cells"
    (trace,) = drawn.value["numbers"]["traces"]
    assert (trace["type"], trace["points"]) == ("bar", 3)
    assert [one["name"] for one in drawn.value["rows"]] == ["Cell 1", "Cell 2"]
    assert drawn.value["shown"] == {"rows": "the first 2 of 3"}
    assert kept.value["problems"] == []
    assert kept.value["numbers"]["points"] == 3
    assert not saved.refused
    assert saved.value["name"] == "Cells by name"
    _as_untrusted(ageing, saved.value["id"], session)


def _as_untrusted(ageing: Ageing, plot: str, session: str) -> None:
    """What an assistant wrote is a draft of its session, and its script counts as written by somebody else."""
    path = f"/projects/{ageing.project}/dashboards/{ageing.board}/plots/{plot}"
    (revision,) = ageing.server.json("GET", f"{path}/revisions")["items"]
    assert revision["origin"] == "draft"
    messages = ageing.server.call("GET", f"/agent/sessions/{session}/messages", ageing.contributor).json()
    assert [one["role"] for one in messages] == ["user", "assistant", "assistant"]
    assert messages[0]["content"] == {"text": "The cells by name"}
    assert messages[2]["content"]["parts"] == [
        {"type": "text", "text": "Here they are."},
        {"type": "draft", "draft": DRAFT},
    ]


def test_the_whole_session_is_in_the_audit_log(ageing: Ageing) -> None:
    before = len(ageing.audit())
    ageing.tools(
        ageing.viewer,
        ("search", {"q": "Cell"}),
        ("catalog", {}),
        ("create_dashboard", {"name": "Mine"}),
        ("read_plot", {"dashboard_id": ageing.board, "plot_id": str(uuid.uuid4())}),
    )
    noted = [one for one in ageing.audit()[before:] if one["action"] != "key.used"]
    assert {one["key_id"] for one in noted} == {ageing.viewer.key_id}
    told = [one["detail"] for one in noted]
    assert {one["assistant"] for one in told} == {"scripted 1"}
    assert {one["session"] for one in told} == {"a-session"}
    asked = [
        (one["tool"], row["action"].partition(" ")[0], row["status"]) for one, row in zip(told, noted, strict=True)
    ]
    assert [one for one in asked if one[1:] != ("GET", None) or one[0] == "search"] == [
        ("search", "GET", None),
        ("create_dashboard", "POST", 403),
        ("read_plot", "GET", 404),
    ]
    assert ("catalog", "GET", None) in asked


def test_a_request_that_names_no_assistant_is_noted_only_if_it_writes(ageing: Ageing) -> None:
    ageing.server.json("GET", "/projects", ageing.viewer)
    before = len(ageing.audit())
    ageing.server.json("GET", "/projects", ageing.viewer)
    assert len(ageing.audit()) == before
    ageing.server.json("GET", "/projects", ageing.viewer, headers={"X-Assistant": "somebody's own program"})
    assert ageing.audit()[-1]["detail"] == {"assistant": "somebody's own program"}


def every_call(ageing: Ageing, project: str) -> list[tuple[str, dict[str, Any]]]:
    """A call of every tool, in a project."""
    there = {"project": project}
    on_board = {**there, "dashboard_id": ageing.board}
    one_plot = {**on_board, "plot_id": str(uuid.uuid4())}
    return [
        ("list_projects", {}),
        ("search", {"q": "Cell", **there}),
        ("catalog", there),
        ("list_records", {**there, "kind": "instances"}),
        ("gallery", there),
        ("gallery_recipe", {**there, "name": "fade"}),
        ("draw_gallery", {**there, "name": "fade"}),
        ("list_plots", on_board),
        ("read_plot", one_plot),
        ("draw_plot", one_plot),
        ("authoring_context", {**on_board, "prompt": "A plot"}),
        ("check_recipe", {**there, "config": RECIPE}),
        ("run_plan", {**there, "config": {"plan": PLAN}}),
        ("draw_figure", {**there, "config": RECIPE}),
        ("create_dashboard", {**there, "name": "New"}),
        ("save_draft", {"session_id": str(uuid.uuid4()), "draft": DRAFT}),
        ("accept_draft", on_board),
    ]


def test_without_a_key_there_is_nothing(ageing: Ageing) -> None:
    from server.assistants.tools import BY_NAME

    calls = every_call(ageing, ageing.project)
    assert {name for name, _ in calls} == set(BY_NAME)
    answers = ageing.tools(None, *calls)
    assert {one.value["status"] for one in answers} == {401}
    assert all(set(one.value) == {"status", "error_code", "message"} for one in answers)


def test_a_key_of_another_organization_finds_nothing(ageing: Ageing) -> None:
    theirs = ageing.tools(ageing.stranger, *every_call(ageing, ageing.project)[2:])
    unknown = ageing.tools(ageing.stranger, *every_call(ageing, str(uuid.uuid4()))[2:])
    assert {one.value["status"] for one in theirs} == {404}
    assert [one.value["status"] for one in unknown] == [404] * len(unknown)
    assert "Cell" not in json.dumps([one.value for one in theirs])


def test_a_viewer_reads_and_writes_nothing(ageing: Ageing) -> None:
    counted = ageing.server.json("GET", f"/projects/{ageing.project}/dashboards")["total"]
    calls = every_call(ageing, ageing.project)
    status = {
        name: answer.value.get("status", 200)
        for (name, _), answer in zip(calls, ageing.tools(ageing.viewer, *calls), strict=True)
    }
    reads = {"list_projects", "search", "catalog", "list_records", "gallery", "list_plots"}
    reads |= {"gallery_recipe", "draw_gallery"}
    assert {name for name, code in status.items() if code == 200} == reads
    assert {name for name, code in status.items() if code == 404} == {"read_plot", "draw_plot", "save_draft"}
    assert {name for name, code in status.items() if code == 403} == set(status) - reads - {
        "read_plot",
        "draw_plot",
        "save_draft",
    }
    assert ageing.server.json("GET", f"/projects/{ageing.project}/dashboards")["total"] == counted


HOSTILE = {
    "opens a file": "def transform(data, params):\n    open('/etc/passwd')\n    return px.bar()\n",
    "reaches the network": (
        "import socket\ndef transform(data, params):\n    socket.create_connection(('127.0.0.1', 1))\n"
    ),
    "fetches a picture": (
        "def transform(data, params):\n    made = px.bar(data['cells'], x='name')\n"
        "    made.add_layout_image(source='https://example.org/a.png', x=0, y=1)\n    return made\n"
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_script_gives_words_and_no_figure(ageing: Ageing, what: str) -> None:
    (answer,) = ageing.tools(
        ageing.contributor, ("draw_figure", {"config": {**RECIPE, "transform": HOSTILE[what]}})
    )
    assert answer.refused
    assert answer.value["status"] == 422
    assert answer.kinds == ["text"]
    assert answer.value["detail"][0]["loc"] == ["config", "transform"]


def test_what_is_wrong_with_a_call_is_said_with_the_nearest_name(ageing: Ageing) -> None:
    answers = ageing.tools(
        ageing.viewer,
        ("serch", {}),
        ("search", {"Q": "Cell"}),
        ("search", {}),
        ("catalog", {"project": "Agein"}),
        ("run_plan", {"config": {"plan": PLAN}, "rows": -1}),
    )
    texts = [one.value["message"] for one in answers]
    assert "Did you mean 'search'?" in texts[0]
    assert "has no argument 'Q'" in texts[1]
    assert texts[2] == "The tool 'search' also needs 'q'."
    assert "There is no project 'Agein' here" in texts[3]
    assert all(one.refused for one in answers)


def test_rows_are_bounded_by_a_number_that_is_checked(ageing: Ageing) -> None:
    bad, whole = ageing.tools(
        ageing.contributor,
        ("run_plan", {"config": {"plan": PLAN}, "rows": 5000}),
        ("run_plan", {"config": {"plan": PLAN}}),
    )
    assert bad.value["message"] == "'rows' is a whole number from 0 to 2000."
    assert "shown" not in whole.value


def test_an_answer_that_no_model_can_read_is_refused_with_what_to_ask_for() -> None:
    from server.assistants.answers import MOST_CHARACTERS, Answer
    from workbench.errors import BadRequest

    assert len(Answer({"a": "x" * 1000}).text) < MOST_CHARACTERS
    with pytest.raises(BadRequest, match="Ask for less"):
        _ = Answer({"a": "x" * MOST_CHARACTERS}).text


def test_a_figure_without_a_browser_has_its_numbers_and_says_why(
    ageing: Ageing, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench import export
    from workbench.errors import ExportUnavailable

    def no_browser(*_: object, **__: object) -> bytes:
        raise ExportUnavailable("There is no browser here.")

    monkeypatch.setattr(export, "file", no_browser)
    (drawn,) = ageing.tools(ageing.contributor, ("draw_figure", {"config": RECIPE}))
    assert drawn.kinds == ["text"]
    assert drawn.value["numbers"]["points"] == 3
    assert drawn.value["picture"].startswith("There is no picture: ")


@pytest.mark.long
def test_a_figure_comes_as_a_picture_too(ageing: Ageing) -> None:
    needs.chromium()

    async def use(client: Any) -> Any:
        return await client.call_tool("draw_figure", {"config": RECIPE})

    import base64

    text, picture = ageing.assistant(ageing.contributor, use).content
    assert json.loads(text.text)["numbers"]["points"] == 3
    assert picture.mime_type == "image/png"
    assert base64.b64decode(picture.data).startswith(b"\x89PNG")


def test_the_tools_describe_themselves_briefly_and_soundly(ageing: Ageing) -> None:
    async def use(client: Any) -> Any:
        return (await client.list_tools()).tools

    tools = ageing.assistant(None, use)
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.description
        assert set(tool.input_schema["required"]) <= set(tool.input_schema["properties"])
        assert "$ref" not in json.dumps(tool.input_schema)
    sizes = [len(json.dumps(tool.model_dump(mode="json", exclude_none=True))) for tool in tools]
    assert sum(sizes) < 20_000


def test_the_resources_are_the_schema_and_the_context(ageing: Ageing) -> None:
    from mcp import MCPError

    async def use(client: Any) -> Any:
        listed = [one.uri for one in (await client.list_resources()).resources]
        templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
        texts = [
            (await client.read_resource(uri)).contents[0].text for uri in (*listed, "workbench://context/Default")
        ]
        with pytest.raises(MCPError, match="There is nothing at"):
            await client.read_resource("workbench://elsewhere")
        return listed, templates, texts

    listed, templates, (schema, context, named) = ageing.assistant(ageing.viewer, use)
    assert listed == ["workbench://recipe/schema", "workbench://context"]
    assert templates == ["workbench://context/{project}"]
    assert "steps" in json.loads(schema)["$defs"]["Plan"]["properties"]
    assert "`instances`" in context
    assert context == named


def test_the_context_is_for_those_who_may_read_the_project(ageing: Ageing) -> None:
    path = f"/projects/{ageing.project}/authoring-context"
    found = ageing.server.json("GET", path, ageing.viewer, params={"wish": "Fade by batch"})
    assert found["characters"] == len(found["system"]) + len(found["prompt"]) <= 24_000
    assert found["characters"] / 8 < found["tokens"] < found["characters"]
    assert "Fade by batch" in found["prompt"]
    assert ageing.server.call("GET", path, ageing.stranger).status_code == 404
