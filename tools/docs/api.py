"""The page from which the documentation site makes its reference of the Python names, out of their docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module

import workbench
from workbench import battery, steps

from .prose import MADE
from .python import CLASSES

_HEAD = """Every public class and function with its signature and its docstring. The site (`just docs`) fills this page;
in the repository it is only the list. [Python](python.md) has the same names as one page to read."""


def page() -> str:
    """The page as Markdown."""
    lines = ["# API", "", f"<!-- {MADE} -->", "", _HEAD, ""]
    lines += _section("workbench", [f"workbench.{name}" for name in workbench.__all__ if name != "steps"])
    held = [cls for cls in CLASSES if cls.__name__ not in workbench.__all__]
    lines += _section("What a bench holds and answers", [f"{cls.__module__}.{cls.__name__}" for cls in held])
    lines += _section("workbench.steps", [f"workbench.steps.{name}" for name in steps.__all__])
    lines += _section("workbench.battery", [f"workbench.battery.{name}" for name in battery.__all__])
    return "\n".join(lines)


def _section(title: str, names: list[str]) -> Iterator[str]:
    yield from (f"## {title}", "", "```{eval-rst}")
    yield from (f".. {_directive(name)}:: {name}" for name in names)
    yield from ("```", "")


def _directive(name: str) -> str:
    module, _, last = name.rpartition(".")
    found: object = getattr(import_module(module), last)
    if inspect.isclass(found):
        return "autoexception" if issubclass(found, Exception) else "autoclass"
    return "autofunction" if callable(found) else "autodata"
