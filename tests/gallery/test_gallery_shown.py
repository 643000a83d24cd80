"""A gallery as the last line of a cell: a picture of each recipe that has data, and a sentence for the others."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from support.needs import chromium

import workbench as wb
from workbench.bench import gallery as shown
from workbench.bench.display import DARK_PAGE
from workbench.errors import BadRequest, ExportUnavailable
from workbench.pictures import browser
from workbench.recipe.plot import PlotConfig

PNG = b"\x89PNG\r\n\x1a\n"


class Pictures(HTMLParser):
    """The pictures of a page, and all of its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.files: list[bytes] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.files.append(b64decode((dict(attrs)["src"] or "").partition(",")[2]))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as bench:
        bench.ingest(Path(__file__).parents[2] / "sample_data" / "neware" / "M50-A-01_RPT0.csv.gz")
        yield bench


def test_all_pictures_are_drawn_by_one_browser(bare: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    chromium()
    kaleido = pytest.importorskip("kaleido")
    opens, started = kaleido.Kaleido.open, []

    async def open_seen(self: Any) -> None:
        started.append(self)
        await opens(self)

    monkeypatch.setattr(kaleido.Kaleido, "open", open_seen)
    gallery = bare.gallery()
    ready = [item for item in gallery.items if item["ready"]]
    page = Pictures(gallery._repr_html_())
    assert len(ready) > 1
    assert len(page.files) == len(ready)
    assert all(file.startswith(PNG) for file in page.files)
    assert len(started) == 1
    for item in gallery.items:
        assert item["question"] in " ".join(page.texts)


def test_a_recipe_that_cannot_be_drawn_says_why_beside_the_others(
    bare: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery = bare.gallery()
    ready = [item["name"] for item in gallery.items if item["ready"]]
    config = gallery._config

    def broken(name: str) -> PlotConfig:
        if name == ready[0]:
            raise BadRequest("The script fails & stops.")
        return config(name)

    monkeypatch.setattr(gallery, "_config", broken)
    monkeypatch.setattr(shown, "thumbnails", lambda figures, wide, high: [PNG for _ in figures])
    page = Pictures(gallery._repr_html_())
    assert "The script fails & stops." in page.texts
    assert len(page.files) == len(ready) - 1 > 0


def test_without_a_browser_each_recipe_says_what_to_install(
    bare: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: Any) -> Any:
        raise ExportUnavailable("Pictures need a browser: install Chrome or Chromium.")

    monkeypatch.setattr(browser, "_guarded", missing)
    gallery = bare.gallery()
    page = Pictures(gallery._repr_html_())
    ready = sum(item["ready"] for item in gallery.items)
    assert page.texts.count("Pictures need a browser: install Chrome or Chromium.") == ready > 0
    assert not page.files


def test_without_data_no_browser_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(browser, "_guarded", started.append)
    with wb.open(tmp_path / "lab.db") as bench:
        gallery = bench.gallery()
        shown = gallery._repr_html_()
        page = Pictures(shown)
    assert f"{DARK_PAGE} .wb-gallery img {{ filter: invert" in shown, "white pictures glare on a dark page"
    assert gallery.items
    assert not page.files
    assert not started
