"""``workbench author``: a sentence becomes a draft, a file and a plot, by a scripted model or the built-in author."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app

PLAN = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["id", "name"]}}}
SCRIPT = "def transform(data, params):\n    return px.bar(data['cells'], x='name', title='Cells')\n"
SOUND = {"say": "Here they are.", "draft": {"name": "Cells", "config": {"plan": PLAN, "transform": SCRIPT}}}
WORDS = {"say": "No test holds a pressure.", "draft": None}


def workbench(*words: Any) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The answers of the model that the command opens, in turn."""
    pytest.importorskip("pydantic_ai", reason="the extra 'llm' is not installed")
    from pydantic_ai.models.function import FunctionModel

    from workbench import language_models

    waiting: list[Any] = []

    async def answer(messages: list[Any], info: Any) -> Any:
        yield json.dumps(waiting.pop(0))

    def opened(model: str | None = None, *, url: str | None = None) -> Any:
        return language_models.LanguageModel(FunctionModel(stream_function=answer), f"{model} at {url}")

    monkeypatch.setattr(language_models, "open_model", opened)
    return waiting


def test_a_model_writes_a_file_and_a_plot(answers: list[Any], demo_copy: Path, tmp_path: Path) -> None:
    answers += [SOUND, SOUND]
    asked = ("author", "Cells by name", "--store", demo_copy, "--model", "mine", "--model-url", "http://gpu/v1")
    with wb.open(demo_copy) as bench:
        board = str(bench.dashboards.list()["name"][0])
    drafted = workbench(*asked, "--board", board, "-o", tmp_path / "cells.json")
    assert drafted.exit_code == 0, drafted.output
    assert "Here they are." in drafted.output
    assert "Nothing is saved" in drafted.output
    assert "tokens of this session" in drafted.output
    assert json.loads((tmp_path / "cells.json").read_bytes())["data"][0]["type"] == "bar"
    saved = workbench(*asked, "--board", board, "--save", "--name", "My cells", "--json")
    said = json.loads(saved.stdout)
    assert (said["plot"]["name"], said["plot"]["revision"]) == ("My cells", 1)
    assert said["tokens"] > 0
    with wb.open(demo_copy) as bench:
        plot = bench.dashboards.get(board).plot("My cells")
        assert plot.recipe().foreign
        assert plot.session() == said["session_id"]


def test_what_cannot_be_written_is_refused_before_a_model_is_asked(
    answers: list[Any], demo_copy: Path, tmp_path: Path
) -> None:
    answers += [SOUND]
    with wb.open(demo_copy) as bench:
        board = bench.dashboards.create("Asked")
        taken = board.save("Taken", SOUND["draft"]["config"]).name
    asked = ("author", "Cells", "--store", demo_copy, "--model", "mine", "--board", board.name, "--save")
    for more, words in (
        (["-o", tmp_path / "cells.xlsx"], "'.xlsx' cannot be written"),
        (["-o", tmp_path / "none" / "cells.html"], "There is no folder"),
        (["--name", taken], "Give another --name, or change it with --plot"),
    ):
        assert words in str(workbench(*asked, *more).exception)
    assert answers == [SOUND]
    with wb.open(demo_copy) as bench:
        assert len(bench.dashboards.get("Asked").plots()) == 1


def test_an_answer_in_words_saves_nothing_and_is_not_a_success(answers: list[Any], demo_copy: Path) -> None:
    with wb.open(demo_copy) as bench:
        board = bench.dashboards.create("Asked").name
    asked = ("author", "Pressure", "--store", demo_copy, "--model", "mine", "--save")
    unclear = workbench(*asked)
    assert "Choose one with --board" in str(unclear.exception)
    answers.append(WORDS)
    done = workbench(*asked, "--board", board)
    assert (done.exit_code, answers) == (1, [])
    assert "No test holds a pressure." in done.output
    assert "Saved" not in done.output
    with wb.open(demo_copy) as bench:
        assert bench.dashboards.get(board).plots() == []


def test_without_a_model_the_built_in_author_answers(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORKBENCH_MODEL", raising=False)
    with wb.open(demo_copy) as bench:
        board = bench.dashboards.create("Asked").name
    done = workbench("author", "capacity fade by batch", "--store", demo_copy, "--board", board, "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["numbers"]["points"] > 0
    assert (said["problems"], said["tokens"], said["plot"]) == ([], None, None)


def test_the_command_context_says_what_a_wish_costs(demo_copy: Path) -> None:
    done = workbench("context", "capacity fade by batch", "--store", demo_copy, "--json")
    said = json.loads(done.stdout)
    assert 10_000 < said["characters"] <= 24_000
    assert said["characters"] / 8 < said["tokens"] < said["characters"] / 2
    shown = workbench("context", "capacity fade by batch", "--store", demo_copy, "--texts").output
    assert f"{said['characters']} characters, about {said['tokens']} tokens." in shown
    assert "capacity fade by batch" in shown
