"""Language models behind their seam, with the test models of pydantic-ai: streamed, stopped, within a budget."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.asked_methods import RATINGS

import workbench as wb
from workbench.authoring import Conversation, Turn
from workbench.authoring.length import tokens
from workbench.errors import BadRequest, Cancelled, TooLarge
from workbench.language_models import Budget, LanguageModel, chosen, open_model

PLAN = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name"]}}}
SCRIPT = "def transform(data, params):\n    return px.bar(data['cells'], x='name', title='Cells')\n"
SOUND = {"say": "Here.", "draft": {"name": "Cells", "config": {"plan": PLAN, "transform": SCRIPT}}}
WRONG = {"say": "Here.", "draft": {"name": "Cells", "config": {"plan": {"steps": {"cells": {"op": "lst"}}}}}}
TURNS = [Turn("system", "Answer with JSON."), Turn("user", "Cells by name")]


@pytest.fixture(autouse=True)
def installed() -> None:
    pytest.importorskip("pydantic_ai", reason="the extra 'llm' is not installed")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        specification = made.specifications.create(name="M50", ratings=RATINGS)
        made.instances.create(name="Cell 1", specification_id=specification.id)
        yield made


class Scripted:
    """A model of pydantic-ai that gives these answers in turn, in parts of ten characters."""

    def __init__(self, *answers: Any) -> None:
        from pydantic_ai.models.function import FunctionModel

        self.answers = [one if isinstance(one, str) else json.dumps(one) for one in answers]
        self.asked: list[list[Any]] = []
        self.model = FunctionModel(stream_function=self._answer)

    async def _answer(self, messages: list[Any], info: Any) -> AsyncIterator[str]:
        self.asked.append(messages)
        text = self.answers[min(len(self.asked), len(self.answers)) - 1]
        for start in range(0, len(text), 10):
            yield text[start : start + 10]


def talk(bench: wb.Bench) -> Conversation:
    return Conversation(bench.backend, bench.dashboards.create("Authored").record)


def test_a_draft_is_repaired_saved_and_replayed(bench: wb.Bench) -> None:
    scripted = Scripted(WRONG, SOUND)
    heard: list[str] = []
    author = LanguageModel(scripted.model, "scripted", heard=heard.append)
    conversation = talk(bench)
    checked = conversation.ask("Cells by name", author)
    assert checked.is_sound
    assert "".join(heard) == json.dumps(WRONG) + json.dumps(SOUND)
    assert len(heard) > 10
    first, second = scripted.asked
    assert [type(one).__name__ for one in second] == ["ModelRequest", "ModelResponse", "ModelRequest"]
    assert [part.part_kind for part in first[0].parts] == ["system-prompt", "user-prompt"]
    assert "Did you mean 'list'?" in second[2].parts[0].content
    saved = conversation.accept()
    again = bench.sessions.replay(conversation.session_id)
    assert [one.is_sound for one in again] == [False, True]
    assert again[-1].figure == checked.figure
    plot = bench.dashboards.get("Authored").plot(saved.name)
    assert plot.session() == conversation.session_id


def test_a_plot_that_came_from_no_session_says_so(bench: wb.Bench) -> None:
    plot = bench.dashboards.create("By hand").save("Cells", wb.Recipe(SOUND["draft"]["config"]))
    assert plot.session() is None


def test_a_stop_closes_the_stream_and_saves_nothing(bench: wb.Bench) -> None:
    from pydantic_ai.models.function import FunctionModel

    closed = threading.Event()

    async def forever(messages: list[Any], info: Any) -> AsyncIterator[str]:
        try:
            yield '{"say": "'
            await asyncio.Event().wait()
        finally:
            closed.set()

    author = LanguageModel(FunctionModel(stream_function=forever), "slow")
    author.heard = lambda part: author.stop.set()
    conversation = talk(bench)
    with pytest.raises(Cancelled, match="Nothing was saved"):
        conversation.ask("Cells by name", author)
    assert closed.wait(30)
    assert author.budget.spent > tokens("Cells by name")
    assert conversation.drafts == []
    assert len(bench.dashboards.get("Authored").plots()) == 0
    with pytest.raises(Cancelled):
        author(TURNS)


def test_a_session_has_a_budget_that_is_checked_before_a_request() -> None:
    scripted = Scripted("An answer in words.")
    author = LanguageModel(scripted.model, "scripted", Budget(most=700))
    assert author(TURNS) == "An answer in words."
    spent = author.budget.spent
    assert 0 < spent < 200
    author.budget.spend(200)
    with pytest.raises(TooLarge, match=rf"has used {spent + 200} of 700 tokens.*WORKBENCH_MODEL_TOKENS"):
        author(TURNS)
    assert len(scripted.asked) == 1
    assert author.budget.spent == spent + 200


def test_the_answer_has_at_most_what_is_left_of_the_budget() -> None:
    from pydantic_ai.models.function import FunctionModel

    asked: list[Any] = []

    async def answer(messages: list[Any], info: Any) -> AsyncIterator[str]:
        asked.append(info.model_settings["max_tokens"])
        yield "Words."

    LanguageModel(FunctionModel(stream_function=answer), "scripted", Budget(most=1000, spent=300))(TURNS)
    (most,) = asked
    assert most == 700 - sum(tokens(turn.text) for turn in TURNS)


def test_the_test_model_of_pydantic_ai_answers_too() -> None:
    from pydantic_ai.models.test import TestModel

    author = LanguageModel(TestModel(custom_output_text="There is no pressure here."), "test")
    assert author(TURNS) == "There is no pressure here."


@pytest.mark.parametrize(
    ("model", "url", "title"),
    [
        ("openai:gpt-5-mini", None, "openai:gpt-5-mini"),
        ("anthropic:claude-sonnet-4-5", None, "anthropic:claude-sonnet-4-5"),
        ("qwen3:8b", "http://gpu:8000/v1", "openai:qwen3:8b at gpu:8000"),
        ("qwen3", "http://me:secret@gpu:8000/v1", "openai:qwen3 at gpu:8000"),
        ("openai:mine", "http://gpu:8000/v1", "openai:mine at gpu:8000"),
    ],
)
def test_a_model_is_named_by_provider_and_name(model: str, url: str | None, title: str) -> None:
    assert chosen(model, url).title == title


def test_what_is_not_given_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_MODEL", "qwen3:8b")
    monkeypatch.setenv("WORKBENCH_MODEL_URL", "http://gpu:8000/v1")
    monkeypatch.setenv("WORKBENCH_MODEL_KEY", "a-secret")
    monkeypatch.setenv("WORKBENCH_MODEL_TOKENS", "9000")
    found = chosen()
    assert (found.provider, found.name, found.url, found.key, found.tokens) == (
        *("openai", "qwen3:8b", "http://gpu:8000/v1", "a-secret"),
        9000,
    )
    author = open_model()
    assert author.budget.most == 9000
    assert "a-secret" not in f"{found!r} {author!r} {found.title}"
    monkeypatch.setenv("WORKBENCH_MODEL_TOKENS", "many")
    with pytest.raises(BadRequest, match="must be a whole number"):
        chosen()


@pytest.mark.parametrize(
    ("model", "url", "words"),
    [
        (None, None, "No language model is chosen"),
        ("gpt-5", None, "Write provider:name"),
        ("nobody:model", None, "cannot be used"),
        ("openai:gpt-5-mini", None, "cannot be used"),
        ("mine", "gpu", "is not the address of a model's server"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_in_words(
    model: str | None, url: str | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "WORKBENCH_MODEL",
        "WORKBENCH_MODEL_URL",
        "WORKBENCH_MODEL_KEY",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BadRequest, match=words):
        open_model(model, url=url)


def test_without_the_extra_the_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.language_models import model

    monkeypatch.setattr(model, "find_spec", lambda name: None)
    with pytest.raises(BadRequest, match=r"battery-workbench\[llm\]"):
        open_model("openai:gpt-5-mini")
