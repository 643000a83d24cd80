"""Groups of rows and the order within them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..table import Column
from .equality import Coded, by_python, codes_of, key_of, whole_numbers

Index = NDArray[np.intp]
_ROOM = 2**62
_ORDERED = ("number", "integer", "boolean", "datetime")
"""Kinds whose stored values have the order of what they mean."""


class Groups(NamedTuple):
    """Rows arranged so that each group is one run, groups in the order in which they first appear.

    ``order`` (n,) are row positions in that arrangement, None where the rows stand so already; ``starts``
    (g,) where each group begins in it; ``sizes`` (g,) its rows; ``first`` (g,) the row in which each group
    first appears in the input.
    """

    order: Index | None
    starts: Index
    sizes: Index
    first: Index


def groups_of(columns: Sequence[Column], n: int, sort_by: Column | None = None) -> Groups:
    """The groups of equal values in all ``columns``; a missing value is one more value of its column.

    Parameters
    ----------
    columns : one to four columns of n rows.
    sort_by : orders the rows within a group (stable, missing last); None keeps the order of the input.
    """
    if not n:
        none = np.zeros(0, np.intp)
        return Groups(None, none, none, none)
    starts, runs = _runs(columns, n)
    order: Index | None = None
    first = starts
    if len(np.unique(runs)) < len(runs):
        ranks, first = _by_appearance(runs, starts, n)
        order = np.argsort(ranks, kind="stable")
        arranged = ranks[order]
        starts = np.flatnonzero(np.concatenate([[True], arranged[1:] != arranged[:-1]]))
    sizes = np.diff(np.append(starts, n))
    if sort_by is not None:
        order = _sorted_within(sort_by, order, starts, sizes)
    return Groups(order, starts, sizes, first)


def sort_keys(column: Column) -> list[NDArray[np.generic]]:
    """Arrays for ``np.lexsort``, the last the most important: missing last, then false, true, numbers, texts."""
    missing = column.missing()
    if column.kind == "datetime":
        values: NDArray[np.generic] = np.where(missing, 0, column.values)
    elif column.kind == "text":
        values = _word_ranks(column)
    elif column.kind == "integer":
        values = whole_numbers(column)
        if values.dtype == object:
            values = _python_ranks(column)
    elif by_python(column):
        values = _python_ranks(column)
    else:
        values = column.values
    values = np.where(missing, np.zeros(1, values.dtype), values)
    return [values, missing] if missing.any() else [values]


def _word_ranks(column: Column) -> NDArray[np.generic]:
    words = sorted(set(column.words))
    places = {word: place for place, word in enumerate(words)}
    ranks = np.array([places[word] for word in column.words] or [0], np.int64)
    return ranks.take(column.values)


def _python_ranks(column: Column) -> NDArray[np.generic]:
    keys = [key_of(value) for value in column.exact_list()]
    # The names of the three kinds are in the order of the rule by chance: boolean, number, text.
    places = {key: place for place, key in enumerate(sorted({key for key in keys if key is not None}))}
    return np.array([0 if key is None else places[key] for key in keys], np.int64)


def _runs(columns: Sequence[Column], n: int) -> tuple[Index, NDArray[np.int64]]:
    """Where runs of equal values begin, and a code of each run: equal values, equal codes.

    Rows of one group mostly follow each other. So stored values are compared with their neighbours first, and equality
    by its rule is looked at only where they differ.
    """
    fresh = np.ones(n, bool)
    if not any(map(by_python, columns)):  # Python takes True and 1 for equal
        fresh[1:] = False
        for column in columns:
            fresh[1:] |= column.values[1:] != column.values[:-1]
            if column.valid is not None:
                fresh[1:] |= column.valid[1:] != column.valid[:-1]
    starts = np.flatnonzero(fresh)
    codes = _together([codes_of(column.take(starts)) for column in columns], len(starts))
    changed = np.concatenate([[True], codes[1:] != codes[:-1]])
    return starts[changed], codes[changed]


def _together(coded: Sequence[Coded], n: int) -> NDArray[np.int64]:
    whole = np.zeros(n, np.int64)
    room = 1
    for codes, size in coded:
        filled = np.where(codes < 0, size, codes)
        if room * (size + 1) > _ROOM:
            _, whole = np.unique(whole, return_inverse=True)
            room = int(whole.max()) + 1
        whole = whole * (size + 1) + filled if room > 1 else filled
        room *= size + 1
    return whole


def _by_appearance(runs: NDArray[np.int64], starts: Index, n: int) -> tuple[NDArray[np.generic], Index]:
    _, first_run, back = np.unique(runs, return_index=True, return_inverse=True)
    appearance = np.argsort(first_run, kind="stable")
    rank = np.empty(len(appearance), np.int64)
    rank[appearance] = np.arange(len(appearance))
    ranks = np.repeat(rank[back], np.diff(np.append(starts, n)))
    # numpy sorts 16-bit integers by radix, several times faster than wider ones.
    small = len(appearance) <= np.iinfo(np.uint16).max
    return (ranks.astype(np.uint16) if small else ranks), starts[first_run[appearance]]


def _sorted_within(column: Column, order: Index | None, starts: Index, sizes: Index) -> Index | None:
    arranged = column if order is None else column.take(order)
    ordered = arranged.kind in _ORDERED and arranged.exact is None
    if arranged.valid is None and ordered and _rises(arranged.values, starts):
        return order
    keys = sort_keys(arranged)
    if len(keys) == 1 and _rises(keys[0], starts):
        return order
    group = np.repeat(np.arange(len(starts)), sizes)
    within = np.lexsort([*keys, group])
    return within if order is None else order[within]


def _rises(values: NDArray[np.generic], starts: Index) -> bool:
    """Whether no value is below the one before it in its group; false where one of the two is NaN."""
    rising = np.greater_equal(values[1:], values[:-1])
    rising[starts[1:] - 1] = True
    return bool(rising.all())
