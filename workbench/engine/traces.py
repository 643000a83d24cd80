"""Whose columns a figure draws: for each trace the source and the columns that it comes from, or why that is not known.

A trace is traceable if its x and y are columns of one source of a series step, value by value, each as it is or times a
number plus a number. A script may name the source by ``meta={"step": ..., "id": ...}``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NotRequired

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from ..cached_property import cached_property
from ..dataset import Dataset, Samples
from ..figure_traces import SCATTER
from ..messages import spaced
from ..table import Column, Table
from .scaled_columns import SAME, Floats, Scale, candidates, fit

Path = tuple[str, ...]
Source = tuple[str, str]
"""A step and the id of a source that it has read."""
Mark = tuple[float | None, ...]
Values = Any
"""An array of a figure: a numpy array where it was a typed one, else a list."""
MOST_TRACES = 1000
"""Traces that are looked at; detail can be asked for these."""
_SKIPPED = {"meta", "colorscale", "selectedpoints"}
_MICROSECOND = 1.0
_NUMBERS = ("number", "integer")


class TraceShown(TypedDict):
    """How many samples a trace shows, and whether zoom has more.

    ``detail``: ``finer`` (zoom reads more), ``all`` (nothing was left out) or ``none`` (it cannot be traced; ``why``
    says the reason). ``of`` is how many samples its source has in the window.
    """

    detail: Literal["finer", "all", "none"]
    shown: int
    of: NotRequired[int]
    why: NotRequired[str]


@dataclass(frozen=True)
class Drawn:
    """Where an array of a trace comes from: a column, and how the drawn values follow from it.

    ``is_time`` says that it is drawn as date-times.
    """

    column: str
    scale: Scale = SAME
    is_time: bool = False


@dataclass(frozen=True)
class Trace:
    """Where the values of a trace come from: ``samples`` of the source ``id`` that the step has read.

    ``others`` are further arrays of it: path -> a column, or one for each place of an array of arrays.
    """

    step: str
    id: str
    samples: Samples = field(repr=False, compare=False)
    horizontal: Drawn
    vertical: Drawn
    others: dict[Path, Drawn | list[Drawn]] = field(default_factory=dict)

    @property
    def x(self) -> str:
        return self.horizontal.column

    @property
    def y(self) -> str:
        return self.vertical.column

    @property
    def columns(self) -> list[str]:
        """The columns to read besides x, each once."""
        drawn = [self.vertical]
        for other in self.others.values():
            drawn += other if isinstance(other, list) else [other]
        return [name for name in dict.fromkeys(one.column for one in drawn) if name != self.x] or [self.y]


def traceable(
    figure: Mapping[str, Any], dataset: Dataset, numbers: Iterable[int] | None = None
) -> dict[int, Trace]:
    """The traces of a figure (with its typed arrays decoded) that are columns of a source, by trace number.

    ``numbers`` are those to look at; None for all.
    """
    traces = list(figure.get("data", ()))
    wanted = range(len(traces)) if numbers is None else [n for n in dict.fromkeys(numbers) if n < len(traces)]
    columns = _Columns(dataset)
    found = ((n, _traced(n, traces[n], columns)) for n in wanted)
    return {n: trace for n, trace in found if isinstance(trace, Trace)}


def shown_traces(figure: Mapping[str, Any], dataset: Dataset) -> list[TraceShown]:
    """For each trace of a figure how many samples it shows, of how many, and whether there is finer detail."""
    made: list[TraceShown] = []
    columns = _Columns(dataset)
    for number, trace in enumerate(figure.get("data", ())):
        found = _traced(number, trace, columns)
        n = max(_length(trace.get("x")), _length(trace.get("y")))
        if isinstance(found, Trace):
            detail: Literal["finer", "all"] = "all" if found.samples.complete else "finer"
            made.append({"detail": detail, "shown": found.samples.table.n, "of": found.samples.total})
        elif found == "":
            made.append({"detail": "all", "shown": n, "of": n})
        else:
            made.append({"detail": "none", "shown": n, "why": found})
    return made


def _traced(number: int, trace: Mapping[str, Any], columns: _Columns) -> Trace | str:
    """Where a trace comes from; else why that is not known, or the empty text for rows of a step."""
    if number >= MOST_TRACES:
        return f"only the first {spaced(MOST_TRACES)} traces are looked at"
    try:
        return _trace(trace, columns)
    except _Untraced as reason:
        return "" if _is_rows(trace, columns) else str(reason)


class _Untraced(Exception):
    """A trace cannot be traced; the text says why."""


def _trace(trace: Mapping[str, Any], columns: _Columns) -> Trace:
    kind = trace.get("type")
    if kind not in SCATTER:
        raise _Untraced(f"its type is '{kind}', and only lines and points are read again")
    for axis in "xy":
        if _length(trace.get(axis)) < 2:
            raise _Untraced(f"it has fewer than two values of {axis}")
    if _length(trace["x"]) != _length(trace["y"]):
        raise _Untraced("its x and y are not of one length")
    source, x, y = _pair(_Shown(trace["x"]), _Shown(trace["y"]), _named(trace, columns), columns)
    others = {path: _other(path, values, source, columns) for path, values in _arrays(trace, _length(trace["x"]))}
    return Trace(*source, columns.sources[source], x, y, others)


def _named(trace: Mapping[str, Any], columns: _Columns) -> Source | None:
    """The source that a script names."""
    meta = trace.get("meta")
    if not isinstance(meta, Mapping) or not {"step", "id"} <= set(meta):
        return None
    named = (str(meta["step"]), str(meta["id"]))
    if named not in columns.sources:
        raise _Untraced(f"its meta names the source '{named[1]}' of step '{named[0]}', which is not in the data")
    return named


def _pair(xs: _Shown, ys: _Shown, named: Source | None, columns: _Columns) -> tuple[Source, Drawn, Drawn]:
    """A source, and its columns that x and y show.

    Two sources, or two columns, that agree in every shown sample may differ between them: then nothing is certain. Of
    several ways to explain the drawn values the simplest one counts.
    """
    of_x, of_y = columns.equal(xs, named), columns.equal(ys, named)
    pairs = _pairs(of_x, of_y)
    if not pairs:
        of_x, of_y = [*of_x, *columns.scaled(xs, named)], [*of_y, *columns.scaled(ys, named)]
        pairs = _pairs(of_x, of_y)
    if not pairs:
        raise _Untraced(_why_not(xs, ys, of_x, of_y))
    least = min(x.doubt + y.doubt for x, y, _ in pairs)
    surest = [pair for pair in pairs if pair[0].doubt + pair[1].doubt == least]
    found = {source for _, _, common in surest for source in common}
    if len({id for _, id in found}) > 1:
        raise _Untraced(
            'several sources agree in every sample shown; a script can name one by meta={"step", "id"}'
        )
    source = next(one for one in columns.sources if one in found) if len(found) > 1 else next(iter(found))
    drawn = [(x, y) for pair in surest for x in pair[0].drawn(source) for y in pair[1].drawn(source)]
    if len(drawn) > 1:
        raise _Untraced("several columns of its source agree in every sample shown")
    return source, *drawn[0]


def _pairs(of_x: Sequence[_Match], of_y: Sequence[_Match]) -> list[tuple[_Match, _Match, Set[Source]]]:
    """Columns for x and y that are of one source, with all such sources."""
    pairs = ((x, y, x.sources & y.sources) for x in of_x for y in of_y)
    return [pair for pair in pairs if pair[2]]


def _why_not(xs: _Shown, ys: _Shown, of_x: Sequence[_Match], of_y: Sequence[_Match]) -> str:
    if of_x and of_y:
        return "its x and y come from different sources"
    missing = [name for name, found in (("x", of_x), ("y", of_y)) if not found]
    for name, axis in (("x", xs), ("y", ys)):
        if name in missing and axis.is_constant:
            return f"its {name} has one value in every sample shown, so that no column can be found by it"
    what = "its x and y are" if len(missing) == 2 else f"its {missing[0]} is"
    return f"{what} computed by the script (not a column of one source, nor one times a number plus a number)"


def _other(path: Path, values: Values, source: Source, columns: _Columns) -> Drawn | list[Drawn]:
    """Where further values of the same rows come from."""
    rows = _rows_of(values)
    made = [_of_rows(path, _Shown(one), source, columns) for one in rows or [values]]
    return made if rows else made[0]


def _of_rows(path: Path, shown: _Shown, source: Source, columns: _Columns) -> Drawn:
    found = columns.equal(shown, source) or columns.scaled(shown, source)
    least = min((one.doubt for one in found), default=0)
    drawn = [made for one in found if one.doubt == least for made in one.drawn(source)]
    if len(drawn) != 1:
        name = ".".join(path)
        several = (
            f"several columns agree with its '{name}'" if drawn else f"its '{name}' is not from the same rows"
        )
        raise _Untraced(several)
    return drawn[0]


def _arrays(trace: Mapping[str, Any], n: int, path: Path = ()) -> Iterator[tuple[Path, Values]]:
    """The arrays beside x and y with a value for every point."""
    for key, value in trace.items():
        place = (*path, key)
        if key in _SKIPPED or place in (("x",), ("y",)):
            continue
        if isinstance(value, Mapping):
            yield from _arrays(value, n, place)
        elif _length(value) == n:
            yield place, value


def _rows_of(values: Values) -> list[Values]:
    """The columns of an array of arrays; empty for a plain one."""
    if isinstance(values, np.ndarray):
        return [values[:, place] for place in range(values.shape[1])] if values.ndim == 2 else []
    if not all(isinstance(row, list) for row in values) or len({len(row) for row in values}) != 1:
        return []
    return [list(column) for column in zip(*values, strict=True)]


def _length(values: Values) -> int:
    return len(values) if isinstance(values, list | np.ndarray) else 0


def _is_rows(trace: Mapping[str, Any], columns: _Columns) -> bool:
    """Whether a trace draws columns of rows, or says that it is made of a step of rows: these are all there."""
    meta = trace.get("meta")
    if isinstance(meta, Mapping) and "id" not in meta and meta.get("step") in columns.row_steps:
        return True
    return all(_length(trace.get(axis)) and columns.is_of_rows(_Shown(trace[axis])) for axis in "xy")


# The columns of a dataset


class _Held:
    """Columns of equal values, and their names by source.

    The values are there in the forms in which a figure may show them, each made when it is first needed.
    """

    def __init__(self, column: Column) -> None:
        self.column = column
        self.kind = "number" if column.kind in _NUMBERS else column.kind
        self.names: dict[Source, list[str]] = {}
        self._list: list[Any] | None = None

    @cached_property
    def floats(self) -> Floats:
        """Numbers, or microseconds of date-times; NaN where there is none."""
        return self.column.floats(copy=False) if self.kind == "number" else as_floats(self.column)

    def equals(self, shown: _Shown) -> bool:
        """Whether an array shows just these values; NaN and null are one, and so are whole numbers and others."""
        if self.kind in ("number", "datetime"):
            numbers = shown.numbers if self.kind == "number" else shown.micros
            return numbers is not None and _equal(numbers, self.floats)
        if self.kind not in ("text", "boolean") or not isinstance(shown.values, list):
            return False
        if self._list is None:
            self._list = self.column.tolist()
        # 1 equals True in Python.
        return self._list == shown.values and (self.kind == "text" or shown.is_boolean)


class _Match(NamedTuple):
    """Columns of equal values that an array may show, and how. ``doubt`` says how far-fetched that is."""

    held: _Held
    sources: Set[Source]
    scale: Scale
    is_time: bool
    doubt: int

    def drawn(self, source: Source) -> list[Drawn]:
        return [Drawn(name, self.scale, self.is_time) for name in self.held.names[source]]


class _BySize:
    """Columns by their number of rows, found by a few of their values."""

    def __init__(self) -> None:
        self._marked: dict[int, dict[Mark, list[_Held]]] = {}
        self._others: dict[int, list[_Held]] = {}

    def add(self, source: Source, table: Table) -> None:
        for name, column in table.items():
            new = _Held(column)
            alike = self._others.setdefault(table.n, [])
            if new.kind in ("number", "datetime") and table.n:
                alike = self._marked.setdefault(table.n, {}).setdefault(_mark(new.floats), [])
            same = (one for one in alike if one.kind == new.kind == "number" and _equal(one.floats, new.floats))
            held = next(same, None)
            if held is None:
                alike.append(held := new)
            held.names.setdefault(source, []).append(name)

    def counted(self, n: int) -> list[_Held]:
        """Those of numbers or times, of n rows."""
        return [one for alike in self._marked.get(n, {}).values() for one in alike]

    def equal(self, shown: _Shown) -> list[_Held]:
        numbers = shown.micros if shown.numbers is None else shown.numbers
        alike = [] if numbers is None or not shown.n else self._marked.get(shown.n, {}).get(_mark(numbers), [])
        return [one for one in [*alike, *self._others.get(shown.n, ())] if one.equals(shown)]


def _mark(values: Floats) -> Mark:
    """A few of the values; None for NaN, which does not equal itself."""
    few = (float(values[place]) for place in (0, len(values) // 3, len(values) // 2, -1))
    return tuple(None if value != value else value for value in few)


def _equal(a: Floats, b: Floats) -> bool:
    return np.array_equal(a, b) or (
        bool(a[0] != a[0] or np.isnan(a).any()) and np.array_equal(a, b, equal_nan=True)
    )


class _Columns:
    """The columns of the series steps of a dataset, and those of its other steps."""

    def __init__(self, dataset: Dataset) -> None:
        self.sources: dict[Source, Samples] = {}
        self.row_steps: list[str] = []
        self._held = _BySize()
        self._of_rows = _BySize()
        self._matrices: dict[int, tuple[list[_Held], Floats]] = {}
        for step, result in dataset.steps.items():
            if isinstance(result, Table):
                self.row_steps.append(step)
                self._of_rows.add((step, ""), result)
                continue
            for key, samples in result.items():
                self.sources[step, key] = samples
                self._held.add((step, key), samples.table)

    def equal(self, shown: _Shown, source: Source | None = None) -> list[_Match]:
        """The columns that an array shows as they are, of one source or of all."""
        found = ((one, _of(one, source)) for one in self._held.equal(shown))
        return [_Match(one, of, SAME, one.kind == "datetime", 0) for one, of in found if of]

    def is_of_rows(self, shown: _Shown) -> bool:
        return bool(self._of_rows.equal(shown))

    def scaled(self, shown: _Shown, source: Source | None = None) -> list[_Match]:
        """The columns that an array shows times a number plus a number, of one source or of all."""
        is_time = shown.numbers is None
        drawn = shown.micros if is_time else shown.numbers
        if drawn is None:
            return []
        held, matrix = self._matrix(shown.n)
        made = []
        for row in candidates(drawn, matrix):
            of = _of(held[row], source)
            scale = fit(drawn, matrix[row], shown.precision, _MICROSECOND if is_time else 0.0) if of else None
            if scale is not None:
                # Numbers drawn from a column of numbers are likelier than numbers drawn from one of times.
                made.append(
                    _Match(
                        held[row], of, scale, is_time, scale.doubt + (is_time != (held[row].kind == "datetime"))
                    )
                )
        return made

    def _matrix(self, n: int) -> tuple[list[_Held], Floats]:
        """All different numbers and times of columns of n rows: (columns, n)."""
        if n not in self._matrices:
            held = self._held.counted(n)
            self._matrices[n] = held, np.array([one.floats for one in held]).reshape(len(held), n)
        return self._matrices[n]


def _of(held: _Held, source: Source | None) -> Set[Source]:
    if source is None:
        return held.names.keys()
    return {source} if source in held.names else set()


# The arrays of a figure


class _Shown:
    """An array of a figure as numbers, and as times where it may show these."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.n = _length(values)
        self.precision = float(np.finfo(np.float64).eps)
        self.is_boolean = isinstance(values, list) and all(v is None or isinstance(v, bool) for v in values)
        self.numbers = self._as_numbers(values)
        self._micros: Floats | None = None
        self._texts = isinstance(values, list) and all(v is None or isinstance(v, str) for v in values)

    def _as_numbers(self, values: Values) -> Floats | None:
        if isinstance(values, np.ndarray):
            if values.ndim != 1 or values.dtype.kind not in "fiu":
                return None
            if values.dtype.kind == "f" and values.dtype.itemsize < 8:
                self.precision = float(np.finfo(values.dtype).eps)
            return values.astype(np.float64)
        if self.is_boolean and any(value is not None for value in values):
            return None
        if not all(v is None or (isinstance(v, int | float) and not isinstance(v, bool)) for v in values):
            return None
        return np.array([np.nan if value is None else value for value in values], np.float64)

    @property
    def micros(self) -> Floats | None:
        """Microseconds since 1970, if all values are times as text."""
        if self._micros is None and self._texts:
            found = as_micros(self.values)
            if found is not None:
                nat = found == np.iinfo(np.int64).min
                self._micros = np.where(nat, np.nan, found.astype(np.float64))
        return self._micros

    @property
    def is_constant(self) -> bool:
        numbers = self.micros if self.numbers is None else self.numbers
        return numbers is not None and bool((numbers == numbers[0]).all())


def as_floats(column: Column) -> Floats:
    """Numbers, or microseconds of date-times; NaN where there is none, and for other kinds."""
    if column.kind == "datetime":
        return np.where(column.null_mask(), np.nan, column.values.astype(np.float64))
    if column.kind in (*_NUMBERS, "boolean", "null"):
        return column.floats()
    return np.full(len(column), np.nan)


def as_micros(values: Sequence[str | None]) -> NDArray[np.int64] | None:
    """Microseconds since 1970 of texts that are all times, or null; None where one is not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            times = np.array(
                [np.datetime64("NaT", "us") if v is None else v.removesuffix("Z") for v in values], "M8[us]"
            )
    except (ValueError, OverflowError, UserWarning, DeprecationWarning):
        return None
    return times.view(np.int64)
