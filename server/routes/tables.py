"""Tables that come with a form: the parquet file of an analysis, a property set or a simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

import numpy as np

from workbench.errors import FileRefused, Invalid, Problem
from workbench.readers.arrow import parquet_tables
from workbench.records import Record
from workbench.store.rows import new_id
from workbench.store.uploads import Attachment
from workbench.table import Column, Table, concat
from workbench.units import split_unit

from ..call import Call
from ..forms import SentFile
from . import crud

R = TypeVar("R", bound=Record)


def sent_table(sent: SentFile) -> Table:
    """The rows of a parquet file that was sent, exact.

    Raises
    ------
    FileRefused, TooLarge
    """
    parts = list(parquet_tables(sent.path, sent.filename or "file")())
    if not parts:
        raise FileRefused(f"'{sent.filename or 'file'}' has no rows.")
    return concat(parts)


def numbers(table: Table, columns: Sequence[Mapping[str, Any]]) -> Table:
    """The columns that ``source_column_index`` names, under their new names, as 64-bit floats; what cannot be read
    as a number is null.

    Raises
    ------
    Invalid
        If the file has no such column.
    """
    sources = list(table.values())
    made: dict[str, Column] = {}
    for place, column in enumerate(columns):
        index = column["source_column_index"]
        if index >= len(sources):
            message = f"The file has {len(sources)} columns, so none with the index {index}."
            raise Invalid(Problem(("columns", place, "source_column_index"), message, "out_of_range"))
        made[column["name"]] = _floats(sources[index])
    return Table(made, table.n)


def _floats(column: Column) -> Column:
    if column.kind in ("number", "integer", "boolean", "null"):
        values = column.floats()
    else:
        values = np.array([_number(value) for value in column.tolist()], np.float64)
    valid = ~np.isnan(values)
    return Column("number", values, None if valid.all() else valid)


def _number(value: Any) -> float:
    if not isinstance(value, str):
        return math.nan
    try:
        return float(value.strip().replace(",", "."))
    except ValueError:
        return math.nan


def described(table: Table) -> list[dict[str, Any]]:
    """The columns of a table as a record describes them, where nobody else did."""
    return [{"name": name, "unit": split_unit(name)[1] or ""} for name in table.names]


def one_name_each(columns: Any) -> list[dict[str, Any]]:
    """The columns of a form, each with a name of its own.

    Raises
    ------
    Invalid
    """
    if not isinstance(columns, list) or not all(isinstance(column, dict) for column in columns):
        raise Invalid(Problem(("columns",), "'columns' is a list of objects.", "list_type"))
    names = [column.get("name") for column in columns]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise Invalid(Problem(("columns",), f"The column name '{twice}' stands twice.", "value_error"))
    return columns


def create(
    call: Call,
    kind: type[R],
    fields: Mapping[str, Any],
    tables: Mapping[str, Table],
    original: SentFile | None = None,
) -> R:
    """A record with its tables and the file they came in, all or nothing."""
    store = call.store
    with store.transaction() as db:
        id = new_id(store.clock(db))
    kept = None if original is None else keep(call, original)
    try:
        with ExitStack() as stack:
            writers = [stack.enter_context(store.series.writer(id, dataset)) for dataset in tables]
            for writer, table in zip(writers, tables.values(), strict=True):
                writer.add(table)
            with call.writing(id) as db:
                store.rows.create(
                    kind, crud.from_wire(kind, fields), scope=call.scope, actor=call.actor, id=id, connection=db
                )
                for writer in writers:
                    writer.publish(db)
                if kept is not None:
                    store.uploads.attach(db, id, "original", kept)
    except Invalid as error:
        raise crud.on_the_wire(kind, error, fields) from None
    return store.rows.get(kind, id, call.scope)


def keep(call: Call, sent: SentFile) -> Attachment:
    """Keep the bytes of a file that was sent."""
    piece = call.store.pieces.put(sent.blocks())
    return Attachment(sent.filename[-255:] or "file", sent.content_type, sent.size, piece)
