"""``Complete`` of cycles wherever cycles are read, local and remote: frames, plans, HTTP, the catalog. Never stale."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pandas as pd
import pytest
from support.local_and_remote import WHERE, Sides, opened, sides

import workbench as wb
from workbench import steps
from workbench.engine import complete_cycles
from workbench.store.db.remembered import Remembered

CAPACITY = "Discharge capacity [A.h]"
WHOLE = {"Complete": [True, None]}
RATINGS = {
    "capacity": {"value": 2.0, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}


def samples(cycles: int, cut: float | None = None, *, first: int = 0) -> pd.DataFrame:
    """Cycles of 2 A.h, fading, with a row a minute; the last discharge ends after the share ``cut`` of it."""
    parts = []
    step, now = 4 * first, 10_000.0 * first
    for number in range(first, first + cycles):
        minutes = 60.0 * 0.99**number
        share = cut if cut is not None and number == first + cycles - 1 else 1.0
        for amps, length, low, high in (
            (-2.0, minutes, 3.0, 4.2),
            (0.0, 5.0, 4.15, 4.15),
            (2.0, minutes * share, 4.1, 4.1 - 1.6 * share),
            (0.0, 5.0, 3.0, 3.0),
        ):
            at = np.append(np.arange(0.0, length, 1.0), length)
            columns = {
                "Time [s]": now + 60 * at,
                "Current [A]": amps,
                "Voltage [V]": low + (high - low) * at / length,
            }
            parts.append(pd.DataFrame({**columns, "Step count": step, "Cycle from cycler": number}))
            now, step = now + 60 * length + 1, step + 1
    return pd.concat(parts, ignore_index=True)


def cell(bench: wb.Bench, ratings: Any = RATINGS) -> Any:
    return bench.instances.create(
        name="Cell", specification=bench.specifications.create(name="Design", ratings=ratings)
    )


def complete(bench: wb.Bench, test: Any) -> list[bool | None]:
    return [None if value is pd.NA else bool(value) for value in bench.measurements.cycles(test)["Complete"]]


def life(fraction: float = 0.9) -> Any:
    """The plan of a cycle life, in the form of the standard recipes."""
    tests = steps.list("measurements", fields=["id", "name"])
    cycles = steps.summary("cycles", tests, ["Cycle count", CAPACITY, "Complete"])
    whole = steps.join(tests, cycles, ("id", "measurement_id"), where=WHOLE)
    below = steps.column(CAPACITY) < fraction * steps.metric("first")
    metrics = {"first": steps.first(CAPACITY), "end": steps.first_where("Cycle count", below), "n": steps.count()}
    ended = steps.aggregate(whole, ["name"], metrics, sort_by="Cycle count")
    naive = steps.aggregate(cycles, ["measurement_id"], metrics, sort_by="Cycle count")
    return wb.plan(tests=tests, cycles=cycles, whole=whole, ended=ended, naive=naive)


@pytest.mark.parametrize("where", WHERE)
def test_a_broken_off_cycle_ends_no_life(where: str, tmp_path: Path) -> None:
    with opened(tmp_path / "lab.db", where) as bench:
        made = bench.measurements.create(instance=cell(bench), name="stopped", time_series=samples(6, 0.3))
        assert complete(bench, made) == [*[True] * 5, False]
        data = bench.dataset(life())
        assert data["naive"]["end"].tolist() == [5]  # as it was: a cell at its end that is as good as new
        assert data["ended"]["end"].isna().all()
        assert data["ended"]["n"].tolist() == [5]
        assert data["cycles"]["Complete"].tolist() == [*[True] * 5, False]
        assert data["whole"]["Cycle count"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("where", WHERE)
def test_an_answer_in_the_cache_follows_later_cycles_and_new_limits(where: str, tmp_path: Path) -> None:
    with opened(tmp_path / "lab.db", where) as bench:
        # Nobody gave limits: the first two cycles say nothing of what a full one is.
        unknown = {
            **RATINGS,
            "voltage_min": {"value": 0.0, "unit": "V"},
            "voltage_max": {"value": 0.0, "unit": "V"},
        }
        made = bench.measurements.create(instance=cell(bench, unknown), name="runs", time_series=samples(2))

        def shown() -> list[Any]:
            data = bench.dataset(life())
            assert bench.dataset(life()).cache == {"dataset": "hit"}
            return [None if value is pd.NA else bool(value) for value in data["cycles"]["Complete"]]

        assert shown() == [None, None]
        bench.measurements.extend(made, samples(1, 0.4, first=2))
        assert shown() == [True, True, False] == complete(bench, made)
        bench.measurements.extend(made, samples(2, first=3))
        assert shown() == [True, True, False, True, True] == complete(bench, made)
        low = {**RATINGS, "voltage_min": {"value": 3500, "unit": "mV"}}
        bench.specifications.update("Design", ratings={**low, "voltage_min": {"value": 3.46, "unit": "V"}})
        assert shown() == [True] * 5 == complete(bench, made)
        bench.specifications.update("Design", ratings=low)
        assert shown() == [True, True, False, True, True]


def test_cycles_are_judged_once_until_something_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[int] = []
    whole = complete_cycles.completeness

    def counted(steps: Any, cycles: Any, limits: Any) -> Any:
        judged.append(len(cycles))
        return whole(steps, cycles, limits)

    monkeypatch.setattr(complete_cycles, "completeness", counted)
    monkeypatch.setattr(complete_cycles, "_KNOWN", Remembered())
    with wb.open(tmp_path / "lab.db") as bench:
        design = cell(bench)
        made = bench.measurements.create(instance=design, name="stopped", time_series=samples(6, 0.3))
        bench.measurements.create(instance=design, name="other", time_series=samples(4))
        bench.dataset(life())
        assert sorted(judged) == [4, 6]
        frame = bench.dataset(life(0.8))["cycles"]
        frame.loc[:, "Complete"] = False
        assert complete(bench, made) == [*[True] * 5, False]
        assert len(judged) == 2
        bench.measurements.extend(made, samples(1, first=6))
        assert complete(bench, made) == [*[True] * 5, False, True]
        assert judged[2:] == [7]


def test_the_last_half_cycle_of_a_running_test(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        whole = samples(4)
        ended = whole[whole["Step count"] < 15]
        made = bench.measurements.create(instance=cell(bench), name="runs", time_series=ended)
        assert complete(bench, made) == [True, True, True, None]
        bench.measurements.extend(made, whole[whole["Step count"] == 15])
        assert complete(bench, made) == [True] * 4


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with sides(tmp_path_factory.mktemp("complete") / "lab.db") as made:
        one = cell(made.near)
        made.near.measurements.create(instance=one, name="stopped", time_series=samples(6, 0.3))
        yield made


def test_every_way_to_read_cycles_has_it(both: Sides) -> None:
    expected = [*[True] * 5, False]
    near, far = both.near, both.far
    for bench in (near, far):
        frame = bench.measurements.cycles("stopped")
        assert frame.columns[-1] == "Complete"
        assert frame["Complete"].tolist() == expected
        assert bench.measurements.cycles("stopped", life=True)["Complete"].tolist() == expected
        (described,) = [column for column in bench.catalog().cycles if column.name == "Complete"]
        assert (described.type, described.records) == ("boolean", 1)
        assert bench.look(life())["cycles"].columns["Complete"]
        assert bench.check(life()) == []
    ask = {"headers": {"X-API-Key": both.key}, "trust_env": False}
    record = near.measurements.get("stopped").id
    for path in ("cycles", "steps_and_cycles"):
        told = httpx.get(f"{both.url}/cell_measurements/{record}/{path}", **ask).json()["cycles"]
        assert told["Complete"] == expected
    for bench in (near, far):
        chosen = bench.backend.samples(bench.measurements.get(record), "cycles", ["Complete", "Cycle count"])
        assert chosen.names == ["Complete", "Cycle count"]
        assert chosen["Complete"].tolist() == expected
        with pytest.raises(wb.BadRequest, match=r"no column 'Completed'. Did you mean 'Complete'\?"):
            bench.backend.samples(bench.measurements.get(record), "cycles", ["Completed"])
        with pytest.raises(
            wb.BadRequest, match=r"no column 'Step typ'. Did you mean 'Step type' or 'Step count'\?"
        ):
            bench.backend.samples(bench.measurements.get(record), "steps", ["Step typ"])


def test_a_misspelt_column_is_named_with_the_nearest(both: Sides) -> None:
    for bench in (both.near, both.far):
        tests = steps.list("measurements", name="stopped", fields=["id"])
        plan = wb.plan(tests=tests, cycles=steps.summary("cycles", tests, ["Cycle count", "complete"]))
        (problem,) = bench.check(plan)
        assert "'Complete'" in problem.msg


def test_a_given_step_table_is_judged_as_it_is(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        one = cell(bench)
        made = bench.measurements.create(instance=one, name="counted", time_series=samples(4, 0.3))
        given = bench.measurements.steps(made)
        again = bench.measurements.create(instance=one, name="given", time_series=samples(4, 0.3), steps=given)
        assert complete(bench, again) == [True, True, True, False]
        # Somebody counts two cycles as one: the last is still the one that was broken off.
        given["Cycle count"] = given["Cycle count"] // 2
        pairs = bench.measurements.create(instance=one, name="pairs", time_series=samples(4, 0.3), steps=given)
        assert complete(bench, pairs) == [True, False]


def test_an_export_carries_no_answer_that_may_change(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench, wb.open(tmp_path / "other.db") as other:
        bench.measurements.create(instance=cell(bench), name="stopped", time_series=samples(6, 0.3))
        (path, *_) = bench.measurements.export("stopped", tmp_path / "stopped.parquet")
        assert "Complete" not in pd.read_parquet(path).columns
        other.ingest(path)
        assert complete(other, "stopped") == [*[True] * 5, False]


def test_estimated_limits_and_unknown_units_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    samples(1, 0.3).rename(columns={"Cycle from cycler": "Cycle"}).drop(columns="Step count").to_csv(
        path, index=False
    )
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(path, sign="discharge")
        (name,) = bench.measurements.list(fields=["name"])["name"]
        assert complete(bench, name) == [None]  # its own lowest voltage is not where it should have come to
        odd = {**RATINGS, "voltage_min": {"value": 2.5, "unit": "bar"}}
        one = bench.instances.create(
            name="odd", specification=bench.specifications.create(name="odd", ratings=odd)
        )
        made = bench.measurements.create(instance=one, name="odd one", time_series=samples(2, 0.3))
        assert complete(bench, made) == [None, None]
        data = bench.dataset(life())
        assert [warning["code"] for warning in data.warnings] == ["unit_unknown"]
        assert "voltage limit of 'odd' is in 'bar'" in data.warnings[0]["message"]
        low, high = RATINGS["voltage_min"], RATINGS["voltage_max"]
        bench.specifications.update("odd", ratings={**RATINGS, "voltage_min": high, "voltage_max": low})
        (warning,) = bench.dataset(life()).warnings
        assert warning["code"] == "limits_reversed"
        assert "of 'odd' are reversed: 'voltage_min' is" in warning["message"]


def test_a_test_without_cycles_in_its_steps(tmp_path: Path) -> None:
    """A table of capacities alone has no steps: nothing is known, and everything is drawn."""
    path = tmp_path / "capacities.csv"
    rows = "".join(f"{n},{2 - n / 100},{2.01 - n / 100}\n" for n in range(1, 9))
    path.write_text("Cycle,Discharge capacity [A.h],Charge capacity [A.h]\n" + rows)
    with wb.open(tmp_path / "lab.db") as bench:
        report = bench.ingest(path)
        names = bench.measurements.list(fields=["name"])["name"].tolist()
        if not names:
            pytest.fail(str(report))
        assert complete(bench, names[0]) == [None] * 8
        assert bench.dataset(life())["ended"]["n"].tolist() == [8]
