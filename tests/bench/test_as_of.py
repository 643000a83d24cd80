"""``as_of``: what was drawn then is drawn again to the byte, where tests only grew since; what did not is said."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2 as httpx
import pytest
from support.growing_case import EXTENDED, PLOTS, Growing, drawn, samples
from support.local_and_remote import Sides, sides

import workbench as wb
from workbench.errors import BadRequest, Invalid
from workbench.messages import spaced
from workbench.moments import micros_of
from workbench.table import from_micros


@dataclass
class Stage:
    """What was drawn when the tests had grown so far, when, and a file of it."""

    moment: int
    figures: dict[str, bytes]
    file: Path


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sides, list[Stage]]]:
    """A store whose tests grew four times; each stage was drawn when it was the present."""
    folder = tmp_path_factory.mktemp("grown")
    with sides(folder / "lab.db") as lab:
        growing = Growing(lab.near, folder)
        stages = []
        for stage in range(len(EXTENDED)):
            if stage:
                growing.grow()
            figures = {name: drawn(lab.near, name) for name in PLOTS}
            moment = max(one.at_hand.data_at for one in figures.values())  # type: ignore[union-attr, type-var]
            file = folder / f"{stage}.html"
            lab.near.export(growing.board.plot("steps"), file, protected=False)
            stages.append(Stage(moment, {name: one.figure for name, one in figures.items()}, file))  # type: ignore[arg-type]
        cell = lab.near.instances.create(name="Later", specification="M50")
        lab.near.measurements.create(instance_id=cell.id, name="later", time_series=samples(100))
        yield lab, stages


@pytest.mark.parametrize("where", ["near", "far"])
@pytest.mark.parametrize("plot", PLOTS)
def test_a_figure_as_of_each_stage_has_its_bytes(grown: tuple[Sides, list[Stage]], where: str, plot: str) -> None:
    lab, stages = grown
    bench = lab.near if where == "near" else lab.far
    assert len({stage.figures[plot] for stage in stages}) == len(stages)
    for stage in stages:
        again = drawn(bench, plot, stage.moment)
        assert again.figure == stage.figures[plot]
        assert [one for one in again.warnings if one["code"] == "changed_since"] == []


@pytest.mark.parametrize("plot", PLOTS)
def test_over_http_too(grown: tuple[Sides, list[Stage]], plot: str) -> None:
    lab, stages = grown
    record = lab.near.dashboards.get("Ageing").plot(plot).record
    path = f"{lab.url}/projects/{record.project_id}/dashboards/{record.dashboard_id}/plots/{record.id}/figure"
    for stage in stages:
        moment = from_micros(stage.moment).isoformat()
        found = httpx.get(path, params={"as_of": moment}, headers={"X-API-Key": lab.key}, timeout=120)
        assert found.status_code == 200, found.text
        assert stage.figures[plot] in found.content


def test_what_was_drawn_says_when(grown: tuple[Sides, list[Stage]]) -> None:
    """A moment is a time, a day, a figure, its passport or an exported file."""
    lab, stages = grown
    plot = lab.near.dashboards.get("Ageing").plot("steps")
    wanted = stages[1].figures["steps"]
    opened = wb.open_figure(stages[1].file)
    live = plot.figure(protected=False, as_of=stages[1].moment)
    for bench in (lab.near, lab.far):
        for moment in (stages[1].file, str(stages[1].file), opened, opened.passport, live):
            shown = bench.dashboards.get("Ageing").plot("steps").figure(protected=False, as_of=moment)
            assert shown.workbench.answer is not None
            assert shown.workbench.answer.figure == wanted
    assert live.workbench.passport.data_at == stages[1].moment
    assert opened.passport.data_at is not None
    today = datetime.now(UTC).date()
    now = lab.near.figure(plot, protected=False)
    assert plot.figure(protected=False, as_of=today).to_dict() == now.to_dict()
    empty = plot.figure(protected=False, as_of=datetime(2000, 1, 1, tzinfo=UTC))
    assert [len(trace.y or ()) for trace in empty.data] == [0] * len(empty.data)


def test_records_of_later_are_hidden(grown: tuple[Sides, list[Stage]]) -> None:
    lab, stages = grown
    recipe = PLOTS["steps"]
    for bench in (lab.near, lab.far):
        then = bench.dataset({"plan": recipe["plan"]}, as_of=stages[-1].moment)["tests"]
        now = bench.dataset({"plan": recipe["plan"]})["tests"]
        assert set(now["name"]) - set(then["name"]) == {"later"}
        counts = [
            bench.dataset({"plan": recipe["plan"]}, as_of=stage.moment)["tests"]["sample_count"].tolist()[0]
            for stage in stages
        ]
        assert counts == list(EXTENDED)


def test_zoom_reads_the_samples_of_then(grown: tuple[Sides, list[Stage]]) -> None:
    lab, stages = grown
    recipe = {
        "plan": PLOTS["curves"]["plan"],
        "transform": (
            "def transform(data, params):\n"
            "    frame = next(iter(data['curves'].values()))\n"
            "    return {'data': [{'x': frame['Time [s]'].tolist(), 'y': frame['Voltage [V]'].tolist()}]}\n"
        ),
    }
    recipe["plan"]["steps"]["curves"]["columns"] = ["Voltage [V]", "Current [A]"]
    end = EXTENDED[2] * 2.0
    for bench in (lab.near, lab.far):
        found = bench.backend.as_of(stages[2].moment).detail(
            recipe, {}, traces=[0], x=[end - 400, end + 4000], width=2000, protected=False
        )
        assert max(found[0].x) == end - 2.0
        assert found[0].of >= 199


def test_a_change_by_a_person_is_said_and_a_replaced_series_refused(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        growing = Growing(bench, tmp_path)
        before = drawn(bench, "steps")
        moment = before.at_hand.data_at  # type: ignore[union-attr]
        assert moment is not None
        growing.grow()
        bench.measurements.update(growing.id, notes="opened")
        changed = drawn(bench, "steps", moment)
        assert changed.figure == before.figure
        (said,) = [one["message"] for one in changed.warnings if one["code"] == "changed_since"]
        assert "'RPT'" in said
        with bench.backend.store.series.writer(growing.id) as writer:  # type: ignore[attr-defined]
            table = bench.backend.store.series.read(growing.id, scope=bench.backend.scope)  # type: ignore[attr-defined]
            writer.add(table.slice(5, table.n))
            writer.publish()
        with pytest.raises(Invalid, match=r"The samples of 'RPT' as of .* are not kept: they were replaced since"):
            drawn(bench, "curves", moment)


def test_what_was_deleted_since_is_said(tmp_path: Path) -> None:
    """Nothing is left of a deleted record, so the plan of then gives other rows; only records that it shows count."""
    plan = {
        "steps": {
            "tests": {"op": "list", "source": "measurements", "where": {"name": "A"}, "fields": ["id"]},
            "cycles": {
                "op": "summary",
                "dataset": "cycles",
                "ids": {"from": "tests", "column": "id"},
                "columns": ["Complete"],
            },
        }
    }
    with sides(tmp_path / "lab.db") as lab:
        bench = lab.near
        growing = Growing(bench, tmp_path)
        cell = bench.measurements.get(growing.id).instance_id
        for name in ("A", "B"):
            bench.measurements.create(instance_id=cell, name=name, time_series=samples(100))
        bench.exclude("A", reason="a bad contact", name="out")
        bench.exclude("B", reason="a bad contact", name="of another test")
        moment = bench.backend.store.latest()  # type: ignore[attr-defined]
        assert not bench.dataset(plan)["cycles"]["Complete"].any()
        assert bench.dataset(plan, as_of=moment).warnings == []
        bench.include("of another test")
        later = bench.measurements.create(instance_id=cell, name="later", time_series=samples(100))
        bench.measurements.delete(later)
        assert bench.dataset(plan, as_of=moment).warnings == [], "neither was shown then"
        bench.include("out")
        for side in (lab.near, lab.far):
            (warning,) = side.dataset(plan, as_of=moment).warnings
            assert warning["code"] == "changed_since"
            assert "1 analysis of type 'exclusion', there at 20" in warning["message"]
        assert bench.dataset(plan).warnings == []
        bench.measurements.delete("B")
        tests = {"steps": {"tests": {"op": "list", "source": "measurements", "fields": ["name"]}}}
        (warning,) = bench.dataset(tests, as_of=moment).warnings
        assert "1 measurement" in warning["message"]
        assert "was deleted since and cannot come back" in warning["message"]


def test_counters_of_a_cycler_are_those_of_then(tmp_path: Path) -> None:
    """A file with counters grows inside a step: what it counted by then is kept, and not what came later."""
    rows = samples(1200)
    hours = rows["Time [s]"].diff().fillna(0) / 3600
    rows["Discharge capacity [A.h]"] = (rows["Current [A]"].clip(lower=0) * hours).cumsum()
    rows["Charge capacity [A.h]"] = (-rows["Current [A]"].clip(upper=0) * hours).cumsum()
    rows = rows.rename(columns={"Step count": "Step from cycler"})
    path = tmp_path / "counts.csv"
    with wb.open(tmp_path / "lab.db") as bench:
        board = bench.dashboards.create("Ageing")
        board.save("steps", PLOTS["steps"])
        before = []
        for cut in (90, 300, 701, 1000, 1200):
            rows[:cut].to_csv(path, index=False)
            bench.ingest(path)
            before.append(drawn(bench, "steps"))
        for one in before:
            again = drawn(bench, "steps", one.at_hand.data_at)  # type: ignore[union-attr]
            assert again.figure == one.figure
            assert again.warnings == one.warnings


def test_what_an_older_version_stored_is_drawn_with_a_warning(tmp_path: Path) -> None:
    """It noted how many samples there were, and not what they were."""
    with wb.open(tmp_path / "lab.db") as bench:
        growing = Growing(bench, tmp_path)
        before = drawn(bench, "steps")
        store = bench.backend.store  # type: ignore[attr-defined]
        with store.transaction() as db:
            found = db.execute("select owner, dataset, time, revision, rows, rule from series_log").fetchall()
            for owner, dataset, *entry in found:
                entry = entry if entry[3] is not None else entry[:3]
                crc = zlib.crc32(f"{owner}\0{dataset}\0{tuple(entry)}".encode())
                db.execute(
                    "update series_log set content = null, layout = null, tail = null, crc = ? "
                    "where owner = ? and dataset = ?",
                    (crc, owner, dataset),
                )
        growing.grow()
        again = drawn(bench, "steps", before.at_hand.data_at)  # type: ignore[union-attr]
        assert again.figure == before.figure
        (said,) = [one["message"] for one in again.warnings if one["code"] == "changed_since"]
        assert "It is not certain" in said


def test_the_past_cannot_be_changed(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        growing = Growing(bench, tmp_path)
        past = wb.Bench(bench.backend.as_of(micros_of(datetime.now(UTC) + timedelta(days=1))))
        with pytest.raises(BadRequest, match="as they were"):
            past.measurements.update(growing.id, notes="no")
        with pytest.raises(BadRequest, match="as they were"):
            past.measurements.delete(growing.id)
        assert bench.measurements.get(growing.id).notes is None


def test_why_changed_names_the_tests_and_by_how_much(grown: tuple[Sides, list[Stage]]) -> None:
    lab, stages = grown
    plot = lab.near.dashboards.get("Ageing").plot("curves")
    one, other = (plot.figure(protected=False, as_of=stages[n].moment) for n in (0, 3))
    said = str(wb.why_changed(one, other))
    assert "data: 'RPT' (" in said
    assert f"in 'curves' grew from {spaced(9000)} to {spaced(40_000)} samples, by {spaced(31_000)}" in said
    plot = lab.near.dashboards.get("Ageing").plot("cycles")
    one, other = (plot.figure(protected=False, as_of=stages[n].moment) for n in (0, 3))
    said = str(wb.why_changed(one, other))
    assert "data: 'RPT' (" in said
    assert "in 'cycles' grew from 18 to 80 rows, by 62" in said


@pytest.mark.parametrize("day", ["2026-01-31", "20260131", " 2026-01-31 ", "2026-W05-6", "2026W056"])
def test_a_day_counts_to_its_end_in_each_of_its_forms(day: str) -> None:
    assert micros_of(day) == micros_of("2026-01-31T23:59:59.999999Z")


# A number of seconds or milliseconds would be a day of 1970, when no store had anything.
@pytest.mark.parametrize(
    "moment",
    [
        *("last week", True, "2026-13-01", -5, "9" * 30, 5, 1_769_860_800, "1769860800", 1_769_860_800_000),
        pytest.param("1" * 5000, id="more digits than Python reads"),
    ],
)
def test_what_is_no_moment_is_refused(moment: str | int) -> None:
    with pytest.raises(BadRequest, match="is not a moment"):
        micros_of(moment)
