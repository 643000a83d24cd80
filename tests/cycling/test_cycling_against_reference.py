"""Random series: the fast summaries give what the slow reference gives, however the samples come in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from support import reference_summaries as reference
from support.examples import examples

from workbench.cycling import cycles, steps
from workbench.cycling import given_steps as given_tables
from workbench.cycling import steps_builder as builder
from workbench.table import Column, Table

OPTIONAL = (
    "Frequency [Hz]",
    "Temperature [degC]",
    "Step from cycler",
    "Cycle from cycler",
    "Cycle count",
    *reference.COUNTERS,
)
values = st.one_of(
    st.none(),
    st.just(math.nan),
    st.floats(-5, 5, allow_nan=False).map(lambda value: round(value, 9)),
    st.sampled_from([0.0, 3.7, 3.7, -1.0, 0.1, 0.1]),
)
integers = st.one_of(st.none(), st.integers(1, 4))


@st.composite
def series(draw: st.DrawFn) -> list[dict[str, Any]]:
    lengths = draw(st.lists(st.integers(1, 7), min_size=1, max_size=8))
    optional = draw(st.sets(st.sampled_from(OPTIONAL)))
    rows: list[dict[str, Any]] = []
    time = 0.0
    for number, length in enumerate(lengths):
        for _ in range(length):
            time += draw(st.sampled_from([0.0, 0.1, 1.0, 10.0]))
            row: dict[str, Any] = {"Step count": number, "Time [s]": draw(st.sampled_from([time, time, None]))}
            row |= {"Current [A]": draw(values), "Voltage [V]": draw(values)}
            for name in sorted(optional):
                row[name] = draw(integers if name.endswith(("cycler", "count")) else values)
            rows.append(row)
    return rows


def as_table(rows: list[dict[str, Any]]) -> Table:
    made = {}
    for name in rows[0]:
        kind = "integer" if name.endswith(("cycler", "count")) else "number"
        made[name] = Column.from_python([row[name] for row in rows], kind)
    return Table(made, len(rows))


def pieces(table: Table, cuts: list[int]) -> Iterator[Table]:
    edges = sorted({0, table.n, *(cut % (table.n + 1) for cut in cuts)})
    for start, stop in pairwise(edges):
        yield table.slice(start, stop)


def same(found: Table, wanted: list[dict[str, Any]]) -> None:
    assert found.n == len(wanted)
    assert set(found.names) == set(wanted[0])
    for place, (mine, theirs) in enumerate(zip(found.records(), wanted, strict=True)):
        for name, value in theirs.items():
            got = mine[name]
            if value is None or got is None:
                assert got is value, (place, name, got, value)
            else:
                scale = 1e-9 if name.startswith("Std") else 1e-12
                assert math.isclose(got, value, rel_tol=1e-11, abs_tol=scale * 100), (place, name, got, value)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 5 samples, so that short series cross them."""
    monkeypatch.setattr(builder, "BLOCK", 5)


MANY = settings(
    max_examples=examples(60, 1000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@MANY
@given(series(), st.lists(st.integers(0, 100), max_size=6))
def test_steps_and_cycles_are_those_of_the_reference(rows: list[dict[str, Any]], cuts: list[int]) -> None:
    made = steps.steps_of(pieces(as_table(rows), cuts))
    wanted = reference.steps(rows)
    same(made, wanted)
    same(cycles.cycles_of(made), reference.cycles(wanted))


@MANY
@given(series(), st.lists(st.integers(0, 100), max_size=6))
def test_batches_do_not_change_a_bit(rows: list[dict[str, Any]], cuts: list[int]) -> None:
    table = as_table(rows)
    whole, cut = steps.steps_of(table), steps.steps_of(pieces(table, cuts))
    for name in whole:
        assert whole[name].kind == cut[name].kind
        assert (whole[name].null_mask() == cut[name].null_mask()).all()
        known = ~whole[name].null_mask()
        assert whole[name].values[known].tobytes() == cut[name].values[known].tobytes(), name


@MANY
@given(series(), st.floats(0.001, 10) | st.none())
def test_step_types_follow_the_rules_in_order(rows: list[dict[str, Any]], rated: float | None) -> None:
    made = steps.steps_of(as_table(rows))
    wanted = reference.steps(rows)
    currents = [abs(row["Current [A]"]) for row in rows if reference.known(row["Current [A]"])]
    cap = 0.01 * max(currents, default=0.0)
    if rated:
        rest, constant = min(1e-3, rated / 1000), min(1e-2, rated / 200)
    else:
        rest, constant = (min(1e-3, cap), min(1e-2, cap)) if cap else (1e-3, 1e-2)
    found = steps.step_types(made, rated).tolist()
    for got, row in zip(found, wanted, strict=True):
        margins = (
            abs(row["Std current [A]"] - constant),
            abs(row["Std voltage [V]"] - 0.01),
            abs(row["Std power [W]"] - 0.01),
            abs(abs(row["Mean current [A]"] or 1.0) - rest),
        )
        if min(margins) > 1e-9:
            assert got == reference.step_type(row, rest, constant)


@MANY
@given(series(), st.data())
def test_given_ranges_are_measured_like_steps(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    """Ranges in any order, with gaps and overlaps; what is missing comes from exactly their samples."""
    ranges = data.draw(
        st.lists(
            st.tuples(st.integers(0, len(rows) - 1), st.integers(0, len(rows) - 1)).map(sorted),
            min_size=1,
            max_size=6,
        )
    )
    given_rows = Table.of(
        {
            "Start index": [start for start, _ in ranges],
            "End index": [stop for _, stop in ranges],
            "Mean voltage [V]": [9.0] * len(ranges),
            "Remark": ["kept"] * len(ranges),
        }
    )
    made = given_tables.complete_steps(given_rows, [as_table(rows)], len(rows))
    numbers = reference.cycle_numbers(rows)
    wanted = []
    for start, stop in ranges:
        row = reference.one_step(rows[start : stop + 1], start, numbers[start])
        row |= reference.onset(rows[:start], rows[start : stop + 1], row["Std current [A]"])
        wanted.append(row | {"Mean voltage [V]": 9.0, "Remark": "kept", "Step count": rows[start]["Step count"]})
    reference.add_cycle_sums(wanted)
    for row in wanted:
        del row["Remark"]
    assert made["Remark"].tolist() == ["kept"] * len(ranges)
    same(made.select([name for name in made if name != "Remark"]), wanted)
    assert np.all(made["Mean voltage [V]"].values == 9.0)
