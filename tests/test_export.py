"""Files that leave the workbench: whole, exact, and inert."""

from __future__ import annotations

import csv
import io
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import plotly.graph_objects as go
import pyarrow.parquet as pq
import pytest
from support.needs import chromium

from workbench import export, figure_traces
from workbench.dataset import Samples
from workbench.errors import BadRequest, ExportUnavailable
from workbench.inert_page import POLICY_TAG, inert_script
from workbench.passport import Passport
from workbench.table import Column, Table
from workbench.transform.figure import encode

NASTY = "</script><script>window.pwned=1</script><!--\u2028&<b>"


def figure(*traces: object, **layout: object) -> bytes:
    return encode({"data": list(traces), "layout": layout})


def rows(data: bytes) -> list[dict[str, object]]:
    return figure_traces.traces(data).records()


def test_traces_in_long_form_with_every_value() -> None:
    made = figure_traces.traces(
        figure(
            {"type": "scatter", "name": "A", "x": np.array([1.5, 2.5]), "y": np.array([1, 300])},
            {"type": "bar", "x": ["u", "v"], "y": [0.1, None], "error_y": {"array": [0.5, 0.25]}},
        )
    )
    assert made.names == ["trace", "name", "x", "y", "error_y"]
    assert made.records() == [
        {"trace": 0, "name": "A", "x": 1.5, "y": 1, "error_y": None},
        {"trace": 0, "name": "A", "x": 2.5, "y": 300, "error_y": None},
        {"trace": 1, "name": "trace 1", "x": "u", "y": 0.1, "error_y": 0.5},
        {"trace": 1, "name": "trace 1", "x": "v", "y": None, "error_y": 0.25},
    ]


def test_implied_axes_are_written_out() -> None:
    assert [row["x"] for row in rows(figure({"y": [5, 6, 7]}))] == [0, 1, 2]
    assert [row["x"] for row in rows(figure({"y": [5, 6], "x0": 10, "dx": 5}))] == [10, 15]
    assert [row["y"] for row in rows(figure({"x": [5, 6]}))] == [0, 1]
    assert "x" not in rows(figure({"type": "box", "y": [5, 6]}))[0]


def test_what_is_drawn_by_a_rule_is_written_out() -> None:
    """Bars from a base of their own, and error bars without a list."""
    (bar,) = rows(figure({"type": "bar", "x": ["u"], "y": [3.0], "base": 5}))
    assert (bar["y"], bar["base"]) == (3.0, 5)
    percent = rows(figure({"y": [-2.0, 4.0], "error_y": {"type": "percent", "value": 10}}))
    assert [row["error_y"] for row in percent] == pytest.approx([0.2, 0.4])
    constant = rows(figure({"y": [1, 4], "error_y": {"type": "constant", "value": 0.5, "valueminus": 0.25}}))
    assert [(row["error_y"], row["error_y_minus"]) for row in constant] == [(0.5, 0.25), (0.5, 0.25)]
    assert [row["error_y"] for row in rows(figure({"y": [1, 4], "error_y": {"type": "sqrt"}}))] == [1, 2]
    assert "error_y" not in rows(figure({"y": [1], "error_y": {"type": "sqrt", "visible": False}}))[0]


def test_a_grid_that_is_turned_or_bent_keeps_its_places() -> None:
    turned = rows(
        figure({"type": "heatmap", "x": [10, 20], "y": [1, 2, 3], "z": [[1, 2, 3], [4, 5, 6]], "transpose": True})
    )
    assert {(row["x"], row["y"]): row["z"] for row in turned} == {
        (10, 1): 1, (10, 2): 2, (10, 3): 3, (20, 1): 4, (20, 2): 5, (20, 3): 6,
    }  # fmt: skip
    places = {"x": [[0.5, 1.5], [0.6, 1.6]], "y": np.array([[7.0, 7.0], [8.0, 8.5]])}
    bent = rows(figure({"type": "surface", "z": [[1, 2], [3, 4]], **places}))
    assert [(row["x"], row["y"], row["z"]) for row in bent] == [
        (0.5, 7, 1),
        (1.5, 7, 2),
        (0.6, 8, 3),
        (1.6, 8.5, 4),
    ]


def test_grids_give_a_row_a_cell() -> None:
    made = rows(
        figure({"type": "heatmap", "x": [10, 20], "y": ["a", "b"], "z": np.array([[1.0, 2.0], [3.0, 4.0]])})
    )
    assert [(row["x"], row["y"], row["z"]) for row in made] == [
        (10, "a", 1.0),
        (20, "a", 2.0),
        (10, "b", 3.0),
        (20, "b", 4.0),
    ]
    edged = {"x": [0, 10, 30], "y": ["2026-01-01", "2026-01-03", "2026-01-03T06:00:00"]}
    made = rows(figure({"type": "heatmap", **edged, "z": [[1, 2], [3, 4]]}))
    assert [(row["x"], row["y"], row["z"]) for row in made] == [
        (5, "2026-01-02T00:00:00", 1),
        (20, "2026-01-02T00:00:00", 2),
        (5, "2026-01-03T03:00:00", 3),
        (20, "2026-01-03T03:00:00", 4),
    ], "a heat map may have the edges of its cells"
    named = rows(figure({"type": "heatmap", "x": ["a", "b", "c"], "z": [[1, 2]], "y": np.array([0.5, 1.5])}))
    assert [(row["x"], row["y"]) for row in named] == [("a", 1), ("b", 1)]
    ragged = rows(figure({"type": "heatmap", "z": [[1, 2], [3]]}))
    assert [(row["x"], row["y"], row["z"]) for row in ragged] == [(0, 0, 1), (1, 0, 2), (0, 1, 3), (1, 1, None)]


def test_other_traces_keep_their_columns() -> None:
    assert rows(figure({"type": "pie", "labels": ["a"], "values": [3]})) == [
        {"trace": 0, "name": "trace 0", "labels": "a", "values": 3}
    ]
    table = {"type": "table", "header": {"values": ["cell", "name"]}, "cells": {"values": [["a", "b"], [1, 2]]}}
    assert rows(figure(table))[1] == {"trace": 0, "name": "trace 0", "cell": "b", "name (1)": 2}
    custom = {"y": [1, 2], "customdata": [["p", 1], ["q", 2]], "text": ["s", "t"]}
    assert rows(figure(custom))[0] == {
        "trace": 0,
        "name": "trace 0",
        "x": 0,
        "y": 1,
        "text": "s",
        "customdata 0": "p",
        "customdata 1": 1,
    }
    assert rows(figure({"type": "bar", "x": [["a", "a"], ["u", "v"]], "y": [1, 2]}))[1]["y"] == 2
    assert figure_traces.traces(figure()).n == 0


def test_numbers_of_boxes_flows_gauges_and_bodies_are_there() -> None:
    box = {"type": "box", "x": ["a"], "q1": [1], "median": [2], "q3": [4], "lowerfence": [0], "upperfence": [5]}
    assert {"lowerfence": 0, "q1": 1, "median": 2, "q3": 4, "upperfence": 5}.items() <= rows(figure(box))[
        0
    ].items()
    link = {"source": [0, 0], "target": [1, 2], "value": np.array([0.9, 0.1])}
    flows = rows(figure({"type": "sankey", "node": {"label": ["in", "out", "loss"]}, "link": link}))
    assert [(row["source"], row["target"], row["value"]) for row in flows] == [
        ("in", "out", 0.9),
        ("in", "loss", 0.1),
    ]
    assert rows(figure({"type": "indicator", "value": 87.5}))[0]["value"] == 87.5
    field = {"type": "isosurface", "x": [1], "y": [2], "z": [3], "value": [4.5]}
    assert rows(figure(field))[0]["value"] == 4.5
    assert rows(figure({"type": "sankey"})) == []


def test_each_cell_of_a_grid_keeps_its_text_and_what_is_shown_on_hover() -> None:
    more = {"text": [["a", "b"], ["c", "d"]], "customdata": [[[1, 5], [2, 6]], [[3, 7]]], "transpose": True}
    made = rows(figure({"type": "heatmap", "z": [[10, 20], [30, 40]], **more}))
    assert [(one["z"], one["text"], one["customdata 0"], one["customdata 1"]) for one in made] == [
        (10, "a", 1, 5),
        (30, "c", 3, 7),
        (20, "b", 2, 6),
        (40, "d", None, None),
    ]
    surface = {"type": "surface", "z": [[1, 2]], "surfacecolor": np.array([[7.5, 8.5]])}
    assert [one["surfacecolor"] for one in rows(figure(surface))] == [7.5, 8.5]


def test_error_bars_that_are_off_are_not_written() -> None:
    bars = {"array": [0.5], "arrayminus": [0.25], "visible": False}
    assert "error_y" not in rows(figure({"x": [1], "y": [2], "error_y": bars}))[0]


def test_traces_of_unequal_lengths_are_filled_with_nulls() -> None:
    assert [row["y"] for row in rows(figure({"x": [1, 2, 3], "y": [1.5]}))] == [1.5, None, None]


EVERY = Table.of(
    {
        "number": Column("number", np.array([0.1, np.nan, -0.0, np.inf]), np.array([True, True, True, True])),
        "float32": np.array([0.1, 1, 2, 3], np.float32),
        "integer": [2**53 + 1, None, -1, 0],
        "boolean": [True, None, False, True],
        "text": ['a,"b"\n', None, "", "ü"],
        "time": [
            datetime(2026, 1, 31, 12, tzinfo=UTC),
            None,
            datetime(1, 1, 1, tzinfo=UTC),
            datetime(2026, 1, 1, tzinfo=UTC),
        ],
        "null": [None, None, None, None],
        "mixed": ["a", 1, None, 1.5],
    }
)


def test_csv_reads_back_exactly() -> None:
    text = export.table_csv(EVERY).decode()
    read = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["number"] for row in read] == ["0.1", "NaN", "-0.0", "inf"]
    assert np.float32(read[0]["float32"]) == np.float32(0.1)
    assert [row["integer"] for row in read] == [str(2**53 + 1), "", "-1", "0"]
    assert [row["boolean"] for row in read] == ["true", "", "false", "true"]
    assert [row["text"] for row in read] == ['a,"b"\n', "", "", "ü"]
    assert read[0]["time"] == "2026-01-31T12:00:00.000000Z"
    assert [row["mixed"] for row in read] == ["a", "1", "", "1.5"]
    assert {row["null"] for row in read} == {""}


def test_parquet_keeps_types_nulls_and_bits() -> None:
    made = pq.read_table(io.BytesIO(export.table_parquet(EVERY)))
    types = {field.name: str(field.type) for field in made.schema}
    assert types == {
        "number": "double",
        "float32": "float",
        "integer": "int64",
        "boolean": "bool",
        "text": "string",
        "time": "timestamp[us, tz=UTC]",
        "null": "double",
        "mixed": "string",
    }
    assert made["number"].null_count == 0
    assert np.signbit(made["number"].to_numpy()[2])
    assert made["integer"].to_pylist() == [2**53 + 1, None, -1, 0]
    assert made["text"].to_pylist() == ['a,"b"\n', None, "", "ü"]
    assert made["mixed"].to_pylist() == ["a", "1", None, "1.5"]
    assert made["time"].to_pylist()[1] is None


def test_rows_of_a_series_step() -> None:
    table = Table.of({"t": [0.0, 1.0], "id": ["p", "q"]})
    series = {key: Samples(np.array(sample), table, True, 2) for key, sample in {"a": [4, 7], "b": [0, 1]}.items()}
    made = export.step_table(series)
    assert made.names == ["source id", "sample", "t", "id"]
    assert made["source id"].tolist() == ["a", "a", "b", "b"]
    assert made["sample"].tolist() == [4, 7, 0, 1]
    assert export.step_table({}).n == 0
    assert export.step_table(EVERY) is EVERY


def test_the_ending_chooses_the_format(tmp_path: Path) -> None:
    data = figure({"y": [1, 2]}, title="T")
    assert export.save(tmp_path / "a.json", data).read_bytes() == data
    assert export.save(tmp_path / "a.csv", data).read_text() == "trace,name,y,x\n".replace("y,x", "x,y") + (
        "0,trace 0,0,1\n0,trace 0,1,2\n"
    )
    assert pd.read_parquet(export.save(tmp_path / "a.parquet", data))["y"].tolist() == [1, 2]
    assert b"Plotly.newPlot" in export.save(tmp_path / "a.HTML", data).read_bytes()
    export.save_table(tmp_path / "steps.csv", EVERY)
    for name, words in (("a.htm", "Did you mean 'html'"), ("a", "The endings are")):
        with pytest.raises(BadRequest, match=words):
            export.save(tmp_path / name, data)
    with pytest.raises(BadRequest):
        export.save_table(tmp_path / "a.png", EVERY)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = export.write(tmp_path / "f.csv", b"old")

    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        export.write(target, b"new and longer")
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f.csv"]


def test_a_table_that_does_not_fit_leaves_the_older_one_with_its_passport(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    export.save_table(tmp_path / "a.csv", Table.of({"v": [1.0, 2.0]}), Passport(figure="ab"))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert sorted(before) == ["a.csv", "a.csv.json"]
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
        for name in ("a.csv", "new.csv"):
            with pytest.raises(OSError, match=name):
                export.save_table(
                    tmp_path / name, Table.of({"v": [float(n) for n in range(5000)]}), Passport(figure="cd")
                )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_page_is_inert_and_offline() -> None:
    data = figure({"y": [1], "name": NASTY, "text": [NASTY]}, title=NASTY)
    page = export.html(data, title=NASTY, plotlyjs="plotly.min.js").decode()
    assert page.count("<script") == 4
    assert page.count("</script>") == 4
    assert "&lt;/script&gt;" in page.partition("</title>")[0]
    content = page.partition('id="content">')[2].partition("</script>")[0]
    assert orjson.loads(content) == orjson.loads(data)
    assert "http" not in page.replace(inert_script(), "").replace('http-equiv="Content-Security-Policy"', "")
    assert '"showSendToCloud":false' in page
    assert '"plotlyServerURL":""' in page
    assert "default-src 'none'" in page
    assert export.html(data) == export.html(data)
    assert export.html(data, plotlyjs='"><script>').count(b"<script") == 4


def test_plotlyjs_stands_in_the_page_or_beside_it(tmp_path: Path) -> None:
    data = figure({"y": [1]})
    assert len(export.html(data)) > 4_000_000
    assert len(export.html(data, plotlyjs=export.PLOTLY_FILE)) < 9_000
    assert export.write_plotlyjs(tmp_path).name == "plotly.min.js"
    assert (tmp_path / "plotly.min.js").stat().st_size > 4_000_000


def test_pictures_without_kaleido_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    real = importlib.import_module

    def absent(name: str) -> object:
        if name == "kaleido":
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(ExportUnavailable, match=r"battery-workbench\[export\]"):
        export.picture(figure({"y": [1]}), "png")


def test_a_browser_that_fails_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    kaleido = pytest.importorskip("kaleido")

    class ChromeNotFoundError(Exception):
        pass

    def no_browser(**_: object) -> None:
        raise ChromeNotFoundError

    def broken(**options: Any) -> None:
        page = options["page_generator"].generate_index()
        assert "mathjax" not in page.lower(), "nothing is fetched from the network"
        assert page.index(POLICY_TAG) < page.index("<script")
        raise RuntimeError("it ended")

    monkeypatch.setattr(kaleido, "Kaleido", no_browser)
    with pytest.raises(ExportUnavailable, match="install Chrome or Chromium"):
        export.picture(figure({"y": [1]}), "png")
    monkeypatch.setattr(kaleido, "Kaleido", broken)
    with pytest.raises(ExportUnavailable, match="it ended"):
        export.picture(figure({"y": [1]}), "png")


@pytest.mark.long
def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("kaleido")
    chromium()
    data = figure({"y": [1, 2]}, title="T")
    starts = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}
    for ending, start in starts.items():
        assert export.save(tmp_path / f"a.{ending}", data).read_bytes().startswith(start)


CONFIG = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances", "where": {"batch": None}}}},
    "transform": "def transform(data, params):\n    # it's \\d\n    return go.Figure()\n",
    "params": {"on": {"kind": "view", "default": True}},
}


@pytest.mark.parametrize(
    "script", [CONFIG["transform"], "a = '''x'''", "b = 'é\\'", "c = \"'", "d = '\x00\\n'", "\\"]
)
def test_a_notebook_holds_the_recipe_as_python(script: str) -> None:
    made = json.loads(
        export.notebook(
            {**CONFIG, "transform": script}, name="A\nB", values={"on": False}, opening='wb.open("l\'ab.db")'
        )
    )
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in made["cells"]]
    assert len(set(ids)) == len(ids)
    assert made["cells"][0] == {"cell_type": "markdown", "id": ids[0], "metadata": {}, "source": "# A B"}
    names: dict[str, object] = {}
    sources = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in made["cells"][1:])
    for source in sources[1:4]:
        exec(source, names)
    assert names["plan"] == CONFIG["plan"]
    assert names["transform"] == script
    assert names["params"] == CONFIG["params"]
    assert 'wb.open("l\'ab.db")' in sources[0]
    assert "values = {'on': False}" in sources[-1]


def test_a_notebook_is_valid() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.reads(export.notebook(CONFIG).decode(), as_version=4))


def test_plotlys_own_figures_export() -> None:
    made = figure_traces.traces(encode(go.Figure([go.Histogram(x=[1, 1, 2]), go.Scatter3d(x=[1], y=[2], z=[3])])))
    assert made.n == 4
    assert made["z"].tolist() == [None, None, None, 3]


def test_a_page_keeps_the_height_of_its_figure() -> None:
    page = export.html(figure(height=777), plotlyjs="plotly.min.js").decode()
    assert 'getElementById("figure").style.height = height + "px"' in page
    assert '"height":777' in page


def test_a_text_in_a_csv_is_not_run_by_a_spreadsheet() -> None:
    texts = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "＝1", "a=1", "-1.5", "+3e-4", "", "'", "- 1"]
    table = Table.of({"=name": texts, "y": [-1.5] * len(texts)})
    read = list(csv.reader(io.StringIO(export.table_csv(table).decode(), newline="")))
    assert read[0] == ["'=name", "y"]
    guarded = [*(f"'{text}" for text in texts[:6]), *texts[6:11], "'- 1"]
    assert [row[0] for row in read[1:]] == guarded
    assert {row[1] for row in read[1:]} == {"-1.5"}


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("a;=1+1;b", "a;'=1+1;b"),
        ("=1;=2", "'=1;'=2"),
        ("a\n=1", "a\n'=1"),
        ("a\r\n@b;", "a\r\n'@b;"),
        (";-cmd", ";'-cmd"),
        ("1;-2;+3e4", "1;-2;+3e4"),
        ("a; b\n", "a; b\n"),
    ],
)
def test_a_cell_does_not_begin_within_a_text_where_a_semicolon_ends_one(text: str, guarded: str) -> None:
    """A spreadsheet whose decimal sign is a comma reads ``"a;=1+1;b"`` as three cells."""
    written = export.table_csv(Table.of({"name": [text]})).decode()
    assert next(iter([*csv.reader(io.StringIO(written, newline=""))][1:])) == [guarded]
