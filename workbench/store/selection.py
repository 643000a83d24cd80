"""Which samples stand for many: ranked extremes, the same on every run.

Candidates are the first, last, least and greatest samples of small buckets. First, last and the extremes of
every column are always in, and a quarter of the bound is spread evenly. The rest is given, in a few rounds, to
what a picture would miss most: the picture has half as many pixel columns as samples are wanted; of each pixel
column the least and the greatest candidate are compared with what the line through the chosen samples covers
there or one pixel beside, in units of the range of their column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..table import Column
from .pyramid import extreme_rows, rankable

ROUNDS = 3
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


class _Curve:
    """A column as it is ranked: the candidates that are known, and of each pixel column its least and greatest."""

    def __init__(self, values: NDArray[np.float64], pixels: Places, count: int) -> None:
        known = np.isfinite(values)
        self.places = np.arange(len(values)) if known.all() else np.flatnonzero(known)
        self.values = values
        within = pixels[self.places]
        starts = np.flatnonzero(np.concatenate([[True], within[1:] != within[:-1]]))
        self.pixels = within[starts]
        mine = values[self.places]
        counts = np.diff(starts, append=len(mine))
        self.low, self.high = np.minimum.reduceat(mine, starts), np.maximum.reduceat(mine, starts)
        self.low_at = self._where(mine, self.low, starts, counts)
        self.high_at = self._where(mine, self.high, starts, counts)
        self.scale = 1 / max(float(mine.max()) - float(mine.min()), 1e-300)

    def _where(
        self, mine: NDArray[np.float64], extremes: NDArray[np.float64], starts: Places, counts: Places
    ) -> Places:
        hits = np.flatnonzero(mine == np.repeat(extremes, counts))
        return self.places[hits[np.searchsorted(hits, starts)]]

    def missed(
        self, kept: NDArray[np.bool_], x: NDArray[np.float64], pixels: Places, edges: NDArray[np.float64]
    ) -> tuple[Places, NDArray[np.float64]]:
        """Candidates and how far each sticks out of what the chosen samples cover; only the worst of neighbours."""
        nodes = self.places[kept[self.places]]
        low, high = _covered(x[nodes], self.values[nodes], pixels[nodes], edges)
        above = (self.high - high[self.pixels]) * self.scale
        below = (low[self.pixels] - self.low) * self.scale
        return (
            np.concatenate([self.high_at, self.low_at]),
            np.concatenate([_peaks(above), _peaks(below)]),
        )


def choose(x: NDArray[Any] | None, columns: Sequence[Column], most: int) -> Places:
    """Places of at most ``most`` of the candidates, sorted: exactly ``most`` if there are that many.

    Parameters
    ----------
    x : (n,) never falling and finite, along which the picture is drawn; None for the order of the samples.
    columns : the requested columns at the n candidates.
    """
    n = len(columns[0])
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
    _spread(kept, min(most // 4, left))
    along = np.arange(n, dtype=np.float64) if x is None else x.astype(np.float64)
    count = max(most // 2, 1)
    edges = np.linspace(along[0], along[-1], count + 1)
    pixels = np.minimum(
        ((along - along[0]) * (count / max(along[-1] - along[0], 1e-300))).astype(np.int64), count - 1
    )
    curves = [_Curve(values, pixels, count) for values in map(_numbers, columns) if values is not None]
    for turn in range(ROUNDS if curves else 0):
        left = most - int(np.count_nonzero(kept))
        found = [curve.missed(kept, along, pixels, edges) for curve in curves]
        places, scores = (np.concatenate(part) for part in zip(*found, strict=True))
        _add(kept, places, scores, left if turn == ROUNDS - 1 else (left + 1) // 2)
    _spread(kept, most - int(np.count_nonzero(kept)))
    return np.flatnonzero(kept)


def _extremes(columns: Sequence[Column]) -> list[int]:
    places = []
    for column in columns:
        ranked = rankable(column)
        if ranked is not None:
            places += [int(np.argmin(ranked[0])), int(np.argmax(ranked[1]))]
    return places


def _numbers(column: Column) -> NDArray[np.float64] | None:
    """The values as numbers, NaN where there is none; None where no two differ."""
    if column.kind in ("text", "null", "mixed"):
        return None
    kind = "integer" if column.kind == "datetime" else column.kind
    values = Column(kind, column.values, column.valid).floats()
    ranked = rankable(Column("number", values))
    if ranked is None or not ranked[0].min() < ranked[1].max():
        return None
    # Halves, so that the widest range of doubles is one too.
    return values / 2


def _spread(kept: NDArray[np.bool_], count: int) -> None:
    """Add exactly ``count`` places, evenly over those that are left."""
    if count > 0:
        free = np.flatnonzero(~kept)
        kept[free[(np.arange(count) * 2 + 1) * len(free) // (2 * count)]] = True


def _add(kept: NDArray[np.bool_], places: Places, scores: NDArray[np.float64], count: int) -> None:
    """Add the ``count`` places of the greatest positive scores; of equal ones the first."""
    wanted = np.flatnonzero((scores > 1e-9) & ~kept[places])
    if len(wanted) > count:
        ranked = np.argsort(-scores[wanted], kind="stable")
        wanted = wanted[ranked[:count]]
    kept[places[wanted]] = True


def _covered(
    x: NDArray[np.float64], y: NDArray[np.float64], pixels: Places, edges: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the line through the samples covers in each pixel column and the ones beside it: least and greatest."""
    crossing = np.interp(edges, x, y)
    low = np.minimum(crossing[:-1], crossing[1:])
    high = np.maximum(crossing[:-1], crossing[1:])
    starts = np.flatnonzero(np.concatenate([[True], pixels[1:] != pixels[:-1]]))
    own = pixels[starts]
    low[own] = np.minimum(low[own], np.minimum.reduceat(y, starts))
    high[own] = np.maximum(high[own], np.maximum.reduceat(y, starts))
    return _widened(low, np.minimum), _widened(high, np.maximum)


def _widened(values: NDArray[np.float64], pick: np.ufunc) -> NDArray[np.float64]:
    wide = values.copy()
    pick(wide[1:], values[:-1], out=wide[1:])
    pick(wide[:-1], values[1:], out=wide[:-1])
    return wide


def _peaks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores that no neighbour exceeds, the others as 0: a sample that is added serves its neighbours too."""
    ahead = np.concatenate([scores[1:], [0.0]])
    behind = np.concatenate([[0.0], scores[:-1]])
    return np.where((scores >= ahead) & (scores > behind), scores, 0.0)
