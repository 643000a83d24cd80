"""Writes a measurement as a file: Battery Data Format (BDF) as text or parquet, or parquet with our own names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from ..arrow import to_arrow
from ..cycling import columns as c
from ..errors import BadRequest
from ..table import Column, Table
from ..whole_file import refuse_folder, whole_file
from .content import ContentHash
from .passport import KEY, Passport, Stored, sidecar_of, stored_as, turned

ENDINGS = (".bdf.csv", ".bdf.parquet", ".parquet")
UNIX = "unix_time_second"


def ending_of(path: Path) -> str:
    """The ending of a path, one of :data:`ENDINGS`. BadRequest if it has another."""
    for ending in ENDINGS:
        if path.name.lower().endswith(ending) and len(path.name) > len(ending):
            return ending
    raise BadRequest(f"'{path.name}' does not have the ending of a measurement file. Use {' or '.join(ENDINGS)}.")


def write(
    path: Path, batches: Callable[[], Iterable[Table]], passport: Passport, *, start: float | None = None
) -> list[Path]:
    """Write samples with their passport. Each file appears complete or not at all. Returns the files.

    Parameters
    ----------
    batches : returns all samples from the start, each time it is called. All batches have the same columns.
    passport : the fields of the records; columns, rows and hash are filled in from the samples.
    start : time of the first sample, s since 1970 UTC. With it, BDF files also get a column of the clock.

    Raises
    ------
    BadRequest
        For another ending, a folder that does not exist, or no samples.
    """
    ending = ending_of(path)
    if not path.parent.is_dir():
        raise BadRequest(f"There is no folder '{path.parent}' to write '{path.name}' in. Make it first.")
    refuse_folder(path)
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
        with whole_file(path) as draft:
            _text(draft, arranged)
            with whole_file(sidecar_of(path)) as beside:  # both become new, or both stay as they were
                beside.write_bytes(whole.as_json())
        return [path, sidecar_of(path)]
    with whole_file(path) as draft:
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
        for table in itertools.chain([first], tables):
            writer.write_table(table.cast(schema))


def _text(path: Path, tables: Iterator[pa.Table]) -> None:
    first = next(tables)
    with pc.CSVWriter(path, first.schema) as writer:
        for table in itertools.chain([first], tables):
            writer.write_table(table.cast(first.schema))
