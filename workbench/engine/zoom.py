"""Zoom: reads finer detail for the visible part of a figure from the series, and replaces the overview there.

A trace is traceable if its x and y are, value by value, columns of one source of a series step; a script may
name the source by ``meta={"step": ..., "id": ...}``. Its visible stretches are read again by sample number,
and the script does not run again. Other values from the same rows (text, customdata, colours) are read too. If it
is not certain which rows they come from, the trace stays as it is.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dataset import Dataset, Samples, StepResult
from ..recipe.plot import PlotConfig
from ..store.scope import Scope
from ..store.store import Store
from ..table import Column, Table, concat, to_micros
from .equality import iso_texts
from .reader import Cancel, Reader

Path = tuple[str, ...]
_SCATTER = (None, "scatter", "scattergl")
_SKIPPED = {"meta", "colorscale", "selectedpoints"}
_LEAST_EACH = 8


@dataclass(frozen=True)
class Trace:
    """Where the values of a trace come from; ``others`` are further arrays of it: path -> column."""

    step: str
    id: str
    x: str
    y: str
    others: dict[Path, str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns to read besides x, each once."""
        return [name for name in dict.fromkeys([self.y, *self.others.values()]) if name != self.x] or [self.y]


@dataclass(frozen=True)
class Detail:
    """A trace with finer detail: new arrays, and how many of how many samples of the visible part are in it."""

    x: list[Any]
    y: list[Any]
    shown: int
    of: int
    others: dict[str, list[Any]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As the detail endpoint gives it; ``others`` under dotted paths (``marker.color``)."""
        return {"x": self.x, "y": self.y, "shown": self.shown, "of": self.of, **self.others}


def traceable(figure: Mapping[str, Any], dataset: Dataset) -> dict[int, Trace]:
    """The traces of a figure (with its typed arrays decoded) that are columns of a source, by trace number."""
    index = _index(dataset.steps)
    found = ((n, _trace(trace, index)) for n, trace in enumerate(figure.get("data", ())))
    return {n: trace for n, trace in found if trace is not None}


def detail(
    figure: Mapping[str, Any],
    dataset: Dataset,
    config: PlotConfig,
    store: Store,
    scope: Scope,
    *,
    traces: Iterable[int],
    x: Sequence[Any],
    y: Sequence[Any] | None = None,
    width: int = 1000,
    cancel: Cancel | None = None,
) -> dict[int, Detail]:
    """Finer detail of some traces, at two samples a pixel.

    Parameters
    ----------
    figure : the figure, its typed arrays decoded.
    dataset : the one that it was drawn from, of the same view of the store.
    traces : numbers of traces; those without finer detail are absent from the answer.
    x, y : the visible range of each axis in its own units, or as date-times; y None: all of it.
    width : pixels of the plot.

    Raises
    ------
    Invalid
        If a source is no longer in reach.
    """
    known = traceable(figure, dataset)
    made: dict[int, Detail] = {}
    with store.snapshot():
        reader = Reader(store, scope, cancel=cancel)
        for n in dict.fromkeys(traces):
            step = config.plan.steps.get(known[n].step) if n in known else None
            source = None if step is None else step.stored_in
            if source is None:
                continue
            reader.begin(known[n].step, 0, 1)
            reader.sources(source, [known[n].id], "series")
            held = dataset.steps[known[n].step]
            if isinstance(held, Table):
                continue
            finer = _refined(known[n], held[known[n].id], reader, (_bounds(x), _bounds(y)), 2 * max(width, 1))
            if finer is not None:
                made[n] = finer
    return made


# Whose columns a trace holds


class _Place(NamedTuple):
    step: str
    id: str
    column: str


_Index = dict[bytes, list[_Place]]


def _index(steps: Mapping[str, StepResult]) -> _Index:
    found: _Index = {}
    for step, result in steps.items():
        if isinstance(result, Table):
            continue
        for key, samples in result.items():
            for name, column in samples.table.items():
                mark = _mark(column)
                if mark is not None:
                    found.setdefault(mark, []).append(_Place(step, key, name))
    return found


def _trace(trace: Mapping[str, Any], index: _Index) -> Trace | None:
    if trace.get("type") not in _SCATTER:
        return None
    xs, ys = (_places(trace.get(axis), index) for axis in "xy")
    meta = trace.get("meta")
    named = meta if isinstance(meta, Mapping) and {"step", "id"} <= set(meta) else None
    pairs = [
        (x, y)
        for x in xs
        for y in ys
        if x[:2] == y[:2] and (named is None or (named["step"], named["id"]) == x[:2])
    ]
    # Two sources, or two columns, that agree in every shown sample may differ between them.
    if len({(x.id, x.column, y.column) for x, y in pairs}) != 1:
        return None
    (x, y), *_ = pairs
    others: dict[Path, str] = {}
    for path, values in _arrays(trace, len(trace["x"])):
        columns = {place.column for place in _places(values, index) if place[:2] == x[:2]}
        if len(columns) != 1:
            return None
        others[path] = columns.pop()
    return Trace(x.step, x.id, x.column, y.column, others)


def _arrays(trace: Mapping[str, Any], n: int, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The arrays beside x and y with a value for every point."""
    for key, value in trace.items():
        place = (*path, key)
        if key in _SKIPPED or place in (("x",), ("y",)):
            continue
        if isinstance(value, Mapping):
            yield from _arrays(value, n, place)
        elif isinstance(value, list | np.ndarray) and len(value) == n:
            yield place, value


def _places(values: Any, index: _Index) -> list[_Place]:
    if not isinstance(values, list | np.ndarray) or not len(values):
        return []
    return [place for mark in _marks(values) for place in index.get(mark, ())]


def _marks(values: list[Any] | NDArray[np.generic]) -> list[bytes]:
    """The marks that an array of a figure may have; a text may be a time."""
    if isinstance(values, np.ndarray):
        return (
            [_digest("number", values.astype(np.float64))]
            if values.ndim == 1 and values.dtype.kind in "fiu"
            else []
        )
    if all(value is None or isinstance(value, bool) for value in values):
        return [_digest("boolean", np.array([-1 if v is None else int(v) for v in values], np.int8))]
    if all(value is None or isinstance(value, int | float) for value in values):
        numbers = np.array([np.nan if value is None else value for value in values], np.float64)
        return [_digest("number", numbers)]
    if not all(value is None or isinstance(value, str) for value in values):
        return []
    marks = [_text_mark(values)]
    micros = _micros(values)
    return marks if micros is None else [*marks, _digest("datetime", micros)]


def _mark(column: Column) -> bytes | None:
    """The mark of a column as a figure shows it: NaN and null are one."""
    if column.kind in ("number", "integer"):
        return _digest("number", column.floats())
    if column.kind == "datetime":
        nat = np.iinfo(np.int64).min
        return _digest("datetime", np.where(column.null_mask(), nat, column.values))
    if column.kind == "text":
        return _text_mark(column.tolist())
    if column.kind == "boolean":
        return _digest("boolean", np.where(column.null_mask(), -1, column.values).astype(np.int8))
    return None


def _text_mark(values: Sequence[str | None]) -> bytes:
    joined = "\x1f".join("\x1e" if value is None else value for value in values)
    return _digest("text", np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8))


def _micros(values: Sequence[str | None]) -> NDArray[np.int64] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            times = np.array(
                [np.datetime64("NaT") if v is None else v.removesuffix("Z") for v in values], "M8[us]"
            )
    except (ValueError, UserWarning, DeprecationWarning):
        return None
    return times.view(np.int64)


def _digest(kind: str, values: NDArray[np.generic]) -> bytes:
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.nan, values) + 0.0
    return hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=16, person=kind.encode()).digest()


# What is visible, and its detail

Bounds = tuple[float, float] | None


def _bounds(span: Sequence[Any] | None) -> Bounds:
    """A range of an axis as rising numbers; date-times as microseconds."""
    if span is None:
        return None
    low, high = (_number(value) for value in span)
    return (low, high) if low <= high else (high, low)


def _number(value: Any) -> float:
    if isinstance(value, str):
        micros = _micros([value])
        return float("nan") if micros is None else float(micros[0])
    return float(to_micros(value)) if hasattr(value, "tzinfo") else float(value)


def _refined(
    trace: Trace, samples: Samples, reader: Reader, spans: tuple[Bounds, Bounds], most: int
) -> Detail | None:
    """The overview of a source with its visible stretches read again; None where it holds them whole already."""
    if samples.complete or not samples.table.n:
        return None
    ranges = visible_ranges(samples, trace.x, trace.y, *spans)
    sizes = [stop - start for start, stop in ranges]
    if not ranges:
        return None
    names = list(dict.fromkeys([trace.x, *trace.columns]))
    overview = samples.table.select(names)
    tables: list[Table] = []
    after, shown = 0, 0
    for (start, stop), size in zip(ranges, sizes, strict=True):
        before = int(np.searchsorted(samples.rows, start))
        tables.append(overview.slice(after, before))
        budget = max(most * size // sum(sizes), _LEAST_EACH)
        finer = reader.stretch(trace.id, trace.x, trace.columns, (start, stop), budget)
        tables.append(finer.table.select(names))
        shown += finer.table.n
        after = int(np.searchsorted(samples.rows, stop))
    tables.append(overview.slice(after, overview.n))
    whole = concat(tables)
    others = {".".join(path): _values(whole[name]) for path, name in trace.others.items()}
    return Detail(_values(whole[trace.x]), _values(whole[trace.y]), shown, sum(sizes), others)


def visible_ranges(samples: Samples, x: str, y: str, across: Bounds, up: Bounds) -> list[tuple[int, int]]:
    """Ranges of sample numbers (start, stop) whose part of the line may cross the visible window.

    A stretch between two neighbouring shown samples is visible if the box around them meets the window. Where x
    never falls only x is asked, since what lies between may stick out of the box upwards, but not sideways.
    """
    horizontal, vertical = _axis(samples.table[x]), _axis(samples.table[y])
    if len(horizontal) < 2:
        return []
    rising = not np.isnan(horizontal).any() and bool((np.diff(horizontal) >= 0).all())
    meets = _meets(horizontal, across)
    if not rising:
        meets &= _meets(vertical, up)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], meets, [False]]).astype(np.int8)))
    rows = samples.rows
    return [(int(rows[a]), int(rows[b]) + 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _meets(values: NDArray[np.float64], bounds: Bounds) -> NDArray[np.bool_]:
    """Whether the span of each two neighbours meets the bounds; a stretch at a gap always may."""
    if bounds is None:
        return np.ones(len(values) - 1, bool)
    low, high = np.minimum(values[1:], values[:-1]), np.maximum(values[1:], values[:-1])
    meets: NDArray[np.bool_] = ~((low > bounds[1]) | (high < bounds[0]))
    return meets


def _axis(column: Column) -> NDArray[np.float64]:
    if column.kind == "datetime":
        return np.where(column.null_mask(), np.nan, column.values.astype(np.float64))
    if column.kind in ("number", "integer", "boolean", "null"):
        return column.floats()
    return np.full(len(column), np.nan)


def _values(column: Column) -> list[Any]:
    """As a figure takes it: null for NaN, date-times as UTC text without a zone."""
    if column.kind == "datetime":
        texts = iso_texts(np.where(column.null_mask(), 0, column.values))
        return [text[:-1] if ok else None for text, ok in zip(texts, ~column.null_mask(), strict=True)]
    items = column.tolist()
    for place in np.flatnonzero(column.missing()).tolist():
        items[place] = None
    return items
