"""Parses a batch of rows in blocks that a processor keeps at hand, and joins them as if they were parsed at once.

pandas cuts all rows it is asked for into cells, and then goes through the cells once for each column. Blocks of some
thousand rows take two thirds of the time of a batch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

ROWS = 16_384
"""Rows of a block."""
_MOST_EXACT = 2**53
_NEGATIVE_ZERO = re.compile(rb"-0+(?![0-9.eE])")
_LONGEST = 64
"""Characters of a number."""


class Chunks(Protocol):
    """What pandas gives for a text that is read in parts."""

    def get_chunk(self, size: int) -> pd.DataFrame: ...


class NotTheSame(Exception):
    """Blocks that do not join to what their rows would be if they were parsed at once."""


def batch(reader: Chunks, rows: int, size: int, negative_zero: Callable[[], bool]) -> pd.DataFrame:
    """The next ``rows`` rows, or fewer at the end, parsed in blocks of ``size``.

    ``negative_zero`` says whether the text may have a whole number that is a negative zero.

    Raises
    ------
    StopIteration
        If there are no more rows.
    NotTheSame
        If a column is of different kinds in different blocks, and would have other values if it were parsed at once.
    """
    blocks: list[pd.DataFrame] = []
    left = rows
    while left:
        asked = min(left, size)
        try:
            block = reader.get_chunk(asked)
        except StopIteration:
            if not blocks:
                raise
            break
        blocks.append(block)
        left -= len(block)
        if len(block) < asked:
            break
    if len(blocks) == 1:
        return blocks[0]
    for label in blocks[0].columns:
        parts = [block[label] for block in blocks]
        if len({str(part.dtype) for part in parts}) > 1 or parts[0].dtype == object:
            for block, part in zip(blocks, _alike(parts, negative_zero), strict=True):
                block[label] = part
        elif parts[0].dtype == np.float64:
            # Whole numbers with a gap are read as such, and become floats when the gap is put in.
            gaps = [part for part in map(pd.Series.to_numpy, parts) if _is_whole_with_gaps(part)]
            if 0 < len(gaps) < len(parts):
                _check_whole([part[~np.isnan(part)] for part in gaps], negative_zero)
    joined = pd.concat(blocks)
    for label in joined.columns:
        if joined[label].dtype == "str":
            texts = [pa.array(block[label], type=pa.large_string(), from_pandas=True) for block in blocks]
            # As they are joined by pandas they would stay apart, and so slow.
            joined[label] = pd.Series(pa.concat_arrays(texts), joined.index, "str")
    return joined


def _alike(
    parts: Sequence[pd.Series[float]], negative_zero: Callable[[], bool]
) -> Iterator[pd.Series[float] | pd.Series[str]]:
    """The parts of a column as the whole column would be parsed.

    Raises
    ------
    NotTheSame
        If only the text shows what they would be.
    """
    kinds = {str(part.dtype) for part in parts}
    if kinds == {"int64", "float64"}:
        gaps = (part.to_numpy() for part in parts if part.dtype == np.float64)
        whole = [part.to_numpy() for part in parts if part.dtype == np.int64]
        whole += [values[~np.isnan(values)] for values in gaps if _is_whole_with_gaps(values)]
        _check_whole(whole, negative_zero)
        return (part.astype(np.float64) for part in parts)
    if kinds == {"str", "float64"} and all(part.isna().all() for part in parts if part.dtype == np.float64):
        return (part.astype("str") if part.dtype == np.float64 else part for part in parts)
    raise NotTheSame


def _is_whole_with_gaps(values: NDArray[np.floating[Any]]) -> bool:
    """Whether floats may have been read as whole numbers, of which some are missing."""
    missing = np.isnan(values)
    if not missing.any():
        return False
    there = values[~missing]
    return bool((there == np.rint(there)).all())


def _check_whole(whole: Sequence[NDArray[Any]], negative_zero: Callable[[], bool]) -> None:
    """Check numbers that were read as whole ones in some blocks of a column that has others too.

    Raises
    ------
    NotTheSame
        If they would be others if they were read as floats.
    """
    if any(((values > _MOST_EXACT) | (values < -_MOST_EXACT)).any() for values in whole):
        raise NotTheSame
    # As a whole number a negative zero has lost its sign.
    if any((values == 0).any() for values in whole) and negative_zero():
        raise NotTheSame


def has_negative_zero(blocks: Iterable[bytes]) -> bool:
    """Whether a text in blocks may have a whole number that is a negative zero."""
    before = b""
    for block in blocks:
        text = before + block
        if _NEGATIVE_ZERO.search(text):
            return True
        before = text[-_LONGEST:]  # a number may go on in the next block
    return False
