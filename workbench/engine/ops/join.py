"""``join``: columns of one row-shaped step attached to another by equality of a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Invalid, Problem, instead
from ...messages import counted, spaced
from ...recipe.steps import JoinStep
from ...recipe.strict import Scalar
from ...table import Column, Table
from ..columns import column_of
from ..equality import Coded, is_any_of, matched
from ..plan import Part, Plan, run_step

Index = NDArray[np.intp]
Mask = NDArray[np.bool_]


def join(step: JoinStep, left: Table, right: Table, most: int) -> Table:
    """Left rows with the columns of the right rows whose key is equal; null and NaN keys match nothing.

    A left row that matches k right rows gives k rows, in the order of the left, then of the right; ``how``
    ``left`` keeps left rows without a match, with nulls. ``where`` holds for the rows that are returned, also
    for those nulls.

    Raises
    ------
    Invalid
        A key, field or column of ``where`` that is missing, two columns of one name, or more than ``most``
        rows; places are relative to the step.
    """
    left_key = column_of(left, step.on.left, ("on", "left"))
    right_key = column_of(right, step.on.right, ("on", "right"))
    attached = attach(step, left, right)
    _check_where(step.filtered, [*left.names, *attached])
    where = step.where or {}
    pairs = _pairs(step, left, right, matched(left_key, right_key), attached, where)
    total = int(pairs.counts.sum())
    if total > most:
        raise Invalid(
            Problem(
                (),
                f"This join gives {counted(total, 'row')} and at most {spaced(most)} are allowed. "
                "Join on a key that is unique on the right, or narrow both sides or 'where'.",
                ctx={"rows": total, "most": most},
            )
        )
    left_rows, right_rows = _expand(pairs)
    made = {name: column.take(left_rows) for name, column in left.items()}
    for name, source in attached.items():
        made[name] = _take_or_null(right[source], right_rows)
    return Table(made, total)


def attach(step: JoinStep, left: Table, right: Table) -> dict[str, str]:
    """Name in the result -> right column, for every attached column; Invalid where a name is taken twice."""
    if step.fields is None:
        wanted = [name for name in right.names if name != step.on.right]
    else:
        for place, name in enumerate(step.fields):
            column_of(right, name, ("fields", place))
        wanted = list(dict.fromkeys(step.fields))
    made: dict[str, str] = {}
    taken = {name: f"'{name}' of the left" for name in left.names}
    for name in wanted:
        new = f"{name}_right" if name in left else name
        if new in taken:
            raise Invalid(
                Problem(
                    ("fields",),
                    f"The right column '{name}' would be named '{new}' like {taken[new]}. "
                    "Name in 'fields' only the right columns that are needed.",
                )
            )
        taken[new] = f"'{name}' of the right"
        made[new] = name
    return made


class _Pairs(NamedTuple):
    """``rows`` left rows that stay; ``counts`` result rows of each; ``starts`` its first match in ``order``,
    which holds right rows by key; -1 where it stays without a match."""

    rows: Index
    counts: Index
    starts: Index
    order: Index


def _pairs(
    step: JoinStep,
    left: Table,
    right: Table,
    keys: tuple[NDArray[np.int64], Coded],
    attached: Mapping[str, str],
    where: Mapping[str, Scalar | list[Scalar]],
) -> _Pairs:
    """Conditions are applied to each side before rows are paired, so that no more pairs are made than stay."""
    codes, (right_codes, size) = keys
    left_holds, right_holds, null_holds = np.ones(left.n, bool), np.ones(right.n, bool), True
    for name, values in where.items():
        wanted = values if isinstance(values, list) else [values]
        if name in attached:
            right_holds &= is_any_of(right[attached[name]], wanted)
            null_holds = null_holds and None in wanted
        else:
            left_holds &= is_any_of(left[name], wanted)
    usable = right_codes >= 0
    matches = np.bincount(right_codes[usable], minlength=size)
    kept = usable & right_holds
    order = np.flatnonzero(kept)
    order = order[np.argsort(right_codes[order], kind="stable")]
    per_code = np.bincount(right_codes[kept], minlength=size)
    first = np.cumsum(per_code) - per_code
    found = codes >= 0
    safe = np.where(found, codes, 0)
    counts = np.where(found, per_code[safe], 0)
    starts = np.where(counts > 0, first[safe], -1)
    if step.how == "left" and null_holds:
        counts = np.where(found & (matches[safe] > 0), counts, 1)
    rows = np.flatnonzero(left_holds & (counts > 0))
    return _Pairs(rows, counts[rows], starts[rows], order)


def _expand(pairs: _Pairs) -> tuple[Index, Index]:
    """Left and right row of each result row; right -1 where there is no match."""
    if len(pairs.counts) and int(pairs.counts.max()) > 1:
        begin = np.cumsum(pairs.counts) - pairs.counts
        within = np.arange(int(pairs.counts.sum())) - np.repeat(begin, pairs.counts)
        rows, starts = np.repeat(pairs.rows, pairs.counts), np.repeat(pairs.starts, pairs.counts)
        places = np.where(starts >= 0, starts + within, -1)
    else:
        rows, places = pairs.rows, pairs.starts
    if not len(pairs.order):
        return rows, np.full(len(rows), -1, np.intp)
    return rows, np.where(places >= 0, pairs.order[places], -1)


def _take_or_null(column: Column, rows: Index) -> Column:
    absent = rows < 0
    if not absent.any():
        return column.take(rows)
    if not len(column):
        empty = np.zeros(len(rows), column.values.dtype)
        return Column(column.kind, empty, np.zeros(len(rows), bool), column.words)
    taken = column.take(np.where(absent, 0, rows))
    valid = ~absent if taken.valid is None else taken.valid & ~absent
    return Column(column.kind, taken.values, valid, column.words, taken.exact)


def _check_where(where: Sequence[str], names: Sequence[str]) -> None:
    problems = [
        Problem(("where", name), f"The joined rows have no column '{name}'. {instead(name, names, 'columns')}")
        for name in where
        if name not in names
    ]
    if problems:
        raise Invalid(problems)


@run_step.register
def _run(step: JoinStep, plan: Plan) -> Part:
    left, right = plan.table(step.left), plan.table(step.right)
    joined = join(step, left, right, plan.caps.max_summary_rows)
    of_right = plan.parts[step.right].open
    attached = (name for name, source in attach(step, left, right).items() if source in of_right)
    return Part.of_rows(joined, open=[*plan.parts[step.left].open, *attached])
