"""Which samples stand for many: the ranked extremes of a window, the same on every run.

Candidates are the first, last, least and greatest samples of small buckets. A third of the bound is spread
evenly; first, last and the extremes of every column are always in; the rest are those candidates that stick
out furthest from the line through the samples chosen so far, in two rounds, by the range of their column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..table import Column
from .pyramid import extreme_rows, rankable

ROUNDS = 2
Places = NDArray[np.int64]


def bucket_size(n: int, most: int) -> int:
    """Samples in a bucket where ``n`` samples are reduced to ``most``: two samples of each make at least ``most``."""
    return max(2, 2 * n // max(most, 1))


def candidates(columns: Sequence[Column], n: int, size: int) -> Places:
    """Places among n samples: of each run of ``size`` the first, the last and every column's extremes; sorted."""
    full = n // size * size
    parts = []
    if full:
        starts = np.arange(0, full, size)
        parts += [starts, starts + size - 1]
        parts += [extreme_rows(column.slice(0, full), size).ravel() for column in columns]
    if full < n:
        parts.append(np.array([full, n - 1]))
        parts += [extreme_rows(column.slice(full, n), n - full).ravel() + full for column in columns]
    return distinct(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def distinct(rows: Places) -> Places:
    """Sorted, each once."""
    rows = np.sort(rows)
    return rows[np.concatenate([[True], rows[1:] != rows[:-1]])] if len(rows) else rows


@dataclass
class _Curve:
    """A column as it is ranked: its values, NaN where there is no finite one, over the range that they span."""

    values: NDArray[np.float64]
    known: NDArray[np.bool_] | None
    scale: float


def choose(x: NDArray[Any] | None, columns: Sequence[Column], most: int) -> Places:
    """Places of at most ``most`` of the candidates, sorted.

    Parameters
    ----------
    x : (n,) never falling and finite, along which the line is drawn; None for the order of the samples.
    columns : the requested columns at the n candidates.
    """
    n = len(columns[0]) if columns else len(x) if x is not None else 0
    if n <= most:
        return np.arange(n)
    if most < 2:
        return np.zeros(most, np.int64)
    kept = np.zeros(n, bool)
    kept[[0, n - 1]] = True
    left = most - 2
    for place in _extremes(columns):
        if left and not kept[place]:
            kept[place] = True
            left -= 1
    curves = [curve for curve in map(_curve, columns) if curve is not None]
    base = most // 2 if len(curves) < 2 else most // 3
    if not curves:
        base = most
    _spread(kept, n, min(base, left))
    along = np.arange(n, dtype=np.float64) if x is None else x.astype(np.float64)
    for turn in range(ROUNDS):
        left = most - int(np.count_nonzero(kept))
        share = left if turn == ROUNDS - 1 else (left + 1) // 2
        if share:
            _add_furthest(kept, along, curves, share)
    return np.flatnonzero(kept)


def _extremes(columns: Sequence[Column]) -> list[int]:
    places = []
    for column in columns:
        ranked = rankable(column)
        if ranked is not None:
            places += [int(np.argmin(ranked[0])), int(np.argmax(ranked[1]))]
    return places


def _curve(column: Column) -> _Curve | None:
    if column.kind in ("text", "null", "mixed"):
        return None
    kind = "integer" if column.kind == "datetime" else column.kind
    values = Column(kind, column.values, column.valid).floats()
    finite = np.isfinite(values)
    known = None if finite.all() else finite
    if known is not None:
        if not known.any():
            return None
        values = np.where(known, values, np.nan)
    seen = values if known is None else values[known]
    with np.errstate(over="ignore"):
        span = float(seen.max()) / 2 - float(seen.min()) / 2
    return _Curve(values, known, 1 / (2 * span)) if span > 1e-300 else None


def _spread(kept: NDArray[np.bool_], n: int, count: int) -> None:
    """Add ``count`` places (or fewer, where they fall on kept ones) evenly over the candidates."""
    if count > 0:
        kept[np.arange(1, count + 1) * n // (count + 1)] = True


def _add_furthest(kept: NDArray[np.bool_], x: NDArray[np.float64], curves: Sequence[_Curve], count: int) -> None:
    """Add exactly ``count`` places; of equal ones the earlier."""
    score = _distance(kept, x, curves)
    score[kept] = -1.0
    bound = np.partition(score, len(score) - count)[len(score) - count]
    above = score > bound
    kept |= above
    ties = np.flatnonzero(score == bound)[: count - int(np.count_nonzero(above))]
    kept[ties] = True


def _distance(kept: NDArray[np.bool_], x: NDArray[np.float64], curves: Sequence[_Curve]) -> NDArray[np.float64]:
    """How far each place lies from the line through the kept ones: the most over the columns."""
    nodes = np.flatnonzero(kept)
    counts = np.diff(nodes, append=len(x))
    at = x[nodes]
    width = np.diff(at, append=at[-1])
    inverse = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
    share = (x - np.repeat(at, counts)) * np.repeat(inverse, counts)
    score = np.zeros(len(x))
    for curve in curves:
        y = curve.values[nodes] * curve.scale
        rise = np.diff(y, append=y[-1])
        away = np.abs(curve.values * curve.scale - np.repeat(y, counts) - share * np.repeat(rise, counts))
        if curve.known is not None:
            # Next to a gap there is no line: such a sample counts as half the range away, a missing one as none.
            away = np.where(curve.known, np.where(np.isnan(away), 0.5, away), 0.0)
        np.maximum(score, away, out=score)
    return score
