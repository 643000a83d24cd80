"""Computed analyses as records: which there are, whether they are still true, and how new ones replace them.

A computed record has ``metadata.workbench``: the analysis, the version of its rule, all parameters, the tests that it
read with their revisions, the ratings that it used, warnings, and whether it is valid. ``metadata.results`` has its
numbers. A record without ``metadata.workbench`` was made by hand; it is never changed here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np
import orjson
import pandas as pd
from pydantic import JsonValue

from ..battery.result import VALID, WARNINGS
from ..cached_property import cached_property
from ..errors import NotFound
from ..records import Analysis
from ..store import Scope, Store, Transaction
from ..table import Column, Plain, Table
from ..units import split_unit
from ..version import __version__
from .declaration import reasons

WORKBENCH, RESULTS = "workbench", "results"
CHOSEN = "chosen"
"""In ``others``: how many tests were compared, with those that have no data. Whoever knows as many from all records of
a ``state`` knows all that it hangs on."""


MOST_NAMED = 100
"""Tests that each record of a comparison of cells names. Of more it names those of its own cell: else each of many
records would name all tests of all cells. The records of the other cells, which have the same ``state``, name the
rest."""


@dataclass(frozen=True)
class Key:
    """What a computed record depends on; the record is fresh while all of this is as it was.

    ``revisions`` are those of the tables that were read: id -> dataset -> number. ``facts`` are what else was used, by
    the id of the test: ratings, and of kinds of tests also what the user wrote.
    """

    analysis: str
    version: int
    parameters: Mapping[str, JsonValue]
    revisions: Mapping[str, Mapping[str, int]]
    facts: Mapping[str, JsonValue]

    @cached_property
    def identity(self) -> str:
        """The analysis with its parameters: what a new record replaces."""
        return _text([self.analysis, dict(self.parameters)])

    @cached_property
    def state(self) -> str:
        """What changes when the answer may change."""
        of: dict[str, JsonValue] = {id: {**found} for id, found in self.revisions.items()}
        return _text([self.version, of, dict(self.facts)])


@dataclass(frozen=True)
class Kept:
    """A computed record that is in the store."""

    id: str
    type: str
    identity: str
    state: str
    results: Mapping[str, JsonValue]


@dataclass(frozen=True)
class Output:
    """A record to be kept: its type, its table if it has one, its numbers, and what was read for it."""

    type: str
    name: str
    table: pd.DataFrame | None = None
    results: Mapping[str, JsonValue] = field(default_factory=dict)
    inputs: Sequence[Mapping[str, JsonValue]] = ()
    others: Mapping[str, JsonValue] = field(default_factory=dict)
    """How many tests were read beside those in ``inputs``, how many were compared, and a hash of what was read of all;
    empty if there are none."""
    own: Sequence[str] = ()
    """Where there are others, the tests of this record's cell, also those that have no data."""

    @property
    def valid(self) -> bool:
        return self.table is None or VALID not in self.table or bool(self.table[VALID].any())

    @property
    def why(self) -> str:
        """Why nothing of it is valid; empty if something is."""
        return "" if self.valid or self.table is None else "; ".join(reasons(self.table)) or "It has no rows."


def kept(
    store: Store, scope: Scope, analysis: str, types: Sequence[str] | None = None, of: Sequence[str] | None = None
) -> dict[str, list[Kept]]:
    """The computed records of an analysis, by the measurement that they belong to; ``of`` these measurements alone."""
    found: dict[str, list[Kept]] = {}
    fields, parts = ("id", "measurement_id", "analysis_type"), ("analysis", "identity", "state")
    paths = [*(f"{WORKBENCH}.{name}" for name in parts), RESULTS]
    where: dict[str, Plain] = {} if types is None else {"analysis_type": {"in": [*types]}}
    where |= {} if of is None else {"measurement_id": {"in": [*of]}}
    listed = store.rows.parts(Analysis, scope, fields, "metadata", paths, **where)
    for id, measurement, type, made_by, identity, state, results in listed:
        if made_by == analysis:
            one = Kept(str(id), str(type), str(identity), str(state), _object(results))
            found.setdefault(str(measurement), []).append(one)
    return found


@dataclass(frozen=True)
class Computed:
    """What was computed of a test, and the records that it replaces."""

    measurement: str
    key: Key
    outputs: Sequence[Output]
    replaced: Sequence[Kept]


def keep(store: Store, scope: Scope, actor: str, computed: Sequence[Computed]) -> list[bool]:
    """Put records in the place of older ones of the same analysis and test, in one transaction, because each waits for
    the disk. False for a test that was deleted meanwhile; the others are kept."""
    if not any(one.outputs or one.replaced for one in computed):
        return [True] * len(computed)
    try:
        _keep(store, scope, actor, computed)
    except NotFound:
        if len(computed) == 1:
            return [False]
        return [kept for one in computed for kept in keep(store, scope, actor, [one])]
    return [True] * len(computed)


def _keep(store: Store, scope: Scope, actor: str, computed: Sequence[Computed]) -> None:
    old = [{kept.type: kept for kept in one.replaced} for one in computed]
    missing = sum(_adds(one, known) for one, known in zip(computed, old, strict=True))
    with ExitStack() as stack:
        ids = store.rows.reserved_ids(missing)
        prepared = []
        for one, known in zip(computed, old, strict=True):
            for output in one.outputs:
                present = known.get(output.type)
                id = ids.pop(0) if present is None else present.id
                table = None if output.table is None or output.table.empty else stored_table(output.table)
                writer = None
                if table is not None:
                    writer = stack.enter_context(store.series.writer(id, "series"))
                    writer.add(table)
                prepared.append((one, output, present, id, table, writer))
        with store.transaction() as db:
            first = [one for one, known in zip(computed, old, strict=True) if _adds(one, known)]
            done = _kept_meanwhile(store, db, scope, first) if first else set()
            for one, known in zip(computed, old, strict=True):
                if one.measurement in done:
                    continue
                stay = {known[output.type].id for output in one.outputs if output.type in known}
                for surplus in (kept for kept in one.replaced if kept.id not in stay):
                    store.rows.delete(Analysis, surplus.id, scope, connection=db)
            for one, output, present, id, table, writer in prepared:
                if one.measurement in done:
                    continue
                _put(store, db, scope, actor, one.measurement, one.key, output, present, id, table)
                if writer is not None:
                    writer.publish(db)
                elif present is not None:
                    store.series.delete(id, "series", db)
    store.series.tidy()


def _adds(one: Computed, known: Mapping[str, Kept]) -> int:
    """How many records of a test are new."""
    return sum(output.type not in known for output in one.outputs)


def _kept_meanwhile(store: Store, db: Transaction, scope: Scope, computed: Sequence[Computed]) -> set[str]:
    """The tests of which another run has kept the same since this one looked: two may run at once. What it kept of
    another state is removed, since the test would have both."""
    done: set[str] = set()
    for analysis in {one.key.analysis for one in computed}:
        now = kept(store, scope, analysis, of=[one.measurement for one in computed])
        for one in computed:
            same = [record for record in now.get(one.measurement, []) if record.identity == one.key.identity]
            known = {record.id for record in one.replaced}
            new = [record for record in same if record.id not in known]
            if new and all(record.state == one.key.state for record in same):
                done.add(one.measurement)
                continue
            for record in new:
                store.rows.delete(Analysis, record.id, scope, connection=db)
    return done


def _put(
    store: Store,
    db: Transaction,
    scope: Scope,
    actor: str,
    measurement: str,
    key: Key,
    output: Output,
    present: Kept | None,
    id: str,
    table: Table | None,
) -> None:
    names = [] if table is None else table.names
    fields = {
        "name": output.name,
        "columns": [{"name": name, "unit": split_unit(name)[1] or ""} for name in names],
        "metadata": metadata(key, output),
    }
    if present is not None:
        store.rows.update(Analysis, id, fields, scope, actor, connection=db)
        return
    fields |= {"measurement_id": measurement, "analysis_type": output.type}
    store.rows.create(Analysis, fields, scope=scope, actor=actor, id=id, connection=db)


def metadata(key: Key, output: Output) -> dict[str, JsonValue]:
    """The metadata of a computed record."""
    told = [] if output.table is None else output.table.attrs.get(WARNINGS, [])
    warnings: list[JsonValue] = [{**one} for one in told]
    facts = key.facts
    if output.others:
        facts = {id: key.facts[id] for id in output.own}
    known: dict[str, JsonValue] = {
        "analysis": key.analysis,
        "version": key.version,
        "parameters": dict(key.parameters),
        "inputs": [dict(one) for one in output.inputs],
        **({"others": dict(output.others)} if output.others else {}),
        "sources": [{"measurement_id": id, **_object(fact)} for id, fact in facts.items()],
        "warnings": warnings,
        "valid": output.valid,
        "reason": output.why,
        "code": __version__,
        "identity": key.identity,
        "state": key.state,
    }
    return {
        WORKBENCH: known,
        RESULTS: {name: value for name, value in output.results.items() if value is not None},
    }


def _object(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def stored_table(table: pd.DataFrame) -> Table:
    """The table of an analysis as the store keeps it: numbers, texts and booleans; NaN is null."""
    made: dict[str, Column] = {}
    for name in table.columns:
        values = table[name]
        if pd.api.types.is_bool_dtype(values.dtype):
            made[str(name)] = Column.of(values.to_numpy(bool))
        elif pd.api.types.is_numeric_dtype(values.dtype):
            numbers = values.to_numpy(np.float64, na_value=np.nan)
            made[str(name)] = Column.of(numbers, np.isfinite(numbers))
        else:
            made[str(name)] = Column.text([None if pd.isna(value) else str(value) for value in values])
    return Table(made, len(table))


def input_of(id: str, name: str, reads: str, frame: pd.DataFrame) -> dict[str, JsonValue]:
    """What an analysis read of a test: its rows and columns, and the hash of their bytes."""
    digest = hashlib.sha256()
    for column in frame.columns:
        digest.update(str(column).encode())
        values = frame[column]
        if pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_extension_array_dtype(values.dtype):
            digest.update(np.ascontiguousarray(values.to_numpy()).tobytes())
        else:
            digest.update(orjson.dumps([None if pd.isna(value) else str(value) for value in values]))
    columns: list[JsonValue] = [str(column) for column in frame.columns]
    return {
        "measurement_id": id,
        "name": name,
        "read": reads,
        "rows": len(frame),
        "columns": columns,
        "sha256": digest.hexdigest(),
    }


def digest_of(inputs: Sequence[Mapping[str, JsonValue]]) -> str:
    """A hash of what was read of tests."""
    return hashlib.sha256(orjson.dumps([dict(one) for one in inputs])).hexdigest()


def _text(value: JsonValue) -> str:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
