"""Analyses are computed once, kept, found again, and computed anew when what they read has changed."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.local_and_remote import opened, sides

import workbench as wb
from workbench.analyses import background, run
from workbench.analyses.registry import ANALYSES
from workbench.analyses.run import KINDS_JOB
from workbench.battery.capacity.retention import retention
from workbench.errors import BadRequest, NotFound, StoreError
from workbench.store.db.main_file import MainFile

HPPC = "M50-A-01_HPPC_fresh"
AGEING = "M50-A-04_ageing"


def records(bench: wb.Bench, type: str) -> pd.DataFrame:
    return bench.analyses.list(analysis_type=type)


@pytest.mark.parametrize("where", ["near", "far"])
def test_a_result_is_kept_once_with_what_was_read(demo_copy: Path, where: str) -> None:
    with opened(demo_copy, where) as bench:
        first = bench.analyse("dcir", HPPC)
        assert (first.computed, first.unchanged, first.invalid) == ([HPPC], 0, {})
        again = bench.analyse("dcir", HPPC)
        assert (again.computed, again.unchanged) == ([], 1)
        (name,) = records(bench, "dcir")["name"]
        record = bench.analyses.get(name)
        known = record.metadata["workbench"]
        assert known["version"] == ANALYSES["dcir"].version
        assert known["valid"] is True
        assert known["parameters"]["soaked"] == 300.0
        (read,) = known["inputs"]
        assert read["name"] == HPPC
        assert read["rows"] == bench.measurements.get(HPPC).sample_count
        assert len(read["sha256"]) == 64
        assert "Voltage [V]" in read["columns"]
        assert 20 < 1000 * record.metadata["results"]["resistance_at_half"] < 30
        table = bench.analyses.table(name)
        assert len(table) == 18
        assert table["Resistance at 10 s [Ohm]"].notna().all()


def test_a_pulse_of_a_full_cell_gives_no_resistance_at_half() -> None:
    """The nearest pulse was taken, however far: of a real test with pulses at 0.94 and 0.95 the one at 0.94."""
    result = ANALYSES["dcir"].results["resistance_at_half"]
    table = pd.DataFrame(
        {"SOC": [0.94, 0.95], "Resistance at 10 s [Ohm]": [0.0207, 0.02], "Direction": "discharge", "Valid": True}
    )
    assert result(table) is None
    assert result(table.assign(SOC=[0.94, 0.41])) == 0.02


def test_the_kept_table_is_that_of_the_helper(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        bench.analyse("retention", AGEING)
        kept = bench.analyses.table(records(bench, "retention")["name"].iloc[0])
        helped = retention(bench.measurements.cycles(AGEING), rated=5.0)
        pd.testing.assert_frame_equal(kept[list(helped)], helped, check_dtype=False, check_names=False)


def test_other_parameters_are_another_record_and_unknown_ones_are_refused(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        bench.analyse("retention", AGEING)
        bench.analyse("retention", AGEING, reference="rated")
        assert len(records(bench, "retention")) == 2
        assert bench.analyse("retention", AGEING, reference="rated").unchanged == 1
        with pytest.raises(BadRequest, match=r"'retention' has no parameter 'referense'.*'reference'"):
            bench.analyse("retention", AGEING, referense="rated")
        with pytest.raises(BadRequest, match=r"as 'reference': it must be one of 'first'.*The default is"):
            bench.analyse("retention", AGEING, reference="frist")
        with pytest.raises(BadRequest, match=r"'dcir' cannot take 3 as 'at': it must be a list"):
            bench.analyse("dcir", at=3)
        with pytest.raises(
            BadRequest, match=r"'gitt': 'window' must be two numbers.*The default is \[1.0, 60.0\]"
        ):
            bench.analyse("gitt", window=[60.0, 1.0])
        with pytest.raises(BadRequest, match="'peukert': 'rated' must be a number above 0; it is -1"):
            bench.analyse("peukert", rated=-1)
        with pytest.raises(BadRequest, match=r"There is no analysis 'retantion'.*'retention'"):
            bench.analyse("retantion")
        with pytest.raises(NotFound):
            bench.analyse("retention", "no such test")


def test_a_result_is_stale_when_its_data_its_ratings_or_its_rule_change(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wb.open(demo_copy) as bench:
        bench.analyse("retention", AGEING)
        (id,) = records(bench, "retention")["id"]
        assert bench.analyse("retention", AGEING, check=True).computed == []
        bench.exclude(AGEING, cycles=[5], reason="power cut")
        stale = bench.analyse("retention", AGEING, check=True)
        assert stale.stale == [AGEING]
        assert bench.analyse("retention", AGEING).stale == [AGEING]
        assert records(bench, "retention")["id"].tolist() == [id], "the record is replaced, not doubled"
        table = bench.analyses.table(id).set_index("Cycle count")
        assert not table.loc[5, "Valid"]
        assert table.loc[[4, 6], "Valid"].all()
        of = bench.specifications.get("SIM M50 21700").ratings.model_dump()
        bench.specifications.update("SIM M50 21700", ratings={**of, "capacity": {"value": 4.8, "unit": "A.h"}})
        assert bench.analyse("retention", AGEING).stale == [AGEING]
        newer = ANALYSES["retention"].__class__(**{**vars_of("retention"), "version": 99})
        monkeypatch.setitem(ANALYSES, "retention", newer)
        assert bench.analyse("retention", AGEING).stale == [AGEING]
        assert bench.analyses.get(id).metadata["workbench"]["version"] == 99


def test_a_result_over_a_cell_is_stale_when_its_tests_have_another_order_or_name(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        tests = [bench.measurements.get(f"M50-A-01_RPT{number}").id for number in range(2)]
        first, second = tests
        bench.analyse("degradation_modes", tests, starts=2)
        assert bench.analyse("degradation_modes", tests, starts=2).unchanged == 2
        bench.measurements.update(first, start_time="2031-01-01T00:00:00Z", end_time=None)
        assert len(bench.analyse("degradation_modes", tests, starts=2).stale) == 2
        (record,) = [bench.analyses.get(id) for id in records(bench, "degradation_modes")["id"]]
        assert record.measurement_id == first, "it belongs to the test that is the newest now"
        table = bench.analyses.table(record)
        assert table["LLI [%]"].iloc[0] == 0
        assert table["Test"].tolist() == [bench.measurements.get(id).name for id in (second, first)]
        bench.measurements.update(second, name="Check-up")
        bench.analyse("degradation_modes", tests, starts=2)
        (record,) = [bench.analyses.get(id) for id in records(bench, "degradation_modes")["id"]]
        assert bench.analyses.table(record)["Test"].iloc[0] == "Check-up"


@pytest.mark.parametrize("where", ["near", "far"])
def test_a_figure_of_stored_analyses_says_which_do_not_hold_any_more(demo_copy: Path, where: str) -> None:
    fields = ["id", "measurement_name", "metadata.results.retention"]
    listed = {"op": "list", "source": "analyses", "where": {"analysisType": "retention"}, "fields": fields}
    config = {
        "plan": {"steps": {"kept": listed}},
        "transform": "def transform(data, params):\n    return {'data': [], 'layout': {}}\n",
    }

    def said(step: dict[str, object] = listed) -> list[str]:
        figure = bench.backend.figure({**config, "plan": {"steps": {"kept": step}}}, {})
        return [str(one["message"]) for one in figure.warnings if one["code"] == "analysis_stale"]

    with opened(demo_copy, where) as bench:
        bench.analyse("retention", {"batch": "A"})
        bench.analyse("dcir", HPPC)
        shown = bench.backend.figure(config, {})
        assert said() == []
        assert bench.backend.is_current(shown)
        bench.exclude(AGEING, cycles=[5], reason="power cut", name="cut")
        (message,) = said()
        assert message.startswith("A stored analysis is of data, ratings, exclusions or a rule that changed since")
        assert "bench.analyse('retention')" in message
        assert said({**listed, "where": {"analysisType": "dcir"}}) == []
        assert len(said({"op": "list", "source": "analyses", "fields": ["name"]})) == 1
        bench.include("cut")
        assert said() == []
        shown = bench.backend.figure(config, {})
        of = bench.specifications.get("SIM M50 21700").ratings.model_dump()
        bench.specifications.update("SIM M50 21700", ratings={**of, "capacity": {"value": 4.8, "unit": "A.h"}})
        assert not bench.backend.is_current(shown)
        assert said()
        assert said({**listed, "where": {"analysisType": "dcir"}})
        bench.analyse("retention", {"batch": "A"})
        assert said() == []


def small_cell(bench: wb.Bench, voltage: Sequence[float], current: Sequence[float]) -> str:
    """A test of a cell of 5 A.h whose samples are these."""
    ratings = {
        "capacity": {"value": 5, "unit": "A.h"},
        "voltage_min": {"value": 2.5, "unit": "who knows"},
        "voltage_max": {"value": 4.2, "unit": "V"},
    }
    kind = bench.specifications.create(name="Small", ratings=ratings)
    cell = bench.instances.create(name="S1", specification=kind)
    series = pd.DataFrame(
        {
            "Time [s]": [60.0 * place for place in range(len(voltage))],
            "Voltage [V]": voltage,
            "Current [A]": current,
            "Step count": [0, *np.cumsum(np.diff(current) != 0).tolist()],
        }
    )
    return bench.measurements.create(
        name="S1 test", instance=cell, measurement_type="time_series", time_series=series
    ).id


def rate(bench: wb.Bench, **ratings: Mapping[str, object]) -> None:
    of = bench.specifications.get("Small").ratings.model_dump()
    bench.specifications.update("Small", ratings={**of, **ratings})


def test_an_analysis_of_steps_is_stale_when_the_rating_changes_their_types(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        weak = [0.0] * 10 + [-0.0008] * 10 + [0.0] * 10 + [0.0008] * 10
        test = small_cell(bench, [3.7] * 40, weak)
        bench.analyse("capacity_by_step", test)
        (id,) = records(bench, "capacity_by_step")["id"]
        part = "CC discharge capacity [A.h]"
        assert bench.analyses.table(id)[part].sum() == 0
        rate(bench, capacity={"value": 0.1, "unit": "A.h"})  # 0.8 mA is a rest of 5 A.h, and not of 0.1 A.h
        assert bench.analyse("capacity_by_step", test).stale == ["S1 test"]
        assert bench.analyses.table(id)[part].sum() > 0


def test_an_analysis_of_cycles_is_stale_when_the_only_limit_changes(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        charge, discharge = [3.0 + 0.12 * n for n in range(11)], [4.2 - 0.12 * n for n in range(11)]
        test = small_cell(bench, [*charge, 4.1, *discharge, 3.0], [-1.0] * 11 + [0.0] + [1.0] * 11 + [0.0])
        assert bench.analyse("efficiency", test).computed == ["S1 test"]
        assert bench.analyse("efficiency", test, check=True).computed == []
        assert bench.measurements.cycles(test)["Complete"].isna().all()
        rate(bench, voltage_max={"value": 4.9, "unit": "V"})
        assert not bench.measurements.cycles(test)["Complete"].isna().any()
        assert bench.analyse("efficiency", test, check=True).stale == ["S1 test"]


def vars_of(type: str) -> dict[str, object]:
    one = ANALYSES[type]
    return {name: getattr(one, name) for name in one.__dataclass_fields__}


def test_a_record_made_by_hand_is_never_changed(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        own = bench.analyses.create(name="mine", measurement=AGEING, analysis_type="retention", metadata={"a": 1})
        bench.analyse("retention", AGEING)
        bench.analyse("retention", AGEING)
        assert bench.analyses.get("mine").metadata == {"a": 1}
        assert len(records(bench, "retention")) == 2
        assert bench.analyses.get("mine").updated_at == own.updated_at


def test_one_test_that_gives_nothing_does_not_stop_the_others(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        done = bench.analyse("dcir", [HPPC, "PCH-01_EIS_fresh"])
        assert len(done.computed) == 2
        assert list(done.invalid) == ["PCH-01_EIS_fresh"]
        assert done.invalid["PCH-01_EIS_fresh"]
        kept = {bench.analyses.get(name).metadata["workbench"]["valid"] for name in records(bench, "dcir")["name"]}
        assert kept == {True, False}


def test_a_run_that_was_stopped_goes_on_where_it_was(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        stop, seen = threading.Event(), []

        def until_third(done: int, of: int, name: str) -> None:
            seen.append(name)
            if len(seen) == 3:
                stop.set()

        first = bench.analyse("capacity_by_step", {"batch": "A"}, progress=until_third, cancel=stop)
        assert first.cancelled
        assert len(first.computed) == 3
        rest = bench.analyse("capacity_by_step", {"batch": "A"})
        assert not rest.cancelled
        assert rest.unchanged == 3
        assert not set(rest.computed) & set(first.computed)
        assert len(records(bench, "capacity_by_step")) == rest.tests


@pytest.mark.long
def test_a_test_that_is_deleted_meanwhile_leaves_the_others_kept(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wb.open(demo_copy) as bench:
        bench.analyse("kinds")
        whole = run.keep

        def deleted_first(store: Any, scope: Any, actor: str, computed: Any) -> list[bool]:
            monkeypatch.setattr(run, "keep", whole)
            bench.measurements.delete(computed[1].measurement)
            return whole(store, scope, actor, computed)

        monkeypatch.setattr(run, "keep", deleted_first)
        done = bench.analyse("capacity_by_step", {"batch": "A"})
        assert not done.invalid
        assert len(done.computed) == done.tests - 1
        assert len(records(bench, "capacity_by_step")) == done.tests - 1
        assert bench.verify() == []


def test_a_comparison_whose_run_was_stopped_is_not_fresh(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with wb.open(demo_copy) as bench:
        bench.analyse("kinds")
        whole, calls = run.keep, [0]

        def full_disk(*given: Any) -> list[bool]:
            calls[0] += 1
            if calls[0] == 2:
                raise StoreError("The disk is full.")
            return whole(*given)

        monkeypatch.setattr(run, "keep", full_disk)
        with pytest.raises(StoreError, match="full"):
            bench.analyse("outliers")
        monkeypatch.setattr(run, "keep", whole)
        tests = bench.analyse("outliers", check=True)
        assert 0 < len(records(bench, "outliers")) < tests.tests
        assert (len(tests.computed), tests.stale) == (tests.tests, [])
        bench.analyse("outliers")
        assert len(records(bench, "outliers")) == tests.tests
        assert bench.analyse("outliers").computed == []


def test_two_runs_at_once_keep_each_record_once(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with wb.open(demo_copy) as bench, wb.open(demo_copy) as other:
        bench.analyse("kinds")
        whole = run.keep

        def second(store: Any, scope: Any, actor: str, computed: Any) -> list[bool]:
            monkeypatch.setattr(run, "keep", whole)
            other.analyse("retention", [computed[0].measurement])
            older = [replace(computed[1], key=replace(computed[1].key, version=0))]
            assert whole(store, scope, actor, older) == [True]
            return whole(store, scope, actor, computed)

        monkeypatch.setattr(run, "keep", second)
        done = bench.analyse("retention", {"batch": "A"})
        assert len(done.computed) == done.tests > 2
        assert records(bench, "retention")["measurement_id"].is_unique
        assert bench.analyse("retention", {"batch": "A"}).computed == []
        assert bench.verify() == []


def test_records_that_are_there_twice_become_one(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        bench.analyse("retention", AGEING)
        (id,) = records(bench, "retention")["id"]
        record = bench.analyses.get(id)
        bench.analyses.create(
            name="again", measurement=AGEING, analysis_type="retention", metadata=record.metadata
        )
        assert len(records(bench, "retention")) == 2
        assert bench.analyse("retention", AGEING).stale == []
        assert len(records(bench, "retention")) == 1
        assert bench.analyse("retention", AGEING).computed == []


def test_tests_are_kept_in_few_transactions(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each commit waits for the disk."""
    commits: list[int] = []
    whole = MainFile.keep_note

    def counted(main: MainFile) -> None:
        commits.append(1)
        whole(main)

    with wb.open(demo_copy) as bench:
        bench.analyse("kinds")
        monkeypatch.setattr(MainFile, "keep_note", counted)
        monkeypatch.setattr(run, "KEPT_AFTER", 600)
        done = bench.analyse("capacity_by_step", {"batch": "A"})
        assert len(done.computed) > run.KEPT_TOGETHER
        assert len(commits) == -(-len(done.computed) // run.KEPT_TOGETHER)
        commits.clear()
        assert bench.analyse("capacity_by_step", {"batch": "A"}).computed == []
        assert commits == []


def test_whoever_waits_for_slow_tests_sees_each_that_is_done(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    with wb.open(demo_copy) as bench:
        bench.analyse("kinds")
        monkeypatch.setattr(run, "KEPT_AFTER", 0)  # as if each took long
        done = bench.analyse("capacity_by_step", {"batch": "A"}, progress=lambda done, of, name: told.append(done))
    assert told == [*range(len(done.computed)), len(done.computed)]


def test_kinds_are_kept_and_lists_show_them(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        assert set(bench.measurements.list(fields=["kinds"])["kinds"]) == {""}
        assert len(bench.analyse(KINDS_JOB).computed) == 77
        shown = bench.measurements.list(fields=["name", "kinds"]).set_index("name")["kinds"]
        assert [shown["M50-A-01_RPT0"], shown[HPPC]] == ["rpt", "hppc"]
        assert bench.analyse(KINDS_JOB).computed == []
        bench.measurements.update(HPPC, tags=["ageing"])
        assert bench.analyse(KINDS_JOB).stale == [HPPC]
        assert bench.measurements.list(name=HPPC, fields=["kinds"])["kinds"].tolist() == ["ageing"]


def test_a_cell_is_read_over_all_its_check_ups(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        tests = [f"M50-A-01_RPT{number}" for number in range(4)]
        bench.analyse("degradation_modes", tests, starts=4)
        (name,) = records(bench, "degradation_modes")["name"]
        record = bench.analyses.get(name)
        assert record.measurement_name == tests[-1]
        assert [one["name"] for one in record.metadata["workbench"]["inputs"]] == tests
        assert 3.5 < record.metadata["results"]["lli"] < 6
        bench.specifications.update("SIM M50 21700", anode_id=None)
        done = bench.analyse("degradation_modes", tests, starts=4)
        assert "has no anode" in next(iter(done.invalid.values()))


def test_runs_over_http_are_begun_asked_for_and_stopped(demo_copy: Path) -> None:
    with sides(demo_copy) as both:
        answer = both.post("analyses/runs", {"type": "retention", "where": {"batch": "A"}})
        assert answer.status_code == 202
        run = answer.json()
        assert [run["state"], run["type"]] == ["running", "retention"]
        found = both.far.analyse("retention", {"batch": "A"})
        assert found.tests == len(both.near.measurements.list(batch="A"))
        ended = both.far.backend.stop_run(run["id"])
        assert ended["state"] in ("running", "done", "cancelled")
        with pytest.raises(NotFound):
            both.far.backend.run_state("0" * 32)
        viewer = both.connect(both.person("eye@lab", role="Member", everywhere="project-viewer"))
        assert len(viewer.kinds()) == 77
        with pytest.raises(wb.errors.Forbidden):
            viewer.analyse("retention")


def test_a_run_whose_process_ended_is_said_to_be_stopped(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with wb.open(demo_copy) as bench:
        run = bench.backend.begin_run("kinds")
        done = threading.Event()
        while background.find(bench.backend.store, bench.backend.scope, run["id"])["state"] == "running":
            done.wait(0.02)
        while run["id"] in background._running:  # its thread goes on for a moment
            done.wait(0.02)
        place = Path(f"{bench.backend.store.path}.runs") / f"{run['id']}.json"
        place.write_text(place.read_text().replace('"state":"done"', '"state":"running"'))
        monkeypatch.setattr(background, "SILENT_SECONDS", -1.0)
        found = bench.backend.run_state(run["id"])
        assert found["state"] == "failed"
        assert "goes on with what is missing" in found["error"]


def test_every_analysis_is_declared_whole() -> None:
    for type, one in ANALYSES.items():
        assert one.type == type
        assert one.question.endswith("?")
        assert one.version >= 1
        assert one.needs or one.reads != "samples"
        assert not set(one.given) & set(one.fixed)


def test_a_record_of_a_comparison_names_all_tests_that_were_read(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        bench.analyse("outliers")
        known = [bench.analyses.get(id).metadata["workbench"] for id in records(bench, "outliers")["id"]]
        assert len({repr(one["inputs"]) for one in known}) == 1
        assert len(known[0]["inputs"]) == len(known[0]["sources"]) >= len(known) > 3
        assert all("others" not in one for one in known)


def test_where_they_are_many_it_names_those_of_its_own_cell(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.analyses.computing.MOST_NAMED", 3)
    with wb.open(demo_copy) as bench:
        bench.analyse("outliers")
        found = [bench.analyses.get(id) for id in records(bench, "outliers")["id"]]
        known = {record.instance_name: record.metadata["workbench"] for record in found}
        named = {cell: [one["measurement_id"] for one in of["inputs"]] for cell, of in known.items()}
        every = [id for ids in named.values() for id in ids]
        assert len(every) == len(set(every)) > 3
        for cell, of in known.items():
            assert {bench.measurements.get(id).instance_name for id in named[cell]} == {cell}
            assert [source["measurement_id"] for source in of["sources"]] == named[cell]
            assert of["others"]["tests"] == len(every) - len(named[cell])
        assert len({(of["state"], of["others"]["sha256"]) for of in known.values()}) == 1
        assert bench.analyse("outliers").computed == []
