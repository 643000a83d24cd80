"""Encodes runs of equal length of a column together; each payload is the same as that of the run alone.

A short numpy call costs as much as its work on one chunk, and holds the interpreter's lock as often; here one
call serves the rows of a matrix, a run each. Runs with nulls, NaN, -0.0 or more digits than a
sample showed are left to ``codec``; this module makes the same choices as ``codec``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...table import Array, Column
from . import codec
from .codec import DECIMALS, DELTAS, DIGITS, NARROWED, POWERS, SHUFFLED, STEPPED

Rows = NDArray[np.intp]
# Values at once: fewer need more calls, and more need more memory without a gain.
TOGETHER = 1 << 18
# The differences of whole numbers below this fit 32 bits: half the memory to move.
_SHORT = 1 << 30


def encode_runs(column: Column, size: int) -> list[bytes]:
    """The payloads of a column's runs of ``size`` values; its length is a multiple of it."""
    step = max(TOGETHER // size, 1) * size
    starts = range(0, len(column), step)
    return [payload for start in starts for payload in _encoded(column.slice(start, start + step), size)]


def _encoded(column: Column, size: int) -> list[bytes]:
    count = len(column) // size
    found: dict[int, bytes] = {}
    plain = column.valid is None or bool(column.valid.all())
    if count > 1 and size > 1 and plain and column.kind != "text":
        values = np.ascontiguousarray(column.values, column.values.dtype.newbyteorder("<"))
        block = values.reshape(count, size)
        varied = _varied(block)
        (_float_runs if values.dtype.kind == "f" else _whole_runs)(block, varied, found)
    return [
        found[row] if row in found else codec.encode_column(column.slice(row * size, (row + 1) * size))
        for row in range(count)
    ]


def _varied(block: Array) -> Rows:
    """The runs that are not one value over and over."""
    raw = _bits(block)
    varied = raw[:, 0] != raw[:, -1]
    alike = np.flatnonzero(~varied)
    varied[alike] = (raw[alike] != raw[alike, :1]).any(axis=1)
    return np.flatnonzero(varied)


def _bits(block: Array) -> Array:
    return block.view(f"<i{block.itemsize}") if block.dtype.kind == "f" else block


def _of(block: Array, rows: Rows) -> Array:
    return block if len(rows) == len(block) else block[rows]


def _whole_runs(block: Array, rows: Rows, found: dict[int, bytes]) -> None:
    if not len(rows):
        return
    part = _of(block, rows)
    whole = (part.view(np.uint8) if part.dtype.kind == "b" else part).astype(np.int64)
    for row, body in zip(rows.tolist(), _delta_bodies(whole, whole.min(axis=1), whole.max(axis=1)), strict=True):
        found[row] = codec.payload_of(DELTAS, block[row], 0, 0, b"", body)


def _delta_bodies(whole: Array, least: Array, most: Array) -> list[bytes]:
    """As in ``codec``; ``least`` and ``most`` bound the values of each run."""
    steps = whole[:, 1:] - whole[:, :-1]
    bounds = [edge.tolist() for edge in (steps.min(axis=1), steps.max(axis=1), least, most)]
    firsts = whole[:, 0].tolist()
    parts = [codec.deltas_parts(first, *each) for first, *each in zip(firsts, steps, *bounds, strict=True)]
    return [head + codec.pack(narrow.data) for head, narrow in parts]


def _float_runs(block: Array, rows: Rows, found: dict[int, bytes]) -> None:
    if not len(rows):
        return
    digits = _digits(_of(block, rows))
    for count in np.unique(digits).tolist():
        chosen = rows[digits == count]
        if count > DIGITS:
            _shuffled_runs(block, chosen, found)
        else:
            _decimal_runs(block, chosen, count, found)


def _digits(block: Array) -> Array:
    """The fewest digits that a sample of each run has; more than ``DIGITS`` where it is not decimal."""
    step = max(block.shape[1] // 8, 1)
    # Eight neighbours at eight places: those that come into the cache together anyway.
    sample = block[:, : block.shape[1] // step * step].reshape(len(block), -1, step)[:, :, :8]
    powers = POWERS[:, None, None, None]
    with np.errstate(over="ignore", invalid="ignore"):
        trial = np.rint(sample.astype(np.float64) * powers) / powers
        fits = (trial.astype(block.dtype) == sample).all(axis=(2, 3))
    return np.where(fits.any(axis=0), fits.argmax(axis=0), DIGITS + 1)


def _decimal_runs(block: Array, rows: Rows, digits: int, found: dict[int, bytes]) -> None:
    part = _of(block, rows)
    with np.errstate(over="ignore", invalid="ignore"):
        if digits:
            scaled = np.multiply(part, POWERS[digits], dtype=np.float64)
            np.rint(scaled, out=scaled)
        else:
            scaled = np.rint(part, dtype=np.float64)
        least, most = scaled.min(axis=1), scaled.max(axis=1)
        if (least <= 0).any():
            scaled += 0.0  # -0.0 becomes 0.0, as an integer has it
        back = scaled / POWERS[digits] if digits else scaled
        size = np.maximum(-least, most)
        right = (_bits(back.astype(block.dtype, copy=False)) == _bits(part)).all(axis=1) & (size < 2.0**53)
    if not right.any():
        return
    kept = np.flatnonzero(right)
    whole = _of(scaled, kept).astype(np.int32 if size[kept].max() < _SHORT else np.int64)
    for row, body in zip(rows[kept].tolist(), _delta_bodies(whole, least[kept], most[kept]), strict=True):
        found[row] = codec.payload_of(DELTAS, block[row], DECIMALS, digits, b"", body)


def _shuffled_runs(block: Array, rows: Rows, found: dict[int, bytes]) -> None:
    part = _of(block, rows)
    zeros = (_bits(part) == _bits(np.array(-0.0, block.dtype))).any(axis=1)
    rows = rows[~zeros & ~np.isnan(part.min(axis=1))]
    part = _of(block, rows)
    narrowed = np.zeros(len(rows), bool)
    if block.dtype == np.float64:
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = part.astype(np.float32)
            narrowed = (_bits(narrow.astype(np.float64)) == _bits(part)).all(axis=1)
        _shuffle(block, rows[narrowed], _bits(_of(narrow, np.flatnonzero(narrowed))), NARROWED, found)
    _shuffle(block, rows[~narrowed], _bits(_of(part, np.flatnonzero(~narrowed))), 0, found)


def _shuffle(block: Array, rows: Rows, pattern: Array, flags: int, found: dict[int, bytes]) -> None:
    if not len(rows):
        return
    stepped = np.empty_like(pattern)
    stepped[:, 0] = pattern[:, 0]
    np.subtract(pattern[:, 1:], pattern[:, :-1], out=stepped[:, 1:])
    stepped = codec.zigzag(stepped)
    cut = codec.trial_cut(pattern.shape[1])
    plain, steps = (_packed(shown[:, cut]) for shown in (pattern, stepped))
    wins = np.array([len(one) <= len(other) for one, other in zip(plain, steps, strict=True)])
    stepped[wins] = pattern[wins]
    for row, win, body in zip(rows.tolist(), wins.tolist(), _packed(stepped), strict=True):
        found[row] = codec.payload_of(SHUFFLED if win else STEPPED, block[row], flags, 0, b"", body)


def _packed(shown: Array) -> list[bytes]:
    """Each run with its bytes of equal weight side by side, compressed."""
    count, size = shown.shape
    planes: Array = np.empty((count, shown.itemsize, size), np.uint8)
    for place in range(shown.itemsize):
        np.right_shift(shown, 8 * place, out=planes[:, place], casting="unsafe")
    return [codec.pack(plane.data) for plane in planes]
