"""A table of several tests below each other without a header between them: time and counts begin anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...cycling import columns as c
from ...cycling.run_statistics import Floats
from ...errors import FileRefused
from ...messages import counted, option, quoted, spaced
from ...readers.table.several_cells import MOST_TESTS
from ...table import Table

_ANEW = 0.05
"""Share of the time of a test up to which a time that falls has begun anew."""
_COUNTED = 0.99
"""Share of the rows after which a column goes on by 1, if it numbers them."""
_LEAST = 3
"""Rows of a test. A last row below a test is its sum, or what was left of another."""
_COUNTS = (c.CYCLER_CYCLE, c.CYCLER_STEP)


@dataclass(frozen=True)
class _Begin:
    """A sample at which time begins anew: its number, and the columns that fall to their first values with it."""

    at: int
    fell: frozenset[str]


class TestsBelow:
    """Watches where time falls to its begin: do the cycles and the numbers of the rows begin anew there too?

    A time of steps or cycles begins anew as well, but then a step, a cycle or the numbers of the rows go on. Where a
    file has none of these, or steps without cycles, it cannot be known: the check of the clock says what may have
    happened.
    """

    __test__ = False  # pytest takes the name for that of a test

    def __init__(self) -> None:
        self._rows = 0
        self._first: dict[str, float] = {}
        self._last: dict[str, float] = {}
        self._numbers: dict[str, int] | None = None
        """Columns that may number the rows -> how often they went on by 1."""
        self._falls: Counter[str] = Counter()
        self._begins: list[_Begin] = []
        self._one = False

    def feed(self, table: Table) -> None:
        """Take the next samples, as the reader gives them."""
        if c.TIME not in table or not table.n or self._one:
            return
        if self._numbers is None:
            free = set(table) - {column.name for column in c.SERIES_COLUMNS} - {*_COUNTS}
            self._numbers = {name: 0 for name in free if table[name].kind in ("integer", "number")}
        watched = [name for name in (c.TIME, *_COUNTS, *self._numbers) if name in table]
        columns = {name: self._with_last(name, table) for name in watched}
        for name in self._numbers.keys() & columns.keys():
            moves = np.diff(columns[name])
            self._numbers[name] += int((moves == 1).sum())
            self._falls[name] += int((moves < 0).sum())
        time = columns[c.TIME]
        for at in (np.flatnonzero(np.diff(time) < 0) + 1).tolist():
            if not self._begins_at(at, columns, self._rows + at - (len(time) - table.n)):
                self._one = True
                return
        self._rows += table.n

    def _with_last(self, name: str, table: Table) -> Floats:
        """The values (n,) of a column below the last one before them; where one is not known, that before it."""
        values = table[name].floats() if table[name].kind in ("integer", "number") else np.full(table.n, np.nan)
        if name in self._last:
            values = np.concatenate([[self._last[name]], values])
        known = np.isfinite(values)
        if known.all():
            self._first.setdefault(name, float(values[0]))
            self._last[name] = float(values[-1])
            return values
        if known.any():
            self._first.setdefault(name, float(values[known][0]))
        filled: Floats = values[np.maximum.accumulate(np.where(known, np.arange(len(values)), 0))]
        self._last[name] = float(filled[-1])
        return filled

    def _begins_at(self, at: int, columns: Mapping[str, Floats], sample: int) -> bool:
        """Keep where another test may begin; False if none does: the time was set, or a cycle or a step goes on."""
        pairs = {name: (values[at - 1], values[at]) for name, values in columns.items() if name in self._first}
        before, after = (value - self._first[c.TIME] for value in pairs.pop(c.TIME))
        fell = {name for name, (last, next) in pairs.items() if next <= self._first[name] < last}
        moved = {name for name in _COUNTS if name in pairs and pairs[name][0] != pairs[name][1]}
        self._begins.append(_Begin(sample, frozenset(fell)))
        return abs(after) <= _ANEW * before and moved <= fell and len(self._begins) < MOST_TESTS

    def refuse(self, file: str, headers: Mapping[str, str]) -> None:
        """Refuse a file of several tests; asked when all samples were fed. ``headers``: our name -> theirs.

        Raises
        ------
        FileRefused
            With the sample at which the second begins, and both ways out.
        """
        if self._one or not self._begins:
            return
        begins = [0, *(begin.at for begin in self._begins), self._rows]
        if int(np.diff(begins).min()) < _LEAST:
            return
        steps = self._rows - len(begins) + 1
        often = len(self._begins)
        numbers = {
            name
            for name, on in (self._numbers or {}).items()
            if on >= _COUNTED * steps and self._falls[name] <= often
        }
        always = frozenset.intersection(*(begin.fell for begin in self._begins))
        if numbers and not numbers & always:
            return
        if not numbers and not (c.CYCLER_CYCLE in self._first and always & {*_COUNTS}):
            return
        shown = [headers.get(name, name) for name in (*_COUNTS, *sorted(numbers)) if name in always]
        raise FileRefused(
            f"'{file}' seems to hold {counted(len(self._begins) + 1, 'test')} below each other: at sample "
            f"{spaced(self._begins[0].at)} the time begins anew, and with it {quoted(shown)}. Put each test in a file "
            f"of its own; if it is one test that goes on, say {option('repair', 'time')}."
        )
