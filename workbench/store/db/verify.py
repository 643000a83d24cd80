"""Verify, the part about records: rows, links, plots, search and sampled data (`check_rows`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import orjson
from pydantic import ValidationError

from ...errors import Damaged
from ...records import KINDS, Record
from ...table import Plain
from ..records import search
from ..records.deletion import SAMPLED
from ..records.tables import ASSIGNMENTS, decode, encode, fold, rows_as_dicts, stored
from . import checksums, row_checksums
from .dialect import dialect_of


def check_rows(connection: sqlite3.Connection) -> list[str]:
    """Everything that is wrong with the records, as sentences; empty if nothing is.

    Every row is a record of its kind, every link leads to a record of the same organization and of the same
    project (or of none), every plot is its own newest revision, and search knows every record as it is. Sampled
    data belong to a record, and a measurement that has samples has steps and cycles too.
    """
    findings: list[str] = []
    for cls in KINDS.values():
        findings += _rows(connection, cls)
        findings += _links(connection, cls)
    for table in (*KINDS, *checksums.FURTHER, *checksums.later(connection)):
        findings += checksums.check(connection, table)
    for table in row_checksums.TABLES:
        findings += row_checksums.check(connection, table)
    findings += _assignments(connection)
    findings += _plots(connection)
    findings += _sampled(connection)
    findings += search.check(connection)
    for index in dialect_of(connection).search_indexes:
        findings += search.wrong_version(connection, index)
    return findings


def _rows(connection: sqlite3.Connection, cls: type[Record]) -> Iterator[str]:
    for row in rows_as_dicts(connection.execute(f'SELECT * FROM "{cls.table}"')):  # noqa: S608
        name = f"the {cls.label} '{row['id']}'"
        folded = row.pop("name_folded")
        row.pop(checksums.ROWID, None)
        try:
            record = cls.model_validate(decode(cls, row))
        except (ValidationError, ValueError, TypeError, Damaged) as error:
            yield f"{name} is not a valid record: {' '.join(str(error).split())}"
            continue
        if folded != fold(record.name):
            yield f"{name} is not found by its name"
        if any(_differs(member.storage, row[member.name], encode(record)[member.name]) for member in stored(cls)):
            yield f"{name} is not kept in the form in which it would be written"


def _differs(storage: str, kept: Plain, written: Plain) -> bool:
    if storage != "json" or kept is None:
        return bool(kept != written)
    return bool(orjson.loads(kept) != orjson.loads(written))


def _links(connection: sqlite3.Connection, cls: type[Record]) -> Iterator[str]:
    for member in stored(cls):
        if member.link is None:
            continue
        target = KINDS[member.link.table]
        wrong = ["o.id IS NULL"]
        if cls.scoping == "project" and target.scoping == "project":
            wrong.append("o.project_id IS NOT NULL AND o.project_id IS NOT t.project_id")
        if "organization_id" in cls.members() and "organization_id" in target.members():
            wrong.append("o.organization_id <> t.organization_id")
        rows = connection.execute(
            f'SELECT t.id, t."{member.name}" FROM "{cls.table}" AS t LEFT JOIN "{target.table}" AS o '  # noqa: S608
            f'ON o.id = t."{member.name}" WHERE t."{member.name}" IS NOT NULL AND ({" OR ".join(wrong)})'
        )
        for id, linked in rows:
            yield f"the {cls.label} '{id}' has '{linked}' as {member.name}, which is not a {target.label} of its own"


def _assignments(connection: sqlite3.Connection) -> Iterator[str]:
    for table, (study, other, column) in ASSIGNMENTS.items():
        rows = connection.execute(
            f'SELECT a."{study}", a."{column}" FROM "{table}" AS a LEFT JOIN studies AS s ON s.id = a."{study}" '  # noqa: S608
            f'LEFT JOIN "{other}" AS o ON o.id = a."{column}" WHERE s.id IS NULL OR o.id IS NULL '
            "OR o.project_id IS NOT NULL AND o.project_id IS NOT s.project_id"
        )
        for owner, held in rows:
            yield f"the study '{owner}' holds '{held}', which it cannot"


def _sampled(connection: sqlite3.Connection) -> Iterator[str]:
    owners = " UNION ALL ".join(f'SELECT id FROM "{table}"' for table in SAMPLED)  # noqa: S608
    rows = connection.execute(f"SELECT owner, dataset FROM series WHERE owner NOT IN ({owners})")  # noqa: S608
    for owner, dataset in rows:
        yield f"the {dataset} of '{owner}' belong to no record"
    rows = connection.execute(
        "SELECT owner, group_concat(dataset, ', ') FROM series JOIN measurements ON measurements.id = owner "
        "GROUP BY owner, measurement_type HAVING count(*) <> 3 "
        # A measurement of properties may have cycles without samples: those of a table of capacities.
        "AND NOT (measurement_type = 'properties' AND group_concat(dataset) = 'cycles')"
    )
    for id, datasets in rows:
        yield f"the measurement '{id}' should have series, steps and cycles, and has {datasets}"


def _plots(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute(
        "SELECT p.id FROM plots AS p "
        "LEFT JOIN plot_revisions AS r ON r.plot_id = p.id AND r.revision = p.revision "
        "WHERE r.plot_id IS NULL OR r.name <> p.name OR r.config <> p.config "
        "OR p.revision <> (SELECT count(*) FROM plot_revisions WHERE plot_id = p.id)"
    )
    for (id,) in rows:
        yield f"the plot '{id}' and its revisions do not agree"
