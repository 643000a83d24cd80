"""Functions that scripts of the gallery share. A script takes along those that it calls, so each must stand alone: with
``pd``, ``np``, ``go`` and ``battery``, as every script has them."""

from __future__ import annotations

import itertools
import re
import textwrap

import numpy as np
import pandas as pd

from workbench import battery

DASHES = ["solid", "dash", "dot", "dashdot"]
EXCLUDED = ""
EXCLUDED_CYCLES = {}
SYMBOLS = ["circle", "square", "diamond", "triangle-up", "x", "triangle-down", "cross", "star"]


def column_like(frame, pattern):
    """The first column whose name fits a pattern; None if there is none."""
    return next((name for name in frame.columns if re.search(pattern, name)), None)


def numbers_like(rows, pattern):
    """The numbers of the first column that has one in each row, of those that fit a pattern; with the units beside."""
    values, units = pd.Series(np.nan, rows.index), pd.Series("", rows.index)
    for name in [name for name in rows.columns if re.search(pattern, name)]:
        unit = re.sub(r"\.value(_right)?$", r".unit\1", name)
        found = pd.to_numeric(rows[name], errors="coerce")
        if unit in rows:
            units = units.where(values.notna() | found.isna(), rows[unit].fillna(""))
        values = values.fillna(found)
    return values, units


def called(tests, column="name"):
    """What each test is called in a figure: with its cell where several of them have one name."""
    names = tests[column].astype(str)
    return names.mask(names.duplicated(keep=False), tests["instance_name"].astype(str) + ", " + names)


def of_cell(test, column="name"):
    """What a test is called in a legend: its cell and its name, or one of them where it holds the other."""
    cell, name = str(test["instance_name"]), str(test[column])
    return name if cell in name else f"{cell}, {name}"


def from_full(rows):
    """The cycles without the first of a test whose cell came part-charged: its discharge passed less than 80 % of what
    the next one did, and would be what all others are compared with. Where it is known whether the cycle is complete,
    that decides. With words for a note."""
    name, tests = "Discharge capacity [A.h]", "measurement_id"
    ordered = rows.dropna(subset=[name]).sort_values("Cycle count")
    first, second = (ordered.groupby(tests).nth(place) for place in (0, 1))
    after = first[tests].map(second.set_index(tests)[name]).astype(float)
    partly = first.index[(first["Complete"].isna() & (first[name] < 0.8 * after)).to_numpy()]
    said = f"left out: the first discharge of {len(partly)} tests, of cells that came part-charged"
    return rows.drop(partly), said if len(partly) else ""


def incomplete(every, kept):
    """Words for a note if more than a tenth of the cycles are left out since they are not complete."""
    lost = len(every) - len(kept)
    return f"left out: {lost} of {len(every)} cycles, which are not complete" if lost > 0.1 * len(every) else ""


def not_excluded(rows, test=None):
    """The rows without those of excluded cycles: rows of one test, or of several with their ``measurement_id``."""
    out = pd.Series(False, rows.index)
    for one, runs in EXCLUDED_CYCLES.items() if "Cycle count" in rows else ():
        mine = rows["measurement_id"] == one if test is None else test == one
        for first, last in runs:
            out |= mine & rows["Cycle count"].between(first, last)
    return rows[~out]


def degrees_of(rows):
    """The temperature at which each row's cell ages, or else of its test, in degC; NaN where it is unknown."""
    values, _ = numbers_like(rows, r"^properties\..*temperature.*\.value")
    other, _ = numbers_like(rows, r"temperature.*value|temperature$")
    return values.fillna(other)


def amount_of(rows, per):
    """The mass in g or the area in cm2 of each row's cell; 1 for "cell". NaN where it is unknown."""
    if per == "cell":
        return pd.Series(1.0, rows.index)
    pattern, factors = {
        "g": (r"mass.*\.value", {"g": 1.0, "kg": 1000.0, "mg": 0.001}),
        "cm2": (r"area.*\.value", {"cm2": 1.0, "m2": 1e4, "mm2": 0.01, "cm^2": 1.0, "m^2": 1e4, "mm^2": 0.01}),
    }[per]
    values, units = numbers_like(rows, pattern)
    return values * units.map(factors)


def without_amount(rows, amount):
    """The names of the cells whose mass or area is unknown, for a note."""
    lost = sorted(rows.loc[amount.isna(), "instance_name"].dropna().unique())
    return f"without {', '.join(lost[:5])}{' ...' if len(lost) > 5 else ''}: mass or area unknown" if lost else ""


def ohm_unit(per, values):
    """The factor to a resistance in Ohm times an amount, and the unit as it is printed: that of a cell fits its values,
    in Ohm."""
    large = pd.Series(values, dtype=float).abs().max() >= 1
    return {"cell": (1.0, "Ω") if large else (1000.0, "mΩ"), "cm2": (1.0, "Ω cm²")}[per]


def capacity_unit(per, values):
    """The factor to a capacity in A.h over an amount, and the unit as it is printed: that of a cell fits its values, in
    A.h."""
    small = pd.Series(values, dtype=float).abs().max() < 0.1
    of_cell = (1000.0, "mA h") if small else (1.0, "A h")
    return {"cell": of_cell, "g": (1000.0, "mA h g⁻¹"), "cm2": (1000.0, "mA h cm⁻²")}[per]


def rated_of(rows):
    """The rated capacity of each row's cell in A.h; NaN where it is unknown."""
    factors = {"A.h": 1.0, "Ah": 1.0, "A h": 1.0, "mA.h": 0.001, "mAh": 0.001}
    return pd.to_numeric(rows["ratings.capacity.value"], errors="coerce") * rows["ratings.capacity.unit"].map(
        factors
    )


def scale_of_time(seconds):
    """The number of seconds in the unit that a span is shown in, and the unit."""
    return (86400, "d") if seconds > 4 * 86400 else (3600, "h") if seconds > 2 * 3600 else (60, "min")


def error_over_time(frame):
    """The mean, root mean square and largest error of a simulation in mV, the first two weighted by time; its span."""
    time, error = frame["Time [s]"].to_numpy(float), frame["Voltage error [mV]"].to_numpy(float)
    span = time[-1] - time[0]
    mean, square = (
        (np.trapezoid(error, time) / span, np.trapezoid(error**2, time) / span)
        if span > 0
        else (error.mean(), (error**2).mean())
    )
    return {"mean": mean, "rms": np.sqrt(square), "largest": np.abs(error).max(), "seconds": span}


def palette(values):
    """A colour for each of the values, in their order."""
    return dict(zip(values, itertools.cycle(battery.PALETTE)))


def distinct(values):
    """A colour for each of the values, in their order: of the palette, or along the scale if that has too few."""
    if len(values) <= len(battery.PALETTE):
        return dict(zip(values, battery.PALETTE))
    return dict(zip(values, battery.sequential(len(values))))


def by_age(values, title):
    """Colours of curves by age: along the scale."""
    made = battery.coloring([float(value) for value in values], title)
    return dict(zip(values, made.colors)), made


def above(figure, text, color, start):
    """Small lines above the plot, ``start`` px over it; gives where they end."""
    lines = textwrap.wrap(text, 76)
    lines = [*lines[:2], lines[2] + " ..."] if len(lines) > 3 else lines
    place = {"xref": "paper", "yref": "paper", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"}
    words = {"text": "<br>".join(lines), "align": "left", "font": {"size": 11, "color": color}}
    figure.add_annotation(**words, **place, yshift=start, showarrow=False)
    end = start + 14 * len(lines) + 4
    figure.update_layout(margin_t=max(figure.layout.margin.t or 0, end + 10))
    return end


def note(figure, text, over=2):
    """Small lines above the plot: what was left out, or what values refer to; ``over`` px above it."""
    end = above(figure, text, "#555555", over) if text else over
    if EXCLUDED:
        above(figure, EXCLUDED, "#AA3300", end)
    return figure


def log_ticks(values):
    """A logarithmic axis with ticks at 1, 2 and 5 of each decade, written out; plotly's own on less than that. Very
    small values have powers of ten."""
    low, high = np.log10(np.nanmin(values)), np.log10(np.nanmax(values))
    if high - low < 0.7:
        return {"type": "log", "dtick": "D2"} if high - low < 0.01 else {"type": "log"}
    if low < -3:
        return {"type": "log", "dtick": "D2" if high - low < 2.5 else 1, "exponentformat": "power"}
    steps = (1, 2, 5) if high - low < 3 else (1,)
    ticks = [step * 10.0**power for power in range(int(np.floor(low)), int(high) + 2) for step in steps]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


def finished(figure, **layout):
    """The figure in the default look, with its legend below. `note` comes after it."""
    look = {"template": battery.template(), "margin": {"t": 30}, "legend": battery.legend()}
    return figure.update_layout(**{**look, **layout})
