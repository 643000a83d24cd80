"""Texts that try to make plotly fetch or run, for every text attribute that plotly's schema has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import plotly

_FETCH = "style='background-image:url({u});cursor:url({u}),auto;list-style-image:url({u})'>x</b>"
_TAIL = f"b {_FETCH}"
PAYLOADS: list[tuple[str, str]] = [
    # Whole tags, styles, entities, links and images.
    (f"<b {_FETCH}", ""),
    ("<span STYLE=\"background:URL('{u}')\">x</span>", ""),
    ("<b style=x\"style='background: url({u})'>x</b>", ""),
    ("<b title=\"x style='background:url({u})'\">x</b>", ""),
    ("<b\nstyle='background:image-set(\"{u}\" 1x)'>x</b>", ""),
    ("<b style='background:u\\72l({u})'>x</b>", ""),
    ("<b style='background:ur&#108;({u})'>x</b>", ""),
    ("<b style\ufeff=\ufeff'background:url({u})'>x</b>", ""),
    ("<a_href='{u}'style='background:url({u})'>x</a>", ""),
    ("<a href='javascript:window.ran=1' target='_top'>x</a>", ""),
    ("<a href='https://a.example' target='_self'>x</a>", ""),
    ("<a href='https://a.example' popup='width=1'>x</a>", ""),
    ("<img src={u} onerror=window.ran=1>", ""),
    ("<svg onload=window.ran=1><image href='{u}'/></svg>", ""),
    ("<script>window.ran=1;fetch('{u}')</script>", ""),
    ("<iframe src='{u}'></iframe>", ""),
    (f"&lt;b {_FETCH}", ""),
    (f"&#60;b {_FETCH}", ""),
    (f"<b sty<x>{_FETCH[3:]}", ""),
    (f"<<x>b {_FETCH}", ""),
    ("$\\href{{{u}}}{{x}}$", ""),
    ("{u}", ""),
    ("url({u})", ""),
    ("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='window.ran=1'/>", ""),
    # Beginnings, of which plotly makes a tag with the text that follows.
    ("<", _TAIL),
    ("<b ", _FETCH),
    ("<b sty", _FETCH[3:]),
    ("<brick", _FETCH),
    ("<^9", _TAIL),
    ("<<9,.2f", _TAIL),
    ("<=9", _TAIL),
    ("<>9d", _TAIL),
    ("%<", _TAIL),
    ("<%i ", _FETCH),
    ("%Y %-<", _TAIL),
    ("<,", _TAIL),
    ("%{{x|<}}%{{customdata}}", _TAIL),
    ("%{{x:<^9}}%{{customdata}}", _TAIL),
    ("%{{x|%%d:<}}%{{customdata}}", _TAIL),
    ("<%{{customdata}}", _TAIL),
    ("%{{nothing}}<%{{customdata}}", _TAIL),
    ("%{{xaxis._gd._fullData[0]._module.plot}}%{{customdata}}", f"' {_FETCH}"),
]
"""Each is the text of an attribute and the text that others have, which may come behind it."""

_XY = {"x": ["2024-01-01", "2024-02-01", "2024-03-01"], "y": [1, 20000, 3]}
_TREE = {"labels": ["a", "b", "c"], "parents": ["", "a", "a"], "values": [3, 1, 2]}
_GRID = {"z": [[1, 2, 3], [4, 50000, 6], [7, 8, 9]]}
_BARS = {"open": [1, 2, 3], "high": [4, 5, 6], "low": [0, 1, 2], "close": [2, 3, 4], "x": [1, 2, 3]}
TRACES: dict[str, dict[str, Any]] = {
    "scatter": {**_XY, "mode": "markers+text+lines"},
    "bar": _XY,
    "box": {"y": [1, 2, 9, 3]},
    "violin": {"y": [1, 2, 9, 3]},
    "histogram": {"x": [1, 1, 2]},
    "histogram2d": {"x": [1, 1, 2], "y": [1, 1, 2]},
    "histogram2dcontour": {"x": [1, 1, 2], "y": [1, 1, 2]},
    "heatmap": _GRID,
    "contour": {**_GRID, "contours": {"showlabels": True}},
    "candlestick": _BARS,
    "ohlc": _BARS,
    "waterfall": {"x": ["a", "b"], "y": [1, 2], "textinfo": "label+text+delta"},
    "funnel": {"x": [3, 2], "y": ["a", "b"], "textinfo": "label+text+value"},
    "pie": {"labels": ["a", "b"], "values": [1, 2], "textinfo": "label+text+value"},
    "funnelarea": {"labels": ["a", "b"], "values": [1, 2], "textinfo": "label+text+value"},
    "sunburst": {**_TREE, "textinfo": "label+text+value"},
    "treemap": {**_TREE, "textinfo": "label+text+value"},
    "icicle": {**_TREE, "textinfo": "label+text+value"},
    "sankey": {"node": {"label": ["a", "b"]}, "link": {"source": [0], "target": [1], "value": [2]}},
    "table": {"header": {"values": ["a", "b"]}, "cells": {"values": [[1000, 2], [3, 4]]}},
    "parcats": {"dimensions": [{"values": ["a", "b"]}, {"values": ["c", "d"]}]},
    "parcoords": {"dimensions": [{"values": [1, 2]}, {"values": [3, 4]}]},
    "indicator": {"value": 1234, "mode": "number+delta+gauge", "delta": {"reference": 3}},
    "scatterpolar": {"r": [1, 2], "theta": [10, 60]},
    "barpolar": {"r": [1, 2], "theta": [10, 60]},
    "scatterternary": {"a": [1, 2], "b": [2, 1], "c": [3, 3]},
    "scattersmith": {"real": [1, 2], "imag": [0, 1]},
    "carpet": {"a": [4, 4, 5, 5], "b": [1, 2, 1, 2], "y": [1, 2, 3, 4]},
    "splom": {"dimensions": [{"values": [1, 2]}, {"values": [3, 4]}]},
    "scattergl": _XY,
    "scatter3d": {"x": [1, 2], "y": [1, 2], "z": [1, 2]},
    "surface": _GRID,
}
NO_TEXT = ("family", "shadow", "uid", "ids", "stream", "legend", "map", "mapbox", "geo")


@cache
def text_attributes() -> tuple[str, ...]:
    """The paths of all text attributes of plotly's schema, as plotly.py ships it."""
    schema = Path(plotly.__file__).parent / "validators" / "_validators.json"
    known = json.loads(schema.read_text("utf-8"))
    kinds = ("StringValidator", "TitleValidator", "AnyValidator")
    return tuple(sorted(path for path, about in known.items() if about["superclass"] in kinds))


@cache
def _listed() -> frozenset[str]:
    """The paths of elements of lists, such as ``layout.annotation``, which stand for ``layout.annotations[0]``."""
    schema = Path(plotly.__file__).parent / "validators" / "_validators.json"
    known = json.loads(schema.read_text("utf-8"))
    return frozenset(path for path, about in known.items() if about["superclass"] == "CompoundArrayValidator")


def put(figure: dict[str, Any], path: str, value: Any) -> None:
    """Set an attribute of a figure by its path in the schema; lists get one element."""
    kind, *names = path.split(".")
    at = figure["layout"]
    if kind != "layout":
        at = next((trace for trace in figure["data"] if trace["type"] == kind), None)
        if at is None:
            at = {"type": kind, **TRACES.get(kind, {})}
            figure["data"].append(at)
    for depth, name in enumerate(names):
        plural = f"{name}s" if ".".join([kind, *names[:depth], f"{name}s"]) in _listed() else ""
        if depth == len(names) - 1:
            at[name] = value
        elif plural:
            if not isinstance(at.get(plural), list) or not at[plural]:
                at[plural] = [{"visible": True} if name in ("annotation", "slider", "updatemenu") else {}]
            at = at[plural][0]
        else:
            if not isinstance(at.get(name), dict):
                at[name] = {}
            at = at[name]


def cases() -> Iterator[tuple[str, int]]:
    """Every text attribute with the number of every payload."""
    return product(text_attributes(), range(len(PAYLOADS)))


def figure_of(attributes: Iterable[str], payload: int, address: str) -> bytes:
    """A figure with a payload in some attributes, and what may complete it in the texts around them."""
    text, tail = (part.format(u=address) for part in PAYLOADS[payload])
    figure: dict[str, Any] = {"data": [], "layout": {"width": 700, "height": 500}}
    for path in attributes:
        put(figure, path, text)
    if not figure["data"]:
        figure["data"].append({"type": "scatter", **TRACES["scatter"]})
    if tail:
        layout = figure["layout"]
        layout.setdefault("meta", [tail])
        for axis in ("xaxis", "yaxis"):
            of = layout.setdefault(axis, {})
            of.setdefault("ticksuffix", tail)
            of.setdefault("labelalias", {"1": tail})
        for trace in figure["data"]:
            trace.setdefault("customdata", [tail] * 3)
            trace.setdefault("text", [tail] * 3)
            trace.setdefault("hoverinfo", "all")
        if any("namelength" in path for path in attributes):
            layout["hoverlabel"] = {"namelength": 2}
    return orjson.dumps(figure)
