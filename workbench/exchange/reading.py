"""Reads back a file that the workbench exported, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from ..arrow import of_arrow
from ..errors import FileRefused
from ..table import Column, Table
from .passport import KEY, MOST_BYTES, TEXTS, Passport, Stored, sidecar_of, turned

_ROWS = 1 << 18
_HEAD = 4


def passport_of(path: Path) -> Passport | None:
    """The passport in a parquet file, or beside a text file. None if the file has none.

    Anybody can write a passport, so its content is checked like that of any other file.
    """
    try:
        with path.open("rb") as file:
            parquet = file.read(_HEAD) == b"PAR1"
        if parquet:
            found = pq.read_schema(path).metadata or {}
            return Passport.of(found[KEY]) if KEY in found else None
        beside = sidecar_of(path)
        if path.name.lower().endswith(TEXTS) and beside.is_file() and beside.stat().st_size <= MOST_BYTES:
            return Passport.of(beside.read_bytes())
    except (OSError, pa.ArrowException, ValueError):
        return None  # the reader of the format reports what is wrong with the file
    return None


def tables(path: Path, passport: Passport) -> Iterator[Table]:
    """The samples of an exported file in batches, with the names and signs of the workbench.

    Raises
    ------
    FileRefused
        If the content of the file is not what its passport says.
    """
    try:
        for batch in _batches(path, passport):
            arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
            columns = {column.name: _column(arrays, column) for column in passport.columns}
            yield Table(columns, batch.num_rows)
    except (pa.ArrowException, KeyError, ValueError, TypeError, OSError) as error:
        raise FileRefused(
            f"'{path.name}' was changed after it was exported ({error}). Export it again, or remove its passport."
        ) from None


def _batches(path: Path, passport: Passport) -> Iterator[pa.RecordBatch]:
    headers = [column.header for column in passport.columns]
    with path.open("rb") as file:
        parquet = file.read(_HEAD) == b"PAR1"
    if parquet:
        with pq.ParquetFile(path, pre_buffer=False) as opened:
            yield from opened.iter_batches(_ROWS, columns=headers)
        return
    options = pc.ConvertOptions(
        column_types={column.header: _type(column) for column in passport.columns},
        include_columns=headers,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    # Without this a block of the file may end at a line break within a text. It is slower, and numbers have none.
    texts = any(column.kind == "text" for column in passport.columns)
    parsed = pc.ParseOptions(newlines_in_values=texts)
    with pc.open_csv(path, parse_options=parsed, convert_options=options) as reader:
        yield from reader


def _type(column: Stored) -> pa.DataType:
    if column.kind == "text":
        return pa.string()
    if column.kind == "datetime":
        return pa.timestamp("us", tz="UTC")
    if column.kind == "null":
        return pa.null()
    return pa.bool_() if column.kind == "boolean" else pa.from_numpy_dtype(np.dtype(column.dtype))


def _column(arrays: dict[str, pa.Array], column: Stored) -> Column:
    found = of_arrow(arrays[column.header])
    if found is None:
        raise ValueError(f"'{column.header}' holds values of a type that a series cannot hold")
    if column.kind == "null":
        return Column.nulls(len(found))
    if found.kind == "null":
        dtype = np.dtype(column.dtype)
        words = ("",) if column.kind == "text" else ()
        # zeros of a dtype that is known only now have no type that numpy's stubs can say.
        found = Column(column.kind, np.zeros(len(found), dtype), np.zeros(len(found), bool), words)  # type: ignore[arg-type]
    if found.kind != column.kind:
        raise ValueError(f"'{column.header}' holds {found.kind} values, not {column.kind}")
    if column.kind in ("number", "integer"):
        found = Column(found.kind, found.values.astype(np.dtype(column.dtype)), found.valid)
    return turned(found) if column.turned else found
