"""A recipe as people hold it: load, save, look, change."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import BadRequest, Invalid, Problem
from ..near_files import meant_file
from ..own_scripts import is_marked, marked
from ..whole_file import whole_file
from .assemble import Params, parts_of
from .check import check, sound
from .function import script_of
from .jsontext import read_json
from .plot import PlotConfig
from .schema import schema


class Recipe:
    """A sound recipe: a plan, a transform and params.

    Parameters
    ----------
    config : a whole recipe (a mapping, a PlotConfig or another Recipe), or nothing.
    plan : JSON, or what ``wb.plan(...)`` built.
    transform : a script as text, or a function of ``data`` and ``params``, whose text is taken with what it needs.
    params : name -> param as JSON, or a list of ``wb.param(...)``; those in a built plan are added.

    The three parts stand instead of ``config`` or in place of its own.

    ``foreign`` says that somebody else, or a model, wrote its transform: benches then draw it protected. It stays when
    parts of the recipe are changed, also when letters of the script are; a function that is put in its place is one's
    own. The transform then ends with a line that says so, in files, notebooks and copies. ``Bench.trust`` makes a
    script one's own.

    Raises
    ------
    Invalid
        With every problem found, each with its place and the fix.

    >>> recipe = Recipe(
    ...     plan={"steps": {"cells": {"op": "list", "source": "instances"}}},
    ...     transform="def transform(data, params): return px.scatter(data['cells'], x='name', y='batch_name')",
    ... )
    >>> recipe
    <Recipe: 1 step (cells), no params>
    """

    def __init__(
        self,
        config: Mapping[str, Any] | PlotConfig | Recipe | None = None,
        *,
        plan: Mapping[str, Any] | None = None,
        transform: str | Callable[..., Any] | None = None,
        params: Params | None = None,
    ) -> None:
        parts = {"plan": plan, "transform": transform, "params": params}
        given = {key: part for key, part in parts.items() if part is not None}
        raw = _raw(config)
        self.config: PlotConfig = _sound(raw | given) if isinstance(raw, dict) else sound(raw)
        kept = isinstance(config, Recipe) and config.foreign and not callable(transform)
        self.foreign: bool = kept or is_marked(self.config.transform)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recipe:
        """The recipe of a JSON file.

        Raises
        ------
        BadRequest
            If the file cannot be read.
        Invalid
            If it is not JSON or not a sound recipe.
        """
        return cls(read_file(path))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the recipe as JSON and give the path. If that fails, a file that was there stays as it was."""
        target = Path(path)
        with whole_file(target) as draft:
            draft.write_text(json.dumps(self.raw(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        return target

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON Schema of every recipe, with a sentence for each field."""
        return schema()

    def raw(self) -> dict[str, Any]:
        """The recipe as plain JSON values. The script of somebody else has the line that says so."""
        return {**self.config.dump(), "transform": self.transform}

    def check(self) -> list[Problem]:
        """What is wrong with it without a store: nothing, since an unsound one is refused when made."""
        return check(self.config)

    @property
    def plan(self) -> dict[str, Any]:
        """The plan as JSON; a copy."""
        plan: dict[str, Any] = self.raw()["plan"]
        return plan

    @property
    def transform(self) -> str:
        return marked(self.config.transform) if self.foreign else self.config.transform

    @property
    def params(self) -> dict[str, Any]:
        """The params as JSON; a copy."""
        params: dict[str, Any] = self.raw().get("params", {})
        return params

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and self.config.dump() == other.config.dump()

    def __hash__(self) -> int:
        return hash(json.dumps(self.config.dump(), sort_keys=True))

    def __repr__(self) -> str:
        steps, params = list(self.config.plan.steps), list(self.config.params)
        asked = f"params {', '.join(params)}" if params else "no params"
        return f"<Recipe: {len(steps)} step{'s' * (len(steps) > 1)} ({', '.join(steps)}), {asked}>"


def _sound(raw: dict[str, Any]) -> PlotConfig:
    """A checked recipe of parts, some of them built or a function; the problems of all parts together."""
    problems: list[Problem] = []
    made = dict(raw)
    if "plan" in raw:
        made |= parts_of(raw["plan"], raw.get("params"))
    if callable(raw.get("transform")):
        try:
            made["transform"] = script_of(raw["transform"])
        except Invalid as error:
            problems = error.problems
            del made["transform"]
    try:
        config = sound(made, transform=not problems)
    except Invalid as error:
        raise Invalid([*error.problems, *problems]) from None
    if problems:
        raise Invalid(problems)
    return config


def read_file(path: str | os.PathLike[str]) -> Any:
    """The JSON value of a recipe file; errors as ``Recipe.load``."""
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        meant = meant_file(path, ".json")
        raise BadRequest(f"The recipe '{os.fspath(path)}' cannot be read: {error.strerror}.{meant}") from None
    return read_json(text)


def _raw(config: Mapping[str, Any] | PlotConfig | Recipe | None) -> Any:
    if config is None:
        return {}
    if isinstance(config, Recipe):
        return config.config.dump()
    if isinstance(config, PlotConfig):
        return config.dump()
    return dict(config) if isinstance(config, Mapping) else config
