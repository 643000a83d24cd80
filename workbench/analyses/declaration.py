"""What an analysis is: one declaration, from which commands, methods, routes, catalog and docs derive."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_type_hints

import numpy as np
import pandas as pd
from pydantic import ConfigDict, JsonValue, TypeAdapter, ValidationError

from ..battery.allowed import ABOVE_0, Allowed
from ..battery.result import VALID, WARNING
from ..cached_property import cached_property
from ..errors import BadRequest, instead
from ..messages import refused

Reads = Literal["samples", "steps", "cycles"]
Over = Literal["test", "cell", "cells"]
HALF_CELLS = ("anode", "cathode")
"""Parameters that are tables of half cells: they come from the store."""
_ANYWHERE = dict.fromkeys(("rated", "mass", "radius", "accuracy", "highest", "capacity_per_volt"), ABOVE_0)
"""What parameters that mean the same in all analyses take."""
Result = Callable[[pd.DataFrame], float | None]
"""Takes the table of an analysis and gives one number of it; None where there is none."""


@dataclass(frozen=True)
class Declared:
    """An analysis that is computed from tests and kept.

    Parameters
    ----------
    type : its name, also of the function in ``workbench.battery`` and of the records.
    question : what it answers, as a question.
    version : raised whenever the same inputs give another answer; records of an older one are stale.
    function : takes a frame, and parameters by name, and gives the table.
    reads : what the frame holds: every sample of a test, its steps, or its cycles with ``Complete``.
    kinds : the kinds of tests that it reads, unless its user names tests; empty: all.
    over : ``test``: one table for each test. ``cell``: one for all tests of a cell, in the order of time, whose frame
        has the columns ``Cell`` and ``Test``. ``cells``: one call over all tests, whose frame has the columns ``Cell``,
        ``Test`` and ``Batch``, and whose table has the column ``Cell``; each cell gets its rows.
    needs : the columns without which there is nothing to compute.
    in_life : cycles are counted over the life of a cell, of which a test may be a later part. A comparison of cells has
        ``Cycle in life`` in its frame; an analysis of single tests says that it counts from the first of its own.
    takes : further columns that are read where they are there.
    given : parameter -> the fact of the cell's specification that fills it: ``rated`` (A.h), ``limits`` (the lower
        and upper voltage, V), ``anode`` and ``cathode`` (tables of their half cells).
    fixed : parameters that the workbench sets, because they follow from how it reads.
    results : the name of a result -> what takes it from the table. Lists and plans reach it as
        ``metadata.results.<name>``.
    """

    type: str
    question: str
    version: int
    function: Callable[..., pd.DataFrame]
    reads: Reads
    kinds: tuple[str, ...] = ()
    over: Over = "test"
    needs: tuple[str, ...] = ()
    in_life: bool = False
    takes: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, JsonValue] = field(default_factory=dict)
    results: Mapping[str, Result] = field(default_factory=dict)

    @cached_property
    def defaults(self) -> dict[str, JsonValue]:
        """The parameters that a user can give, with their defaults; those that the specification fills are null."""
        found: dict[str, JsonValue] = {}
        for one in inspect.signature(self.function).parameters.values():
            if one.kind is inspect.Parameter.KEYWORD_ONLY and one.name not in (*self.fixed, *HALF_CELLS):
                default = None if one.default is inspect.Parameter.empty else one.default
                found[one.name] = _plain(default)
        return found

    def parameters(self, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """All parameters: those that are given, and the defaults of the others.

        Raises
        ------
        BadRequest
            For a parameter that the analysis does not have, or a value that it does not take.
        """
        if unknown := [name for name in given if name not in self.defaults]:
            raise BadRequest(
                f"'{self.type}' has no parameter '{unknown[0]}'. "
                f"{instead(unknown[0], self.defaults, 'parameters')}"
            )
        plain = {name: _plain(value) for name, value in given.items()}
        for name, value in plain.items():
            self._check(name, value)
        return {**self.defaults, **plain}

    def _check(self, name: str, value: JsonValue) -> None:
        try:
            self._types[name].validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            wanted = refused("it", first["type"], first["msg"], first.get("ctx")).rstrip(".")
            raise BadRequest(
                f"'{self.type}' cannot take {json.dumps(value)} as '{name}': {wanted}. "
                f"The default is {json.dumps(self.defaults[name])}."
            ) from None
        allowed: Mapping[str, Allowed] = {**_ANYWHERE, **self.function.__dict__.get("allowed", {})}
        if name in allowed and (why := allowed[name].lacking(name, value)) is not None:
            raise BadRequest(f"'{self.type}': {why} The default is {json.dumps(self.defaults[name])}.")

    @cached_property
    def _types(self) -> dict[str, TypeAdapter[object]]:
        """What the function says that each parameter takes. A table comes as rows, which the function itself reads."""
        said = {name: hint for name, hint in get_type_hints(self.function).items() if name in self.defaults}
        frame = ConfigDict(arbitrary_types_allowed=True)
        return {name: TypeAdapter(hint, config=frame) for name, hint in said.items()}


def _plain(value: object) -> JsonValue:
    """A default or a given value as JSON; what JSON has no type for becomes its text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    return str(value)


def valid_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table that were computed."""
    return table[table[VALID]] if VALID in table else table


def reasons(table: pd.DataFrame) -> list[str]:
    """Why rows of a table were not computed, each reason once."""
    if VALID not in table or WARNING not in table:
        return []
    return list(dict.fromkeys(str(text) for text in table.loc[~table[VALID], WARNING] if text))


def median_of(column: str) -> Result:
    """The median of a column over the rows that were computed."""

    def result(table: pd.DataFrame) -> float | None:
        return _number(valid_rows(table)[column].median()) if column in table else None

    return result


def last_of(column: str) -> Result:
    """The last value of a column among the rows that were computed."""

    def result(table: pd.DataFrame) -> float | None:
        if column not in table:
            return None
        values = valid_rows(table)[column].dropna()
        return _number(values.iloc[-1]) if len(values) else None

    return result


def nearest(column: str, at: str, place: float, within: float, **only: str) -> Result:
    """The value of a column in the row where ``at`` is nearest to ``place``, among rows with the texts of ``only``;
    None where the nearest one is not ``within`` so much of it."""

    def result(table: pd.DataFrame) -> float | None:
        rows = valid_rows(table)
        for name, text in only.items():
            rows = rows[rows[name.replace("_", " ")] == text] if name.replace("_", " ") in rows else rows[:0]
        if column not in rows or at not in rows:
            return None
        rows = rows.dropna(subset=[column, at])
        rows = rows[(rows[at] - place).abs() <= within]
        return _number(rows[column].iloc[int((rows[at] - place).abs().argmin())]) if len(rows) else None

    return result


def _number(value: float) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
