"""What a drawn plot shows, changed by a wish: ``also the temperature``, ``only the current``, ``charge energy``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from ..catalog import entries
from ..entry import Unmet
from ..facts import TestRow
from . import vocabulary as known
from .candidates import Candidate, samples
from .choices import MOST_TESTS, Raw
from .wish import Wish

_DRAWS_EACH_COLUMN = "columns = [name for name in samples["
"""A line of the script that draws whatever columns its step ``samples`` reads."""
_OF_COLUMNS = frozenset({"cells", "samples", "cycles"})
"""Recipes of columns: a wish for one may as well be about the columns of what is shown."""


def changes_what_is_drawn(wish: Wish, found: Sequence[Candidate], draft: Mapping[str, JsonValue]) -> bool:
    """Whether a wish is about another quantity in the plot that is shown, and not about another plot."""
    config = draft.get("config")
    if is_of_another(found) or not isinstance(config, dict) or wish.says(known.OVER_TIME):
        return False
    if wish.unwanted and wish.unwanted.quantities:
        return _has_samples(config)
    return bool(wish.quantities) and (_has_samples(config) or bool(_of_quantity(wish, config)))


def is_of_another(found: Sequence[Candidate]) -> bool:
    """Whether the best candidate for a wish is more than columns over time or cycles."""
    return bool(found) and found[0].recipe not in _OF_COLUMNS


def _has_samples(raw: Raw) -> bool:
    step = (raw.get("plan") or {}).get("steps", {}).get("samples", {})
    return step.get("op") == "series" and _DRAWS_EACH_COLUMN in str(raw.get("transform"))


def _of_quantity(wish: Wish, raw: Raw) -> list[str]:
    """The options of the control of a quantity that the wish names."""
    control = (raw.get("params") or {}).get("quantity", {}).get("control") or {}
    there = [one.get("value") for one in control.get("options") or [] if isinstance(one, dict)]
    return [name for one in wish.quantities for name in one.cycles if name in there]


def other_columns(wish: Wish, raw: Raw) -> list[str]:
    """Sets the columns of the samples that a plot draws as a wish says, and gives them in words; nothing for another
    plot, or if the wish names no quantity.

    Raises
    ------
    Unmet
        If none of the chosen tests has a column that the wish names.
    """
    unwanted = () if wish.unwanted is None else wish.unwanted.quantities
    if not (wish.quantities or unwanted) or not _has_samples(raw):
        return []
    step = raw["plan"]["steps"]["samples"]
    shown = [name for name in step["columns"] if not any(re.search(one.pattern, name) for one in unwanted)]
    series = [column.name for column in wish.facts.catalog["measurements"].series if column.records]
    wanted = [
        next((name for name in series if re.search(one.pattern, name, re.IGNORECASE)), None)
        for one in wish.quantities
    ]
    chosen = raw["params"]["tests"]["default"]
    cells = raw["params"].get("cells", {}).get("default")
    tests = [one for one in wish.facts.tests() if one.name in chosen and (cells is None or one.cell in cells)]
    for one, name in zip(wish.quantities, wanted, strict=True):
        if name is None or not wish.facts.of_any([test.id for test in tests], "series", [name]):
            called = ", ".join(f"'{test.name}'" for test in tests[:3]) or "–"
            raise Unmet(f"{called} has no column '{name or one.names['en']}'.")
    names = [name for name in wanted if name is not None]
    if not names or wish.says_to("add"):
        names = [*shown, *names]
    names = list(dict.fromkeys(names))
    if not names or names == step["columns"]:
        return []
    step["columns"] = names
    return [f"Columns: {', '.join(names)}"]


def with_tests_of(wish: Wish, raw: Raw) -> Raw:
    """A plot of samples whose plan can choose the tests that a wish names, of the kind that is shown where it names no
    kind; any other plot as it is."""
    if not _has_samples(raw) or not (wish.names_cells or wish.named.tests):
        return raw
    where = raw["plan"]["steps"].get("tests", {}).get("where")
    there = None if where is None else where.get("ids")
    names, cells = (raw["params"].get(name, {}).get("default") for name in ("tests", "cells"))
    shown = [one for one in wish.facts.tests() if one.name in names and (cells is None or one.cell in cells)]
    wanted = _of_kinds(wish, shown)
    if not wanted or there is None or all(one.id in there for one in wanted):
        return raw
    tests = list(dict.fromkeys([*shown, *wanted])) if wish.says_to("add") else wanted
    made = samples(wish, list(raw["plan"]["steps"]["samples"]["columns"]), tests).dump()
    for param, chosen in (("tests", [one.name for one in tests]), ("cells", [one.cell for one in tests])):
        if param in made["params"]:
            made["params"][param]["default"] = list(dict.fromkeys(chosen))[:MOST_TESTS]
    others = {name: param for name, param in raw["params"].items() if name not in ("tests", "cells")}
    return {**raw, "plan": made["plan"], "params": {**made["params"], **others}}


def _of_kinds(wish: Wish, shown: Sequence[TestRow]) -> list[TestRow]:
    """The tests that a wish names, of the kinds of those that are shown where it names neither kinds nor tests."""
    if wish.kinds or wish.named.tests or wish.test_words:
        return wish.chosen_tests
    ids = {one.id for one in shown}
    kinds = [kind for kind in known.KINDS if any(one.id in ids for one in wish.facts.tests(kind))]
    of_kinds = {one.id for one in wish.facts.tests(*kinds)} if kinds else set()
    return [one for one in wish.chosen_tests if not kinds or one.id in of_kinds]


def recipe_of(draft: Mapping[str, JsonValue]) -> str:
    """The name of the recipe that a draft comes from; empty for one of another author."""
    config = draft.get("config")
    if not isinstance(config, dict):
        return ""
    if _has_samples(config):
        return "samples"
    titles = {one.title: name for name, one in entries().items()}
    script = str(config.get("transform"))
    is_of_cycles = "def falls_below(" in script
    return "cycles" if is_of_cycles else titles.get(str(draft.get("name")), "")


def renamed(name: str, before: Raw, after: Raw) -> str:
    """The name of a plot after a change: where it named what was drawn, what is drawn now."""
    old, new = _called(before), _called(after)
    return new + name.removeprefix(old) if old and new and name.startswith(old) else name


def _called(raw: Raw) -> str:
    """What the name of a plot of samples or cycles begins with."""
    if _has_samples(raw):
        columns = raw["plan"]["steps"]["samples"]["columns"]
        return ", ".join(str(name).partition(" [")[0].lower() for name in columns).capitalize() + " over time"
    params = raw.get("params") or {}
    if {"by", "what"} <= params.keys() and "records" in (raw.get("plan") or {}).get("steps", {}):
        things = "tests" if params["what"].get("default") == "measurements" else "cells"
        options = (params["by"].get("control") or {}).get("options") or []
        labels = {one["value"]: one.get("label") for one in options if isinstance(one, dict)}
        return f"Number of {things} by {labels.get(params['by'].get('default'))}"
    quantity = params.get("quantity", {}).get("default")
    return f"{str(quantity).partition(' [')[0]} by cycle" if quantity else ""
