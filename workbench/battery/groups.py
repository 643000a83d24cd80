"""Mean and spread of a group of cells, with the number of cells at every point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .plotly_dict import PlotlyDict
from .titles import axis_title


def mean_and_spread(frame: pd.DataFrame, x: str, y: str, by: str | Sequence[str] = ()) -> pd.DataFrame:
    """Mean and spread of ``y`` at every ``x``, for each group. Put curves on a grid of x first, and draw the
    rows with the ``n`` of the beginning: where a curve ends the mean jumps.

    Returns the columns of ``by``, then ``x``, ``mean``, ``std`` (of the sample, NaN for a single value), ``n``,
    ``low`` and ``high`` (mean minus and plus std). Of a single value ``low`` and ``high`` are the mean. Groups are in
    the order in which they first appear (a null key is a group), x ascends. Rows without x or y do not count.
    """
    keys = [by] if isinstance(by, str) else list(by)
    rows = frame.dropna(subset=[x, y])
    labels = pd.Series(0, index=rows.index)
    if keys:
        labels = rows.groupby(keys, sort=False, dropna=False).ngroup()
    grouped = rows.assign(__group__=labels).groupby(["__group__", x], sort=True)
    made = grouped[y].agg(mean="mean", std="std", n="count").reset_index()
    if keys:
        first = rows.assign(__group__=labels).drop_duplicates("__group__").set_index("__group__")[keys]
        made = made.join(first, on="__group__")
    spread = made["std"].fillna(0.0)
    made = made.assign(low=made["mean"] - spread, high=made["mean"] + spread)
    return made[[*keys, x, "mean", "std", "n", "low", "high"]]


def band(summary: pd.DataFrame, x: str, name: str, color: str, *, y: str = "") -> list[PlotlyDict]:
    """Two traces of one group of ``mean_and_spread``: a filled band of the spread, and the line of the mean.

    Parameters
    ----------
    summary : the rows of one group.
    name, color : of the line; the band has the same colour, pale, and no entry in the legend.
    y : the column that was averaged, for the hover text.
    """
    label = axis_title(y) if y else "mean"
    closed = {
        "x": np.concatenate([summary[x], summary[x][::-1]]),
        "y": np.concatenate([summary["high"], summary["low"][::-1]]),
    }
    shade = {"type": "scatter", "mode": "lines", "fill": "toself", "fillcolor": pale(color), "line": {"width": 0}}
    line = {
        "type": "scatter",
        "mode": "lines" if len(summary) > 1 else "markers",
        "x": summary[x],
        "y": summary["mean"],
        "name": name,
        "legendgroup": name,
        "line": {"color": color},
        "marker": {"color": color},
        "customdata": np.column_stack([summary["std"], summary["n"]]),
        "hovertemplate": f"{label}: %{{y:.4g}} ± %{{customdata[0]:.2g}} (n = %{{customdata[1]:.0f}})",
    }
    return [{**shade, **closed, "legendgroup": name, "showlegend": False, "hoverinfo": "skip"}, line]


def pale(color: str, opacity: float = 0.2) -> str:
    """A colour ``#rrggbb`` or ``rgb(r, g, b)`` as ``rgba(...)`` of the given opacity."""
    if color.startswith("#") and len(color) == 7:
        parts = [int(color[place : place + 2], 16) for place in (1, 3, 5)]
    elif color.startswith("rgb("):
        parts = [round(float(part)) for part in color[4:-1].split(",")]
    else:
        raise ValueError(f"'{color}' is not a colour of the form #rrggbb or rgb(r, g, b).")
    return f"rgba({parts[0]}, {parts[1]}, {parts[2]}, {opacity:g})"
