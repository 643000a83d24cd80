"""What an analysis finds: reads its tests, calls its function once, and says for each test what is to be kept of it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TypeAlias

import numpy as np
import pandas as pd
from pydantic import JsonValue

from ..battery.doubts import Doubt
from ..battery.result import WARNINGS, Remark, refused
from ..cycling.life import CYCLE_IN_LIFE
from ..dataset import Warn
from ..engine.cell_life import Lives
from ..engine.reader import Reader
from ..store import Scope, Store
from .declaration import Declared
from .half_cells import ELECTRODES, curve_of, lacking, table_of
from .keeping import CHOSEN, MOST_NAMED, Output, digest_of, input_of
from .tests import Test, frames, joined, remarks

Argument: TypeAlias = JsonValue | pd.DataFrame | tuple[float, float]
Outputs: TypeAlias = dict[str, list[Output]]


def outputs(
    store: Store, scope: Scope, declared: Declared, tests: Sequence[Test], given: Mapping[str, JsonValue]
) -> Outputs:
    """What is to be kept of tests that belong together, by their ids: nothing of those that another one speaks for."""
    several = declared.in_life and declared.over == "cells" and any(len(one.of_cell) > 1 for one in tests)
    lives = Lives(Reader(store, scope)) if several else None
    read, problems = frames(store, scope, declared, tests, lives)
    inputs = [input_of(one.id, one.name, declared.reads, read[one.id]) for one in tests if one.id in read]
    name = declared.type if not given else f"{declared.type} ({_shown(given)})"
    newest = tests[-1]
    if declared.over == "cells":
        order = [] if lives is None else lives.warnings([*read], [CYCLE_IN_LIFE])
        return _by_cell(declared, tests, read, inputs, name, given, order)
    label, data = newest.shown, read.get(newest.id)
    if declared.over == "cell":
        label = newest.cell
        data = joined(tests, read) if read else None
    made: Outputs = {one.id: [] for one in tests}
    if data is None:
        table = _refusal(declared, problems[newest.id])
    else:
        try:
            filled = _from_specification(store, scope, declared, newest)
        except ValueError as error:
            table = _refusal(declared, str(error))
        else:
            table = _called(declared, data, {**declared.fixed, **filled, **given})
    said = [asdict(one) for one in remarks(declared, tests, read)]
    table.attrs[WARNINGS] = [*said, *table.attrs.get(WARNINGS, [])]
    made[newest.id] = [Output(declared.type, f"{label}: {name}", table, _results(declared, table), inputs)]
    return made


def _by_cell(
    declared: Declared,
    tests: Sequence[Test],
    read: Mapping[str, pd.DataFrame],
    inputs: Sequence[Mapping[str, JsonValue]],
    name: str,
    given: Mapping[str, JsonValue],
    order: Sequence[Warn],
) -> Outputs:
    """One call over all tests, and the rows of each cell with the newest of its tests."""
    of_cell: dict[str, list[Test]] = {}
    for one in tests:
        of_cell.setdefault(one.cell, []).append(one)
    if read:
        batches = {one.id: one.batch or "" for one in tests}
        table = _called(declared, joined(tests, read, {"Batch": batches}), {**declared.fixed, **given})
    else:
        table = _refusal(declared, "No test has data to read.")
    unknown = [asdict(Remark(one.code, one.message, declared.type)) for one in order]
    table.attrs[WARNINGS] = [*unknown, *table.attrs.get(WARNINGS, [])]
    made: Outputs = {one.id: [] for one in tests}
    rows_of = dict(iter(table.groupby("Cell", sort=False))) if "Cell" in table else {}
    input_by_id = {one["measurement_id"]: one for one in inputs}
    all_named = len(inputs) <= MOST_NAMED
    digest = "" if all_named else digest_of(inputs)
    for cell, own in of_cell.items():
        rows = rows_of.get(cell, table.iloc[:0]).reset_index(drop=True) if "Cell" in table else table
        rows.attrs = table.attrs
        named: Sequence[Mapping[str, JsonValue]] = inputs
        others: dict[str, JsonValue] = {}
        if not all_named:
            named = [input_by_id[one.id] for one in own if one.id in input_by_id]
            others = {"tests": len(inputs) - len(named), CHOSEN: len(tests), "sha256": digest}
        made[own[-1].id] = [
            Output(
                declared.type,
                f"{cell}: {name}",
                rows,
                _results(declared, rows),
                named,
                others,
                [one.id for one in own],
            )
        ]
    return made


def _from_specification(store: Store, scope: Scope, declared: Declared, test: Test) -> dict[str, Argument]:
    """The arguments that the specification gives.

    Raises
    ------
    ValueError
        If a half cell is missing; names it.
    """
    made: dict[str, Argument] = {}
    for name, fact in declared.given.items():
        if fact in ELECTRODES:
            curve = curve_of(store, scope, test.specification, ELECTRODES[fact])
            if curve is None:
                raise ValueError(lacking(test.specification, ELECTRODES[fact]))
            made[name] = table_of(store, scope, curve)
        elif fact == "limits" and test.limits is not None:
            made[name] = test.limits
        elif (value := test.fact(fact)) is not None:
            made[name] = value
    return made


def _called(declared: Declared, data: pd.DataFrame, arguments: Mapping[str, Argument]) -> pd.DataFrame:
    """The table of an analysis; an input that it refuses becomes a table that says why."""
    said: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            table = declared.function(data, **arguments)
        said = [str(one.message) for one in caught if issubclass(one.category, Doubt)]
    except (ValueError, TypeError, KeyError, ArithmeticError, np.linalg.LinAlgError) as error:
        return _refusal(declared, str(error))
    if table.empty:
        told = [str(one["message"]) for one in table.attrs.get(WARNINGS, [])]
        return _refusal(declared, " ".join(told) or "There is nothing of that kind in the test.")
    extra = [asdict(Remark("doubt", text)) for text in dict.fromkeys(said)]
    present = list(table.attrs.get(WARNINGS, []))
    table.attrs = {WARNINGS: [*present, *(one for one in extra if one not in present)]}
    return table


def _refusal(declared: Declared, reason: str) -> pd.DataFrame:
    return refused([], "refused", reason, declared.type)


def _results(declared: Declared, table: pd.DataFrame) -> dict[str, JsonValue]:
    return {name: take(table) for name, take in declared.results.items()}


def _shown(given: Mapping[str, JsonValue]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(given.items()))
