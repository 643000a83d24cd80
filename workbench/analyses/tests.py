"""What an analysis knows of the tests that it reads: their cells, their ratings, what their users wrote."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import JsonValue

from ..battery.inputs import EXCLUDED
from ..battery.result import Remark
from ..cycling import columns as c
from ..cycling.columns import CYCLE_COUNT
from ..cycling.cycle_completeness import VoltageLimits
from ..cycling.life import CYCLE_IN_LIFE
from ..cycling.steps import STEP_TYPE, in_order, step_types
from ..engine.cell_life import Lives
from ..engine.complete_cycles import excluded_cycles, with_completeness
from ..engine.ratings import limits_of, rated_capacity
from ..engine.reader import Reader
from ..messages import counted
from ..records import Specification
from ..records.exclusion import ALL, is_excluded
from ..store import Scope, Store
from ..store.series.series import SeriesInfo
from ..table import Table
from ..transform.frames import frame_of, whole_frame
from .declaration import Declared
from .test_kinds import REPEATED

KIND_TYPE = re.compile(r"kind:(\w+)")
TOGETHER = 64
"""Tests whose records are looked up at once; so many have their steps in memory."""
DATASET = {"samples": "series", "steps": "steps", "cycles": "cycles"}


class OneOfCell(NamedTuple):
    """A test of a cell: when it began, empty if that is unknown, and how many cycles it has."""

    id: str
    began: str
    cycles: int

    @property
    def ages(self) -> bool:
        """Whether it has the cycles of an ageing test, and not only those of a check-up."""
        return self.cycles >= REPEATED


@dataclass(frozen=True)
class Test:
    """A measurement, as an analysis sees it. ``rated`` in A.h is None where it is unknown, as is each of ``voltages``;
    ``excluded`` are the texts of what a user excluded of it. ``of_cell`` are all tests of its cell, with itself.
    ``is_table``: there are cycles, but no samples."""

    __test__ = False  # not a test of pytest

    id: str
    name: str
    cell: str
    cell_id: str
    batch: str | None
    tags: tuple[str, ...]
    protocol: str | None
    rated: float | None
    voltages: VoltageLimits
    began: str
    specification: Specification | None
    excluded: tuple[str, ...]
    of_cell: tuple[OneOfCell, ...]
    is_table: bool

    @property
    def shown(self) -> str:
        """What a run calls it: its name, with that of its cell where the name does not hold it."""
        return self.name if self.cell in self.name else f"{self.cell}, {self.name}"

    @property
    def limits(self) -> tuple[float, float] | None:
        """Both voltage limits of the specification, V; None where one of them is unknown."""
        low, high = self.voltages.low, self.voltages.high
        return None if low is None or high is None else (low, high)

    @property
    def earlier(self) -> list[OneOfCell]:
        """The tests with many cycles that the cell had before this one."""
        return [one for one in self.of_cell if one.ages and one.began and one.began < self.began]

    @property
    def perhaps_earlier(self) -> list[OneOfCell]:
        """Those of which it is not known whether they were before this one: without a start, or with the same."""
        others = [one for one in self.of_cell if one.ages and one.id != self.id]
        return [one for one in others if not one.began or not self.began or one.began == self.began]

    def fact(self, name: str) -> JsonValue:
        """The rated capacity or the limits of the specification, as a parameter takes them."""
        if name == "rated":
            return self.rated
        return None if self.limits is None else list(self.limits)


def tests_in(store: Store, scope: Scope, ids: Sequence[str] | None, *, also_tables: bool) -> list[Test]:
    """The measurements of these ids, or all in reach; those without samples are left out, but with ``also_tables`` for
    tables of cycles."""
    fields = ["id", "name", "instance_id", "instance_name", "batch_name", "tags", "protocol.name", "sample_count"]
    fields += ["cycle_count", "start_time", "specification_id"]
    where: Mapping[str, JsonValue] = {} if ids is None else {"ids": [*ids]}
    reader = Reader(store, scope)
    rows = reader.rows("measurements", where, fields, None).table.records()
    of_cell: dict[str, list[OneOfCell]] = {}
    for row in rows if ids is None else _of_the_same_cells(reader, rows):
        began = "" if row["start_time"] is None else str(row["start_time"])
        there = of_cell.setdefault(str(row["instance_id"]), [])
        there.append(OneOfCell(str(row["id"]), began, int(row["cycle_count"] or 0)))
    tests_of = {cell: tuple(tests) for cell, tests in of_cell.items()}  # one tuple for all tests of a cell
    rows = [row for row in rows if row["sample_count"] or (also_tables and row["cycle_count"])]
    known = [str(row["id"]) for row in rows]
    page = store.rows.page(Specification, scope, limit=None)
    specifications = {one.id: (one, rated_capacity(one), limits_of(one)) for one in page.items}
    unknown = (None, None, VoltageLimits())
    excluded = excluded_cycles(known, reader)
    found = []
    for row in rows:
        specification, rated, of = specifications.get(str(row["specification_id"]), unknown)
        tags = tuple(part for part in str(row["tags"] or "").split(", ") if part)
        protocol = row["protocol.name"] if isinstance(row["protocol.name"], str) else None
        batch = None if row["batch_name"] is None else str(row["batch_name"])
        cell, cell_id = str(row["instance_name"]), str(row["instance_id"])
        found.append(
            Test(
                id=str(row["id"]),
                name=str(row["name"]),
                cell=cell,
                cell_id=cell_id,
                batch=batch,
                tags=tags,
                protocol=protocol,
                rated=rated,
                voltages=of,
                began="" if row["start_time"] is None else str(row["start_time"]),
                specification=specification,
                excluded=tuple(excluded.get(str(row["id"]), ())),
                of_cell=tests_of[cell_id],
                is_table=not row["sample_count"],
            )
        )
    return found


def _of_the_same_cells(reader: Reader, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tests of the cells of some tests. A row has values of any kind, by its fields."""
    cells = list(dict.fromkeys(str(row["instance_id"]) for row in rows))
    fields = ["id", "instance_id", "start_time", "cycle_count"]
    return reader.rows("measurements", {"instanceIds": [*cells]}, fields, None).table.records() if cells else []


def steps_of(store: Store, scope: Scope, test: Test) -> Table:
    """The steps of a test, with ``Step type`` by the present rated capacity."""
    return _with_types(store.series.read(test.id, dataset="steps", scope=scope), test)


def _with_types(stored: Table, test: Test) -> Table:
    if STEP_TYPE in stored:
        return stored
    return Table(in_order({**stored.columns, STEP_TYPE: step_types(stored, test.rated)}), stored.n)


def frames(
    store: Store, scope: Scope, declared: Declared, tests: Sequence[Test], lives: Lives | None = None
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """What an analysis reads of tests, exact, by their ids; and of the others why there is nothing: a test has no such
    data, lacks a column that the analysis needs, or is excluded. ``lives`` gives cycles their ``Cycle in life``."""
    found: dict[str, pd.DataFrame] = {}
    problems: dict[str, str] = {}
    for first in range(0, len(tests), TOGETHER):
        some = tests[first : first + TOGETHER]
        infos = store.series.infos([one.id for one in some], DATASET[declared.reads], scope=scope)
        problems |= {one.id: why for one in some if (why := _lacking(declared, one, infos.get(one.id)))}
        there = [one for one in some if one.id not in problems]
        if declared.reads == "samples":
            found |= {one.id: _samples(store, scope, declared, one, infos[one.id].names) for one in there}
            continue
        stored = _whole_tables(store, scope, DATASET[declared.reads], {one.id: infos[one.id] for one in there})
        if declared.reads == "cycles":
            # To look again would take longer with each record that this run keeps.
            excluded = {one.id: one.excluded for one in there if one.excluded}
            stored = with_completeness(stored, Reader(store, scope), excluded)[0]
            if lives is not None:
                stored = lives.tables(stored, [CYCLE_IN_LIFE], "cycles")
        else:
            stored = {one.id: _with_types(stored[one.id], one) for one in there}
        found |= {one.id: frame_of(stored[one.id]) for one in there}
    if declared.reads != "cycles":
        for one in tests:
            if one.excluded and one.id in found and CYCLE_COUNT in found[one.id]:
                cycle = found[one.id][CYCLE_COUNT].to_numpy(float, na_value=np.nan)
                found[one.id][EXCLUDED] = is_excluded(cycle, one.excluded)
    return found, problems


def remarks(declared: Declared, tests: Sequence[Test], read: Mapping[str, pd.DataFrame]) -> list[Remark]:
    """What is to be known of the tests that an analysis reads, whatever it finds."""
    return [*_of_excluded(declared, tests, read), *_of_earlier(declared, tests)]


def _of_earlier(declared: Declared, tests: Sequence[Test]) -> list[Remark]:
    test = tests[-1]
    if not declared.in_life:
        return []
    counts = "cycles and capacities are counted from the first cycle of this test alone"
    if test.earlier:
        words = (
            f"The cell has {counted(len(test.earlier), 'earlier test')} with many cycles: {counts}. The recipe 'fade' "
            "of the gallery counts over the life of the cell."
        )
        return [Remark("earlier_tests", words, declared.type)]
    if test.perhaps_earlier:
        words = (
            f"The cell has {counted(len(test.perhaps_earlier), 'other test')} with many cycles, and which began first "
            f"is not known: {counts}. Give each its 'start_time'."
        )
        return [Remark("life_order_unknown", words, declared.type)]
    return []


def _of_excluded(declared: Declared, tests: Sequence[Test], read: Mapping[str, pd.DataFrame]) -> list[Remark]:
    """What an analysis of samples or steps says of excluded cycles; one of cycles says it in their rows."""
    made = []
    for one in tests if declared.reads != "cycles" else ():
        if not one.excluded or one.id not in read:
            continue
        of = f" of '{one.name}'" if len(tests) > 1 else ""
        which = f"Excluded and left out: cycles {', '.join(one.excluded)}{of}."
        if EXCLUDED not in read[one.id]:
            which = (
                f"Cycles {', '.join(one.excluded)}{of} are excluded, and still in here: the {declared.reads} have no "
                f"'{CYCLE_COUNT}'."
            )
        made.append(Remark("excluded", which, declared.type))
    return made


def _whole_tables(store: Store, scope: Scope, dataset: str, infos: Mapping[str, SeriesInfo]) -> dict[str, Table]:
    """All columns of the summaries of some tests, each in its own order, read at once."""
    names = [name for info in infos.values() for name in info.names]
    read = store.series.many(infos, names, dataset, scope=scope)
    return {id: read[id].select(info.names) for id, info in infos.items()}


def joined(
    tests: Sequence[Test],
    read: Mapping[str, pd.DataFrame],
    also: Mapping[str, Mapping[str, str]] | None = None,
) -> pd.DataFrame:
    """The frames of tests one below the other, with ``Cell``, ``Test`` and the columns of ``also``: test -> text."""
    there = [one for one in tests if one.id in read]
    data = pd.concat([read[one.id] for one in there], ignore_index=True)
    names = {
        "Cell": {one.id: one.cell for one in there},
        "Test": {one.id: one.name for one in there},
        **(also or {}),
    }
    places = np.repeat(np.arange(len(there)), [len(read[one.id]) for one in there])
    for name, texts in names.items():
        data[name] = pd.array([texts[one.id] for one in there], "str").take(places)
    return data


def _lacking(declared: Declared, test: Test, info: SeriesInfo | None) -> str:
    """Why an analysis cannot read a test; empty if it can."""
    if ALL in test.excluded:
        return "The test is excluded."
    if info is None:
        return f"The test has no {declared.reads}."
    lacking = [name for name in declared.needs if name not in info.names and name != STEP_TYPE]
    return f"The test has no column '{lacking[0]}'." if lacking else ""


def _samples(store: Store, scope: Scope, declared: Declared, test: Test, there: Collection[str]) -> pd.DataFrame:
    wanted = [name for name in dict.fromkeys((*declared.needs, *declared.takes)) if name in there]
    return whole_frame(store.series.read(test.id, wanted or None, scope=scope), test.id)


def keys(declared: Declared, ids: Iterable[str]) -> list[tuple[str, str]]:
    """The tables that an analysis depends on, as the store names revisions; ``Complete`` depends on the steps."""
    datasets = {DATASET[declared.reads], "steps"} if declared.reads != "samples" else {"series"}
    return [(id, dataset) for id in ids for dataset in sorted(datasets)]


SAMPLES = (c.TIME, c.CURRENT, c.VOLTAGE)
ALSO = (c.STEP_COUNT, CYCLE_COUNT, "Step time [s]", c.TEMPERATURE, c.DISCHARGE_CAPACITY, c.CHARGE_CAPACITY)
"""Columns of samples that analyses read where they are there."""
IMPEDANCE = (c.FREQUENCY, "Z_Re [Ohm]", "Z_Im [Ohm]")
WITH_IMPEDANCE = (c.TIME, CYCLE_COUNT, c.VOLTAGE, "SOC", c.TEMPERATURE)
"""The columns of spectra, and those that are read beside them."""
