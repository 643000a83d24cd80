"""Which steps of a plan are said to show stored analyses that do not hold any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

import workbench as wb

AGEING = "M50-A-04_ageing"
OTHER = "M50-A-01_ageing"
SCRIPT = "def transform(data, params):\n    return {'data': [], 'layout': {}}\n"


def said(bench: wb.Bench, **steps: dict[str, Any]) -> list[str]:
    """The steps with the warning."""
    figure = bench.backend.figure({"plan": {"steps": steps}, "transform": SCRIPT}, {})
    return [str(one["step"]) for one in figure.warnings if one["code"] == "analysis_stale"]


def kept(bench: wb.Bench, test: str) -> str:
    records = bench.analyses.list(analysis_type="retention", measurement_ids=[bench.measurements.get(test).id])
    (id,) = records["id"]
    return str(id)


def listed(**more: Any) -> dict[str, Any]:
    return {"op": "list", "source": "analyses", "fields": ["name"], **more}


def test_a_list_without_ids_is_warned_of_the_records_that_it_shows_alone(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        bench.analyse("retention", {"batch": "A"})
        bench.exclude(AGEING, cycles=[5], reason="power cut")
        stale, fresh = (bench.measurements.get(name).id for name in (AGEING, OTHER))
        assert said(bench, kept=listed(where={"analysisType": "retention", "measurementIds": [fresh]})) == []
        assert said(bench, kept=listed(where={"measurementIds": [stale]})) == ["kept"]
        for test, steps in ((fresh, []), (stale, ["kept"])):
            tests = {"op": "list", "source": "measurements", "where": {"ids": [test]}}
            of = {"analysisType": "retention", "measurementIds": {"from": "tests", "column": "id"}}
            assert said(bench, tests=tests, kept=listed(where=of)) == steps
        shown = bench.analyses.list(analysis_type="retention")
        first = bool(shown["measurement_id"].iloc[0] == stale)
        assert said(bench, kept=listed(where={"analysisType": "retention"}, limit=1)) == ["kept"] * first


def test_what_the_warning_says_computes_also_a_test_that_a_user_named(demo_copy: Path) -> None:
    """A test of another kind was passed over for ever by the call without names, which the warning asks for."""
    shown = {"kept": listed(where={"analysisType": "retention"})}
    with wb.open(demo_copy) as bench:
        named = "M50-A-04_RPT0"
        assert "ageing" not in set(bench.kinds().set_index("measurement_name").loc[[named], "kind"])
        bench.analyse("retention", named)
        before = bench.analyses.get(kept(bench, named)).metadata["workbench"]["state"]
        bench.exclude(named, cycles=[0], reason="a bad contact")
        assert said(bench, **shown) == ["kept"]
        assert named in " ".join(bench.analyse("retention", check=True).stale)
        bench.analyse("retention")
        assert said(bench, **shown) == []
        assert bench.analyses.get(kept(bench, named)).metadata["workbench"]["state"] != before
        bench.measurements.update(AGEING, tags=["RPT"])  # its kind is another one from now on
        bench.exclude(AGEING, cycles=[5], reason="power cut")
        bench.analyse("retention")
        assert said(bench, **shown) == []


def test_the_warning_has_the_parameters_that_a_record_was_computed_with(demo_copy: Path) -> None:
    plan = {"steps": {"kept": listed(where={"analysisType": "retention"})}}
    with wb.open(demo_copy) as bench:
        bench.analyse("retention", AGEING, reference="rated")
        bench.exclude(AGEING, cycles=[5], reason="power cut")
        (warning,) = bench.dataset(plan).warnings
        assert "Compute again: bench.analyse('retention', reference='rated')." in warning["message"]
        bench.analyse("retention", reference="rated")
        assert bench.dataset(plan).warnings == []


def test_curves_of_analyses_that_are_named_are_warned_of(demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        bench.analyse("retention", {"batch": "A"})
        bench.exclude(AGEING, cycles=[5], reason="power cut")
        for test, steps in ((OTHER, []), (AGEING, ["curve"])):
            x, y, *_ = bench.analyses.table(kept(bench, test))
            curve = {"op": "series", "source": "analyses", "ids": [kept(bench, test)], "x": x, "columns": [y]}
            assert said(bench, curve=curve) == steps


def added(bench: wb.Bench, like: str, name: str, cell: str) -> None:
    samples: pd.DataFrame = bench.measurements.time_series(like)
    bench.measurements.create(
        name=name,
        instance=cell,
        measurement_type="time_series",
        time_series=samples,
        start_time="2033-01-01T00:00:00Z",
    )


def test_an_analysis_over_several_tests_does_not_hold_once_another_one_came(demo_copy: Path) -> None:
    modes = listed(where={"analysisType": "degradation_modes"})
    outliers = listed(where={"analysisType": "outliers"})
    with wb.open(demo_copy) as bench:
        bench.analyse("degradation_modes")
        first = [bench.measurements.get(f"M50-A-04_RPT{number}").id for number in range(2)]
        bench.analyse("degradation_modes", first, starts=2)  # the others were left out on purpose
        bench.analyse("outliers")
        assert said(bench, modes=modes, outliers=outliers) == []
        added(bench, "M50-A-01_HPPC_fresh", "M50-A-01_HPPC_again", "M50-A-01")  # of a kind that neither reads
        assert bench.analyse("degradation_modes", check=True).computed == []
        assert said(bench, modes=modes, outliers=outliers) == []
        added(bench, "M50-A-01_RPT1", "M50-A-01_RPT9", "M50-A-01")
        assert bench.analyse("degradation_modes", check=True).stale
        assert said(bench, modes=modes, outliers=outliers) == ["modes"]
        bench.analyse("degradation_modes")
        assert said(bench, modes=modes, outliers=outliers) == []
        added(bench, AGEING, "M50-A-01_ageing_again", "M50-A-01")
        assert bench.analyse("outliers", check=True).stale
        assert said(bench, modes=modes, outliers=outliers) == ["outliers"]
        bench.analyse("outliers")
        assert said(bench, modes=modes, outliers=outliers) == []
