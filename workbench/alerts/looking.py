"""Looks at alerts: runs the plan of the plot and notes the rows for which an alert is true for the first time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ..dataset import StepResult
from ..engine import answer
from ..engine.equality import is_any_of
from ..engine.reader import Cancel
from ..errors import Cancelled, Invalid, Problem, WorkbenchError, instead
from ..recipe.check import sound
from ..recipe.jsontext import show
from ..recipe.plot import PlotConfig
from ..recipe.steps import Step
from ..recipe.steps.aggregate import AggregateStep
from ..records import Plot
from ..records.values import as_moment
from ..store.cache.cache import Cache
from ..store.records.alerts import Alert, Occurrence, Seen
from ..store.scope import Scope
from ..store.store import Store
from ..table import Column, Plain, Table, time_text, to_micros

_NAMING = ("id", "measurement_id", "Step count", "Cycle count")
"""Columns that name the rows of a step without groups."""
_TEST = "measurement_id"
MOST_COLUMNS = 30
"""Columns of a row that are kept with what was found."""
ACTION = "alert"
"""What the audit log calls an occurrence."""


class _Held(NamedTuple):
    """What a column of a kind holds, an example, and of which kinds a value is that can be equal to it."""

    holds: str
    example: str
    equal_to: tuple[str, ...] = ()


_HELD = {
    "number": _Held("numbers", "2.5", ("number",)),
    "integer": _Held("whole numbers", "2", ("number",)),
    "boolean": _Held("true or false", "true", ("boolean",)),
    "text": _Held("texts", '"2"', ("text",)),
    "datetime": _Held("times", '"2026-01-31T12:00:00Z"'),
}
_DAY = re.compile(r"[\d-]*")
"""A text that names a day at most, which is not one time."""


def look(
    store: Store, cache: Cache | None, alerts: Iterable[tuple[Alert, Scope]], cancel: Cancel | None = None
) -> list[Occurrence]:
    """Look at these alerts, each in its scope; gives what is true for the first time.

    Why a look failed is noted with the alert, and does not keep the others from being looked at. After ``cancel`` those
    that are left stay stale.
    """
    found: list[Occurrence] = []
    for alert, scope in alerts:
        seen_at = store.latest()
        try:
            with store.snapshot():
                seen_at = store.latest()
                rows = true_rows(store, cache, alert, scope, cancel)
        except Cancelled:
            break
        except WorkbenchError as error:
            store.alerts.failed(alert, str(error)[:1000], seen_at)
            continue
        except Exception as error:  # whatever breaks one alert, the others are looked at
            store.alerts.failed(alert, f"{type(error).__name__}: {error}"[:1000], seen_at)
            continue
        with store.transaction() as db:
            made = store.alerts.note(db, alert, rows, seen_at)
            for one in made:
                detail = {
                    "alert": alert.name,
                    "plot": alert.plot_id,
                    **{k: str(v)[:200] for k, v in one.key.items()},
                }
                store.people.note(db, ACTION, scope.organization_id, target=one.id, detail=detail)
        found += made
    return found


def true_rows(
    store: Store, cache: Cache | None, alert: Alert, scope: Scope, cancel: Cancel | None = None
) -> list[Seen]:
    """The rows for which an alert is true now.

    Raises
    ------
    Invalid
        If the plan does not run with the values of the alert, or has not its step or columns.
    """
    config = sound(store.rows.get(Plot, alert.plot_id, scope).config)
    result = answer.dataset(config, alert.values, store, scope, cache, cancel=cancel).dataset.steps
    table = _rows_of(alert.step, result)
    holds = _holds(alert, table)
    names = key_columns(alert.key, alert.step, config, table)
    places = np.flatnonzero(holds)
    kept = table.select(list(table)[:MOST_COLUMNS]).take(places)
    keys = table.select(names).take(places)
    found = [(_plain(key), _plain(row)) for key, row in zip(_records(keys), _records(kept), strict=True)]
    tests = _tests([row.get(_TEST) for _, row in found], store, scope)
    return [Seen(key, {**tests.get(row.get(_TEST), {}), **row}) for key, row in found]


def _tests(ids: Sequence[JsonValue], store: Store, scope: Scope) -> dict[JsonValue, dict[str, JsonValue]]:
    """The names of tests and of their cells, by the id of the test: rows of steps and cycles have only that."""
    wanted = [id for id in dict.fromkeys(ids) if isinstance(id, str)]
    if not wanted:
        return {}
    fields = ["id", "name", "instance_name"]
    rows = store.rows.plan_list("measurements", scope, {"ids": wanted}, fields, None).table.records()
    return {row["id"]: {"Test": row["name"], "Cell": row["instance_name"]} for row in rows}


def key_columns(key: Sequence[str] | None, step: str, config: PlotConfig, table: Table) -> list[str]:
    """The columns that tell occurrences apart: those that were chosen, or those that name the rows of the step."""
    if key is not None:
        for name in key:
            _column(table, name, "key", step)
        return list(key)
    of: Step = config.plan.steps[step]
    wanted = of.group_by if isinstance(of, AggregateStep) else _NAMING
    return [name for name in wanted if name in table]


def _rows_of(step: str, result: Mapping[str, StepResult]) -> Table:
    found = result.get(step)
    if found is None:
        raise Invalid(Problem(("step",), f"The plan has no step '{step}'. {instead(step, result, 'steps')}"))
    if not isinstance(found, Table):
        tables = [name for name, one in result.items() if isinstance(one, Table)]
        raise Invalid(
            Problem(("step",), f"'{step}' gives samples. An alert looks at rows. {instead(step, tables, 'steps')}")
        )
    return found


def _column(table: Table, name: str, place: str, step: str) -> Column:
    if name not in table:
        message = f"The step '{step}' has no column '{name}'. {instead(name, table, 'columns')}"
        raise Invalid(Problem((place,), message, "unknown_column"))
    return table[name]


def _holds(alert: Alert, table: Table) -> NDArray[np.bool_]:
    """(n,) whether each row counts."""
    if alert.column is None:
        return np.ones(table.n, bool)
    column = _column(table, alert.column, "column", alert.step)
    known: NDArray[np.bool_] = ~column.missing()
    if alert.equals is not None:
        return known & is_any_of(column, [_comparable(alert, column)])
    if alert.above is None and alert.below is None:
        if column.kind == "boolean":
            known &= column.values.astype(bool)
        return known
    if column.kind not in ("number", "integer", "null"):
        place = "above" if alert.above is not None else "below"
        raise Invalid(Problem((place,), f"'{alert.column}' holds no numbers, so it has no bounds. Use 'equals'."))
    values_of = column.floats()
    with np.errstate(invalid="ignore"):
        if alert.above is not None:
            known &= values_of > alert.above
        if alert.below is not None:
            known &= values_of < alert.below
    return known


def _comparable(alert: Alert, column: Column) -> Plain:
    """What a value of the column is equal to.

    Raises
    ------
    Invalid
        If no value of such a column can ever be equal to it.
    """
    wanted = alert.equals
    of = "boolean" if isinstance(wanted, bool) else "text" if isinstance(wanted, str) else "number"
    if column.kind == "datetime" and isinstance(wanted, str) and not _DAY.fullmatch(wanted):
        with suppress(ValueError):
            return as_moment(wanted)
    if column.kind in _HELD and of not in _HELD[column.kind].equal_to:
        holds, example, _ = _HELD[column.kind]
        message = f"'{alert.column}' holds {holds}, and {show(wanted)} is equal to none. Write it like {example}."
        raise Invalid(Problem(("equals",), message))
    return wanted


def _records(table: Table) -> list[dict[str, Plain]]:
    columns = [column.tolist() for column in table.values()]
    return [dict(zip(table, row, strict=True)) for row in zip(*columns, strict=True)] or [
        {} for _ in range(table.n)
    ]


def _plain(row: Mapping[str, Plain]) -> dict[str, JsonValue]:
    """The values as JSON has them: times as text, and neither NaN nor infinity."""
    made: dict[str, JsonValue] = {}
    for name, value in row.items():
        if isinstance(value, float) and not np.isfinite(value):
            made[name] = None
        else:
            made[name] = time_text(to_micros(value)) if hasattr(value, "tzinfo") else value
    return made
