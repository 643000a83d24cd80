"""Plans over the store of 0.1.0, each with its values: every op, and what an answer may leave out or warn of."""

from __future__ import annotations

from typing import Any

from tests.stores.old_store import id_of

Plan = tuple[dict[str, Any], dict[str, Any]]


def tests(**where: Any) -> dict[str, Any]:
    """Measurements with their names."""
    return {
        "op": "list",
        "source": "measurements",
        "where": where,
        "fields": ["id", "name", "instance_name", "tags"],
    }


def summary(dataset: str, *columns: str, ids: Any = None) -> dict[str, Any]:
    return {"op": "summary", "dataset": dataset, "ids": ids or OF_TESTS, "columns": list(columns)}


def series(*columns: str, source: str = "measurements", ids: Any = None, **more: Any) -> dict[str, Any]:
    x, *rest = columns
    return {"op": "series", "source": source, "ids": ids or OF_TESTS, "x": x, "columns": rest, **more}


def plan(_caps: dict[str, int] | None = None, **steps: Any) -> dict[str, Any]:
    return {"plan": {"steps": steps, **({"caps": _caps} if _caps else {})}}


OF_TESTS = {"from": "tests", "column": "id"}
LIFE = tests(nameContains="life")
DISCHARGE = "Discharge capacity [A.h]"
FIRST = id_of("measurements", "P-A-1", "life 1")
SECOND = id_of("measurements", "P-A-1", "life 2")
RUNNING = id_of("measurements", "P-A-3", "running")
SPECTRUM = id_of("measurements", "P-A-2", "impedance")

FADED = {
    "op": "aggregate",
    "input": "cycles",
    "group_by": ["measurement_id"],
    "sort_by": "Cycle count",
    "metrics": {
        "reference": {"fn": "first", "column": DISCHARGE},
        "end_of_life": {
            "fn": "first_where",
            "column": "Cycle count",
            "where": {"column": DISCHARGE, "op": "lt", "value": {"ratio_of": "reference", "factor": "$fraction"}},
        },
        "last_good": {
            "fn": "last_where",
            "column": "Cycle count",
            "where": {"column": DISCHARGE, "op": "gte", "value": {"ratio_of": "reference", "factor": 0.95}},
        },
        "count": {"fn": "count"},
    },
}
FRACTION = {"fraction": {"kind": "data", "default": 0.95, "control": {"min": 0.5, "max": 1}}}
CHOICES = {
    "chosen": {
        "kind": "data",
        "default": [],
        "control": {"optionsFrom": {"step": "all", "value": "id", "label": "name"}},
    },
}

PLANS: dict[str, Plan] = {
    # list
    "list of cells": (plan(cells={"op": "list", "source": "instances"}), {}),
    "list of tests": (plan(rows={"op": "list", "source": "measurements"}), {}),
    "list of specifications": (plan(rows={"op": "list", "source": "cellSpecifications"}), {}),
    "list of analyses": (plan(rows={"op": "list", "source": "analyses"}), {}),
    "list of materials": (plan(rows={"op": "list", "source": "materials"}), {}),
    "list of property sets": (plan(rows={"op": "list", "source": "materialProperties"}), {}),
    "list of simulations": (plan(rows={"op": "list", "source": "simulations"}), {}),
    "dotted names": (
        plan(
            cells={
                "op": "list",
                "source": "instances",
                "fields": [
                    "name",
                    "properties.mass.value",
                    "properties.tab\\.width",
                    "properties.checked",
                    "properties.no",
                ],
            },
            tests={
                "op": "list",
                "source": "measurements",
                "fields": ["name", "protocol.name", "properties.steps.deep.er", "test_setup.channel", "tags"],
            },
            specs={
                "op": "list",
                "source": "cellSpecifications",
                "fields": ["ratings.capacity.value", "ratings.capacity.unit"],
            },
            analyses={"op": "list", "source": "analyses", "fields": ["metadata.fit.r2"]},
        ),
        {},
    ),
    "filters": (
        plan(
            batch={"op": "list", "source": "instances", "where": {"batch": "a"}, "fields": ["name"]},
            kind=tests(measurementType="properties"),
            study=tests(studyId=id_of("studies", "Fade of pouches")),
            runs={
                "op": "list",
                "source": "simulations",
                "where": {"studyId": id_of("studies", "Fade of pouches")},
                "fields": ["name"],
            },
            exact=tests(name="running"),
            cells=tests(instanceIds=[id_of("instances", "P-A-2"), None]),
            analysis={"op": "list", "source": "analyses", "where": {"analysisType": "note"}, "fields": ["name"]},
            material={
                "op": "list",
                "source": "materialProperties",
                "where": {"materialId": id_of("materials", "NMC 811")},
                "fields": ["name"],
            },
            nothing=tests(ids=[]),
        ),
        {},
    ),
    "a list cut short": (plan(rows={**tests(), "limit": 3}), {}),
    "a list cut by a cap": (plan({"max_list_rows": 2}, rows=tests()), {}),
    # series
    "series, whole": (plan(tests=LIFE, s=series("Time [s]", "Voltage [V]", "Temperature [degC]")), {}),
    "series, selected": (
        plan(s=series("Time [s]", "Voltage [V]", "Current [A]", ids=[FIRST, SECOND], max_points=40)),
        {},
    ),
    "series, shared": (plan({"max_series_points": 60}, tests=LIFE, s=series("Time [s]", "Voltage [V]")), {}),
    "series in a window": (
        plan(s=series("Time [s]", "Voltage [V]", ids=[FIRST], window={"min": 3600, "max": "$until"}))
        | {"params": {"until": {"kind": "data", "default": 5400.5}}},
        {},
    ),
    "series in a window of nothing": (
        plan(s=series("Time [s]", "Voltage [V]", ids=[FIRST], window={"min": 9, "max": 1})),
        {},
    ),
    "series of a column that one test lacks": (
        plan(
            s=series(
                "Time [s]",
                "Voltage [V]",
                "Cycle count",
                ids=[FIRST, id_of("measurements", "P-A-3", "without counters")],
            )
        ),
        {},
    ),
    "series over life": (
        plan(s=series("Time in life [d]", "Voltage [V]", "Cycle in life", ids=[SECOND], max_points=50)),
        {},
    ),
    "a spectrum": (plan(s=series("Z_Re [Ohm]", "Z_Im [Ohm]", "Frequency [Hz]", ids=[SPECTRUM])), {}),
    "series of other sources": (
        plan(
            runs={"op": "list", "source": "simulations", "fields": ["id"]},
            run=series("Time [s]", "Voltage [V]", source="simulations", ids={"from": "runs", "column": "id"}),
            table=series("SOC", "R [Ohm]", "word", source="analyses", ids=[id_of("analyses", "resistance")]),
            curve=series(
                "Stoichiometry",
                "Potential [V]",
                "note",
                source="materialProperties",
                ids=[id_of("material_properties", "OCP")],
            ),
        ),
        {},
    ),
    # summary
    "steps": (
        plan(
            s=summary(
                *("steps", "Step count", "Step type", "Duration [s]", "Min voltage [V]", "Mean current [A]"),
                *("Discharge capacity [A.h]", "Mean temperature [degC]", "Start index", "End index"),
                ids=[FIRST, RUNNING],
            )
        ),
        {},
    ),
    "cycles": (
        plan(tests=LIFE, c=summary("cycles", "Cycle count", DISCHARGE, "Coulombic efficiency", "Max voltage [V]")),
        {},
    ),
    "cycles over life": (
        plan(
            tests=LIFE,
            c=summary("cycles", "Cycle in life", "Time in life [d]", "Capacity throughput in life [A.h]"),
            s=summary("steps", "Cycle in life", "Energy throughput in life [W.h]", ids=[SECOND]),
        ),
        {},
    ),
    # aggregate
    "end of life": (
        plan(tests=LIFE, cycles=summary("cycles", "Cycle count", DISCHARGE), life=FADED) | {"params": FRACTION},
        {},
    ),
    "end of life, another fraction": (
        plan(tests=LIFE, cycles=summary("cycles", "Cycle count", DISCHARGE), life=FADED) | {"params": FRACTION},
        {"fraction": 0.99},
    ),
    "every function": (
        plan(
            steps=summary("steps", "Step type", "Duration [s]", "Mean voltage [V]", ids=[FIRST]),
            kinds={
                "op": "aggregate",
                "input": "steps",
                "group_by": ["Step type"],
                "metrics": {
                    fn: {"fn": fn, "column": "Duration [s]"}
                    for fn in ("first", "last", "min", "max", "mean", "sum", "count")
                },
            },
        ),
        {},
    ),
    # join
    "joins": (
        plan(
            tests=tests(),
            cells={
                "op": "list",
                "source": "instances",
                "fields": ["id", "name", "batch_name", "properties.electrolyte"],
            },
            inner={
                "op": "join",
                "left": "tests",
                "right": "cells",
                "on": {"left": "instance_name", "right": "name"},
            },
            left={
                "op": "join",
                "left": "cells",
                "right": "tests",
                "on": {"left": "name", "right": "instance_name"},
                "how": "left",
                "fields": ["name", "tags"],
                "where": {"batch_name": ["A", None]},
            },
        ),
        {},
    ),
    # params
    "live choices": (
        plan(all=tests(nameContains="life"), tests=tests(ids="$chosen"), c=summary("cycles", "Cycle count"))
        | {"params": CHOICES},
        {"chosen": [FIRST, "gone"]},
    ),
    "choices that cascade": (
        plan(
            cells={"op": "list", "source": "instances", "fields": ["id", "name"]},
            all=tests(instanceIds="$cell"),
            tests=tests(ids="$test"),
            s=series("Time [s]", "Voltage [V]", max_points=10),
        )
        | {
            "params": {
                "cell": {
                    "kind": "data",
                    "default": id_of("instances", "P-A-2"),
                    "control": {"optionsFrom": {"step": "cells", "value": "id", "label": "name"}},
                },
                "test": {
                    "kind": "data",
                    "default": FIRST,
                    "control": {"optionsFrom": {"step": "all", "value": "id", "label": "name"}},
                },
                "look": {"kind": "view", "default": "dark", "control": {"options": ["dark", "light"]}},
            }
        },
        {"look": "light"},
    ),
    "the unit of the second rating": (
        plan(
            tests=tests(), cells={"op": "list", "source": "cellSpecifications", "where": {"nameContains": "coin"}}
        ),
        {},
    ),
    # refused
    "an unknown column": (plan(rows={"op": "list", "source": "instances", "fields": ["nme"]}), {}),
    "an unknown id": (plan(s=series("Time [s]", "Voltage [V]", ids=[id_of("instances", "P-A-1")])), {}),
    "a test without samples": (
        plan(s=series("Time [s]", "Voltage [V]", ids=[id_of("measurements", "P-A-1", "weighing")])),
        {},
    ),
    "more sources than the cap": (plan({"max_sources": 1}, tests=LIFE, s=series("Time [s]", "Voltage [V]")), {}),
    "more rows than the cap": (plan({"max_summary_rows": 3}, tests=LIFE, c=summary("cycles", "Cycle count")), {}),
    "a value out of bounds": (
        plan(tests=LIFE, cycles=summary("cycles", "Cycle count", DISCHARGE), life=FADED) | {"params": FRACTION},
        {"fraction": 2},
    ),
}
"""Name -> recipe without a script, and the values that are given."""
