"""Functions that scripts of the gallery share. A script takes along those that it calls, so each must stand alone: with
``pd``, ``np``, ``go`` and ``battery``, as every script has them."""

from __future__ import annotations

import html
import itertools
import re
import textwrap

import numpy as np
import pandas as pd

from workbench import battery

DEFAULTS = {}
DASHES = ["solid", "dash", "dot", "dashdot"]
EXCLUDED = ""
EXCLUDED_CYCLES = {}
TAKEN = {}
SYMBOLS = ["circle", "square", "diamond", "triangle-up", "x", "triangle-down", "cross", "star"]


def with_defaults(params):
    """The params, those of the view that have no value with their defaults."""
    return {**params, **{name: value for name, value in DEFAULTS.items() if params.get(name) is None}}


def plain(column):
    """The numbers of a column, NaN where it has none: also of whole numbers, which have another sign for that."""
    numbers = pd.to_numeric(column, errors="coerce")
    return pd.Series(numbers.to_numpy(float, na_value=np.nan), column.index)


def numbers_like(rows, pattern):
    """The numbers of the first column that has one in each row, of those that fit a pattern; with the units beside."""
    values, units = pd.Series(np.nan, rows.index), pd.Series("", rows.index)
    for name in [name for name in rows.columns if re.search(pattern, name)]:
        unit = re.sub(r"\.value(_right)?$", r".unit\1", name)
        found = plain(rows[name])
        if unit in rows and unit != name:
            units = units.where(values.notna() | found.isna(), rows[unit].fillna(""))
        values = values.fillna(found)
    return values, units


def names_or(names, missing):
    """Names, and another text where there is none: also of a column without any, which pandas takes for numbers."""
    return names.astype(object).where(names.notna(), missing)


def called(tests, column="name"):
    """What each test is called in a figure: with its cell where several of them have one name."""
    names = tests[column].astype(str)
    return names.mask(names.duplicated(keep=False), tests["instance_name"].astype(str) + ", " + names)


def of_cell(test, column="name"):
    """What a test is called in a legend: its cell and its name, or one of them where it holds the other."""
    cell, name = str(test["instance_name"]), str(test[column])
    return name if cell in name else f"{cell}, {name}"


def of_spectrum(name, rows, several):
    """What a spectrum of a test is called: by its voltage, or by its number where the test has several."""
    volts, number = rows["Voltage [V]"].iloc[0], rows["Spectrum"].iloc[0]
    return f"{name}, {volts:.2f} V" if volts == volts else f"{name}, no. {number + 1:g}" if several > 1 else name


def from_full(rows):
    """The cycles without the first of a test whose cell came part-charged: its discharge passed less than 80 % of what
    the next one did, and would be what all others are compared with. Where it is known whether the cycle is complete,
    that decides. With words for a note."""
    name, tests = "Discharge capacity [A.h]", "measurement_id"
    ordered = rows.dropna(subset=[name]).sort_values("Cycle count")
    first, second = (ordered.groupby(tests).nth(place) for place in (0, 1))
    after = first[tests].map(second.set_index(tests)[name]).astype(float)
    partly = first.index[(first["Complete"].isna() & (first[name] < 0.8 * after)).to_numpy()]
    many = f"{len(partly)} tests, of cells" if len(partly) > 1 else "a test, of a cell"
    said = f"left out: the first discharge of {many} that came part-charged"
    return rows.drop(partly), said if len(partly) else ""


def along_life(rows):
    """The cycles with their number in the life of their cell as ``Cycle count``, if a cell has several tests here."""
    several = "Cycle in life" in rows and rows.groupby("instance_name")["measurement_id"].nunique().max() > 1
    return rows.assign(**{"Cycle count": rows["Cycle in life"].fillna(rows["Cycle count"])}) if several else rows


def first_in_life(rows):
    """The first capacity that each test is compared with: that of its cell's first test, since an ageing test may go on
    in further ones; its own where it has another current. With words for a note."""
    capacity, current = "Discharge capacity [A.h]", "Mean discharge current [A]"
    in_life = "Cycle in life" if "Cycle in life" in rows else "Cycle count"
    tests = rows[rows[capacity] > 0].sort_values([in_life, "Cycle count"]).groupby("measurement_id", sort=False)
    firsts = tests[["instance_name", capacity]].first()
    firsts["current"] = tests[current].median() if current in rows else np.nan
    begun = firsts.groupby("instance_name")[[capacity, "current"]].transform("first")
    other = (firsts["current"] - begun["current"]).abs() > 0.2 * begun["current"].abs()
    names = ", ".join(firsts.loc[other, "instance_name"].unique()[:5])
    words = f"a test at another current is compared with its own first cycle: {names}" if other.any() else ""
    return firsts[capacity].where(other, begun[capacity]), words


def sized(group, sizes):
    """The groups of rows, with the size of their cells, A.h, where one holds cells of unlike sizes, over 10 % apart:
    a mean over them would be that of no cell. Those whose size is unknown are alike."""
    ordered = np.sort(sizes.dropna().unique())
    kinds = np.cumsum(np.append(False, ordered[1:] > 1.1 * ordered[:-1])) if len(ordered) else []
    kind = sizes.map(dict(zip(ordered, kinds))).fillna(-1)
    unlike = kind.groupby(group).transform("nunique") > 1
    words = {-1: ", size unknown"}
    for one, size in sizes.groupby(kind).median().dropna().items():
        factor, unit = capacity_unit("cell", [size])
        words[one] = f", {factor * size:.3g} {unit}"
    return group.mask(unlike, group + kind.map(words))


def batches(rows, sizes):
    """The batch of each row, whose cells are of one design; of those without one, which are of any, the size too."""
    loose, names = rows["batch_name"].isna(), names_or(rows["batch_name"], "no batch")
    return names.where(~loose, sized(names.where(loose, ""), sizes.where(loose)))


def lives(rows, said="a test at another current stands alone"):
    """What each cycle is one life with: its cell, or its test alone where that has another current than the first test
    of the cell. With words for a note: what is ``said`` of such tests, and of which cells."""
    current = "Mean discharge current [A]"
    tests = along_life(rows).sort_values("Cycle count").groupby("measurement_id", sort=False)
    of = tests[["instance_name"]].first().assign(current=tests[current].median() if current in rows else np.nan)
    begun = of.groupby("instance_name")["current"].transform("first")
    other = (of["current"] - begun).abs() > 0.2 * begun.abs()
    names = ", ".join(of.loc[other, "instance_name"].unique()[:5])
    words = f"{said}: {names}" if other.any() else ""
    return rows["measurement_id"].map(of["instance_name"].astype(str).mask(other, of.index.astype(str))), words


def of_first_current(rows):
    """The cycles without those of tests at another current than the first test of their cell: what they lack of its
    first capacity would be taken for fade. With words for a note."""
    life, words = lives(rows, "left out: a test at another current than the first of its cell")
    return rows[life == rows["instance_name"].astype(str)], words


def along_ages(tests, axes):
    """The rows of tests, one each, by their age as ``x``: of the axes, each a column with its title, the first that
    several tests of a cell have, or all tests; else their place in order. With its title and words for a note on tests
    without an age."""
    for column, title in axes.items():
        known = tests[tests[column].notna()] if column in tests else tests.iloc[:0]
        if len(known) and (len(known) == len(tests) or known["instance_name"].duplicated().any()):
            lost = list(dict.fromkeys(tests["name"].drop(known.index).astype(str)))
            more = f" and {len(lost) - 4} more" if len(lost) > 4 else ""
            what = title.split(" /")[0].lower()
            words = f"left out: {', '.join(lost[:4])}{more} ({what} unknown)" if lost else ""
            return known.assign(x=known[column].astype(float)).sort_values("x", kind="stable"), title, words
    places = tests.groupby("instance_name").cumcount().astype(float)
    return tests.assign(x=places).sort_values("x", kind="stable"), "Place in the order of the tests", ""


def of_chosen(data, step):
    """The rows of a step of the chosen tests: a plan may read others beside them, for the columns that these have."""
    return data[step][data[step]["measurement_id"].isin(data["chosen"]["id"])]


def incomplete(every, kept):
    """Words for a note if cycles are left out since they are not complete."""
    lost = len(every) - len(kept)
    return f"left out: {lost} of {len(every)} cycles, which are not complete" if lost else ""


def off_course(rows):
    """Of each cycle why it is not of the course of its test, such as a check-up; an empty text for one that is."""
    found = [battery.off_course(one) for _, one in rows.groupby("measurement_id")]
    return pd.concat(found).loc[rows.index] if found else pd.Series("", rows.index)


def of_course(rows):
    """The cycles that are of the course of their tests, with words for a note on the others."""
    why = off_course(rows)
    said = whys(why)
    return rows[why == ""], f"left out: {said}" if said else ""


def whys(reasons):
    """How many cycles have which reason, in words."""
    counts = reasons[reasons != ""].value_counts(sort=False)
    return ", ".join(f"{count} {'cycle' if count == 1 else 'cycles'} ({why})" for why, count in counts.items())


def open_marks(figure, rows, color, name, what):
    """Faint open marks for cycles that a curve passes over, out of the legend."""
    style = {"symbol": "circle-open", "size": 6, "color": battery.pale(color, 0.8), "line": {"width": 1}}
    figure.add_scatter(
        x=rows["x"],
        y=rows["value"],
        mode="markers",
        marker=style,
        customdata=rows[["instance_name", "why"]],
        hovertemplate=what
        + " %{x:.5g}: %{y:.5g}<br>Cell: %{customdata[0]}<br>Why apart: %{customdata[1]}<extra></extra>",
        showlegend=False,
        legendgroup=name,
    )


def ranged(figure, course, apart):
    """The range of the y axis by the values of the course, if others are far from them; gives how many are beyond."""
    low, high = course.min(), course.max()
    room = 0.3 * (high - low) if high > low else 0.05 * abs(high)
    beyond = int((~apart.between(low - room, high + room)).sum())
    if beyond:
        near = apart[apart.between(low - room, high + room)]
        ends = pd.concat([course, near])
        edge = 0.05 * (ends.max() - ends.min()) or room
        figure.update_yaxes(range=[ends.min() - edge, ends.max() + edge])
    return beyond


def not_excluded(rows, test=None):
    """The rows without those of excluded cycles: rows of one test, or of several with their ``measurement_id``."""
    out = pd.Series(False, rows.index)
    for one, runs in EXCLUDED_CYCLES.items() if "Cycle count" in rows else ():
        mine = rows["measurement_id"] == one if test is None else test == one
        for first, last in runs:
            # A test may have no cycles: its count is null, which is not between.
            out |= mine & rows["Cycle count"].between(first, last).fillna(False).astype(bool)
    return rows[~out]


def with_excluded(rows):
    """Rows of steps with ``Excluded``: charge is counted through them, and they give no result. Without them the steps
    beside them would be taken for neighbours."""
    return rows.assign(Excluded=~rows.index.isin(not_excluded(rows).index))


def temperatures_of(rows):
    """The temperature at which each row's cell ages, or else of its test, as it was given; with the units beside."""
    values, units = numbers_like(rows, r"^properties\..*temperature.*\.value")
    others, of_others = numbers_like(rows, r"temperature.*value|temperature$")
    return values.fillna(others), units.where(values.notna(), of_others)


def degrees_of(rows):
    """The temperature of `temperatures_of` in degC; NaN where it or its unit is unknown. Without a unit, degC."""
    values, units = temperatures_of(rows)
    # What programs make of the degree sign is left out: one letter, or the name, says which scale it is.
    letters = units.str.casefold().str.replace("℃", "c").str.replace("℉", "f")
    letters = letters.str.replace(r"degrees?|deg|[^a-z]", "", regex=True).where(units.str.strip() != "", "c")
    celsius, kelvin, fahrenheit = (
        letters.isin(names) for names in (("c", "celsius", "centigrade"), ("k", "kelvin"), ("f", "fahrenheit"))
    )
    made = values.where(celsius, np.nan).where(~kelvin, values - 273.15)
    return made.where(~fahrenheit, (values - 32) / 1.8)


def odd_degrees(rows):
    """Words for a note on temperatures whose unit is unknown, and which one is taken if there are several."""
    values, units = temperatures_of(rows)
    odd = sorted(units[values.notna() & degrees_of(rows).isna()].unique())
    unknown = f"temperature unknown, since its unit is: {', '.join(odd[:3])}" if odd else ""
    taken = f"temperature: the property '{TAKEN['temperature']}'" if "temperature" in TAKEN else ""
    return "; ".join(text for text in (taken, unknown) if text)


def unlike_temperatures(rows):
    """How the measured temperatures of the cells with rows differ, if by more than 5 K: ``15 to 45 °C``."""
    if "Mean temperature [degC]" not in rows:
        return ""
    heat = rows.groupby("instance_name")["Mean temperature [degC]"].median()
    low, high = heat.min(), heat.max()
    return f"{low:.0f} to {high:.0f} °C" if high - low > 5 else ""


def amount_of(rows, per):
    """The mass in g or the area in cm2 of each row's cell; 1 for "cell". NaN where it is unknown, as one of 0 is."""
    if per == "cell":
        return pd.Series(1.0, rows.index)
    pattern, factors = {
        "g": (r"mass.*\.value", {"g": 1.0, "kg": 1000.0, "mg": 0.001}),
        "cm2": (r"area.*\.value", {"cm2": 1.0, "m2": 1e4, "mm2": 0.01}),
    }[per]
    values, units = numbers_like(rows, pattern)
    letters = units.astype(str).str.replace("²", "2").str.replace(r"[\s^*]", "", regex=True)
    amounts = values * letters.map(factors).astype(float)
    amounts = amounts.where(amounts > 0)
    amounts.attrs["taken"] = TAKEN.get(per, "")
    return amounts


def without_amount(rows, amount):
    """The names of the cells whose mass or area is unknown, for a note, and which one is taken if there are several."""
    taken = f"referred to the property '{amount.attrs['taken']}'" if amount.attrs.get("taken") else ""
    return "; ".join(text for text in (taken, without(rows, amount, "mass or area unknown")) if text)


def no_amount(amount, per):
    """A sentence in place of a figure if no mass or area is known that the values could be referred to; else None."""
    if per == "cell" or amount.empty or amount.notna().any():
        return None
    what = {"g": "mass", "cm2": "area"}[per]
    return battery.message(
        f"No {what} of the chosen cells is known. Refer to the cell, or choose others.", unmet=True
    )


def without(rows, values, why):
    """The names of the cells with rows that have no value, for a note."""
    lost = sorted(rows.loc[values.isna(), "instance_name"].dropna().unique())
    return f"without {', '.join(lost[:5])}{' ...' if len(lost) > 5 else ''}: {why}" if lost else ""


def ohm_unit(per, values):
    """The factor to a resistance in Ohm times an amount, and the unit as it is printed: that of a cell fits its values,
    in Ohm."""
    large = pd.Series(values, dtype=float).abs().max() >= 1
    return {"cell": (1.0, "Ω") if large else (1000.0, "mΩ"), "cm2": (1.0, "Ω cm²")}[per]


def current_unit(per, values):
    """The factor to a current in A over an amount, and the unit as it is printed: that of a cell fits its values, in
    A."""
    most = pd.Series(values, dtype=float).abs().max()
    of_cell = (1e6, "µA") if most < 1e-3 else (1000.0, "mA") if most < 0.1 else (1.0, "A")
    return {"cell": of_cell, "g": (1000.0, "mA g⁻¹"), "cm2": (1000.0, "mA cm⁻²")}[per]


def capacity_unit(per, values):
    """The factor to a capacity in A.h over an amount, and the unit as it is printed: that of a cell fits its values, in
    A.h."""
    small = pd.Series(values, dtype=float).abs().max() < 0.1
    of_cell = (1000.0, "mA h") if small else (1.0, "A h")
    return {"cell": of_cell, "g": (1000.0, "mA h g⁻¹"), "cm2": (1000.0, "mA h cm⁻²")}[per]


def charge_axis(figure):
    """State of charge as the x axis, in %: the whole of it where all values are close together."""
    values = np.concatenate([np.asarray(trace.x, float) for trace in figure.data])
    close = np.ptp(values) < 20 and values.min() >= 0 and values.max() <= 100
    figure.update_xaxes(title_text="State of charge / %", range=[-3, 103] if close else None)


def relative_charge(tables):
    """What a state of charge refers to, in words, where a test does not reach both limits of voltage."""
    said = [table["Warning"].astype(str) for table in tables if "Warning" in table]
    relative = any(one.str.contains("SOC is relative").any() for one in said)
    return "0 and 100 %: the emptiest and the fullest moment of a test" if relative else ""


def rated_of(rows):
    """The rated capacity of each row's cell in A.h; NaN where it or its unit is unknown. One of 0 is unknown, and so is
    one that was only estimated from a file: that is the charge which a test happened to pass."""
    factors = {"ah": 1.0, "mah": 1e-3, "µah": 1e-6, "uah": 1e-6, "kah": 1e3, "as": 1 / 3600, "c": 1 / 3600}
    letters = rows["ratings.capacity.unit"].astype(str).str.replace("\N{GREEK SMALL LETTER MU}", "µ")
    letters = letters.str.replace(r"[ .·*⋅-]", "", regex=True).str.lower()
    given = plain(rows["ratings.capacity.value"])
    rated = given * letters.map(factors).astype(float)
    if "source.ratings" in rows:
        guess = plain(rows["source.capacity"]) if "source.capacity" in rows else given * np.nan
        still = guess.isna() | (guess.eq(given) & rows["ratings.capacity.unit"].eq("A.h"))
        rated = rated.mask(rows["source.ratings"].eq("estimated from the data") & still)
    return rated.where(rated > 0)


def scale_of_time(seconds):
    """The number of seconds in the unit that a span is shown in, and the unit."""
    return (86400, "d") if seconds > 4 * 86400 else (3600, "h") if seconds > 2 * 3600 else (60, "min")


def error_over_time(frame):
    """The mean, root mean square and largest error of a simulation in mV, the first two weighted by time; its span.
    Excluded samples have no error, and no time counts beside them nor over a gap."""
    time, error = frame["Time [s]"].to_numpy(float), frame["Voltage error [mV]"].to_numpy(float)
    span, apart, known = time[-1] - time[0], np.diff(time), error[np.isfinite(error)]
    if not len(known):
        return {"mean": np.nan, "rms": np.nan, "largest": np.nan, "seconds": span}
    beside = np.maximum(np.append(0, apart[:-1]), np.append(apart[1:], 0)) if len(apart) else apart
    gaps = apart > np.maximum(60, 10 * np.maximum(beside, np.median(apart))) if len(apart) else apart > 0
    apart = np.where(np.isfinite(error[1:] + error[:-1]) & ~gaps, apart, 0)
    mean, square = (
        (np.nansum(apart * (one[1:] + one[:-1])) / 2 / apart.sum() for one in (error, error**2))
        if apart.sum() > 0
        else (known.mean(), (known**2).mean())
    )
    return {"mean": mean, "rms": np.sqrt(square), "largest": np.abs(known).max(), "seconds": span}


def error_of(samples, one):
    """The error of a whole simulation, as `error_over_time`, if all of its samples are here; else NaN: those of a long
    one are a selection, which has more of the extremes."""
    if samples.complete[one["id"]]:
        return error_over_time(samples[one["id"]])
    return {"mean": np.nan, "rms": np.nan, "largest": np.nan}


def error_words(found, **words):
    """The errors that are known, in words: `error_words(found, rms="rms {:.3g} mV")`."""
    known = [text.format(found[key]) for key, text in words.items() if found[key] == found[key]]
    return ", ".join(known) or "error of all samples unknown"


def selected(data):
    """Words for a note if not all samples of the chosen simulations are here."""
    samples = data["samples"]
    names = [one["name"] for _, one in data["chosen"].iterrows() if not samples.complete[one["id"]]]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"a selection of samples is drawn: {', '.join(names[:3])}{more}" if names else ""


def palette(values):
    """A colour for each of the values, in their order: those of the palette in turn, where something else differs."""
    return dict(zip(values, itertools.cycle(battery.PALETTE)))


def distinct(values):
    """A colour of its own for each of the values, in their order: of the palette, or along the scale if that has too
    few."""
    if len(values) <= len(battery.PALETTE):
        return dict(zip(values, battery.PALETTE))
    return dict(zip(values, battery.sequential(len(values))))


def above(figure, text, color, start):
    """Small lines above the plot, ``start`` px over it; gives where they end. The whole text is in the tooltip."""
    words = text.split(" ")
    short = battery.short_names(words, 40)
    lines = textwrap.wrap(" ".join(short[word] for word in words), 76, break_on_hyphens=False)
    lines = [*lines[:5], lines[5] + " ..."] if len(lines) > 6 else lines
    place = {"xref": "paper", "yref": "paper", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"}
    said = {"text": "<br>".join(lines), "align": "left", "font": {"size": 11, "color": color}}
    if " ".join(lines) != text:
        said["hovertext"] = "<br>".join(textwrap.wrap(text, 76))
    figure.add_annotation(**said, **place, yshift=start, showarrow=False)
    end = start + 14 * len(lines) + 4
    figure.update_layout(margin_t=max(figure.layout.margin.t or 0, end + 10))
    return end


def how_many(data, params):
    """Words for a note if a part of what could be drawn is chosen: how many of how many."""
    kind = next(name for name in ("simulations", "tests", "cells") if name in params)
    every = data["simulations" if kind == "simulations" else "records" if "records" in data else "tests"]
    if "metadata.workbench.valid" in every:  # the others cannot be chosen
        every = every[every["metadata.workbench.valid"].eq(True)]
    of, all_of = data["chosen"], every
    if kind == "cells":
        of, all_of = of["instance_name"].drop_duplicates(), every["instance_name"].drop_duplicates()
    more = "or more " if len(every) >= 1000 else ""  # as many as a plan lists
    return f"{len(of)} of {len(all_of)} {more}{kind}" if len(of) < len(all_of) or more else ""


def note(figure, text, data, params, over=2):
    """Small lines above the plot: how many of how many are drawn, what was left out, or what values refer to; ``over``
    px above it."""
    said = "; ".join(part for part in (how_many(data, params), text) if part)
    end = above(figure, said, "#555555", over) if said else over
    if EXCLUDED:
        above(figure, EXCLUDED, "#AA3300", end)
    return figure


def each_warned(said):
    """What is said of tests, for a note: of a dict, warning -> names, each warning once."""
    begun = {words: words if words.startswith("C-rate") else words[0].lower() + words[1:] for words in said}
    return [f"{', '.join(dict.fromkeys(names))}: {begun[words]}" for words, names in said.items()]


def not_drawn(tests, drawn, why, column="name"):
    """Words for a note on those of the chosen tests of which nothing is drawn: whose ids are not among these."""
    names = called(tests, column)[~tests["id"].isin(set(drawn))].tolist()
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"left out: {', '.join(names[:4])}{more} ({why})" if names else ""


def log_ticks(values):
    """A logarithmic axis with ticks at 1, 2 and 5 of each decade, written out; plotly's own on less than that. Very
    small values have powers of ten."""
    low, high = np.log10(np.nanmin(values)), np.log10(np.nanmax(values))
    if high - low < 0.7:
        return {"type": "log", "dtick": "D2"} if high - low < 0.01 else {"type": "log"}
    steps = (1, 2, 5) if high - low < 2.5 else (1,)
    decades = range(int(np.floor(low)) - 1, int(np.ceil(high)) + 1)
    ticks = [(step, power) for power in decades for step in steps]
    ticks = [(step, power) for step, power in ticks if low - 0.5 < np.log10(step) + power < high + 0.5]
    words = [f"{step * 10.0**power:g}" for step, power in ticks]
    if low < -3:  # plotly writes its own powers larger than the other letters
        words = [
            f"{'' if step == 1 else f'{step}·'}10<sup>{power}</sup>".replace("-", "−") for step, power in ticks
        ]
    return {"type": "log", "tickvals": [step * 10.0**power for step, power in ticks], "ticktext": words}


def finished(figure, **layout):
    """The figure in the default look, with its legend below, and long names cut in the middle: the tooltip has the
    whole ones. `note` comes after it."""
    look = {"template": battery.template(), "margin": {"t": 30}, "legend": battery.legend()}
    short = battery.short_names([trace.name for trace in figure.data if trace.name], 36)
    for trace in figure.data:
        if not trace.name or short[trace.name] == trace.name:
            continue
        template = (trace.hovertemplate or "%{x}: %{y}").replace("%{fullData.name}", html.escape(trace.name))
        named = template if "<extra>" in template else f"{template}<extra>{html.escape(trace.name)}</extra>"
        trace.update(name=short[trace.name], hovertemplate=named)
    return figure.update_layout(**{**look, **layout})


def span_of(figure):
    """The range that the first y axis takes by itself, by which names beside curves keep apart; None for no values."""
    axis = figure.layout.yaxis
    values = [
        np.asarray(trace.y, float) for trace in figure.data if trace.y is not None and trace.yaxis in (None, "y")
    ]
    values = np.concatenate([np.empty(0), *values])
    values = np.log10(values[values > 0]) if axis.type == "log" else values[np.isfinite(values)]
    if not len(values):
        return None
    low, high = values.min(), values.max()
    if axis.rangemode == "tozero":
        low, high = min(low, 0), max(high, 0)
    room = 0.06 * (high - low) or 1
    return (low if low == 0 and axis.rangemode == "tozero" else low - room, high + room)


def bar_names(names, most):
    """The ticks of bars that are called by names: long ones are cut in the middle, the tooltip has the whole ones. Of
    more than ``most`` bars each second has its name, or each third."""
    short = battery.short_names(list(dict.fromkeys(names)), 20)
    kept = list(short)[:: max(-(-len(short) // most), 1)]
    return {"tickvals": kept, "ticktext": [short[name] for name in kept], "autotickangles": [0, 90]}


def name_ends(figure, traces=None, share=1.0):
    """Names beside the ends of more than 16 curves, for which a legend would be larger than the plot: `finished` comes
    before it. Without traces, of those in the legend; ``share`` is that of their panel in the height. Gives words for a
    note if some have no name."""
    traces = traces or [trace for trace in figure.data if trace.name and trace.showlegend is not False]
    curves = [trace.to_plotly_json() for trace in traces]
    if len(curves) <= 16:
        return ""
    short = battery.short_names([trace["name"] for trace in curves], 20)
    curves = [{**trace, "name": short[trace["name"]]} for trace in curves]
    height = min(max(440, 13 * len(curves) + 150), 900)
    span = figure.layout.yaxis.range or span_of(figure)
    logs = {f"log_{axis}": figure.layout[f"{axis}axis"].type == "log" for axis in "xy"}
    labels = battery.end_labels(curves, height=share * (height - 150), size=10, width=400, y_range=span, **logs)
    figure.update_layout(showlegend=False, height=height, annotations=[*figure.layout.annotations, *labels])
    few = len(labels) < len(curves)
    return f"{len(labels)} of {len(curves)} curves have their names beside them, all in the tooltip" if few else ""
