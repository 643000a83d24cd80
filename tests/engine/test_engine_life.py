"""Columns over the life of a cell: exact, in every step that can name them, and never stale."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.cycling.life import Life, OneTest, lives
from workbench.errors import Invalid
from workbench.store.scope import Scope
from workbench.store.series.series import Series
from workbench.table import Table

COLUMNS = [
    "Cycle in life",
    "Time in life [d]",
    "Capacity throughput in life [A.h]",
    "Energy throughput in life [W.h]",
]


def frame(cycles: int) -> pd.DataFrame:
    """One hour out at 1 A and one hour in, in each cycle: 2 A.h and 7.2 W.h of throughput."""
    t = np.arange(0.0, cycles * 7200, 60.0)
    half = (t // 3600).astype(int)
    return pd.DataFrame(
        {
            "Time [s]": t,
            "Current [A]": np.where(half % 2, -1.0, 1.0),
            "Voltage [V]": 3.6 - np.where(half % 2, -1, 1) * (t % 3600) / 36000,
            "Step count": half,
            "Cycle count": half // 2,
            "Cycle from cycler": half // 2 + 1,
        }
    )


def day(number: int) -> dt.datetime:
    return dt.datetime(2026, 3, number, tzinfo=dt.UTC)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        ratings = {
            "capacity": {"value": 5.0, "unit": "A.h"},
            "voltage_min": {"value": 2.5, "unit": "V"},
            "voltage_max": {"value": 4.2, "unit": "V"},
        }
        opened.specifications.create(name="s", ratings=ratings)
        for cell in ("c1", "c2"):
            opened.instances.create(name=cell, specification="s")
        for name, cycles, start in (("second", 3, day(3)), ("first", 2, day(1)), ("third", 1, day(8))):
            opened.measurements.create(
                instance="c1", name=name, time_series=frame(cycles), start_time=start, sign="discharge"
            )
        opened.measurements.create(instance="c2", name="other", time_series=frame(4), sign="discharge")
        opened.measurements.create(instance="c1", name="note")
        yield opened


def plan(dataset: str = "cycles", name: str | None = None, columns: list[str] | None = None) -> dict[str, Any]:
    where = {"name": name} if name else {"measurementType": "time_series"}
    cells = {"op": "list", "source": "measurements", "where": where, "fields": ["id", "name"]}
    ids = {"from": "m", "column": "id"}
    read = {"op": "summary", "dataset": dataset, "ids": ids, "columns": columns or COLUMNS}
    return {"plan": {"steps": {"m": cells, "rows": read}}}


def by_name(bench: wb.Bench, rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    names = bench.measurements.list().set_index("id")["name"]
    return dict(tuple(rows.groupby(rows["measurement_id"].map(names))))


def test_cycles_are_counted_through_all_tests(bench: wb.Bench) -> None:
    rows = by_name(bench, bench.dataset(plan())["rows"])
    assert rows["first"]["Cycle in life"].tolist() == [0, 1]
    assert rows["second"]["Cycle in life"].tolist() == [2, 3, 4]
    assert rows["third"]["Cycle in life"].tolist() == [5]
    assert rows["second"]["Time in life [d]"].tolist() == pytest.approx([2.0, 2 + 1 / 12, 2 + 2 / 12])
    passed = [*rows["first"][COLUMNS[2]], *rows["second"][COLUMNS[2]], *rows["third"][COLUMNS[2]]]
    own = bench.measurements.cycles("first")["Capacity throughput [A.h]"].tolist()
    assert passed[:2] == own
    assert np.diff(passed) == pytest.approx(np.full(5, own[0]))
    assert rows["other"]["Cycle in life"].tolist() == [0, 1, 2, 3]
    assert rows["other"]["Time in life [d]"].isna().all()


def test_steps_stand_in_the_same_life(bench: wb.Bench) -> None:
    steps = by_name(bench, bench.dataset(plan("steps"))["rows"])["second"]
    cycles = by_name(bench, bench.dataset(plan())["rows"])["second"]
    assert steps["Cycle in life"].tolist() == [2, 2, 3, 3, 4, 4]
    for column in COLUMNS[2:]:
        assert steps[column].tolist()[1::2] == pytest.approx(cycles[column].tolist())
    assert bench.measurements.steps("second", life=True)[COLUMNS[0]].tolist() == steps[COLUMNS[0]].tolist()
    assert bench.measurements.cycles("second", life=True)[COLUMNS[2]].tolist() == cycles[COLUMNS[2]].tolist()


def test_a_series_over_life(bench: wb.Bench) -> None:
    series = {
        "op": "series", "source": "measurements", "ids": {"from": "m", "column": "id"}, "x": "Time in life [d]",
        "columns": ["Voltage [V]", "Cycle in life", "Time [s]"],
    }  # fmt: skip
    recipe = plan(name="second")
    recipe["plan"]["steps"]["rows"] = series
    (found,) = bench.dataset(recipe)["rows"].values()
    whole = bench.measurements.time_series("second")
    assert found["Time in life [d]"].to_numpy() == pytest.approx(2 + whole["Time [s]"].to_numpy() / 86400)
    assert found["Cycle in life"].tolist() == (whole["Cycle count"] + 2).tolist()
    series["window"] = {"min": 2.05, "max": 2.15}
    (part,) = bench.dataset(recipe)["rows"].values()
    inside = whole["Time [s]"].between(0.05 * 86400, 0.15 * 86400)
    assert part["Time [s]"].tolist() == whole["Time [s]"][inside].tolist()
    for value in found["Time in life [d]"].iloc[[1, 60, -2]]:
        for least, most in ((value, value), (np.nextafter(value, 9), 9), (0, np.nextafter(value, 0))):
            series["window"] = {"min": float(least), "max": float(most)}
            (part,) = bench.dataset(recipe)["rows"].values()
            inside = found["Time in life [d]"].between(least, most)
            assert part["Time [s]"].tolist() == found["Time [s]"][inside].tolist(), "exact to the last bit"
    del series["window"]
    series["max_points"] = 50
    (few,) = bench.dataset(recipe)["rows"].values()
    assert len(few) <= 50
    assert few["Time in life [d]"].to_numpy() == pytest.approx(2 + few["Time [s]"].to_numpy() / 86400)
    series |= {"x": "Cycle in life", "columns": ["Voltage [V]"], "window": {"min": 3, "max": 3}}
    (cycle,) = bench.dataset(recipe)["rows"].values()
    assert set(cycle["Cycle in life"]) == {3}


def counted(cycles: int) -> pd.DataFrame:
    """As ``frame``, with counters that begin anew in each step, and a spectrum in the middle of every discharge."""
    made = frame(cycles)
    made["Frequency [Hz]"] = np.nan
    passed = made.groupby("Step count")["Time [s]"].transform(lambda t: (t - t.iloc[0]) / 3600)
    charges = made["Current [A]"] < 0
    for word, mine in (("Discharge", ~charges), ("Charge", charges)):
        made[f"{word} capacity [A.h]"] = np.where(mine, passed, 0.0)
        made[f"{word} energy [W.h]"] = np.where(mine, 3.6 * passed, 0.0)
    spectrum = made.index % 120 == 30
    for column in ("Current [A]", "Voltage [V]", "Time [s]", *(name for name in made if " capacity " in name)):
        made.loc[spectrum, column] = np.nan
    made.loc[spectrum, "Frequency [Hz]"] = 10.0
    return made


def throughput_of(bench: wb.Bench, name: str, **more: Any) -> pd.DataFrame:
    recipe = plan(name=name)
    recipe["plan"]["steps"]["rows"] = {
        "op": "series", "source": "measurements", "ids": {"from": "m", "column": "id"}, "x": COLUMNS[2],
        "columns": ["Time [s]", "Voltage [V]"], **more,
    }  # fmt: skip
    (found,) = bench.dataset(recipe)["rows"].values()
    return found


def test_a_series_tells_what_its_cell_had_passed_at_each_sample(bench: wb.Bench) -> None:
    start = day(20)
    bench.measurements.create(
        instance="c1", name="counted", time_series=counted(3), start_time=start, sign="discharge"
    )
    before = bench.measurements.cycles("third", life=True)[COLUMNS[2]].iloc[-1]
    whole = bench.measurements.time_series("counted")
    found = throughput_of(bench, "counted", columns=["Step count", *COLUMNS[2:]])
    steps = bench.measurements.steps("counted", life=True)
    for column in COLUMNS[2:]:
        ends = found.groupby("Step count")[column].last()
        assert ends.tolist() == steps[column].tolist()
    known = found[COLUMNS[2]].notna()
    assert known.tolist() == whole["Discharge capacity [A.h]"].notna().tolist()
    own = whole["Discharge capacity [A.h]"] + whole["Charge capacity [A.h]"]
    passed = own.groupby(whole["Step count"]).last().cumsum().shift(fill_value=0.0)
    truth = before + own + whole["Step count"].map(passed)
    assert found[COLUMNS[2]][known].to_numpy() == pytest.approx(truth[known].to_numpy(), rel=1e-14)


@pytest.mark.parametrize("probe", [2, 7, 4096])
def test_a_window_of_throughput_is_found_without_reading_all(
    probe: int, bench: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.cell_life._PROBE", probe)
    bench.measurements.create(
        instance="c1", name="counted", time_series=counted(3), start_time=day(20), sign="discharge"
    )
    whole = throughput_of(bench, "counted")
    x = whole[COLUMNS[2]]
    values = x.dropna()
    read: list[int] = []
    plain = Series.read

    def watched(self: Series, owner: str, columns: list[str], rows: tuple[int, int], *, scope: Scope) -> Table:
        read.append(rows[1] - rows[0])
        return plain(self, owner, columns, rows, scope=scope)

    monkeypatch.setattr(Series, "read", watched)
    for low, high in (
        (None, values.iloc[100]), (values.iloc[100], values.iloc[200]), (values.iloc[31] - 1e-9, None), (0, 1e9),
        (values.iloc[59] + 1e-9, values.iloc[60] - 1e-9), (values.iloc[60], values.iloc[60]), (1e9, None),
        (None, 0.0), (values.iloc[-1], None), (None, values.iloc[0]),
    ):  # fmt: skip
        part = throughput_of(bench, "counted", window={"min": low, "max": high})
        inside = x.between(-np.inf if low is None else low, np.inf if high is None else high)
        assert part["Voltage [V]"].tolist() == whole["Voltage [V]"][inside].tolist(), (low, high)
        assert part[COLUMNS[2]].tolist() == x[inside].tolist()
    assert max(read) <= max(probe, 1)
    few = throughput_of(bench, "counted", max_points=40, window={"min": values.iloc[10]})
    assert 20 <= len(few) <= 40
    assert few[COLUMNS[2]].iloc[[0, -1]].tolist() == [values.iloc[10], values.iloc[-1]]


@pytest.mark.parametrize(("most", "complete"), [(347, True), (346, False), (4, False), (1, False)])
def test_a_window_of_throughput_holds_only_samples_that_have_one(
    most: int, complete: bool, bench: wb.Bench
) -> None:
    series = counted(3)[:350]
    series["Voltage [V]"] = 3 + (np.arange(len(series)) * 7919 + 500) % 997 / 1000  # in no order
    bench.measurements.create(
        instance="c1", name="counted", time_series=series, start_time=day(20), sign="discharge"
    )
    voltage = throughput_of(bench, "counted").dropna(subset=[COLUMNS[2]])["Voltage [V]"]
    assert len(voltage) == 347  # three of 350 samples are of spectra
    recipe = plan(name="counted")
    recipe["plan"]["steps"]["rows"] = {
        "op": "series", "source": "measurements", "ids": {"from": "m", "column": "id"}, "x": COLUMNS[2],
        "columns": ["Voltage [V]"], "window": {"min": 0}, "max_points": most,
    }  # fmt: skip
    rows = bench.dataset(recipe)["rows"]
    ((id, found),) = rows.items()
    assert rows.complete[id] == complete
    assert found[COLUMNS[2]].notna().all()
    assert most / 2 <= len(found) <= most
    if most > 1:
        assert found["Voltage [V]"].agg(["min", "max"]).tolist() == voltage.agg(["min", "max"]).tolist()


@pytest.mark.parametrize("most", [8, 40])
@pytest.mark.parametrize("x", ["Time [s]", "Step count", "Voltage [V]", COLUMNS[3]])
@pytest.mark.parametrize("window", [{}, {"min": 0}])
def test_the_ends_of_a_throughput_are_shown_where_its_series_ends_with_spectra(
    most: int, x: str, window: dict[str, float], bench: wb.Bench
) -> None:
    series = counted(3)[:350]
    series.loc[series.index[-7:], "Discharge capacity [A.h]"] = np.nan
    series.loc[series.index[1:4], ["Charge capacity [A.h]", "Charge energy [W.h]"]] = np.nan
    bench.measurements.create(
        instance="c1", name="counted", time_series=series, start_time=day(20), sign="discharge"
    )
    whole = throughput_of(bench, "counted", x=x, columns=[COLUMNS[2], "Voltage [V]"])
    columns = [COLUMNS[2], "Voltage [V]", COLUMNS[3]]
    few = throughput_of(bench, "counted", x=x, columns=columns, window=window, max_points=most)
    assert most / 2 <= len(few) <= most
    inside = whole[whole[x].notna()] if window else whole
    for column in (COLUMNS[2], "Voltage [V]"):
        assert few[column].agg(["min", "max"]).tolist() == inside[column].agg(["min", "max"]).tolist(), column


def test_a_series_without_counters_says_that_it_has_no_throughput(bench: wb.Bench) -> None:
    with pytest.raises(Invalid, match="has a column 'Capacity throughput in life"):
        throughput_of(bench, "second", columns=[COLUMNS[2]], x="Time [s]")


def test_every_change_of_a_sibling_is_seen(bench: wb.Bench) -> None:
    def first_of_third() -> tuple[float, float]:
        (row,) = bench.dataset(plan(name="third"))["rows"].to_dict("records")
        return row["Cycle in life"], row["Time in life [d]"]

    assert first_of_third() == (5, 7.0)
    assert bench.dataset(plan(name="third")).cache == {"dataset": "hit"}
    bench.measurements.update("first", start_time=day(2), end_time=None)
    assert first_of_third() == (5, 6.0)
    longer = frame(4).iloc[-120:]
    bench.measurements.extend("second", longer)
    assert first_of_third()[0] == 6
    bench.measurements.create(
        instance="c1", name="before", time_series=frame(2), start_time=day(1), sign="discharge"
    )
    assert first_of_third() == (8, 7.0)
    bench.measurements.update("second", instance_id=bench.instances.get("c2").id)
    assert first_of_third()[0] == 4
    bench.measurements.delete("first")
    assert first_of_third()[0] == 2
    bench.measurements.create(
        instance="c2", name="unrelated", time_series=frame(1), start_time=day(1), sign="discharge"
    )
    assert first_of_third() == (2, 7.0)


def overlapping(bench: wb.Bench) -> None:
    """``long`` runs from the 20th; ``check`` begins after its second cycle began, ``check 2`` after its fourth."""
    for name, cycles, start in (
        ("long", 5, day(20)),
        ("check", 2, day(20) + dt.timedelta(hours=3)),
        ("check 2", 1, day(20) + dt.timedelta(hours=7)),
    ):
        bench.measurements.create(
            instance="c1", name=name, time_series=counted(cycles), start_time=start, sign="discharge"
        )


@pytest.mark.parametrize("dataset", ["cycles", "steps"])
def test_cycles_of_tests_that_overlap_are_in_the_order_in_which_they_began(bench: wb.Bench, dataset: str) -> None:
    overlapping(bench)
    made = bench.dataset(plan(dataset, columns=["Cycle count", *COLUMNS]))
    rows = by_name(bench, made["rows"])
    firsts = {name: rows[name].groupby("Cycle count").first() for name in ("long", "check", "check 2")}
    assert firsts["long"]["Cycle in life"].tolist() == [6, 7, 9, 11, 13]
    assert firsts["check"]["Cycle in life"].tolist() == [8, 10]
    assert firsts["check 2"]["Cycle in life"].tolist() == [12]
    ended = pd.concat([rows[name].groupby("Cycle count").last() for name in rows if name not in ("other", "note")])
    ended = ended.sort_values("Cycle in life")
    assert ended["Cycle in life"].tolist() == list(range(14))
    for column in COLUMNS[1:]:
        assert (np.diff(ended[column]) > 0).all(), column
    own = [
        bench.measurements.cycles(name)["Capacity throughput [A.h]"].iloc[-1] for name in rows if name != "other"
    ]
    assert ended[COLUMNS[2]].iloc[-1] == pytest.approx(sum(own))
    assert [warning["code"] for warning in made.warnings] == ["column_missing"]  # the test of the other cell


def test_a_series_of_tests_that_overlap_has_the_numbers_of_its_steps(bench: wb.Bench) -> None:
    overlapping(bench)
    steps = bench.measurements.steps("long", life=True)
    found = throughput_of(bench, "long", columns=["Step count", "Cycle in life", COLUMNS[3]])
    for column in ("Cycle in life", *COLUMNS[2:]):
        assert found.groupby("Step count")[column].last().tolist() == steps[column].tolist()
    x = found[COLUMNS[2]]
    low, high = x.dropna().iloc[100], x.dropna().iloc[400]
    part = throughput_of(bench, "long", window={"min": low, "max": high})
    assert part[COLUMNS[2]].tolist() == x[x.between(low, high)].tolist()
    for low, high, cycles in ((7, 9, {7, 9}), (8, 8, set()), (8, 11, {9, 11}), (0, 5, set()), (14, 20, set())):
        part = throughput_of(bench, "long", x="Cycle in life", window={"min": low, "max": high})
        assert set(part["Cycle in life"]) == cycles
    assert set(throughput_of(bench, "long", x="Cycle in life", window={"min": 10})["Cycle in life"]) == {11, 13}
    assert set(throughput_of(bench, "long", x="Cycle in life", window={"max": 8})["Cycle in life"]) == {6, 7}


@pytest.mark.parametrize("start", [None, day(3)])
def test_tests_whose_order_is_not_known_are_named(bench: wb.Bench, start: dt.datetime | None) -> None:
    bench.measurements.create(
        instance="c1", name="undated", time_series=frame(2), start_time=start, sign="discharge"
    )
    (warning,) = bench.dataset(plan(name="first", columns=[COLUMNS[0]])).warnings
    assert warning["code"] == "life_order_unknown"
    assert "'undated'" in str(warning["message"])
    assert "'first'" not in str(warning["message"])
    assert ("'second'" in str(warning["message"])) == (start is not None)
    assert bench.dataset(plan(name="other", columns=[COLUMNS[0]])).warnings == []
    assert bench.dataset(plan(name="first", columns=[COLUMNS[1]])).warnings == []
    rows = by_name(bench, bench.dataset(plan())["rows"])
    assert rows["undated"]["Cycle in life"].tolist() == ([6, 7] if start is None else [5, 6])


def test_the_catalog_and_the_check_know_them(bench: wb.Bench) -> None:
    made = bench.catalog()
    counts = {column.name: column.records for column in made.cycles}
    assert [counts[name] for name in COLUMNS] == [4, 4, 4, 4]
    assert {"Cycle in life", "Time in life [d]"} <= {column.name for column in made["measurements"].series}
    assert bench.check(plan()) == []
    assert bench.check(plan("steps")) == []
    with pytest.raises(Invalid, match="No source has a column 'Cycles in life'"):
        bench.dataset(plan(columns=["Cycles in life"]))


def test_tests_without_a_start_come_last() -> None:
    table = Table.of({"Capacity throughput [A.h]": [1.0, 2.5]})
    found = lives([OneTest("a", None, table), OneTest("b", 5, table), OneTest("c", 1, None)])
    assert found["c"] == Life(0, 0.0, 0.0, 0.0)
    assert (found["b"].cycles, found["b"].days) == (0, 4e-6 / 86400)
    assert (found["a"].cycles, found["a"].capacity, found["a"].energy, found["a"].days) == (2, 2.5, None, None)
