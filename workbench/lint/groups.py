"""Rules about groups: a band, bar or box that shows the spread of a single value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from ..figure_traces import SCATTER
from ..typed_arrays import Decoded
from .figure_reader import Drawn, Floats, Trace, length, numbers
from .observation import Observation

_TAIL = 3
_TIMES, _NOTABLE = 5.0, 0.05
"""A jump: so many times the usual step, and so much of the range."""


def group_of_one(drawn: Drawn) -> Iterator[Observation]:
    before: Trace | None = None
    for trace in drawn.flat:
        if trace.kind in SCATTER:
            yield from _band(trace, before)
            before = trace
        if trace.kind in (*SCATTER, "bar"):
            yield from _bars(trace)
        elif trace.kind in ("box", "violin"):
            yield from _boxes(trace)


def _band(trace: Trace, before: Trace | None) -> Iterator[Observation]:
    """A filled band whose two edges are the same, everywhere or from some x to the end."""
    found = _edges(trace, before)
    if found is None:
        return
    x, width = found
    thin = width == 0
    end = len(thin) - int(np.argmin(thin[::-1])) if not thin.all() else 0
    # Relative values start at the same value for every cell. At the end equal edges mean that there is one cell.
    if thin.all() or len(thin) - end >= _TAIL:
        where = "anywhere" if thin.all() else f"from {x[end]:g} on"
        name = trace.name or trace.raw.get("legendgroup") or ""
        who = f"The band of '{name}' (data[{trace.n}])" if name else f"The band data[{trace.n}]"
        yield Observation(f"{who} has no width {where}: a single cell is behind it.", trace.n)


def _edges(trace: Trace, before: Trace | None) -> tuple[Floats, Floats] | None:
    """The x and the width of a filled band. None if the trace is not one."""
    fill, x, y = trace.raw.get("fill"), trace.x, trace.y
    if x is None or y is None or len(x) != len(y):
        return None
    half = len(x) // 2
    if fill == "toself" and len(x) == 2 * half >= 2 and np.array_equal(x[:half], x[half:][::-1]):
        return x[:half], y[:half] - y[half:][::-1]
    if fill == "tonexty" and before is not None and before.y is not None and len(before.y) == len(y):
        return x, y - before.y
    return None


def mean_jumps(drawn: Drawn) -> Iterator[Observation]:
    """A line of `battery.band` whose mean jumps where its number of cells changes."""
    for trace in drawn.scatters:
        number, y, x = _cells_of_mean(trace), trace.y, trace.x
        if number is None or y is None or x is None or not len(number) == len(y) == len(x) > _TAIL:
            continue
        steps = np.abs(np.diff(y))
        changes = np.flatnonzero(np.diff(number))
        usual = float(np.median(steps)) if len(steps) else 0.0
        far = [at for at in changes if steps[at] > max(_TIMES * usual, _NOTABLE * float(np.ptp(y)))]
        if far:
            at = far[0]
            before, after = int(number[at]), int(number[at + 1])
            yield Observation(
                f"The mean of {trace.label} jumps at x = {x[at + 1]:g}: its cells change from {before} to {after}.",
                trace.n,
            )


def _cells_of_mean(trace: Trace) -> Floats | None:
    """How many cells each mean is of: the second column that `battery.band` keeps beside it."""
    held = trace.raw.get("customdata")
    if "n = %{customdata[1]" not in str(trace.raw.get("hovertemplate")) or not length(held):
        return None
    table = np.asarray(held, float)
    return table[:, 1] if table.ndim == 2 and table.shape[1] == 2 else None


def _bars(trace: Trace) -> Iterator[Observation]:
    for name in ("error_y", "error_x"):
        bar = trace.raw.get(name)
        if not isinstance(bar, Mapping) or bar.get("visible") is False:
            continue
        sizes = numbers(bar.get("array")) if length(bar.get("array")) else None
        if sizes is not None and not np.nan_to_num(sizes).any() and not _any(bar.get("arrayminus")):
            yield Observation(
                f"The error bars of {trace.label} are all zero: single values are behind them.", trace.n
            )


def _any(values: Decoded) -> bool:
    found = numbers(values) if length(values) else None
    return found is not None and bool(np.nan_to_num(found).any())


def _boxes(trace: Trace) -> Iterator[Observation]:
    if trace.raw.get("q1") is not None:
        return
    across = "x" if trace.raw.get("orientation") == "h" else "y"
    values = trace.raw.get(across)
    along = trace.raw.get("y" if across == "x" else "x")
    groups = [str(trace.n)] * length(values)
    if isinstance(along, list | np.ndarray) and len(along) == len(groups):
        groups = list(map(str, along))
    sizes = Counter(groups)
    ones = [group for group, size in sizes.items() if size == 1]
    if ones:
        told = f" at {', '.join(ones[:4])}" if length(along) else ""
        word = "box" if trace.kind == "box" else "violin"
        yield Observation(f"The {word} of {trace.label}{told} holds a single value.", trace.n)
