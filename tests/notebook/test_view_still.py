"""The picture in a saved notebook: only images, small, and of the plot that is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.notebook.figure_widget import FigureSurface
from workbench.notebook.saved_picture import MOST_BYTES, Still

EMPTY = "def transform(data, params):\n    return go.Figure()"
PICTURE = "data:image/webp;base64,UklGRg=="


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    shown: list[str] = []

    class Handle:
        def __init__(self, name: str) -> None:
            self.name = name

        def display(self, html: Any, metadata: Any) -> None:
            shown.append(html.data)

        update = display

    monkeypatch.setattr("workbench.notebook.saved_picture.DisplayHandle", Handle)
    return shown


def test_it_is_empty_until_there_is_a_picture(kept: list[str]) -> None:
    still = Still()
    still.keep(PICTURE)
    assert kept == [], "not shown yet"
    still.display()
    assert kept == [f'<div data-wb-still="{still.id}"></div>']
    still.keep(PICTURE)
    still.keep(PICTURE)
    assert len(kept) == 2
    assert f'src="{PICTURE}"' in kept[-1]


@pytest.mark.parametrize(
    "picture",
    ["https://somewhere.example/x.webp", 'data:image/webp;base64,AA" onload="x', "data:text/html;base64,AA", ""],
)
def test_nothing_but_an_image_is_taken(kept: list[str], picture: str) -> None:
    still = Still()
    still.display()
    still.keep(picture)
    still.keep("data:image/png;base64," + "A" * MOST_BYTES)
    assert len(kept) == 1


def test_plots_of_a_dashboard_stand_side_by_side(kept: list[str]) -> None:
    still = Still()
    still.display()
    still.keep(PICTURE, 'A "<b>')
    still.keep(PICTURE.replace("UklG", "UklH"), "B")
    still.keep(PICTURE.replace("UklG", "UklI"), "B")
    assert kept[-1].count("<img") == 2
    assert 'alt="A &quot;&lt;b&gt;, as last drawn"' in kept[-1]
    assert "UklH" not in kept[-1]


def test_a_picture_says_on_which_ground_it_was_drawn(kept: list[str]) -> None:
    still = Still()
    still.display()
    still.keep(PICTURE)
    assert 'data-ground="light"' in kept[-1]
    still.keep(PICTURE, dark=True)
    assert 'data-ground="dark"' in kept[-1]
    assert kept[-1].count("<img") == 1
    assert kept[-1].count("<style>") == 1
    assert "{{" not in kept[-1]


def test_tiles_keep_their_names_and_their_order(kept: list[str]) -> None:
    still = Still("Ageing <1>", [("First", 0.5), ("Second & <b>", 1.0), ("Third", 1 / 12)])
    still.display()
    assert "First" not in kept[-1], "while the view is live there is nothing to see"
    still.keep(PICTURE.replace("UklG", "UklI"), "Third")
    still.keep(PICTURE.replace("UklG", "UklH"), "First")
    shown = kept[-1]
    assert "<b>Ageing &lt;1&gt;</b>" in shown
    places = [shown.index(f"<b>{name}</b>") for name in ("First", "Second &amp; &lt;b&gt;", "Third")]
    assert places == sorted(places)
    assert places[0] < shown.index("UklH") < places[1] < shown.index("No picture was kept") < places[2]
    assert places[2] < shown.index("UklI")
    assert [part.split("%")[0] for part in shown.split("inline-block; width: ")[1:]] == ["50", "100", "25"]


def test_a_dashboard_gives_its_tiles_in_reading_order(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        board = bench.dashboards.create("Default", "Board")
        recipe = wb.Recipe(plan={"steps": {"a": {"op": "list", "source": "instances"}}}, transform=EMPTY)
        plots = {name: board.save(name, recipe).id for name in ("right", "below", "left")}
        places = {"left": (0, 0), "right": (6, 0), "below": (0, 8)}
        layout = [{"plot_id": plots[name], "x": x, "y": y, "w": 6, "h": 8} for name, (x, y) in places.items()]
        bench.dashboards.update(board.id, layout=layout)
        shown = board.show()
        assert list(shown._still._tiles) == ["left", "right", "below"]
        shown.close()


def test_a_figure_widget_hands_its_picture_to_the_notebook(kept: list[str], tmp_path: Path) -> None:
    plan = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}}
    with wb.open(tmp_path / "lab.db") as bench:
        view = bench.show({"plan": plan, "transform": EMPTY}, figure_widget=True)
        assert isinstance(view.surface, FigureSurface)
        view._ipython_display_()
        assert kept == [f'<div data-wb-still="{view.surface.beside.still}"></div>']
        view.surface.beside._handle_custom_msg({"picture": PICTURE, "dark": True}, [])
        assert f'src="{PICTURE}" alt="The figure, as last drawn" data-ground="dark"' in kept[-1]
        view.close()


def test_where_widgets_are_not_drawn_a_view_is_its_words_and_not_a_tree_of_boxes(
    kept: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages of `nbconvert --to html` show the plain text of a widget, in front of the picture if there is one."""
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("workbench.notebook.saved_picture.display", lambda data, raw: shown.append(data))
    plan = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name"]}}}
    with wb.open(tmp_path / "lab.db") as bench:
        board = bench.dashboards.create("Default", "Board")
        board.save("Empty", {"plan": plan, "transform": EMPTY})
        views = [bench.show("Empty"), board.show(), bench.author(board=board)]
        for view in views:
            view._ipython_display_()
            view.close()
    assert [data["text/plain"] for data in shown] == ["<view of 'Empty'>", "<view of 1 plot: Empty>", "<author>"]
    assert {data["application/vnd.jupyter.widget-view+json"]["version_major"] for data in shown} == {2}
    still = Still()
    still.display()
    still.keep(PICTURE)
    assert ".jp-RenderedText) { display: none; }" in kept[-1]
