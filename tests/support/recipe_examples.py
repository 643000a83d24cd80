"""A recipe that holds every object and every field at least once, and ways to look at raw recipes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from workbench.errors import Invalid, Problem

WHOLE: dict[str, Any] = {
    "plan": {
        "steps": {
            "cells": {
                "op": "list",
                "source": "instances",
                "where": {
                    "ids": ["$chosen", "i-2", None],
                    "instanceIds": None,
                    "specificationIds": "$spec",
                    "name": None,
                    "nameContains": "nmc",
                    "batch": "$batch",
                },
                "fields": ["id", "name", "batch_name", "properties.mass.value"],
                "limit": 500,
            },
            "tests": {
                "op": "list",
                "source": "measurements",
                "where": {
                    "instanceIds": {"from": "cells", "column": "id"},
                    "measurementIds": ["m-1"],
                    "measurementType": "time_series",
                    "studyId": None,
                },
                "fields": ["id", "instance_id"],
            },
            "fits": {"op": "list", "source": "analyses", "where": {"analysisType": "dqdv", "name": "$$odd"}},
            "stuffs": {"op": "list", "source": "materials", "where": {"materialId": "x"}},
            "curves": {
                "op": "series",
                "source": "measurements",
                "ids": {"from": "tests", "column": "id"},
                "x": "Time [s]",
                "columns": ["Voltage [V]", "Current [A]"],
                "window": {"min": "$from", "max": 3600},
                "max_points": 1000,
            },
            "cycles": {
                "op": "summary",
                "source": "measurements",
                "dataset": "cycles",
                "ids": {"from": "tests", "column": "id"},
                "columns": ["Cycle count", "Discharge capacity [A.h]"],
            },
            "fade": {
                "op": "aggregate",
                "input": "cycles",
                "group_by": ["measurement_id"],
                "sort_by": "Cycle count",
                "metrics": {
                    "first capacity": {"fn": "first", "column": "Discharge capacity [A.h]", "where": None},
                    "first_capacity": {"fn": "first", "column": "Discharge capacity [A.h]"},
                    "end": {
                        "fn": "first_where",
                        "column": "Cycle count",
                        "where": {
                            "column": "Discharge capacity [A.h]",
                            "op": "lt",
                            "value": {"ratio_of": "first_capacity", "factor": "$fraction"},
                        },
                    },
                    "n": {"fn": "count"},
                },
            },
            "named": {
                "op": "join",
                "left": "fade",
                "right": "tests",
                "on": {"left": "measurement_id", "right": "id"},
                "fields": ["instance_id"],
                "where": {"instance_id": ["i-1", None, "$chosen"], "n": None},
                "how": "left",
            },
        },
        "caps": {
            "max_sources": 50,
            "max_summary_rows": 20000,
            "max_series_points": 20000,
            "max_list_rows": 500,
        },
    },
    "transform": "def transform(data, params):\n    return px.line(data['fade'], x='end', y='n')\n",
    "params": {
        "chosen": {
            "kind": "data",
            "default": [],
            "control": {
                "label": "Cells",
                "description": "Which cells are shown.",
                "optionsFrom": {"step": "stuffs", "value": "id", "label": "name"},
            },
        },
        "spec": {"kind": "data", "default": None},
        "batch": {
            "kind": "data",
            "default": "A",
            "control": {"options": ["A", "B", {"value": "C", "label": "Third"}], "label": None},
        },
        "fraction": {"kind": "data", "default": 0.8, "control": {"min": 0.5, "max": 1, "step": 0.05}},
        "from": {"kind": "data", "default": 0},
        "smooth": {"kind": "view", "default": True, "control": {"options": [{"value": True}, {"value": False}]}},
    },
}


def whole() -> dict[str, Any]:
    """A copy of the whole recipe to change."""
    return copy.deepcopy(WHOLE)


def request() -> dict[str, Any]:
    """An authoring request around the whole recipe, so that it contains every model of the interface."""
    draft = {"name": "Fade", "config": whole()}
    ids = dict.fromkeys(("plot_id", "session_id"), "0190a1b2-0000-7000-8000-00000000abcd")
    return {"prompt": "Show fade", **ids, "draft": draft}


def small(**changes: Any) -> dict[str, Any]:
    """A recipe of one list step; ``steps`` and ``params`` are added to it, other keys replaced."""
    raw: dict[str, Any] = {
        "plan": {"steps": {"cells": {"op": "list", "source": "instances"}}},
        "transform": "def transform(data, params): ...",
    }
    raw["plan"]["steps"].update(changes.pop("steps", {}))
    return raw | changes


def at(raw: Any, *loc: str | int) -> Any:
    """The value at a place."""
    for key in loc:
        raw = raw[key]
    return raw


def put(raw: Any, loc: tuple[str | int, ...], value: Any) -> None:
    """Put a value at a place."""
    at(raw, *loc[:-1])[loc[-1]] = value


def places(raw: Any, loc: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in a raw value, the root too."""
    yield loc
    if isinstance(raw, dict):
        for key, item in raw.items():
            yield from places(item, (*loc, key))
    elif isinstance(raw, list):
        for index, item in enumerate(raw):
            yield from places(item, (*loc, index))


def stands(raw: Any, loc: tuple[str | int, ...]) -> bool:
    """True if every part of ``loc`` is a key or an index of ``raw``."""
    for key in loc:
        in_list = isinstance(raw, list) and isinstance(key, int) and key < len(raw)
        if not in_list and not (isinstance(raw, dict) and key in raw):
            return False
        raw = raw[key]
    return True


def problems_of(call: Any, *args: Any, **kwargs: Any) -> list[Problem]:
    """The problems that a call raises, none if it passes."""
    try:
        call(*args, **kwargs)
    except Invalid as error:
        return error.problems
    return []


def found(call: Any, *args: Any, **kwargs: Any) -> set[tuple[tuple[str | int, ...], str]]:
    """(loc, type) of the problems that a call raises."""
    return {(problem.loc, problem.type) for problem in problems_of(call, *args, **kwargs)}
