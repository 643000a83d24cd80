"""A figure with which plotly counts without end costs its own picture, and neither a thread nor a browser for ever."""

from __future__ import annotations

import threading
from typing import Any

import orjson
import pytest
from support.needs import chromium

from workbench import export
from workbench.errors import ExportUnavailable
from workbench.pictures import browser, draw, thumbnails

ENDLESS = {"dtick": 1e-12, "ticks": "inside"}
FIGURE = orjson.dumps({"data": [{"type": "scatter", "y": [0, 1, 2]}], "layout": {"xaxis": {"minor": ENDLESS}}})


@pytest.mark.parametrize("ending", ["png", pytest.param("pdf", marks=pytest.mark.long)])
def test_a_picture_that_never_ends_is_stopped_in_words(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kaleido = pytest.importorskip("kaleido")
    chromium()
    monkeypatch.setattr(browser, "_LONGEST_S", 3.0)
    started: list[Any] = []
    opens = kaleido.Kaleido.open

    async def open_seen(self: Any) -> None:
        await opens(self)
        started.append(self.subprocess)

    monkeypatch.setattr(kaleido.Kaleido, "open", open_seen)
    said: list[str] = []

    def work() -> None:
        with pytest.raises(ExportUnavailable) as refused:
            draw(FIGURE, ending) if ending == "pdf" else export.picture(FIGURE, ending)
        said.append(str(refused.value))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    for one in started:
        one.kill()
    assert said, "the picture is drawn still"
    assert "did not finish the picture in 3 s" in said[0]
    assert [one.poll() is not None for one in started] == [True]


@pytest.mark.long  # it waits for a limit that good pictures keep also on a busy machine
def test_of_several_pictures_one_that_never_ends_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("kaleido")
    chromium()
    monkeypatch.setattr(browser, "_LONGEST_S", 15.0)
    good = orjson.dumps({"data": [{"type": "scatter", "y": [0, 1, 2]}], "layout": {}})
    drawn: list[bytes | ExportUnavailable] = []
    thread = threading.Thread(
        target=lambda: drawn.extend(thumbnails([good, FIGURE, good, good], 200, 100)), daemon=True
    )
    thread.start()
    thread.join(120)
    assert len(drawn) == 4
    assert [isinstance(one, bytes) and one.startswith(b"\x89PNG") for one in drawn] == [True, False, True, True]
    assert "did not finish the picture in 15 s" in str(drawn[1])
