"""``Complete`` of cycles: from the course of each half cycle, decided anew when later samples come."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from workbench.cycling.cycle_completeness import VoltageLimits, completeness
from workbench.cycling.cycles import CYCLE_COLUMNS, cycles_of
from workbench.cycling.half_cycles_of_steps import half_cycles_of, turning_points
from workbench.cycling.steps import steps_of
from workbench.table import Column, Table

GIVEN = VoltageLimits(2.5, 4.2)
NOBODY = VoltageLimits()
Part = tuple[float, float, float, float]
"""A step: current, A; seconds; voltage at its start and its end, V."""
REST: Part = (0.0, 600.0, 3.3, 3.3)


def charge(capacity: float = 2.0, to: float = 4.2) -> list[Part]:
    return [(-2.0, 1800 * capacity, 3.0, to), REST]


def discharge(capacity: float = 2.0, to: float = 2.5, amps: float = 2.0) -> list[Part]:
    return [(amps, 3600 * capacity / amps, 4.1, to), REST]


def whole(capacity: float = 2.0) -> list[Part]:
    return charge(capacity) + discharge(capacity)


def steps(*cycles: list[Part]) -> Table:
    """The steps of a test, from samples: 11 of each step, on a straight line."""
    made: dict[str, list[Any]] = {
        name: [] for name in ("Time [s]", "Current [A]", "Voltage [V]", "Step count", "Cycle from cycler")
    }
    now, step = 0.0, 0
    for number, parts in enumerate(cycles):
        for amps, seconds, first, last in parts:
            share = np.linspace(0, 1, 11)
            made["Time [s]"] += (now + share * seconds).tolist()
            # At a constant voltage the current falls to a twentieth.
            made["Current [A]"] += (amps * np.where(first == last, 0.05**share, 1.0)).tolist()
            made["Voltage [V]"] += (first + share * (last - first)).tolist()
            made["Step count"] += [step] * 11
            made["Cycle from cycler"] += [number] * 11
            now, step = now + seconds + 1, step + 1
    return steps_of(Table.of(made))


def complete(*cycles: list[Part], limits: VoltageLimits = NOBODY) -> list[bool | None]:
    made = steps(*cycles)
    return completeness(made, cycles_of(made)["Cycle count"], limits).tolist()


def test_it_is_a_declared_column_that_is_never_stored() -> None:
    assert CYCLE_COLUMNS[-1].name == "Complete"
    assert CYCLE_COLUMNS[-1].kind == "boolean"
    assert "Complete" not in cycles_of(steps(whole()))


@pytest.mark.parametrize("limits", [GIVEN, NOBODY])
def test_a_discharge_that_was_broken_off_is_not_complete(limits: VoltageLimits) -> None:
    cut = charge() + discharge(0.7, to=3.4)
    assert complete(*[whole()] * 5, cut, limits=limits) == [*[True] * 5, False]
    assert complete(*[whole()] * 5, cut[:-1], limits=limits) == [*[True] * 5, False]
    assert complete(*[whole()] * 2, cut, *[whole()] * 4, limits=limits) == [True, True, False, *[True] * 4]


def test_a_half_cycle_that_passed_nothing_is_judged_without_a_word() -> None:
    turned = [discharge() + charge()] * 3
    at_once: Part = (2.0, 0.0, 4.1, 4.1)
    assert complete(*turned, [at_once], limits=GIVEN)[:3] == complete(*turned, limits=GIVEN)


def test_it_does_not_depend_on_the_capacity() -> None:
    fading = [whole(2.0 * 0.9**n) for n in range(20)]
    assert complete(*fading) == [True] * 20
    sudden = [*[whole()] * 5, whole(0.2)]  # a real loss, however large, reaches its limits
    assert complete(*sudden) == [True] * 6
    slow = charge() + discharge(1.95, to=3.0, amps=0.5)  # nearly all of the capacity, and yet broken off
    assert complete(*[whole()] * 5, slow) == [*[True] * 5, False]


def test_only_later_samples_show_that_a_half_cycle_ended() -> None:
    open_end = charge() + discharge()[:-1]
    assert complete(*[whole()] * 4, open_end) == [*[True] * 4, None]
    assert complete(*[whole()] * 4, charge()[:-1]) == [*[True] * 4, False]
    assert complete(*[whole()] * 4, open_end, [REST]) == [*[True] * 5, False]


def test_later_cycles_change_the_answer_of_earlier_ones() -> None:
    assert complete(whole()) == [None]
    assert complete(whole(), whole()) == [None, None]
    assert complete(whole(), whole(), charge() + discharge(0.5, to=3.6)) == [True, True, False]
    assert complete(*[whole()] * 2, *[charge() + discharge(0.5, to=3.6)] * 18) == [True] * 2 + [True] * 18
    shallow = [charge(0.5, to=3.9) + discharge(0.5, to=3.6)] * 2
    assert complete(*shallow, whole()) == [True, True, True]  # a deeper one is one too
    assert complete(*shallow, *[whole()] * 18) == [False, False, *[True] * 18]


def test_limits_of_the_specification_decide_from_the_first_cycle_on() -> None:
    assert complete(whole(), limits=GIVEN) == [True]
    assert complete(whole(), charge() + discharge(1.0, to=3.3), limits=GIVEN) == [True, False]
    assert complete(charge() + discharge(2.0, to=2.519), limits=GIVEN) == [True]
    assert complete(charge() + discharge(2.0, to=2.53), limits=GIVEN) == [False]
    assert complete(charge() + discharge(2.0, to=2.3), limits=GIVEN) == [
        True
    ]  # beyond the limit, with no other in use
    assert complete(whole(), limits=VoltageLimits(low=2.5)) == [None]
    assert complete(discharge(), limits=VoltageLimits(low=2.5)) == [True]


def test_a_test_with_limits_of_its_own() -> None:
    narrow = [charge(1.5, to=4.0) + discharge(1.5, to=3.0)] * 9
    assert complete(*narrow, charge(1.5, to=4.0) + discharge(1.0, to=3.2), limits=GIVEN) == [*[True] * 9, False]


def test_a_constant_voltage_ends_a_charge_at_any_voltage() -> None:
    def held(to: float) -> list[Part]:
        return [(-2.0, 3000, 3.0, to), (-2.0, 1200, to, to), REST, *discharge()]

    assert complete(*[held(3.9 + n / 20) for n in range(6)]) == [True] * 6
    cut = [(-2.0, 1000, 3.0, 3.4), REST, *discharge()]
    assert complete(*[held(3.9 + n / 20) for n in range(6)], cut, limits=GIVEN)[-1] is False


def test_a_flat_voltage_with_a_steady_current_is_no_constant_voltage() -> None:
    """A discharge on a plateau, with noise of the current: it was broken off, not held."""
    made = steps(*[whole()] * 5, [*charge(), (2.0, 300.0, 3.3, 3.2999), REST])
    noisy = {**made.columns, "Std current [A]": Column.of(np.full(made.n, 0.05))}
    found = completeness(Table(noisy, made.n), cycles_of(made)["Cycle count"], GIVEN).tolist()
    assert found == [*[True] * 5, False]


def test_cycles_by_charge_or_by_time() -> None:
    """A part of the capacity, over and over: the voltages drift, the charge is the same each time."""
    drifting = [charge(0.5, to=3.7 + n / 30) + discharge(0.5, to=3.4 + n / 30) for n in range(10)]
    assert complete(*drifting) == [True] * 10
    assert complete(*drifting, charge(0.5, to=4.05) + discharge(0.3, to=3.9)) == [*[True] * 10, False]
    timed = [
        [(-2.0 + n / 9, 900.0, 3.0, 3.7 + n / 30), (2.0 - n / 9, 900.0, 3.9, 3.4 + n / 30)] for n in range(10)
    ]
    assert complete(*timed, [REST]) == [*[True] * 10, False]


def test_nothing_in_common_and_no_limits_is_not_known() -> None:
    drawn = random.Random(3)
    mixed = []
    for _ in range(9):
        capacity = drawn.uniform(0.2, 1.5)
        mixed.append(
            charge(capacity, to=drawn.uniform(3.6, 4.1)) + discharge(capacity, to=drawn.uniform(2.6, 3.4))
        )
    assert complete(*mixed) == [None] * 9
    assert complete(*mixed, limits=GIVEN) == [False] * 9


def test_pulses_and_braking_do_not_end_a_half_cycle() -> None:
    pulses: list[Part] = []
    for n in range(9):
        pulses += [(2.0, 10.0, 4.0 - n / 10, 3.9 - n / 10), REST, (-1.5, 10.0, 3.9, 4.0), REST]
        pulses += [(1.0, 720.0, 4.0 - n / 10, 3.9 - n / 10), REST]
    test = [*charge(), *pulses, (1.0, 700.0, 3.0, 2.5), REST]
    assert complete(test, limits=GIVEN) == [True]
    assert complete([*charge(), *pulses, REST], limits=GIVEN) == [False]
    drive = [(amps, 20.0, 3.9 - n / 400, 3.9 - n / 400 - amps / 50) for n in range(400) for amps in (3.0, -0.8)]
    ended = [*charge(), *drive, (3.0, 20.0, 2.7, 2.5), REST]
    assert complete(ended, limits=GIVEN) == [True]
    assert complete([*charge(), *drive, REST], limits=GIVEN) == [False]
    assert len(half_cycles_of(steps(ended)).cycle) == 2


def test_the_first_and_the_last_steps_of_a_test() -> None:
    four = [whole()] * 4
    assert complete(*four, charge()) == [*[True] * 4, False]  # the discharge did not come: no capacity of 0
    assert complete(*four, [*charge(), (2.0, 60.0, 4.1, 4.05), REST]) == [*[True] * 4, False]
    assert complete(*four, [REST]) == [*[True] * 4, False]
    assert complete(charge(), *four) == [False, *[True] * 4]  # a first charge: no capacity to compare with
    assert complete(discharge(), *four) == [True] * 5  # the cell came charged
    assert complete(discharge(0.4, to=3.2), *four) == [False, *[True] * 4]
    assert complete(whole(), charge()[:1], limits=GIVEN) == [True, False]


def test_each_of_several_half_cycles_counts() -> None:
    assert complete(whole() + whole(), limits=GIVEN) == [True]
    assert complete(whole() + charge() + discharge(0.5, to=3.4), limits=GIVEN) == [False]


@pytest.mark.parametrize("limits", [GIVEN, NOBODY])
def test_a_record_that_a_cycler_wrote_while_it_switched_shows_no_end(limits: VoltageLimits) -> None:
    made = steps(*[[*discharge(), (1.8, 0.0, 2.9, 2.9), *charge()]] * 5, discharge(0.7, to=3.4))
    assert half_cycles_of(made).voltage[0] == 2.5
    found = completeness(made, cycles_of(made)["Cycle count"], limits).tolist()
    assert found == [*[True] * 5, False]


def test_steps_of_one_sample_each_show_their_end() -> None:
    rows = {"Time [s]": [0.0, 10.0, 20.0, 30.0, 40.0], "Current [A]": [1.0, 1.0, 1.0, 0.0, -1.0]}
    made = steps_of(Table.of({**rows, "Voltage [V]": [4.0, 3.5, 2.5, 3.0, 4.2], "Step count": [0, 1, 2, 3, 4]}))
    assert half_cycles_of(made).voltage.tolist() == [2.5, 4.2]


def test_tests_without_half_cycles_decide_nothing() -> None:
    assert complete(*[[REST, REST]] * 4) == [None] * 4
    assert complete(*[[REST, REST]] * 4, limits=GIVEN) == [None] * 4
    made = steps(*[whole()] * 4)
    impedance = Table({**made.columns, "Mean frequency [Hz]": Column.of(np.ones(made.n))}, made.n)
    assert completeness(impedance, cycles_of(made)["Cycle count"], GIVEN).tolist() == [None] * 4


def test_what_steps_do_not_say_is_not_known() -> None:
    made = steps(*[whole()] * 4)
    numbers = cycles_of(made)["Cycle count"]
    for name in ("End voltage [V]", "Mean current [A]", "Cycle count"):
        fewer = Table({key: column for key, column in made.items() if key != name}, made.n)
        assert completeness(fewer, numbers, GIVEN).tolist() == [None] * 4, name
    assert completeness(None, numbers, GIVEN).tolist() == [None] * 4
    assert completeness(made.take(np.zeros(0, int)), numbers, GIVEN).tolist() == [None] * 4
    unknown = Table({**made.columns, "End voltage [V]": Column.of(np.full(made.n, np.nan))}, made.n)
    assert completeness(unknown, numbers, NOBODY).tolist() == [True] * 4  # by charge
    assert completeness(made, Column.of(np.array([3, 0, 7])), GIVEN).tolist() == [True, True, None]
    assert completeness(made, Column.of(np.zeros(0, np.int64)), GIVEN).tolist() == []


def test_nulls_and_infinities_are_equal_to_nothing() -> None:
    """Columns with holes of every kind give an answer for each cycle, without a warning of numpy."""
    made = steps(*[whole()] * 6)
    drawn = random.Random(5)
    for name in made.names:
        if made[name].kind not in ("number", "integer") or name in ("Cycle count", "Start index"):
            continue
        for bad in (np.nan, np.inf, -np.inf, 1e308):
            values = made[name].floats().copy()
            values[[drawn.randrange(made.n) for _ in range(3)]] = bad
            holed = Table({**made.columns, name: Column.of(values, ~np.isnan(values))}, made.n)
            for limits in (GIVEN, NOBODY):
                assert len(completeness(holed, Column.of(np.arange(6)), limits)) == 6, (name, bad)
                assert completeness(holed, Column.of(np.arange(6)), limits).kind == "boolean"


def test_the_order_of_the_rows_and_numbers_of_cycles_from_elsewhere_do_not_matter() -> None:
    made = steps(*[whole()] * 4, charge() + discharge(0.5, to=3.4))
    expected = [*[True] * 4, False]
    turned = made.take(np.arange(made.n)[::-1])
    assert completeness(turned, Column.of(np.arange(5)), NOBODY).tolist() == expected
    sparse = Table({**made.columns, "Cycle count": Column.of(10 * made["Cycle count"].values - 5)}, made.n)
    assert completeness(sparse, Column.of(10 * np.arange(5) - 5), NOBODY).tolist() == expected


def test_the_words_of_a_given_step_table_show_a_constant_voltage() -> None:
    parts = [
        [(-2.0, 3000.0 + 99 * n, 3.0, 3.6 + n / 20), (-2.0, 60.0, 3.6 + n / 20, 3.61 + n / 20), REST]
        for n in range(6)
    ]
    made = steps(*[part + discharge() for part in parts])
    numbers = cycles_of(made)["Cycle count"]
    words = ["Constant voltage charge" if place % 5 == 1 else None for place in range(made.n)]
    assert completeness(made, numbers, GIVEN).tolist() == [False] * 6
    given = Table({**made.columns, "Step type": Column.text(words)}, made.n)
    assert completeness(given, numbers, GIVEN).tolist() == [True] * 6


def test_turning_points() -> None:
    assert turning_points([2.0], [1]) == [(0, 0)]
    assert turning_points([-2.0, 2.0], [-1, 1]) == [(0, 0), (1, 1)]
    assert turning_points([0.01, -2.0, 0.05, -1.0, 2.9], [1, -1, 1, -1, 1]) == [(1, 3), (4, 4)]
    assert turning_points([0.0, 0.0], [1, -1]) == [(0, 0), (1, 1)]  # nothing passed: each counts


def test_random_tests_against_what_was_done(long: bool) -> None:
    """Tests of every kind, of which the maker knows which cycles were broken off."""
    for seed in range(600 if long else 25):
        drawn = random.Random(seed)
        low, high, amps = drawn.uniform(2.0, 3.0), drawn.uniform(3.6, 4.4), drawn.choice([0.002, 0.5, 3.0, 60.0])
        n, fade, held = drawn.randint(5, 30), drawn.uniform(0, 0.03), drawn.random() < 0.5
        broken = {drawn.randrange(n)} if drawn.random() < 0.7 else set()
        cycles = []
        for number in range(n):
            hours = 3600 * (1 - fade) ** number
            parts: list[Part] = [(-amps, hours, low + 0.3, high)]
            parts += [(-amps, 0.2 * hours, high, high)] if held else []
            parts += [(0.0, 60.0, high, high)] if drawn.random() < 0.5 else []
            share = drawn.uniform(0.1, 0.9) if number in broken else 1.0
            noise = drawn.uniform(-0.008, 0.008)
            parts += [(amps, hours * share, high, high - (high - low) * share + noise), (0.0, 60.0, low, low)]
            cycles.append(parts)
        limits = VoltageLimits(round(low, 3), round(high, 3)) if drawn.random() < 0.5 else NOBODY
        expected = [number not in broken for number in range(n)]
        assert complete(*cycles, limits=limits) == expected, seed


@pytest.mark.parametrize("limits", [GIVEN, NOBODY])
def test_a_first_discharge_of_a_cell_that_came_half_full_is_not_complete(limits: VoltageLimits) -> None:
    def beginning(capacity: float, amps: float = 2.0, back: float = 2.0) -> list[bool | None]:
        return complete(
            discharge(capacity, amps=amps) + charge(back), *[discharge() + charge()] * 4, limits=limits
        )

    assert beginning(1.0) == [False, *[True] * 4]
    assert beginning(1.8) == [False, *[True] * 4]
    assert beginning(1.96) == [True] * 5  # a cell that came full
    assert beginning(1.2, amps=6.0, back=1.2) == [True] * 5  # full, and at a higher rate
    assert complete(discharge(1.0), *[whole()] * 4, limits=limits) == [False, *[True] * 4]


def test_a_cell_that_takes_more_than_it_gives_came_full() -> None:
    overcharged = discharge(2.0) + charge(2.4)  # a lead-acid cell
    assert complete(*[overcharged] * 5) == [True] * 5
    assert complete(discharge(1.0) + charge(2.4), *[overcharged] * 4) == [False, *[True] * 4]


def test_a_charge_that_began_half_full_leaves_its_discharge_whole() -> None:
    assert complete(charge(1.0) + discharge(), *[whole()] * 4) == [True] * 5
