"""HDF5: MATLAB files of version 7.3 and tables written by pandas, read with h5py if it is installed."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from .. import limits
from ..file.archives import unpacked
from ..file.nested_structures import Structure
from ..file.outside_parsers import guarded
from ..file.parser_process import Facts, Job, load_in_process
from ..file.source import Head
from ..reading import Counters, Reading, Sign
from ..table.columns import plan_columns, unique_labels
from ..table.header_units import split_header
from ..table.typed_columns import batches_of, read_typed
from .arbin import ARBIN
from .delimited import CLOCK_NAMES, COLUMNS
from .matlab import reading_of, samples_of

Node: TypeAlias = Any
"""A file, group or dataset of h5py, which comes without types."""
_MAGIC = b"\x89HDF\r\n\x1a\n"
_DEEPEST = 12
_MOST_ITEMS = 2_000_000
_NAME = re.compile(rb"V([^\n]*)\n")
"""A name in the list that pandas writes beside a block of columns. The list is a pickle and is never loaded."""
_TICKS = 1e7
"""Arbin's database stores dates as ten-millionths of a second since 1970."""


@dataclass(frozen=True)
class Hdf5:
    """HDF5 files that hold samples in a known layout."""

    name: str = "hdf5"
    brand: str = "MATLAB 7.3 and pandas"
    endings: tuple[str, ...] = (".mat", ".h5", ".hdf5")
    about: str = "MATLAB 7.3 and tables of pandas, such as exports of Arbin's SQL server. Needs the extra 'hdf5'."
    sign: Sign = "found"
    sign_rule: str = "as each set documents it, else found from how the voltage answers"
    counters: Counters = None
    rule: int = 1

    def matches(self, head: Head) -> bool:
        return head.data.startswith(_MAGIC) or head.data[512:].startswith(_MAGIC)

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read an HDF5 file; see ``readers.read``."""
        _h5py(head.name)
        with unpacked(head.path, head.name, head.packed, ".h5") as path:
            facts, table = load_in_process(loaded, path, head.name, column_map)
        if facts["set"] is None:
            return self._of_frame(table, head, column_map, sign)
        return reading_of(self.name, facts, table, head, sign)

    def _of_frame(
        self, table: pa.Table, head: Head, column_map: Mapping[str, str] | None, sign: str | None
    ) -> Reading:
        """The reading of a table of pandas, with the columns of Arbin if its names are those of Arbin."""
        labels = unique_labels(table.column_names)
        table = table.rename_columns(labels)
        keys = {split_header(name).key for name in labels}
        arbin = all(any(name in keys for name in group) for group in ARBIN.needs)
        columns, clocks = (ARBIN.columns, ARBIN.clocks) if arbin else (COLUMNS, CLOCK_NAMES)
        plan = plan_columns(labels, columns, clocks=clocks, column_map=column_map, file=head.name)
        notes: list[Finding] = []

        reading = read_typed(ARBIN if arbin else self, head.name, plan, batches_of(table), sign, notes)
        reading.format = self.name
        return reading


def loaded(job: Job) -> tuple[Facts, pa.Table]:
    """Facts and samples of the HDF5 file of a job; ``set`` is None for a table of pandas.

    It runs in a process of its own.
    """
    name = job["name"]
    h5py = _h5py(name)
    with (
        guarded(lambda why: f"'{name}' is a damaged HDF5 file ({why}). Write or copy it again."),
        h5py.File(job["path"], "r") as file,
    ):
        frames = list(_frames(file, h5py))
        structure = {} if frames else _Loader(h5py, file, name).structure()
    for table in frames:
        if {"current", "voltage"} <= {split_header(column).key for column in table.column_names}:
            return {"set": None}, table
    return samples_of(structure, name, job["column_map"])


def _h5py(file: str) -> ModuleType:
    try:
        return importlib.import_module("h5py")
    except ImportError:
        raise FileRefused(
            f"'{file}' is an HDF5 file (MATLAB 7.3 or pandas), and its reader is not installed. Run pip install "
            "'battery-workbench[hdf5]', or save it as an older MATLAB version (-v7) or as csv."
        ) from None


def _frames(file: Node, h5py: ModuleType) -> Iterator[pa.Table]:
    """The tables that pandas wrote, without their columns of text, which are pickles."""
    for group in file.values():
        if not isinstance(group, h5py.Group):
            continue
        kind = bytes(group.attrs.get("pandas_type", b""))
        if kind == b"frame_table" and "table" in group:
            yield _appendable(group["table"])
        elif kind == b"frame" and "axis0" in group:
            yield _fixed(group)


def _appendable(table: Node) -> pa.Table:
    _bounded(table)
    rows = table[:]
    made: dict[str, pa.Array] = {}
    for name in rows.dtype.names or ():
        block = rows[name]
        if not name.startswith("values_block") or block.dtype.kind not in "fiub":
            continue
        names = _NAME.findall(bytes(table.attrs.get(f"{name}_kind", b"")))
        columns = block.reshape(len(rows), -1)
        for place, header in enumerate(names[: columns.shape[1]]):
            made[header.decode("utf-8", "replace")] = _array(header, columns[:, place])
    return pa.table(made)


def _fixed(group: Node) -> pa.Table:
    order = [name.decode("utf-8", "replace") for name in group["axis0"][:].astype("S")]
    made: dict[str, pa.Array] = {}
    for number in range(int(group.attrs.get("nblocks", 0))):
        values = group.get(f"block{number}_values")
        if values is None or values.dtype.kind not in "fiub" or values.ndim != 2:
            continue
        _bounded(values)
        for place, header in enumerate(group[f"block{number}_items"][:].astype("S")):
            made[header.decode("utf-8", "replace")] = _array(header, values[:, place])
    return pa.table({name: made[name] for name in order if name in made})


def _array(header: bytes, column: NDArray[np.number]) -> pa.Array:
    values = np.ascontiguousarray(column)
    if split_header(header.decode("utf-8", "replace")).key in ARBIN.clocks and values.dtype.kind == "i":
        seconds = values / _TICKS
        if len(values) and 1e8 < seconds[0] < 1e11:
            return pa.array((seconds * 1e6).astype(np.int64), pa.timestamp("us", "UTC"))
    return pa.array(values, mask=np.isnan(values) if values.dtype.kind == "f" else None)


def _bounded(data: Node) -> None:
    if data.size * data.dtype.itemsize > limits.MOST_IN_MEMORY:
        raise TooLarge(
            f"A table of the file unpacks to more than {limits.MOST_IN_MEMORY >> 30} GiB. Save it in parts."
        )


class _Loader:
    """Reads a MATLAB 7.3 file as dicts, lists and arrays. It follows references, within limits."""

    def __init__(self, h5py: ModuleType, file: Node, name: str) -> None:
        self.h5py, self.file, self.name = h5py, file, name
        self.items = 0
        self.bytes = 0

    def structure(self) -> dict[str, Structure]:
        return {key: self._node(value, 0) for key, value in self.file.items() if not key.startswith("#")}

    def _node(self, node: Node, depth: int) -> Structure:
        self.items += 1
        if self.items > _MOST_ITEMS or self.bytes > limits.MOST_IN_MEMORY:
            raise TooLarge(f"'{self.name}' needs more memory than is allowed. Save one cell by itself.")
        if depth > _DEEPEST:
            return None
        if isinstance(node, self.h5py.Group):
            return {key: self._node(value, depth + 1) for key, value in node.items()}
        return self._dataset(node, depth) if isinstance(node, self.h5py.Dataset) else None

    def _dataset(self, data: Node, depth: int) -> Structure:
        if data.dtype == self.h5py.ref_dtype:
            found = [self._node(self.file[ref], depth + 1) for ref in data[()].flatten() if ref]
            return found[0] if len(found) == 1 else found
        if data.dtype.kind not in "fiub":
            return None
        self.bytes += data.size * data.dtype.itemsize
        _bounded(data)
        values = np.asarray(data[()])
        if bytes(data.attrs.get("MATLAB_class", b"")) == b"char":
            return "".join(chr(int(code)) for code in values.flatten()[:1000])
        values = np.squeeze(values.T)
        return values if values.ndim else values.item()


HDF5 = Hdf5()
