"""What `make_demo` leaves behind, and what it does when there is something already."""

from __future__ import annotations

import json
import re
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from typer.testing import CliRunner

import workbench as wb
import workbench.demo as module
from workbench import living_process
from workbench.bench import Bench, open_bench
from workbench.cli import app
from workbench.demo import DemoResult, make_demo
from workbench.demo.pages import Drawn, index_page, shown
from workbench.demo.saved import saved_plots, slug_of
from workbench.demo.source import Samples
from workbench.errors import BadRequest
from workbench.recipe.params import Param
from workbench.recipe.recipe import Recipe

MANIFEST = Samples.find().manifest
Recipes: TypeAlias = dict[str, dict[str, Any]]


def test_all_of_the_manifest_is_there(demo: DemoResult) -> None:
    counts = {row["what"]: row["count"] for row in demo.counts}
    kinds = {
        "specifications": "cell specifications",
        "instances": "cells",
        "material_properties": "material property sets",
    }
    for kind, listed in MANIFEST.items():
        assert counts[kinds.get(kind, kind.replace("_", " "))] == len(listed), kind
    assert counts["samples"] == sum(one["rows"] for one in MANIFEST["measurements"])
    assert counts["dashboards"] == 3


def test_measurements_say_what_the_manifest_says(demo_bench: Bench) -> None:
    for one in MANIFEST["measurements"]:
        found = demo_bench.measurements.get(one["name"])
        assert found.instance_name == one["instance"]
        assert found.tags == sorted(one["tags"], key=str.casefold)
        assert found.protocol == one["protocol"]
        assert found.test_setup.items() >= one["test_setup"].items()
        assert found.start_time == datetime.fromisoformat(one["start_time"])
        assert (found.sample_count, found.cycle_count) == (one["rows"], one["cycles"]), one["name"]
        assert (found.notes or "") == one["notes"]


def test_cells_models_and_studies_are_linked(demo_bench: Bench) -> None:
    m50 = demo_bench.specifications.get("SIM M50 21700")
    assert m50.cathode_id == demo_bench.materials.get("NMC811 (M50)").id
    assert demo_bench.instances.get("M50-B-03").batch_name == "B"
    assert demo_bench.simulations.get("M50_DFN_C10").model_name == "M50 DFN (Chen 2020)"
    for study in MANIFEST["studies"]:
        assert demo_bench.studies.get(study["name"]).measurement_count == len(study["measurements"])
    assert demo_bench.studies.get("Model validation").simulation_count == 7
    curve = demo_bench.material_properties.table("Full-cell open-circuit voltage (M50)")
    assert curve["SOC"].iloc[0] == 0.0


def test_the_store_is_sound(demo_bench: Bench) -> None:
    assert demo_bench.verify() == []


def test_every_plot_was_drawn_without_a_warning(demo: DemoResult) -> None:
    assert demo.failures == []
    assert [(row["plot"], row["result"]) for row in demo.plots] == [(plot.name, "drawn") for plot in saved_plots()]


def test_figures_share_one_plotly_and_fetch_nothing(demo: DemoResult) -> None:
    pages = sorted(path.name for path in (demo.store.parent / "figures").glob("*.html"))
    assert pages == sorted([*(f"{plot.slug}.html" for plot in saved_plots()), "index.html"])
    assert len(list((demo.store.parent / "figures").glob("*.js"))) == 1
    for page in pages:
        text = (demo.store.parent / "figures" / page).read_text("utf-8")
        assert '<script src="plotly.min.js">' in text or '<script defer src="plotly.min.js">' in text
        head = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
        assert not re.findall(r"https?://", head)
        assert len(text) < 1_000_000


def test_the_index_has_every_figure_with_its_question_and_values(demo: DemoResult, recipes: Recipes) -> None:
    text = demo.index.read_text("utf-8")
    for plot in saved_plots():
        assert f'data-figure="{plot.slug}"' in text
        assert f'id="of-{plot.slug}"' in text
        assert f'href="{plot.slug}.html"' in text
        assert plot.description in text
        for param in recipes[plot.slug]["params"].values():
            label = escape(param["control"]["label"])
            assert (f"<dt>{label}</dt>" in text) == (label != "Caption")
    assert "<dd>mean ± s.d.</dd>" in text


def test_recipes_are_whole_files_that_anyone_can_run(demo: DemoResult, recipes: Recipes, tmp_path: Path) -> None:
    for plot in saved_plots():
        recipe = Recipe.load(demo.store.parent / "recipes" / f"{plot.slug}.json")
        assert recipe == Recipe(recipes[plot.slug])
    recipe, out = demo.store.parent / "recipes" / "fade-by-batch.json", tmp_path / "fade.csv"
    args = [
        "run",
        str(recipe),
        "-p",
        "cells=M50-A-03",
        "-p",
        "cells=M50-A-04",
        "--store",
        str(demo.store.parent / "workbench.db"),
        "-o",
        str(out),
    ]
    assert CliRunner().invoke(app, args).exit_code == 0
    text = out.read_text("utf-8")
    assert "45 °C (n = 2)" in text
    assert "25 °C" not in text


def _drawn(path: Path) -> bytes:
    """What a file of the demo shows: all of it but a passport, which names the time when it was drawn."""
    return re.sub(rb'<script type="application/json" id="battery-workbench">.*?</script>', b"", path.read_bytes())


def test_each_page_opens_again_as_its_plot(demo: DemoResult) -> None:
    with open_bench(demo.store) as bench:
        for plot in saved_plots():
            opened = wb.open_figure(demo.store.parent / "figures" / f"{plot.slug}.html", bench)
            assert opened.passport.plot is not None
            assert opened.passport.plot.name == plot.name
            assert not opened.why_changed(), plot.name


def test_a_second_run_draws_the_same_and_keeps_what_is_there(copied: Path) -> None:
    before = {path.name: _drawn(path) for path in (copied / "figures").iterdir()}
    (copied / "recipes" / "dqdv.json").write_text("mine", "utf-8")
    (copied / "recipes" / "nyquist.json").unlink()
    with open_bench(copied / "workbench.db") as bench:
        kept = bench.measurements.create(instance="M50-A-01", name="mine", properties={"mass": 1.0}).id
    again = make_demo(copied)
    assert {row["what"]: row["count"] for row in again.counts}["measurements"] == len(MANIFEST["measurements"]) + 1
    after = {path.name: _drawn(path) for path in (copied / "figures").iterdir()}
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= {"index.html", "test-record.html"}
    assert (copied / "recipes" / "dqdv.json").read_text("utf-8") == "mine"
    assert json.loads((copied / "recipes" / "nyquist.json").read_text("utf-8"))["plan"]
    with open_bench(copied / "workbench.db") as bench:
        assert bench.measurements.get(kept).name == "mine"
        assert len(bench.dashboards.get("Ageing").plot("Fade by batch").history()) == 1


def test_a_plot_that_fails_is_told_and_checked(copied: Path) -> None:
    with open_bench(copied / "workbench.db") as bench:
        board = bench.dashboards.get("Models")
        broken = dict(
            board.plot("Drive cycle").recipe().raw(), transform="def transform(data, params):\n    return 1 / 0\n"
        )
        board.save("Drive <cycle> two", broken)
    done = CliRunner().invoke(app, ["demo", str(copied), "--no-serve"])
    assert done.exit_code == 0
    failed = CliRunner().invoke(app, ["demo", str(copied), "--no-serve", "--check"])
    assert failed.exit_code == 1
    result = make_demo(copied)
    assert [row["plot"] for row in result.plots if row["result"] == "failed"] == ["Drive <cycle> two"]
    assert len(result.failures) == 1
    assert "division by zero" in result.failures[0]
    assert "Drive &lt;cycle&gt; two" in result.index.read_text("utf-8")


def test_the_command_succeeds_and_names_the_page(copied: Path) -> None:
    done = CliRunner().invoke(app, ["demo", str(copied), "--no-serve", "--check"])
    assert done.exit_code == 0
    assert "Fade by batch" in done.stdout
    assert "index.html" in done.stdout


def test_a_plot_that_was_deleted_comes_back_and_one_that_was_changed_stays(copied: Path) -> None:
    with open_bench(copied / "workbench.db") as bench:
        board = bench.dashboards.get("Models")
        own = bench.dashboards.get("Ageing").plot("Cycle life").recipe()
        board.save("Drive cycle", own)
        bench.dashboards.delete("Electrochemistry")
    make_demo(copied)
    with open_bench(copied / "workbench.db") as bench:
        assert bench.dashboards.get("Models").plot("Drive cycle").recipe() == own
        electrochemistry = bench.dashboards.get("Electrochemistry")
        names = [plot.name for plot in electrochemistry.plots()]
        assert names == [plot.name for plot in saved_plots() if plot.dashboard == "Electrochemistry"]
        tiles = {(tile.x, tile.y) for tile in electrochemistry.record.layout}
        assert len(tiles) == len(names)


def test_plots_of_one_name_have_pages_of_their_own(copied: Path) -> None:
    with open_bench(copied / "workbench.db") as bench:
        bench.projects.create(name="another")
    with open_bench(copied / "workbench.db", project="Default") as bench:
        for name in ("Mine", "Yours"):
            cycle_life = bench.dashboards.get("Ageing").plot("Cycle life").recipe()
            bench.dashboards.create(name).save("Fade by batch", cycle_life)
    with pytest.raises(BadRequest, match="2 projects here"):
        make_demo(copied)
    result = make_demo(copied, project="Default")
    pages = [path for path in (copied / "figures").glob("*.html") if path.name != "index.html"]
    assert len(pages) == len(result.plots) == len(saved_plots()) + 2
    for page in pages:
        assert f'href="{page.name}"' in result.index.read_text("utf-8")


def test_a_store_of_ones_own_is_left_alone(tmp_path: Path) -> None:
    open_bench(tmp_path / "workbench.db").close()
    with pytest.raises(BadRequest, match="a store of your own"):
        make_demo(tmp_path)
    with open_bench(tmp_path / "workbench.db") as bench:
        assert len(bench.dashboards.list()) == 0
    assert not (tmp_path / "recipes").exists()


def test_what_fails_half_way_leaves_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".making-0").mkdir()
    (tmp_path / ".making-0" / "draft.db").write_bytes(b"of a run that was killed")

    def breaks(bench: Bench, samples: Samples, told: object) -> None:
        bench.materials.create(name="first")
        raise RuntimeError("half way")

    monkeypatch.setattr(module, "fill", breaks)
    with pytest.raises(RuntimeError, match="half way"):
        make_demo(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_progress_goes_forward_to_the_end(copied: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    make_demo(copied, progress=lambda *step: steps.append(step))
    assert [done for done, _, _ in steps] == sorted(done for done, _, _ in steps)
    assert steps[-1][0] == steps[-1][1] == len(saved_plots())


def test_missing_sample_data_are_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("workbench.demo.source._PACKAGE", tmp_path / "package")
    with pytest.raises(BadRequest, match=r"sample_data/manifest\.json"):
        make_demo(tmp_path / "demo")
    assert not (tmp_path / "demo").exists()


def test_the_index_takes_any_text() -> None:
    nasty = "</script><b>&\"'"
    figure = json.dumps({"data": [{"name": nasty}], "layout": {}}).encode()
    drawn = Drawn(nasty, nasty, "a", nasty, figure, {}, {nasty: nasty}, [nasty])
    text = index_page([drawn], [{"what": nasty, "count": 1, "examples": nasty}]).decode()
    assert "<b>" not in text
    held = text.split('id="of-a">')[1].split("</script>")[0]
    assert json.loads(held) == json.loads(figure)


def test_values_read_as_a_person_reads_them() -> None:
    choice = Param.model_validate(
        {"kind": "view", "default": "a", "control": {"options": [{"value": "a", "label": "first"}, {"value": 1}]}}
    )
    assert shown("a", choice) == "first"
    assert shown(True) == "yes"
    assert shown(None) == "auto"
    assert shown([1, 5]) == "1 to 5"
    assert shown(["A", "B"]) == "A, B"
    assert shown([]) == "none"
    assert shown("") == "any"
    assert slug_of("Fade, by batch!") == "fade-by-batch"


def test_a_text_of_several_lines_is_shown_by_its_figure_alone(demo: DemoResult) -> None:
    page = demo.index.read_text("utf-8")
    caption = "Bars are wall-clock time"
    listed = page.split('<article id="test-calendar">')[1].split("</article>")[0]
    assert "Test name contains" in listed
    assert caption not in listed
    assert caption in page


class Enough(Exception):
    """Ends the making of a demo that has begun."""


def test_a_demo_that_another_process_makes_in_the_folder_is_left_alone(tmp_path: Path) -> None:
    at_work = living_process.name()
    killed = f"{at_work[:8]}-999999999-0-00000000"
    for name in (at_work, killed):
        (tmp_path / f".making-{name}").mkdir()

    def begun(_done: int, _of: int, _what: str) -> None:
        raise Enough

    with pytest.raises(Enough):
        make_demo(tmp_path, progress=begun)
    assert [path.name for path in tmp_path.iterdir()] == [f".making-{at_work}"]
