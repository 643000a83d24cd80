"""A Dataset as Arrow: an IPC stream per table, one after the other, the first with the rest of the answer."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
import orjson
import pyarrow as pa
import pybase64
from numpy.typing import NDArray

from ..arrow import of_arrow
from ..arrow import to_arrow as to_arrow_column
from ..dataset import Dataset, Samples, SeriesSet, StepResult, infinite_places, with_infinities
from ..errors import StoreError
from ..table import Column, Kind, Table
from .equality import plain
from .wire import rest

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
PACKED = "compression=zstd"
"""A parameter of the media type in ``Accept``: who asks for it is far away."""
CONTENT, HAVE = "x-workbench-content", "x-workbench-have"
"""Headers: the name of the steps in an answer, and the names of those that the caller has already, with commas."""
DATA_AT = "x-workbench-data-at"
"""Header: a time at which the data were just so, in microseconds since 1970 by the clock of the store."""
Compression = Literal["zstd"] | None
Infinite: TypeAlias = list[tuple[int, bool]]
"""Where a column has infinities, and whether each is above zero."""
_OPTIONS = {name: pa.ipc.IpcWriteOptions(compression=name) for name in ("zstd", None)}


def compression_of(accept: str) -> Compression:
    """How an answer is packed for who sent this ``Accept`` header."""
    return "zstd" if PACKED in accept else None


def to_arrow(dataset: Dataset, further: Sequence[str] = (), compression: Compression = None) -> bytes:
    """Concatenated IPC streams, plain or each column packed with zstd.

    The first has no rows and carries, under the metadata key ``workbench``, all but the steps as JSON text. Then each
    row step is one stream, and a series step one per id, in order. The metadata of each has ``step``, ``id`` (empty for
    rows) and ``complete`` (``true`` or ``false``), and for series ``sources``, a JSON list that holds one
    ``[id, complete, total, rows]``: ``total`` samples are in the window, ``rows`` are the sample numbers, as the numpy
    name of the smallest unsigned type that holds them, a colon, and their bytes in base64 (``<u2:AAABAA==``). Null and
    NaN are kept apart, infinities too; a column of mixed types is JSON text, its field marked ``mixed``. ``further``
    names steps whose streams are to follow.
    """
    sink = pa.BufferOutputStream()
    head = {**rest(dataset, []), "steps": [*dataset.steps, *further]}
    _write(sink, pa.schema([], metadata={**_of_rows(""), "workbench": orjson.dumps(head)}), compression, [])
    for step, result in dataset.steps.items():
        tables = [(_of_rows(step), result)] if isinstance(result, Table) else _of_sources(step, result)
        for about, table in tables:
            fields, arrays = _fields(table)
            schema = pa.schema(fields, metadata=about)
            _write(sink, schema, compression, [pa.record_batch(arrays, schema=schema)] if arrays else [])
    return bytes(sink.getvalue().to_pybytes())


def _of_rows(step: str) -> dict[str, str]:
    """The metadata of a stream of rows."""
    return {"step": step, "id": "", "complete": "true"}


def _of_sources(step: str, series: SeriesSet) -> Iterator[tuple[dict[str, str], Table]]:
    """The metadata and the table of each source of a series step. ``sources`` is what clients of 0.1.0 read; servers
    of 0.1.0 have several in one stream."""
    for key, samples in series.items():
        source = [key, samples.complete, samples.total, _numbers(samples.rows)]
        complete = "true" if samples.complete else "false"
        about = {"step": step, "id": key, "complete": complete, "sources": orjson.dumps([source]).decode()}
        yield about, samples.table


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
            if "sources" not in about:
                steps[about["step"]] = _table(stream.schema, stream.read_all())
                continue
            held = steps[about["step"]]
            if isinstance(held, dict):
                kinds = _kinds(stream.schema)
                for key, complete, total, rows in orjson.loads(about["sources"]):
                    table = _of_batch(kinds, stream.read_next_batch())
                    held[key] = Samples(_rows(rows), table, complete, total)
            stream.read_all()
    return steps, head


def blocks(step: str, tables: Iterator[Table], compression: Compression = None) -> Iterator[bytes]:
    """One table as ``to_arrow`` writes a row step, a block of rows at a time, so that the whole never lies in memory.

    The blocks have the same columns; one that is of nulls alone in the first is so in all.
    """
    yield to_arrow(Dataset({}), (step,), compression)
    sink = io.BytesIO()
    writer = None
    for table in tables:
        fields, arrays = _fields(table)
        if writer is None:
            schema = pa.schema(fields, metadata=_of_rows(step))
            writer = pa.ipc.new_stream(sink, schema, options=_OPTIONS[compression])
        if arrays:
            writer.write_batch(pa.record_batch(arrays, schema=schema))
        yield sink.getvalue()
        sink.seek(0)
        sink.truncate()
    if writer is not None:
        writer.close()
        yield sink.getvalue()


def _numbers(rows: NDArray[np.int64]) -> str:
    most = int(rows.max()) if rows.size else 0
    kind = next(kind for kind in ("<u2", "<u4", "<u8") if most <= np.iinfo(kind).max)
    return f"{kind}:{pybase64.b64encode_as_string(rows.astype(kind).tobytes())}"


def _rows(text: str) -> NDArray[np.int64]:
    kind, _, numbers = text.partition(":")
    return np.frombuffer(pybase64.b64decode(numbers), kind).astype(np.int64)


def _write(sink: Any, schema: Any, compression: Compression, batches: list[Any]) -> None:
    with pa.ipc.new_stream(sink, schema, options=_OPTIONS[compression]) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _fields(table: Table) -> tuple[list[Any], list[Any]]:
    arrays = [_array(column) for column in table.values()]
    fields = [
        pa.field(name, array.type, metadata={"kind": column.kind, "infinite": infinite})
        if (infinite := _infinite(column))
        else _field(name, array.type, column.kind)
        for (name, column), array in zip(table.items(), arrays, strict=True)
    ]
    return fields, arrays


@lru_cache(1024)  # the sources of a step have the same columns
def _field(name: str, type: Any, kind: Kind) -> Any:
    return pa.field(name, type, metadata={"kind": kind})


def _infinite(column: Column) -> bytes:
    """Where a column of several types, which is JSON text, has infinities; others keep theirs. Empty without any."""
    found = infinite_places(column.tolist()) if column.kind == "mixed" else []
    return orjson.dumps(found) if found else b""


def _array(column: Column) -> Any:
    if column.kind == "mixed":
        texts = [None if value is None else orjson.dumps(value).decode() for value in plain(column)]
        return pa.array(texts, pa.string())
    return to_arrow_column(column)


def _about(schema: Any) -> dict[str, str]:
    if schema.metadata is None or b"step" not in schema.metadata:
        raise StoreError("This Arrow stream is not a Dataset: its metadata has no key 'step'.")
    return {key.decode(): value.decode() for key, value in schema.metadata.items()}


def _kinds(schema: Any) -> list[tuple[str, Kind, Infinite]]:
    """Name and kind of each column, and the infinities of those of several types."""
    return [
        (field.name, field.metadata[b"kind"].decode(), orjson.loads(field.metadata.get(b"infinite", b"[]")))
        for field in schema
    ]


def _table(schema: Any, read: Any) -> Table:
    return _of_batch(_kinds(schema), read)


def _of_batch(kinds: list[tuple[str, Kind, Infinite]], batch: Any) -> Table:
    """The table of an Arrow table or record batch."""
    columns = {
        name: _column(kind, batch.column(place), infinite) for place, (name, kind, infinite) in enumerate(kinds)
    }
    return Table(columns, batch.num_rows)


def _column(kind: Kind, chunked: Any, infinite: Infinite) -> Column:
    if kind == "mixed":
        read = [None if text is None else orjson.loads(text) for text in chunked.to_pylist()]
        return Column.from_python(with_infinities(read, infinite), "mixed")
    column = of_arrow(chunked)
    if column is None or column.kind != kind:
        raise StoreError(f"This Arrow stream is not a Dataset: a column said to be {kind} is not.")
    return column
