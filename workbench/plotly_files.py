"""The files of plotly.js: a small one for the usual kinds of traces, and the whole of the installed plotly."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

Name: TypeAlias = Literal["small", "whole"]

SMALL = Path(__file__).parents[1] / "server" / "page" / "vendor" / "plotly-cartesian.js"
"""A third of the whole: a page has it sooner, and a browser compiles it in less than half the time."""
_OF_WHOLE = re.compile(r"(scene|geo|map|polar|smith)")
_FACTORY, _FACTORY_ENDS = ', () => {\n"use strict";var Plotly=', "\n}));"
_FUNCTION, _FUNCTION_ENDS = ', (function() {\n"use strict";var Plotly=', "\n})));"


def plotly_source() -> str:
    """The plotly.js that belongs to the installed plotly."""
    source: str = importlib.import_module("plotly.offline").get_plotlyjs()
    return source


def parsed_sooner(source: str) -> str:
    """The whole file with the function that holds all of it in parentheses. A browser parses it at once then, and does
    not look it through before. The small file has parentheses also around each module (``tools/vendor``)."""
    if source.count(_FACTORY) != 1 or not source.endswith(_FACTORY_ENDS):
        return source
    return source.removesuffix(_FACTORY_ENDS).replace(_FACTORY, _FUNCTION) + _FUNCTION_ENDS


def source_of(name: Name) -> str:
    """The text of a file."""
    return SMALL.read_text("utf-8") if name == "small" else parsed_sooner(plotly_source())


def needed_by(figure: Mapping[str, Any]) -> Name:
    """The file that draws all of a figure: ``small``, where it knows every kind of trace and of subplot."""
    if not SMALL.exists():
        return "whole"
    kinds = {one.get("type", "scatter") for one in figure.get("data", [])}
    drawn = kinds <= _small_kinds() and not any(map(_OF_WHOLE.match, figure.get("layout", {})))
    return "small" if drawn else "whole"


@cache
def _small_kinds() -> frozenset[str]:
    """The kinds of traces that the small file draws; it draws others as ``scatter``, without a word."""
    return frozenset(re.findall(r'moduleType:"trace",name:"([a-z0-9]+)"', SMALL.read_text("utf-8")))
