"""The page of the errors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from workbench import errors

from .prose import MADE, cell, prose


def page() -> str:
    """The page as Markdown."""
    tree = (errors.__doc__ or "").split("\n\n", 1)[1].strip("\n")
    lines = [
        "# Errors",
        "",
        f"<!-- {MADE} -->",
        "",
        "Every error that the workbench raises on purpose is a `WorkbenchError`. Its text names the place, the nearest",
        "valid name and the fix. On the wire it has a status and a code.",
        "",
        "```",
        tree,
        "```",
        "",
        "| error | status | code | |",
        "|---|---|---|---|",
    ]
    for cls in tree_of(errors.WorkbenchError):
        # A class without a docstring has its line in the tree instead.
        own = cls.__doc__ or line_of(tree, cls.__name__)
        lines.append(f"| `{cls.__name__}` | {cls.status} | `{cls.code}` | {cell(own)} |")
    lines += ["", "## Problem", "", *prose(inspect.getdoc(errors.Problem) or "")]
    lines += [
        "`loc` holds the keys and indexes of the request: `config` for the recipe, `values` for the chosen values. A",
        "problem of a script is at `config.transform`; its `ctx` has `line` and `text`.",
        "",
        "```python",
        "import workbench as wb",
        "",
        'steps = {"cells": {"op": "list", "source": "instance"}}',
        "try:",
        '    wb.Recipe(plan={"steps": steps}, transform="def transform(data, params): return {}")',
        "except wb.Invalid as error:",
        "    for problem in error.problems:",
        "        print(problem.loc, problem.msg)",
        "```",
        "",
    ]
    return "\n".join(lines)


def tree_of(cls: type[errors.WorkbenchError]) -> Iterator[type[errors.WorkbenchError]]:
    yield cls
    for below in cls.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from tree_of(below)


def line_of(tree: str, name: str) -> str:
    found = re.search(rf"\b{name}\s+\d+\s+(.*)", tree)
    return found[1] if found else ""
