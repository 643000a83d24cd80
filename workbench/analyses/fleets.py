"""Analyses over many cells, from the cycles of their tests: each cell becomes one number, and these are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pandas as pd

from ..battery.capacity.reference import PART_CHARGED, came_part_charged
from ..battery.fleet.outliers import COLUMNS
from ..battery.fleet.outliers import outliers as compared
from ..battery.inputs import flags, incomplete
from ..battery.off_course import CURRENT, OTHER_RATE, left_out, off_course
from ..battery.result import VALID, WARNING, Cell, Remark, result
from ..cycling import columns as c
from ..cycling.life import CYCLE_IN_LIFE

_LONG = 0.5
_SHORT = "its test is too short: it has less than half of the cycles that its group has in the middle"
Group = Literal["batch", "all"]


def outliers(cycles: pd.DataFrame, *, limit: float = 3.5, group: Group = "batch") -> pd.DataFrame:
    """The cells whose retention differs from that of the others, at the last cycle that all of a group have.

    Parameters
    ----------
    cycles : of all tests, with ``Cell``, ``Batch`` and ``Complete``, and ``Cycle in life`` where a cell has several
        tests, whose cycles then follow each other; cycles that are not complete do not count, nor
        check-ups and parts of cycles (see ``battery.off_course``), nor a later test of a cell at another current than
        its first, and a cell with less than half of the cycles that its group has in the middle is left out.
    limit : the modified z above which a cell is an outlier; see ``battery.outliers``.
    group : what is compared: cells of a batch, or all.
    """
    if CYCLE_IN_LIFE in cycles:  # a later test of a cell goes on where the one before it ended
        cycles = cycles.assign(**{c.CYCLE_COUNT: cycles[CYCLE_IN_LIFE].fillna(cycles[c.CYCLE_COUNT])})
    held = cycles[cycles["Complete"].fillna(True).astype(bool)] if c.COMPLETE in cycles else cycles
    said = incomplete(len(cycles) - len(held), len(cycles))
    held = held.dropna(subset=[c.DISCHARGE_CAPACITY, c.CYCLE_COUNT]).sort_values(c.CYCLE_COUNT, kind="stable")
    other = _at_another_current(held)
    if other.any():
        of = ", ".join(sorted(set(held.loc[other, "Cell"].astype(str))))
        words = f"A later test at another current than the first of its cell is left out: {of}."
        said.append(Remark("rates_differ", words, "outliers"))
    held = held[~other]
    partly = [
        rows.index[0]
        for _, rows in held.groupby("Cell")
        if came_part_charged(rows[c.DISCHARGE_CAPACITY].to_numpy(float), flags(rows, c.COMPLETE))
    ]
    held = held.drop(index=partly)
    off = [off_course(rows) for _, rows in held.groupby("Cell")]
    beside = pd.concat(off) if off else pd.Series(dtype=object)
    held = held.drop(index=beside.index[beside != ""])
    why = dict.fromkeys(sorted(set(cycles["Cell"]) - set(held["Cell"])), "no complete cycle can be compared")
    if held.empty:
        return result(
            _not_compared(why), COLUMNS, [Remark("no_cycles", "No test has a complete cycle.", "outliers")]
        )
    held = held.assign(Group=held["Batch"] if group == "batch" else "all")
    last = held.groupby("Cell")[c.CYCLE_COUNT].transform("max")
    middle = last.groupby(held["Group"]).transform("median")
    long = last >= _LONG * middle
    common = last[long].groupby(held.loc[long, "Group"]).min()
    at = held["Group"].map(common)
    kept = held[long & (held[c.CYCLE_COUNT] <= at)]
    grouped = kept.groupby("Cell", sort=True)
    capacity = grouped[c.DISCHARGE_CAPACITY]
    table = pd.DataFrame(
        {"Group": grouped["Group"].first(), "Retention": capacity.last() / capacity.first()}
    ).reset_index()
    short = sorted(set(held["Cell"]) - set(table["Cell"]))
    why |= dict.fromkeys(short, _SHORT)
    found = compared(table, limit=limit)
    if why:
        attrs = found.attrs
        found = pd.concat([found, result(_not_compared(why), COLUMNS)], ignore_index=True)
        found.attrs = attrs
    if short:
        message = f"Not compared, because their tests are too short: {', '.join(short)}."
        said.append(Remark("too_short", message, "outliers"))
    if off_words := int((beside != "").sum()):
        said.append(left_out(off_words))
    if partly:
        said.append(PART_CHARGED)
    found.attrs["warnings"] = [*found.attrs.get("warnings", []), *map(vars, said)]
    return found


def _at_another_current(cycles: pd.DataFrame) -> pd.Series:
    """Which cycles, in the order of their lives, are of a test whose current is not that of the first of its cell."""
    if CURRENT not in cycles or "Test" not in cycles:
        return pd.Series(False, cycles.index)
    current = cycles.groupby(["Cell", "Test"])[CURRENT].transform("median").astype(float)
    begun = current.groupby(cycles["Cell"]).transform("first")
    return (current - begun).abs() > OTHER_RATE * begun.abs()


def _not_compared(why: Mapping[str, str]) -> list[dict[str, Cell]]:
    """A row for each cell that is not compared, with the reason."""
    return [
        {"Cell": cell, "Group": "", "Outlier": "unknown", VALID: False, WARNING: words}
        for cell, words in why.items()
    ]
