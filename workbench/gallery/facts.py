"""What a store has that a gallery entry can draw: tests of a kind, and the columns with temperature, mass and area."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from ..analyses.shapes import KindOfTest
from ..cached_property import cached_property
from ..errors import Problem
from ..recipe.plot import PlotConfig
from ..records.catalog import Catalog, CatalogColumn
from ..records.exclusion import ALL, CYCLES, EXCLUSION, REASON, runs_of
from ..records.measurement import KIND
from ..table import Table

MOST_LISTED = 1000
"""Rows of a list step at most."""
MOST_NAMED = 4
ESTIMATES = ("source.ratings", "source.capacity")
MANY_CYCLES = 10
"""Tests that a figure names at most of those that it leaves out."""


_NO_HEAT = (
    "number|count|channel|sensor|probe|index|id|coefficient|compensation|tolerance|accuracy|resolution|alarm|rate"
)
_HEAT = rf"\w*temperature(?!\w*_(?:{_NO_HEAT})s?(?:_|$))\w*"
_MASS = (r"\w*active\w*mass\w*", r"\w*electrode\w*mass\w*", r"(?:cell_)?mass")
_AREA = (r"\w*electrode_area|active_area|area",)
"""Names of properties with a temperature, a mass and an area; of the first patterns the fullest one is taken. What
counts or numbers the sensors of a temperature is none."""


class Looked(Protocol):
    """A store as a gallery entry looks at it."""

    def catalog(self) -> Catalog: ...
    def kinds_of_tests(self) -> list[KindOfTest]: ...
    def held_columns(self, ids: Sequence[str], dataset: str) -> Mapping[str, frozenset[str]]: ...
    def against_store(self, config: PlotConfig, values: Mapping[str, JsonValue]) -> list[Problem]: ...
    def listing(
        self, source: str, where: Mapping[str, JsonValue], fields: list[str] | None, limit: int | None
    ) -> Table: ...


@dataclass(frozen=True)
class TestRow:
    """A test that an entry can draw."""

    __test__ = False

    id: str
    name: str
    cell: str
    batch: str | None


class _Lengths(NamedTuple):
    """How many rows a test has of each dataset."""

    sample_count: int
    cycle_count: int
    step_count: int


class Facts:
    """What a store has, read when it is asked for.

    Parameters
    ----------
    store : is looked at.
    measurements : ids; only these tests count, as if the store had no others. Without them all do.
    """

    def __init__(self, store: Looked, measurements: Collection[str] | None = None) -> None:
        self._store = store
        self._held: dict[tuple[str, str], frozenset[str] | None] = {}
        self.undrawn: dict[str, tuple[str, str]] = {}
        """The tests that the entry at hand leaves out by id: the name, and what it lacks."""
        self._only = None if measurements is None else frozenset(measurements)

    def of_tests(self, measurements: Collection[str]) -> Facts:
        """What the same store has of these tests alone."""
        return Facts(self._store, measurements)

    @property
    def of_chosen(self) -> dict[str, JsonValue]:
        """The filter of a list of analyses for those of the chosen tests; empty if all tests count."""
        if self._only is None and not self.excluded_tests:
            return {}
        chosen = (one.id for one in self.measurements) if self._only is None else self._only
        ids: list[JsonValue] = [*sorted(set(chosen) - self.excluded_tests)]
        return {"measurementIds": ids}

    @cached_property
    def catalog(self) -> Catalog:
        return self._store.catalog()

    @cached_property
    def _kinds(self) -> list[KindOfTest]:
        return self._store.kinds_of_tests()

    def rows(self, source: str, fields: list[str]) -> list[dict[str, JsonValue]]:
        """The records of a source as rows of these fields, in the order in which they were stored."""
        listed = self._store.listing(source, {}, fields, None)
        return listed.records() if listed.n else []

    @cached_property
    def _rows(self) -> list[tuple[TestRow, _Lengths]]:
        """All tests that count, in the order in which they were stored, with the rows that they have."""
        fields = ["id", "name", "instance_name", "batch_name", *_Lengths._fields]
        listed = self._store.listing("measurements", {}, fields, None)
        rows = ((_row(row), _lengths(row)) for row in (listed.records() if listed.n else []))
        return [(one, lengths) for one, lengths in rows if self._only is None or one.id in self._only]

    @cached_property
    def measurements(self) -> list[TestRow]:
        """All tests with samples, in the order in which they were stored."""
        return [one for one, lengths in self._rows if lengths.sample_count]

    @cached_property
    def cycled(self) -> list[TestRow]:
        """All tests with two cycles or more, with samples or without: also tables of cycles."""
        return self._with_cycles(2)

    @cached_property
    def _of_many_cycles(self) -> list[TestRow]:
        return self._with_cycles(MANY_CYCLES)

    def _with_cycles(self, least: int) -> list[TestRow]:
        rows = ((one, lengths.cycle_count) for one, lengths in self._rows if one.id not in self.excluded_tests)
        return [one for one, cycles in rows if cycles >= least]

    @cached_property
    def _by_id(self) -> dict[str, _Lengths]:
        return {one.id: lengths for one, lengths in self._rows}

    def cycles_in(self, test: TestRow) -> int:
        """How many cycles a test has."""
        return self._by_id[test.id].cycle_count

    def summary_rows_in(self, test: TestRow) -> int:
        """How many rows a test has in the longer one of its summaries, of cycles or of steps."""
        lengths = self._by_id[test.id]
        return max(lengths.cycle_count, lengths.step_count)

    @cached_property
    def excluded(self) -> list[tuple[str, str, str, str]]:
        """What is excluded: the id and name of the test, with that of its cell where it does not hold it, the cycles,
        the reason."""
        fields = ["measurement_id", "measurement_name", "instance_name", CYCLES, REASON]
        listed = self._store.listing("analyses", {"analysisType": EXCLUSION}, fields, None)
        return [
            (str(row["measurement_id"]), _with_cell(row), str(row[CYCLES]), str(row[REASON]))
            for row in (listed.records() if listed.n else [])
            if self._counts(str(row["measurement_id"]))
        ]

    def _counts(self, measurement: str) -> bool:
        return self._only is None or measurement in self._only

    def tests(self, *kinds: str) -> list[TestRow]:
        """The tests of any of these kinds, without those that are excluded; without kinds all tests."""
        return [one for one in self._of_kinds(*kinds) if one.id not in self.excluded_tests]

    @cached_property
    def excluded_tests(self) -> set[str]:
        """The ids of the tests that are excluded as a whole."""
        return {id for id, _, cycles, _ in self.excluded if cycles == ALL}

    @property
    def excluded_cycles(self) -> dict[str, list[tuple[int, int]]]:
        """Test -> the runs of its cycles that are excluded, each with its first and last."""
        found: dict[str, list[tuple[int, int]]] = {}
        for id, _, cycles, _ in self.excluded:
            found.setdefault(id, []).extend(runs_of(cycles))
        return {id: runs for id, runs in found.items() if runs}

    @property
    def left_out(self) -> str:
        """What is excluded in the store and what the entry at hand leaves out, in words; empty if nothing is."""
        said = [
            f"{name}{'' if cycles == ALL else f' cycles {cycles}'} ({reason})"
            for _, name, cycles, reason in self.excluded
        ]
        by_reason: dict[str, Counter[str]] = {}
        for name, why in self.undrawn.values():
            by_reason.setdefault(why, Counter())[name] += 1
        lacking = [f"{_listed(names)} ({why})" for why, names in by_reason.items()]
        parts = [
            f"excluded: {'; '.join(said)}" if said else "",
            f"left out: {'; '.join(lacking)}" if lacking else "",
        ]
        return "; ".join(part for part in parts if part)

    def name_unrecognised(self, kind: str) -> None:
        """Put into `undrawn` the tests of many cycles that are of no kind, which may well be of this one."""
        known = {one["measurement_id"] for one in self._kinds if one["kind"] != "dynamic"}
        for one in self._of_many_cycles:
            if one.id not in known:
                self.undrawn[one.id] = one.name, f"not recognised as {kind}: a tag '{kind}' says that it is"

    def drawable(self, tests: Sequence[TestRow], dataset: str, needs: Sequence[str]) -> list[TestRow]:
        """Those of the tests that have all of these columns; what the others lack is in `undrawn`."""
        held = self._columns([one.id for one in tests], dataset)
        found = []
        for one in tests:
            there = held[one.id]
            lacking = [name for name in needs if there is None or name not in there]
            if lacking:
                why = f"no {dataset}" if there is None else f"no column '{lacking[0]}'"
                self.undrawn[one.id] = one.name, why
            else:
                found.append(one)
        return found

    def shared(self, ids: Sequence[str], dataset: str, columns: Sequence[str]) -> list[str]:
        """Those of the columns that all of these records have: a plan fails where all that are chosen lack one."""
        held = [there or frozenset() for there in self._columns(ids, dataset).values()]
        return [name for name in columns if held and all(name in there for there in held)]

    def of_any(self, ids: Sequence[str], dataset: str, columns: Sequence[str]) -> list[str]:
        """Those of the columns that any of these records has: in rows of steps and cycles, one that lacks a column has
        nulls there."""
        held = self._columns(ids, dataset).values()
        return [name for name in columns if any(name in there for there in held if there)]

    def _columns(self, ids: Sequence[str], dataset: str) -> dict[str, frozenset[str] | None]:
        """The columns of these records, each read once; None for a record without that dataset."""
        if any((id, dataset) not in self._held for id in ids):
            # Of all tests, so that recipes that draw different ones ask the same.
            wanted = [*dict.fromkeys([*(one.id for one in self._of_any_kind), *ids])]
            read = self._store.held_columns(wanted, dataset)
            self._held |= {(id, dataset): read.get(id) for id in wanted}
        return {id: self._held[id, dataset] for id in ids}

    def _of_kinds(self, *kinds: str) -> list[TestRow]:
        if not kinds:
            return self.measurements
        ids = {one["measurement_id"] for one in self._kinds if one["kind"] in kinds}
        return [one for one in self._of_any_kind if one.id in ids]

    @cached_property
    def _of_any_kind(self) -> list[TestRow]:
        """All tests with samples, then those with cycles alone."""
        sampled = {one.id for one in self.measurements}
        return [*self.measurements, *(one for one in self.cycled if one.id not in sampled)]

    def are_kept(self, kind: str, tests: Sequence[TestRow]) -> bool:
        """Whether the records of a kind name just these tests, so that a plan can list them by it."""
        where: dict[str, JsonValue] = {"analysisType": KIND + kind}
        listed = self._store.listing("analyses", where, ["measurement_id"], None)["measurement_id"].tolist()
        return bool(listed) and {str(id) for id in listed} == {one.id for one in tests}

    def are_all(self, tests: Sequence[TestRow]) -> bool:
        """Whether these are all tests of the project, so that a plan can list them without their ids."""
        return self._only is None and self._store.listing("measurements", {}, ["id"], None).n == len(tests)

    def results(self, analysis: str) -> list[dict[str, JsonValue]]:
        """The computed records of an analysis, without those of excluded tests: names, whether they are valid, and why
        not."""
        fields = [
            "id",
            "measurement_id",
            "measurement_name",
            "instance_name",
            "metadata.workbench.valid",
            "metadata.workbench.reason",
        ]
        where: dict[str, JsonValue] = {"analysisType": analysis, **self.of_chosen}
        rows = self._store.listing("analyses", where, fields, None).records()
        return [
            row
            for row in rows
            if row["metadata.workbench.valid"] is not None and row["measurement_id"] not in self.excluded_tests
        ]

    def problems(self, config: PlotConfig) -> list[Problem]:
        """What a recipe needs at its defaults and the store does not have."""
        return self._store.against_store(config, {})

    def of_cycles(self, *columns: str) -> list[str]:
        """Those of the columns that the cycles of any test have."""
        there = {column.name for column in self.catalog.cycles if column.records}
        return [name for name in columns if name in there]

    def simulations(self, *columns: str) -> list[str]:
        """The ids of the simulations that have all of these columns, the oldest first."""
        ids = [str(id) for id in self._store.listing("simulations", {}, ["id"], None)["id"].tolist()]
        held = self._columns(ids, "series")
        return [id for id in ids if set(columns) <= (held[id] or frozenset())]

    def names(self, source: str, pattern: str) -> list[CatalogColumn]:
        """Filled numbers under the open objects of a source whose last part fits a pattern; the fullest first."""
        found = [
            column
            for column in self.catalog[source].names
            if column.filled
            and column.type in ("number", "integer")
            and re.fullmatch(pattern, _property(column), re.IGNORECASE)
        ]
        return sorted(found, key=lambda column: -column.filled)

    def with_unit(self, source: str, name: str | None) -> list[str]:
        """A column with that of its unit, if there is one; none without a name."""
        if name is None:
            return []
        unit = f"{name.removesuffix('.value')}.unit" if name.endswith(".value") else ""
        return [name, *([unit] if any(column.name == unit for column in self.catalog[source].names) else [])]

    @cached_property
    def cell_temperature(self) -> str | None:
        """The column of cells with the temperature at which they age, if there is one."""
        found = self.names("instances", _HEAT)
        return _first([one for one in found if _property(one) == "temperature"] or found)

    @cached_property
    def test_temperature(self) -> str | None:
        """The column of tests with the temperature around the cell, if there is one."""
        found = self.names("measurements", _HEAT)
        exact = [one for one in found if one.name.split(".")[-2:-1] == ["temperature"]]
        return _first(exact or found)

    @cached_property
    def of_estimates(self) -> list[str]:
        """The columns of designs that say that a rated capacity was estimated from a file, if one was."""
        there = {column.name for column in self.catalog["cellSpecifications"].names if column.filled}
        return [name for name in ESTIMATES if name in there] if ESTIMATES[0] in there else []

    @cached_property
    def mass(self) -> dict[str, str]:
        """Source -> its column with a mass: of the active material if there is one, else of the cell."""
        return self._of_cells(*_MASS)

    @cached_property
    def area(self) -> dict[str, str]:
        """Source -> its column with the area of the electrode."""
        return self._of_cells(*_AREA)

    @cached_property
    def taken(self) -> dict[str, str]:
        """The property that is taken where a store has several that could be meant: ``temperature``, ``g`` or ``cm2``
        -> its name in words."""
        heats = {
            source: [_property(one) for one in self.names(source, _HEAT)]
            for source in ("instances", "measurements")
        }
        first = {"instances": self.cell_temperature, "measurements": self.test_temperature}
        chosen = [
            _last(name)
            for source, name in first.items()
            if name and _last(name) != "temperature" and len(set(heats[source])) > 1
        ]
        said = {"temperature": " or ".join(dict.fromkeys(chosen))}
        for key, columns, patterns in (("g", self.mass, _MASS), ("cm2", self.area, _AREA)):
            there = {
                _property(one)
                for pattern in patterns
                for source in ("instances", "cellSpecifications")
                for one in self.names(source, pattern)
            }
            if len(there) > 1:
                said[key] = " or ".join(dict.fromkeys(map(_last, columns.values())))
        return {key: words.replace("_", " ") for key, words in said.items() if words}

    def _of_cells(self, *patterns: str) -> dict[str, str]:
        for pattern in patterns:
            found = {
                source: name
                for source in ("instances", "cellSpecifications")
                if (name := _first([one for one in self.names(source, pattern) if one.name.endswith(".value")]))
            }
            if found:
                return found
        return {}

    @property
    def bases(self) -> list[str]:
        """What a capacity, a current or a resistance can be referred to."""
        return ["cell", *(["g"] if self.mass else []), *(["cm2"] if self.area else [])]


def _row(row: Mapping[str, JsonValue]) -> TestRow:
    batch = row["batch_name"]
    return TestRow(
        str(row["id"]), str(row["name"]), str(row["instance_name"]), None if batch is None else str(batch)
    )


def _lengths(row: Mapping[str, JsonValue]) -> _Lengths:
    counts = (row[name] for name in _Lengths._fields)
    return _Lengths(*(count if isinstance(count, int) else 0 for count in counts))


def _with_cell(row: Mapping[str, JsonValue]) -> str:
    """What the test of an exclusion is called where tests of several cells may have one name."""
    test, cell = str(row["measurement_name"]), str(row["instance_name"])
    return test if cell in test else f"{cell}, {test}"


def _listed(names: Counter[str]) -> str:
    """The names of tests, most of which differ; those of several cells once."""
    said = [f"{name} of {count} cells" if count > 1 else name for name, count in names.items()]
    more = f" and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
    return f"{', '.join(said[:MOST_NAMED])}{more}"


def _last(name: str) -> str:
    """The name of a property: the last part of its column."""
    return name.removesuffix(".value").rsplit(".", 1)[-1]


def _property(column: CatalogColumn) -> str:
    return _last(column.name)


def _first(found: Sequence[CatalogColumn]) -> str | None:
    return found[0].name if found else None
