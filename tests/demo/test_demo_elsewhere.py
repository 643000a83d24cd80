"""Recipes written for the demo on stores that are not its own: a figure of what there is, or a sentence on what is
missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.handwritten import HANDWRITTEN

from workbench.bench import Bench, open_bench
from workbench.demo.saved import recipes_on
from workbench.demo.source import Samples
from workbench.local import LocalBackend
from workbench.recipe.recipe import Recipe
from workbench.transform.figure import decode

PLOTS = {slug: Recipe(raw).config for slug, raw in HANDWRITTEN.items()}
RATINGS = {
    "capacity": {"value": 1.0, "unit": "A.h"},
    "voltage_min": {"value": 3.0, "unit": "V"},
    "voltage_max": {"value": 4.0, "unit": "V"},
}
every_plot = pytest.mark.parametrize("slug", PLOTS)


@pytest.fixture(scope="module")
def empty_bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with open_bench(tmp_path_factory.mktemp("empty") / "lab.db") as bench:
        yield bench


@pytest.fixture(scope="module")
def own_bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """One ageing test of one cell of which nothing else is known."""
    folder = tmp_path_factory.mktemp("own")
    with open_bench(folder / "lab.db") as bench:
        name = next(one["file"] for one in Samples.find().manifest["measurements"] if "C-01_ageing" in one["name"])
        bench.ingest(Samples.find().path(name), specification="Mine", rating="2Ah,2V,3.6V", batch="Z")
        yield bench


def sentence(figure: dict[str, Any]) -> str:
    """The words of a figure that is only a sentence; empty for one that has traces."""
    if figure["data"]:
        return ""
    (note,) = figure["layout"]["annotations"]
    return str(note["text"]).replace("<br>", " ")


@every_plot
def test_an_empty_store_gets_a_sentence(empty_bench: Bench, slug: str) -> None:
    told = sentence(decode(empty_bench.backend.figure(PLOTS[slug], {}).figure))
    assert told.endswith(".")
    assert any(word in told for word in ("Choose", "This plot", "none", "no cell")), told


@every_plot
def test_all_choices_of_another_store_draw_or_say_why_not(own_bench: Bench, slug: str) -> None:
    options = own_bench.backend.figure(PLOTS[slug], {}).options
    params = HANDWRITTEN[slug]["params"]
    live = {name: found for name, found in options.items() if "optionsFrom" in params[name]["control"]}
    chosen = {
        name: [one["value"] for one in found] if isinstance(params[name]["default"], list) else found[0]["value"]
        for name, found in live.items()
        if found
    }
    figure = decode(own_bench.backend.figure(PLOTS[slug], chosen).figure)
    told = sentence(figure)
    assert bool(told) != any(len(trace.get("x", ())) > 0 for trace in figure["data"]), slug
    drawn = {
        "fade-by-batch",
        "cycle-life",
        "coulombic-efficiency",
        "voltage-curves",
        "test-calendar",
        "test-record",
    }
    assert bool(told) == (slug not in drawn), told


def test_the_gallerys_plots_are_made_for_the_store_that_they_are_on(empty_bench: Bench, own_bench: Bench) -> None:
    """The values of the demo are not names that another store has; the rest of a recipe is made for it."""
    for bench in (empty_bench, own_bench):
        assert isinstance(bench.backend, LocalBackend)
        for plot, raw in recipes_on(bench.backend):
            if plot.entry:
                figure = decode(bench.backend.figure(Recipe(raw).config, {}).figure)
                assert sentence(figure).endswith(".") or figure["data"], plot.slug


def test_what_is_not_known_of_a_cell_is_left_out_of_its_name(own_bench: Bench) -> None:
    figure = decode(own_bench.backend.figure(PLOTS["fade-by-batch"], {"batches": ["Z"]}).figure)
    assert {trace["name"] for trace in figure["data"] if "name" in trace} == {"Z (n = 1)"}
    life = decode(own_bench.backend.figure(PLOTS["cycle-life"], {"color_by": "properties.electrolyte"}).figure)
    assert "not known" in {trace.get("name") for trace in life["data"]}


def test_many_batches_have_a_colour_each(tmp_path: Path) -> None:
    with open_bench(tmp_path / "lab.db") as bench:
        bench.specifications.create(name="S", ratings=RATINGS)
        table = {
            "Time [s]": [0.0, 1800.0, 3600.0, 3660.0, 5460.0, 7260.0],
            "Current [A]": [1.0, 1.0, 1.0, -1.0, -1.0, -1.0],
            "Voltage [V]": [4.0, 3.5, 3.0, 3.2, 3.6, 4.0],
        }
        for n in range(9):
            bench.batches.create(name=f"b{n}", specification="S")
            bench.instances.create(name=f"c{n}", specification="S", batch=f"b{n}")
            bench.measurements.create(instance=f"c{n}", name=f"c{n}_ageing", time_series=table)
        names = [f"b{n}" for n in range(9)]
        figure = decode(bench.backend.figure(PLOTS["fade-by-batch"], {"batches": names}).figure)
        assert len([trace for trace in figure["data"] if trace.get("showlegend", True)]) == 9
        assert decode(bench.backend.figure(PLOTS["cycle-life"], {}).figure)["data"]
