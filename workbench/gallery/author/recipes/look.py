"""How a drawn figure is given another look: the lines that a draft's script gets for it."""

import re

import numpy as np
import pandas as pd
import plotly.graph_objects as go

# The script of the figure
LOOK_UNITS = {
    "A h": ("charge", 1.0),
    "mA h": ("charge", 1e-3),
    "C": ("charge", 1 / 3600),
    "W h": ("energy", 1.0),
    "mW h": ("energy", 1e-3),
    "kW h": ("energy", 1e3),
    "kJ": ("energy", 1 / 3.6),
    "V": ("voltage", 1.0),
    "mV": ("voltage", 1e-3),
    "A": ("current", 1.0),
    "mA": ("current", 1e-3),
    "W": ("power", 1.0),
    "mW": ("power", 1e-3),
    "Ω": ("resistance", 1.0),
    "mΩ": ("resistance", 1e-3),
    "s": ("time", 1.0),
    "min": ("time", 60.0),
    "h": ("time", 3600.0),
    "d": ("time", 86400.0),
    "K": ("temperature", 1.0),
    "°C": ("temperature", 1.0),
    "Hz": ("frequency", 1.0),
    "%": ("share", 1.0),
}
LOOK_ZEROS = {"°C": 273.15}
LOOK_FLIPPED = {"h": "v", "v": "h"}
LOOK_SIDES = {"left": "bottom", "bottom": "left", "right": "top", "top": "right"}
LOOK_FILLS = {"tozeroy": "tozerox", "tozerox": "tozeroy", "tonexty": "tonextx", "tonextx": "tonexty"}


def with_look(figure, look):
    """The figure with the units, title, scales, ranges, lines, legend and marks of a look."""
    figure = go.Figure(figure)
    if not figure.data:
        return figure
    for unit in look.get("units", []):
        look_in_unit(figure, unit)
    if look.get("swap"):
        figure = look_swapped(figure)
    for letter, axis in look_axes_of(figure):
        look_scaled(figure, axis, letter, look)
    for letter, value in look.get("lines", []):
        add = figure.add_vline if letter == "x" else figure.add_hline
        add(value, line={"color": "#888888", "dash": "dot", "width": 1})
    if "title" in look:
        figure.update_layout(title={"text": look["title"]})
        if look["title"]:
            figure.update_layout(margin={"t": 60})
    if "font" in look:
        figure.update_layout(font={"size": look["font"]})
    if "legend" in look:
        places = {
            "bottom": {"orientation": "h", "x": 0, "y": -0.2, "xanchor": "left", "yanchor": "top"},
            "top": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
            "right": {"orientation": "v", "x": 1.02, "y": 1, "xanchor": "left", "yanchor": "top"},
            "left": {"orientation": "v", "x": -0.12, "y": 1, "xanchor": "right", "yanchor": "top"},
        }
        shown = look["legend"] != "none"
        figure.update_layout(showlegend=shown, legend=places.get(look["legend"], {}))
    if "grid" in look:
        figure.update_xaxes(showgrid=look["grid"]).update_yaxes(showgrid=look["grid"])
    if "mode" in look:
        figure.update_traces(mode=look["mode"], selector={"type": "scatter", "fill": None})
    if "width" in look:
        figure.update_traces(line={"width": look["width"]}, selector={"type": "scatter", "fill": None})
    return figure


def look_axes_of(figure):
    """Each axis of a figure with its letter."""
    for letter, axes in (("x", figure.select_xaxes()), ("y", figure.select_yaxes())):
        yield from ((letter, axis) for axis in list(axes))


def look_name_of(axis):
    """An axis as traces and lines name it: ``y2``."""
    return axis.plotly_name.replace("axis", "")


def look_traces_on(figure, axis, letter):
    """The traces that have values on an axis."""
    on_it = [one for one in figure.data if letter + "axis" in one and letter in one]
    return [one for one in on_it if (one[letter + "axis"] or letter) == look_name_of(axis)]


def look_unit_of(axis):
    """The unit in the title of an axis."""
    return (axis.title.text or "").rpartition(" / ")[2]


def look_converted(values, old, new):
    """Values of one unit in another; None where a value is none."""
    (_, size), (_, other) = LOOK_UNITS[old], LOOK_UNITS[new]
    numbers = pd.to_numeric(pd.Series(list(values)), errors="coerce").astype(float)
    return ((numbers + LOOK_ZEROS.get(old, 0)) * (size / other) - LOOK_ZEROS.get(new, 0)).to_numpy()


def look_are_alike(old, new):
    """Whether two units measure the same."""
    return old in LOOK_UNITS and new in LOOK_UNITS and LOOK_UNITS[old][0] == LOOK_UNITS[new][0]


def look_in_unit(figure, unit):
    """Gives the axes that measure the same as a unit in this unit, and with them their values and lines."""
    for letter, axis in look_axes_of(figure):
        old, title = look_unit_of(axis), axis.title.text
        if not look_are_alike(old, unit) or old == unit or axis.type == "category":
            continue
        axis.title.text = title.removesuffix(old) + unit
        if axis.range is not None:
            ends = [10**one if axis.type == "log" else one for one in axis.range]
            ends = [float(one) for one in look_converted(ends, old, unit)]
            axis.range = [float(np.log10(one)) if axis.type == "log" else one for one in ends]
        axis.update(tickvals=None, ticktext=None, dtick=None, tick0=None)
        for one in look_traces_on(figure, axis, letter):
            if one[letter] is not None:
                one[letter] = look_converted(one[letter], old, unit)
            for bars in [one[name] for name in ("error_" + letter,) if name in one]:
                for side in [side for side in ("array", "arrayminus") if bars[side] is not None]:
                    bars[side] = np.asarray(bars[side], float) * (LOOK_UNITS[old][1] / LOOK_UNITS[unit][1])
            hover = one.hovertemplate if isinstance(one.hovertemplate, str) else None
            if hover and "}" in hover:
                one.hovertemplate = re.sub(
                    rf"(%\{{{letter}[^}}]*\}}) {re.escape(old)}(?!\w)", rf"\1 {unit}", hover
                )
        for part in (*figure.layout.shapes, *figure.layout.annotations):
            for name in (letter, letter + "0", letter + "1"):
                if (
                    name in part
                    and part[letter + "ref"] == look_name_of(axis)
                    and isinstance(part[name], int | float)
                ):
                    part[name] = float(look_converted([part[name]], old, unit)[0])


def look_turned(reference):
    """A reference to an axis as one to the other: of ``y2 domain`` ``x2 domain``."""
    text = str(reference)
    other = {"x": "y", "y": "x"}.get(text[:1]) if re.fullmatch(r"[xy]\d*(?: domain)?", text) else None
    return other + text[1:] if other else reference


def look_swapped(figure):
    """The figure with its horizontal axes upright, and the upright ones horizontal."""
    raw = figure.to_plotly_json()
    layout = raw["layout"]
    axes = {name: layout.pop(name) for name in list(layout) if re.fullmatch(r"[xy]axis\d*", name)}
    for name, axis in axes.items():
        for key in ("anchor", "overlaying", "matches", "scaleanchor"):
            if key in axis:
                axis[key] = look_turned(axis[key])
        if "side" in axis:
            axis["side"] = LOOK_SIDES[axis["side"]]
        layout[look_turned(name[0]) + name[1:]] = axis
    for one in raw["data"]:
        pairs = [("x", "y"), ("error_x", "error_y"), ("xaxis", "yaxis"), ("x0", "y0"), ("dx", "dy")]
        pairs += [("nbinsx", "nbinsy"), ("xbins", "ybins"), ("autobinx", "autobiny")]
        for first, second in pairs:
            both = {first: one.pop(second, None), second: one.pop(first, None)}
            one.update(
                {
                    key: look_turned(part) if "axis" in key else part
                    for key, part in both.items()
                    if part is not None
                }
            )
        if one.get("type") == "bar":
            one["orientation"] = LOOK_FLIPPED[one.get("orientation") or "v"]
        if one.get("fill") in LOOK_FILLS:
            one["fill"] = LOOK_FILLS[one["fill"]]
        if isinstance(one.get("hovertemplate"), str):
            one["hovertemplate"] = re.sub(
                r"%\{([xy])(?=[:}])", lambda found: "%{" + look_turned(found[1]), one["hovertemplate"]
            )
    for part in (*layout.get("shapes", []), *layout.get("annotations", [])):
        if "paper" in (part.get("xref"), part.get("yref")) and {part.get("xref"), part.get("yref")} == {"paper"}:
            continue
        for first, second in (("x", "y"), ("x0", "y0"), ("x1", "y1"), ("xref", "yref")):
            both = {first: part.pop(second, None), second: part.pop(first, None)}
            part.update(
                {key: look_turned(one) if "ref" in key else one for key, one in both.items() if one is not None}
            )
    return go.Figure(raw)


def look_scaled(figure, axis, letter, look):
    """Gives one axis its words, its scale and its range."""
    if letter + "_title" in look:
        axis.title.text = look[letter + "_title"]
    given = [
        pd.Series(list(one[letter])) for one in look_traces_on(figure, axis, letter) if one[letter] is not None
    ]
    values = pd.to_numeric(pd.concat(given), errors="coerce").dropna() if given else pd.Series(dtype=float)
    scale = look.get(letter + "_scale")
    if scale == "log" and axis.type != "category" and (values > 0).any():
        axis.update(type="log", range=None, autorange=True)
        if (values <= 0).any() and axis.title.text:
            axis.title.text += " (those above 0)"
    elif scale == "linear" and axis.type == "log":
        axis.update(type="linear", range=None, autorange=True)
    if look.get(letter + "_zero") and axis.type != "log":
        axis.update(rangemode="tozero", range=None, autorange=True)
    limits = look.get(letter + "_range") or look_part_of(axis, values, look)
    if limits and (axis.type != "log" or min(limits) > 0):
        axis.update(range=[float(np.log10(one)) if axis.type == "log" else one for one in limits], autorange=False)
        if letter + "_range" not in look:
            look_fitted(figure, axis, letter, limits, look)
    if look.get(letter + "_reverse"):
        axis.update(**({"range": axis.range[::-1]} if axis.range else {"autorange": "reversed"}))


def look_part_of(axis, values, look):
    """The ends of the part of an axis that a look names by its unit or by cycles, in the numbers of the axis; None if
    it names none. An end that is not named is that of the values."""
    unit, limits = look.get("of_unit", (None, None))
    if limits and look_are_alike(str(unit), look_unit_of(axis)):
        known = [one is not None for one in limits]
        limits = look_converted([0 if one is None else one for one in limits], unit, look_unit_of(axis))
        limits = [float(one) if named else None for one, named in zip(limits, known)]
    elif "cycles" in look and (axis.title.text or "").startswith("Cycle count"):
        limits = [None if one is None else one - 1 for one in look["cycles"]]
    else:
        return None
    ends = (values.min(), values.max()) if len(values) else (0, 1)
    return [float(end) if one is None else one for one, end in zip(limits, ends)]


def look_fitted(figure, axis, letter, limits, look):
    """Fits the axes across a part of an axis to what is drawn in this part."""
    other = look_turned(letter)
    for _, across in [one for one in look_axes_of(figure) if one[0] == other]:
        inside = []
        for one in look_traces_on(figure, across, other):
            if (one[letter + "axis"] or letter) != look_name_of(axis) or one[letter] is None or one[other] is None:
                continue
            at = pd.to_numeric(pd.Series(list(one[letter])), errors="coerce")
            inside.append(pd.to_numeric(pd.Series(list(one[other])), errors="coerce")[at.between(*limits)])
        values = pd.concat(inside).dropna() if inside else pd.Series(dtype=float)
        is_free = (
            other + "_range" not in look and across.type not in ("log", "category") and not across.scaleanchor
        )
        if len(values) and is_free and values.min() < values.max():
            room = 0.05 * (values.max() - values.min())
            across.update(range=[float(values.min() - room), float(values.max() + room)], autorange=False)
