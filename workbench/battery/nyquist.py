"""Impedance as a Nyquist plot: minus the imaginary part over the real part, on axes of equal scale."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from .doubts import SignLooksWrong
from .plotly_dict import PlotlyDict

REAL, IMAGINARY, FREQUENCY = "Z_Re [Ohm]", "Z_Im [Ohm]", "Frequency [Hz]"


def nyquist_trace(frame: pd.DataFrame, name: str, color: str | None = None) -> PlotlyDict:
    """The trace, a dict, of one spectrum with ``Z_Re [Ohm]`` and ``Z_Im [Ohm]``; rows without impedance are left out.

    Parameters
    ----------
    frame : with ``Z_Re [Ohm]`` and ``Z_Im [Ohm]`` (negative in the capacitive part); ``Frequency [Hz]``, if
        there, shows on hover.

    Raises
    ------
    ValueError
        If a column is missing.
    """
    missing = [column for column in (REAL, IMAGINARY) if column not in frame]
    if missing:
        raise ValueError(
            f"A Nyquist plot needs '{missing[0]}'; the frame has {', '.join(map(repr, frame.columns))}."
        )
    rows = frame.dropna(subset=[REAL, IMAGINARY])
    if FREQUENCY in rows:  # exports of potentiostats write 0 beside samples that are of no spectrum
        rows = rows[rows[FREQUENCY] != 0]
    if len(rows) > 4 and float((rows[IMAGINARY] > 0).mean()) > 0.75:
        message = f"'{name}': Z_Im is positive in most samples; it should be negative in the capacitive part"
        warnings.warn(message, SignLooksWrong, stacklevel=2)
    trace: PlotlyDict = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": rows[REAL],
        "y": -rows[IMAGINARY],
        "hovertemplate": "Z′ %{x:.4g} Ω, −Z″ %{y:.4g} Ω",
    }
    if FREQUENCY in rows:
        trace["customdata"] = np.asarray(rows[FREQUENCY], float)
        trace["hovertemplate"] += "<br>%{customdata:.3~s}Hz"
    if color is not None:
        trace["line"] = trace["marker"] = {"color": color}
    return trace


def nyquist_layout() -> PlotlyDict:
    """The axes of a Nyquist plot, titled and of equal scale.

    The frame fills its place: of one axis more is shown than the spectra need, above them or to their right.
    """
    wide = {"constrain": "range", "constraintoward": "left"}
    high = {"constrain": "range", "constraintoward": "bottom", "scaleanchor": "x", "scaleratio": 1}
    return {
        "xaxis": {"title": {"text": "Z′ / Ω"}, **wide},
        "yaxis": {"title": {"text": "−Z″ / Ω"}, **high},
    }
