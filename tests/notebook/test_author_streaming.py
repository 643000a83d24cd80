"""A language model answers in the notebook: what it writes is seen as it comes, a stop ends it, the spend is noted."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.authoring.length import tokens
from workbench.language_models import LanguageModel
from workbench.notebook.author_view import AuthorView

PLAN = {"steps": {"designs": {"op": "list", "source": "cellSpecifications", "fields": ["name"]}}}
SCRIPT = (
    "def transform(data, params):\n"
    "    figure = go.Figure(go.Bar(x=['designs'], y=[len(data['designs']) + 1], name='n'))\n"
    "    return figure.update_xaxes(title='What').update_yaxes(title='Number')\n"
)
SOUND = {"say": "Designs.", "draft": {"name": "Designs", "config": {"plan": PLAN, "transform": SCRIPT}}}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    pytest.importorskip("pydantic_ai", reason="the extra 'llm' is not installed")
    with wb.open(tmp_path / "lab.db") as made:
        made.dashboards.create("Wished")
        yield made


class Slow:
    """A model that writes an answer half, and then waits to be let on."""

    def __init__(self, answer: Any) -> None:
        from pydantic_ai.models.function import FunctionModel

        self.text = json.dumps(answer)
        self.half_way, self.closed = threading.Event(), threading.Event()
        self.go_on: asyncio.Event | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.author = LanguageModel(FunctionModel(stream_function=self._answer), "slow")

    async def _answer(self, messages: list[Any], info: Any) -> AsyncIterator[str]:
        self.go_on, self.loop = asyncio.Event(), asyncio.get_running_loop()
        half = len(self.text) // 2
        try:
            for start in range(0, half, 20):  # pydantic-ai passes a part on when the next one comes
                yield self.text[start : min(start + 20, half)]
            self.half_way.set()
            await self.go_on.wait()
            yield self.text[half:]
        finally:
            self.closed.set()

    def let_on(self) -> None:
        assert self.loop is not None
        assert self.go_on is not None
        self.loop.call_soon_threadsafe(self.go_on.set)


def in_a_kernel(work: Callable[[], Awaitable[None]]) -> None:
    """Run as in a kernel, whose loop runs all along."""
    asyncio.run(asyncio.wait_for(work(), 90))


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def pressed(view: AuthorView, kind: str, **more: Any) -> None:
    view._panel._handle_custom_msg({"kind": kind, **more}, [])


def busy(view: AuthorView) -> bool:
    return bool(view._panel.state["busy"])


def test_what_a_model_writes_is_seen_while_it_comes(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.notebook.model_writing.EVERY_S", 0.0)
    model, heard = Slow(SOUND), []
    model.author.heard = heard.append

    async def work() -> None:
        view = bench.author("How many designs?", "Wished", respond=model.author)
        await until(lambda: bool(view._panel.writing.get("text")))
        text = view._panel.writing["text"]
        assert model.text.startswith(text)
        assert view._panel.writing["characters"] == len(text) <= len(model.text) // 2
        assert busy(view)
        await asyncio.to_thread(model.half_way.wait)
        model.let_on()
        await until(lambda: view.checked is not None)
        assert view.checked is not None
        assert view.checked.is_sound
        assert view._panel.writing == {}
        assert view._panel.state["spent"].startswith(f"slow: {model.author.budget.spent} of ")
        assert model.author.budget.spent > 0
        view.close()

    in_a_kernel(work)
    assert "".join(heard) == model.text


def test_a_stop_ends_the_model_at_once_and_the_next_wish_is_asked(bench: wb.Bench) -> None:
    model = Slow(SOUND)

    async def work() -> None:
        view = bench.author("How many designs?", "Wished", respond=model.author)
        await asyncio.to_thread(model.half_way.wait)
        pressed(view, "stop")
        await until(lambda: not busy(view))
        assert model.closed.wait(30)
        assert view._panel.told == "Stopped. Nothing was saved."
        assert view.draft is None
        spent = model.author.budget.spent
        assert spent > tokens("How many designs?")
        assert f"slow: {spent} of" in view._panel.state["spent"]
        model.half_way.clear()
        pressed(view, "ask", text="Once more")
        await asyncio.to_thread(model.half_way.wait)
        model.let_on()
        await until(lambda: view.checked is not None)
        assert view.draft == SOUND["draft"]
        assert model.author.budget.spent > spent
        view.close()

    in_a_kernel(work)
    assert len(bench.dashboards.get("Wished").plots()) == 0


def test_a_stop_also_ends_the_drawing_of_the_answer(bench: wb.Bench) -> None:
    endless = {"say": "", "draft": {"name": "n", "config": {"plan": PLAN, "transform": LOOP}}}

    async def work() -> None:
        view = bench.author(
            "How many designs?", "Wished", respond=lambda turns: asked.set() or json.dumps(endless)
        )
        await asyncio.to_thread(asked.wait)
        pressed(view, "stop")
        await until(lambda: not busy(view))
        assert view._panel.told == "Stopped. Nothing was saved."
        assert view.draft is None
        view.close()

    asked = threading.Event()
    in_a_kernel(work)


LOOP = "def transform(data, params):\n    while True:\n        pass\n"
