"""Columns whose values numbers would change: they are read as texts, so that they stay as the file writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from .columns import Plan
from .values import Cells, whole_numbers

_MOST_EXACT = 2**53


class LongWholeNumbers:
    """Finds columns of whole numbers that have gaps and more digits than a float holds, while rows are looked at.

    pandas makes floats of whole numbers where one is missing.
    """

    def __init__(self) -> None:
        self._long: set[str] = set()
        self._others: set[str] = set()

    def feed(self, name: str, series: Cells) -> None:
        """The next rows of a column, of which some hold a value."""
        if name in self._others:
            return
        values = series.to_numpy()
        if values.dtype.kind == "f":
            there = values[~np.isnan(values)]
            if len(there) == len(values) or not (there == np.rint(there)).all():
                self._others.add(name)
                return
            values = there
        elif values.dtype.kind not in "iu":
            self._others.add(name)
            return
        if ((values > _MOST_EXACT) | (values < -_MOST_EXACT)).any():
            self._long.add(name)

    def rounded(self, kinds: Mapping[str, str]) -> list[str]:
        """The names of columns that would lose digits as the kinds are."""
        return [name for name in self._long - self._others if kinds.get(name) == "number"]


def texts_like_numbers(plan: Plan, first: pd.DataFrame, kinds: Mapping[str, str]) -> set[str]:
    """The headers of columns of texts whose first rows look like numbers or truth values: 007, and later A07."""
    free = [column for column in plan.columns if column.role == "free" and kinds[column.name] == "text"]
    return {column.header for column in free if first[column.header].dtype != "str"}


def long_whole_numbers(
    plan: Plan, names: Sequence[str], texts: Callable[[list[str]], Iterable[pd.DataFrame]]
) -> dict[str, str]:
    """Name -> header of those of these columns whose texts are whole numbers throughout.

    ``texts`` reads columns, by their headers, as texts.
    """
    found = {column.name: column.header for column in plan.columns if column.name in names}
    for frame in texts(list(found.values())) if found else ():
        for name, header in list(found.items()):
            try:
                whole_numbers(frame[header])
            except pa.ArrowInvalid:  # written with an exponent, or beyond 64 bits
                del found[name]
    return found
