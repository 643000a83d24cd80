"""What may be computed is judged by the rows of a step's input: what is written elsewhere changes no answer."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support.engine_store import Lab
from support.plain_rows import assert_same
from support.reference_plans import Outcome, Record, Records, Refused, run

from workbench.engine.answer import dataset
from workbench.engine.check import check_against_store
from workbench.errors import Invalid
from workbench.recipe.check import sound
from workbench.store.cache.cache import Cache
from workbench.table import Table
from workbench.transform.frames import frames

MASS = "properties.mass"
OWN = "$own"


def recipe(metrics: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The cells of one specification, and metrics of them."""
    cells = {
        "op": "list",
        "source": "instances",
        "where": {"specificationIds": OWN},
        "fields": ["id", "specification_id", MASS],
    }
    made = {"op": "aggregate", "input": "cells", "group_by": ["specification_id"], "metrics": metrics}
    params = {"own": {"kind": "data", "default": None}}
    return {"plan": {"steps": {"cells": cells, **more, "made": made}}, "params": params}


EVERY = {
    **{fn: {"fn": fn, "column": MASS} for fn in ("first", "last", "min", "max", "mean", "sum", "count")},
    "heavy": {
        "fn": "first_where",
        "column": "id",
        "where": {"column": MASS, "op": "gte", "value": {"ratio_of": "first", "factor": 1.01}},
    },
    "light": {"fn": "last_where", "column": "id", "where": {"column": MASS, "op": "lt", "value": 46}},
}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Three cells of one specification with a mass, and two of another."""
    lab = Lab(tmp_path)
    for name, masses in {"M50": [45.0, 46, 45.5], "Other": [70, 71]}.items():
        specification = lab.specification(name)
        for n, mass in enumerate(masses):
            lab.make("instances", name=f"{name}-{n}", specification_id=specification.id, properties={"mass": mass})
    return lab


def own(lab: Lab) -> str:
    return str(lab.store.rows.find("specifications", "M50", lab.scope).id)


def write(lab: Lab, cell: str, mass: Any) -> None:
    found = lab.store.rows.find("instances", cell, lab.scope)
    lab.store.rows.update("instances", found.id, {"properties": {"mass": mass}}, lab.scope)


def rows(lab: Lab, config: dict[str, Any], cache: Cache | None = None) -> Table:
    answered = dataset(sound(config, transform=False), {"own": own(lab)}, lab.store, lab.scope, cache)
    made = answered.dataset.steps["made"]
    assert isinstance(made, Table)
    return made


@pytest.mark.parametrize("elsewhere", ["n/a", True, ["a", "b"], None])
def test_what_a_colleague_writes_into_another_specifications_cell_changes_no_metric(
    lab: Lab, elsewhere: Any
) -> None:
    before = rows(lab, recipe(EVERY)).records()
    write(lab, "Other-0", elsewhere)
    assert (
        check_against_store(sound(recipe(EVERY), transform=False), {"own": own(lab)}, lab.store, lab.scope) == []
    )
    after = rows(lab, recipe(EVERY)).records()
    assert after == before
    assert [type(value) for value in after[0].values()] == [type(value) for value in before[0].values()]
    assert after[0]["mean"] == pytest.approx(45.5)


def test_nor_does_it_change_what_a_script_gets(lab: Lab) -> None:
    config = sound(recipe(EVERY), transform=False)
    before = frames(dataset(config, {"own": own(lab)}, lab.store, lab.scope).packed)["cells"]
    write(lab, "Other-0", "n/a")
    after = frames(dataset(config, {"own": own(lab)}, lab.store, lab.scope).packed)["cells"]
    assert dict(after.dtypes) == dict(before.dtypes)
    assert after.equals(before)


def test_nor_through_joins_and_further_metrics(lab: Lab) -> None:
    more = {
        "sizes": {"op": "list", "source": "instances", "fields": ["id", MASS]},
        "both": {
            "op": "join",
            "left": "cells",
            "right": "sizes",
            "on": {"left": "id", "right": "id"},
            "how": "left",
        },
        "each": {
            "op": "aggregate",
            "input": "both",
            "group_by": ["id", "specification_id"],
            "metrics": {"m": {"fn": "first", "column": f"{MASS}_right"}},
        },
    }
    config = recipe({"mean": {"fn": "mean", "column": "m"}}, **more)
    config["plan"]["steps"]["made"]["input"] = "each"
    before = rows(lab, config).records()
    write(lab, "Other-0", "n/a")
    assert rows(lab, config).records() == before


def test_nor_where_the_rows_are_filled_by_nobody_or_absent(lab: Lab) -> None:
    metrics = {
        "mean": {"fn": "mean", "column": MASS},
        **{name: EVERY[name] for name in ("first", "heavy", "light")},
    }
    for cell in ("M50-0", "M50-1", "M50-2", "Other-0", "Other-1"):
        write(lab, cell, None)
    before = rows(lab, recipe(metrics)).records()
    for elsewhere in ("n/a", True):
        write(lab, "Other-0", elsewhere)
        write(lab, "Other-1", elsewhere)
        assert rows(lab, recipe(metrics)).records() == before
        nobody = recipe(metrics)
        nobody["plan"]["steps"]["cells"]["where"]["nameContains"] = "nobody"
        assert rows(lab, nobody).n == 0


def test_the_choices_of_a_param_stay_too(lab: Lab) -> None:
    config = recipe({"mean": {"fn": "mean", "column": MASS}})
    config["plan"]["steps"]["top"] = {
        "op": "aggregate",
        "input": "cells",
        "group_by": [MASS],
        "metrics": {"sum": {"fn": "sum", "column": MASS}},
    }
    control = {"optionsFrom": {"step": "top", "value": "sum"}}
    config["params"]["choice"] = {"kind": "view", "default": None, "control": control}
    cache = Cache(None)
    before = dataset(sound(config, transform=False), {"own": own(lab)}, lab.store, lab.scope, cache)
    write(lab, "Other-0", "n/a")
    after = dataset(sound(config, transform=False), {"own": own(lab)}, lab.store, lab.scope, cache)
    assert after.options == before.options
    assert [choice["value"] for choice in after.options["choice"]] == [45.0, 46.0, 45.5]
    again = dataset(sound(config, transform=False), {"own": own(lab)}, lab.store, lab.scope, cache)
    assert again.cache["dataset"] == "hit"


@pytest.mark.parametrize("elsewhere", [None, "n/a", True])
@pytest.mark.parametrize("choosing", [False, True])
def test_whole_numbers_that_floats_round_are_groups_of_their_own(elsewhere: Any, choosing: bool, lab: Lab) -> None:
    """Also where a record has a text in place of a number, and where the rows gave choices a moment ago."""
    specification = lab.specification("Serials")
    for n, serial in enumerate([2**53, 2**53 + 1, 1.5, 2**53 + 1]):
        properties = {"serial": serial}
        lab.make("instances", name=f"s{n}", specification_id=specification.id, properties=properties)
    other = {"serial": elsewhere}
    lab.make("instances", name="other", specification_id=lab.specification("Else").id, properties=other)
    fields = ["id", "specification_id", "properties.serial"]
    cells = {
        "op": "list",
        "source": "instances",
        "where": {"specificationIds": specification.id},
        "fields": fields,
    }
    made = {
        "op": "aggregate", "input": "cells", "group_by": ["properties.serial"], "metrics": {"n": {"fn": "count"}},
    }  # fmt: skip
    control = {"optionsFrom": {"step": "cells", "value": "id"}} if choosing else {}
    config = {
        "plan": {"steps": {"cells": cells, "made": made}},
        "params": {"cell": {"kind": "data", "default": None, "control": control}},
    }
    answered = dataset(sound(config, transform=False), {}, lab.store, lab.scope, Cache(None))
    groups = answered.dataset.steps["made"]
    assert isinstance(groups, Table)
    assert groups["properties.serial"].tolist() == [2.0**53, 2.0**53, 1.5]
    assert groups["n"].tolist() == [1, 2, 1]


def test_an_empty_list_from_the_cache_is_judged_as_one_that_was_read(lab: Lab) -> None:
    """The list gives choices too, so that the plan takes it from the answer for these."""
    for cell in ("M50-0", "M50-1", "M50-2"):
        write(lab, cell, None)
    write(lab, "Other-0", "n/a")
    write(lab, "Other-1", "n/a")
    config = recipe({"mean": {"fn": "mean", "column": MASS}})
    config["plan"]["steps"]["cells"]["where"]["nameContains"] = "nobody"
    control = {"optionsFrom": {"step": "cells", "value": "id"}}
    config["params"]["cell"] = {"kind": "view", "default": None, "control": control}
    cache = Cache(None)
    assert rows(lab, config, cache).n == 0
    config["plan"]["steps"]["made"]["metrics"]["sum"] = {"fn": "sum", "column": MASS}
    assert rows(lab, config, cache).n == 0


def test_a_text_in_the_input_itself_is_refused_and_named(lab: Lab) -> None:
    write(lab, "M50-1", "n/a")
    with pytest.raises(Invalid, match='such as "n/a"') as caught:
        rows(lab, recipe({"mean": {"fn": "mean", "column": MASS}}))
    assert caught.value.problems[0].loc == ("config", "plan", "steps", "made", "metrics", "mean", "column")


def test_a_column_of_texts_is_refused_also_without_rows(lab: Lab) -> None:
    config = recipe({"mean": {"fn": "mean", "column": "id"}})
    config["plan"]["steps"]["cells"]["where"]["nameContains"] = "nobody"
    with pytest.raises(Invalid, match="holds texts"):
        rows(lab, config)


# Against a reference in plain Python, which shares no code with the engine

NUMBERS: list[Any] = [None, 1, 2, 2, 0.5, 2.5, -1]
OTHERS: list[Any] = ["n/a", "b", True, False]
KEYS = ("mass", "grade")
FNS = ("first", "last", "min", "max", "mean", "sum", "count", "first_where", "last_where")


class RandomCells:
    """Cells of two specifications whose properties are written anew for each case."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.lab, self.draw = Lab(folder), draw
        self.specifications = [self.lab.specification(name).id for name in ("Own", "Other")]
        self.cells = [
            self.lab.make("instances", name=f"cell {n}", specification_id=self.specifications[n % 2])
            for n in range(8)
        ]
        self.properties: dict[str, dict[str, Any]] = {}

    def write(self, which: int) -> None:
        """New properties for the cells of one specification."""
        few = self.draw.sample(NUMBERS, self.draw.randint(1, 4))
        if which or self.draw.random() < 0.4:
            few += self.draw.sample(OTHERS, self.draw.randint(1, 3))
        with self.lab.store.transaction():
            for cell in self.cells:
                if cell.specification_id == self.specifications[which]:
                    made = {key: self.draw.choice(few) for key in KEYS if self.draw.random() < 0.8}
                    self.properties[cell.id] = made
                    self.lab.store.rows.update("instances", cell.id, {"properties": made}, self.lab.scope)

    def reference(self) -> Records:
        """The same cells as plain rows; a whole number beside others is a float, as in a column of numbers."""
        kinds = {"id": "text", "name": "text", "specification_id": "text"}
        whole = {}
        for key in KEYS:
            found = [made[key] for made in self.properties.values() if made.get(key) is not None]
            types = {type(value) for value in found}
            whole[key] = {int, float} <= types
            if types:
                names = {str: "text", bool: "boolean", int: "integer", float: "number"}
                kind = {names[one] for one in types} - ({"integer"} if whole[key] else set())
                kinds[f"properties.{key}"] = kind.pop() if len(kind) == 1 else "mixed"
        records = []
        for cell in self.cells:
            row = {"id": cell.id, "name": cell.name, "specification_id": cell.specification_id}
            for key, value in self.properties[cell.id].items():
                as_float = whole[key] and type(value) is int
                row[f"properties.{key}"] = float(value) if as_float else value
            records.append(Record(row))
        return Records({"instances": records}, {"instances": kinds}, {})

    def plan(self) -> dict[str, Any]:
        """Lists of the own cells, and up to four joins and aggregates on them."""
        draw = self.draw
        fields = ["id", "name", *(f"properties.{key}" for key in KEYS)]
        where: dict[str, Any] = {"specificationIds": [self.specifications[0]]}
        steps: dict[str, Any] = {
            "cells": {"op": "list", "source": "instances", "where": dict(where), "fields": fields},
            "some": {"op": "list", "source": "instances", "where": dict(where), "fields": fields, "limit": 2},
        }
        if draw.random() < 0.2:
            steps["cells"]["where"]["nameContains"] = "nobody"
        columns = {name: list(fields) for name in steps}
        for n in range(draw.randint(1, 4)):
            name = f"s{n}"
            if draw.random() < 0.3:
                left, right = draw.choice(list(steps)), draw.choice(["cells", "some"])
                on = {"left": draw.choice(columns[left]), "right": draw.choice(columns[right])}
                how = draw.choice(["inner", "left"])
                step: dict[str, Any] = {"op": "join", "left": left, "right": right, "on": on, "how": how}
                step["fields"] = draw.sample(fields, 2)
                columns[name] = [
                    *columns[left],
                    *(f"{c}_right" if c in columns[left] else c for c in step["fields"]),
                ]
            else:
                step = self.aggregate(draw.choice(list(steps)), columns)
                columns[name] = [*step["group_by"], *step["metrics"]]
            steps[name] = step
        return {"plan": {"steps": steps}}

    def column(self, columns: list[str]) -> str:
        """A column, seldom one that always holds texts."""
        free = [name for name in columns if not name.startswith(("id", "name"))]
        return self.draw.choice(free if free and self.draw.random() < 0.9 else columns)

    def aggregate(self, of: str, columns: dict[str, list[str]]) -> dict[str, Any]:
        draw = self.draw
        metrics: dict[str, Any] = {}
        for metric in draw.sample("mnop", draw.randint(1, 3)):
            fn = draw.choice(FNS)
            metrics[metric] = {"fn": fn, "column": self.column(columns[of])}
            if fn.endswith("where"):
                value: Any = draw.choice([1, 0.5, "b"])
                if draw.random() < 0.5:
                    value = {"ratio_of": draw.choice(list(metrics)), "factor": 0.5}
                op = draw.choice(["lt", "gte", "eq", "neq"])
                metrics[metric]["where"] = {"column": self.column(columns[of]), "op": op, "value": value}
        keys = [name for name in columns[of] if name not in metrics]
        step = {
            "op": "aggregate",
            "input": of,
            "group_by": draw.sample(keys or columns[of], 1),
            "metrics": metrics,
        }
        return step | ({"sort_by": draw.choice(columns[of])} if draw.random() < 0.3 else {})


def answer(cells: RandomCells, config: dict[str, Any]) -> dict[str, Table] | set[str]:
    """The tables of a plan, or the steps that refuse it."""
    try:
        answered = dataset(sound(config, transform=False), {}, cells.lab.store, cells.lab.scope)
    except Invalid as error:
        return {str(problem.loc[3]) for problem in error.problems}
    return {name: step for name, step in answered.dataset.steps.items() if isinstance(step, Table)}


def plain_answer(cells: RandomCells, config: dict[str, Any]) -> Outcome | Refused:
    try:
        return run(cells.reference(), config, {})
    except Refused as refusal:
        return refusal


def values(answered: dict[str, Table] | set[str]) -> Any:
    if isinstance(answered, set):
        return answered
    return {name: [[*map(repr, row.values())] for row in table.records()] for name, table in answered.items()}


def test_random_plans_agree_with_plain_python_whatever_is_written_elsewhere(tmp_path: Path, long: bool) -> None:
    cells = RandomCells(tmp_path, random.Random(11))
    refused = answered = 0
    for _ in range(6000 if long else 120):
        cells.write(0)
        cells.write(1)
        config = cells.plan()
        try:
            sound(config, transform=False)
        except Invalid:
            continue
        found = answer(cells, config)
        wanted = plain_answer(cells, config)
        if isinstance(wanted, Refused):
            assert found == {wanted.place[0]}, config
            refused += 1
        else:
            assert isinstance(found, dict), (found, config)
            for name, step in wanted.steps.items():
                assert_same(found[name], step)
            answered += 1
        before = cells.properties
        cells.properties = dict(before)
        cells.write(1)
        if _floats(before, cells) == _floats(cells.properties, cells):
            assert values(answer(cells, config)) == values(found), (before, cells.properties, config)
    assert refused > 10
    assert answered > 40


def _floats(properties: dict[str, dict[str, Any]], cells: RandomCells) -> list[bool]:
    """Whether whole numbers are shown as floats, since some record in reach has a fraction there."""
    return [
        {int, float} <= {type(made.get(key)) for made in properties.values()}
        or all(type(properties[cell.id].get(key)) is not int for cell in cells.cells[::2])
        for key in KEYS
    ]
