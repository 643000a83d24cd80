"""A project with many tests: what is chosen at first is what a plan can read, and no test is looked at twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

import workbench as wb
from workbench.analyses import run
from workbench.gallery import catalog, tests_plan

CELLS, EACH, CYCLES = 4, 2, 12


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    """Four cells with two ageing tests each, known by their cycles alone."""
    with wb.open(tmp_path / "many.db") as bench:
        for number in range(CELLS * EACH):
            arrives(bench, tmp_path, number)
        yield bench


def arrives(bench: wb.Bench, folder: Path, number: int) -> None:
    counts = np.arange(CYCLES)
    fade = pd.DataFrame({"Cycle": counts, "Discharge capacity [A.h]": 2 - 0.01 * counts - 0.001 * number})
    fade.to_csv(folder / f"test {number}.csv", index=False)
    bench.ingest(
        folder / f"test {number}.csv",
        specification="Cell",
        instance=f"cell {number % CELLS}",
        rating="2Ah,3V,4.2V",
    )


@pytest.mark.parametrize(
    ("tests", "rows", "expected"),
    [
        (8, 1000, 4),
        (7, 1000, 3),
        (2, 1000, 1),
        (1, 1000, 1),
        (8, 8 * CYCLES, 4),
        (8, 8 * CYCLES - 1, 3),
        (8, 1, 1),
    ],
)
def test_as_many_cells_are_chosen_as_a_plan_can_read(
    bench: wb.Bench, monkeypatch: pytest.MonkeyPatch, tests: int, rows: int, expected: int
) -> None:
    monkeypatch.setattr(tests_plan, "MOST_TESTS", tests)
    monkeypatch.setattr(tests_plan, "MOST_ROWS", rows)
    cells = bench.gallery().recipe("fade").params["cells"]
    assert cells["default"] == [f"cell {number}" for number in range(expected)]
    # A number in it would stay in a plot that is saved with other cells.
    assert cells["control"]["label"] == "Cells"


def said_above(figure: go.Figure) -> str:
    """The small lines above a figure."""
    return " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)


@pytest.mark.parametrize("name", ["fade", "end-of-life"])
def test_the_figure_says_that_a_part_of_the_cells_is_drawn(
    bench: wb.Bench, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert f"of {CELLS} cells" not in said_above(bench.figure(name))
    assert said_above(bench.figure(name, cells=["cell 2"])).startswith("1 of 4 cells")
    monkeypatch.setattr(tests_plan, "MOST_TESTS", 6)
    bench.measurements.update("test 0", notes="the recipe is made again")
    assert said_above(bench.figure(name)).startswith("3 of 4 cells")


def test_the_figure_of_results_says_that_a_part_is_drawn(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        bench.analyse("ic_peaks")
        kept = bench.analyses.list(analysis_type="ic_peaks", fields=["instance_name", "metadata.workbench.valid"])
        cells = kept[kept["metadata.workbench.valid"]]["instance_name"].unique()
        first, *_ = bench.gallery().recipe("ic-peaks").params["cells"]["default"]
        assert said_above(bench.figure("ic-peaks", cells=[first])).startswith(f"1 of {len(cells)} cells; ")


def test_each_recipe_with_a_choice_says_how_many_of_how_many() -> None:
    scripts = {name: entry.script for name, entry in catalog.entries().items()}
    assert [name for name, script in scripts.items() if "how_many(data, params)" not in script] == []


def test_what_is_chosen_at_first_leaves_room_for_tests_to_come() -> None:
    from workbench.recipe.plot import MOST_SOURCES, MOST_SUMMARY_ROWS

    assert tests_plan.MOST_TESTS < MOST_SOURCES
    assert tests_plan.MOST_ROWS < MOST_SUMMARY_ROWS


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tests whose kind is looked for, in turn."""
    names: list[str] = []
    whole = run._kinds

    def counted(store, scope, test):
        names.append(test.name)
        return whole(store, scope, test)

    monkeypatch.setattr(run, "_kinds", counted)
    return names


def test_the_kind_of_a_test_is_looked_for_once(bench: wb.Bench, looked_at: list[str], tmp_path: Path) -> None:
    kinds = bench.kinds().to_dict("records")
    assert sorted(looked_at) == [f"test {number}" for number in range(CELLS * EACH)]
    assert {row["kind"] for row in kinds} == {"ageing"}
    cells = dict(bench.measurements.list()[["name", "instance_name"]].itertuples(index=False))
    assert {row["measurement_name"]: row["instance_name"] for row in kinds} == cells
    looked_at.clear()
    assert bench.kinds().to_dict("records") == kinds
    assert bench.gallery().items
    with wb.open(tmp_path / "many.db") as later:
        assert later.kinds().to_dict("records") == kinds
    assert looked_at == []


def test_what_changes_the_kind_of_a_test_is_looked_at_again(
    bench: wb.Bench, looked_at: list[str], tmp_path: Path
) -> None:
    bench.kinds()
    looked_at.clear()
    first = bench.measurements.list()["id"].tolist()[0]
    bench.measurements.update(first, tags=["kind:storage"])
    kinds = bench.kinds().set_index("measurement_id")["kind"]
    assert looked_at == ["test 0"]
    assert kinds[first] == "storage"
    looked_at.clear()
    arrives(bench, tmp_path, CELLS * EACH)
    assert len(bench.kinds()) == CELLS * EACH + 1
    assert looked_at == [f"test {CELLS * EACH}"]
    looked_at.clear()
    bench.measurements.delete(first)
    assert len(bench.kinds()) == CELLS * EACH
    assert looked_at == []


def test_a_recipe_is_made_again_after_a_change_alone(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    whole = catalog.config_of

    def counted(name, store, measurements=None):
        made.append(name)
        return whole(name, store, measurements)

    monkeypatch.setattr(catalog, "config_of", counted)
    first = bench.gallery().recipe("fade")
    assert bench.gallery().recipe("fade") == first
    assert len(bench.figure("fade", group="cells").data) == len(bench.figure("fade", group="cells").data)
    assert made == ["fade"]
    measurement = bench.measurements.list()["id"].tolist()[0]
    excluded = bench.exclude(measurement, reason="a broken clamp")
    changed = bench.gallery().recipe("fade")
    assert "a broken clamp" in changed.transform
    assert made == ["fade", "fade"]
    bench.include(excluded.name)
    assert bench.gallery().recipe("fade") == first


def test_a_recipe_of_one_project_is_not_that_of_another(bench: wb.Bench, tmp_path: Path) -> None:
    assert bench.gallery().recipe("fade").params["cells"]["default"]
    bench.projects.create(name="Empty")
    with wb.open(tmp_path / "many.db", project="Empty") as empty:
        assert "cells" not in empty.gallery().recipe("fade").params
        assert not any(item["ready"] for item in empty.gallery().items)
    assert bench.gallery().recipe("fade").params["cells"]["default"]
