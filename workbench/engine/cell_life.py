"""The life of cells as a plan reads it: the tests beside those it names, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ..cycling.columns import CYCLE_COUNT
from ..cycling.life import (
    CAPACITY,
    COUNTED,
    CYCLE_IN_LIFE,
    ENERGY,
    KINDS,
    NEEDS,
    START,
    THROUGHPUTS,
    Life,
    OneTest,
    Passed,
    lives,
    of_unknown_order,
)
from ..cycling.steps import END_INDEX, START_INDEX
from ..dataset import Samples, Warn
from ..store.records.listing import Listed
from ..store.scope import Scope
from ..store.series.layout import SeriesColumn
from ..store.series.reading import Window
from ..store.series.series import Series, SeriesInfo
from ..store.store import Store
from ..table import Column, Table, concat
from ..units import split_unit
from .warnings import names_of

_PROBE = 4096
"""Samples that are read at once where the edge of a window is looked for."""


class _Read(Protocol):
    """Reads at most so many samples, of those that have a value in each of the columns ``known``."""

    def __call__(self, most: int, known: Sequence[str] = ()) -> Samples: ...


class Rows(Protocol):
    """What reads records and series for a plan, and notes what the answer hangs on."""

    store: Store
    scope: Scope
    dependencies: set[tuple[str, ...]]

    def rows(
        self, source: str, where: Mapping[str, JsonValue], fields: Sequence[str] | None, limit: int | None
    ) -> Listed: ...


class Lives:
    """Lives of cells, each read once in a plan. All that they hang on is noted with the reader."""

    def __init__(self, reader: Rows) -> None:
        self._reader = reader
        self._found: dict[str, Life] = {}
        self._passed: dict[tuple[str, str], Passed | None] = {}
        self._names: dict[str, str] = {}
        self._unknown: dict[str, tuple[str, ...]] = {}

    def of(self, owners: Iterable[str]) -> dict[str, Life]:
        """What each of these measurements had before it; one that is out of reach is absent."""
        missing = [owner for owner in dict.fromkeys(owners) if owner not in self._found]
        if missing:
            self._read(missing)
        return self._found

    def _read(self, owners: Sequence[str]) -> None:
        reader = self._reader
        cells = reader.rows("measurements", {"ids": [*owners]}, ["id", "instance_id"], None).table
        instances = list(dict.fromkeys(cells["instance_id"].tolist()))
        fields = ["id", "name", "instance_id", "start_time"]
        rows = reader.rows("measurements", {"instanceIds": instances}, fields, None).table
        ids = rows["id"].tolist()
        reader.dependencies.update(("series", id, "cycles") for id in ids)
        cycles = reader.store.series.many(
            ids, [CYCLE_COUNT, START, CAPACITY, ENERGY], "cycles", scope=reader.scope
        )
        starts = rows["start_time"]
        unknown = starts.missing()
        tests: dict[str, list[OneTest]] = {}
        for place, (id, instance) in enumerate(zip(ids, rows["instance_id"].tolist(), strict=True)):
            start = None if unknown[place] else int(starts.values[place])
            tests.setdefault(instance, []).append(OneTest(id, start, cycles.get(id)))
        self._names |= dict(zip(ids, map(str, rows["name"].tolist()), strict=True))
        for one in tests.values():
            self._found |= lives(one)
            if unknown_order := tuple(of_unknown_order(one)):
                self._unknown |= dict.fromkeys((test.id for test in one), unknown_order)

    def warnings(self, owners: Sequence[str], names: Iterable[str]) -> list[Warn]:
        """That the order of tests is not known, where columns among ``names`` count in that order."""
        if not {*COUNTED} & {*names}:
            return []
        self.of(owners)
        tests = dict.fromkeys(test for owner in owners for test in self._unknown.get(owner, ()))
        if not tests:
            return []
        message = (
            "The order of tests of a cell is not known, since they have no start time or the same one: "
            f"{names_of([self._names[test] for test in tests])}. Columns over the life of the cell count them one "
            "after the other, those without a start last. Give each its 'start_time'."
        )
        return [Warn("life_order_unknown", message)]

    def added(self, info: SeriesInfo, dataset: str, names: Iterable[str], life: Life | None) -> list[str]:
        """Those of ``names`` that this source does not hold and that its place in life gives it."""
        held = info.kinds.keys()
        known = NEEDS.get(dataset, {})
        return [
            name
            for name in dict.fromkeys(names)
            if life is not None
            and name in known
            and name not in held
            and life.has(name)
            and held >= {*known[name]}
            and (dataset != "series" or name not in THROUGHPUTS or self.passed(info, name, life) is not None)
        ]

    def passed(self, info: SeriesInfo, name: str, life: Life) -> Passed | None:
        """What a throughput of a series follows from beside its counters; None where its steps do not tell it."""
        key = (info.owner, name)
        if key not in self._passed:
            self._reader.dependencies.add(("series", info.owner, "steps"))
            needs = [START_INDEX, END_INDEX, CYCLE_COUNT, *NEEDS["steps"][name]]
            steps = self._reader.store.series.many([info.owner], needs, "steps", scope=self._reader.scope).get(
                info.owner
            )
            made = None if steps is None else Passed.of(steps, name, info.rows, life)
            self._passed[key] = made
        return self._passed[key]

    def beside(self, info: SeriesInfo, names: Sequence[str]) -> InLife | None:
        """A series with those of these columns that stand over the life of its cell; None if none does."""
        before = self.of([info.owner]).get(info.owner)
        added = self.added(info, "series", names, before)
        if before is None or not added:
            return None
        passed = {name: self.passed(info, name, before) for name in added if name in THROUGHPUTS}
        known = {name: one for name, one in passed.items() if one is not None}
        reader = self._reader
        return InLife(reader.store.series, reader.scope, info.owner, before, added, known, info.rows)

    def widened(
        self, infos: Mapping[str, SeriesInfo], dataset: str, names: Sequence[str]
    ) -> dict[str, SeriesInfo]:
        """What sources hold, with those of ``names`` that are columns over the life of their cells."""
        if not any(name in NEEDS.get(dataset, {}) for name in names):
            return dict(infos)
        found = self.of(infos)  # all at once, since each cell alone is three queries
        made = {}
        for owner, info in infos.items():
            added = self.added(info, dataset, names, found.get(owner))
            made[owner] = replace(info, added=(*info.added, *map(_column, added)))
        return made

    def tables(self, tables: dict[str, Table], names: Sequence[str], dataset: str) -> dict[str, Table]:
        """Summaries with the columns over life that are among ``names``."""
        wanted = [name for name in names if name in NEEDS[dataset]]
        found = self.of(tables) if wanted else {}
        made = {}
        for owner, table in tables.items():
            life = found.get(owner)
            columns = {
                name: life.column(name, table, dataset)
                for name in wanted
                if life is not None
                and life.has(name)
                and name not in table
                and {*NEEDS[dataset][name]} <= {*table}
            }
            made[owner] = Table({**table.columns, **columns}, table.n)
        return made


def needed(names: Sequence[str], dataset: str) -> list[str]:
    """``names``, and what columns over life among them are computed from."""
    known = NEEDS.get(dataset, {})
    place = [CYCLE_COUNT] if known.keys() & set(names) else []
    return list(dict.fromkeys([*(need for name in names for need in (name, *known.get(name, ()))), *place]))


class InLife:
    """A series with the columns over life that are asked of it.

    Parameters
    ----------
    names : the columns over life, ``passed`` what those of throughput follow from.
    rows : how many samples the series has.
    """

    def __init__(
        self,
        series: Series,
        scope: Scope,
        owner: str,
        before: Life,
        names: Sequence[str],
        passed: Mapping[str, Passed],
        rows: int,
    ) -> None:
        self._series, self._scope, self._owner = series, scope, owner
        self._before, self._n = before, rows
        self._names, self._passed = names, passed

    def sample(self, x: str, columns: Sequence[str], window: Window | None, most: int) -> Samples:
        """As ``store.series.sample``."""
        base, names = self._stored(x)[0], self._all_stored(x, columns)
        if window is not None and x in self._passed:
            # A sample without x lies in no window of it.
            rows, needs = self._rows(x, window), self._stored(x)
            inside = partial(self._series.sample_rows, self._owner, base, names, rows)
        else:
            needs = ()
            if window is not None and x in self._names:
                window = self._before.bounds(x, *window)
            inside = partial(self._series.sample, self._owner, base, names, window=window)

        def read(most: int, known: Sequence[str] = ()) -> Samples:
            found = inside(most=most, known=[*needs, *known], scope=self._scope)
            return self._made(found, [x, *columns])

        return self._with_ends(read(most), columns, most, read)

    def _with_ends(self, found: Samples, columns: Sequence[str], most: int, read: _Read) -> Samples:
        """Samples with the extremes of the throughputs among ``columns``, as of all others. They are where a throughput
        is known first and last, which no stored column shows."""
        names = [name for name in dict.fromkeys(columns) if name in self._passed]
        missing = [name for name in names if len(found.rows) and found.table[name].missing()[[0, -1]].any()]
        if found.complete or most < 2 * len({*columns}) + 2 or not missing:
            return found
        ends = [read(2, NEEDS["series"][name]) for name in missing]
        number = len(np.unique(np.concatenate([one.rows for one in ends])))
        parts = [read(most - number), *ends]
        rows, places = np.unique(np.concatenate([one.rows for one in parts]), return_index=True)
        return Samples(rows, concat([one.table for one in parts]).take(places), False, found.total)

    def stretch(self, x: str, columns: Sequence[str], rows: tuple[int, int], most: int) -> Samples:
        """As ``store.series.sample_rows``."""
        base, names = self._stored(x)[0], self._all_stored(x, columns)
        return self._made(
            self._series.sample_rows(self._owner, base, names, rows, most, scope=self._scope), [x, *columns]
        )

    def _stored(self, name: str) -> tuple[str, ...]:
        """What the series has of a column: itself, or those that it is computed from."""
        return NEEDS["series"][name] if name in self._names else (name,)

    def _all_stored(self, x: str, columns: Sequence[str]) -> list[str]:
        """What the series has of all of these. The counters of throughputs stand last: extremes are kept in this order,
        as far as there is room, and those of a throughput are its ends."""
        needs = [*map(self._stored, columns), self._stored(x)[1:]]
        return list(dict.fromkeys(need for stored in sorted(needs, key=len) for need in stored))

    def _made(self, samples: Samples, names: Sequence[str]) -> Samples:
        """Samples with the columns that were asked for."""
        made = {name: self._column(name, samples.rows, samples.table) for name in dict.fromkeys(names)}
        return Samples(samples.rows, Table(made, samples.table.n), samples.complete, samples.total)

    def _column(self, name: str, rows: NDArray[np.int64], table: Table) -> Column:
        if name in self._passed:
            return self._passed[name].column(rows, [table[need] for need in NEEDS["series"][name]])
        return self._before.column(name, table, "series") if name in self._names else table[name]

    def _rows(self, name: str, window: Window) -> tuple[int, int]:
        """The samples of a window of a throughput: it never falls, so they stand together."""
        low, high = window
        first = 0 if low is None else self._first(name, float(low), "left")
        return first, self._n if high is None else self._first(name, float(high), "right")

    def _first(self, name: str, bound: float, side: Literal["left", "right"]) -> int:
        """The first sample at the bound or above (``left``), or above it; few stretches of one step are read."""
        passed = self._passed[name]
        step = passed.step(bound, side)
        if step == len(passed.starts):
            return self._n
        start, stop = [*passed.starts[step : step + 2].tolist(), self._n][:2]
        while stop - start > _PROBE:
            middle = (start + stop) // 2
            values, at = self._known(name, middle, stop)
            reached = len(values) == 0 or values[0] > bound or (side == "left" and values[0] == bound)
            if reached:
                stop = middle
            else:
                start = int(at[0]) + 1
        values, at = self._values(name, start, stop)
        place = int(np.searchsorted(values, bound, side))
        return int(at[place]) if place < len(at) else stop

    def _known(self, name: str, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The values of the first stretch from ``start`` on that has any, and their sample numbers."""
        values, at = self._values(name, start, min(start + _PROBE, stop))
        while not len(values) and (start := start + _PROBE) < stop:
            values, at = self._values(name, start, min(start + _PROBE, stop))
        return values, at

    def _values(self, name: str, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        needs = [*NEEDS["series"][name]]
        table = self._series.read(self._owner, needs, (start, stop), scope=self._scope)
        at = np.arange(start, stop)
        column = self._passed[name].column(at, [table[need] for need in needs])
        known = ~column.missing()
        return column.floats()[known], at[known]


def _column(name: str) -> SeriesColumn:
    dtype = np.dtype(np.int64 if name == CYCLE_IN_LIFE else np.float64).name
    return SeriesColumn(name, KINDS[name], dtype, split_unit(name)[1], False, 0, None, None)
