"""Arguments of wrong types: a local bench refuses them as a server does, in a sentence, and never works on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.local_and_remote import Sides, sides
from support.plain_answers import Told

import workbench as wb


def _called(value: Any) -> str:
    """A value in the name of a test; the address of an object would differ from process to process."""
    return "object()" if type(value) is object else repr(value)


WRONG = (5, 1.5, True, b"x", [], ["a"], {}, {"a": 1}, "\ud800", float("nan"), (1, 2), object())
RECIPE = {
    "plan": {"steps": {"tests": {"op": "list", "source": "measurements"}}},
    "transform": "import plotly.graph_objects as go\n\ndef transform(data, params):\n    return go.Figure()\n",
}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with sides(tmp_path_factory.mktemp("types") / "lab.db") as made:
        board = made.near.dashboards.create("Default", "Ageing")
        board.save("Fade", RECIPE)
        made.near.sessions.create("here")
        yield made


def plot_of(bench: wb.Bench) -> Any:
    return bench.dashboards.get("Ageing").plot("Fade")


def session_of(bench: wb.Bench) -> str:
    return str(bench.sessions.list()["id"].iloc[-1])


CALLS: dict[str, Callable[[wb.Bench, Any], Any]] = {
    "title of a session": lambda bench, value: bench.sessions.create(value),
    "role of a message": lambda bench, value: bench.sessions.say(session_of(bench), value, {}),
    "name of an alert": lambda bench, value: bench.alerts.create(plot_of(bench), value, "tests"),
    "step of an alert": lambda bench, value: bench.alerts.create(plot_of(bench), "n", value),
    "plot of an alert": lambda bench, value: bench.alerts.create(value, "n", "tests"),
    "id of an alert": lambda bench, value: bench.alerts.delete(value),
    "id of an occurrence": lambda bench, value: bench.alerts.acknowledge(value),
    "address of webhooks": lambda bench, value: bench.alerts.allow(value),
    "name of a decision": lambda bench, value: bench.authoring_decision("Ageing", name=value, plot=plot_of(bench)),
    "id of a decision": lambda bench, value: bench.authoring_decision("Ageing", new_plot_id=value),
    "name of a plot": lambda bench, value: bench.dashboards.get("Ageing").save(value, RECIPE),
    "name of an exclusion": lambda bench, value: bench.include(value),
}
"""What is asked; for each of these all of ``WRONG`` is wrong."""


@pytest.mark.parametrize("value", WRONG, ids=_called)
@pytest.mark.parametrize("name", CALLS)
def test_it_is_refused_here_as_on_a_server(both: Sides, tmp_path: Path, name: str, value: Any) -> None:
    outcomes = []
    for bench, place in ((both.near, "lab.db"), (both.far, both.url)):
        told = Told(place, tmp_path, set())
        outcomes.append(told.outcome(lambda bench=bench: CALLS[name](bench, value)))
    near, far = outcomes
    assert near == far
    assert near["raised"] in ("BadRequest", "Invalid", "NotFound")
    assert not any(word in near["text"] for word in ("NoneType", "has no attribute", "not supported", "iterable"))


@pytest.mark.parametrize("value", [1.5, True, b"x", [], "x", "", float("nan"), object()], ids=_called)
@pytest.mark.parametrize("name", ["limit", "offset", "per_type"])
def test_numbers_of_a_search_are_numbers(both: Sides, name: str, value: Any) -> None:
    said = []
    for bench in (both.near, both.far):
        with pytest.raises(wb.Invalid, match=f"'{name}' must be a whole number") as caught:
            bench.find("fade", **{name: value})
        said.append([problem.as_detail() for problem in caught.value.problems])
    assert said[0] == said[1]


@pytest.mark.parametrize("value", [5, "project", b"x", object()], ids=_called)
def test_kinds_of_a_search_are_a_list(both: Sides, value: Any) -> None:
    for bench in (both.near, both.far):
        with pytest.raises(wb.Invalid, match="'entity_types' must be a list of kinds"):
            bench.find("fade", entity_types=value)


@pytest.mark.parametrize("value", [5, 1.5, [5], (1, 2)], ids=_called)
def test_columns_are_named_by_texts(both: Sides, value: Any) -> None:
    for bench in (both.near, both.far):
        with pytest.raises(wb.BadRequest, match="'fields' is a list of names of columns"):
            bench.measurements.list(fields=value)


def test_a_plot_is_never_saved_over_another_one(both: Sides) -> None:
    """With {} for a name the recipe became a revision of the first plot."""
    before = plot_of(both.near).revision
    for bench in (both.near, both.far):
        with pytest.raises(wb.Invalid, match="'name' must be a text"):
            bench.dashboards.get("Ageing").save({}, RECIPE)  # type: ignore[arg-type]
    assert plot_of(both.near).revision == before
