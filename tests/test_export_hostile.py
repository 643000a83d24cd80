"""The table of a figure that somebody else's script drew: bounded, and a table or words whatever is in it."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import board_export, export, figure_traces
from workbench.errors import BadRequest
from workbench.figure_numbers import tidy
from workbench.lint import lint
from workbench.pictures.fitting import fitted
from workbench.transform.figure_check import Unsafe, checked
from workbench.typed_arrays import decode


def raw(*traces: Any) -> bytes:
    return checked(orjson.dumps({"data": list(traces), "layout": {}}))


BOMBS = {
    "one long row of custom data": {"customdata": [[1] * 20_000] + [[]] * 20_000},
    "one long row of a grid": {"type": "heatmap", "z": [[1] * 20_000] + [[]] * 20_000},
    "rows of nothing": {"type": "heatmap", "z": {"dtype": "u1", "bdata": "", "shape": "9999999999,0"}},
    "rows of nothing, custom": {"customdata": {"dtype": "u1", "bdata": "", "shape": "9999999999,0"}},
    "cells of nothing": {
        "type": "table",
        "cells": {"values": {"dtype": "u1", "bdata": "", "shape": "9999999999,0"}},
    },
    "one long column": {"type": "table", "cells": {"values": [[1] * 20_000] + [[]] * 20_000}},
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_figure_makes_no_huge_table(name: str) -> None:
    began = time.process_time()
    with pytest.raises(BadRequest, match="rows"):
        figure_traces.traces(raw(BOMBS[name]))
    assert time.process_time() - began < 2


def test_many_traces_of_other_columns_make_no_huge_table() -> None:
    tables = [
        {"type": "table", "header": {"values": [f"{n} {m}" for m in range(100)]}, "cells": {"values": [[1]] * 100}}
        for n in range(500)
    ]
    began = time.process_time()
    with pytest.raises(BadRequest):
        figure_traces.traces(raw(*tables))
    assert time.process_time() - began < 5


ODD = {
    "start beyond 64 bits": {"y": [1, 2], "x0": 2**64 - 1, "dx": 2},
    "step without end": {"y": [1, 2], "x0": 1e308, "dx": 1e308},
    "cells as a list": {"type": "table", "cells": [1]},
    "one cell": {"type": "table", "cells": {"values": [1, 2]}, "header": {"values": 5}},
    "bars as a list": {"y": [1], "error_y": [1]},
    "grid with a number": {"type": "heatmap", "z": [1, [2]]},
    "longer axis than grid": {"type": "heatmap", "z": [[1], [2]], "x": [1, 2, 3]},
    "custom data of both kinds": {"customdata": [1, [2]]},
    "empty grid": {"type": "heatmap", "z": [[], []]},
    "shape as a list": {"y": {"dtype": "u1", "bdata": "AQID", "shape": [3]}},
    "no shape": {"y": {"dtype": "u1", "bdata": "AQID", "shape": None}},
    "array in a cell": {"type": "table", "cells": {"values": [{"dtype": "u1", "bdata": "AQID", "shape": "1,3"}]}},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_traces_are_tables_too(name: str) -> None:
    table = figure_traces.traces(raw(ODD[name]))
    assert export.table_csv(table).startswith(b"trace,name")
    assert export.table_parquet(table)


def test_a_shape_as_a_list_is_read() -> None:
    assert decode(raw(ODD["shape as a list"]))["data"][0]["y"].tolist() == [1, 2, 3]


ARRAYS = st.sampled_from(
    [
        {"dtype": "u1", "bdata": "AQID"},
        {"dtype": "u1", "bdata": "AQID", "shape": "1,3"},
        {"dtype": "i1", "bdata": "AQID", "shape": [3, 1]},
        {"dtype": "f8", "bdata": "", "shape": "0"},
        {"dtype": "u1c", "bdata": "AQID"},
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=4)
    | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["array", "arrayminus", "values", "a"]), inner, max_size=2)
    ),
    max_leaves=12,
)
TRACES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["scatter", "bar", "heatmap", "table", "pie"]),
        **dict.fromkeys(("name", "x", "y", "z", "x0", "dx", "customdata", "cells", "header", "error_y"), VALUES),
    },
)


@settings(max_examples=300, deadline=None)
@given(st.lists(TRACES, max_size=2))
def test_whatever_passes_the_look_at_a_figure_is_a_table_or_words(traces: list[Any]) -> None:
    try:
        table = figure_traces.traces(raw(*traces))
    except (Unsafe, BadRequest):
        return
    assert export.table_csv(table)
    assert export.table_parquet(table)


_PAIR = {"dtype": "u1", "bdata": "AQI="}
ODD_PARTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "an array for an axis": ({"xaxis": _PAIR}, {}),
    "an array for a scene": ({"scene": _PAIR, "type": "surface", "z": [[1]]}, {}),
    "an array to lie over": ({"yaxis": "y2"}, {"yaxis2": {"overlaying": _PAIR}}),
    "an array for a note": ({}, {"annotations": [{"text": _PAIR}]}),
    "numbers for rows": ({"hovertemplate": "n = %{customdata[1]}", "customdata": [1, 2]}, {}),
    "texts for a domain": ({}, {"xaxis": {"domain": ["a", "b"]}}),
    "a short domain": ({}, {"xaxis": {"domain": [0]}}),
    "a text for a size": ({"mode": "markers", "marker": {"size": [1, 2], "sizeref": "a"}}, {}),
    "a text for a place": ({}, {"annotations": [{"text": "a", "yref": "paper", "y": "b"}]}),
}


@pytest.mark.parametrize("name", ODD_PARTS)
def test_an_odd_part_of_a_figure_stops_nobody(name: str) -> None:
    """plotly.js leaves out what it cannot read. Numbers, lint and print do so too, or say it."""
    trace, layout = ODD_PARTS[name]
    made = checked(orjson.dumps({"data": [{"x": [1, 2], "y": [1, 2], **trace}], "layout": layout}))
    assert tidy(made).n > 0
    lint(made)
    with contextlib.suppress(BadRequest):
        fitted(made, {"paper": True})


def test_a_name_is_no_markup_in_a_notebook() -> None:
    """Programs that make a page of a notebook leave the tags of its texts as they are."""
    name = "A<script>alert(1)</script>\n & <img src=x onerror=alert(1)> ![a](https://a.example/b)"
    recipe: dict[str, Any] = {"plan": {}, "transform": ""}
    plot = orjson.loads(export.notebook(recipe, name=name))
    board = orjson.loads(board_export.notebook(name, [board_export.Part(name, recipe, None, None)], "wb.open()"))
    said = [cell["source"] for one in (plot, board) for cell in one["cells"] if cell["cell_type"] == "markdown"]
    shown = "A&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;img src=x onerror=alert(1)&gt; ![a]&#40;https://a.example/b)"
    assert said == [f"# {shown}", f"# {shown}", f"## {shown}"]
