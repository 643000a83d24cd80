"""A Dataset as Arrow: one IPC stream per table, one after the other, the first with the rest of the answer."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from ..arrow import of_arrow
from ..arrow import to_arrow as to_arrow_column
from ..dataset import Dataset, Samples, StepResult
from ..errors import StoreError
from ..table import Column, Kind, Table
from .equality import plain
from .wire import rest

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
CONTENT, HAVE = "x-workbench-content", "x-workbench-have"
"""Headers: the name of the steps in an answer, and the names of those that the caller has already, with commas."""
_OPTIONS = pa.ipc.IpcWriteOptions(compression="zstd")


def to_arrow(dataset: Dataset, further: Sequence[str] = ()) -> bytes:
    """Concatenated IPC streams (zstd).

    The first has no rows and carries, under the metadata key ``workbench``, all but the steps as JSON text.
    Then each row step is one stream and each series step one per id, in order. The metadata of each has
    ``step``, ``id`` (empty for rows) and ``complete`` (``true`` or ``false``), and for series ``total``, the
    samples in the window, and ``rows``, the sample numbers as base64 of little-endian 64-bit integers. Null
    and NaN are kept apart, infinities too; a column of mixed types is JSON text, its field marked ``mixed``.
    ``further`` names steps whose streams are to follow.
    """
    sink = io.BytesIO()
    head = {**rest(dataset, []), "steps": [*dataset.steps, *further]}
    _write(
        sink, pa.schema([], metadata={"step": "", "id": "", "complete": "true", "workbench": orjson.dumps(head)})
    )
    for step, result in dataset.steps.items():
        for key, table, complete, more in _tables(result):
            fields, arrays = _fields(table)
            about = {"step": step, "id": key, "complete": "true" if complete else "false", **more}
            schema = pa.schema(fields, metadata=about)
            _write(sink, schema, pa.record_batch(arrays, schema=schema) if arrays else None)
    return sink.getvalue()


def from_arrow(data: bytes) -> tuple[dict[str, StepResult], dict[str, Any]]:
    """The steps, and the rest of the answer as JSON values, of what ``to_arrow`` made."""
    source = pa.BufferReader(data)
    with pa.ipc.open_stream(source) as stream:
        head: dict[str, Any] = orjson.loads(_about(stream.schema)["workbench"])
        stream.read_all()
    steps: dict[str, StepResult] = {name: {} for name in head["steps"]}
    while source.tell() < len(data):
        with pa.ipc.open_stream(source) as stream:
            about = _about(stream.schema)
            table = _table(stream.schema, stream.read_all())
        held = steps.get(about["step"])
        if "rows" not in about:
            steps[about["step"]] = table
        elif isinstance(held, dict):
            rows = np.frombuffer(base64.b64decode(about["rows"]), "<i8")
            held[about["id"]] = Samples(rows, table, about["complete"] == "true", int(about["total"]))
    return steps, head


def blocks(step: str, tables: Iterator[Table]) -> Iterator[bytes]:
    """One table as ``to_arrow`` writes a row step, a block of rows at a time, so that the whole never lies in memory.

    The blocks have the same columns; one that is of nulls alone in the first is so in all.
    """
    yield to_arrow(Dataset({}), (step,))
    sink = io.BytesIO()
    writer = None
    for table in tables:
        fields, arrays = _fields(table)
        if writer is None:
            about = {"step": step, "id": "", "complete": "true"}
            schema = pa.schema(fields, metadata=about)
            writer = pa.ipc.new_stream(sink, schema, options=_OPTIONS)
        if arrays:
            writer.write_batch(pa.record_batch(arrays, schema=schema))
        yield sink.getvalue()
        sink.seek(0)
        sink.truncate()
    if writer is not None:
        writer.close()
        yield sink.getvalue()


def _tables(result: StepResult) -> Iterator[tuple[str, Table, bool, dict[str, str]]]:
    if isinstance(result, Table):
        yield "", result, True, {}
        return
    for key, samples in result.items():
        rows = base64.b64encode(samples.rows.astype("<i8").tobytes()).decode()
        yield key, samples.table, samples.complete, {"rows": rows, "total": str(samples.total)}


def _write(sink: io.BytesIO, schema: Any, batch: Any = None) -> None:
    with pa.ipc.new_stream(sink, schema, options=_OPTIONS) as writer:
        if batch is not None:
            writer.write_batch(batch)


def _fields(table: Table) -> tuple[list[Any], list[Any]]:
    arrays = [_array(column) for column in table.values()]
    fields = [
        pa.field(name, array.type, metadata={"kind": column.kind})
        for (name, column), array in zip(table.items(), arrays, strict=True)
    ]
    return fields, arrays


def _array(column: Column) -> Any:
    if column.kind == "mixed":
        texts = [None if value is None else orjson.dumps(value).decode() for value in plain(column)]
        return pa.array(texts, pa.string())
    return to_arrow_column(column)


def _about(schema: Any) -> dict[str, str]:
    if schema.metadata is None or b"step" not in schema.metadata:
        raise StoreError("This Arrow stream is no Dataset: its metadata has no key 'step'.")
    return {key.decode(): value.decode() for key, value in schema.metadata.items()}


def _table(schema: Any, read: Any) -> Table:
    columns = {}
    for place, field in enumerate(schema):
        kind: Kind = field.metadata[b"kind"].decode()
        columns[field.name] = _column(kind, read.column(place))
    return Table(columns, read.num_rows)


def _column(kind: Kind, chunked: Any) -> Column:
    if kind == "mixed":
        return Column.from_python([None if v is None else orjson.loads(v) for v in chunked.to_pylist()], "mixed")
    column = of_arrow(chunked)
    if column is None or column.kind != kind:
        raise StoreError(f"This Arrow stream is no Dataset: a column said to be {kind} is not.")
    return column
