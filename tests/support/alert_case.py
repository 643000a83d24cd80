"""A test that grows by cycles, a plot of its cycles, and an alert on each cycle that gives less than a bound."""

from __future__ import annotations

from typing import Any

import workbench as wb
from support.growing_case import samples

PER_CYCLE = 500
PLAN: dict[str, Any] = {
    "steps": {
        "tests": {"op": "list", "source": "measurements", "fields": ["id", "name", "sample_count", "tags"]},
        "cycles": {
            "op": "summary",
            "dataset": "cycles",
            "ids": {"from": "tests", "column": "id"},
            "columns": ["Cycle count", "Discharge capacity [A.h]"],
        },
        "first": {
            "op": "aggregate",
            "input": "cycles",
            "group_by": ["measurement_id"],
            "metrics": {
                "late": {
                    "fn": "first_where",
                    "column": "Cycle count",
                    "where": {"column": "Cycle count", "op": "gte", "value": 3},
                }
            },
        },
    }
}
SCRIPT = "def transform(data, params):\n    return {'data': [{'y': data['cycles']['Cycle count'].tolist()}]}\n"
RECIPE = {"plan": PLAN, "transform": SCRIPT}
RATINGS = {
    name: {"value": value, "unit": unit}
    for name, value, unit in (("capacity", 5.0, "A.h"), ("voltage_min", 2.5, "V"), ("voltage_max", 4.2, "V"))
}


def make(bench: wb.Bench, cycles: int = 1, name: str = "RPT") -> str:
    """A test with some cycles, and the dashboard 'Ageing' with the plot 'Cycles'; its id."""
    bench.specifications.create(name="M50", ratings=RATINGS)
    cell = bench.instances.create(name="A", specification="M50")
    test = bench.measurements.create(instance_id=cell.id, name=name, time_series=samples(cycles * PER_CYCLE))
    bench.dashboards.create("Ageing").save("Cycles", RECIPE)
    return str(test.id)


def grow(bench: wb.Bench, id: str, cycles: int = 1) -> None:
    """Some more cycles."""
    before = bench.measurements.get(id).sample_count
    bench.measurements.extend(id, samples(before + cycles * PER_CYCLE)[before:])


def watch_cycles(bench: wb.Bench, **more: Any) -> Any:
    """The alert on every cycle."""
    plot = bench.dashboards.get("Ageing").plot("Cycles")
    return bench.alerts.create(plot, "A cycle", "cycles", "Discharge capacity [A.h]", below=99.0, **more)
