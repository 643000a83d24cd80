"""What a language model writes wrong gets one error, with the place, the nearest name and what to write instead."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.authoring.examples import answer


@pytest.fixture(scope="module")
def bench(demo_store: Path) -> Iterator[wb.Bench]:
    with wb.open(demo_store) as made:
        yield made


def drafted(name: str, place: str, value: Any) -> dict[str, Any]:
    """An example as an answer, with another value at a place of its recipe; None takes it out."""
    made = copy.deepcopy(dict(answer(name)))
    *owners, last = place.split("/")
    here: Any = made["draft"]["config"]
    for key in owners:
        here = here[int(key)] if isinstance(here, list) else here[key]
    if value is None:
        del here[last]
    else:
        here[int(last) if isinstance(here, list) else last] = value
    return made


def script(*lines: str) -> str:
    return "\n".join(
        ["from workbench import battery", "def transform(data, params):", *(f"    {one}" for one in lines)]
    )


@pytest.mark.parametrize(
    ("name", "place", "value", "at", "said"),
    [
        ("fade", "transform", None, "transform", "'transform' is missing."),
        ("fade", "plan/steps/cells/source", "cells", "plan.steps.cells.source", "Did you mean 'instances'?"),
        ("fade", "plan/steps/tests/source", "tests", "plan.steps.tests.source", "Did you mean 'measurements'?"),
        ("fade", "plan/steps/life/metrics/first/fn", "average", "life.metrics.first.fn", "Did you mean 'mean'?"),
        ("fade", "plan/steps/life/metrics/end/where/op", "<", "end.where.op", "Did you mean 'lt'?"),
        ("fade", "plan/steps/named/how", "outer", "named.how", "Did you mean 'left'?"),
        ("fade", "plan/steps/named/on", "id", "named.on", "not a text. Its fields are 'left', 'right'."),
        (
            "fade",
            "plan/steps/tests/where",
            {"protocol.name": "RPT"},
            "tests.where.protocol.name",
            "A filter has no field 'protocol.name'.",
        ),
        (
            "fade",
            "plan/steps/tests/where",
            {"tags": "rpt"},
            "tests.where.tags",
            "name it in the 'where' of a join",
        ),
        (
            "fade",
            "plan/steps/tests/where/nameContains",
            "RPT $test",
            "transform",
            "'$test' stands for its param only as a whole text",
        ),
        ("fade", "plan/steps/cycles/columns/1", "Discharge capacity", "cycles.columns.1", "capacity [A.h]'"),
        ("fade", "plan/steps/cycles/columns/0", "cycle count", "cycles.columns.0", "Did you mean 'Cycle count'"),
        ("fade", "transform", script("return px.line(data['cycle'])"), "transform", "Did you mean 'cycles'?"),
        (
            "fade",
            "transform",
            script("return px.line(y=[params['limits']])"),
            "transform",
            "Did you mean 'limit'?",
        ),
        (
            "fade",
            "transform",
            script("return battery.nyquist_plot(data['named'])"),
            "transform",
            "or 'nyquist_trace'?",
        ),
        (
            "curves",
            "transform",
            script("return px.line(data['curves']['Voltage [V]'])"),
            "transform",
            "data['curves'].long(id='id')['Voltage [V]']",
        ),
    ],
)
def test_one_error_names_the_place_and_the_fix(
    bench: wb.Bench, name: str, place: str, value: Any, at: str, said: str
) -> None:
    checked = bench.check_answer(drafted(name, place, value))
    assert not checked.is_sound
    (problem,) = checked.problems
    assert ".".join(map(str, problem["loc"])).endswith(at)
    assert said in problem["msg"]


def test_a_name_that_no_record_fills_comes_with_the_nearest_that_one_does(bench: wb.Bench) -> None:
    name = "properties.agein_temperature.value"
    checked = bench.check_answer(drafted("fade", "plan/steps/cells/fields", ["id", "name", name]))
    (warning,) = [one["message"] for one in checked.warnings if one["code"] == "field_unfilled"]
    assert warning.endswith("Did you mean 'properties.ageing_temperature.value'?")
    assert warning in checked.words
