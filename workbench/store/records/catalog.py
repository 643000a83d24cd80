"""The catalog of a store for one scope: columns with counts and examples, open names, series, summaries."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import orjson

from ...cached_property import cached_property
from ...quick_import import later
from ...records import SOURCES, Record
from ...records.catalog import Catalog, CatalogColumn, CatalogCount, CatalogSeries, CatalogSource, CatalogSummary
from ...table import Column, Kind, Plain, Table
from ...units import split_unit
from ...version import __version__
from ..cache.cache import Cache
from ..db.database_file import Host
from ..db.kept import Kept
from ..scope import Scope
from ..series.layout import Layout
from .listing import list_columns
from .open_fields import Path, Seen, census, join_name, joined_kind
from .rows import Rows
from .tables import reach, values_of
from .test_counts import FIELDS, counts

if TYPE_CHECKING:
    from ...cycling import columns as columns_of_samples
    from ...cycling import computed_columns, life
    from ...cycling import cycles as cycles_of_tests
    from ...cycling import steps as steps_of_tests
    from ...cycling.columns import Described
else:  # the columns of tests are read when a catalog is made, not from the cache
    columns_of_samples = later("workbench.cycling.columns")
    computed_columns = later("workbench.cycling.computed_columns")
    cycles_of_tests = later("workbench.cycling.cycles")
    life = later("workbench.cycling.life")
    steps_of_tests = later("workbench.cycling.steps")


EXAMPLES = 5
MOST_KEPT = 256
MOST_WHOLE = 64
CACHED = "catalog"
"""The kind of the entries in the cache."""
SHAPE = 1
"""Rises when the same store is to give another catalog than before."""
MOST_KINDS = 20
"""Kinds of records of a source whose sampled columns are distinguished; the most frequent ones."""
T = TypeVar("T")


class Catalogs:
    """The catalogs of one store. Each source and summary is kept until a table that it was made from changes; a whole
    catalog also in the cache, for the next process."""

    def __init__(self, store: Host, rows: Rows) -> None:
        self._store = store
        self._rows = rows
        self._whole = Kept[Catalog](store, MOST_WHOLE)
        self._sources = Kept[CatalogSource](store, MOST_KEPT)
        self._summaries = Kept[list[CatalogSummary]](store, MOST_KEPT)
        self._tests = Kept[list[CatalogCount]](store, MOST_KEPT)

    @cached_property
    def tables(self) -> list[str]:
        """All tables that a catalog is made from: those of records that plans list, and of their samples."""
        of_sources = (self._tables_of(cls) for cls in SOURCES.values())
        return sorted({*self._rows.dependencies("measurements", FIELDS, ())}.union(*of_sources))

    def of(self, scope: Scope, cache: Cache | None = None) -> Catalog:
        """Everything in scope: every list source with its columns, how many records fill each, the names found
        under open objects, the columns of its series with units, and the columns of the two summaries."""
        with self._store.snapshot() as db:
            found = self._whole.get(scope, self.tables, lambda: self._from_cache(db, scope, cache))
        return Catalog([*found.sources], [*found.steps], [*found.cycles], tests=[*found.tests])

    def _from_cache(self, db: sqlite3.Connection, scope: Scope, cache: Cache | None) -> Catalog:
        """As the cache has it, if no table has changed since; else made now, and put there."""
        if cache is None or self._store.is_changing:
            return self._made(db, scope)
        key = hashlib.sha256(orjson.dumps([SHAPE, __version__, self._store.identity(), *scope.name])).hexdigest()
        revisions = self._store.row_revisions(self.tables)
        found = cache.get(CACHED, key, lambda meta: bool(meta["revisions"] == revisions))
        if found is not None:
            return Catalog.of(orjson.loads(found.bytes))
        made = self._made(db, scope)
        data = orjson.dumps(made.as_dict())
        if not self._store.unverified and Catalog.of(orjson.loads(data)) == made:  # JSON has no infinite number
            cache.put(CACHED, key, data, {"revisions": dict(revisions)}, soon=True)
        return made

    def _made(self, db: sqlite3.Connection, scope: Scope) -> Catalog:
        sources = [self._source(db, cls, scope) for cls in SOURCES.values()]
        steps = self._summary(db, scope, "steps", steps_of_tests.STEP_COLUMNS)
        cycles = self._summary(db, scope, "cycles", cycles_of_tests.CYCLE_COLUMNS)
        tests = self._tests.get(
            scope, self._rows.dependencies("measurements", FIELDS, ()), lambda: counts(self._rows, scope)
        )
        return Catalog(sources, steps, cycles, tests=tests)

    def _tables_of(self, cls: type[Record]) -> list[str]:
        return sorted({*self._rows.dependencies(cls.listed_as or "", list(list_columns(cls)), ()), "series"})

    def _source(self, db: sqlite3.Connection, cls: type[Record], scope: Scope) -> CatalogSource:
        return self._sources.get((cls, scope), self._tables_of(cls), lambda: _source(self._rows, db, cls, scope))

    def _summary(
        self, db: sqlite3.Connection, scope: Scope, dataset: str, described: Iterable[Described]
    ) -> list[CatalogSummary]:
        return self._summaries.get(
            (dataset, scope), ["measurements", "series"], lambda: _summary(db, scope, dataset, described)
        )


def _source(rows: Rows, db: sqlite3.Connection, cls: type[Record], scope: Scope) -> CatalogSource:
    source = cls.listed_as or ""
    columns = list_columns(cls)
    table = rows.plan_list(source, scope, {}, list(columns), None).table
    described = [
        CatalogColumn(
            name,
            column.kind,
            _one_unit(table[join_name((*column.path[:-1], "unit"))]) if _is_value(column.path) else None,
            column.meaning,
            *_filled(table[name]),
        )
        for name, column in columns.items()
    ]
    found = {member.name: member for member in cls.members().values() if member.open}
    names = [name for column in found for name in _names(db, cls, column, scope)]
    meaning = " ".join((cls.__doc__ or "").split())
    return CatalogSource(source, meaning, table.n, described, names, _series(db, cls, scope, table))


def _is_value(path: Path) -> bool:
    return len(path) > 1 and path[-1] == "value"


def _filled(column: Column) -> tuple[int, list[Plain]]:
    """The number of values (an empty text counts as none), and a few different ones."""
    present = ~column.null_mask()
    if column.kind == "text":
        if "" in column.words:
            present &= column.values != column.words.index("")
        different: list[Plain] = [word for word in column.words if word]
        return int(present.sum()), _spread(different)
    if column.kind in ("datetime", "integer", "boolean"):
        held = column.take(present)
        _, first = np.unique(held.values, return_index=True)
        return len(held), held.take(np.array(_spread(np.sort(first).tolist()), np.int64)).tolist()
    values = [value for value in column.tolist() if value is not None and value != ""]
    different = list(dict.fromkeys(values))
    return len(values), _spread(different)


def _spread(different: list[T]) -> list[T]:
    """A few of different values, from all records, because the first ones are often of one cell."""
    if len(different) <= EXAMPLES:
        return different
    return [different[place * (len(different) - 1) // (EXAMPLES - 1)] for place in range(EXAMPLES)]


def _one_unit(column: Column) -> str | None:
    """The unit, if it is the same in all records."""
    units = set(column.tolist()) - {None}
    return units.pop() if len(units) == 1 else None


def _names(db: sqlite3.Connection, cls: type[Record], column: str, scope: Scope) -> Iterable[CatalogColumn]:
    seen = census(db, cls, column, scope, EXAMPLES)
    for path, held in seen.items():
        unit = _sibling_unit(seen, path) if _is_value(path) else None
        meaning = f"Found under '{join_name(path[:-1])}'."
        yield CatalogColumn(join_name(path), held.kind, unit, meaning, held.filled, list(held.examples))


def _sibling_unit(seen: Mapping[Path, Seen], path: Path) -> str | None:
    unit = seen.get((*path[:-1], "unit"))
    if unit is None or len(unit.examples) != 1:
        return None
    return str(next(iter(unit.examples)))


def _series(db: sqlite3.Connection, cls: type[Record], scope: Scope, table: Table) -> list[CatalogSeries]:
    """The columns of the sampled data of a source, the most frequent first. The unit is None if records have
    different ones."""
    known = {column.name: column for column in columns_of_samples.SERIES_COLUMNS}
    units = _kept_units(db, cls, scope)
    kinds = _kinds_with(db, cls, table)
    counted = _counted(db, table["id"].tolist(), "series")
    if "cycles" in cls.samples:
        counted += _over_life(counted)
    found = [
        CatalogSeries(name, kind, units.get(name, split_unit(name)[1]), count, kinds.get(name, ()))
        for name, kind, count in counted
    ]
    order = {name: place for place, name in enumerate((*known, *life.KINDS))}
    return sorted(
        found,
        key=lambda column: (
            column.name in life.KINDS,
            -column.records,
            order.get(column.name, len(order)),
            column.name,
        ),
    )


def _over_life(counted: list[tuple[str, Kind, int]]) -> list[tuple[str, Kind, int]]:
    """The columns over the life of a cell that can be computed from these columns of time series."""
    counts = {name: count for name, _, count in counted}
    return [
        (name, life.KINDS[name], min(counts[need] for need in needs))
        for name, needs in life.NEEDS["series"].items()
        if counts.keys() >= {*needs} and name not in counts
    ]


def _kinds_with(db: sqlite3.Connection, cls: type[Record], table: Table) -> dict[str, list[str]]:
    """Column -> the kinds of records that have it in their sampled data; empty if only one kind has any."""
    owners: dict[str, list[str]] = {}
    kinds = table[cls.kind_field].tolist() if cls.kind_field else []
    for id, kind in zip(table["id"].tolist(), kinds, strict=False):
        owners.setdefault(kind, []).append(id)
    frequent = sorted(owners, key=lambda kind: (-len(owners[kind]), kind))[:MOST_KINDS]
    if len(frequent) < 2:
        return {}
    held = {kind: _counted(db, owners[kind], "series") for kind in frequent}
    found: dict[str, list[str]] = {}
    for kind, columns in held.items():
        for name, _, _ in columns:
            found.setdefault(name, []).append(kind)
    return found if sum(map(bool, held.values())) > 1 else {}


def _counted(db: sqlite3.Connection, owners: list[str], dataset: str) -> list[tuple[str, Kind, int]]:
    """Name, kind and number of owners of each column in the published data of these owners."""
    query = (
        "SELECT l.digest, l.body, count(*) FROM json_each(?) AS wanted "
        "JOIN series AS s ON s.owner = wanted.value AND s.dataset = ? "
        "LEFT JOIN layouts AS l ON l.digest = s.layout GROUP BY l.digest ORDER BY count(*) DESC, l.digest"
    )
    kinds: dict[str, set[Kind]] = {}
    counts: Counter[str] = Counter()
    for digest, body, count in db.execute(query, [values_of(owners), dataset]):
        for column in Layout.load(digest, body).fields:
            counts[column.name] += count
            kinds.setdefault(column.name, set()).add(column.kind)
    return [(name, joined_kind(kinds[name]), count) for name, count in counts.items()]


def _kept_units(db: sqlite3.Connection, cls: type[Record], scope: Scope) -> dict[str, str | None]:
    """The units that records note for the columns of their tables, by column name."""
    if "columns" not in cls.members():
        return {}
    clause, params = reach(cls, scope)
    named = "DISTINCT json_extract(j.value, '$.name'), json_extract(j.value, '$.unit')"
    kept = f'"{cls.table}" AS t, json_each(t."columns") AS j'
    rows = db.execute(f"SELECT {named} FROM {kept} WHERE {clause}", params)  # noqa: S608
    found: dict[str, set[str]] = {}
    for name, unit in rows:
        found.setdefault(name, set()).add(unit)
    return {name: (units.pop() or None) if len(units) == 1 else None for name, units in found.items()}


def _summary(
    db: sqlite3.Connection, scope: Scope, dataset: str, described: Iterable[Described]
) -> list[CatalogSummary]:
    """The columns of a summary in their order, each with the number of measurements that have it, then columns of given
    summaries."""
    clause, params = reach(SOURCES["measurements"], scope)
    ids = [id for (id,) in db.execute(f"SELECT id FROM measurements AS t WHERE {clause}", params)]  # noqa: S608
    counts = {name: (kind, count) for name, kind, count in _counted(db, ids, dataset)}
    if counts:
        computed = computed_columns.COMPUTED[dataset]
        counts[computed.name] = (computed.kind, max(count for _, count in counts.values()))  # all of them have it
    for name, needs in life.NEEDS[dataset].items():
        if all(need in counts for need in needs):  # computed on read from what these measurements hold
            counts.setdefault(name, (life.KINDS[name], min(counts[need][1] for need in needs)))
    found = []
    over_life = [column for column in life.LIFE_COLUMNS if column.name in counts]
    for column in (*described, *over_life):
        _, count = counts.pop(column.name, (column.kind, 0))
        found.append(CatalogSummary(column.name, column.kind, column.unit, column.meaning, count))
    found += [
        CatalogSummary(name, kind, split_unit(name)[1], "A column of given summaries.", count)
        for name, (kind, count) in sorted(counts.items())
    ]
    return found
