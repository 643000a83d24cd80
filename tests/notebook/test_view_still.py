"""The picture in a saved notebook: only images, small, and of the plot that is shown."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.notebook.saved_picture import MOST_BYTES, Still

PICTURE = "data:image/webp;base64,UklGRg=="


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    shown: list[str] = []

    class Handle:
        def __init__(self, name: str) -> None:
            self.name = name

        def display(self, html: Any) -> None:
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
