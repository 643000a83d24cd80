"""The report of an ingest as a table, and as a file that can be kept."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from ...arrow import to_arrow
from ...csv_cells import harmless_cell
from ...errors import BadRequest, instead
from ...table import Column, Table
from ...whole_file import whole_file

if TYPE_CHECKING:
    from .report import FileReport

ENDINGS = ("csv", "parquet", "json")
_TEXTS = ("path", "status", "why", "format", "specification", "batch", "instance", "measurement", "measurement_id")
_COUNTS = ("rows", "added", "steps", "cycles")
_LISTS = ("created", "changed", "assumed", "codes", "fixes", "repaired", "odd", "kept")


def as_table(files: Sequence[FileReport]) -> Table:
    """One row a file: what became of it, where it is, its counts, and its remarks, one sentence a line."""
    columns = {name: Column.text([getattr(file, name) for file in files]) for name in _TEXTS}
    columns |= {name: Column.from_python([getattr(file, name) for file in files], "integer") for name in _COUNTS}
    columns |= {name: Column.text(["\n".join(getattr(file, name)) for file in files]) for name in _LISTS}
    columns["seconds"] = Column.from_python([file.seconds for file in files], "number")
    return Table(columns, len(files))


def save(table: Table, whole: Mapping[str, Any], path: Path) -> Path:
    """Write the report; ``.json`` has also what is said in sum."""
    ending = path.suffix.lower().lstrip(".")
    if ending not in ENDINGS:
        raise BadRequest(f"'{path.name}' has no known ending. {instead(ending, ENDINGS, 'endings')}")
    if ending == "json":
        data = orjson.dumps(whole, option=orjson.OPT_INDENT_2)
    elif ending == "csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(table.names)
        rows = zip(*(column.tolist() for column in table.values()), strict=True)
        writer.writerows([harmless_cell(one) if isinstance(one, str) else one for one in row] for row in rows)
        data = text.getvalue().encode()
    else:
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({name: to_arrow(column) for name, column in table.items()}), sink)
        data = sink.getvalue().to_pybytes()
    with whole_file(path) as draft:
        draft.write_bytes(data)
    return path
