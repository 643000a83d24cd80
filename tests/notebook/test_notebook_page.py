"""A saved notebook as a page: its live views are there with controls that work, drawn again from the store."""

from __future__ import annotations

import base64
import gzip
import json
import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
import orjson
import pytest
from nbclient import NotebookClient
from nbconvert.exporters.base import get_exporter
from traitlets.config import Config

import workbench as wb
from workbench.bench.notebook_page import LivePage
from workbench.local import LocalBackend
from workbench.passport import passports_in

SCRIPT = """def transform(data, params):
    fig = go.Figure(go.Scatter(y=[len(data["cells"]), params["n"]]))
    fig.update_layout(title=params["word"])
    return fig
"""
RECIPE: dict[str, Any] = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances"}}},
    "transform": SCRIPT,
    "params": {
        "n": {"kind": "view", "default": 2, "control": {"label": "Times", "min": 1, "max": 4}},
        "word": {"kind": "view", "default": "a", "control": {"options": ["a", "b"]}},
    },
}
STILL = '<div data-wb-still="0"><img src="data:image/webp;base64,UklGRg=="></div>'


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with wb.open(tmp_path / "lab.db") as bench:
        board = bench.dashboards.create("Both")
        board.save("First </script>", RECIPE)
        board.save("Second", {**RECIPE, "transform": SCRIPT.replace('"n"', '"word"')})
    return tmp_path / "lab.db"


def saved(*views: dict[str, Any]) -> Any:
    """A notebook as it is saved: a live view, and beside it the picture with what the view showed."""
    texts = [{**view, "recipe": json.dumps(view["recipe"])} for view in views]
    metadata = {"battery_workbench_view": {"views": texts}}
    outputs = [
        nbformat.v4.new_output("display_data", {"application/vnd.jupyter.widget-view+json": {"model_id": "0"}}),
        nbformat.v4.new_output("display_data", {"text/html": STILL}, metadata=metadata),
    ]
    cells = [
        nbformat.v4.new_markdown_cell("# Mine: $x^2$"),
        nbformat.v4.new_code_cell("bench.show(plot)", outputs=outputs),
    ]
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": {"state": {"0": {}}, "version_major": 2}
    }
    return made


def converted(notebook: Any, store: Path, **more: Any) -> str:
    exporter = get_exporter("workbench.bench.notebook_page.LivePage")
    page, _ = exporter(config=Config(LivePage={"store": str(store), **more})).from_notebook_node(notebook)
    return str(page)


def frames_of(page: str) -> list[str]:
    """The pages in the frames of a page, without plotly.js."""
    packed = re.findall(r'id="workbench-frame-\d+">([^<]*)</script>', page)
    parts = [orjson.loads(gzip.decompress(base64.b64decode(one))) for one in packed]
    assert page.count("<iframe data-workbench") == len(parts)
    return [one["before"] + one["after"] for one in parts]


def fetched(page: str) -> list[str]:
    """Addresses that a browser asks for when it opens a page."""
    return re.findall(r"""(?:src=|href=|url\(|import\s)["']?(https?:[^"')\s]+)""", page.split("</head>")[0])


def test_a_view_becomes_a_frame_with_its_controls(store: Path) -> None:
    page = converted(saved({"name": "Mine", "recipe": RECIPE, "values": {"n": 3}}), store)
    (frame,) = frames_of(page)
    assert "UklGRg" not in page, "the dead picture is gone"
    assert "widget-view+json" not in page
    assert [one.values for one in passports_in(frame.encode())] == [{"n": 3, "word": "a"}]
    assert 'sandbox="allow-scripts"' in page
    assert fetched(page) == []
    assert "Plotly" not in frame.replace("Plotly.", ""), "plotly.js is in the page once, for all frames"


def test_the_plots_of_a_dashboard_are_one_frame_and_its_library_is_there_once(store: Path) -> None:
    views = [{"name": name, "recipe": RECIPE, "values": {"word": "b"}} for name in ("One", "<script>Two")]
    notebook = saved(*views)
    notebook.cells.append(saved({"name": "Third", "recipe": RECIPE, "values": {}}).cells[1])
    page = converted(notebook, store)
    board, alone = frames_of(page)
    assert [one.values["word"] for one in passports_in(board.encode())] == ["b", "b"]
    assert "<script>Two" not in board
    assert len(passports_in(alone.encode())) == 1
    one = converted(saved(*views), store)
    assert len(page) - len(one) < 200_000, "a further view does not bring plotly.js again"


def test_what_cannot_be_drawn_keeps_its_picture_and_says_why(store: Path) -> None:
    wrong = {**RECIPE, "transform": "def transform(data, params):\n    raise ValueError('<b>wrong')\n"}
    page = converted(saved({"name": "Mine", "recipe": wrong, "values": {}}), store)
    assert frames_of(page) == []
    assert "UklGRg" in page
    assert "&lt;b&gt;wrong" in page
    broken = {**RECIPE, "plan": {"steps": {"a": {"op": "list", "source": "nothing"}}}}
    assert "not drawn again" in converted(saved({"name": "Mine", "recipe": broken, "values": {}}), store)


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {"views": 1},
        {"views": [1]},
        {"views": [{"name": "a"}]},
        {"views": [{"recipe": "[]", "values": {}, "name": "a"}]},
        {"views": [{"recipe": "{", "values": {}, "name": "a"}]},
    ],
)
def test_an_output_that_says_nothing_sound_stays_as_it_is(store: Path, said: Any) -> None:
    notebook = saved()
    notebook.cells[1].outputs[1].metadata["battery_workbench_view"] = said
    page = converted(notebook, store)
    assert frames_of(page) == []
    assert "UklGRg" in page


def test_a_script_of_a_notebook_is_drawn_protected(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    drawn = LocalBackend.figure

    def figure(self: Any, *args: Any, **how: Any) -> Any:
        asked.append(how["protected"])
        return drawn(self, *args, **how)

    monkeypatch.setattr(LocalBackend, "figure", figure)
    script = SCRIPT.replace("len(", "1 + len(")
    converted(
        saved({"name": "Mine", "recipe": {**RECIPE, "transform": script}, "values": {}}), store, controls=False
    )
    assert asked == [True]


def test_the_live_view_says_what_it_shows(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []

    class Handle:
        def __init__(self, name: str) -> None:
            self.name = name

        def display(self, html: Any, metadata: Any = None) -> None:
            shown.append(metadata["battery_workbench_view"]["views"])

        update = display

    monkeypatch.setattr("workbench.notebook.saved_picture.DisplayHandle", Handle)
    monkeypatch.setattr("workbench.notebook.saved_picture.display", lambda *shown, **how: None)
    with wb.open(store) as bench:
        board = bench.dashboards.get("Both")
        view = bench.show(board.plot("First </script>"), n=4)
        view._ipython_display_()
        assert [(one["name"], one["values"]["n"], one["as_of"]) for one in shown[-1]] == [
            ("First </script>", 4, None)
        ]
        assert json.loads(shown[-1][0]["recipe"]) == wb.Recipe(RECIPE).config.dump()
        view.set(n=1)
        view._still.keep("data:image/webp;base64,UklGRg==")
        assert shown[-1][0]["values"]["n"] == 1
        view.close()
        moment = bench.figure(RECIPE).workbench.passport.data_at
        tiles = board.show(as_of="2020-01-01")
        tiles._ipython_display_()
        assert [one["name"] for one in shown[-1]] == ["First </script>", "Second"]
        assert moment > shown[-1][0]["as_of"] > 0
        tiles.close()


@pytest.mark.long
def test_a_notebook_that_ran_without_a_browser_is_a_live_page(store: Path, tmp_path: Path) -> None:
    cells = [
        f"import workbench as wb\nbench = wb.open({str(store)!r})",
        "board = bench.dashboards.get('Both')\nbench.show(board.plot('First </script>'), n=4)",
        "board.show()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    page = converted(notebook, store)
    plot, board = frames_of(page)
    assert [one.values["n"] for one in passports_in(plot.encode())] == [4]
    assert [one.plot is None for one in passports_in(board.encode())] == [True, True]
    assert fetched(page) == []


def test_the_exporter_has_a_name() -> None:
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["entry-points"]
    module, _, name = declared["nbconvert.exporters"]["workbench"].partition(":")
    assert getattr(import_module(module), name) is LivePage
