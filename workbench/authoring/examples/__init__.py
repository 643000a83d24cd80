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
    """An answer of a writer: a name and a recipe."""

    name: str
    config: Config


@cache
def examples() -> str:
    """All examples as JSON texts, one after the other."""
    return "\n\n".join(f"```json\n{_text(example(name))}\n```" for name in NAMES)


def example(name: str) -> Example:
    """One example: a name and a recipe."""
    made: Example = json.loads((HERE / f"{name}.json").read_text("utf-8"))
    script = HERE / made["config"]["transform"]
    made["config"]["transform"] = script.read_text("utf-8")
    return made


def _text(made: Example) -> str:
    """As JSON with a line for each step and each param."""
    config = made["config"]
    steps, params = (_lines(part) for part in (config["plan"]["steps"], config["params"]))
    return (
        f'{{"name": {json.dumps(made["name"])}, "config": {{"plan": {{"steps": {{\n{steps}}}}},\n'
        f'"params": {{\n{params}}},\n"transform": {json.dumps(config["transform"])}}}}}'
    )


def _lines(part: dict[str, JsonValue]) -> str:
    return ",\n".join(f"{json.dumps(name)}: {json.dumps(about)}" for name, about in part.items())
