"""Time gaps of a series: where nothing was recorded, so that a line between two samples would be invented."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .charge import longest_intervals
from .completeness import read_without
from .neighbours import TIME


def break_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """The samples with a row of NaN in each time gap, so that a line breaks there: for drawing.

    A gap is an interval above 60 s and above 10 times those before and after it, as in ``charge_passed``. Rows that a
    half cycle left out (rests) make one too. An interval without some of its samples, in a frame that was not read
    whole, is not a gap: they are there. The index counts rows, the numbers of samples are gone.

    Parameters
    ----------
    frame : samples with ``Time [s]``, in order.

    Raises
    ------
    ValueError
        If the frame has no ``Time [s]``.

    >>> samples = pd.DataFrame({"Time [s]": [0.0, 1.0, 2.0, 900.0, 901.0]})
    >>> break_gaps(samples)["Time [s]"].tolist()
    [0.0, 1.0, 2.0, nan, 900.0, 901.0]
    """
    if TIME not in frame:
        raise ValueError(f"To find gaps the frame needs a column '{TIME}'.")
    apart = np.nan_to_num(np.diff(frame[TIME].to_numpy(float, na_value=np.nan)))
    empty = apart > longest_intervals(apart)
    if read_without(frame) is not None and pd.api.types.is_integer_dtype(frame.index.dtype):
        empty &= np.diff(frame.index.to_numpy()) == 1
    gaps = np.flatnonzero(empty) + 1
    numbered = frame.reset_index(drop=True)
    # No row has the number -1: pandas fills it with nulls of the type of each column.
    return numbered.reindex(np.insert(np.arange(len(frame)), gaps, -1)).reset_index(drop=True)
