"""The table that an analysis gives: one row a finding, each with whether it is valid and why not.

A row that cannot be computed is kept, with NaN, ``Valid`` False and the reason in ``Warning``: a number that is missing
is seen, a number that is off is not. What concerns the whole table is in ``attrs["warnings"]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .doubts import SamplesLeftOut

VALID = "Valid"
WARNING = "Warning"
WARNINGS = "warnings"
"""The key of ``frame.attrs``."""
Cell = float | int | str | bool | None


@dataclass(frozen=True)
class Remark:
    """What is to be known about a table: a code for programs, words for people, and what it concerns."""

    code: str
    message: str
    where: str = ""


def result(
    rows: Sequence[Mapping[str, Cell]], columns: Sequence[str], remarks: Sequence[Remark] = ()
) -> pd.DataFrame:
    """The table of an analysis.

    Parameters
    ----------
    rows : each a mapping of some of ``columns``, and of ``Valid`` and ``Warning`` where there is something to say. A
        row without ``Valid`` is valid.
    columns : the names of the columns, with units, in order; ``Valid`` and ``Warning`` follow them.
    remarks : what concerns the whole table.

    Raises
    ------
    ValueError
        If a row has a column that is not declared.
    """
    names = [*columns, VALID, WARNING]
    for row in rows:
        unknown = [name for name in row if name not in names]
        if unknown:
            raise ValueError(f"A row has a column '{unknown[0]}' that is not declared: {', '.join(names)}.")
    full = [{**dict.fromkeys(columns), VALID: True, WARNING: "", **row} for row in rows]
    thinned = [remark.message for remark in remarks if remark.code == SamplesLeftOut.code]
    for row in full:
        row[WARNING] = _warning(row, thinned)
    # Each column is made once with its type: changing the types of a table's columns took most of a figure's time.
    made = pd.DataFrame({name: _typed([row[name] for row in full], name) for name in names}, columns=names)
    made.attrs[WARNINGS] = [asdict(remark) for remark in remarks]
    return made


def _warning(row: Mapping[str, Cell], thinned: Sequence[str]) -> str:
    """The warning of a row, each sentence once. A number of fewer samples than there are never goes without: whoever
    draws a row has it, and not the table that it is from."""
    said = list(dict.fromkeys(part for part in str(row[WARNING] or "").split("; ") if part))
    if row[VALID]:
        said += [message for message in thinned if not any(part in message for part in said)]
    return "; ".join(said)


def refused(columns: Sequence[str], code: str, reason: str, where: str = "") -> pd.DataFrame:
    """The table of an analysis that has nothing to compute: one row of nulls that says why."""
    return result([{VALID: False, WARNING: reason}], columns, [Remark(code, reason, where)])


def _typed(values: list[Cell], name: str) -> pd.Series | NDArray[np.bool_] | NDArray[np.float64]:
    """Numbers as float64 with NaN, texts as they are, and ``Valid`` as bool."""
    if name == VALID:
        return np.array(values, bool)
    if name == WARNING or any(isinstance(value, str) for value in values):
        return pd.Series(values, dtype="object").astype("str")
    if values and all(isinstance(value, bool | np.bool_) for value in values):
        return np.array(values, bool)
    return np.array(values, np.float64)
