"""Chooses samples that represent many: the extremes that matter most in a picture; the same on every run.

Candidates are the first, last, least and greatest samples of small buckets. First, last and the extremes of
every column are always in, and a quarter of the bound is spread evenly. The rest is given, in a few rounds, to
what a picture would miss most: the picture has half as many pixel columns as samples are wanted; of each pixel
column the least and the greatest candidate are compared with what the line through the chosen samples covers
there or one pixel beside, in units of the range of their column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...table import Array, Column
from . import compiled
from .pyramid import extreme_rows, rankable

ROUNDS = 2
Places = NDArray[np.int64]


def least_buckets(most: int, columns: int) -> float:
    """How many buckets to look at for ``most`` samples: half as many for one column, fewer for more, whose
    extremes add up. Two samples of each are at least half of ``most``."""
    return most / (2 if columns < 2 else 3.5)


def bucket_size(n: int, most: int, columns: int) -> int:
    """Samples in a bucket where ``n`` samples are reduced to ``most``."""
    return max(2, int(n / least_buckets(max(most, 1), max(columns, 1))))


def candidates(columns: Sequence[Column], n: int, size: int) -> Places:
    """Places among n samples: of each run of ``size`` the first, the last and every column's extremes; sorted."""
    kept = np.zeros(n, bool)
    if compiled.candidates(columns, size, kept):
        return np.flatnonzero(kept)
    full = n // size * size
    kept[:full:size] = kept[size - 1 : full : size] = True
    for column in columns:
        kept[extreme_rows(column.slice(0, full), size)] = True
    if full < n:
        kept[[full, n - 1]] = True
        for column in columns:
            kept[extreme_rows(column.slice(full, n), n - full) + full] = True
    return np.flatnonzero(kept)


@dataclass(frozen=True)
class _Picture:
    """The pixel columns of a picture: ``pixel`` (n,) of each candidate, ``edges`` (columns + 1,) along ``x`` (n,)."""

    x: NDArray[np.float64]
    pixel: Places
    edges: NDArray[np.float64]

    @classmethod
    def of(cls, x: NDArray[np.float64], columns: int) -> _Picture:
        width = float(x[-1] - x[0])
        share = columns / width if width > 0 else 0.0
        pixel = ((x - x[0]) * (share if share < np.inf else 0.0)).astype(np.int64)
        np.minimum(pixel, columns - 1, out=pixel)
        return cls(x, pixel, np.linspace(x[0], x[-1], columns + 1))


def _runs(pixel: Places) -> Places:
    """Where each pixel column begins among the candidates."""
    fresh = np.empty(len(pixel), bool)
    fresh[0] = True
    np.not_equal(pixel[1:], pixel[:-1], out=fresh[1:])
    return np.flatnonzero(fresh)


class _Curve:
    """A column as it is ranked: the candidates that are known, and of each pixel column its least and greatest."""

    def __init__(self, values: NDArray[np.float64], picture: _Picture, starts: Places) -> None:
        self.values = values
        self.picture = picture
        known = np.isfinite(values)
        self.known: Places | None = None if known.all() else np.flatnonzero(known)
        mine, pixel = values, picture.pixel
        if self.known is not None:
            mine, pixel = values[self.known], pixel[self.known]
            starts = _runs(pixel)
        self.pixel = pixel[starts]
        self.low, self.high = np.minimum.reduceat(mine, starts), np.maximum.reduceat(mine, starts)
        counts = np.empty_like(starts)
        np.subtract(starts[1:], starts[:-1], out=counts[:-1])
        counts[-1] = len(mine) - starts[-1]
        run = np.repeat(np.arange(len(starts)), counts)
        at = np.empty(2 * len(starts), np.int64)
        for side, best in enumerate((self.high, self.low)):
            hits = np.flatnonzero(mine == best[run])[::-1]
            # Of several hits in a run the first is kept: it is written last.
            at[run[hits] + side * len(starts)] = hits
        self.places = at if self.known is None else self.known[at]
        self.scale = 1 / max(float(self.high.max()) - float(self.low.min()), 1e-300)

    def missed(self, kept: NDArray[np.bool_], nodes: Places) -> NDArray[np.float64]:
        """How far each of ``places`` is outside of what the chosen samples cover; only the largest of neighbours."""
        if self.known is not None:
            nodes = self.known[kept[self.known]]
            if not len(nodes):
                return np.ones(2 * len(self.pixel))
        low, high = _covered(self.picture, nodes, self.values[nodes])
        above = _peaks((self.high - high[self.pixel]) * self.scale)
        return np.concatenate([above, _peaks((low[self.pixel] - self.low) * self.scale)])


def choose(x: Array | None, columns: Sequence[Column], most: int) -> Places:
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
    # Halves, so that the widest range of doubles is one too.
    along = (np.arange(n) if x is None else x) / np.float64(2)
    if compiled.choose(along, columns, most, kept):
        return np.flatnonzero(kept)
    kept[[0, n - 1]] = True
    left = most - 2
    for place in _extremes(columns):
        if left and not kept[place]:
            kept[place] = True
            left -= 1
    _spread(kept, min(most // 4, left))
    picture = _Picture.of(along, max(most // 2, 1))
    starts = _runs(picture.pixel)
    curves = [_Curve(values, picture, starts) for values in map(_numbers, columns) if values is not None]
    places = np.concatenate([curve.places for curve in curves]) if curves else np.zeros(0, np.int64)
    for turn in range(ROUNDS if curves else 0):
        nodes = np.flatnonzero(kept)
        left = most - len(nodes)
        scores = np.concatenate([curve.missed(kept, nodes) for curve in curves])
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
    picture: _Picture, nodes: Places, y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the line through samples covers in each pixel column and the ones beside it: least and greatest."""
    crossing = np.interp(picture.edges, picture.x[nodes], y)
    low = np.minimum(crossing[:-1], crossing[1:])
    high = np.maximum(crossing[:-1], crossing[1:])
    pixel = picture.pixel[nodes]
    starts = _runs(pixel)
    own = pixel[starts]
    low[own] = np.minimum(low[own], np.minimum.reduceat(y, starts))
    high[own] = np.maximum(high[own], np.maximum.reduceat(y, starts))
    return _widened(low, np.minimum), _widened(high, np.maximum)


def _widened(values: NDArray[np.float64], pick: np.ufunc) -> NDArray[np.float64]:
    wide = values.copy()
    pick(wide[1:], values[:-1], out=wide[1:])
    pick(wide[:-1], values[1:], out=wide[:-1])
    return wide


def _peaks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores that no neighbour exceeds, and 0 for the others, because an added sample covers its neighbours too."""
    peak = np.ones(len(scores), bool)
    peak[:-1] = scores[:-1] >= scores[1:]
    peak[1:] &= scores[1:] > scores[:-1]
    return np.where(peak, scores, 0.0)
