"""What readers give becomes what a series keeps: steps, cycles, clocks, counters; and what is said about it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from workbench.cycling.conform import Conformer, Known, SecondLook
from workbench.cycling.counters import CounterReset, decimals
from workbench.cycling.findings import Finding
from workbench.cycling.given_samples import Rules
from workbench.cycling.sign_check import Taken
from workbench.errors import FileRefused
from workbench.messages import typed_in
from workbench.table import Column, Table, concat


def looked_at(table: Table, cuts: tuple[int, ...], **options: Any) -> tuple[Table, list[Finding], Conformer]:
    """The conformed samples, the findings and the conformer; second looks are taken."""
    known = Known()
    for _ in range(4):
        conformer = Conformer(known=known, **options)
        edges = [0, *cuts, table.n]
        made = [conformer.feed(table.slice(a, b)) for a, b in pairwise(edges)]
        try:
            _, findings = conformer.finish()
        except SecondLook as look:
            known = look.known
            continue
        return concat(made), findings, conformer
    raise AssertionError("it never settled")


def conform(table: Table, cuts: tuple[int, ...] = (), **options: Any) -> tuple[Table, list[Any], Conformer]:
    """The same with the findings by level and code, but for what most tables here are: one cycle without counters."""
    made, findings, conformer = looked_at(table, cuts, **options)
    return made, [(f.level, f.code) for f in findings if f.code not in ("one_cycle", "integrated")], conformer


def said(table: Table, **options: Any) -> dict[str, str]:
    """What is said of a table, by code."""
    return {
        finding.code: finding.message
        for finding in looked_at(table, (), **options)[1]
        if finding.code != "integrated"
    }


def discharge(n: int = 50, sign: float = 1.0) -> dict[str, Any]:
    """A discharge at 1 A from 4 to 3 V, one sample a minute."""
    return {
        "Time [s]": np.arange(n) * 60.0,
        "Current [A]": np.full(n, sign),
        "Voltage [V]": np.linspace(4.0, 3.0, n),
    }


def half_cycles(*, signed: bool = True) -> dict[str, Any]:
    """Discharge 4 to 3 V, rest, charge 3 to 4 V; 20 samples each."""
    current = np.repeat([1.0, 0.0, -1.0], 20)
    voltage = np.concatenate([np.linspace(4, 3, 20), np.full(20, 3.0), np.linspace(3, 4, 20)])
    return {
        "Time [s]": np.arange(60) * 60.0,
        "Current [A]": current if signed else np.abs(current),
        "Voltage [V]": voltage,
    }


def test_steps_rise_with_the_cyclers_cycle_and_step() -> None:
    table = Table.of(
        {
            **discharge(8),
            "Cycle from cycler": [1, 1, 1, 1, 2, 2, 2, 2],
            "Step from cycler": [1, 1, 2, 2, 2, 1, 1, 3],
        }
    )
    made, findings, _ = conform(table, cuts=(3, 5))
    assert made["Step count"].tolist() == [0, 0, 1, 1, 2, 3, 3, 4]
    assert made["Cycle count"].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert made.names[:5] == ["Time [s]", "Current [A]", "Voltage [V]", "Step count", "Cycle count"]
    assert findings == []


def test_without_steps_rest_charge_and_discharge_tell_them() -> None:
    made, findings, _ = conform(Table.of(half_cycles()), cuts=(7, 33))
    assert made["Step count"].tolist() == np.repeat([0, 1, 2], 20).tolist()
    assert findings == [("assumed", "steps_by_state")]
    assert made["Cycle count"].tolist() == [0] * 60


@pytest.mark.parametrize("cuts", [(), (7, 33, 61, 100)])
def test_within_the_cycles_of_a_file_without_steps_rest_charge_and_discharge_tell_them(
    cuts: tuple[int, ...],
) -> None:
    one = half_cycles()
    table = Table.of(
        {
            "Time [s]": np.arange(120) * 60.0,
            "Current [A]": np.concatenate([one["Current [A]"], -one["Current [A]"]]),
            "Voltage [V]": np.concatenate([one["Voltage [V]"], 7.0 - one["Voltage [V]"]]),
            "Cycle from cycler": np.repeat([4, 5], 60),
        }
    )
    made, findings, _ = conform(table, cuts)
    assert made["Step count"].tolist() == np.repeat([0, 1, 2, 3, 4, 5], 20).tolist()
    assert made["Cycle count"].tolist() == np.repeat([0, 1], 60).tolist()
    assert findings == [("assumed", "steps_by_state")]
    told = "The file has no step counter: a step is each rest, charge and discharge within each cycle."
    assert said(table) == {"steps_by_state": told}


def test_a_file_without_cycle_counter_is_one_cycle_and_says_so() -> None:
    raw = {**half_cycles(), "Step count": np.repeat([0, 1, 2], 20)}
    assert "the whole file is one cycle" in said(Table.of(raw))["one_cycle"]
    assert conform(Table.of(raw))[0]["Cycle count"].tolist() == [0] * 60
    assert said(Table.of({**raw, "Cycle count": np.zeros(60, int)})) == {}


def test_the_rest_limit_follows_small_cells() -> None:
    """Currents of 20 uA with 0.1 uA of offset at rest: a limit of 1 mA would see one long rest."""
    raw = half_cycles()
    raw["Current [A]"] = raw["Current [A]"] * 2e-5 + np.where(raw["Current [A]"] == 0, 1e-7, 0)
    made, _, _ = conform(Table.of(raw))
    assert made["Step count"].tolist() == np.repeat([0, 1, 2], 20).tolist()
    rated, _, _ = conform(Table.of(raw), rated_capacity_ah=5.0)
    assert rated["Step count"].tolist() == [0] * 60


def test_own_steps_are_renumbered_where_they_jump() -> None:
    made, findings, _ = conform(Table.of({**discharge(6), "Step count": [3, 3, 5, 5, 6, 6]}))
    assert made["Step count"].tolist() == [0, 0, 1, 1, 2, 2]
    assert ("assumed", "steps_renumbered") in findings


def test_time_starts_at_0_in_the_decimals_it_was_written_in() -> None:
    table = Table.of({**discharge(3), "Time [s]": [10.1, 10.2, 10.4], "Step from cycler": [1, 1, 1]})
    made, findings, _ = conform(table)
    assert made["Time [s]"].tolist() == [0.0, 0.1, 0.3]
    assert ("assumed", "time_shifted") in findings


def test_a_falling_clock_is_told_and_mended_only_on_request() -> None:
    time = np.arange(50) * 60.0
    time[20:] -= 300.0
    table = Table.of({**discharge(), "Time [s]": time, "Step from cycler": np.ones(50, int)})
    made, findings, _ = conform(table, cuts=(20,))
    assert made["Time [s]"].values.tobytes() == time.tobytes()
    assert findings == [("odd", "time_falls")]
    assert "Time falls once, " in said(table)["time_falls"]
    assert 'repair="time"' in said(table)["time_falls"]
    with typed_in("terminal"):
        assert "--repair time" in said(table)["time_falls"]
    mended, findings, _ = conform(table, cuts=(20,), repair=("time",))
    assert mended["Time [s]"].tolist() == [*time[:20], *(time[20:] + 360.0)][:20] + (time[20:] + 240.0).tolist()
    assert findings == [("repaired", "time")]


@pytest.mark.parametrize("cuts", [(), (1,), (3,), (2, 4, 5)])
def test_counters_start_at_0_in_each_step(cuts: tuple[int, ...]) -> None:
    table = Table.of(
        {
            **discharge(8),
            "Step from cycler": [1, 1, 1, 2, 2, 3, 3, 3],
            "Discharge capacity [A.h]": Column.from_python([0.1, 0.2, 0.4, 0.4, 0.7, None, 0.0, 0.3], "number"),
        }
    )
    made, _, _ = conform(table, cuts)
    assert made["Discharge capacity [A.h]"].tolist() == [0.0, 0.1, 0.3, 0.0, 0.3, None, 0.0, 0.3]


def test_a_counter_that_starts_again_within_a_step_goes_on() -> None:
    table = Table.of(
        {
            **discharge(6),
            "Step from cycler": np.ones(6, int),
            "Charge capacity [A.h]": [0.0, 1.0, 2.0, 0.0, 1.0, 3.0],
        }
    )
    made, findings, _ = conform(table)
    assert made["Charge capacity [A.h]"].tolist() == [0.0, 1.0, 2.0, 2.0, 3.0, 5.0]
    assert ("odd", "counter_falls") in findings


def test_a_net_capacity_is_no_counter_and_is_kept_apart() -> None:
    net = np.concatenate([np.linspace(0, 1, 25), np.linspace(1, 0.2, 25)])
    table = Table.of({**discharge(), "Step from cycler": np.ones(50, int), "Discharge capacity [A.h]": net})
    made, findings, conformer = conform(table)
    assert made["Discharge capacity from cycler [A.h]"].values.tobytes() == net.tobytes()
    assert "Discharge capacity [A.h]" not in made
    assert ("odd", "no_counter") in findings
    assert conformer.kept == ["Discharge capacity from cycler [A.h]"]


@pytest.mark.parametrize("at", [0.0, 2.5])
def test_a_counter_that_stands_still_under_current_is_no_counter(at: float) -> None:
    dead = {"Discharge capacity [A.h]": np.full(50, at), "Charge capacity [A.h]": np.full(50, at)}
    table = Table.of({**discharge(), "Step from cycler": np.ones(50, int), **dead})
    made, findings, conformer = conform(table, cuts=(20,))
    assert made["Discharge capacity from cycler [A.h]"].tolist() == [at] * 50
    assert "Discharge capacity [A.h]" not in made
    assert ("odd", "no_counter") in findings
    assert "stands still while" in said(table)["no_counter"]
    assert conformer.kept == ["Discharge capacity from cycler [A.h]"]
    # Nothing was charged, so a counter of charge that stands still is right.
    assert made["Charge capacity [A.h]"].tolist() == [0.0] * 50


@pytest.mark.parametrize(
    ("batches", "wanted"),
    [
        ([[None, 0.0, 0.501], [0.0]], [[None, 0.0, 0.501], [0.501]]),
        ([[0.0, 0.501], [0.0, 0.0], [0.25]], [[0.0, 0.501], [0.501, 0.501], [0.751]]),
        ([[0.526, 3.876, 0.0], [0.0]], [[0.0, 3.35, 3.35], [3.35]]),
        ([[5.222, 7.874], [0.059], [0.059]], [[0.0, 2.652], [2.711], [2.711]]),
    ],
)
def test_a_batch_that_begins_after_a_start_goes_on_with_all_decimals(
    batches: list[list[float | None]], wanted: list[list[float | None]]
) -> None:
    """A batch may be one row, with fewer decimals than those before it."""
    counter = CounterReset()
    made = []
    for batch in batches:
        still = np.zeros(len(batch))
        column = Column.from_python(batch, "number")
        made.append(counter.feed(column, np.zeros(len(batch), int), still, still).tolist())
    assert made == wanted


numbers = st.lists(
    st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 10_000).map(lambda k: k / 1000))),
    min_size=1,
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(numbers, st.lists(st.integers(0, 40), max_size=4))
def test_any_counter_comes_out_as_the_sum_of_its_rises_within_each_step(
    rows: list[tuple[int, float | None]], cuts: list[int]
) -> None:
    steps = np.cumsum([0 if k == 0 else int(step != rows[k - 1][0]) for k, (step, _) in enumerate(rows)])
    column = Column.from_python([value for _, value in rows], "number")
    counter = CounterReset()
    edges = sorted({0, len(rows), *(cut % len(rows) for cut in cuts)})
    found: list[Any] = []
    for start, stop in pairwise(edges):
        where = np.arange(start, stop)
        found += counter.feed(column.take(where), steps[start:stop], where * 0.0, where * 0.0).tolist()
    wanted: list[float | None] = []
    last_step, last, total = None, 0.0, 0.0
    for step, (_, value) in zip(steps.tolist(), rows, strict=True):
        if value is not None:
            rise = value if value <= 0.01 * last else max(value - last, 0.0)
            total = 0.0 if step != last_step else total + rise
            last_step, last = step, value
        wanted.append(None if value is None else total)
    assert [value is None for value in found] == [value is None for value in wanted]
    assert [v for v in found if v is not None] == pytest.approx([v for v in wanted if v is not None], abs=1e-9)
    for step in set(steps.tolist()):
        inside = [v for v, s in zip(found, steps.tolist(), strict=True) if s == step and v is not None]
        assert inside == sorted(inside)
        assert inside[:1] in ([], [0.0])


def test_decimals_are_those_that_write_every_value() -> None:
    assert decimals(np.array([1.0, 2.0])) == 0
    assert decimals(np.array([0.1, 0.25])) == 2
    assert decimals(np.array([1 / 3])) is None
    assert decimals(np.array([1.0, 2.0]), 3) == 3


def test_reversed_currents_are_refused_with_the_flag_that_settles_it() -> None:
    table = Table.of({**discharge(sign=-1.0), "Step from cycler": np.ones(50, int)})
    taken = Taken("charge", "the headers are those of Such files")
    said = (
        "seems to have the wrong sign: .* read as charge because the headers are those of Such files, "
        ".*voltage is right, say "
    )
    with pytest.raises(FileRefused, match=said + r'sign="discharge"'):
        conform(table, taken=taken)
    with typed_in("terminal"), pytest.raises(FileRefused, match=said + "--sign discharge"):
        conform(table, taken=taken)
    _, findings, _ = conform(table, settled=True)
    assert findings == [("odd", "sign_reversed")]


def test_unsigned_currents_are_refused_also_where_steps_are_unknown() -> None:
    raw = half_cycles(signed=False)
    with pytest.raises(FileRefused, match=r"the same sign everywhere.*sign=\"unsigned\""):
        conform(Table.of({**raw, "Step from cycler": np.repeat([1, 2, 3], 20)}))
    long = {
        name: np.repeat(values, 10) if name != "Time [s]" else np.arange(600) * 6.0 for name, values in raw.items()
    }
    long["Voltage [V]"] = np.interp(np.arange(600), np.arange(60) * 10, raw["Voltage [V]"])
    with pytest.raises(FileRefused, match="the same sign everywhere"):
        conform(Table.of(long))


def test_discharge_alone_and_flat_voltages_are_no_evidence_against_a_sign() -> None:
    _, findings, _ = conform(Table.of({**discharge(), "Step from cycler": np.ones(50, int)}))
    assert findings == []
    flat = {**discharge(), "Voltage [V]": np.full(50, 3.3), "Step from cycler": np.ones(50, int)}
    _, findings, _ = conform(Table.of(flat))
    assert findings == [("assumed", "sign_unchecked")]


def test_time_in_hours_is_seen_by_the_counter() -> None:
    raw = discharge()
    counter = raw["Time [s]"] / 3600
    table = {**raw, "Step from cycler": np.ones(50, int), "Discharge capacity [A.h]": counter}
    assert conform(Table.of(table))[1] == []
    for factor, code in ((3600.0, {"capacity_apart", "time_unit", "time_gap"}), (1 / 3600, {"capacity_apart"})):
        _, findings, conformer = conform(Table.of({**table, "Time [s]": raw["Time [s]"] * factor}))
        assert {found for _, found in findings} <= code
        assert "capacity_apart" in {found for _, found in findings}
        message = conformer.survey.passed.findings()[0].message
        assert "3600 times too" in message


def test_odd_values_are_told_and_stored_as_they_are() -> None:
    raw = discharge()
    raw["Time [s]"][10] = raw["Time [s]"][9]
    raw["Voltage [V]"][10] = raw["Voltage [V]"][9]
    raw["Voltage [V]"][40:] = -0.1
    raw["Current [A]"][3] = np.nan
    raw["Time [s]"][30:] += 1e6
    made, findings, _ = conform(Table.of({**raw, "Step from cycler": np.ones(50, int), "Note": ["x"] * 50}))
    told = {"time_gap", "rows_repeated", "voltage_negative", "null_values", "sign_unchecked"}
    assert {code for _, code in findings} == told
    assert made["Voltage [V]"].values.tobytes() == raw["Voltage [V]"].tobytes()
    assert made["Note"].tolist() == ["x"] * 50


def test_what_cannot_be_a_series_is_refused() -> None:
    for missing, word in (("Current [A]", "current"), ("Voltage [V]", "voltage"), ("Time [s]", "time")):
        raw = discharge()
        del raw[missing]
        with pytest.raises(FileRefused, match=f"recognised as {word}.*column_map="):
            conform(Table.of(raw))
    with pytest.raises(FileRefused, match="no samples"):
        Conformer().finish()


def test_impedance_and_open_circuit_data_need_no_time() -> None:
    spectrum = {
        "Frequency [Hz]": np.geomspace(1e4, 0.1, 20),
        "Z_Re [Ohm]": np.ones(20),
        "Z_Im [Ohm]": -np.ones(20),
    }
    made, _, _ = conform(Table.of(spectrum))
    assert made["Step count"].tolist() == [0] * 20
    curve = {"Stoichiometry": np.linspace(0, 1, 20), "Voltage [V]": np.linspace(4, 3, 20)}
    assert conform(Table.of(curve))[0].n == 20


def test_rules_for_samples_given_by_hand_name_every_break() -> None:
    rules = Rules()
    rules.feed(
        Table.of(
            {
                "Time [s]": Column.from_python([5.0, 4.0, None], "number"),
                "Step count": [1, 3, 3],
                "Current [A]": ["a", "b", "c"],
                "Charge capacity [A.h]": [0.0, -1.0, 0.0],
                "Charge energy [W.h]": [1.0, 2.0, 1.0],
            }
        )
    )
    said = " ".join(rules.broken.values())
    for words in (
        "'Time [s]' must start at 0; it starts at 5",
        "in row 1 it goes from 5 to 4",
        "it is empty in row 2",
        "'Step count' must start at 0; it starts at 1",
        "'Current [A]' must be a column of numbers, not of text values",
        "'Charge capacity [A.h]' is negative in row 1",
        "'Charge energy [W.h]' does not start at 0 in its step in row 0",
        "'Charge energy [W.h]' falls within its step in row 2",
    ):
        assert words in said


def test_rules_pass_what_is_right_however_it_is_cut() -> None:
    made, _, _ = conform(Table.of({**half_cycles(), "Discharge capacity [A.h]": np.arange(60) / 100}))
    for size in (1, 7, 60):
        rules = Rules()
        for start in range(0, 60, size):
            rules.feed(made.slice(start, start + size))
        assert rules.broken == {}


def newest_first(rows: int = 20) -> dict[str, np.ndarray]:
    current = np.where(np.arange(rows) < rows // 2, 1.0, -1.0)
    made = {"Time [s]": 10.0 * np.arange(rows), "Current [A]": current, "Voltage [V]": 3.6 - 0.1 * current}
    return {name: values[::-1] for name, values in made.items()}


@pytest.mark.parametrize("repair", [(), ("time",)])
def test_rows_from_the_newest_to_the_oldest_are_refused(repair: tuple[str, ...]) -> None:
    for cuts in ((), (7, 14), tuple(range(1, 20))):
        with pytest.raises(FileRefused, match="falls in 19 of 19 intervals: the newest row comes first"):
            looked_at(Table.of(newest_first()), cuts, repair=repair)


def test_a_clock_that_was_set_a_few_times_is_only_warned_of() -> None:
    values = newest_first()
    values["Time [s]"] = np.concatenate([10.0 * np.arange(10), 10.0 * np.arange(10)])
    assert "time_falls" in said(Table.of(values))


def test_rows_with_frequency_0_are_no_spectrum() -> None:
    """Potentiostats write 0 beside the samples of a charge: the sign of their current is checked all the same."""
    flow = np.repeat([0.0, -1.0, 0.0, 1.0], 10)
    values = {"Time [s]": 10.0 * np.arange(40), "Current [A]": flow, "Voltage [V]": 3.6 + 0.2 * flow}
    with_zero = {**values, "Frequency [Hz]": np.zeros(40), "Z_Re [Ohm]": np.zeros(40), "Z_Im [Ohm]": np.zeros(40)}
    assert said(Table.of(values)) == said(Table.of(with_zero))
