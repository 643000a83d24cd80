"""Check-ups and parts of cycles are not fade, and what only falls, rises, jumps or bends is not one of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench import battery

CYCLE, DISCHARGED, CURRENT = "Cycle count", "Discharge capacity [A.h]", "Mean discharge current [A]"
CHECK_UP = [0.05, 1.13, 1.036, 0.1, 0.05, 0.5]
"""A block as a real table has it, shares of the capacity: the rest of a discharge, slow, medium, pulses."""


def table(capacity: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({CYCLE: np.arange(len(capacity)), DISCHARGED: capacity})


def with_check_ups(fade: np.ndarray, *places: int) -> tuple[np.ndarray, np.ndarray]:
    """A course with a block of check-ups before each of these places, and where it has them."""
    parts, marks = [], []
    for one, part in zip((*places, len(fade)), np.split(fade, places), strict=True):
        parts += [part, *([fade[min(one, len(fade) - 1)] * np.array(CHECK_UP)] if one < len(fade) else [])]
        marks += [np.zeros(len(part), bool), *([np.ones(len(CHECK_UP), bool)] if one < len(fade) else [])]
    return np.concatenate(parts), np.concatenate(marks)


def found(frame: pd.DataFrame) -> list[int]:
    words = battery.off_course(frame)
    return np.flatnonzero((words != "").to_numpy()).tolist()


def test_check_ups_between_cycles_are_found_and_nothing_else() -> None:
    noise = np.random.default_rng(1).normal(0, 5e-4, 200)
    capacity, marks = with_check_ups(2 * (1 - 1e-3 * np.arange(200) + noise), 40, 90, 150)
    assert found(table(capacity)) == np.flatnonzero(marks).tolist()
    words = battery.off_course(table(capacity))
    assert set(words) == {"", "a check-up, or part of a cycle"}
    shuffled = table(capacity).sample(frac=1, random_state=2)
    assert (battery.off_course(shuffled).sort_index() == words).all()


def test_a_part_of_a_cycle_is_found_where_the_cell_recovers_after_it() -> None:
    """B0046 of NASA: after a stop its cell gives more for some cycles, which fall back without a step."""
    q = np.concatenate([1.3 - 0.001 * np.arange(60), [0.55, 1.36, 1.31, 1.29, 1.28, 1.26, 1.24]])
    assert battery.stands_apart(q).nonzero()[0].tolist() == [60]


def test_check_ups_at_both_ends_are_those_of_the_middle() -> None:
    fade = 2 * (1 - 5e-4 * np.arange(150))
    capacity, marks = with_check_ups(fade, 60)
    begin, end = fade[0] * np.array([1.13, 1.036, 0.1, 0.05, 0.5]), fade[-1] * np.array(CHECK_UP)
    whole = np.concatenate([begin, capacity, end])
    expected = np.concatenate([np.ones(5, bool), marks, np.ones(6, bool)])
    assert found(table(whole)) == np.flatnonzero(expected).tolist()
    assert found(table(np.concatenate([begin, fade]))) == [2, 3, 4], "without others, fast fade may begin so"


FADES = {
    "a steep end": 1 - np.concatenate([3e-4 * np.arange(100), 0.03 + 0.05 * np.arange(15)]),
    "a sudden death": np.concatenate([np.ones(80), [0.6, 0.3, 0.1]]),
    "a loss at once that stays": np.concatenate([np.ones(50), 0.85 * np.ones(50)]),
    "a rise at once that stays": np.concatenate([np.ones(50), 1.1 * np.ones(50)]),
    "a dip of a chamber": np.concatenate([np.ones(40), 0.9 * np.ones(30), np.ones(40)]),
    "a slow dip": 1 - 0.1 * np.exp(-(((np.arange(100) - 50) / 10) ** 2)),
    "a rise first": np.concatenate([[0.9, 0.97, 1.0], 1 - 1e-3 * np.arange(90)]),
    "a fast first loss": np.concatenate([[1.2, 1.1, 1.03], 1 - 1e-3 * np.arange(90)]),
    "few cycles": np.array([1.0, 0.5, 0.4, 0.3]),
}


@pytest.mark.parametrize("name", FADES)
def test_no_fade_is_taken_for_a_check_up(name: str) -> None:
    assert found(table(2 * FADES[name])) == []


def test_what_only_falls_never_stands_apart() -> None:
    luck = np.random.default_rng(7)
    for _ in range(100):
        falling = np.cumsum(-(luck.exponential(1, 60) ** 3)) + 1e3
        assert not battery.stands_apart(falling, least=0.0).any()
        assert not battery.stands_apart(-falling, least=0.0).any()


def test_where_the_current_is_known_it_decides() -> None:
    frame = table(2 * (1 - 1e-3 * np.arange(100))).assign(Complete=True, **{CURRENT: 2.0})
    frame.loc[[20, 60], [CURRENT, DISCHARGED]] = [0.1, 2.2]
    assert found(frame) == [20, 60]
    assert set(battery.off_course(frame)) == {"", "at another current than most"}
    frame[CURRENT] = [1.0] * 50 + [2.0] * 50
    assert found(frame) == [], "no current is that of most"
    frame.loc[30, DISCHARGED] = 1.0
    assert found(frame) == [], "it is known to be complete"
    frame.loc[30, DISCHARGED] = 0.0
    assert set(battery.off_course(frame)) == {"", "no charge passed"}


def test_numbers_of_a_table_are_those_without_its_check_ups() -> None:
    fade = 2 * (1 - 1e-3 * np.arange(260))
    capacity, marks = with_check_ups(fade, 40, 120)
    frame = table(np.concatenate([capacity, fade[-1] * np.array(CHECK_UP)]))
    made = battery.retention(frame)
    course = np.flatnonzero(~np.concatenate([marks, np.ones(6, bool)]))
    assert made["Retention"].iloc[course].to_numpy() == pytest.approx(fade / fade[0])
    assert made.loc[made["Warning"] != "", "Retention"].isna().all()
    assert made["Valid"].sum() == 260
    assert "off_course" in {one["code"] for one in made.attrs["warnings"]}
    ended = battery.end_of_life(frame).iloc[0]
    assert ended["EOL cycle"] == pytest.approx(course[200], abs=1)


def test_retention_passes_over_check_ups_at_another_current() -> None:
    frame = table(2 * (1 - 1e-3 * np.arange(60))).assign(Complete=True, **{CURRENT: 2.0})
    frame.loc[[0, 59], [CURRENT, DISCHARGED]] = [0.1, 2.2]
    made = battery.retention(frame)
    assert made["Reference [A.h]"].iloc[0] == pytest.approx(2 * 0.999)
    assert np.isnan(made["Retention"].iloc[-1])
    assert made["Warning"].iloc[-1] == "at another current than most"


def test_a_real_table_with_check_ups_has_not_died(shared_data: Path, tmp_path: Path) -> None:
    """Its last cycle is of a check-up: the retention was 3 % and the end of life reached at 254."""
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(shared_data / "batterydata_csv/p492-13-summary.csv")
        (name,) = bench.measurements.list()["name"]
        cycles = bench.measurements.cycles(name)
        course = battery.off_course(cycles)
        usual = cycles.loc[(course == "") & (cycles[CYCLE] > 6), DISCHARGED].dropna()
        assert usual.min() > 0.01894
        assert usual.max() < 0.01903
        assert (course != "").sum() == 28
        last = battery.retention(cycles)["Retention"].dropna().iloc[-1]
        assert last == pytest.approx(0.01895 / 0.01901, abs=1e-3)
        figure = bench.figure("fade", group="cells")
        curve = next(trace for trace in figure.data if trace.mode == "lines")
        assert min(curve.y) > 99
        assert max(curve.y) < 101
        marks = next(trace for trace in figure.data if trace.mode == "markers")
        assert len(marks.x) == 28
        words = " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)
        assert "open marks: 28 cycles (a check-up, or part of a cycle)" in words


def rested(hidden: np.ndarray, amps: np.ndarray, volts: np.ndarray, capacity: np.ndarray) -> pd.DataFrame:
    """The cycles of a test, of which those that are ``hidden`` have three hours of rest in their mean current."""
    hours = capacity / amps + np.where(hidden, 3.0, 0.0)
    made = {"Cycle count": np.arange(len(amps)), "Discharge capacity [A.h]": capacity}
    made |= {"Mean discharge current [A]": capacity / hours, "Discharge duration [s]": 3600 * hours}
    return pd.DataFrame(made | {"Discharge energy [W.h]": volts * capacity, "Complete": True})


def test_a_rest_with_some_milliamperes_is_not_another_current() -> None:
    """Its mean current counted in that of the discharge: 24 A for 100 A."""
    flat, capacity = np.ones(60), 100 * (1 - 0.001 * np.arange(60))
    hidden = np.arange(60) % 7 == 3
    few = rested(hidden, 100 * flat, 3.6 * flat, capacity)
    assert (battery.off_course(few) == "").all()
    assert battery.retention(few).attrs["warnings"] == battery.retention(few.iloc[:3]).attrs["warnings"]
    half = rested(np.arange(60) % 2 == 1, 100 * flat, 3.6 * flat, capacity)
    assert battery.end_of_life(half, threshold=0.96)["EOL cycle"].iloc[0] == pytest.approx(40, abs=1)


def test_a_discharge_at_another_current_has_another_voltage() -> None:
    slow, capacity = np.arange(60) % 20 == 5, 100 * (1 - 0.001 * np.arange(60))
    made = rested(slow & False, np.where(slow, 20.0, 100.0), np.where(slow, 3.66, 3.6), capacity)
    assert (battery.off_course(made) == np.where(slow, "at another current than most", "")).all()
    # Without a duration the current is not a mean over the rests.
    given = rested(slow, np.full(60, 100.0), np.full(60, 3.6), capacity).drop(columns="Discharge duration [s]")
    assert (battery.off_course(given) != "").sum() == slow.sum()
