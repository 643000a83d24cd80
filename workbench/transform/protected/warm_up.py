"""Scripts that the zygote draws once, so that everything which libraries load at their first use is loaded."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ...dataset import Samples, pack
from ...errors import ScriptError
from ...table import Table
from ..inprocess import draw

_HEAD = "import re, math, datetime, statistics\nfrom scipy import signal, stats, optimize, interpolate\n"
SCRIPTS = (
    """
def transform(data, params):
    figure = go.Figure()
    for key, d in data["curves"].items():
        figure.add_trace(go.Scattergl(x=d["t"], y=d["U"], name=key, mode="lines"))
        figure.add_scatter(x=d["t"], y=signal.savgol_filter(d["U"], 7, 2), name=key, line=dict(width=1))
    figure.update_layout(title="A", xaxis_title="Time [s]", template="plotly_white", legend=dict(x=0))
    figure.add_hline(y=3.5, line_dash="dash", annotation_text="b")
    figure.add_vrect(x0=1, x1=2, fillcolor="red", opacity=0.1)
    print(len(data))
    return figure
""",
    """
def transform(data, params):
    d = data["rows"].copy()
    d["cell"] = d["name"].str.extract(r"^(\\w+)-", expand=False).fillna("none").str.upper()
    d["part"] = d.groupby("id")["y"].transform(lambda s: 100 * s / s.iloc[0])
    d["smooth"] = d.groupby("id")["y"].transform(lambda s: s.rolling(3, min_periods=1).median())
    d["slope"] = np.gradient(d["y"], d["x"]) + np.polyfit(d["x"], d["y"], 2)[0]
    d["month"] = d["at"].dt.tz_convert("Europe/Berlin").dt.strftime("%Y-%m")
    wide = d.pivot_table(index="x", columns="name", values="y", aggfunc=["mean", "std"])
    d = d.merge(d.groupby("cell", as_index=False).agg(most=("y", "max")), on="cell").sort_values("x")
    figure = px.line(d, x="x", y="smooth", color="cell", symbol="name", hover_data=["y"], markers=True)
    figure.add_traces(px.scatter(d, x="x", y="y", color="y", facet_col="cell", size="most").data)
    figure.add_traces([go.Heatmap(z=wide.to_numpy()), go.Contour(z=wide.to_numpy()), go.Histogram(x=d["y"])])
    return figure
""",
    """
def transform(data, params):
    from plotly.subplots import make_subplots
    figure = make_subplots(2, 2, shared_xaxes=True, specs=[[{"secondary_y": True}, {}], [{}, {"type": "domain"}]])
    d = data["rows"]
    figure.add_trace(go.Box(y=d["y"], name="a", boxpoints="all"), row=1, col=1)
    figure.add_trace(go.Bar(x=d["name"], y=d["y"], error_y=dict(array=d["y"])), row=1, col=2)
    figure.add_trace(go.Violin(y=d["y"]), row=2, col=1)
    figure.add_trace(go.Table(header=dict(values=["a"]), cells=dict(values=[d["name"]])), row=2, col=2)
    figure.update_xaxes(title_text="x", type="log").update_yaxes(title_text="y")
    figure.add_annotation(text="n", x=1, y=1, showarrow=False)
    stats.linregress(d["x"], d["y"]), optimize.curve_fit(lambda x, a: a * x, d["x"], d["y"])
    interpolate.interp1d(d["x"], d["y"])(d["x"])
    return figure
""",
    """
def transform(data, params):
    long = data["curves"].long()
    px.bar(long, x="id", y="U", barmode="group"), px.box(long, x="id", y="U"), px.histogram(long, x="U")
    px.imshow(np.ones((3, 3))), px.violin(long, y="U"), px.area(long, x="t", y="U", color="id")
    px.colors.sample_colorscale("Viridis", 3)
    warnings.warn("seen")
    raise ValueError(f"{long.groupby('id').size().to_dict()} {long.describe()} {1 / 3:.3g}")
""",
)


TOUCH = """
def transform(data, params):
    figure = go.Figure()
    for key, d in data["curves"].items():
        figure.add_trace(go.Scatter(x=d["t"], y=d["U"], name=key))
    figure.update_layout(title="A", xaxis_title="t")
    print(len(data["rows"]))
    return figure
"""


def touch() -> None:
    """Draw a small figure in a process that still waits for its job. The first write to a page of memory copies it; so
    these copies happen now and not while somebody waits."""
    draw(TOUCH, data(), {})


def draw_some() -> None:
    """Draw each of the scripts. The last one raises a ValueError on purpose, so that errors are warm too."""
    packed = data()
    for text in SCRIPTS:
        try:
            draw(_HEAD + "import warnings\n" + text, packed, {"a": 1})
        except ScriptError as error:
            if "ValueError" not in str(error):
                raise


@cache
def data() -> bytes:
    """A small dataset with every kind of column."""
    n = 64
    curve = Table.of({"t": np.arange(n) * 1.0, "U": np.linspace(4, 3, n)})
    rows: dict[str, NDArray[np.generic] | list[JsonValue]] = {
        "id": np.repeat(["a", "b"], 20),
        "name": np.repeat(["A-1", "B-1"], 20),
        "x": np.tile(np.arange(1, 21), 2),
        "y": np.linspace(5, 4, 40),
        "at": np.datetime64("2024-01-01T00:00:00", "us") + np.arange(40) * np.timedelta64(1, "h"),
        "n": [1, None] * 20,
        "b": [True, None] * 20,
    }
    return pack({"curves": {key: Samples(np.arange(n), curve, True, n) for key in "ab"}, "rows": Table.of(rows)})
