"""The summaries of small series, worked out by hand."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from workbench.cycling.cycles import CYCLE_COLUMNS, cycles_of
from workbench.cycling.given_steps import complete_steps, given_steps
from workbench.cycling.steps import STEP_COLUMNS, StepsBuilder, step_types, steps_of
from workbench.cycling.steps_builder import BLOCK
from workbench.errors import Invalid
from workbench.table import Column, Table


def charge_and_discharge(cycles: int = 1) -> Table:
    """Each cycle: 1 h of charge at 2 A and 4 V, 1 h of rest at 4 V, 1 h of discharge at 1 A and 3 V."""
    blocks = []
    for cycle in range(cycles):
        for step, (current, voltage) in enumerate([(-2.0, 4.0), (0.0, 4.0), (1.0, 3.0)]):
            start = 3600.0 * (3 * cycle + step)
            blocks.append(
                [(3 * cycle + step, start + 900 * k, current, voltage, cycle + 7, step + 1) for k in range(5)]
            )
    rows = [row for block in blocks for row in block]
    names = ("Step count", "Time [s]", "Current [A]", "Voltage [V]", "Cycle from cycler", "Step from cycler")
    return Table.of({name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)})


def test_a_cycle_of_charge_rest_and_discharge() -> None:
    steps = steps_of(charge_and_discharge())
    assert steps["Step count"].tolist() == [0, 1, 2]
    assert steps["Start index"].tolist() == [0, 5, 10]
    assert steps["End index"].tolist() == [4, 9, 14]
    assert steps["Duration [s]"].tolist() == [3600.0, 3600.0, 3600.0]
    assert steps["Charge capacity [A.h]"].tolist() == [2.0, 0.0, 0.0]
    assert steps["Discharge capacity [A.h]"].tolist() == [0.0, 0.0, 1.0]
    assert steps["Charge energy [W.h]"].tolist() == [8.0, 0.0, 0.0]
    assert steps["Discharge energy [W.h]"].tolist() == [0.0, 0.0, 3.0]
    assert steps["Mean power [W]"].tolist() == [-8.0, 0.0, 3.0]
    assert steps["Cycle count"].tolist() == [0, 0, 0]
    assert steps["Cycle from cycler"].tolist() == [7, 7, 7]
    assert steps["Cycle charge capacity [A.h]"].tolist() == [2.0, 2.0, 2.0]
    assert steps["Mean frequency [Hz]"].tolist() == [0.0, 0.0, 0.0]
    assert step_types(steps, 2.0).tolist() == ["Constant current charge", "Rest", "Constant current discharge"]


def test_columns_stand_in_the_declared_order() -> None:
    steps = steps_of(charge_and_discharge())
    declared = [described.name for described in STEP_COLUMNS]
    assert steps.names == [name for name in declared if name in steps]
    left_out = {"Step type", "Step type from cycler", "Frame"} | {
        f"{word} temperature [degC]" for word in ("Min", "Max", "Mean")
    }
    assert set(declared) - set(steps.names) == left_out
    left_out = {"Mean temperature [degC]", "Complete"}
    assert cycles_of(steps).names == [d.name for d in CYCLE_COLUMNS if d.name not in left_out]


def test_cycles_hold_efficiency_retention_and_throughput() -> None:
    cycles = cycles_of(steps_of(charge_and_discharge(3)))
    assert cycles["Cycle count"].tolist() == [0, 1, 2]
    assert cycles["Coulombic efficiency"].tolist() == [0.5, 0.5, 0.5]
    assert cycles["Energy efficiency"].tolist() == [0.375, 0.375, 0.375]
    assert cycles["Capacity retention"].tolist() == [1.0, 1.0, 1.0]
    assert cycles["Energy fade"].tolist() == [0.0, 0.0, 0.0]
    assert cycles["Mean discharge current [A]"].tolist() == [1.0, 1.0, 1.0]
    assert cycles["Mean charge current [A]"].tolist() == [-2.0, -2.0, -2.0]
    assert cycles["Cycle duration [s]"].tolist() == [10800.0] * 3
    assert cycles["Discharge duration [s]"].tolist() == [3600.0] * 3
    assert cycles["Capacity throughput [A.h]"].tolist() == [3.0, 6.0, 9.0]
    assert cycles["Energy throughput [W.h]"].tolist() == [11.0, 22.0, 33.0]
    assert cycles["Start time [s]"].tolist() == [0.0, 10800.0, 21600.0]


def test_ratios_are_null_where_nothing_was_charged_or_the_first_cycle_gave_nothing() -> None:
    steps = Table.of(
        {
            "Cycle count": [0, 1],
            "Discharge capacity [A.h]": [0.0, 2.0],
            "Charge capacity [A.h]": [0.0, 4.0],
            "Duration [s]": [0.0, 10.0],
            "Mean current [A]": [1.0, 0.0],
        }
    )
    cycles = cycles_of(steps)
    assert cycles["Coulombic efficiency"].tolist() == [None, 0.5]
    assert cycles["Capacity retention"].tolist() == [None, None]
    assert cycles["Mean discharge current [A]"].tolist() == [None, None]
    assert "Energy fade" not in cycles
    assert "Mean temperature [degC]" not in cycles


def test_a_ratio_to_almost_nothing_is_no_warning() -> None:
    names = ("Discharge capacity [A.h]", "Charge capacity [A.h]", "Duration [s]", "Mean current [A]")
    steps = Table.of(
        {"Cycle count": [0, 1]}
        | dict(zip(names, ([5e-324, 1.0], [5e-324] * 2, [1.0] * 2, [1.0] * 2), strict=True))
    )
    assert cycles_of(steps)["Capacity retention"].tolist() == [1.0, math.inf]


@pytest.mark.parametrize(
    ("voltages", "wanted"),
    [
        ([3.0], 0.0),
        ([3.0, 5.0], math.sqrt(2.0)),
        ([9.0, 3.0, 5.0], math.sqrt(2.0)),
        ([9.0, 3.0, 5.0, 9.0], math.sqrt(2.0)),
        ([9.0, 3.0, None, 5.0, 9.0], math.sqrt(2.0)),
        ([9.0, None, 5.0, 9.0], 0.0),
    ],
)
def test_deviation_leaves_first_and_last_sample_out_by_position(
    voltages: list[float | None], wanted: float
) -> None:
    n = len(voltages)
    column = Column.from_python(voltages, "number")
    steps = steps_of(
        Table.of({"Step count": [0] * n, "Time [s]": np.arange(n, dtype=float), "Voltage [V]": column})
    )
    assert steps["Std voltage [V]"].tolist() == [pytest.approx(wanted)]


def test_counters_are_last_minus_first_and_each_column_decides_for_itself() -> None:
    table = Table.of(
        {
            "Step count": [0, 0, 0],
            "Time [s]": [0.0, 1800.0, 3600.0],
            "Current [A]": [1.0, 1.0, 1.0],
            "Voltage [V]": Column.from_python([4.0, None, 2.0], "number"),
            "Discharge capacity [A.h]": Column.from_python([None, 0.25, 0.75], "number"),
        }
    )
    steps = steps_of(table)
    assert steps["Discharge capacity [A.h]"].tolist() == [0.5]
    assert steps["Charge capacity [A.h]"].tolist() == [0.0]
    assert steps["Discharge energy [W.h]"].tolist() == [3.0]  # the sample without voltage is left out
    assert steps["Mean voltage [V]"].tolist() == [3.0]


def test_impedance_without_time_has_frequency_and_no_duration() -> None:
    table = Table.of(
        {
            "Step count": [0, 0, 1],
            "Time [s]": Column.from_python([0.0, 10.0, None], "number"),
            "Current [A]": [0.0, 0.0, 0.0],
            "Voltage [V]": [3.0, 3.0, 3.0],
            "Frequency [Hz]": Column.from_python([None, None, 100.0], "number"),
            "Temperature [degC]": [20.0, 22.0, 25.0],
        }
    )
    steps = steps_of(table)
    assert steps["Mean frequency [Hz]"].tolist() == [0.0, 100.0]
    assert steps["Duration [s]"].tolist() == [10.0, None]
    assert step_types(steps, None).tolist() == ["Rest", "EIS"]
    assert steps["Mean temperature [degC]"].tolist() == [21.0, 25.0]
    assert cycles_of(steps)["Mean temperature [degC]"].tolist() == [21.0]


def test_step_types_by_voltage_and_power() -> None:
    time = np.arange(6.0)
    falling, power = np.linspace(2.0, 1.0, 6), 4.0
    blocks = [(falling, np.full(6, 4.2)), (-falling, power / falling), (falling, np.linspace(4, 3, 6) ** 2)]
    table = Table.of(
        {
            "Step count": np.repeat([0, 1, 2], 6),
            "Time [s]": np.concatenate([time, time + 6, time + 12]),
            "Current [A]": np.concatenate([current for current, _ in blocks]),
            "Voltage [V]": np.concatenate([voltage for _, voltage in blocks]),
        }
    )
    types = step_types(steps_of(table), 2.0).tolist()
    assert types == ["Constant voltage discharge", "Constant power charge", "Unknown step type"]


def test_without_a_rated_capacity_the_limits_follow_the_largest_current() -> None:
    """A cell of 10 uA: 0.5 uA is rest only if the limit is a share of its own currents."""
    currents = [1e-5, 1e-5, 1e-5, 1e-5, 5e-8, 5e-8, 5e-8, 5e-8]
    table = Table.of(
        {
            "Step count": [0] * 4 + [1] * 4,
            "Time [s]": np.arange(8.0),
            "Current [A]": currents,
            "Voltage [V]": np.linspace(4, 3, 8),
        }
    )
    steps = steps_of(table)
    assert step_types(steps, None).tolist() == ["Constant current discharge", "Rest"]
    assert step_types(steps, 5.0).tolist() == ["Rest", "Rest"]


def test_given_steps_are_used_as_they_are() -> None:
    table = charge_and_discharge()
    whole = steps_of(table)
    given = Table({**whole.columns, "Step type": Column.text(["a", "b", "c"])}, whole.n)

    def nothing_to_read() -> Table:
        raise AssertionError("complete tables need no samples")

    made = complete_steps(given, iter(nothing_to_read, None), table.n)
    assert step_types(made, 2.0).tolist() == ["a", "b", "c"]
    changed = {**given.columns, "Discharge capacity [A.h]": Column.of(np.array([0.0, 0.0, 5.0]))}
    del changed["Cycle discharge capacity [A.h]"]
    made = complete_steps(Table(changed, given.n), [], table.n)
    assert made["Cycle discharge capacity [A.h]"].tolist() == [5.0, 5.0, 5.0]
    assert cycles_of(made)["Discharge capacity [A.h]"].tolist() == [5.0]


def test_a_range_beyond_the_samples_is_refused() -> None:
    given = Table.of({"Start index": [0, 10], "End index": [9, 15]})
    with pytest.raises(Invalid, match="Step 1 covers samples 10 to 15; the series has 0 to 14"):
        complete_steps(given, [charge_and_discharge()], 15)


def test_whole_numbers_of_a_given_table_become_integers() -> None:
    made = given_steps(
        Table.of({"Start index": [0.0, 5.0], "Cycle from cycler": [1.0, None], "Other": [1.0, 2.0]})
    )
    assert [made[name].kind for name in made] == ["integer", "integer", "number"]
    with pytest.raises(Invalid, match="'Cycle from cycler' must hold whole numbers"):
        given_steps(Table.of({"Cycle from cycler": [1.0, 1.5]}))


def test_samples_without_steps_are_refused() -> None:
    with pytest.raises(Invalid, match="Step count"):
        steps_of(Table.of({"Time [s]": [0.0]}))
    with pytest.raises(Invalid, match="must be an integer"):
        steps_of(Table.of({"Step count": [0.0, 0.5]}))
    with pytest.raises(Invalid, match="must be a column of numbers, not of text"):
        steps_of(Table.of({"Step count": [0], "Current [A]": ["1,5"]}))


def test_no_samples_give_no_steps() -> None:
    steps = StepsBuilder().finish()
    assert steps.n == 0
    assert "Cycle charge energy [W.h]" in steps
    assert cycles_of(steps).n == 0
    assert step_types(steps, None).tolist() == []


def test_memory_is_bounded_by_the_block() -> None:
    """Forty blocks through the builder cost no more at their peak than a few of them."""

    def batch(k: int) -> Table:
        time = np.arange(k * 30_000, (k + 1) * 30_000, dtype=float)
        return Table.of(
            {
                "Step count": (time // 7e5).astype(int),
                "Time [s]": time,
                "Current [A]": np.sin(time),
                "Voltage [V]": time,
            }
        )

    builder = StepsBuilder()
    tracemalloc.start()
    for k in range(40 * BLOCK // 30_000):
        builder.feed(batch(k))
    steps = builder.finish()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert steps.n == 4
    assert peak < 60 * BLOCK * 8


def pulse(times: list[float], currents: list[float], steps: list[int]) -> Table:
    """U = 3.7 V - 20 mOhm * I."""
    current = np.array(currents)
    return Table.of(
        {"Step count": steps, "Time [s]": times, "Current [A]": current, "Voltage [V]": 3.7 - 0.02 * current}
    )


@pytest.mark.parametrize(
    ("times", "currents", "resistance", "gap"),
    [
        ([10.0, 11.0, 20.0, 30.0], [2.0, 2.0, 2.0, 2.0], 0.02, 0.0),  # the rest is logged at the onset
        ([10.5, 11.0, 25.0], [-2.0, -2.0, -2.0], 0.02, 0.5),
        ([10.0, 10.1, 12.0, 30.0], [0.0, 2.0, 2.0, 2.0], 0.02, 0.1),  # the rest once more as first of the step
        ([10.1, 10.2, 10.3, 20.0, 21.0], [0.5, 1.0, 2.0, 2.0, 2.0], 0.02, 0.1),  # a ramp
        ([11.0, 15.0], [2.0, 2.0], None, 1.0),  # over before 10 s
        ([22.0, 30.0], [2.0, 2.0], None, 12.0),  # nothing is known of the first 10 s
        ([10.1, 15.0, 17.0, 20.0], [2.0, 2.0, 1.8, 1.6], None, 0.1),  # not constant
        ([11.0, 15.0, 20.0], [0.0, 0.001, 0.0], None, None),  # rest
    ],
)
def test_a_step_from_rest_has_its_resistance_after_10_s_and_its_onset_gap(
    times: list[float], currents: list[float], resistance: float | None, gap: float | None
) -> None:
    made = steps_of(pulse([0.0, 5.0, 10.0, *times], [0.0] * 3 + currents, [0] * 3 + [1] * len(times)))
    assert made["Resistance at 10 s [Ohm]"].tolist() == [None, resistance and pytest.approx(resistance)]
    assert made["Onset gap [s]"].tolist() == [None, gap if gap is None else pytest.approx(gap)]


def test_a_step_after_a_load_and_the_first_step_have_no_onset() -> None:
    made = steps_of(pulse([0.0, 20.0, 21.0, 40.0], [1.0, 1.0, 2.0, 2.0], [0, 0, 1, 1]))
    assert made["Resistance at 10 s [Ohm]"].tolist() == [None, None]
    assert made["Onset gap [s]"].tolist() == [None, None]
