"""A gallery entry: a question, and what makes an ordinary recipe for it from what a store has."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from textwrap import shorten
from types import ModuleType
from typing import TypeAlias

from pydantic import JsonValue

from ..python_tree import tree_of
from ..recipe.plot import PlotConfig
from ..recipe.sentence import sentence_script
from .facts import Facts

MARKER = "# The script of the figure"
"""The line of an entry's file after which its script begins."""
NOTHING_EXCLUDED = 'EXCLUDED = ""'
"""The line of a script that says what is excluded or left out."""
ALL_COUNT = "EXCLUDED_CYCLES = {}"
"""The line of a script with the excluded cycles of each test."""
ONE_OF_EACH = "TAKEN = {}"
"""The line of a script with the properties that are taken of several."""
NO_DEFAULTS = "DEFAULTS = {}"
"""The line of a script with what view params are where they have no value."""
SHARED = Path(__file__).with_name("script_parts.py")
"""The functions that scripts share. It is text for scripts, which have their names without import."""
Steps: TypeAlias = dict[str, dict[str, JsonValue]]
Params: TypeAlias = dict[str, dict[str, JsonValue]]


@dataclass(frozen=True)
class Made:
    """The plan and the params of a recipe."""

    steps: Steps
    params: Params = field(default_factory=dict)


class Unmet(Exception):
    """The store lacks what an entry draws; the text says what, and how to get it."""


@dataclass(frozen=True)
class Entry:
    """A recipe of the gallery.

    Parameters
    ----------
    name : how people call it: ``bench.show("fade")``.
    title : a short one, for lists.
    needs : what a store must have, in words.
    make : gives plan and params for a store, or raises `Unmet`.
    analyses : the stored analyses that it draws.
    """

    name: str
    title: str
    question: str
    needs: str
    module: ModuleType
    make: Callable[[Facts], Made]
    analyses: tuple[str, ...] = ()

    @property
    def script(self) -> str:
        return script_of(self.module)

    def config(self, facts: Facts) -> PlotConfig:
        """The recipe for a store. If the store lacks what it draws, its figure is a sentence that says so."""
        facts.undrawn.clear()
        try:
            made = self.make(facts)
        except Unmet as unmet:
            return _sentence(str(unmet))
        raw: dict[str, JsonValue] = {
            "plan": {"steps": {**made.steps}},
            "transform": self._script_for(facts, made.params),
            "params": {**made.params},
        }
        return PlotConfig.model_validate(raw)

    def _script_for(self, facts: Facts, params: Params) -> str:
        """The script with what is excluded in a store, and with the defaults of its view params."""
        said = self.script.replace(
            NOTHING_EXCLUDED, f"EXCLUDED = {shorten(facts.left_out, 400, placeholder=' ...')!r}"
        )
        said = said.replace(ONE_OF_EACH, f"TAKEN = {facts.taken!r}")
        defaults = {name: param.get("default") for name, param in params.items() if param["kind"] == "view"}
        said = said.replace(NO_DEFAULTS, f"DEFAULTS = {defaults!r}")
        return said.replace(ALL_COUNT, f"EXCLUDED_CYCLES = {facts.excluded_cycles!r}")


def _sentence(text: str) -> PlotConfig:
    step: dict[str, JsonValue] = {"op": "list", "source": "measurements", "where": {"ids": []}, "fields": ["id"]}
    return PlotConfig.model_validate({"plan": {"steps": {"tests": step}}, "transform": sentence_script(text)})


def entry_of(module: ModuleType) -> Entry:
    """The entry that a module declares: its docstring is the question, and its names are the rest."""
    found: Mapping[str, object] = vars(module)
    make, title, needs, analyses = found["make"], found["TITLE"], found["NEEDS"], found.get("ANALYSES", ())
    if (
        not callable(make)
        or not isinstance(title, str)
        or not isinstance(needs, str)
        or not isinstance(analyses, tuple)
    ):
        raise TypeError(f"{module.__name__} needs TITLE, NEEDS and a function make(facts).")
    name = module.__name__.rsplit(".", 1)[-1].replace("_", "-")
    return Entry(name, title, (module.__doc__ or "").strip(), needs, module, make, analyses)


@cache
def script_of(module: ModuleType) -> str:
    """The script in a module: what follows the marker, and those of the shared functions that it calls."""
    _, _, own = inspect.getsource(module).partition(f"{MARKER}\n")
    shared = _shared_statements()
    wanted: list[ast.stmt] = []
    _gather(tree_of(own), {name: node for node in shared for name in _named(node)}, wanted)
    text = own.strip() + "\n"
    imports = [line for line in text.split("\n") if line.startswith(("import ", "from "))]
    body = "\n".join(line for line in text.split("\n") if line not in imports).strip()
    parts = [text for node, text in shared.items() if node in wanted]
    brought = [part for part in parts if part.startswith(("import ", "from "))]
    head = sorted(
        {*imports, *brought, "from workbench import battery"} - _GIVEN, key=lambda line: (line[0] == "f", line)
    )
    constants = [part for part in parts if part not in brought and not part.startswith("def ")]
    functions = [part for part in parts if part.startswith("def ")]
    blocks = ["\n".join(head), *(["\n".join(constants)] if constants else []), *functions, body]
    return "\n\n\n".join(blocks) + "\n"


@cache
def _shared_statements() -> dict[ast.stmt, str]:
    """Each statement of the shared functions, with its text."""
    source = SHARED.read_text("utf-8")
    lines = source.split("\n")  # once: ast.get_source_segment makes the lines again for each statement
    made = {}
    for node in tree_of(source).body:
        own = lines[node.lineno - 1 : node.end_lineno]
        own[-1] = own[-1].encode()[: node.end_col_offset].decode()
        made[node] = "\n".join(own)
    return made


_GIVEN = {"import numpy as np", "import pandas as pd"}


def _named(node: ast.stmt) -> list[str]:
    """The names that a statement of a module makes."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [one.asname or one.name for one in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _gather(tree: ast.AST, there: Mapping[str, ast.stmt], wanted: list[ast.stmt]) -> None:
    """The statements that make the names which a tree uses, and those that they use."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in there and there[node.id] not in wanted:
            wanted.append(there[node.id])
            _gather(there[node.id], there, wanted)


def load(names: tuple[str, ...]) -> dict[str, Entry]:
    """The entries of these modules by name, in order."""
    found = [entry_of(importlib.import_module(f"{__package__}.entries.{name}")) for name in names]
    return {entry.name: entry for entry in found}
