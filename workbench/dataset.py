"""The answer of a plan, step by step (Dataset), and its packed form: a JSON head and raw column buffers.

The dataset cache keeps the packed bytes, and a transform gets them, in this process or another one. Columns are
views into the bytes: nothing is parsed or unpickled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from .cached_property import cached_property
from .errors import StoreError
from .table import Array, Column, JsonObject, Kind, Plain, Table, concat, moment_text

Place: TypeAlias = tuple[int, str, int]
"""Where an array is in packed bytes: its offset in the buffers, its dtype and its length."""
MAGIC = b"WBDS0001"
COLUMNS = "columns"
"""The key of ``extra`` with the columns of series steps: they have columns also where no source was found."""
FRAME_KEY = "workbench"
"""The key of the ``attrs`` of a frame under which it says whether it holds all samples of its source."""


@dataclass(frozen=True, eq=False)
class Samples:
    """What a series step read of one source.

    ``rows`` (n,) int64 are sample numbers in the stored series; ``table`` holds x and the columns, aligned;
    ``complete`` is true if all samples of the window are in it; ``total`` is the number in the window.
    """

    rows: NDArray[np.int64]
    table: Table
    complete: bool
    total: int


SeriesSet: TypeAlias = dict[str, Samples]
StepResult: TypeAlias = Table | SeriesSet


StepColumns: TypeAlias = list[tuple[str, Kind]]
"""(name, kind) of each column of a step."""


@dataclass(frozen=True)
class Warn:
    """A warning of an answer; ``code`` is one of ``workbench.engine.warnings.CODES``."""

    code: str
    message: str
    step: str | None = None
    param: str | None = None
    shown: int | None = None
    total: int | None = None

    def as_dict(self) -> JsonObject:
        raw = {
            "code": self.code,
            "message": self.message,
            "step": self.step,
            "param": self.param,
            "shown": self.shown,
            "total": self.total,
        }
        return {key: value for key, value in raw.items() if value is not None}


@dataclass
class Dataset:
    """The answer to a plan: step name -> rows (Table) or series (id -> Samples), in the order of the plan."""

    steps: dict[str, StepResult]
    values: JsonObject = field(default_factory=dict)
    options: dict[str, list[JsonObject]] = field(default_factory=dict)
    warnings: list[Warn] = field(default_factory=list)
    cache: dict[str, str] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=lambda: {"steps": 0, "sources": 0})
    timings: dict[str, float] = field(default_factory=dict)
    columns: dict[str, StepColumns] = field(default_factory=dict)


def stacked(series: SeriesSet, columns: StepColumns | None = None) -> tuple[Column, NDArray[np.int64], Table]:
    """All sources one below the other: their ids (n,) as text, their sample numbers (n,) and their columns.

    ``columns`` are those of the step: a step that read no source has them from there.
    """
    parts = list(series.values())
    codes = np.repeat(np.arange(len(parts), dtype=np.int32), [len(samples.rows) for samples in parts])
    rows = np.concatenate([samples.rows for samples in parts]) if parts else np.zeros(0, np.int64)
    ids = Column("text", codes, None, tuple(map(str, series)))
    if not parts:
        return ids, rows, Table({name: Column.from_python([], kind) for name, kind in columns or ()}, 0)
    return ids, rows, concat([samples.table for samples in parts])


def record_names(steps: Mapping[str, StepResult]) -> dict[str, str]:
    """Record id -> its name, from the steps that have both."""
    tables = [result for result in steps.values() if isinstance(result, Table) and {"id", "name"} <= {*result}]
    pairs = (pair for table in tables for pair in zip(table["id"].tolist(), table["name"].tolist(), strict=True))
    return {id: name for id, name in pairs if isinstance(id, str) and isinstance(name, str)}


class _Packer:
    def __init__(self) -> None:
        self.buffers: list[bytes | memoryview] = []
        self.size = 0

    def add(self, array: Array) -> Place:
        data = np.ascontiguousarray(array)
        place = (self.size, data.dtype.str, len(data))
        raw = data.view(np.uint8).data if data.size else b""
        self.buffers.append(raw)
        pad = -data.nbytes % 8
        self.buffers.append(b"\0" * pad)
        self.size += data.nbytes + pad
        return place

    def table(self, table: Table) -> JsonObject:
        return {"n": table.n, "columns": [[name, self.column(column)] for name, column in table.items()]}

    def column(self, column: Column) -> JsonObject:
        head: JsonObject = {"kind": column.kind}
        if column.kind == "mixed":
            head["items"] = items = [_as_text(value) for value in column.tolist()]
            if infinite := infinite_places(items):
                head["infinite"] = infinite
        else:
            head["values"] = self.add(column.values)
            if column.valid is not None:
                head["valid"] = self.add(column.valid)
            if column.words:
                head["words"] = list(column.words)
        if column.exact is not None:
            head["exact"] = _rounded(column)
        return head

    def step(self, result: StepResult) -> JsonObject:
        if isinstance(result, Table):
            return {"rows": self.table(result)}
        return {
            "series": [
                [
                    key,
                    {
                        "rows": self.add(samples.rows),
                        "table": self.table(samples.table),
                        "complete": samples.complete,
                        "total": samples.total,
                    },
                ]
                for key, samples in result.items()
            ]
        }


def infinite_places(values: Sequence[Plain]) -> list[tuple[int, bool]]:
    """(place, whether it is above zero) of the infinities among values of several types, which JSON makes null."""
    return [(at, value > 0) for at, value in enumerate(values) if isinstance(value, float) and math.isinf(value)]


def with_infinities(values: Sequence[Plain], found: Iterable[tuple[int, bool]]) -> list[Plain]:
    """Values that were JSON with the infinities that they had."""
    made = [*values]
    for at, above in found:
        made[at] = math.inf if above else -math.inf
    return made


def _as_text(value: Plain) -> Plain:
    """A value of a column of several types as answers show it: a time is its text."""
    return moment_text(value) if isinstance(value, datetime) else value


def _rounded(column: Column) -> list[tuple[int, int]]:
    """(place, whole number) of the values that are whole numbers and shown rounded."""
    pairs = enumerate(zip(column.tolist(), column.exact_list(), strict=True))
    return [(at, held) for at, (shown, held) in pairs if isinstance(held, int) and held != shown]


def _with_exact(column: Column, rounded: list[tuple[int, int]]) -> Column:
    exact = np.empty(len(column), object)
    exact[:] = column.tolist()
    for at, whole in rounded:
        exact[at] = whole
    return replace(column, exact=exact)


class Parts:
    """Packed bytes that are joined when somebody asks for them; until then the columns are views of what was packed.

    A large answer is mostly unpacked where it was packed: a copy of it would take longer than all else.
    """

    def __init__(self, head: bytes, buffers: Sequence[bytes | memoryview]) -> None:
        self.head = head
        self.pieces = [MAGIC, len(head).to_bytes(8, "little"), head, *buffers]
        self._body: dict[int, memoryview] = {}
        self._size = 0
        for buffer in buffers:
            if len(buffer):
                self._body[self._size] = memoryview(buffer).toreadonly()
            self._size += len(buffer)

    def __len__(self) -> int:
        return sum(map(len, self.pieces[:3])) + self._size

    def __bytes__(self) -> bytes:
        return self._whole

    @cached_property
    def _whole(self) -> bytes:
        return b"".join(self.pieces)

    def array(self, place: Place) -> Array:
        """A read-only array at its place in the bytes."""
        offset, dtype, n = place
        return np.frombuffer(self._body[offset] if n else b"", np.dtype(dtype), n)


def pack(steps: Mapping[str, StepResult], extra: JsonObject | None = None) -> bytes:
    """Bytes of the steps (and ``extra``, any JSON): magic, head length, JSON head, then 8-aligned buffers."""
    return bytes(packed(steps, extra))


def packed(steps: Mapping[str, StepResult], extra: JsonObject | None = None) -> Parts:
    """What :func:`pack` joins. Nobody may change the arrays of ``steps`` from now on."""
    packer = _Packer()
    head = {"steps": [[name, packer.step(result)] for name, result in steps.items()], "extra": extra or {}}
    text = orjson.dumps(head)
    return Parts(text + b" " * (-len(text) % 8), packer.buffers)


def unpack(data: bytes | bytearray | memoryview | Parts) -> tuple[dict[str, StepResult], JsonObject]:
    """The steps and ``extra`` of packed bytes; arrays are read-only views into ``data``.

    Raises
    ------
    StoreError
        If the bytes are not a packed dataset.
    """
    if isinstance(data, Parts):
        return _unpacked(data.head, data.array)
    view = memoryview(data).toreadonly()
    if bytes(view[:8]) != MAGIC:
        raise StoreError("These bytes are not a packed dataset.")
    length = int.from_bytes(view[8:16], "little")
    body = view[16 + length :]

    def array(place: Place) -> Array:
        offset, dtype, n = place
        return np.frombuffer(body, np.dtype(dtype), n, offset)

    return _unpacked(view[16 : 16 + length], array)


def _unpacked(
    text: bytes | memoryview, array: Callable[[Place], Array]
) -> tuple[dict[str, StepResult], JsonObject]:
    head = orjson.loads(text)

    def column(item: JsonObject) -> Column:
        if item["kind"] == "mixed":
            made = Column.from_python(with_infinities(item["items"], item.get("infinite", ())), "mixed")
        else:
            valid = array(item["valid"]) if "valid" in item else None
            made = Column(item["kind"], array(item["values"]), valid, tuple(item.get("words", ())))
        return _with_exact(made, item["exact"]) if "exact" in item else made

    def table(item: JsonObject) -> Table:
        return Table({name: column(packed) for name, packed in item["columns"]}, item["n"])

    steps: dict[str, StepResult] = {}
    for name, item in head["steps"]:
        if "rows" in item:
            steps[name] = table(item["rows"])
        else:
            steps[name] = {
                key: Samples(array(s["rows"]), table(s["table"]), s["complete"], s["total"])
                for key, s in item["series"]
            }
    return steps, head["extra"]
