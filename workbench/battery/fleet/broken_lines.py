"""Lines that bend once or twice: the model of Bacon and Watts, fitted by least squares without a start to choose.

Y = a0 + a1 (x - x1) + a2 (x - x1) tanh((x - x1) / g), and a term more with x2 for the double one; g is small, so that
the bends are sharp (Fermin-Cueto et al., *Energy and AI* 1 (2020) 100006, doi 10.1016/j.egyai.2020.100006). All but the
bends is linear: each pair of bends on a grid is solved exactly, and the grid is made finer around the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..inputs import Floats

NODES = 61
_G = 1e-3
_EDGE = 0.02
_FINER, _SPAN = 4.0, 4
_LEVELS = 8
_SEEDS = 4
_LEAST_KEPT, _LEAST_FREEDOM = 0.1, 3.0


class Broken(NamedTuple):
    """A fit: its bends and the slopes of its segments, in the units of x and y; its values (n,); sum of squares."""

    bends: tuple[float, ...]
    slopes: tuple[float, ...]
    fitted: Floats
    squares: float


class BrokenLines:
    """Fits over one axis.

    Parameters
    ----------
    x : (n,) ascending.
    steps : places on x where y jumps: each adds a level of its own, so that a jump is not taken for a bend.
    """

    def __init__(self, x: Floats, steps: Sequence[float] = ()) -> None:
        self._low, self._range = float(x[0]), float(x[-1] - x[0])
        self._x = (x - self._low) / self._range
        plain = [np.ones(len(x)), self._x, *[(x >= step).astype(float) for step in steps]]
        self._plain = np.column_stack(plain)
        self._basis, _ = np.linalg.qr(self._plain)
        self._grid = np.linspace(_EDGE, 1 - _EDGE, NODES)
        self._bent = self._free(self._bends(self._grid))

    def _bends(self, places: Floats) -> Floats:
        """(n, m) the bent term of each place."""
        apart = self._x[:, None] - places[None, :]
        return np.asarray(apart * np.tanh(apart / _G))

    def _free(self, columns: Floats) -> Floats:
        """Columns without what the straight line and the steps explain."""
        return np.asarray(columns - self._basis @ (self._basis.T @ columns))

    def fit(self, y: Floats, bends: int) -> Broken:
        """The best line with one or two bends."""
        rest = self._free(y)
        best: tuple[float, Floats] = (-np.inf, np.zeros(bends))
        for seed in self._seeds(rest, bends):
            found = self._refined(rest, seed, _LEVELS)
            best = max(best, found, key=lambda one: one[0])
        return self._made(y, np.sort(best[1]))

    def bends_of(self, many: Floats, bends: int, levels: int = 2) -> Floats:
        """(r, bends) the bends of the best lines through each column of ``many`` (n, r), ascending."""
        rest = self._free(many)
        found = [self._refined(column, self._seeds(column, bends)[0], levels)[1] for column in rest.T]
        return np.sort(np.array(found), axis=1) * self._range + self._low

    def shown_by_blocks(self, bends: Sequence[float], block: int) -> float:
        """Which part of the width of the band of 90 % of the first bend a bootstrap of residuals in blocks shows.

        The fit takes a share of the noise into itself, most of it slow, so that blocks of residuals are too calm. For
        independent noise the share follows from the fit alone: a bend moves by the sum of ``w`` times the noise, ``w``
        of the pseudoinverse of the derivatives, and the covariance of residuals is 1 - H, H the projection on them (as
        for the modified residuals of A. C. Davison, D. V. Hinkley, *Bootstrap Methods and their Application*, 1997).
        And a deviation that is known from few blocks is itself uncertain: it is that of 1.5 n / block values (H. R.
        Künsch, *Annals of Statistics* 17 (1989) 1217), less the parameters, and the band is one of Student's t.
        """
        from scipy.special import stdtrit  # takes a tenth of a second

        places = (np.asarray(bends) - self._low) / self._range
        moved = np.tanh((self._x[:, None] - places[None, :]) / _G)
        derivatives = np.column_stack([self._plain, self._bends(places), moved])
        weights = np.linalg.pinv(derivatives)[-len(places)]
        basis, _ = np.linalg.qr(derivatives)
        windows = np.lib.stride_tricks.sliding_window_view(basis, block, axis=0)
        taken = np.tensordot(windows, windows, axes=([0, 1], [0, 1])) / len(windows)
        parts = [weights[start : start + block] for start in range(0, len(weights), block)]
        lost = sum(float(part @ taken[: len(part), : len(part)] @ part) for part in parts)
        kept = float(np.sqrt(max(1 - lost / float(weights @ weights), _LEAST_KEPT)))
        freedom = max(1.5 * len(self._x) / block - derivatives.shape[1], _LEAST_FREEDOM)
        return kept * float(stdtrit(np.inf, 0.95) / stdtrit(freedom, 0.95))

    def _seeds(self, rest: Floats, bends: int) -> list[Floats]:
        """The best places of the grid, best first: those that are better than their neighbours."""
        along = self._bent.T @ rest
        if bends == 1:
            gain = along**2 / (self._bent**2).sum(axis=0)
            order = np.argsort(-gain, kind="stable")[:1]
            return [self._grid[[place]] for place in order]
        gain = _gain(self._bent, along, along, self._bent)
        gain[np.tril_indices(NODES)] = -np.inf
        padded = np.pad(gain, 1, constant_values=-np.inf)
        around = [
            padded[1 + i : 1 + i + NODES, 1 + j : 1 + j + NODES] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j
        ]
        peaks = np.argwhere((gain >= np.max(around, axis=0)) & np.isfinite(gain))
        order = np.argsort([-gain[tuple(peak)] for peak in peaks], kind="stable")[:_SEEDS]
        return [self._grid[peaks[place]] for place in order]

    def _refined(self, rest: Floats, seed: Floats, levels: int) -> tuple[float, Floats]:
        """The gain and the bends that a finer and finer grid around a seed finds."""
        width = float(self._grid[1] - self._grid[0])
        best = (-np.inf, seed)
        for _ in range(levels):
            near = np.linspace(-width, width, 2 * _SPAN + 1)
            columns = [self._free(self._bends(np.clip(place + near, _G, 1 - _G))) for place in best[1]]
            if len(columns) == 1:
                gain = (columns[0].T @ rest) ** 2 / (columns[0] ** 2).sum(axis=0)
            else:
                gain = _gain(columns[0], columns[0].T @ rest, columns[1].T @ rest, columns[1])
            place = np.unravel_index(int(np.argmax(gain)), gain.shape)
            moved = np.array([np.clip(at + near[i], _G, 1 - _G) for at, i in zip(best[1], place, strict=True)])
            best = (float(gain[place]), moved)
            width /= _FINER
        return best

    def _made(self, y: Floats, bends: Floats) -> Broken:
        columns = np.column_stack([self._plain, self._bends(bends)])
        weights, *_ = np.linalg.lstsq(columns, y, rcond=None)
        fitted = columns @ weights
        bent = weights[self._plain.shape[1] :]
        signs = np.where(np.arange(len(bends) + 1)[:, None] > np.arange(len(bends))[None, :], 1.0, -1.0)
        slopes = (weights[1] + signs @ bent) / self._range
        places = bends * self._range + self._low
        return Broken(tuple(places.tolist()), tuple(slopes.tolist()), fitted, float(((y - fitted) ** 2).sum()))


def _gain(first: Floats, along_first: Floats, along_second: Floats, second: Floats) -> Floats:
    """(p, q) by how much each pair of columns lowers the sum of squares; -inf for pairs that are the same."""
    a, b = (first**2).sum(axis=0)[:, None], (second**2).sum(axis=0)[None, :]
    c = first.T @ second
    u, v = along_first[:, None], along_second[None, :]
    whole = a * b - c**2
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = (u**2 * b - 2 * u * v * c + v**2 * a) / whole
    return np.where(whole > 1e-9 * a * b, gain, -np.inf)
