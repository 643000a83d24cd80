"""How a drawn figure is given another look: the lines that a draft's script gets for it."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go


# The script of the figure
def with_look(figure, look):
    """The figure with the title, scales, ranges, lines, legend and marks of a look."""
    figure = go.Figure(figure)
    if not figure.data:
        return figure
    for letter, axes in (("x", list(figure.select_xaxes())), ("y", list(figure.select_yaxes()))):
        for axis in axes:
            scaled(figure, axis, letter, look)
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
        }
        shown = look["legend"] != "none"
        figure.update_layout(showlegend=shown, legend=places.get(look["legend"], {}))
    if "mode" in look:
        figure.update_traces(mode=look["mode"], selector={"type": "scatter", "fill": None})
    if "width" in look:
        figure.update_traces(line={"width": look["width"]}, selector={"type": "scatter", "fill": None})
    return figure


def scaled(figure, axis, letter, look):
    """Gives one axis its words, its scale and its range."""
    if letter + "_title" in look:
        axis.title.text = look[letter + "_title"]
    on_it = [
        one for one in figure.data if (one[letter + "axis"] or letter) == axis.plotly_name.replace("axis", "")
    ]
    given = [pd.Series(list(one[letter])) for one in on_it if one[letter] is not None]
    values = pd.to_numeric(pd.concat(given), errors="coerce").dropna() if given else pd.Series(dtype=float)
    scale = look.get(letter + "_scale")
    if scale == "log" and axis.type != "category" and (values > 0).any():
        axis.update(type="log", range=None, autorange=True)
        if (values <= 0).any() and axis.title.text:
            axis.title.text += " (those above 0)"
    elif scale == "linear" and axis.type == "log":
        axis.update(type="linear", range=None, autorange=True)
    unit, limits = look.get("of_unit", (None, None))
    limits = look.get(letter + "_range") or (
        limits if (axis.title.text or "").endswith("/ " + str(unit)) else None
    )
    if limits and (axis.type != "log" or min(limits) > 0):
        axis.update(range=[float(np.log10(one)) if axis.type == "log" else one for one in limits], autorange=False)
