"""A recipe as three texts to edit, and the line of a text that a problem belongs to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias, TypedDict

from pydantic import JsonValue

from ..errors import Invalid, Loc, Problem
from ..recipe.jsontext import read_json
from ..recipe.plot import PlotConfig
from . import status_text as words

PARTS = ("plan", "transform", "params")
Texts: TypeAlias = Mapping[str, str]
_TOKEN = re.compile(r'\s*(?:([{}\[\],:])|("(?:[^"\\]|\\.)*")|([^\s{}\[\],:"]+))')
_WIDE = 100


def texts_of(config: PlotConfig) -> dict[str, str]:
    """Plan, transform and params as texts. An object that fits is written on one line."""
    raw = config.dump()
    return {
        "plan": pretty(raw["plan"]),
        "transform": raw["transform"].strip("\n") + "\n",
        "params": pretty(raw.get("params", {})),
    }


def pretty(value: JsonValue, indent: int = 0) -> str:
    """JSON with line breaks only where a value does not fit on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if (
        not isinstance(value, dict | list)
        or not value
        or (indent and len(flat) + indent <= _WIDE and "{" not in flat[1:])
    ):
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        items = [
            f"{json.dumps(key, ensure_ascii=False)}: {pretty(item, indent + 2)}" for key, item in value.items()
        ]
    else:
        items = [pretty(item, indent + 2) for item in value]
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n" + ",\n".join(inner + item for item in items) + f"\n{' ' * indent}{end}"


def raw_of(texts: Texts) -> dict[str, JsonValue]:
    """The recipe of the texts, not checked yet.

    Raises
    ------
    Invalid
        With every text that is not JSON, at ``("config", part)``, with ``line`` and ``column``.
    """
    raw: dict[str, JsonValue] = {"transform": texts["transform"]}
    problems: list[Problem] = []
    for part in ("plan", "params"):
        try:
            raw[part] = read_json(texts[part], ("config", part))
        except Invalid as error:
            problems += error.problems
    if problems:
        raise Invalid(problems)
    return raw


class MarkedProblem(TypedDict):
    """A problem as the page shows it: ``part`` is the text (None: none of the three) and ``line`` the line in it."""

    part: str | None
    line: JsonValue
    message: str
    place: str


def marked(problems: list[Problem], texts: Texts) -> list[MarkedProblem]:
    """Problems with the lines of the texts that they belong to."""
    lines = {part: lines_of(texts[part]) for part in ("plan", "params")}
    return [_marked(problem, lines) for problem in problems]


def _marked(problem: Problem, lines: Mapping[str, Mapping[Loc, int]]) -> MarkedProblem:
    loc = problem.loc[1:] if problem.loc[:1] == ("config",) else problem.loc
    part = str(loc[0]) if loc and loc[0] in PARTS else None
    made: MarkedProblem = {"part": part, "line": None, "message": problem.msg, "place": words.place(problem)}
    if "line" in problem.ctx:
        made["line"] = problem.ctx["line"]
        made["place"] = ""
    elif part is not None and part in lines:
        inside = loc[1:]
        while inside and inside not in lines[part]:
            inside = inside[:-1]
        made["line"] = lines[part].get(inside, 1)
    return made


def lines_of(text: str) -> dict[Loc, int]:
    """The line, from 1, of every key and every element of a JSON text; empty if the text is not JSON."""
    try:
        read_json(text)
    except Invalid:
        return {}
    found: dict[Loc, int] = {}
    _walk(_tokens(text), (), found)
    return found


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    line, before = 1, 0
    for match in _TOKEN.finditer(text):
        start = match.end() - len(match[match.lastindex or 0])
        line += text.count("\n", before, start)
        before = start
        yield match[match.lastindex or 0], line


def _walk(tokens: Iterator[tuple[str, int]], path: Loc, found: dict[Loc, int]) -> str:
    """Read one value from the tokens. Returns its first token, so that a list finds its end."""
    token, line = next(tokens)
    found.setdefault(path, line)
    if token == "{":  # noqa: S105
        _object(tokens, path, found)
    elif token == "[":  # noqa: S105
        place = 0
        while _walk(tokens, (*path, place), found) != "]":
            place += 1
            if next(tokens)[0] == "]":
                return token
        found.pop((*path, place))
    return token


def _object(tokens: Iterator[tuple[str, int]], path: Loc, found: dict[Loc, int]) -> None:
    for token, line in tokens:
        if token == "}":  # noqa: S105
            return
        if token == ",":  # noqa: S105
            continue
        place = (*path, json.loads(token))
        found[place] = line
        next(tokens)
        _walk(tokens, place, found)
