"""A table of several tests: its time starts anew wherever a column changes that no format knows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection

import numpy as np

from ...cycling import columns as c
from ...cycling.findings import Finding
from ...cycling.run_statistics import Floats, Ints
from ...errors import FileRefused
from ...messages import column_map, counted
from ...readers.table.several_cells import MOST_TESTS
from ...readers.table.states import column_of_step_types, is_rest, meaning
from ...table import Column, Table

_KNOWN = {described.name for described in c.SERIES_COLUMNS} | {c.CYCLER_STEP, c.CYCLER_CYCLE}
_DAY = re.compile(r"\d{1,4}\D\d{1,2}(\D|$)")
"""Texts that begin like a date. Each day has its own, and a time of day starts anew with it."""
_MOST_RUNS = 4 * MOST_TESTS
"""Changes of a value in a batch up to which its runs are looked at one by one; with more, the rows are sorted first."""
_ON_ONE_CLOCK = 1 / 3
"""Share of samples that repeat the time of the one before where the rows of several tests are sorted by time."""


class TestsApart:
    """Watches the columns that no format knows: does one of them part the rows into tests that each run by themselves?

    ``settled`` are names that a person gave: such a column is what they say.
    """

    __test__ = False  # pytest takes the name for that of a test

    def __init__(self, settled: Collection[str] = ()) -> None:
        self._settled = frozenset(settled)
        self._watched: dict[str, _Column] | None = None
        self._rows = self._falls = self._repeats = 0
        self._last: float | None = None

    def feed(self, table: Table) -> None:
        """Take the next samples, as the reader gives them."""
        if c.TIME not in table or not table.n:
            return
        if self._watched is None:
            states = column_of_step_types(table)
            unknown = set(table) - _KNOWN - self._settled - {states}
            self._watched = {
                name: _Column(name, table[name].kind)
                for name in table
                if name in unknown and table[name].kind in ("text", "integer")
            }
        time = table[c.TIME].floats()
        known = np.isfinite(time)
        self._rows += int(known.sum())
        moves = np.diff(time[known], prepend=np.nan if self._last is None else self._last)
        self._falls += int((moves < 0).sum())
        self._repeats += int((moves == 0).sum())
        self._last = float(time[known][-1]) if known.any() else self._last
        for name, column in [*self._watched.items()]:
            if name not in table or not column.feed(time, table[name]):
                del self._watched[name]

    def findings(self, file: str) -> list[Finding]:
        """A warning for numbers that part the rows.

        Raises
        ------
        FileRefused
            If a text parts them: they are of several tests, and a person says which.
        """
        on_one_clock = self._repeats >= self._rows * _ON_ONE_CLOCK
        parting = [
            column
            for column in (self._watched or {}).values()
            if column.parts() and (on_one_clock or self._falls >= len(column) - 1)
        ]
        for column in sorted(parting, key=lambda column: column.kind != "text"):
            name = column.name
            how = (
                f"Time starts anew for each of the {len(column)} values of '{name}' (such as '{column.example}'). If "
                f"it names cells, say {column_map({name: 'Cell'})}"
            )
            if column.kind == "text":
                raise FileRefused(
                    f"'{file}' seems to hold {counted(len(column), 'test')}. {how}; if all rows are of one cell, say "
                    f"{column_map({name: f'{name} (no cell)'})}."
                )
            return [Finding("odd", "tests_apart", f"{how}: all rows were taken for one test.")]
        return []


class _Column:
    """One column: from when to when each of its values runs."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self._spans: dict[str, list[float]] = {}

    def __len__(self) -> int:
        return len(self._spans)

    @property
    def example(self) -> str:
        return next(iter(self._spans))

    def feed(self, time: Floats, column: Column) -> bool:
        """Take the next rows. False if a value does not rise in time by itself: the column does not part tests."""
        if column.kind != self.kind:
            return False
        rows = np.flatnonzero(np.isfinite(time) & ~column.null_mask())
        values, t = self._values(column)[rows], time[rows]
        if len(values) and int((np.diff(values) != 0).sum()) > _MOST_RUNS:
            order = np.argsort(values, kind="stable")
            values, t, rows = values[order], t[order], rows[order]
        changes = np.diff(values) != 0
        if bool((np.diff(t)[~changes] <= 0).any()):
            return False
        begins = np.flatnonzero(np.append(True, changes)) if len(values) else np.zeros(0, np.int64)
        if len(begins) > _MOST_RUNS:
            return False
        ends = np.append(begins[1:], len(values))
        for at in np.argsort(rows[begins]):
            begin, end = int(begins[at]), int(ends[at]) - 1
            word = column.words[values[begin]].strip() if self.kind == "text" else str(values[begin])
            span = self._spans.setdefault(word, [float(t[begin]), -np.inf, 0])
            if t[begin] <= span[1]:
                return False
            span[1] = float(t[end])
            span[2] += end + 1 - begin
        return len(self._spans) <= MOST_TESTS

    def _values(self, column: Column) -> Ints:
        """The integers of a column; of a text the place of each word, that of the first where words are alike."""
        if self.kind != "text":
            return column.values.astype(np.int64)
        if not column.words:  # no row has a text
            return np.zeros(len(column.values), np.int64)
        first: dict[str, int] = {}
        places = [first.setdefault(word.strip(), place) for place, word in enumerate(column.words)]
        return np.array(places, np.int64)[column.values]

    def parts(self) -> bool:
        """Whether each value begins before half of the time of the one before has passed, and names no step or day."""
        spans = list(self._spans.values())
        if len(spans) < 2 or min(rows for *_, rows in spans) < 2:
            return False
        if all(is_rest(word) or meaning(word) or _DAY.match(word) for word in self._spans):
            return False
        return all(after[0] < (before[0] + before[1]) / 2 for before, after in itertools.pairwise(spans))
