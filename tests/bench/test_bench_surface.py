"""The Python surface from outside: what people type in a notebook, on a small lab and on the demo."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import pytest
from support.local_and_remote import WHERE, opened

import workbench as wb
from workbench.analyses.run import Analysed
from workbench.messages import typed_in

RATINGS = {
    "capacity": {"value": 5.0, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}
SCRIPT = (
    "def transform(data, params):\n    return px.bar(data['cells'], x='name', color_discrete_sequence=['red'])\n"
)


def samples(cycles: int = 2, n: int = 20) -> pd.DataFrame:
    """Charge at 1 A, then discharge at 2 A, n samples a step, one second apart."""
    steps = 2 * cycles
    current = np.repeat(np.tile([-1.0, 2.0], cycles), n)
    return pd.DataFrame(
        {
            "Time [s]": np.arange(steps * n, dtype=float),
            "Current [A]": current,
            "Voltage [V]": np.where(current < 0, 3.0, 4.0) - np.sign(current) * np.tile(np.arange(n) / n, steps),
            "Step count": np.repeat(np.arange(steps), n),
            "Cycle count": np.repeat(np.arange(steps) // 2, n),
            "Remark": ["x"] * (steps * n),
        }
    )


@pytest.fixture(params=WHERE)
def bench(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[wb.Bench]:
    with opened(tmp_path / "lab.db", request.param) as made:
        specification = made.specifications.create(name="M50", ratings=RATINGS)
        batch = made.batches.create(name="A", specification=specification)
        made.instances.create(name="a1", specification="M50", batch=batch)
        made.instances.create(name="a2", specification=specification.id, batch=batch.id)
        yield made


def plan_of(where: dict[str, Any] | None = None) -> dict[str, Any]:
    step = {"op": "list", "source": "instances", "fields": ["id", "name"], **({"where": where} if where else {})}
    return {"steps": {"cells": step}}


# Opening


def test_open_makes_a_store_with_one_project(tmp_path: Path) -> None:
    with wb.open(tmp_path / "new.db") as bench:
        assert repr(bench) == "<bench on 'new.db', project 'Default': nothing yet>"
        assert list(bench.projects.list()["name"]) == ["Default"]
    with wb.open(str(tmp_path / "new.db"), project="Default", organization="Local") as bench:
        assert bench.measurements.list().empty


def test_several_projects_are_told_apart(bench: wb.Bench, tmp_path: Path) -> None:
    second = bench.projects.create(name="Ageing")
    with pytest.raises(wb.BadRequest, match=r"2 projects here: 'Default', 'Ageing'\. Say which with project="):
        wb.open(tmp_path / "lab.db")
    with pytest.raises(wb.BadRequest, match="There is no project 'Agein'"):
        wb.open(tmp_path / "lab.db", project="Agein")
    for ref in ("Ageing", second.id, second):
        assert bench.project(ref).instances.list().empty
    assert len(bench.instances.list()) == 2
    with pytest.raises(wb.NotFound, match="Ageing"):
        bench.project("Aging")


# Records


def test_create_get_update_delete(bench: wb.Bench) -> None:
    cell = bench.instances.get("a1")
    assert bench.instances.get(cell.id) == bench.instances.get(cell) == cell
    changed = bench.instances.update("a1", notes="dented", properties={"mass": {"value": 69.0, "unit": "g"}})
    assert (changed.notes, changed.name, changed.batch_id) == ("dented", "a1", cell.batch_id)
    assert bench.instances.list(fields=["name", "properties.mass.value"])["properties.mass.value"][0] == 69.0
    bench.instances.delete("a1")
    assert list(bench.instances.list()["name"]) == ["a2"]
    with pytest.raises(wb.NotFound, match="'a2'"):
        bench.instances.get("a1")


def test_what_is_taken_or_wrong_says_so(bench: wb.Bench) -> None:
    with pytest.raises(wb.Conflict) as taken:
        bench.instances.create(name="a1", specification="M50")
    assert taken.value.existing_id == bench.instances.get("a1").id
    with pytest.raises(wb.WorkbenchError, match="nam"):
        bench.instances.create(nam="a3", specification="M50")
    with pytest.raises(wb.NotFound, match="M50"):
        bench.instances.create(name="a3", specification="M5O")
    with pytest.raises(wb.BadRequest, match=r"'bach' is not a filter of .*Did you mean 'batch'"):
        bench.instances.list(bach="A")
    with pytest.raises(wb.Invalid, match="'name'"):
        bench.instances.list(fields=["nme"])


def test_lists_take_filters_in_snake_case(bench: wb.Bench) -> None:
    bench.measurements.create(instance="a1", name="RPT 1", time_series=samples())
    bench.measurements.create(instance="a2", name="ageing", time_series=samples())
    cell = bench.instances.get("a1")
    assert list(bench.measurements.list(name_contains="rpt")["name"]) == ["RPT 1"]
    assert list(bench.measurements.list(instance_ids=[cell])["name"]) == ["RPT 1"]
    assert list(bench.measurements.list(instance_ids=cell.id, batch="a")["name"]) == ["RPT 1"]
    # A name found nothing, without a word.
    assert list(bench.measurements.list(instance_ids=["a1"])["name"]) == ["RPT 1"]
    assert list(bench.measurements.list(instance_ids="a2")["name"]) == ["ageing"]
    assert list(bench.measurements.list(ids=["RPT 1", bench.measurements.get("ageing")])["name"]) == [
        "RPT 1",
        "ageing",
    ]
    assert len(bench.measurements.list(specification_ids="M50")) == 2
    with pytest.raises(wb.NotFound, match=r"no cell instance 'a11'\. Did you mean 'a1'"):
        bench.measurements.list(instance_ids=["a1", "a11"])
    assert len(bench.measurements.list(instance_ids=[str(uuid.uuid4())])) == 0
    assert len(bench.measurements.list(batch="B")) == 0
    assert len(bench.measurements.list(limit=1)) == 1
    assert list(bench.projects.list(name_contains="def")["name"]) == ["Default"]
    frame = bench.measurements.list(fields=["name", "sample_count"])
    assert list(frame.columns) == ["name", "sample_count"]


def test_every_collection_lists(bench: wb.Bench, demo_store: Path) -> None:
    names = (
        *("projects", "specifications", "batches", "instances", "measurements", "analyses", "materials"),
        *("material_properties", "models", "simulations", "studies", "drive_cycles", "dashboards"),
    )
    with wb.open(demo_store) as demo:
        for name in names:
            collection = getattr(demo, name)
            frame = collection.list()
            assert {"id", "name"} <= set(frame.columns), name
            assert len(frame) > 0, name
            assert collection.get(frame["id"][0]).id == frame["id"][0], name
            assert f"{len(frame)} record" in repr(collection), name


# Sampled data


@pytest.mark.parametrize("shape", ["frame", "arrow", "mapping"])
def test_time_series_come_back_exact(bench: wb.Bench, shape: str) -> None:
    frame = samples()
    given: Any = {"frame": frame, "arrow": pa.Table.from_pandas(frame), "mapping": dict(frame.items())}[shape]
    made = bench.measurements.create(instance="a1", name="RPT", time_series=given, tags=["check"])
    back = bench.measurements.time_series("RPT")
    pd.testing.assert_frame_equal(back[frame.columns.tolist()], frame, check_dtype=False)
    assert list(bench.measurements.time_series(made, columns=["Voltage [V]"]).columns) == ["Voltage [V]"]
    with pytest.raises(wb.BadRequest, match=r"Did you mean 'Voltage \[V\]'"):
        bench.measurements.time_series("RPT", columns=["Voltage"])


@pytest.mark.parametrize("as_table", [False, True])
def test_frames_of_polars_are_tables_too(bench: wb.Bench, as_table: bool) -> None:
    polars = pytest.importorskip("polars")
    frame = samples()
    whole = polars.from_pandas(frame).with_columns(polars.col("Remark").cast(polars.Categorical).alias("Kind"))
    parts = polars.concat([whole[:30], whole[30:]], rechunk=False)
    bench.measurements.create(instance="a1", name="RPT", time_series=pa.table(parts) if as_table else parts)
    back = bench.measurements.time_series("RPT")
    frame["Kind"] = "x"
    pd.testing.assert_frame_equal(back[frame.columns.tolist()], frame, check_dtype=False)


def test_steps_and_cycles_follow(bench: wb.Bench) -> None:
    bench.measurements.create(instance="a1", name="RPT", time_series=samples())
    steps, cycles = bench.measurements.steps("RPT"), bench.measurements.cycles("RPT")
    assert list(steps["Step type"]) == ["Constant current charge", "Constant current discharge"] * 2
    assert list(cycles["Cycle count"]) == [0, 1]
    assert cycles["Discharge capacity [A.h]"][0] == pytest.approx(2 * 19 / 3600)


def test_extend_appends_to_a_running_test(bench: wb.Bench) -> None:
    whole = samples(cycles=3)
    made = bench.measurements.create(instance="a1", name="running", time_series=whole[:50])
    bench.measurements.extend(made, whole[50:])
    pd.testing.assert_frame_equal(
        bench.measurements.time_series("running")[whole.columns.tolist()], whole, check_dtype=False
    )
    bench.measurements.create(instance="a2", name="at once", time_series=whole)
    pd.testing.assert_frame_equal(bench.measurements.steps("running"), bench.measurements.steps("at once"))
    pd.testing.assert_frame_equal(bench.measurements.cycles("running"), bench.measurements.cycles("at once"))
    with pytest.raises(wb.WorkbenchError, match="Time"):
        bench.measurements.extend(made, whole[:10])
    assert len(bench.measurements.time_series("running")) == len(whole)


def test_samples_that_break_a_convention_are_refused(bench: wb.Bench) -> None:
    backwards = samples().iloc[::-1].reset_index(drop=True)
    with pytest.raises(wb.WorkbenchError, match="Time"):
        bench.measurements.create(instance="a1", name="bad", time_series=backwards)
    with pytest.raises(wb.BadRequest, match="not int"):
        bench.measurements.create(instance="a1", name="bad", time_series=5)
    assert bench.measurements.list().empty


def test_a_measurement_without_samples_says_so(bench: wb.Bench) -> None:
    bench.measurements.create(instance="a1", name="mass", properties={"mass": {"value": 69.1, "unit": "g"}})
    with pytest.raises(wb.NotFound, match=r"The .*'mass' has no sampled data"):
        bench.measurements.time_series("mass")


def test_other_sampled_collections(bench: wb.Bench) -> None:
    bench.measurements.create(instance="a1", name="RPT", time_series=samples())
    table = pd.DataFrame({"SOC": [0.1, 0.5], "R [Ohm]": [0.03, 0.02]})
    bench.analyses.create(name="pulses", measurement="RPT", analysis_type="resistance", table=table)
    pd.testing.assert_frame_equal(bench.analyses.table("pulses"), table, check_dtype=False)
    bench.materials.create(name="graphite")
    bench.material_properties.create(name="OCV", material="graphite", table=table)
    pd.testing.assert_frame_equal(bench.material_properties.table("OCV"), table, check_dtype=False)
    bench.models.create(name="SPM", config={"model": "SPM"})
    bench.simulations.create(name="1C", model="SPM", specification="M50", time_series=samples())
    assert len(bench.simulations.time_series("1C")) == len(samples())
    study = bench.studies.create(name="S")
    bench.studies.assign(study, measurements=["RPT"], simulations=["1C"])
    assert list(bench.measurements.list(study_id=study)["name"]) == ["RPT"]
    bench.studies.unassign("S", measurements=["RPT"])
    assert bench.measurements.list(study_id=study.id).empty
    cycle = bench.drive_cycles.create(name="wltc.csv", data=[[0, 1.0], [1, 2.0]])
    for same in ([[0, 1.0], [1, 2.0]], np.array([[0.0, 1], [1, 2]])):
        assert bench.drive_cycles.create(name="wltc.csv", data=same).id == cycle.id


# Recipes


def test_dataset_of_a_recipe_and_of_a_bare_plan(bench: wb.Bench) -> None:
    data = bench.dataset(plan_of())
    assert list(data["cells"]["name"]) == ["a1", "a2"]
    assert (data.warnings, data.cache["dataset"]) == ([], "miss")
    assert "cells: 2 rows" in repr(data)
    recipe = wb.Recipe(
        plan=plan_of({"ids": "$cells"}), transform=SCRIPT, params={"cells": {"kind": "data", "default": []}}
    )
    chosen = bench.instances.get("a2").id
    assert list(bench.dataset(recipe, cells=[chosen])["cells"]["name"]) == ["a2"]
    assert list(bench.dataset(recipe, {"cells": [chosen]})["cells"]["name"]) == ["a2"]
    assert bench.dataset(recipe)["cells"].empty
    with pytest.raises(wb.Invalid) as refused:
        bench.dataset(recipe, cell=[chosen])
    assert refused.value.problems[0].loc == ("values", "cell")


def test_series_steps_answer_frames_by_id(bench: wb.Bench) -> None:
    made = bench.measurements.create(instance="a1", name="RPT", time_series=samples(20))
    steps = {
        "v": {
            "op": "series",
            "source": "measurements",
            "ids": [made.id],
            "x": "Time [s]",
            "columns": ["Voltage [V]"],
        }
    }
    data = bench.dataset({"steps": {"v": {**steps["v"], "max_points": 100}}})
    assert list(data["v"]) == [made.id]
    assert data["v"].complete == {made.id: False}
    assert 50 <= len(data["v"][made.id]) <= 100
    assert set(data["v"].long(id="test").columns) == {"test", "Time [s]", "Voltage [V]"}
    with pytest.raises(wb.WorkbenchError, match=r"steps\.v\.ids\.0: .*'nobody'"):
        bench.dataset({"steps": {"v": {**steps["v"], "ids": ["nobody"]}}})


def test_figure_knows_how_it_was_made(bench: wb.Bench) -> None:
    recipe = wb.Recipe(plan=plan_of(), transform="print('drawing')\n" + SCRIPT)
    figure = bench.figure(recipe)
    assert isinstance(figure, wb.Figure)
    assert isinstance(figure, go.Figure)
    made = figure.workbench
    assert made.cache == {"dataset": "miss", "figure": "miss"}
    assert made.reads == {"steps": 1, "sources": 0}
    assert made.log == "drawing\n"
    assert {"check", "choices", "steps", "draw"} <= set(made.timings)
    again = bench.figure(recipe)
    assert again.to_json() == figure.to_json()
    assert again.workbench.cache == {"dataset": "hit", "figure": "hit"}
    assert again.workbench.reads == {"steps": 0, "sources": 0}
    assert again.workbench.log == "drawing\n"


def test_figure_takes_a_path_and_tells_a_failing_line(bench: wb.Bench, tmp_path: Path) -> None:
    path = wb.Recipe(plan=plan_of(), transform=SCRIPT).save(tmp_path / "bar.json")
    assert len(bench.figure(path).data) == 1
    assert bench.figure(str(path)).to_json() == bench.figure(wb.Recipe.load(path)).to_json()
    with pytest.raises(wb.ScriptError) as failed:
        bench.figure(wb.Recipe(plan=plan_of(), transform="def transform(data, params):\n    return 1 / 0\n"))
    assert failed.value.problems[0].ctx == {"line": 2, "text": "return 1 / 0", "error": "ZeroDivisionError"}


def test_check_finds_what_the_store_lacks(bench: wb.Bench) -> None:
    recipe = wb.Recipe(plan=plan_of({"batch": "A"}), transform=SCRIPT)
    assert bench.check(recipe) == []
    raw = recipe.raw()
    raw["plan"]["steps"]["cells"]["fields"] = ["nam"]
    raw["transform"] = "import socket\n" + SCRIPT
    problems = bench.check(raw)
    assert [problem.loc for problem in problems] == [
        ("config", "plan", "steps", "cells", "fields", 0),
        ("config", "transform"),
    ]
    assert "'name'" in problems[0].msg
    assert bench.check({"plan": {}}) != []
    assert bench.check(plan_of()) == []


def test_recipe_saves_loads_and_publishes_its_schema(tmp_path: Path) -> None:
    recipe = wb.Recipe(plan=plan_of(), transform=SCRIPT)
    assert wb.Recipe.load(recipe.save(tmp_path / "r.json")) == recipe
    assert wb.Recipe.schema()["$id"].startswith("urn:battery-workbench:plot-config")
    assert recipe.params == {}
    recipe.plan["steps"].clear()
    assert list(recipe.plan["steps"]) == ["cells"]
    with pytest.raises(wb.Invalid):
        wb.Recipe(plan={"steps": {}}, transform="")


# Dashboards


def test_dashboards_keep_every_revision(bench: wb.Bench) -> None:
    second = bench.projects.create(name="Second")
    board = bench.dashboards.create("Ageing", description="Fade and resistance")
    elsewhere = bench.dashboards.create(second, "Ageing")
    assert elsewhere.id != board.id
    with pytest.raises(wb.Conflict) as taken:
        bench.dashboards.create("Ageing")
    assert taken.value.existing_id == board.id
    first = wb.Recipe(plan=plan_of(), transform=SCRIPT)
    other = wb.Recipe(plan=plan_of({"batch": "A"}), transform=SCRIPT)
    plot = board.save("Cells", first)
    assert (plot.revision, repr(plot)) == (1, "<plot 'Cells', revision 1>")
    assert board.save("Cells", other).revision == 2
    plot = board.plot("Cells")
    assert plot.recipe() == other
    assert plot.recipe(1) == first
    assert list(plot.history()["revision"]) == [1, 2]
    restored = plot.restore(1)
    assert (restored.revision, restored.recipe()) == (3, first)
    assert list(plot.history()["origin"])[-1] == "restore 1"
    assert [one.name for one in bench.dashboards.get(board.id).plots()] == ["Cells"]
    assert len(plot.figure().data) == 1
    with pytest.raises(wb.WorkbenchError):
        board.save("Bad", {"plan": plan_of(), "transform": "import os\n" + SCRIPT})
    assert len(board.plots()) == 1
    with pytest.raises(wb.NotFound, match="'Cells'"):
        board.plot("Cell")


# Finding one's way


def test_catalog_shows_itself(demo_store: Path) -> None:
    with wb.open(demo_store) as bench:
        catalog = bench.catalog()
    assert catalog["measurements"].records == 77
    assert "Voltage [V]" in repr(catalog)
    html = catalog._repr_html_()
    assert "<table>" in html
    assert "summary of cycles" in html
    with pytest.raises(wb.BadRequest, match="Did you mean 'measurements'"):
        catalog["measurement"]


def test_catalog_escapes_what_people_wrote(bench: wb.Bench) -> None:
    bench.instances.create(name="<b>x</b>", specification="M50", notes="[red]not markup[/red]")
    catalog = bench.catalog()
    assert "<b>x</b>" not in catalog._repr_html_()
    assert "&lt;b&gt;" in catalog._repr_html_()
    assert "[red]not markup[/red]" in repr(catalog)


def test_search_finds_by_name_and_notes(bench: wb.Bench) -> None:
    bench.instances.update("a2", notes="swollen after storage")
    assert list(bench.search("a1")["name"]) == ["a1"]
    found = bench.search("swoll")
    assert list(found["entity_type"]) == ["cell_instance"]
    assert bench.search("nothing of the kind").empty
    with pytest.raises(wb.WorkbenchError, match="2 characters"):
        bench.search("a")


def test_backup_is_a_store_and_verify_is_clean(bench: wb.Bench, tmp_path: Path) -> None:
    bench.measurements.create(instance="a1", name="RPT", time_series=samples())
    with wb.open(tmp_path / "lab.db") as near:
        near.backup(tmp_path / "copy.db")
        assert near.verify() == []
    with wb.open(tmp_path / "copy.db") as copy:
        pd.testing.assert_frame_equal(copy.measurements.time_series("RPT"), bench.measurements.time_series("RPT"))
        assert copy.verify() == []


def test_a_figure_has_no_button_that_uploads_data(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(go.Figure, "show", lambda self, *args, **kwargs: given.update(kwargs))
    bench.figure(wb.Recipe(plan=plan_of(), transform=SCRIPT)).show()
    assert given["config"]["showSendToCloud"] is False
    assert given["config"]["plotlyServerURL"] == ""


def test_a_page_of_plotlys_own_has_no_button_that_uploads_data(bench: wb.Bench, tmp_path: Path) -> None:
    figure = bench.figure(wb.Recipe(plan=plan_of(), transform=SCRIPT))
    figure.write_html(tmp_path / "mine.html", include_plotlyjs=False, config={"scrollZoom": True})
    for page in (figure.to_html(include_plotlyjs=False), (tmp_path / "mine.html").read_text("utf-8")):
        assert '"showSendToCloud": false' in page
        assert "plot.ly" not in page
    assert '"scrollZoom": true' in page


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (lambda frame: pd.concat([frame, frame[["Remark"]]], axis=1), "2 columns are named 'Remark'"),
        (lambda frame: frame.assign(**{"5": 1.0}).assign(a=2).rename(columns={"a": 5}), "2 columns are named '5'"),
        (
            lambda frame: pa.table([*pa.table(frame.to_dict("list")).columns] * 2, names=[*frame.columns] * 2),
            "named 'Time",
        ),
        (lambda frame: {**frame, "wide": np.zeros((len(frame), 2))}, "one dimension"),
        (lambda frame: {**frame, "\ud800": np.zeros(len(frame))}, "not valid Unicode"),
    ],
)
def test_a_table_that_would_lose_something_is_refused_by_name(
    bench: wb.Bench, more: Callable[[pd.DataFrame], Any], told: str
) -> None:
    instance = bench.instances.get("a1")
    with pytest.raises(wb.BadRequest, match=told):
        bench.measurements.create(instance=instance, name="m", time_series=more(samples()))
    assert len(bench.measurements.list()) == 0


def test_what_numpy_holds_comes_back_value_for_value(bench: wb.Bench) -> None:
    n = len(samples())
    given = {
        "big": np.arange(n).astype(">i4") * 70_000,
        "t": np.arange(n, dtype=">f4") / 7,
        "T": np.full(n, -0.0),
        "pandas": pd.array(range(n), dtype="Int32"),
        "": np.arange(n, dtype=np.uint8),
        "a\"b'c]`[" + "x" * 300: np.arange(n) % 2 == 0,
    }
    frame = {**samples(), **given}
    made = bench.measurements.create(instance=bench.instances.get("a1"), name="m", time_series=frame)
    back = bench.measurements.time_series(made)
    assert list(back) == list(frame)
    for name, values in given.items():
        assert back[name].tolist() == values.tolist(), name
    assert np.signbit(back["T"]).all()


def test_a_list_names_first_and_gives_ids_last(bench: wb.Bench) -> None:
    columns = list(bench.measurements.list().columns)
    assert columns[:2] == ["name", "instance_name"]
    assert columns[-1].endswith("_id")
    assert columns.index("cycle_count") < columns.index("created_at") < columns.index("id")
    assert list(bench.measurements.list(fields=["id", "name"]).columns) == ["id", "name"]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda bench: bench.figure(None), "A recipe is a wb.Recipe.* this is None"),
        (lambda bench: bench.dataset(25), "A recipe is a wb.Recipe.* this is 25"),
        (lambda bench: bench.check(1.5), "A recipe is a wb.Recipe.* this is 1.5"),
        (lambda bench: bench.find(25), "such as 'cell 25'; this is 25"),
        (lambda bench: bench.search(None), "such as 'cell 25'; this is None"),
        (lambda bench: bench.analyse(None), "There is no analysis 'None'"),
        (lambda bench: bench.analyse(["retention"]), "There is no analysis .*'retention'"),
        (lambda bench: bench.analyse_on_arrival("yes"), "on=True or on=False; this is 'yes'"),
        (lambda bench: bench.exclude("a1", reason=None), "Say why it is excluded"),
    ],
)
def test_what_is_of_another_type_is_refused_in_words(
    ask: Callable[[wb.Bench], object], said: str, tmp_path: Path
) -> None:
    with wb.open(tmp_path / "lab.db") as bench, pytest.raises(wb.BadRequest, match=said):
        ask(bench)


def test_objects_show_themselves_in_short(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        made = bench.specifications.create(name="LG <M50>", ratings=RATINGS)
        assert repr(bench.specifications) == "<specifications: 1 record>"
        assert repr(bench.alerts) == "<alerts: 0 records>"
        assert "name='LG <M50>'" in repr(made)
        assert "None" not in repr(made)
        assert "LG &lt;M50&gt;" in made._repr_html_()
        assert repr(bench.find("M50")) == "1 of 1 hit for 'M50'\n  cell specification 'LG <M50>'"
        assert repr(bench.recompute(check=True)).startswith("Nothing to recompute")
        answer = bench.check_answer('{"say": "Nothing.", "draft": null}')
        assert repr(answer) == "CheckedAnswer(say='Nothing.', draft=None, is_sound=False)"
        plan = {"steps": {"cells": {"op": "list", "source": "instances"}}}
        recipe = wb.Recipe(plan=plan, transform="def transform(data, params):\n    return go.Figure()")
        assert repr(bench.figure(recipe).workbench).startswith("values: {}\nreads: {'steps': 1")
        plot = bench.dashboards.create("Mine").save("Cells", recipe)
        view = bench.show(plot)
        assert repr(view) == "<view of 'Cells'>"
        view.close()


def test_a_run_of_an_analysis_says_what_became_of_how_many() -> None:
    done = Analysed(
        "knee", 4, computed=["a", "b"], unchanged=1, stale=["a"], invalid={"b": "no knee", "c": "it ended"}
    )
    said = repr(done).splitlines()[0]
    assert said == (
        "knee: 2 computed (1 of them stale before, 1 of them without a result), 1 failed, 1 unchanged, of 4 tests."
    )
    assert repr(Analysed("knee", 1, unchanged=1)) == "knee: 0 computed, 1 unchanged, of 1 test."
    assert repr(Analysed("gitt")) == "gitt: there is no test to compute it of."


def test_many_tests_without_a_result_are_counted_with_what_lists_them() -> None:
    done = Analysed("knee", tests=12, invalid={f"test {n}": "no knee" for n in range(12)})
    assert repr(done).endswith("and 2 more; see .invalid")
    with typed_in("terminal"):
        assert repr(done).endswith("and 2 more; --json lists all")


def test_a_link_that_is_missing_has_the_name_that_people_give(tmp_path: Path) -> None:
    samples = {"Time [s]": [0.0, 1.0], "Current [A]": [0.0, 0.0], "Voltage [V]": [3.0, 3.0]}
    with wb.open(tmp_path / "lab.db") as bench:
        missing = "instance: 'instance' is missing: the name or the id of the cell instance."
        for given in ({"time_series": samples}, {"properties": {}}):
            with pytest.raises(wb.Invalid) as told:
                bench.measurements.create(name="1C", **given)
            assert str(told.value) == missing
        with pytest.raises(wb.Invalid, match="'specification' is missing: the name or the id of the cell spec"):
            bench.instances.create(name="c1")


def test_a_frame_is_not_a_file(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        for value in (pd.DataFrame({"Time [s]": [0.0]}), 7, ["a.csv", 7]):
            with pytest.raises(wb.BadRequest, match=r"Files are named by paths.*bench\.measurements\.create"):
                bench.ingest(value)


def test_a_folder_is_read_without_the_stores_in_it(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_bytes(b"no store")
    (tmp_path / "lab.db.txt").write_text("a note\n")
    with wb.open(tmp_path / "lab.db") as bench:
        bench.specifications.list()
        report = bench.ingest(tmp_path)
        assert {Path(path).name for path in report.skipped} == {"notes.db", "lab.db.txt"}


def test_what_a_run_would_compute_is_not_said_to_be_computed() -> None:
    """`workbench analyse knee --check` said that tests were computed, and computed none."""
    done = Analysed("knee", 2, computed=["a"], unchanged=1, stale=["a"])
    assert done.in_words(check=True) == "knee: 1 to compute (1 of them stale), 1 unchanged, of 2 tests."
