"""Mistakes of scripts with frames: the error names the column, or says how a series step becomes a frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import workbench as wb

QUANTITY = {"value": 4.0, "unit": "V"}
RATINGS = {"capacity": {"value": 5.0, "unit": "A.h"}, "voltage_min": QUANTITY, "voltage_max": QUANTITY}
PLAN: dict[str, Any] = {
    "steps": {
        "tests": {"op": "list", "source": "measurements", "fields": ["id", "name"]},
        "curves": {
            "op": "series",
            "source": "measurements",
            "ids": {"from": "tests", "column": "id"},
            "x": "Time [s]",
            "columns": ["Voltage [V]"],
        },
    }
}
ONE = "Step 'curves' is a mapping of id to frame. data['curves'].long(id='id') is one frame of all its sources."
NAME = "the frame has no column 'nme'. Did you mean 'name'?"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    rows = {"Time [s]": [0.0, 1.0], "Current [A]": [1.0, 1.0], "Voltage [V]": [4.0, 3.9]}
    with wb.open(tmp_path_factory.mktemp("hints") / "lab.db") as made:
        made.specifications.create(name="M50", ratings=RATINGS)
        made.instances.create(name="cell", specification="M50")
        made.measurements.create(instance="cell", name="m", time_series=rows)
        yield made


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("data['tests'][['nme', 'id']]", NAME),
        ("data['tests'][['nme']]", NAME),
        ("data['tests'].set_index('nme')", NAME),
        ("data['tests'].set_index(['id', 'nme'])", NAME),
        ("data['tests'].loc[:, ['nme', 'id']]", NAME),
        ("data['tests'].loc[['row']]", "None of ["),
        ("data['tests'].loc['row']", "KeyError: row"),
        ("data['tests'].drop(index='row')", "KeyError: ['row'] not found in axis"),
        ("data['tests'].set_index('id').loc[['row', data['tests']['id'][0]]]", "KeyError: ['row'] not in index"),
        ("data['curves'].groupby('id')", ONE),
        ("data['curves'].empty", ONE),
        ("data['curves'][['Time [s]', 'Voltage [V]']]", ONE),
        ("px.line(data['curves'], x='Time [s]', y='Voltage [V]')", ONE),
        ("data['tests'].merge(data['curves'], left_on='id', right_on='id')", ONE),
        ("data.tests", "no attribute 'tests'. Read it by its key: ['tests']."),
        ("data.test", "no attribute 'test'. Read it by its key: ['tests']."),
    ],
)
def test_what_was_meant_is_said(bench: wb.Bench, line: str, said: str) -> None:
    script = f"def transform(data, params):\n    {line}\n    return go.Figure()\n"
    with pytest.raises(wb.ScriptError) as caught:
        bench.figure({"plan": PLAN, "transform": script})
    assert said in str(caught.value)
    assert caught.value.problems[0].ctx["line"] == 2
