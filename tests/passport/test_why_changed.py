"""Why two figures differ: each of many small changes is named, with its kind and place, and nothing else is."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.passport_case import RECIPE, samples

import workbench as wb
from workbench.dataset import Samples
from workbench.engine import keys
from workbench.passport import Passport, made, why_changed
from workbench.recipe.check import sound
from workbench.table import Column, Table

Case = tuple[str, str, str, Callable[[wb.Bench], tuple[Passport, Passport]]]
RANDOM = random.Random(14)


def drawn(bench: wb.Bench, recipe: dict[str, Any] = RECIPE, **values: Any) -> Passport:
    return bench.figure(recipe, values).workbench.passport


def one_sample(
    source: int, column: str, place: int, value: float
) -> Callable[[wb.Bench], tuple[Passport, Passport]]:
    def change(bench: wb.Bench) -> tuple[Passport, Passport]:
        answered = bench.backend.answered(sound(RECIPE), {})
        steps = dict(answered.dataset.steps)
        curves = dict(steps["curves"])
        id = list(curves)[source]
        held: Samples = curves[id]
        values = np.array(held.table[column].values)
        values[place] = value
        table = Table({**held.table.columns, column: Column.of(values)}, held.table.n)
        curves[id] = replace(held, table=table)

        def passport(of: dict[str, Any], figure: bytes) -> Passport:
            return made(sound(RECIPE), values={}, steps=of, figure=figure, versions=keys.versions(), made_at="now")

        return passport(steps, b"a"), passport({**steps, "curves": curves}, b"b")

    return change


def with_values(**values: Any) -> Callable[[wb.Bench], tuple[Passport, Passport]]:
    return lambda bench: (drawn(bench), drawn(bench, **values))


def with_recipe(change: Callable[[dict[str, Any]], None]) -> Callable[[wb.Bench], tuple[Passport, Passport]]:
    def both(bench: wb.Bench) -> tuple[Passport, Passport]:
        changed = copy.deepcopy(RECIPE)
        change(changed)
        return drawn(bench), drawn(bench, changed)

    return both


def letter(line: int, old: str, new: str) -> Callable[[wb.Bench], tuple[Passport, Passport]]:
    def change(recipe: dict[str, Any]) -> None:
        lines = recipe["transform"].split("\n")
        assert old in lines[line - 1]
        lines[line - 1] = lines[line - 1].replace(old, new, 1)
        recipe["transform"] = "\n".join(lines)

    return with_recipe(change)


def version(name: str) -> Callable[[wb.Bench], tuple[Passport, Passport]]:
    def change(bench: wb.Bench) -> tuple[Passport, Passport]:
        now = drawn(bench)
        return now.model_copy(update={"versions": {**now.versions, name: "0.0.1"}}), now

    return change


def _plan(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda recipe: recipe["plan"]["steps"]["curves"].update(fields)


def _control(param: str, **fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda recipe: recipe["params"][param]["control"].update(fields)


def cases() -> Iterator[Case]:
    for source in (0, 1):
        for column in ("Voltage [V]", "Current [A]"):
            for place in (0, RANDOM.randrange(1, 199), 199):
                value = RANDOM.choice([float("nan"), 0.0, -0.0, 3.9999999999999996])
                yield (
                    f"sample {source} {column} {place}",
                    "data",
                    "curves.",
                    one_sample(source, column, place, value),
                )
    for scale in (0.0, 0.5, 2.0, 9.0):
        yield f"scale {scale}", "values", "scale", with_values(scale=scale)
    for name in ("Cell", "cell ", "", "célle"):
        yield f"name {name!r}", "values", "name", with_values(name=name)
    for line, old, new in (
        (2, "traces", "traceS"),
        (3, "curve", "kurve"),
        (4, "*", "/"),
        (4, "scale'", "scale'] + params['scale'"),
        (5, "'name'", "'text'"),
        (6, "</script>", "<script>"),
        (6, "Ü", "U"),
    ):
        if (line, old) in ((2, "traces"), (3, "curve")):
            new = old + " "
        yield f"script {line} {old}", "code", f"line {line}", letter(line, old, new)
    for fields in (
        {"max_points": 3000},
        {"columns": ["Voltage [V]"]},
        {"columns": ["Current [A]", "Voltage [V]"]},
    ):
        yield f"plan {fields}", "plan", "plan.steps.curves", with_recipe(_plan(**fields))
    for param, fields in (
        ("scale", {"max": 8.0}),
        ("scale", {"step": 0.25}),
        ("name", {"label": "Name"}),
        ("name", {"description": "What the legend says."}),
    ):
        yield (
            f"control {param} {fields}",
            "params",
            f"params.{param}.control",
            with_recipe(_control(param, **fields)),
        )
    for name in ("battery-workbench", "plotly", "pandas", "numpy"):
        yield f"version {name}", "versions", name, version(name)


CASES = list(cases())


def test_there_are_forty_cases() -> None:
    assert len(CASES) >= 38


@pytest.mark.parametrize(
    ("kind", "place", "change"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_one_change_is_named(
    bench: wb.Bench, kind: str, place: str, change: Callable[[wb.Bench], tuple[Passport, Passport]]
) -> None:
    before, after = change(bench)
    found = why_changed(before, after)
    assert any(one.kind == kind and one.place.startswith(place) for one in found), str(found)
    others = set(found.kinds) - {kind}
    # Another plan may give other data.
    assert others <= ({"data"} if kind == "plan" else set()), str(found)
    back = why_changed(after, before)
    assert back.kinds == found.kinds
    assert why_changed(after, after) == ()


def test_a_test_that_grew_is_named_with_how_much(bench: wb.Bench) -> None:
    before = drawn(bench)
    (grown,) = [one for one in bench.measurements.list().itertuples() if one.name == "RPT B"]
    bench.measurements.extend(grown.id, samples(30, start=200.0))
    found = wb.why_changed(before, bench.figure(RECIPE))
    assert found.kinds == ["data"]
    assert f"data: 'RPT B' ({grown.id}) in 'curves' grew from 200 to 230 samples, by 30" in str(found)
    assert "'sample_count' of 'tests' has other values" in str(found)
    assert len(found) == 2


def test_without_the_recipe_the_part_that_differs_is_still_named(bench: wb.Bench) -> None:
    before, after = letter(4, "*", "/")(bench)
    found = why_changed(before.model_copy(update={"recipe": None}), after)
    assert [(one.kind, one.place) for one in found] == [("code", "transform")]


def test_a_figure_that_differs_for_no_reason_says_so(bench: wb.Bench) -> None:
    now = drawn(bench)
    found = why_changed(now, now.model_copy(update={"figure": "0" * 64}))
    assert found.kinds == ["figure"]
    assert "does not draw the same each time" in str(found)
