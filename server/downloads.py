"""Parquet files for download: each is made once from a series, in several row groups, always with the same bytes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.arrow import to_arrow
from workbench.errors import NotFound
from workbench.store.scope import EVERYTHING
from workbench.store.series.series import SeriesInfo
from workbench.store.store import Store
from workbench.table import Column, Table

from .file_lock import alone

GROUP = 1 << 15
MOST_GROUPS = 256
BLOCK = 1 << 20


def group_rows(rows: int) -> int:
    """Rows of one row group: few enough to read a small window alone, many enough to keep the end of the file small."""
    return GROUP * max(1, -(-rows // (GROUP * MOST_GROUPS)))


def revision(info: SeriesInfo) -> str:
    """A name of the present content of a series."""
    return f"{info.id}-{info.revision}"


def prepared(store: Store, folder: Path, owner: str, dataset: str, wanted: str, most: int) -> Path:
    """The file of a series at a revision; it is made if it is not there yet.

    Raises
    ------
    NotFound
        If there is no file, and the series has changed or is gone.
    """
    place = folder / "downloads"
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = place / f"{owner}-{dataset}-{wanted}.parquet"
    with _alone(place / ".lock", path):
        if not path.exists():
            _make(store, path, owner, dataset, wanted)
            _tidy(place, path, most)
        os.utime(path)
    return path


@contextmanager
def _alone(lock: Path, path: Path) -> Iterator[None]:
    """Lets one process at a time make a file; nobody waits for a file that is there."""
    if path.exists():
        yield
        return
    with alone(lock):
        yield


def _make(store: Store, path: Path, owner: str, dataset: str, wanted: str) -> None:
    draft = path.with_name(f".{secrets.token_hex(8)}")
    try:
        with store.snapshot():
            # The server signed the address for a caller who can reach the owner.
            info = store.series.info(owner, dataset, scope=EVERYTHING)
            if info is None or revision(info) != wanted:
                raise NotFound("These data have changed or are gone. Ask for a new address.")
            write(store, info, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write(store: Store, info: SeriesInfo, path: Path) -> None:
    """Write a series as parquet (zstd), a row group at a time."""
    rows = group_rows(info.rows)
    schema = _schema(
        store.series.read(info.owner, rows=(0, min(1, info.rows)), dataset=info.dataset, scope=EVERYTHING)
    )
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, max(info.rows, 1), rows):
            span = (start, min(start + rows, info.rows))
            writer.write_table(
                as_arrow(store.series.read(info.owner, rows=span, dataset=info.dataset, scope=EVERYTHING), schema)
            )


def _schema(table: Table) -> pa.Schema:
    return pa.schema([pa.field(name, _array(column).type) for name, column in table.items()])


def as_arrow(table: Table, schema: pa.Schema | None = None) -> pa.Table:
    """A table as an Arrow table. A column of nulls takes its type from the schema."""
    made = pa.table({name: _array(column) for name, column in table.items()})
    return made if schema is None else made.cast(schema)


def _array(column: Column) -> pa.Array:
    return pa.nulls(len(column), pa.float64()) if column.kind == "null" else to_arrow(column)


def _tidy(place: Path, kept: Path, most: int) -> None:
    """Remove the files that were used longest ago, until the others fit."""
    found = sorted(
        ((stat.st_mtime, stat.st_size, file) for file in place.glob("*.parquet") if (stat := file.stat())),
        key=lambda entry: entry[0],
    )
    size = sum(entry[1] for entry in found)
    for _, bytes_, file in found:
        if size <= most or file == kept:
            break
        file.unlink(missing_ok=True)
        size -= bytes_
