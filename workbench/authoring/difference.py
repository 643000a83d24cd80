"""What a draft changes in the plot before, part by part, as lines that were added and removed."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping

from pydantic import JsonValue
from typing_extensions import TypedDict

AROUND = 2
"""Unchanged lines that are shown around a change."""


class Line(TypedDict):
    """One line: ``sign`` is ``+``, ``-``, a blank for an unchanged one, or ``@`` where lines were left out."""

    sign: str
    text: str


class Part(TypedDict):
    """A part of a draft that has changed: ``name``, ``plan``, ``params`` or ``script``."""

    part: str
    lines: list[Line]


def difference(before: Mapping[str, JsonValue] | None, after: Mapping[str, JsonValue]) -> list[Part]:
    """The parts of a draft that differ from those before; all of them if there was nothing before."""
    old = {} if before is None else _texts(before)
    found: list[Part] = []
    for part, text in _texts(after).items():
        lines = list(_lines(old.get(part, ""), text))
        if lines:
            found.append({"part": part, "lines": lines})
    return found


def _texts(draft: Mapping[str, JsonValue]) -> dict[str, str]:
    config = draft.get("config")
    parts = config if isinstance(config, dict) else {}
    return {
        "name": str(draft.get("name", "")),
        "plan": _pretty(parts.get("plan")),
        "params": _pretty(parts.get("params")),
        "script": str(parts.get("transform", "")),
    }


def _pretty(value: JsonValue) -> str:
    return "" if not value else json.dumps(value, ensure_ascii=False, indent=2)


def _lines(before: str, after: str) -> Iterator[Line]:
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), n=AROUND, lineterm="")
    for number, line in enumerate(diff):
        if number >= 2:  # the first two name files
            yield {"sign": "@", "text": "…"} if line.startswith("@@") else {"sign": line[:1], "text": line[1:]}
