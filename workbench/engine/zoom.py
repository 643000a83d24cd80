"""Zoom: reads finer detail for the visible part of a figure from the series, and replaces the overview there.

The visible stretches of a trace are read again by sample number, and the script does not run again. Where it drew a
column times a number plus a number, the same is done to the new samples. Other values from the same rows (text,
customdata, colours) are read too. A trace that cannot be traced to its source stays as it is; `traces` says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dataset import Dataset, Samples
from ..recipe.plot import PlotConfig
from ..store.scope import Scope
from ..store.store import Store
from ..table import Column, Table, concat, to_micros
from .equality import iso_texts
from .reader import Cancel, Reader
from .scaled_columns import SAME, Floats
from .traces import Drawn, Trace, as_floats, as_micros, traceable

__all__ = ["Detail", "detail", "traceable", "visible_ranges"]

_LEAST_EACH = 8


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
    wanted = list(dict.fromkeys(traces))
    known = traceable(figure, dataset, wanted)
    made: dict[int, Detail] = {}
    with store.snapshot():
        reader = Reader(store, scope, cancel=cancel)
        for n in wanted:
            step = config.plan.steps.get(known[n].step) if n in known else None
            source = None if step is None else step.stored_in
            if source is None:
                continue
            reader.begin(known[n].step, 0, 1)
            reader.sources(source, [known[n].id], "series")
            finer = _refined(known[n], reader, (_bounds(x), _bounds(y)), 2 * max(width, 1))
            if finer is not None:
                made[n] = finer
    return made


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
        micros = as_micros([value])
        return float("nan") if micros is None else float(micros[0])
    return float(to_micros(value)) if hasattr(value, "tzinfo") else float(value)


def _refined(trace: Trace, reader: Reader, spans: tuple[Bounds, Bounds], most: int) -> Detail | None:
    """The overview of a source with its visible stretches read again; None where it holds them whole already."""
    samples = trace.samples
    if samples.complete or not samples.table.n:
        return None
    drawn = (trace.horizontal, trace.vertical)
    horizontal, vertical = (one.scale.apply(as_floats(samples.table[one.column])) for one in drawn)
    ranges = _ranges(samples.rows, horizontal, vertical, *spans)
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
    others = {".".join(path): _drawn(other, whole) for path, other in trace.others.items()}
    return Detail(_values(trace.horizontal, whole), _values(trace.vertical, whole), shown, sum(sizes), others)


def visible_ranges(samples: Samples, x: str, y: str, across: Bounds, up: Bounds) -> list[tuple[int, int]]:
    """Ranges of sample numbers (start, stop) whose part of the line of two columns may cross the visible window."""
    horizontal, vertical = as_floats(samples.table[x]), as_floats(samples.table[y])
    return _ranges(samples.rows, horizontal, vertical, across, up)


def _ranges(
    rows: NDArray[np.int64], horizontal: Floats, vertical: Floats, across: Bounds, up: Bounds
) -> list[tuple[int, int]]:
    """The ranges for the drawn values (n,) of samples with the numbers ``rows`` (n,).

    A stretch between two neighbouring shown samples is visible if the box around them meets the window. Where x
    never falls only x is asked, since what lies between may stick out of the box upwards, but not sideways.
    """
    if len(horizontal) < 2:
        return []
    rising = not np.isnan(horizontal).any() and bool((np.diff(horizontal) >= 0).all())
    meets = _meets(horizontal, across)
    if not rising:
        meets &= _meets(vertical, up)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], meets, [False]]).astype(np.int8)))
    return [(int(rows[a]), int(rows[b]) + 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _meets(values: NDArray[np.float64], bounds: Bounds) -> NDArray[np.bool_]:
    """Whether the span of each two neighbours meets the bounds; a stretch at a gap always may."""
    if bounds is None:
        return np.ones(len(values) - 1, bool)
    low, high = np.minimum(values[1:], values[:-1]), np.maximum(values[1:], values[:-1])
    meets: NDArray[np.bool_] = ~((low > bounds[1]) | (high < bounds[0]))
    return meets


def _drawn(other: Drawn | list[Drawn], table: Table) -> list[Any]:
    """An array beside x and y; an array of arrays has a row for each sample."""
    if not isinstance(other, list):
        return _values(other, table)
    return [list(row) for row in zip(*(_values(one, table) for one in other), strict=True)]


def _values(drawn: Drawn, table: Table) -> list[Any]:
    """The values of a column as a figure takes them: null for NaN, date-times as UTC text without a zone."""
    column = table[drawn.column]
    if drawn.scale is not SAME:
        values = drawn.scale.apply(as_floats(column))
        if not drawn.is_time:
            return [None if value != value else value for value in values.tolist()]
        missing = np.isnan(values)
        column = Column("datetime", np.where(missing, 0, values).round().astype(np.int64), ~missing)
    if column.kind == "datetime":
        texts = iso_texts(np.where(column.null_mask(), 0, column.values))
        return [text[:-1] if ok else None for text, ok in zip(texts, ~column.null_mask(), strict=True)]
    items = column.tolist()
    for place in np.flatnonzero(column.missing()).tolist():
        items[place] = None
    return items
