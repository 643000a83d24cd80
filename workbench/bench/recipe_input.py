"""What a user gives to a bench as a recipe and as param values, and how the backend takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pydantic import JsonValue

from ..backend import Backend
from ..errors import BadRequest
from ..quick_import import later
from ..recipe.strict import Raw

if TYPE_CHECKING:
    from ..recipe import assemble
    from ..recipe import plot as recipe_plot
    from ..recipe import recipe as recipes
    from ..recipe.plot import PlotConfig
else:  # the models of recipes wait for the first recipe
    recipe_plot = later("workbench.recipe.plot")
    recipes = later("workbench.recipe.recipe")
    assemble = later("workbench.recipe.assemble")


class Listed(Protocol):
    """A numpy array or scalar, or a pandas column."""

    def tolist(self) -> Raw: ...


ParamValue: TypeAlias = JsonValue | date | Listed | Sequence["ParamValue"]
"""A value of a param. A tuple, an array and a pandas column become a list; a date becomes ISO text."""
Values: TypeAlias = Mapping[str, ParamValue]
"""Param name -> value."""
RecipeLike: TypeAlias = "recipes.Recipe | recipe_plot.PlotConfig | Mapping[str, Raw] | str | Path"
"""A recipe, a recipe or a bare plan as JSON, a plan of ``wb.plan(...)``, or the path of a recipe file."""
Unchecked: TypeAlias = Any
"""Input that the backend has not checked yet."""


def unchecked(recipe: RecipeLike) -> Unchecked:
    """A recipe as the backend takes it: a PlotConfig or JSON. A bare plan becomes a config without a transform.

    Raises
    ------
    BadRequest
        If it is the path of a file that cannot be read, or no recipe at all.
    Invalid
        If it is the path of a file that does not hold a sound recipe.
    """
    if isinstance(recipe, str | Path):
        recipe = recipes.Recipe.load(recipe)
    if isinstance(recipe, recipes.Recipe):
        return recipe.config
    if isinstance(recipe, assemble.PlanDraft):
        return recipe.config()
    if isinstance(recipe, recipe_plot.PlotConfig):
        return recipe
    if not isinstance(recipe, Mapping):
        raise BadRequest(
            "A recipe is a wb.Recipe, a mapping, the path of a recipe file, or a saved plot or its name; this is "
            f"{recipe!r:.40}."
        )
    return {"plan": dict(recipe)} if "steps" in recipe and "plan" not in recipe else recipe


def as_json(recipe: RecipeLike) -> Unchecked:
    """As `unchecked`, but a file need not hold a sound recipe.

    Raises
    ------
    BadRequest
        If it is the path of a file that cannot be read.
    Invalid
        If it is the path of a file that is not JSON.
    """
    return recipes.read_file(recipe) if isinstance(recipe, str | Path) else unchecked(recipe)


def checked(recipe: RecipeLike) -> PlotConfig:
    """The checked config of a whole recipe.

    Raises
    ------
    BadRequest
        If it is the path of a file that cannot be read.
    Invalid
        If the recipe is not sound.
    """
    if isinstance(recipe, str | Path):
        recipe = recipes.Recipe.load(recipe)
    return recipe.config if isinstance(recipe, recipes.Recipe) else recipes.Recipe(recipe).config


def merged(values: Values | None, by_name: Values) -> Unchecked:
    """The values of both mappings. What is not a mapping is returned as it is: the check of the recipe refuses it."""
    if values is not None and not (by_name and isinstance(values, Mapping)):
        return values
    return {**(values or {}), **by_name}


def is_protected(backend: Backend, recipe: RecipeLike, asked: bool | None) -> bool | None:
    """What the caller asked for; else True for a script of somebody else, and None for the default of the bench."""
    return True if asked is None and is_untrusted(backend, recipe) else asked


def is_untrusted(backend: Backend, recipe: RecipeLike) -> bool:
    """Whether the script of a recipe is not this user's own."""
    if isinstance(recipe, str | Path):
        recipe = recipes.Recipe.load(recipe)
    if not isinstance(recipe, recipes.Recipe):
        return backend.is_untrusted(recipe)
    known = backend.own_scripts is not None and backend.own_scripts.has(recipe.config.transform)
    return not known and (recipe.foreign or backend.is_untrusted(recipe.config))
