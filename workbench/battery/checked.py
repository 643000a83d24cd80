"""What every analysis checks before it computes: columns, order of time, samples that are missing.

`inputs` has what holds for tables of steps and cycles too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..messages import counted
from .completeness import READ_WHOLE, left_out
from .differential import VOLTAGE
from .half_cycles import CURRENT
from .inputs import WIDEST, Floats, Refusal, excluded, need, numbers
from .neighbours import TIME
from .result import Cell, Remark

TEMPERATURE = "Temperature [degC]"
T_COLUMNS = ("T mean [degC]", "T min [degC]", "T max [degC]")
_REPEATED = 0.1


@dataclass(frozen=True)
class Checked:
    """A frame whose samples can be used.

    ``frame`` has the rows with time, current and voltage; ``time`` s, ``current`` A, ``voltage`` V, ``temperature``
    degC are (n,), the last NaN where it is unknown. ``excluded`` (n,): those that give no result. ``remarks``: what is
    to be known of them.
    """

    frame: pd.DataFrame
    time: Floats
    current: Floats
    voltage: Floats
    temperature: Floats
    excluded: NDArray[np.bool_]
    remarks: tuple[Remark, ...]


def checked(frame: pd.DataFrame, what: str, *, exact: bool = False, several: bool = False) -> Checked:
    """The samples of a frame with time, current and voltage.

    Parameters
    ----------
    what : the subject of sentences, in the plural: "Pulses".
    exact : refuse a frame that lacks samples; else that is a remark.
    several : the frame holds several tests one after the other, so that time may start anew.

    Raises
    ------
    Refusal
        If a column is missing, fewer than two samples have all three, time falls, or ``exact`` and samples are
        missing.
    """
    need(frame, (TIME, CURRENT, VOLTAGE), 0)
    remarks = list(_missing(frame, what, exact))
    arrays = [numbers(frame, name) for name in (TIME, CURRENT, VOLTAGE)]
    kept = np.isfinite(arrays[0]) & np.isfinite(arrays[1]) & np.isfinite(arrays[2])
    count = int(kept.sum())
    if count < 2:
        raise Refusal("no_samples", f"{what} need samples with time, current and voltage; the frame has {count}.")
    time, current, voltage = (values[kept] for values in arrays)
    falls = np.flatnonzero(np.diff(time) < 0)
    if len(falls) and not several:
        at = int(falls[0])
        raise Refusal(
            "time_falls",
            f"Time falls from {time[at]:g} s to {time[at + 1]:g} s. {what} need samples in order of time: sort the "
            "frame, or give the frame of one test.",
        )
    if count < len(kept):
        words = f"{counted(len(kept) - count, 'row')} without time, current or voltage left out."
        remarks.append(Remark("rows_without_values", words))
    held = frame.loc[kept]
    return Checked(held, time, current, voltage, temperatures(held), excluded(held), tuple(remarks))


def _missing(frame: pd.DataFrame, what: str, exact: bool) -> list[Remark]:
    words = left_out(frame)
    if words is None:
        return []
    if exact:
        raise Refusal("samples_left_out", f"{what} need every sample, and {words}. {READ_WHOLE}")
    return [Remark("samples_left_out", f"{what} may be wrong: {words}. {READ_WHOLE}")]


def temperatures(frame: pd.DataFrame) -> Floats:
    """The temperature of each row, degC, NaN where it is unknown."""
    return numbers(frame, TEMPERATURE)


def temperature_cells(values: Floats) -> dict[str, Cell]:
    """Mean, least and largest temperature for a row; NaN where none is known."""
    known = values[np.isfinite(values)]
    if not len(known):
        return dict.fromkeys(T_COLUMNS)
    return dict(zip(T_COLUMNS, (float(known.mean()), float(known.min()), float(known.max())), strict=True))


def spread_words(values: Floats) -> str:
    """What is to be said of the temperatures of samples that are compared; empty if they differ by at most 2 K."""
    known = values[np.isfinite(values)]
    if not len(known) or float(np.ptp(known)) <= WIDEST:
        return ""
    return f"temperature differs by {np.ptp(known):.1f} K, from {known.min():.1f} to {known.max():.1f} degC"


def voltage_noise(voltage: ArrayLike) -> float:
    """The noise of a voltage, V: from the median of its second differences, at least that of its resolution.

    The second difference of independent noise deviates by the square root of 6 times the noise; the median of its
    magnitude is that divided by 1.4826. A voltage in steps, which stands from sample to sample in between, has at least
    a step over the square root of 12. Where it never stands, its least change is not its resolution: a cycler may log a
    sample at each 5 mV.
    """
    values = np.asarray(voltage, float)
    values = values[np.isfinite(values)]
    if len(values) < 3:
        return 0.0
    bent = np.abs(np.diff(values, 2))
    steps = np.abs(np.diff(values))
    moves = steps > 1e-9
    repeated = float(np.mean(~moves)) > _REPEATED
    resolution = float(steps[moves].min()) / 12**0.5 if repeated and moves.any() else 0.0
    return max(1.4826 * float(np.median(bent)) / 6**0.5, resolution)


def joined(words: Sequence[str]) -> str:
    """Remarks of one row as one text."""
    return "; ".join(word for word in words if word)
