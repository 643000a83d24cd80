"""What a tool answers: JSON of bounded size, and pictures. What was left out is said, never silent."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson
from pydantic import JsonValue

from workbench import figure_numbers
from workbench.authoring.numbers import numbers_of
from workbench.engine import arrow, wire
from workbench.errors import BadRequest
from workbench.table import Table
from workbench.typed_arrays import decode, mapping

from ..responses import dumps
from ..schemas import Json
from .asking import Reply

MOST_CHARACTERS = 400_000
"""A longer answer would not fit a model's context; it is refused with what to ask for instead."""
ROWS, MOST_ROWS = 100, 2000
"""Rows of a step, or points of a series, in an answer: usual and at most."""


@dataclass(frozen=True)
class Answer:
    """What a tool gives back: JSON, perhaps a picture, and whether it is an error."""

    value: Json
    png: bytes | None = None
    refused: bool = False

    @property
    def text(self) -> str:
        """The JSON as text."""
        made = dumps(self.value).decode()
        if len(made) > MOST_CHARACTERS:
            raise BadRequest(
                f"The answer has {len(made)} characters, and may have {MOST_CHARACTERS}. Ask for less: fewer rows, "
                "fields or records."
            )
        return made

    @property
    def picture(self) -> str | None:
        """The picture in base64."""
        return None if self.png is None else base64.b64encode(self.png).decode()


@dataclass
class Shown:
    """How many rows an answer shows of how many, by step."""

    most: int
    left_out: dict[str, str] = field(default_factory=dict)

    def first(self, name: str, rows: list[JsonValue]) -> list[JsonValue]:
        if len(rows) > self.most:
            self.left_out[name] = f"the first {self.most} of {len(rows)}"
        return rows[: self.most]


def refused(status: int, body: Mapping[str, JsonValue]) -> Answer:
    """The error of the HTTP interface, as it is."""
    return Answer({"status": status, **body}, refused=True)


def data(answered: Json, most: int) -> Json:
    """A Dataset with at most so many rows of each step, and points of each series."""
    shown = Shown(most)
    steps: Json = {}
    for name, step in answered["steps"].items():
        if isinstance(step, list):
            steps[name] = shown.first(name, step)
            continue
        steps[name] = {
            id: {
                **one,
                "columns": {
                    column: shown.first(f"{name} of {id}", values) for column, values in one["columns"].items()
                },
            }
            for id, one in step.items()
        }
    kept = {key: value for key, value in answered.items() if key not in ("steps", "timings", "cache")}
    return {**kept, "steps": steps, **({"shown": shown.left_out} if shown.left_out else {})}


def rows(reply: Reply) -> Json:
    """The rows of an answer in Arrow as records."""
    steps, _ = arrow.from_arrow(reply.content)
    table = next(iter(steps.values()))
    if not isinstance(table, Table):
        raise TypeError("This is not an answer with rows.")
    found = _records(table)
    return {"count": len(found), "items": found}


async def figure(answered: Json, most: int) -> Json:
    """A figure in numbers: its axes, the range of each trace, and with ``most`` its first points as rows."""
    kept = {
        name: answered[name]
        for name in ("values", "options", "warnings", "hints", "reads", "log")
        if answered.get(name)
    }
    return {**kept, **await asyncio.to_thread(_numbers, orjson.dumps(answered["figure"]), most)}


def _numbers(figure: bytes, most: int) -> Json:
    content = decode(figure)
    titled = mapping(mapping(content.get("layout")).get("title")).get("text")
    found: Json = {"title": str(titled or ""), "numbers": numbers_of(content, None).model_dump(mode="json")}
    if most:
        table = figure_numbers.tidy(figure)
        shown = Shown(most)
        found["rows"] = shown.first("rows", _records(table.slice(0, min(most + 1, table.n))))
        if table.n > most:
            found["shown"] = {"rows": f"the first {most} of {table.n}"}
    return found


def _records(table: Table) -> list[JsonValue]:
    found: list[JsonValue] = orjson.loads(orjson.dumps(wire.step_json(table), option=orjson.OPT_SERIALIZE_NUMPY))
    return found
