"""Why a step of a plan gave no rows, or lost whole tests: what its author must know to repair it.

A condition that no row fulfils is easily written: `Complete` is null in many files, and a name is guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from ..dataset import Dataset
from ..messages import counted
from ..recipe.names import REFERENCE
from ..table import Plain, Table

_MOST_VALUES = 6
_KEYS = ("measurement_id", "id")
Step = Mapping[str, JsonValue]


def reasons(steps: Mapping[str, JsonValue], data: Dataset, *, lists: bool = True) -> list[str]:
    """A sentence for each step without rows whose own inputs have some, and for each join that drops whole tests whose
    values are null. ``lists``: also for each list without rows, which is not a fault where something is drawn."""
    found: list[str] = []
    for name, step in steps.items():
        result = data.steps.get(name)
        if isinstance(step, dict) and isinstance(result, Table):
            if step.get("op") == "join":
                found += _of_join(name, step, result, data)
            elif lists and step.get("op") == "list" and not result.n:
                found += _of_list(name, step, data)
    return found


def null_columns(data: Dataset) -> list[str]:
    """A sentence for each step whose rows have a column of nulls alone: a script that takes one value finds none."""
    return [
        f"Step '{name}' has {counted(result.n, 'row')}; null in all: {', '.join(empty)}."
        for name, result in data.steps.items()
        if isinstance(result, Table)
        and result.n
        and (empty := [column for column in result if result[column].null_mask().all()])
    ]


def _of_list(name: str, step: Step, data: Dataset) -> Iterator[str]:
    where = step.get("where")
    given = where if isinstance(where, dict) else {}
    asked = {key: _bound(value, data) for key, value in given.items()}
    said = ", ".join(f"{key} {_text(value)}" for key, value in asked.items() if value is not None)
    yield f"Step '{name}' finds no {step.get('source')}" + (f" with {said}." if said else ".")
    for value in given.values():
        inside = REFERENCE.findall(value) if isinstance(value, str) and not REFERENCE.fullmatch(value) else []
        for param in (one for one in inside if one in data.values):
            yield f"'${param}' stands for its param only as a whole text, never inside one."


def _of_join(name: str, step: Step, result: Table, data: Dataset) -> Iterator[str]:
    sides = [data.steps.get(str(step.get(side))) for side in ("left", "right")]
    tables = [one for one in sides if isinstance(one, Table)]
    where = step.get("where")
    if len(tables) < len(sides) or not all(one.n for one in tables) or not isinstance(where, dict):
        return
    for column, wanted in where.items():
        value = _bound(wanted, data)
        held = next((one for one in tables if column in one), None)
        if held is None or value is None:
            continue
        values = held[column].tolist()
        nulls = sum(one is None for one in values)
        takes_null = isinstance(value, list) and None in value
        if not result.n:
            if not takes_null and nulls == len(values):
                yield f"Step '{name}' has no rows: {column} is null in all {counted(nulls, 'row')}. {_repair(value)}"
            elif not _meets(value, values):
                shown = ", ".join(map(_text, list(dict.fromkeys(values))[:_MOST_VALUES]))
                yield f"Step '{name}' has no rows: none has {column} {_text(value)}. There are {shown}."
        elif not takes_null and nulls:
            lost = _only_null(held, values)
            if lost:
                yield f"Step '{name}' drops all of {counted(lost, 'test')}, whose {column} is null. {_repair(value)}"


def _only_null(table: Table, values: list[Plain]) -> int:
    """How many tests have nulls alone."""
    key = next((key for key in _KEYS if key in table), None)
    if key is None:
        return 0
    owners = table[key].tolist()
    known = {owner for owner, value in zip(owners, values, strict=True) if value is not None}
    return len({*owners} - known)


def _repair(value: JsonValue) -> str:
    several = value if isinstance(value, list) else [value]
    return f"Null is unknown; write {_text([*several, None])} to keep it."


def _meets(wanted: JsonValue, values: list[Plain]) -> bool:
    several = wanted if isinstance(wanted, list) else [wanted]
    return any(
        one == value and isinstance(one, bool) == isinstance(value, bool) for one in several for value in values
    )


def _bound(value: JsonValue, data: Dataset) -> JsonValue:
    """A value of a plan with the value of its param in place of `$name`."""
    if isinstance(value, list):
        return [_bound(one, data) for one in value]
    if isinstance(value, str) and value.startswith("$") and value[1:] in data.values:
        bound: JsonValue = data.values[value[1:]]
        return bound
    return value


def _text(value: JsonValue | Plain) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:200]
