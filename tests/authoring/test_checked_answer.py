"""An answer of a language model: all that is wrong with it comes at once, and only what draws something is offered."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.local_and_remote import sides

from workbench.authoring import CheckedAnswer
from workbench.authoring.answer import read_answer
from workbench.authoring.examples import answer
from workbench.authoring.numbers import MOST_ROWS
from workbench.bench import Bench
from workbench.local import LocalBackend


@pytest.fixture(scope="module")
def bench(demo_store: Path) -> Iterator[Bench]:
    with Bench(LocalBackend.open(demo_store)) as made:
        yield made


def given(**changes: Any) -> dict[str, Any]:
    """The first example as an answer, with some parts of its recipe changed."""
    made = copy.deepcopy(dict(answer("fade")))
    made["draft"]["config"].update(changes)
    return made


def places(checked: CheckedAnswer) -> list[str]:
    return [".".join(map(str, one["loc"])) for one in checked.problems]


def test_a_sound_draft_comes_with_its_picture_and_its_numbers(bench: Bench) -> None:
    checked = bench.check_answer(given())
    assert checked.is_sound, checked.words
    assert checked.figure is not None
    assert len(checked.figure["data"]) == checked.numbers.trace_count > 10
    assert checked.numbers.axes["xaxis"] == "Cycle count"
    assert checked.numbers.steps["cells"] == "14 rows"
    assert next(one.y[1] for one in checked.numbers.traces if one.y) == 1.0
    assert checked.values["limit"] == 0.8
    assert bench.check_answer(given(), {"limit": 0.95}).values["limit"] == 0.95


def test_the_numbers_of_a_table_are_its_headings_and_first_rows(bench: Bench) -> None:
    script = (
        "def transform(data, params):\n"
        "    head = {'values': ['Test', 'Cycles']}\n"
        "    rows = {'values': [[f'test {n}' for n in range(20)], list(range(20))]}\n"
        "    return {'data': [{'type': 'table', 'header': head, 'cells': rows}], 'layout': {'height': 900}}\n"
    )
    numbers = bench.check_answer(given(transform=script)).numbers
    assert (numbers.points, len(numbers.traces[0].rows)) == (20, 1 + MOST_ROWS)
    assert "  - Test | Cycles\n  - test 0 | 0" in numbers.as_text()


def test_only_cells_of_which_something_was_read_are_missing_in_a_figure(bench: Bench) -> None:
    """A list of all tests from which two are chosen: the others are not missing."""
    tests = {"op": "list", "source": "measurements", "fields": ["id", "name", "instance_name"], "limit": 1000}
    cycles = {"op": "summary", "dataset": "cycles", "columns": ["Cycle count"]}
    steps = {"tests": tests}
    for number, name in enumerate(("M50-A-01_RPT0", "M50-A-02_RPT0")):
        steps[f"test{number}"] = {**tests, "where": {"name": name}, "fields": ["id"]}
        steps[f"cycles{number}"] = {**cycles, "ids": {"from": f"test{number}", "column": "id"}}
    script = "def transform(data, params):\n    return {'data': [{'y': [2], 'name': 'M50-A-02'}], 'layout': {}}\n"
    checked = bench.check_answer(given(plan={"steps": steps}, params={}, transform=script))
    assert checked.is_sound, checked.words
    assert checked.numbers.not_named == ["M50-A-01"]


def test_four_different_mistakes_come_at_once(bench: Bench) -> None:
    raw = given()
    config = raw["draft"]["config"]
    config["plan"]["steps"]["cells"]["limt"] = 5
    config["plan"]["steps"]["cycles"]["columns"][0] = "Cycle cuont"
    config["params"]["limit"]["default"] = 3
    config["transform"] = "import requests\n" + config["transform"]
    checked = bench.check_answer(json.dumps(raw))
    assert {
        "draft.config.plan.steps.cells.limt",
        "draft.config.plan.steps.cycles.columns.0",
        "draft.config.params.limit.default",
        "draft.config.transform",
    } <= set(places(checked))
    for meant in ("'limit'", "'Cycle count'", "from 0.5 to 1", "requests"):
        assert meant in checked.words
    assert checked.figure is None
    assert not checked.is_sound


def test_a_step_that_cannot_be_read_hides_only_those_that_read_it(bench: Bench) -> None:
    raw = given()
    steps = raw["draft"]["config"]["plan"]["steps"]
    steps["other"] = {"op": "lst", "source": "instances"}
    steps["far"] = {"op": "aggregate", "input": "other", "group_by": ["x"], "metrics": {"n": {"fn": "count"}}}
    steps["tests"]["where"]["measurementType"] = "timeseries"
    steps["cycles"]["columns"][1] = "Charge capacty [A.h]"
    found = places(bench.check_answer(raw))
    assert "draft.config.plan.steps.other.op" in found
    assert "draft.config.plan.steps.tests.where.measurementType" in found
    assert not any(place.startswith("draft.config.plan.steps.far") for place in found)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("def transform(data, params):\n    return {'data': [], 'layout': {}}", "no points at its defaults"),
        (
            "from workbench import battery\ndef transform(data, params):\n    return battery.message('choose a cell')",
            "choose a cell",
        ),
        ("def transform(data, params):\n    return data['cycels']", "cycels"),
        ("def transform(data, params):\n    print('so far')\n    return 1 / 0", "Line 3: ZeroDivisionError"),
        ("def transform(data, params):\n    open('/etc/passwd')", "open"),
        ("transform = 3", "does not define a function transform"),
    ],
    ids=["empty", "a sentence", "unknown step", "fails", "hostile", "none"],
)
def test_what_draws_nothing_is_a_problem(bench: Bench, script: str, words: str) -> None:
    checked = bench.check_answer(given(transform=script))
    assert not checked.is_sound
    assert places(checked)[0] == "draft.config.transform"
    assert words in checked.words
    assert ("so far" in checked.log) == ("so far" in script)


@pytest.mark.parametrize("drawn_before", [False, True])
def test_a_name_that_only_another_choice_would_read_is_a_problem(bench: Bench, drawn_before: bool) -> None:
    """Also where the figure is in the cache, since it was drawn without a look at names."""
    script = given()["draft"]["config"]["transform"].replace(
        "    return fig", f"    if params['limit'] > 99:\n        data['lief{drawn_before:d}']\n    return fig"
    )
    if drawn_before:
        bench.backend.figure(given(transform=script)["draft"]["config"], {}, protected=True)
    checked = bench.check_answer(given(transform=script))
    assert [(one["type"], one["ctx"]["line"]) for one in checked.problems] == [("script_key", 18)]
    assert "Did you mean 'life'?" in checked.words
    fails = script.replace("    fig = go.Figure()", "    1 / 0")
    assert {one["type"] for one in bench.check_answer(given(transform=fails)).problems} == {
        "script_key",
        "script_error",
    }


def test_a_picture_that_fetches_something_is_refused(bench: Bench) -> None:
    script = (
        "def transform(data, params):\n"
        "    figure = go.Figure(go.Scatter(y=[1, 2]))\n"
        "    figure.add_layout_image(source='https://elsewhere.example/a.png')\n"
        "    return figure"
    )
    checked = bench.check_answer(given(transform=script))
    assert not checked.is_sound
    assert checked.figure is None


def test_what_lint_finds_comes_once_for_each_rule(bench: Bench) -> None:
    script = (
        "def transform(data, params):\n"
        "    figure = go.Figure([go.Scatter(y=[1, 2], name='same') for _ in range(4)])\n"
        "    return figure.update_xaxes(title='a').update_yaxes(title='b')"
    )
    checked = bench.check_answer(given(transform=script))
    assert checked.is_sound
    names = [one for one in checked.hints if one["code"] == "same_name"]
    assert len(names) == 1
    assert "There are 2 more" in names[0]["message"]
    assert "looks wrong" in checked.words


@pytest.mark.parametrize(
    ("sent", "say", "drafted"),
    [
        ("Nothing of this is here.", "Nothing of this is here.", False),
        ('{"say": "No impedance here.", "draft": null}', "No impedance here.", False),
        ('Gladly!\n```json\n{"say": "A", "draft": {"name": "n"}}\n```\nMore?', "A", True),
        ('{"name": "n", "config": {}}', "", True),
        ('As asked: {"name": "n", "config": {}} Bye.', "As asked:", True),
        ('I read {step}: {"say": "A", "draft": {"name": "n"}}', "A", True),
        ("There is no column {Pressure}.", "There is no column {Pressure}.", False),
    ],
)
def test_an_answer_is_found_in_what_people_paste(sent: str, say: str, drafted: bool) -> None:
    read = read_answer(sent)
    assert (read.say, read.draft is not None, read.problems) == (say, drafted, ())


def test_what_is_not_a_character_goes_neither_into_a_reply_nor_into_a_store() -> None:
    halves = read_answer(
        '{"say": "a \\ud83d b\\u0000", "draft": {"name": "n", "config": {"transform": "\\udc00"}}}'
    )
    assert (halves.say, halves.draft) == ("a \ufffd b\ufffd", {"name": "n", "config": {"transform": "\ufffd"}})
    assert [(one.loc, one.msg) for one in halves.problems] == [
        (("draft", "config", "transform"), "The text holds U+DC00, which is not a character. Leave it out.")
    ]


@pytest.mark.parametrize(
    "sent", ["```" + "\n" * 20_000, "{'```\n" + "\n" * 20_000, "a```\n" * 50_000, "{ " * 50_000 + "```"]
)
def test_no_answer_makes_reading_it_slow(sent: str) -> None:
    begun = time.process_time()
    read_answer(sent)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("depth", [100, 900, 100_000])
@pytest.mark.parametrize("part", ["say", "draft", "edits", "config"])
def test_an_answer_that_is_nested_deep_is_refused_in_words(part: str, depth: int) -> None:
    [problem] = read_answer(f'{{"{part}": {"[" * depth}{"]" * depth}}}').problems
    assert problem.type == "json_depth"


@pytest.mark.parametrize("sent", ["", [1], '{"say": 3}', '{"say": "a", "plot": {}}', '{"say": "a" "b"}', 7, {}])
def test_what_is_not_an_answer_says_what_one_is(sent: Any) -> None:
    assert read_answer(sent).problems


def test_here_and_over_http_the_same_comes_back(demo_copy: Path) -> None:
    with sides(demo_copy) as made:
        for raw in (given(), given(params={"limit": {"kind": "data", "default": "x"}})):
            near, far = made.near.check_answer(raw), made.far.check_answer(raw)
            times = {"timings": {}}
            assert near.model_copy(update=times) == far.model_copy(update=times)


def test_an_empty_step_is_explained_with_what_there_is_instead(bench: Bench) -> None:
    """The impedance tests have cycles of which nobody knows whether they are complete."""
    plan = given()["draft"]["config"]["plan"]
    plan["steps"]["tests"]["where"] = {"nameContains": "EIS"}
    plan["steps"]["named"]["where"] = {"Complete": True}
    params = {"limit": {"kind": "data", "default": 0.8}}
    params["cells"] = {**given()["draft"]["config"]["params"]["cells"]}
    (problem,) = bench.check_answer(given(plan=plan, params=params)).problems
    assert problem["type"] == "empty_figure"
    assert "Step 'named' has no rows: Complete is null in all 30 rows." in problem["msg"]
    assert "write [true, null] to keep it." in problem["msg"]
    plan["steps"]["tests"]["fields"] = ["id", "name", "protocol.name"]
    plan["steps"]["named"]["where"] = {"protocol.name": "EIS"}
    (problem,) = bench.check_answer(given(plan=plan, params=params)).problems
    assert 'Step \'named\' has no rows: none has protocol.name "EIS". There are "PEIS".' in problem["msg"]
    plan["steps"]["tests"]["where"] = {"nameContains": "2C"}
    (problem,) = bench.check_answer(given(plan=plan, params=params)).problems
    assert "Step 'tests' finds no measurements with nameContains \"2C\"." in problem["msg"]


def test_whole_tests_that_a_condition_drops_are_a_hint(bench: Bench) -> None:
    plan = given()["draft"]["config"]["plan"]
    plan["steps"]["tests"]["where"] = {"nameContains": "M50-A-01"}
    plan["steps"]["named"]["where"] = {"Complete": True}
    params = {"limit": {"kind": "data", "default": 0.8}}
    params["cells"] = {**given()["draft"]["config"]["params"]["cells"]}
    checked = bench.check_answer(given(plan=plan, params=params))
    assert checked.is_sound
    (hint,) = [one for one in checked.hints if one["code"] == "step_empty"]
    assert hint["message"].startswith("Step 'named' drops all of 2 tests, whose Complete is null.")
    assert hint["message"] in checked.words
    plan["steps"]["named"]["where"] = {"Complete": [True, None]}
    checked = bench.check_answer(given(plan=plan, params=params))
    assert not [one for one in checked.hints if one["code"] == "step_empty"]


def test_a_list_without_rows_is_no_fault_of_a_figure_that_shows_something(bench: Bench) -> None:
    plan = {"steps": {"none": {"op": "list", "source": "measurements", "where": {"nameContains": "no such test"}}}}
    script = "def transform(data, params):\n    return go.Figure(go.Bar(x=['tests'], y=[len(data['none']) + 1]))"
    checked = bench.check_answer(given(plan=plan, params={}, transform=script))
    assert checked.is_sound
    assert not [one for one in checked.hints if one["code"] == "step_empty"]
