"""HDF5: MATLAB files of version 7.3 and tables, such as those of pandas, read with h5py if it is installed."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...cycling.columns import CURRENT, TIME, VOLTAGE
from ...cycling.findings import Finding
from ...errors import FileRefused, TooLarge
from ...messages import counted, quoted
from .. import limits
from ..file.hdf5_tables import StoredTable, bounded, tables_in
from ..file.nested_structures import Structure, parts_of
from ..file.outside_parsers import guarded
from ..file.parser_process import Facts, Job, TestFacts
from ..file.source import Head
from ..file.structure_samples import of_one_test, reading_of, samples_of
from ..file.structure_tests import names_of_paths
from ..reading import Counters, Reading, SeveralTests, Sign
from ..table.columns import Plan, plan_columns, unique_labels
from ..table.header_units import is_of_statistics, split_header
from ..table.several_cells import cell_columns, column_of_cells, count_names, names_in, notes_of, refuse_several
from ..table.typed_columns import batches_of, read_typed
from .arbin import ARBIN
from .delimited import CLOCK_NAMES, COLUMNS

Node: TypeAlias = Any
"""A file, group or dataset of h5py, which comes without types."""
_MAGIC = b"\x89HDF\r\n\x1a\n"
_DEEPEST = 12
_MOST_ITEMS = 2_000_000
_FEW_TEXTS = 3
"""Of a list of texts, which is not read as samples: enough to say what they look like."""
_TABLE = "!"
_UNITS = ("unit", "units")
"""Names of attributes, and of vectors beside others, that say units."""
LIBRARIES = ("h5py",)
"""What a process of its own imports for it, before it is locked."""


@dataclass(frozen=True)
class Hdf5:
    """HDF5 files that hold samples in a known layout."""

    name: str = "hdf5"
    brand: str = "MATLAB 7.3 and pandas"
    endings: tuple[str, ...] = (".mat", ".h5", ".hdf5")
    about: str = (
        "MATLAB 7.3 and tables in any group, of pandas (such as exports of Arbin's SQL server) or others. Several "
        "tables or cells are several tests. Needs the extra 'hdf5'."
    )
    sign: Sign = "found"
    sign_rule: str = "as each set documents it, else found from how the voltage answers"
    counters: Counters = None
    rule: int = 5

    def matches(self, head: Head) -> bool:
        return head.data.startswith(_MAGIC) or head.data[512:].startswith(_MAGIC)

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        """Read an HDF5 file; see ``readers.read``."""
        _h5py(head.name)
        facts, table = of_one_test(loaded, head, ".h5", column_map)
        if facts["set"] is None:
            return self._of_frame(facts, table, head, column_map, sign)
        return reading_of(self.name, facts, table, head, sign)

    def _of_frame(
        self,
        facts: TestFacts,
        table: pa.Table,
        head: Head,
        column_map: Mapping[str, str] | None,
        sign: str | None,
    ) -> Reading:
        """The reading of a table, with the columns of Arbin if its names are those of Arbin."""
        plan = _planned(table, column_map, head.name)
        notes = [Finding(**note) for note in facts["notes"]]
        format = ARBIN if _is_of_arbin(plan.labels) else self
        reading = read_typed(format, head.name, plan, batches_of(table), sign, notes)
        reading.format = self.name
        return reading


def loaded(job: Job) -> tuple[Facts, pa.Table]:
    """Facts and samples of the HDF5 file of a job; ``set`` is None for tables. It runs in a process of its own."""
    name = job["name"]
    h5py = _h5py(name)
    with (
        guarded(lambda why: f"'{name}' is a damaged HDF5 file ({why}). Write or copy it again."),
        h5py.File(job["path"], "r") as file,
    ):
        frames = tables_in(file, h5py)
        plain = _plain(job["column_map"], _headers(frames))
        is_table = any(_is_series(frame.table, plain, name) for frame in frames)
        structure = {} if is_table else _Loader(h5py, file, name).structure()
    if is_table or (frames and next(parts_of(structure, plain), None) is None):
        return _of_frames(frames, name, job["column_map"])
    return samples_of(structure, name, job["column_map"])


def _split(key: str, headers: Collection[str]) -> tuple[str, str]:
    """The place of a table in a key of a column map, "" for none, and the header, which may have the mark in it."""
    places = [-1, *(at for at, letter in enumerate(key) if letter == _TABLE)]
    at = next((at for at in places if key[at + 1 :] in headers), places[-1])
    return key[: max(at, 0)], key[at + 1 :]


def _plain(column_map: Mapping[str, str] | None, headers: Collection[str]) -> dict[str, str]:
    """A column map without the places of tables before its headers."""
    return {_split(key, headers)[1]: ours for key, ours in (column_map or {}).items()}


def _headers(frames: Sequence[StoredTable]) -> set[str]:
    return {name for frame in frames for name in frame.table.column_names}


def _of_frames(frames: list[StoredTable], file: str, column_map: Mapping[str, str]) -> tuple[Facts, pa.Table]:
    """Facts and samples of the tables of a file: each that is a series is a test, or each cell that it names.

    A column map may name one of them, as in ``{"cells/A1!Volts": "Voltage [V]"}``.
    """
    wanted = {place for key in column_map if (place := _split(key, _headers(frames))[0])}
    if wanted and not wanted <= {frame.place for frame in frames}:
        unknown = quoted(sorted(wanted - {frame.place for frame in frames}))
        raise FileRefused(f"'{file}' has no table {unknown}; it has {quoted(frame.place for frame in frames)}.")
    frames = [frame for frame in frames if not wanted or frame.place in wanted]
    plain = _plain(column_map, _headers(frames))
    series = [frame for frame in frames if _is_series(frame.table, plain, file)]
    series = [frame for frame in series if not _is_statistics(frame.table)] or series
    if not series:
        largest = max(frames, key=lambda frame: (frame.table.num_columns, frame.table.num_rows))
        if not largest.table.num_columns:
            raise FileRefused(largest.refusal(file))
        series = [largest]
    left = [frame.place for frame in frames if frame not in series]
    facts: list[TestFacts] = []
    tables: list[pa.Table] = []
    for place, frame in names_of_places(series).items():
        for test, table, notes in _by_cell(place, frame, plain, file):
            notes = [*frame.notes(), *notes]
            if left:
                text = f"The tables {quoted(left)} are not series of time, current and voltage, and were left out."
                notes.append(Finding("odd", "left_out", text))
            facts.append(
                {
                    "name": test,
                    "set": None,
                    "sign": "found",
                    "start": None,
                    "notes": [note.fields for note in notes],
                    "rows": table.num_rows,
                    "columns": table.column_names,
                    "metadata": {},
                }
            )
            tables.append(table)
    if len(series) > 1:
        for one in facts:
            text = f"The file holds {counted(len(facts), 'test')}; this is '{one['name']}'."
            one["notes"].insert(0, Finding("assumed", "one_of_cells", text).fields)
    return {"set": None, "tests": facts}, pa.concat_tables(tables, promote_options="permissive")


def _by_cell(
    place: str, frame: StoredTable, column_map: Mapping[str, str], file: str
) -> Iterator[tuple[str, pa.Table, list[Finding]]]:
    """Name, rows and notes of each cell of a table; of the table itself if it names no cells."""
    plan = _planned(frame.table, column_map, file)
    table = frame.table.rename_columns(plan.labels)
    columns = cell_columns(plan)
    counts = count_names(table.select(columns).combine_chunks().to_batches()) if columns else {}
    column = column_of_cells({name: counts[name] for name in columns if name in counts})
    if column is None:
        yield place, frame.table, []
        return
    names = names_in(table[column].combine_chunks())
    rows = counts[column]
    try:
        refuse_several(file, column, rows)
    except SeveralTests as several:
        first, _, rest = place.partition("/")
        for cell in several.tests:
            name = "/".join(filter(None, (cell, first, rest))) if place else cell
            mask = pc.fill_null(pc.equal(names, cell), False)
            yield name, frame.table.filter(mask), notes_of(file, column, rows, cell)


def names_of_places(frames: list[StoredTable]) -> dict[str, StoredTable]:
    """Name of a test -> its table, from where the tables differ; "" for the only one."""
    paths = [tuple(frame.place.split("/")) for frame in frames]
    return dict(zip(names_of_paths(paths), frames, strict=True))


def _planned(table: pa.Table, column_map: Mapping[str, str] | None, file: str) -> Plan:
    labels = unique_labels(table.column_names)
    columns, clocks = (ARBIN.columns, ARBIN.clocks) if _is_of_arbin(labels) else (COLUMNS, CLOCK_NAMES)
    return plan_columns(
        labels, columns, clocks=clocks, column_map=_plain(column_map, table.column_names), file=file
    )


def _is_of_arbin(labels: list[str]) -> bool:
    keys = {split_header(name).key for name in labels}
    return all(any(name in keys for name in group) for group in ARBIN.needs)


def _is_statistics(table: pa.Table) -> bool:
    """Whether it is a summary by the cycler: a row for each cycle or step."""
    return any(is_of_statistics(split_header(name).key) for name in table.column_names)


def _is_series(table: pa.Table, column_map: Mapping[str, str], file: str) -> bool:
    labels = {label.casefold() for label in table.column_names}
    if column_map and not {header.strip().casefold() for header in column_map} <= labels:
        return False
    plan = _planned(table, column_map, file)
    timed = plan.find(TIME) is not None or plan.clock is not None
    return timed and plan.find(CURRENT) is not None and plan.find(VOLTAGE) is not None


def _h5py(file: str) -> ModuleType:
    try:
        return importlib.import_module("h5py")
    except ImportError:
        raise FileRefused(
            f"'{file}' is an HDF5 file (MATLAB 7.3 or pandas), and its reader is not installed. Run pip install "
            "'battery-workbench[hdf5]', or save it as an older MATLAB version (-v7) or as csv."
        ) from None


class _Loader:
    """Reads a MATLAB 7.3 file as dicts, lists and arrays. It follows references, within limits."""

    def __init__(self, h5py: ModuleType, file: Node, name: str) -> None:
        self.h5py, self.file, self.name = h5py, file, name
        self.items = 0
        self.bytes = 0

    def structure(self) -> dict[str, Structure]:
        made = {key: self._node(value, 0) for key, value in self.file.items() if not key.startswith("#")}
        return self._with_units(self.file, made)

    def _node(self, node: Node, depth: int) -> Structure:
        self.items += 1
        if self.items > _MOST_ITEMS or self.bytes > limits.MOST_IN_MEMORY:
            raise TooLarge(f"'{self.name}' needs more memory than is allowed. Save one cell by itself.")
        if depth > _DEEPEST:
            return None
        if isinstance(node, self.h5py.Group):
            made = {key: self._node(value, depth + 1) for key, value in node.items()}
            return _one_by_one(made) if self._is_array(node) else self._with_units(node, made)
        return self._dataset(node, depth) if isinstance(node, self.h5py.Dataset) else None

    def _with_units(self, group: Node, made: dict[str, Structure]) -> dict[str, Structure]:
        """The content of a group with the units that the attributes of its vectors name, as in NetCDF files."""
        units: dict[str, Structure] = {}
        for key, value in group.items():
            if isinstance(value, self.h5py.Dataset) and key in made:
                named = [value.attrs[name] for name in value.attrs if name.casefold() in _UNITS]
                text = next((text for one in named if (text := _attribute(one))), None)
                units |= {key: text} if text is not None else {}
        return made if not units or any(key.casefold() in _UNITS for key in made) else made | {"units": units}

    def _is_array(self, group: Node) -> bool:
        """Whether a group is an array of structures: each field is a list with one reference for each of them."""
        fields = list(group.values())
        return (
            bool(fields)
            and all(isinstance(field, self.h5py.Dataset) for field in fields)
            and all(self.h5py.check_ref_dtype(field.dtype) is self.h5py.Reference for field in fields)
            and not any("MATLAB_class" in field.attrs for field in fields)
            and len({field.shape for field in fields}) == 1
            and (fields[0].size or 0) > 1
        )

    def _dataset(self, data: Node, depth: int) -> Structure:
        if data.shape is None or data.attrs.get("MATLAB_empty"):
            return None
        if self.h5py.check_ref_dtype(data.dtype) is self.h5py.Reference:
            found = [self._node(self.file[ref], depth + 1) if ref else None for ref in data[()].flatten()]
            return found[0] if len(found) == 1 else found
        if self.h5py.check_string_dtype(data.dtype) is not None and data.shape == ():
            return str(data.asstr(errors="replace")[()])[:1000]
        if self.h5py.check_string_dtype(data.dtype) is not None and data.ndim == 1:
            return np.array([str(text)[:1000] for text in data.asstr(errors="replace")[:_FEW_TEXTS]], dtype=str)
        complex_pair = data.dtype.names is not None and set(data.dtype.names) == {"real", "imag"}
        if data.dtype.kind not in "fiubc" and not complex_pair:
            return None
        self.bytes += data.size * data.dtype.itemsize
        bounded(data)
        values = np.asarray(data[()])
        if complex_pair:
            values = values["real"] + 1j * values["imag"]
        if bytes(data.attrs.get("MATLAB_class", b"")) == b"char":
            return "".join(chr(int(code)) for code in values.flatten()[:1000])
        values = np.squeeze(values.T)
        return values if values.ndim else values.item()


def _attribute(value: object) -> str:
    """The text of an attribute, which may be bytes or a list of one; "" if it is not a text."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return str(value).strip() if isinstance(value, str) else ""


def _one_by_one(fields: dict[str, Structure]) -> Structure:
    """A list of structures, from a structure of lists."""
    lists = {key: value for key, value in fields.items() if isinstance(value, list)}
    longest = max(map(len, lists.values()), default=0)
    if len(lists) < len(fields) or any(len(value) != longest for value in lists.values()):
        return fields
    return [{key: value[place] for key, value in lists.items()} for place in range(longest)]


HDF5 = Hdf5()
