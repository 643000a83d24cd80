"""A measurement as a file: Battery Data Format as text or parquet, or parquet under our own names."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from ..arrow import to_arrow
from ..cycling import columns as c
from ..errors import BadRequest
from ..table import Column, Table
from .content import ContentHash
from .passport import KEY, Passport, Stored, sidecar_of, stored_as, turned

ENDINGS = (".bdf.csv", ".bdf.parquet", ".parquet")
UNIX = "unix_time_second"


def ending_of(path: Path) -> str:
    """The one of :data:`ENDINGS` that a path has; BadRequest if none."""
    for ending in ENDINGS:
        if path.name.lower().endswith(ending) and len(path.name) > len(ending):
            return ending
    raise BadRequest(f"'{path.name}' is no name for a measurement's file: it ends in {' or '.join(ENDINGS)}.")


def write(
    path: Path, batches: Callable[[], Iterable[Table]], passport: Passport, *, start: float | None = None
) -> list[Path]:
    """Write samples with their passport; the files appear whole or not at all. Answers what was written.

    Parameters
    ----------
    batches : opens the samples anew; all batches have the same columns.
    passport : all but its columns, rows and hash, which are those of the samples.
    start : when the first sample was taken, s since 1970 UTC; BDF then has a clock too.
    """
    ending = ending_of(path)
    content = ContentHash()
    columns: list[Stored] = []
    rows = 0
    for batch in batches():
        columns = columns or stored_as(batch, bdf=ending != ".parquet")
        content.feed(batch)
        rows += batch.n
    if not rows:
        raise BadRequest(f"There are no samples to write to '{path.name}'.")
    whole = replace(passport, columns=columns, rows=rows, content_hash=content.hexdigest())
    clock = start if ending != ".parquet" and UNIX not in {column.header for column in columns} else None
    arranged = (_arranged(batch, columns, clock) for batch in batches())
    if ending == ".bdf.csv":
        with _whole(path) as draft:
            _text(draft, arranged)
        with _whole(sidecar_of(path)) as draft:
            draft.write_bytes(whole.as_json())
        return [path, sidecar_of(path)]
    with _whole(path) as draft:
        _parquet(draft, arranged, whole)
    return [path]


def _arranged(batch: Table, columns: Sequence[Stored], start: float | None) -> pa.Table:
    made = {}
    for column in columns:
        held = batch[column.name]
        made[column.header] = to_arrow(turned(held) if column.turned else held)
    if start is not None and c.TIME in batch:
        times = batch[c.TIME]
        made[UNIX] = to_arrow(Column("number", times.floats() + start, times.valid))
    return pa.table(made)


def _parquet(path: Path, tables: Iterator[pa.Table], passport: Passport) -> None:
    first = next(tables)
    schema = first.schema.with_metadata({KEY: passport.as_json()})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in _chained(first, tables):
            writer.write_table(table.cast(schema))


def _text(path: Path, tables: Iterator[pa.Table]) -> None:
    first = next(tables)
    with pc.CSVWriter(path, first.schema) as writer:
        for table in _chained(first, tables):
            writer.write_table(table.cast(first.schema))


def _chained(first: pa.Table, rest: Iterator[pa.Table]) -> Iterator[Any]:
    yield first
    yield from rest


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A draft beside ``path`` that takes its place at the end."""
    if not path.parent.is_dir():
        raise BadRequest(f"There is no folder '{path.parent}' to write '{path.name}' in.")
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
