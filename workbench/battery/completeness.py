"""Whether a frame holds every sample of what it was read from, and what a helper says where it does not.

Each frame of a series carries ``attrs["workbench"]``: ``complete`` (bool), ``shown`` and ``of`` (numbers of samples)
and ``source`` (id), and ``name`` where it is known. ``pandas.concat`` drops it, and a script may leave rows out itself,
so that the sample numbers of the index are looked at too.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
from pydantic import JsonValue

from ..dataset import FRAME_KEY
from .doubts import NeedsEverySample, SamplesLeftOut
from .neighbours import Neighbours

STEP_COUNT = "Step count"
READ_WHOLE = (
    "Read whole steps: give the series step x 'Step count' (or 'Cycle count'), a window that holds at most 10000 "
    "samples, and max_points 10000."
)


def left_out(frame: pd.DataFrame | pd.Series) -> str | None:
    """What is missing between the samples of a frame, or of a column of it, in words; None if nothing is."""
    if (words := read_without(frame)) is not None:
        return words
    if isinstance(frame, pd.Series):
        held = Neighbours.told(frame)
        return _missing_numbers(frame) if held is None else held.missing
    known = Neighbours.in_frame(frame)
    if known is None:
        return _missing_numbers(frame)
    taken = np.flatnonzero(np.diff(known.place) > 1)
    if len(taken) and not known.missing:
        time = known.time[taken[0] : taken[0] + 2]
        return f"samples of the half cycle from {time[0]:g} s to {time[1]:g} s are not in the frame"
    return known.missing


def read_without(frame: pd.DataFrame | pd.Series) -> str | None:
    """Which samples a frame was read without, by what it says itself, in words; None if it does not say so."""
    told = frame.attrs.get(FRAME_KEY)
    return _told(frame, told) if isinstance(told, Mapping) else None


def warn_left_out(frame: pd.DataFrame | pd.Series, what: str, *, stacklevel: int = 3) -> bool:
    """Warn (``SamplesLeftOut``) where samples are missing; ``what`` is the subject of the sentence. True if it did."""
    words = left_out(frame)
    if words is not None:
        warnings.warn(f"{what} may be wrong: {words}. {READ_WHOLE}", SamplesLeftOut, stacklevel=stacklevel)
    return words is not None


def refuse_left_out(frame: pd.DataFrame, what: str, otherwise: str = "") -> None:
    """Raise where samples are missing.

    Parameters
    ----------
    what : the subject of the sentence, in the plural: "Pulses".
    otherwise : a sentence with another fix.

    Raises
    ------
    NeedsEverySample
        If samples are missing.
    """
    words = left_out(frame)
    if words is not None:
        raise NeedsEverySample(f"{what} need every sample, and {words}. {READ_WHOLE} {otherwise}".rstrip())


def _told(frame: pd.DataFrame | pd.Series, told: Mapping[str, JsonValue]) -> str | None:
    """What the frame was read with says of it; a frame of several sources is judged by those that are still in it."""
    if told.get("complete", True):
        return None
    sources, column = told.get("sources"), told.get("id")
    if not isinstance(sources, Mapping):
        return _counted(told.get("source"), told)
    there = set(sources)
    if isinstance(frame, pd.DataFrame) and isinstance(column, str) and column in frame:
        there = set(frame[column].unique())
    for source, one in sources.items():
        if source in there and isinstance(one, Mapping) and not one.get("complete", True):
            return _counted(source, one)
    return None


def _counted(source: JsonValue, told: Mapping[str, JsonValue]) -> str:
    name = told.get("name", source)
    return f"the frame of '{name}' was read with {told.get('shown')} of its {told.get('of')} samples"


def _missing_numbers(frame: pd.DataFrame | pd.Series) -> str | None:
    """Where sample numbers of the index are missing inside a step; without steps, where most of them are."""
    if len(frame) < 2 or frame.index.nlevels > 1 or not pd.api.types.is_integer_dtype(frame.index.dtype):
        return None
    numbers = frame.index.to_numpy(np.int64)
    rises = np.diff(numbers)
    gaps = rises > 1
    if isinstance(frame, pd.DataFrame) and STEP_COUNT in frame:
        steps = frame[STEP_COUNT].to_numpy(float, na_value=np.nan)
        inside = np.flatnonzero(gaps & (steps[1:] == steps[:-1]))
        if len(inside):
            at = int(inside[0])
            return (
                f"samples {numbers[at] + 1} to {numbers[at + 1] - 1}, inside step {steps[at]:g}, "
                "are not in the frame"
            )
        return None
    forward = rises > 0
    if gaps.sum() > 0.5 * forward.sum() and gaps.sum() >= 3:
        return f"most sample numbers between {numbers.min()} and {numbers.max()} are not in the frame"
    return None
