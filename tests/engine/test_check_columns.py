"""What check says of a misspelt column: the store's word first, then what follows from it in the recipe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.errors import Invalid
from workbench.ingest.plan.ratings import ratings_of
from workbench.local import LocalBackend
from workbench.recipe.check import sound
from workbench.records import Instance, Specification
from workbench.table import Table

CAPACITY = "Discharge capacity [A.h]"
STEPS = ("config", "plan", "steps")


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalBackend]:
    opened = LocalBackend.open(tmp_path / "lab.db")
    made = opened.create(Specification, {"name": "s", "ratings": ratings_of("1Ah,3V,4V")})
    cell = opened.create(Instance, {"name": "c", "specification_id": made.id})
    time = np.arange(50.0)
    samples = Table.of({"Time [s]": time, "Current [A]": np.ones(50), "Voltage [V]": 4 - time / 100})
    opened.add_time_series({"instance_id": cell.id, "name": "m"}, samples, None)
    yield opened
    opened.close()


def plan(read: str, used: str) -> dict[str, Any]:
    steps = {
        "tests": {"op": "list", "source": "measurements", "fields": ["id", "name"]},
        "cycles": {
            "op": "summary",
            "dataset": "cycles",
            "ids": {"from": "tests", "column": "id"},
            "columns": ["Cycle count", read],
        },
        "fade": {
            "op": "aggregate",
            "input": "cycles",
            "group_by": ["measurement_id"],
            "metrics": {"end": {"fn": "last", "column": used}},
        },
    }
    return {"plan": {"steps": steps}}


def test_the_column_that_the_data_lack_leads(local: LocalBackend) -> None:
    assert local.check(plan(CAPACITY, CAPACITY), {}) == []
    first, second = local.check(plan("Discharge capacty [A.h]", CAPACITY), {})
    assert first.loc == (*STEPS, "cycles", "columns", 1)
    assert f"Did you mean '{CAPACITY}'" in first.msg
    assert second.loc == (*STEPS, "fade", "metrics", "end", "column")
    assert second.msg == (
        f"Step 'cycles' does not read '{CAPACITY}': name it in its 'columns', in place of 'Discharge capacty [A.h]'."
    )


def test_of_two_names_that_nobody_knows_neither_is_said_to_be_right(local: LocalBackend) -> None:
    second = local.check(plan("Swelling [um]", "Sweling [um]"), {})[1]
    assert "or did you mean 'Swelling [um]', which it reads?" in second.msg


def test_a_column_that_no_step_reads_is_told_once(local: LocalBackend) -> None:
    (only,) = local.check(plan(CAPACITY, "Discharge energy [W.h]"), {})
    assert only.loc == (*STEPS, "fade", "metrics", "end", "column")
    assert only.msg.startswith("Step 'cycles' does not read 'Discharge energy [W.h]': name it in its 'columns'")


def test_other_problems_of_the_recipe_stand_alone(local: LocalBackend) -> None:
    raw = plan("Discharge capacty [A.h]", CAPACITY)
    raw["plan"]["steps"]["fade"]["metrics"]["end"]["fn"] = "lst"
    assert all(problem.loc[3] == "fade" for problem in local.check(raw, {}))


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (
            "nme",
            "Step 'tests' does not read 'nme': name it in its 'fields', or did you mean 'name', which it reads?",
        ),
        ("zzzzzz", "Step 'tests' does not read 'zzzzzz': name it in its 'fields'. It reads 'id', 'name'."),
    ],
)
def test_a_step_that_reads_says_what_it_reads(column: str, told: str) -> None:
    raw = plan(CAPACITY, CAPACITY)
    raw["plan"]["steps"]["cycles"]["ids"]["column"] = column
    with pytest.raises(Invalid) as raised:
        sound(raw, transform=False)
    assert [problem.msg for problem in raised.value.problems] == [told]


def test_check_tells_the_steps_and_params_that_a_script_misspells(local: LocalBackend) -> None:
    raw = plan(CAPACITY, CAPACITY) | {"params": {"smooth": {"kind": "view", "default": 3}}}
    raw["transform"] = "def transform(data, params):\n    return go.Figure(data['fad'], params['smoth'])\n"
    assert [(problem.loc, problem.msg) for problem in local.check(raw, {})] == [
        (("config", "transform"), "Line 2: There is no step 'fad'. Did you mean 'fade'?"),
        (("config", "transform"), "Line 2: There is no param 'smoth'. Did you mean 'smooth'?"),
    ]
