"""The worked examples, each a recipe (JSON) and its script, as a writer would send them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TypedDict

from pydantic import JsonValue

HERE = Path(__file__).parent
NAMES = ("fade", "curves")


class Plan(TypedDict):
    steps: dict[str, JsonValue]


class Config(TypedDict):
    plan: Plan
    params: dict[str, JsonValue]
    transform: str


class Example(TypedDict):
    """A draft: a name and a recipe."""

    name: str
    config: Config


class Answer(TypedDict):
    """An answer of a writer: what is said to the person, and a draft."""

    say: str
    draft: Example


@cache
def examples() -> str:
    """All examples as JSON texts, one after the other."""
    return "\n\n".join(f"```json\n{_text(answer(name))}\n```" for name in NAMES)


def example(name: str) -> Example:
    """The draft of one example: a name and a recipe."""
    return answer(name)["draft"]


def answer(name: str) -> Answer:
    """One example as a writer would send it."""
    made: Answer = json.loads((HERE / f"{name}.json").read_text("utf-8"))
    config = made["draft"]["config"]
    config["transform"] = _script(HERE / config["transform"])
    return made


def _script(path: Path) -> str:
    """A script with single quotes: in a JSON text each double one needs a backslash, which authors forget."""
    return path.read_text("utf-8").replace('"', "'")


def _text(made: Answer) -> str:
    """As JSON with a line for each step and each param."""
    draft = made["draft"]
    config = draft["config"]
    steps, params = (_lines(part) for part in (config["plan"]["steps"], config["params"]))
    return (
        f'{{"say": {json.dumps(made["say"])},\n'
        f'"draft": {{"name": {json.dumps(draft["name"])}, "config": {{"plan": {{"steps": {{\n{steps}}}}},\n'
        f'"params": {{\n{params}}},\n"transform": {json.dumps(config["transform"])}}}}}}}'
    )


def _lines(part: dict[str, JsonValue]) -> str:
    return ",\n".join(
        f"{json.dumps(name)}: {json.dumps(about, separators=(',', ':'))}" for name, about in part.items()
    )
