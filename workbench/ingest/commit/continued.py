"""A file that holds what is stored already, and more: which measurement it continues, decided by the samples."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ...cycling import columns as c
from ...errors import Conflict
from ...readers import rule_of
from ...records import Instance, Measurement
from ...store import Transaction
from ...store.scope import Scope
from ...store.series import derived
from ...store.series.series import SeriesInfo
from ...store.store import Store
from ...table import Column, Table
from ..plan.paths import is_same_folder
from ..read.prepare import Prepared

Samples = Callable[[], Iterator[tuple[str, Table]]]
"""Opens the samples of a prepared file from their beginning."""
CORE = (c.TIME, c.VOLTAGE, c.CURRENT)
SURELY = 50
"""Equal samples that make it certain that two files of one name, of different cells, are one test."""
MOVES = 20
"""Samples whose voltage or current is not that of the one before, without which equal samples of another folder prove
nothing. Tests that have just begun rest at one voltage, and may be equal in all samples that there are."""
_FIRST = 64
"""Samples by which most tests of a cell differ from another."""
MOST_IN_MEMORY = 1 << 20
_BYTES = 1 << 20


@dataclass(frozen=True)
class Grown:
    """How a file stands to a measurement: it has all its samples and ``more``, or is all in it (``within``), or is the
    very same and was read ``otherwise``.

    ``exact``: every column of the stored samples is the same to the bit, so the new ones can be added. Else the
    reading of the longer file takes their place.
    """

    record: Measurement
    info: SeriesInfo
    how: Literal["more", "within", "otherwise"]
    exact: bool


def grown_from(
    store: Store,
    scope: Scope,
    path: Path,
    prepared: Prepared,
    samples: Samples,
    cell: Instance | None,
    of_cell: Sequence[Measurement],
    name: str,
    named: Sequence[str],
    held: Store | None = None,
    folder: str = "",
) -> Grown | None:
    """The measurement that a file continues, or that holds it whole; None if there is none.

    Asked are those ``of_cell`` that began at the same time or go by the same name, and ``named``, which were
    read from a file of this name. The samples decide: time, voltage and current of the shorter must begin the longer,
    bit for bit. They are read from ``held`` where the store is a rehearsal of it. A file from another folder than
    ``folder`` continues a test only if its samples move, so that they are not equal by chance.

    A file of as many samples is held by a test that is equal in every column. Its hash may be another: that counts the
    texts of lines which were left out, such as an unfinished last line or a title below the samples.
    """
    for record in _candidates(store, scope, prepared, of_cell, name, named):
        info = store.series.info(record.id, scope=scope)
        if info is None or not info.rows:
            continue
        shared = min(info.rows, prepared.rows)
        same_cell = cell is not None and record.instance_id == cell.id
        before, test = record.source.get("options", {}).get("test"), prepared.said.get("test")
        if before is not None and test is not None and before != test:
            continue
        begins = before == test and prepared.rows > info.rows and _begins_with(path, record)
        if not (same_cell or begins or shared >= SURELY):
            continue
        core, exact, moves = _compared(held or store, scope, record, info, samples, shared)
        if moves < MOVES and elsewhere(record, folder) is not None:
            continue
        if prepared.rows == info.rows:
            if core and exact:
                return Grown(record, info, "within", exact)
        elif prepared.rows < info.rows:
            if core:
                return Grown(record, info, "within", exact)
        elif core or begins:
            return Grown(record, info, "more", exact)
    return None


def also_holds(
    store: Store,
    scope: Scope,
    prepared: Prepared,
    samples: Samples,
    of_cell: Sequence[Measurement],
    held: Store | None = None,
) -> tuple[Measurement, int] | None:
    """The test among those ``of_cell`` that begins with all samples of a file, or with all whose samples the file
    begins, and how many both hold.

    Asked are those of which nobody knows whether they began when the file did: one of the two has no start. Equal
    samples do not prove that it is one test, so it is a matter of a warning. Tests that have just begun at rest do
    not count.
    """
    begins: Table | None = None
    for record in of_cell:
        both_begin = record.start_time is not None and prepared.start_time is not None
        if both_begin or record.source.get("sha256") == prepared.file_hash:  # or it is another test of this file
            continue
        info = store.series.info(record.id, scope=scope)
        if info is None or not info.rows:
            continue
        if begins is None:
            begins = next((batch.slice(0, min(batch.n, _FIRST)) for _, batch in _series(samples)), Table({}, 0))
        if not _begins_alike(held or store, scope, record, info, begins):
            continue
        shared = min(info.rows, prepared.rows)
        core, _, moves = _compared(held or store, scope, record, info, samples, shared)
        if core and moves >= MOVES:
            return record, shared
    return None


def _begins_alike(store: Store, scope: Scope, record: Measurement, info: SeriesInfo, first: Table) -> bool:
    """Whether the first samples are the same, of which few are read: most tests differ there."""
    n = min(first.n, info.rows)
    names = [name for name in CORE if name in {column.name for column in info.columns} and name in first]
    table = store.series.read(record.id, names, (0, n), scope=scope) if names else Table({}, 0)
    return bool(names) and all(_same(table[name], first[name].slice(0, n)) for name in names)


def read_otherwise(store: Store, scope: Scope, id: str | None) -> Grown | None:
    """The measurement of this id, which the same bytes became when they were read otherwise."""
    info = None if id is None else store.series.info(id, scope=scope)
    found = [] if info is None else store.rows.page(Measurement, scope, where={"id": {"in": [id]}}).items
    return Grown(found[0], info, "otherwise", exact=False) if info is not None and found else None


def elsewhere(record: Measurement, folder: str) -> str | None:
    """The other folder that a measurement was read from; None if it is this one, or may be."""
    other = record.source.get("folder")
    return other if isinstance(other, str) and folder and not is_same_folder(other, folder) else None


def _candidates(
    store: Store,
    scope: Scope,
    prepared: Prepared,
    of_cell: Sequence[Measurement],
    name: str,
    named: Sequence[str],
) -> list[Measurement]:
    where = {"id": {"in": [*named]}}
    found: list[Measurement] = store.rows.page(Measurement, scope, where=where, limit=None).items if named else []
    found = _read_from_files(found, scope)
    found += [
        record
        for record in of_cell
        if record.name == name or (record.start_time is not None and _start(record) == prepared.start_time)
    ]
    return list({record.id: record for record in found}.values())


def tests_of(store: Store, scope: Scope, cell: Instance | None) -> list[Measurement]:
    """The tests of a cell that were read from files; none of a cell that is to be made."""
    if cell is None:
        return []
    where = {"instance_id": cell.id}
    return _read_from_files(store.rows.page(Measurement, scope, where=where, limit=None).items, scope)


def _read_from_files(records: Iterable[Measurement], scope: Scope) -> list[Measurement]:
    """Those of the project whose samples were read from a file."""
    return [
        record
        for record in records
        if record.measurement_type == "time_series"
        and record.project_id == scope.project_id
        and record.source.get("sha256")
        and record.content_hash
    ]


def _start(record: Measurement) -> str | None:
    return None if record.start_time is None else record.start_time.isoformat(timespec="microseconds")


def _begins_with(path: Path, record: Measurement) -> bool:
    """Whether the file begins with the very bytes that the measurement was read from."""
    size = record.source.get("size")
    if not isinstance(size, int) or size <= 0 or len(record.source.get("files", [])) > 1:
        return False
    state, left = hashlib.sha256(), size
    try:
        with path.open("rb") as file:
            while left and (chunk := file.read(min(left, _BYTES))):
                state.update(chunk)
                left -= len(chunk)
    except OSError:
        return False
    return not left and state.hexdigest() == record.source.get("sha256")


def _compared(
    store: Store, scope: Scope, record: Measurement, info: SeriesInfo, samples: Samples, shared: int
) -> tuple[bool, bool, int]:
    """Whether the first ``shared`` samples agree in what makes a test, whether in every column, and how many of them
    have another voltage or current than the one before."""
    stored = {column.name: column for column in info.columns}
    at, exact, moves = 0, True, 0
    for _, batch in _series(samples):
        n = min(batch.n, shared - at)
        core = [name for name in CORE if name in stored and name in batch]
        if c.VOLTAGE not in core and c.FREQUENCY not in stored:
            return False, False, 0
        exact = exact and list(batch) == list(stored)
        names = list(stored) if exact else core
        table = store.series.read(record.id, names, (at, at + n), scope=scope)
        if not all(_same(table[name], batch[name].slice(0, n)) for name in core):
            return False, False, 0
        exact = exact and all(_same(table[name], batch[name].slice(0, n)) for name in names)
        moves += _moves([table[name] for name in (c.VOLTAGE, c.CURRENT) if name in core])
        at += n
        if at == shared:
            break
    return True, exact, moves


def _moves(columns: Sequence[Column]) -> int:
    """How many rows differ from the one before in any of these columns."""
    if not columns:
        return MOVES  # a spectrum without a voltage: its frequencies do not stand still
    moved = [np.diff(column.floats()) != 0 for column in columns]
    return int(np.logical_or.reduce(moved).sum())


def _series(samples: Samples) -> Iterator[tuple[str, Table]]:
    return ((name, table) for name, table in samples() if name == "series")


def _same(one: Column, other: Column) -> bool:
    """Whether two columns hold the same to the bit, nulls in the same places."""
    missing, absent = one.null_mask(), other.null_mask()
    if not np.array_equal(missing, absent):
        return False
    if missing.all():
        return True
    if one.kind != other.kind:
        return False
    if one.kind in ("text", "mixed"):
        return one.tolist() == other.tolist()
    a, b = one.values[~missing], other.values[~missing]
    return a.dtype == b.dtype and bool(np.array_equal(a.view(np.uint8), b.view(np.uint8)))


def tail(samples: Samples, start: int) -> list[Table]:
    """The samples from number ``start`` on."""
    at, made = 0, []
    for _, batch in _series(samples):
        if at + batch.n > start:
            made.append(batch.slice(max(start - at, 0), batch.n))
        at += batch.n
    return made


def made_by(prepared: Prepared) -> dict[str, int | None]:
    """The rules that made the samples, steps and cycles of a file."""
    given = prepared.brought is not None and prepared.brought["given_steps"]
    return derived.rules(given=given, reader=rule_of(prepared.format))


def publish(
    store: Store, scope: Scope, connection: Transaction, grown: Grown, prepared: Prepared, samples: Samples
) -> None:
    """Add what is new to a series, or put the longer reading in its place; steps and cycles follow.

    Raises
    ------
    Conflict
        If the series is no longer the one that was compared.
    """
    now = store.series.info(grown.record.id, scope=scope)
    if now is None or now.revision != grown.info.revision:
        raise Conflict(
            f"'{grown.record.name}' was changed by somebody else at the same time. Ingest the file again."
        )
    added, rules = prepared.rows - grown.info.rows, made_by(prepared)
    if grown.exact and added <= MOST_IN_MEMORY:
        more = tail(samples, grown.info.rows)
        store.series.append(grown.record.id, "series", more, connection, rule=rules["series"])
        datasets = ["steps", "cycles"]
    else:
        datasets = ["series", "steps", "cycles"]
    for dataset in datasets:
        with store.series.writer(grown.record.id, dataset, rule=rules[dataset]) as writer:
            for name, table in samples():
                if name == dataset:
                    writer.add(table)
            writer.publish(connection)
