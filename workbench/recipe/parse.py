"""Parses raw JSON to a recipe. Reports all problems at once, each with its place and the fix."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sized
from typing import TypeVar

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from ..errors import Invalid, Loc, Problem, instead, listed
from .filters import Filters
from .jsontext import plain, show
from .names import IDENTIFIER, MOST_NAME
from .plot import AuthoringDraft, AuthoringRequest, PlotConfig
from .shapes import fields_of, may_go, model_at, only_object
from .steps import STEPS
from .strict import Raw, Strict, kind

M = TypeVar("M", bound=Strict)

NO_TRANSFORM = "# A plan alone draws nothing."
"""Stands for the transform where a bare plan is run."""


def parse(raw: Raw, *, at: Loc = ("config",), transform: bool = True) -> PlotConfig:
    """A recipe from raw JSON (or Python) values.

    Parameters
    ----------
    raw : the value at ``at`` of the request.
    at : where it stands; every ``loc`` starts there.
    transform : False where only the plan is run; the transform may then be missing and is ignored.

    Raises
    ------
    Invalid
        With every problem of shape. What the parts mean together is ``check``'s.
    """
    if not transform and isinstance(raw, Mapping):
        raw = {**raw, "transform": NO_TRANSFORM}
    return read_model(PlotConfig, raw, at=at)


def parse_draft(raw: Raw, *, at: Loc = ("draft",)) -> AuthoringDraft:
    """A named draft of a recipe; problems as ``parse``."""
    return read_model(AuthoringDraft, raw, at=at)


def parse_request(raw: Raw) -> AuthoringRequest:
    """The body of an authoring request; problems as ``parse``, at the names of the body."""
    return read_model(AuthoringRequest, raw, at=())


def read_model(model: type[M], raw: Raw, *, at: Loc) -> M:
    """One model from raw values.

    Raises
    ------
    Invalid
        With every problem of shape found, its ``loc`` starting with ``at``.
    """
    value, problems = plain(raw, at)
    if isinstance(raw, model):
        return raw
    try:
        made = model.model_validate(value)
    except ValidationError as error:
        known = {problem.loc for problem in problems}
        found = (_problem(model, value, details, at) for details in error.errors(include_url=False))
        problems += [problem for problem in found if problem.loc not in known]
        raise Invalid(problems) from None
    if problems:
        raise Invalid(problems)
    return made


def _problem(model: type[Strict], raw: JsonValue, error: ErrorDetails, at: Loc) -> Problem:
    loc = place(raw, error)
    value, code = error["input"], error["type"]
    ctx = {key: item for key, item in error.get("ctx", {}).items() if isinstance(item, str | int | float)}
    if code in ("union_tag_invalid", "union_tag_not_found"):
        return _bad_op((*at, *loc), value)
    if code == "extra_forbidden":
        return Problem((*at, *loc), _unknown(model, raw, loc), code)
    if code == "missing":
        return Problem((*at, *loc), _missing(model, raw, loc), code)
    if error["loc"] and error["loc"][-1] == "[key]":
        return Problem((*at, *loc), _bad_name(str(value)), code, ctx)
    name = next((f"'{part}'" for part in reversed(loc) if isinstance(part, str)), "The recipe")
    words = _words(code, name, value, ctx, error["msg"])
    if code in ("model_type", "model_attributes_type", "dict_type") and loc:
        words += _with_fields(model, raw, loc)
    hint = " Leave it out instead." if code in _NEEDED and value is None and may_go(model, raw, loc) else ""
    return Problem((*at, *loc), words + hint, code, ctx)


def _with_fields(model: type[Strict], raw: JsonValue, loc: tuple[str | int, ...]) -> str:
    """Which fields an object has that something else was given for, or that it has names of one's own."""
    owner = model_at(model, raw, loc[:-1])
    wanted = only_object(owner, str(loc[-1])) if owner is not None else None
    if wanted is None:
        return f' Give each of its {loc[-1]} a name: {{"a_name": {{...}}}}.' if loc[-1] in _OF_OWN_NAMES else ""
    return f" Its fields are {listed(repr(one) for one in fields_of(wanted))}."


_OF_OWN_NAMES = ("steps", "params", "metrics")
"""Fields that hold an object whose keys are names that an author chooses."""


def place(raw: JsonValue, error: ErrorDetails) -> tuple[str | int, ...]:
    """The keys and indexes of ``raw`` that lead to an error, without the tags of unions."""
    kept: list[str | int] = []
    here = raw
    for position, part in enumerate(error["loc"]):
        if isinstance(here, dict) and part in here:
            here = here[str(part)]
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            here = here[part]
        elif not (error["type"] == "missing" and position == len(error["loc"]) - 1):
            continue
        kept.append(part)
    return tuple(kept)


def _bad_op(loc: Loc, value: JsonValue) -> Problem:
    if not isinstance(value, dict):
        name = next((str(part) for part in reversed(loc) if isinstance(part, str)), "")
        return Problem(loc, f"'{name}' needs an object, not {kind(value)}.", "model_attributes_type")
    if "op" not in value:
        message = "'op' is missing. It says what the step does: one of " + ", ".join(STEPS) + "."
        return Problem((*loc, "op"), message, "missing")
    op = value["op"]
    wrong = instead(op, STEPS, "operations") if isinstance(op, str) else "Use one of " + ", ".join(STEPS) + "."
    return Problem((*loc, "op"), f"{show(op)} is not an operation. {wrong}", "literal_error")


def _unknown(model: type[Strict], raw: JsonValue, loc: tuple[str | int, ...]) -> str:
    owner, name = model_at(model, raw, loc[:-1]), str(loc[-1])
    if owner is None:
        return f"'{name}' is not known here; remove it."
    said = f"{_a_part(owner)} has no field '{name}'. {instead(name, fields_of(owner), 'fields')}"
    return f"{said} {_BY_COLUMN}" if owner is Filters else said


def _a_part(owner: type[Strict]) -> str:
    """A part of a recipe in words: ``ListStep`` is "A list step"."""
    if owner is Filters:
        return "A filter"
    words = "recipe" if owner is PlotConfig else re.sub(r"(?<!^)(?=[A-Z])", " ", owner.__name__).lower()
    return f"{'An' if words[0] in 'aeio' else 'A'} {words}"


def _missing(model: type[Strict], raw: JsonValue, loc: tuple[str | int, ...]) -> str:
    owner, name = model_at(model, raw, loc[:-1]), str(loc[-1])
    field = fields_of(owner).get(name) if owner else None
    about = f" It is: {field.description[0].lower()}{field.description[1:]}" if field and field.description else ""
    return f"'{name}' is missing.{about}"


_BY_COLUMN = "To filter by another column, name it in the 'where' of a join, which may join the list with itself."
_MEANT = {
    "'source'": {
        **dict.fromkeys(("cells", "cell", "batteries"), "instances"),
        **dict.fromkeys(("tests", "test", "experiments"), "measurements"),
        **dict.fromkeys(("designs", "specifications", "specs"), "cellSpecifications"),
    },
    "'op'": {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte", "==": "eq", "=": "eq", "!=": "neq"},
    "'fn'": {
        "avg": "mean",
        "average": "mean",
        "size": "count",
        "total": "sum",
        "minimum": "min",
        "maximum": "max",
    },
    "'how'": {"outer": "left", "full": "left"},
}
"""Words of people and of other languages for a value: field -> word -> value."""


def _bad_name(name: str) -> str:
    if not name:
        return "A name must not be empty."
    if len(name) > MOST_NAME:
        return f"The name has {len(name)} characters; at most {MOST_NAME} are allowed."
    return f"{show(name)} is not a name: use letters, digits and underscores, and no digit first ({IDENTIFIER})."


_NEEDED = {
    "string_type": "a text",
    "int_type": "an integer",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def _words(code: str, name: str, value: JsonValue, ctx: Mapping[str, str | int | float], otherwise: str) -> str:
    """One sentence with the fix for an error of shape."""
    if code in _NEEDED:
        param = " A param cannot give it." if isinstance(value, str) and value.startswith("$") else ""
        return f"{name} needs {_NEEDED[code]}, not {kind(value)}.{param}"
    if code == "wrong_type":
        return f"{otherwise}, not {kind(value)}."
    if code in ("greater_than_equal", "less_than_equal"):
        most = "least" if code == "greater_than_equal" else "most"
        return f"{name} is {show(value)}; it must be at {most} {ctx.get('ge', ctx.get('le'))}."
    if code in ("too_long", "too_short"):
        bound = f"at most {ctx['max_length']}" if code == "too_long" else f"at least {ctx['min_length']}"
        return f"{name} has {_size(value)} entries; {bound} are allowed."
    if code in ("string_too_long", "string_too_short"):
        bound = f"at most {ctx['max_length']}" if code == "string_too_long" else f"at least {ctx['min_length']}"
        return f"{name} has {_size(value)} characters; {bound} are allowed."
    if code == "literal_error":
        return _not_among(name, value, str(ctx["expected"]))
    if code == "string_pattern_mismatch":
        return _bad_name(str(value)) if ctx.get("pattern") == IDENTIFIER else f"{name} is not an id (a UUID)."
    return f"{name}: {otherwise}."


def _size(value: JsonValue) -> int:
    return len(value) if isinstance(value, Sized) else 0


def _not_among(name: str, value: JsonValue, expected: str) -> str:
    known = [word.strip("' ") for part in expected.split(" or ") for word in part.split(",")]
    if isinstance(value, str):
        meant = _MEANT.get(name, {}).get(value)
        if meant in known:
            return f"'{value}' is not allowed for {name}. Did you mean '{meant}'?"
        return f"'{value}' is not allowed for {name}. {instead(value, known, 'allowed values')}"
    return f"{name} needs one of {', '.join(known)}, not {kind(value)}."
