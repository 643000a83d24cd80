"""Tables of forms: the parquet file of an analysis, a property set or a simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TypeVar

import numpy as np

from workbench.backend import DATASETS
from workbench.errors import FileRefused, Invalid, Problem
from workbench.records import Record
from workbench.store.files.uploads import Attachment
from workbench.store.records.rows import new_id
from workbench.store.series.series import SeriesWriter
from workbench.table import Column, Table
from workbench.units import split_unit

from .. import records
from ..context import RequestContext
from ..requests import SentFile
from ..schemas import Json

R = TypeVar("R", bound=Record)


Parts = Callable[[], Iterator[Table]]
"""Gives the rows of a table in batches, as often as it is called."""


def sent_table(context: RequestContext, sent: SentFile) -> Parts:
    """The rows of a parquet file that was sent, exact, in batches.

    Raises
    ------
    FileRefused, TooLarge
    """
    parts = context.state.apart.tables(sent.path, sent.filename or "file")
    if next(parts(), None) is None:
        raise FileRefused(f"'{sent.filename or 'file'}' has no rows.")
    return parts


def numbers(parts: Parts, columns: Sequence[Json]) -> Parts:
    """The columns that ``source_column_index`` names, under their new names, as 64-bit floats; a value that is not a
    number is null.

    Raises
    ------
    Invalid
        If the file has no such column, or none is named.
    """
    if not columns:
        raise Invalid(Problem(("columns",), "Name at least one column.", "too_short"))
    there = len(next(parts()))
    for place, column in enumerate(columns):
        index = column.get("source_column_index")
        if not isinstance(index, int) or not 0 <= index < there:
            message = f"The file has {there} columns, so none with the index {index}."
            raise Invalid(Problem(("columns", place, "source_column_index"), message, "out_of_range"))
        if not isinstance(column.get("name"), str):
            raise Invalid(Problem(("columns", place, "name"), "A column needs a name.", "missing"))

    def chosen() -> Iterator[Table]:
        for part in parts():
            sources = list(part.values())
            made = {column["name"]: _floats(sources[column["source_column_index"]]) for column in columns}
            yield Table(made, part.n)

    return chosen


def _floats(column: Column) -> Column:
    if column.kind in ("number", "integer", "boolean", "null"):
        values = column.floats()
    else:
        values = np.array([_number(value) for value in column.tolist()], np.float64)
    valid = ~np.isnan(values)
    return Column("number", values, None if valid.all() else valid)


def _number(value: object) -> float:
    if not isinstance(value, str):
        return math.nan
    try:
        return float(value.strip().replace(",", "."))
    except ValueError:
        return math.nan


def described(parts: Parts) -> list[Json]:
    """The columns of a table, described from their names."""
    return [{"name": name, "unit": split_unit(name)[1] or ""} for name in next(parts())]


def one_name_each(columns: object) -> list[Json]:
    """The columns that a request describes, each with a name of its own and a unit, which may be empty.

    Raises
    ------
    Invalid
    """
    if not isinstance(columns, list) or not all(isinstance(column, dict) for column in columns):
        raise Invalid(Problem(("columns",), "'columns' is a list of objects.", "list_type"))
    names = [column.get("name") for column in columns]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise Invalid(Problem(("columns",), f"The column name '{twice}' is there twice.", "value_error"))
    return [{**column, "unit": column.get("unit") or ""} for column in columns]


def create(
    context: RequestContext,
    kind: type[R],
    fields: Json,
    tables: Mapping[str, Parts],
    original: SentFile | None = None,
    *,
    wire: bool = True,
    also: Callable[[str], None] | None = None,
) -> R:
    """A record with its tables and their original file, all or nothing, and what ``also`` does with its id.

    With ``wire`` problems name the fields of the wire, and a request that arrives twice makes one record: the second
    answer is the record of the first.
    """
    store = context.store
    with store.transaction() as db:
        id = new_id(store.clock(db))
    kept = None if original is None else keep(context, original)
    try:
        with ExitStack() as stack:
            writers = [stack.enter_context(store.series.writer(id, dataset)) for dataset in tables]
            for writer, parts in zip(writers, tables.values(), strict=True):
                fill(writer, parts)
            with context.writing(id) as db:
                made: R = store.rows.create(
                    kind,
                    records.from_wire(kind, fields),
                    scope=context.scope,
                    actor=context.actor,
                    id=id,
                    connection=db,
                )
                for writer in writers:
                    writer.publish(db)
                if kept is not None:
                    store.uploads.attach(db, id, "original", kept)
                first = _twin(context, made) if wire else None
                if first is not None:
                    store.rows.delete(kind, id, context.scope, connection=db)
                    store.uploads.detach(db, id)
                    id = first.id
                if also is not None:
                    also(id)
    except Invalid as error:
        raise records.on_the_wire(kind, error, fields) if wire else error from None
    store.series.tidy()
    return store.rows.get(kind, id, context.scope)


def _twin(context: RequestContext, made: R) -> R | None:
    """The record that the same user made before with the same fields, tables and file."""
    where = {"name": made.name, "created_by": context.actor}
    others = context.store.rows.page(type(made), context.scope, where=where, limit=None).items
    said = _said(context, made)
    return next((one for one in others if one.id != made.id and _said(context, one) == said), None)


def _said(context: RequestContext, record: Record) -> tuple[Json, list[str | None], str | None]:
    """What a request gave for a record: its fields, and the hashes of its tables and of its file."""
    infos = [context.store.series.info(record.id, dataset, scope=context.scope) for dataset in DATASETS]
    original = context.store.uploads.attached(record.id, "original")
    return (
        {name: getattr(record, name) for name in record.given()},
        [None if info is None else info.content_hash for info in infos],
        None if original is None else original.blob,
    )


def fill(writer: SeriesWriter, parts: Parts) -> None:
    """Write a table, a batch at a time."""
    for part in parts():
        writer.add(part)


def keep(context: RequestContext, sent: SentFile) -> Attachment:
    """Store the bytes of a file that was sent."""
    content = context.store.blobs.put(sent.blocks())
    return Attachment(sent.filename[-255:] or "file", sent.content_type, sent.size, content)
