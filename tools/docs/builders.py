"""The page of the functions that write a recipe in Python."""

from __future__ import annotations

import workbench
from workbench import steps
from workbench.recipe.build import FUNCTIONS
from workbench.recipe.steps import STEPS

from .prose import MADE, described


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# Builders of recipes",
        "",
        f"<!-- {MADE} -->",
        "",
        "`from workbench import steps` and `wb.plan`, `wb.param` write a recipe in Python: steps and params refer to",
        "each other as objects, and the JSON that comes out is that of [the recipe](recipe.md), whose fields and",
        "words these are. `None` is as if it was not given. How they go together is in",
        "[Write a recipe in Python](../how-to/recipes-in-python.md).",
        "",
    ]
    lines += ["## wb.plan", "", *described(workbench.plan, "plan"), "## wb.param", ""]
    lines += described(workbench.param, "param")
    for title, names in (("Steps", tuple(STEPS)), ("Metrics", FUNCTIONS), ("Comparisons", ("column", "metric"))):
        lines += [f"## {title}", ""]
        for name in names:
            lines += [f"### steps.{name}", "", *described(getattr(steps, name), name)]
    return "\n".join(lines)
