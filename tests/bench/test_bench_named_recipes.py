"""What a bench takes as a recipe: the recipe, its file, a saved plot, the plot's name or id; local and remote alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.local_and_remote import WHERE, opened

import workbench as wb

SCRIPT = "def transform(data, params):\n    return px.bar(data['cells'], x='name', title=params['title'])\n"
RECIPE: dict[str, Any] = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name"]}}},
    "transform": SCRIPT,
    "params": {"title": {"kind": "view", "default": "Cells"}},
}


@pytest.fixture(params=WHERE)
def bench(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[wb.Bench]:
    """A bench in an empty folder: one cell, and the plot 'All cells' on the dashboard 'Ageing'."""
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path / "lab.db", request.param) as made:
        rating = {"value": 5.0, "unit": "A.h"}
        made.specifications.create(
            name="M50", ratings={"capacity": rating, "voltage_min": rating, "voltage_max": rating}
        )
        made.instances.create(name="a1", specification="M50")
        made.dashboards.create("Ageing").save("All cells", RECIPE)
        yield made


@pytest.mark.parametrize("way", ["plot", "name", "id", "path", "text of a path"])
def test_every_method_takes_every_way_to_name_a_recipe(bench: wb.Bench, tmp_path: Path, way: str) -> None:
    plot = bench.dashboards.get("Ageing").plot("All cells")
    path = plot.recipe().save(tmp_path / "cells.json")
    given: Any = {"plot": plot, "name": "All cells", "id": plot.id, "path": path, "text of a path": "cells.json"}[
        way
    ]
    assert bench.check(given) == []
    assert bench.figure(given, title="T").layout.title.text == "T"
    assert bench.figure_widget(given).layout.title.text == "Cells"
    assert list(bench.dataset(given)["cells"]["name"]) == ["a1"]
    assert list(bench.look(given)) == ["cells"]
    assert bench.values(given, ["title=T"]) == {"title": "T"}
    view = bench.show(given)
    assert view.refresh(wait=True).figure().layout.title.text == "Cells"
    view.close()
    bench.export(given, tmp_path / "out.json", {"title": "T"})
    bench.export(given, tmp_path / "out.csv", step="cells")
    assert "a1" in (tmp_path / "out.csv").read_text()
    assert bench.dashboards.get("Ageing").save("Copy", given).name == "Copy"


def test_a_file_comes_before_a_plot_of_that_name_and_a_folder_does_not(bench: wb.Bench, tmp_path: Path) -> None:
    wb.Recipe(RECIPE | {"params": {"title": {"kind": "view", "default": "From the file"}}}).save("All cells")
    assert bench.figure("All cells").layout.title.text == "From the file"
    Path("All cells").unlink()
    Path("All cells").mkdir()
    assert bench.figure("All cells").layout.title.text == "Cells"


def test_a_name_that_nothing_has_is_answered_with_near_ones(bench: wb.Bench) -> None:
    with pytest.raises(wb.BadRequest, match=r"no saved plot 'All cels'.*Did you mean 'All cells'\?"):
        bench.figure("All cels")
    wb.Recipe(RECIPE).save("fade.json")
    with pytest.raises(
        wb.BadRequest, match=r"'fad.json' cannot be read: No such file\. Did you mean 'fade.json'\?"
    ):
        bench.check("fad.json")
    for absent in ("", "a\0b", "x" * 5000):
        with pytest.raises(wb.BadRequest, match="The saved plots are 'All cells'"):
            bench.dataset(absent)
    with pytest.raises(
        wb.BadRequest, match=r"bench\.gallery\(\) in Python, or workbench gallery, lists the ready"
    ):
        bench.figure("nyquist")


def test_a_name_of_several_plots_is_settled_by_their_ids(bench: wb.Bench) -> None:
    other = bench.dashboards.create("Screening").save("All cells", RECIPE)
    with pytest.raises(wb.BadRequest, match=f"2 saved plots 'All cells'.*'{other.id}' is on 'Screening'"):
        bench.show("All cells")
    assert bench.figure(other.id).layout.title.text == "Cells"


def test_check_and_look_name_what_is_wrong_in_a_saved_plot(bench: wb.Bench) -> None:
    broken = RECIPE | {"plan": {"steps": {"cells": {**RECIPE["plan"]["steps"]["cells"], "fields": ["nme"]}}}}
    bench.dashboards.get("Ageing").save("Broken", broken)
    (problem,) = bench.check("Broken")
    assert "'nme'" in problem.msg
    assert bench.look("Broken").problems


def test_a_plot_that_is_shown_by_its_name_keeps_its_place(bench: wb.Bench) -> None:
    view = bench.show("All cells")
    assert view._home is not None
    assert view._home.name == "All cells"
    view.close()
