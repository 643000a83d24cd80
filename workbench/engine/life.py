"""The life of cells as a plan reads it: the tests beside those it names, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ..cycling.life import CAPACITY, CYCLE_IN_LIFE, ENERGY, KINDS, NEEDS, Life, OneTest, lives
from ..dataset import Samples
from ..store.layout import SeriesColumn
from ..store.listing import Listed
from ..store.series import SeriesInfo
from ..store.store import Store
from ..table import Table
from ..units import split_unit


class Rows(Protocol):
    """What reads records and series for a plan, and notes what the answer hangs on."""

    store: Store
    dependencies: set[tuple[str, ...]]

    def rows(
        self, source: str, where: Mapping[str, Any], fields: Sequence[str] | None, limit: int | None
    ) -> Listed: ...


class Lives:
    """Lives of cells, each read once in a plan. All that they hang on is noted with the reader."""

    def __init__(self, reader: Rows) -> None:
        self._reader = reader
        self._found: dict[str, Life] = {}

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
        fields = ["id", "instance_id", "start_time"]
        rows = reader.rows("measurements", {"instanceIds": instances}, fields, None).table
        ids = rows["id"].tolist()
        reader.dependencies.update(("series", id, "cycles") for id in ids)
        cycles = reader.store.series.many(ids, [CAPACITY, ENERGY], "cycles")
        starts = rows["start_time"]
        unknown = starts.missing()
        tests: dict[str, list[OneTest]] = {}
        for place, (id, instance) in enumerate(zip(ids, rows["instance_id"].tolist(), strict=True)):
            start = None if unknown[place] else int(starts.values[place])
            tests.setdefault(instance, []).append(OneTest(id, start, cycles.get(id)))
        for one in tests.values():
            self._found |= lives(one)

    def added(self, info: SeriesInfo, dataset: str, names: Iterable[str], life: Life | None) -> list[str]:
        """Those of ``names`` that this source does not hold and that its place in life gives it."""
        held = {column.name for column in info.columns}
        known = NEEDS.get(dataset, {})
        return [
            name
            for name in dict.fromkeys(names)
            if life is not None
            and name in known
            and name not in held
            and life.has(name)
            and held >= {*known[name]}
        ]

    def widened(self, info: SeriesInfo, dataset: str, names: Sequence[str]) -> SeriesInfo:
        """What a source holds, with those of ``names`` that are columns over the life of its cell."""
        if not any(name in NEEDS.get(dataset, {}) for name in names):
            return info
        made = self.added(info, dataset, names, self.of([info.owner]).get(info.owner))
        return replace(info, columns=(*info.columns, *map(_column, made)))

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


def needed(names: Iterable[str], dataset: str) -> list[str]:
    """``names``, and what columns over life among them are computed from."""
    known = NEEDS.get(dataset, {})
    return list(dict.fromkeys(need for name in names for need in (name, *known.get(name, ()))))


def stored_name(name: str, added: Sequence[str]) -> str:
    """A column as the series has it: one over life by that it is computed from."""
    return NEEDS["series"][name][0] if name in added else name


def stored_names(names: Iterable[str], added: Sequence[str]) -> list[str]:
    """As ``stored_name``, of several, each once."""
    return list(dict.fromkeys(stored_name(name, added) for name in names))


def with_life(samples: Samples, names: Sequence[str], added: Sequence[str], life: Life) -> Samples:
    """Samples with the columns that were asked for."""
    table = samples.table
    columns = {
        name: life.column(name, table, "series") if name in added else table[name] for name in dict.fromkeys(names)
    }
    return Samples(samples.rows, Table(columns, table.n), samples.complete, samples.total)


def _column(name: str) -> SeriesColumn:
    dtype = np.dtype(np.int64 if name == CYCLE_IN_LIFE else np.float64).name
    return SeriesColumn(name, KINDS[name], dtype, split_unit(name)[1], False, 0, None, None)
