"""Tables in HDF5 files: those that pandas writes, and any other table of named columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...cycling.findings import Finding
from ...errors import TooLarge
from ...messages import counted, quoted
from .. import limits
from ..formats.arbin import ARBIN
from ..table.header_units import split_header

Node: TypeAlias = Any
"""A file, group or dataset of h5py, which comes without types."""
_NAME = re.compile(rb"V([^\n]*)\n")
"""A name in the list that pandas writes beside a block of columns. The list is a pickle and is never loaded."""
_TICKS = 1e7
"""Arbin's database stores dates as ten-millionths of a second since 1970."""
_CLOCK = "Datetime"
"""The name of an index of times."""
_DEEPEST = 12
_MOST_GROUPS = 20_000


@dataclass(eq=False)
class StoredTable:
    """A table of a file: its ``place`` among the groups, its columns, and those that are Python ``objects``."""

    place: str
    table: pa.Table
    objects: list[str]

    def notes(self) -> list[Finding]:
        """What was left out of it."""
        if not self.objects:
            return []
        one = len(self.objects) == 1
        text = (
            f"{counted(len(self.objects), 'column')} of Python objects {'was' if one else 'were'} left out, since "
            f"reading objects could run a program: {quoted(self.objects)}."
        )
        return [Finding("odd", "column_left_out", text)]

    def refusal(self, file: str) -> str:
        """The message about a table that has no column of numbers."""
        if not self.objects:
            return f"The table '{self.place}' of '{file}' has no columns of numbers. Write it again with its data."
        return (
            f"The columns {quoted(self.objects)} of the table '{self.place}' in '{file}' are Python objects, which are "
            "not read, since that could run a program. Make them numbers, for example with df.astype(float), and write "
            "the file again."
        )


def tables_in(file: Node, h5py: ModuleType) -> list[StoredTable]:
    """All tables of a file, in the groups in which they are, in their order."""
    return list(_walk(file, h5py, "", [0]))


def _walk(group: Node, h5py: ModuleType, place: str, seen: list[int]) -> Iterator[StoredTable]:
    for name, node in group.items():
        seen[0] += 1
        if seen[0] > _MOST_GROUPS or place.count("/") > _DEEPEST or name.startswith(("#", "_i_")):
            return
        inside = f"{place}/{name}" if place else str(name)
        if isinstance(node, h5py.Dataset):
            if node.dtype.names and node.ndim == 1 and {"real", "imag"} != set(node.dtype.names):
                yield StoredTable(inside, *_of_records(node, dict.fromkeys(node.dtype.names, "")))
            continue
        if not isinstance(node, h5py.Group):
            continue
        kind = bytes(node.attrs.get("pandas_type", b""))
        if kind == b"frame_table" and isinstance(node.get("table"), h5py.Dataset):
            yield StoredTable(inside, *_of_records(node["table"], _blocks(node["table"])))
        elif kind == b"frame" and "axis0" in node:
            yield StoredTable(inside, *_of_blocks(node))
        elif not kind:
            yield from _walk(node, h5py, inside, seen)


def _blocks(table: Node) -> dict[str, str]:
    """Field of the rows -> what pandas says of its type."""
    return {name: _text(table.attrs.get(f"{name}_dtype", b"")) for name in table.dtype.names or ()}


def _of_records(data: Node, types: dict[str, str]) -> tuple[pa.Table, list[str]]:
    """The columns of a table of rows, and the names of those that cannot be read."""
    bounded(data)
    rows = data[:]
    made: dict[str, pa.Array] = {}
    objects: list[str] = []
    clock = _text(data.attrs.get("index_kind", b"")).startswith("datetime64")
    for field, type in types.items():
        block = rows[field]
        names = [field]
        if field.startswith("values_block_"):
            names = [_text(name) for name in _NAME.findall(bytes(data.attrs.get(f"{field}_kind", b"")))]
        elif field == "index" and "index_kind" in data.attrs:
            if clock:
                made[_CLOCK] = _moments(block, _text(data.attrs["index_kind"]))
            continue
        if block.dtype.kind not in "fiubS":
            objects += names
            continue
        columns = block.reshape(len(rows), -1)
        if not field.startswith("values_block_") and columns.shape[1] != 1:
            names = [f"{field} {number + 1}" for number in range(columns.shape[1])]
        for place, header in enumerate(names[: columns.shape[1]]):
            made[header] = _array(header, columns[:, place], type)
    return pa.table(made), objects


def _of_blocks(group: Node) -> tuple[pa.Table, list[str]]:
    """The columns of a table that is stored in blocks of one type, and the names of those that cannot be read."""
    order = _names(group["axis0"])
    made: dict[str, pa.Array] = {}
    objects: list[str] = []
    for number in range(min(int(group.attrs.get("nblocks", 0)), limits.MOST_COLUMNS)):
        values, items = group.get(f"block{number}_values"), group.get(f"block{number}_items")
        if values is None or items is None:
            continue
        names = _names(items)
        if values.dtype.kind not in "fiub" or values.ndim != 2:
            objects += names
            continue
        bounded(values)
        type = _text(values.attrs.get("value_type", b""))
        columns = values[:]
        for place, header in enumerate(names[: columns.shape[1]]):
            made[header] = _array(header, columns[:, place], type)
    table = pa.table({name: made[name] for name in order if name in made})
    index = group.get("axis1")
    kind = "" if index is None else _text(index.attrs.get("kind", b""))
    if index is not None and kind.startswith("datetime64") and index.shape == (table.num_rows,):
        table = table.add_column(0, _CLOCK, _moments(index[:], kind)) if _CLOCK not in made else table
    return table, objects


def _names(data: Node) -> list[str]:
    """The names of columns; empty if they are Python objects."""
    if data.ndim != 1 or data.dtype.kind not in "SiufU":
        return []
    return [_text(name) if isinstance(name, bytes) else str(name) for name in data[:].tolist()]


def _array(header: str, column: NDArray[np.generic], type: str) -> pa.Array:
    values = np.ascontiguousarray(column)
    if values.dtype.kind == "S":
        texts = [_text(value) for value in values.tolist()]
        return pa.array([None if text in ("", "nan") else text for text in texts], pa.string())
    if type.startswith("datetime64"):
        return _moments(values, type)
    if type == "bool":
        return pa.array(values.astype(bool))
    if split_header(header).key in ARBIN.clocks and values.dtype.kind == "i":
        seconds = values / _TICKS
        if len(values) and 1e8 < seconds[0] < 1e11:
            return pa.array((seconds * 1e6).astype(np.int64), pa.timestamp("us", "UTC"))
    return pa.array(values, mask=np.isnan(values) if values.dtype.kind == "f" else None)


def _moments(values: NDArray[np.generic], type: str) -> pa.Array:
    """Clock times that pandas stores as numbers; ``type`` is as "datetime64[ns]" or "datetime64[us, Europe/Berlin]"."""
    unit = next((unit for unit in ("ns", "us", "ms", "s") if f"[{unit}" in type), "ns")
    zone = "UTC" if "," in type else None
    moments = np.asarray(values).astype(np.int64).astype(f"datetime64[{unit}]").astype("datetime64[us]")
    return pa.array(moments, pa.timestamp("us", zone))


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def bounded(data: Node) -> None:
    """Refuse a dataset that does not fit into memory.

    Raises
    ------
    TooLarge
        If it unpacks to more than ``limits.MOST_IN_MEMORY``.
    """
    if (data.size or 0) * data.dtype.itemsize > limits.MOST_IN_MEMORY:
        raise TooLarge(
            f"A table of the file unpacks to more than {limits.MOST_IN_MEMORY >> 30} GiB. Save it in parts."
        )
