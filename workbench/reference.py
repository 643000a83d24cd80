"""Writes the reference pages of the docs that derive from the code: ``python -m workbench.reference``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import workbench
from server import reference as http

from . import errors, steps
from .bench import Bench, Board, Data, Figure, SavedPlot
from .bench.boards import Boards
from .bench.collections import Collection
from .bench.figure import Made
from .bench.look import Look, Page, StepLook
from .bench.quick import Quick, QuickReport
from .bench.sampled import Analyses, MaterialProperties, Measurements, Simulations
from .bench.sessions import Sessions
from .bench.studies import Studies
from .cli import app
from .cli.help import default, params, spelled, usage
from .cycling.columns import SERIES_COLUMNS
from .cycling.cycles import CYCLE_COLUMNS
from .cycling.life import LIFE_COLUMNS
from .cycling.steps import STEP_COLUMNS
from .ingest import FileReport, Report
from .lint import RULES, Lint
from .recipe.build import FUNCTIONS
from .recipe.recipe import Recipe
from .recipe.steps import STEPS
from .records.catalog import Catalog

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
MADE = "Made from the code by `python -m workbench.reference`; change it there."
_SECTION = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)


def pages() -> dict[str, str]:
    """File name -> text of every page made here."""
    return {
        "commands.md": _commands(),
        "python.md": _python(),
        "builders.md": _builders(),
        "lint.md": _lint(),
        "errors.md": _errors(),
        "catalog.md": _columns(),
        "http.md": http.page(MADE),
    }


# Commands


def _commands() -> str:
    group: Any = typer.main.get_command(app)
    lines = [
        "# Commands",
        "",
        f"<!-- {MADE} -->",
        "",
        "One command, `workbench`. A store is one SQLite file: `--store PATH`, or `$WORKBENCH_STORE`, or",
        "`./workbench.db`. If the store has several projects, say which with `--project NAME` or",
        "`$WORKBENCH_PROJECT`. If it has several organizations, say which with `--organization NAME` or",
        "`$WORKBENCH_ORGANIZATION`.",
        "",
        "Exit code 0: done. 1: the command failed: an invalid recipe, a file that cannot be read, a damaged store. 2:",
        "the command was not understood: an unknown option, store, project, param or step. Results go to the standard",
        "output. Problems, warnings and the progress bar go to the standard error.",
        "",
        "`workbench --install-completion` lets your shell complete commands and options with the Tab key.",
        "",
    ]
    for name, command in commands(group):
        lines += _command(name, command)
    return "\n".join(lines)


def commands(group: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by its whole name, those of groups among them."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    for paragraph in (command.help or "").split("\n\n"):
        yield " ".join(paragraph.split())
        yield ""
    yield f"`workbench {name} {usage(command)}`"
    yield ""
    yield "| | | |"
    yield "|---|---|---|"
    for param in params(command):
        yield f"| `{spelled(param)}` | {default(param)} | {_cell(param.help or '')} |"
    yield ""
    yield (command.epilog or "").strip()
    yield ""


# Python


def _python() -> str:
    lines = [
        "# Python",
        "",
        f"<!-- {MADE} -->",
        "",
        "`import workbench as wb`. Where a project, dashboard, plot or record is asked for, its id, its name or the",
        "object itself will do. Everything answers a frame, a record or a figure, or raises one of the",
        "[errors](errors.md).",
        "",
        "## Names of the package",
        "",
        "| name | |",
        "|---|---|",
        *(f"| `wb.{name}` | {_cell(_first(getattr(workbench, name)))} |" for name in workbench.__all__),
        "",
        "## wb.open",
        "",
        *_described(workbench.open, "open"),
    ]
    for cls in _CLASSES:
        lines += _class(cls)
    return "\n".join(lines)


_CLASSES: tuple[type, ...] = (
    *(Bench, Collection, Measurements, Analyses, Simulations, MaterialProperties, Studies, Sessions),
    *(
        Boards,
        Board,
        SavedPlot,
        Recipe,
        Data,
        Look,
        StepLook,
        Page,
        Quick,
        QuickReport,
        Figure,
        Made,
        Lint,
        Report,
        FileReport,
        Catalog,
    ),
)


def _class(cls: type) -> Iterator[str]:
    yield f"## {cls.__name__}"
    yield ""
    if collections := [name for name, holder in _HELD.items() if holder is cls]:
        yield "As " + ", ".join(f"`bench.{name}`" for name in collections) + "."
        yield ""
    yield from _prose(inspect.getdoc(cls) or "")
    if cls is Bench:
        yield "Collections: " + ", ".join(f"`{name}`" for name in _HELD) + "."
        yield ""
    for name, member in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"### .{name}"
            yield ""
            yield from _prose(inspect.getdoc(member) or "")
        elif inspect.isfunction(inspect.unwrap(_bare(member))):
            yield f"### {cls.__name__}.{name}"
            yield ""
            yield from _described(_bare(member), name)


_HELD: dict[str, type] = {
    **dict.fromkeys(("projects", "specifications", "batches", "instances"), Collection),
    "measurements": Measurements,
    "analyses": Analyses,
    "materials": Collection,
    "material_properties": MaterialProperties,
    "models": Collection,
    "simulations": Simulations,
    "studies": Studies,
    "drive_cycles": Collection,
    "dashboards": Boards,
    "sessions": Sessions,
}


def _bare(member: Any) -> Any:
    return member.__func__ if isinstance(member, classmethod | staticmethod) else member


def _described(function: Any, name: str) -> Iterator[str]:
    signature = inspect.signature(function)
    shown = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name not in ("self", "cls")]
    yield f"`{name}{signature.replace(parameters=shown, return_annotation=signature.empty)}`"
    answer = signature.return_annotation
    if isinstance(answer, str) and answer not in ("None", "R"):
        yield f"-> `{answer}`"
    yield ""
    yield from _prose(inspect.getdoc(function) or "")


def _prose(text: str) -> Iterator[str]:
    """A docstring as Markdown: its sections as lists, its examples as code."""
    parts = _SECTION.split(text)
    yield from _paragraphs(parts[0])
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        yield f"{title}:"
        yield ""
        yield from _items(body)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.strip().split("\n\n"):
        if paragraph.lstrip().startswith(">>>"):
            yield from ("```pycon", paragraph, "```", "")
        elif paragraph:
            yield from (_marked(paragraph), "")


def _items(body: str) -> Iterator[str]:
    prose, *rest = re.split(r"\n\n(?=\S)", body.strip("\n"), maxsplit=1)
    for item in re.split(r"\n(?=\S)", prose):
        head, *told = (line.strip() for line in item.split("\n"))
        named, colon, first = head.partition(" : ")
        words = " ".join([first, *told] if colon else told)
        yield _marked(f"- **{named}**: {words}" if words else f"- {named}")
    yield ""
    for text in rest:
        yield from _paragraphs(text)


# Builders of recipes


def _builders() -> str:
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
    lines += ["## wb.plan", "", *_described(workbench.plan, "plan"), "## wb.param", ""]
    lines += _described(workbench.param, "param")
    for title, names in (("Steps", tuple(STEPS)), ("Metrics", FUNCTIONS), ("Comparisons", ("column", "metric"))):
        lines += [f"## {title}", ""]
        for name in names:
            lines += [f"### steps.{name}", "", *_described(getattr(steps, name), name)]
    return "\n".join(lines)


# Lint


def _lint() -> str:
    lines = [
        "# Figure lint",
        "",
        f"<!-- {MADE} -->",
        "",
        "What a careful reader would ask about a figure. It is told beside the figure, never in it, as",
        "`figure.workbench.lint`: a list whose entries have `code`, `message` (what, and the mend), `trace` (the place",
        "in `figure.data`) and `axis` (its name in the layout). A rule speaks only where it is certain, from the",
        "traces and the data that they were drawn from: a trace counts as a column if it is that column, point by",
        "point, times nothing but a sign, a prefix or a unit of time.",
        "",
        "| code | what it finds | the mend |",
        "|---|---|---|",
        *(f"| `{code}` | {_cell(rule.finds)} | {_cell(rule.mend)} |" for code, rule in RULES.items()),
        "",
    ]
    return "\n".join(lines)


# Errors


def _errors() -> str:
    tree = (errors.__doc__ or "").split("\n\n", 1)[1].strip("\n")
    lines = [
        "# Errors",
        "",
        f"<!-- {MADE} -->",
        "",
        "Everything that goes wrong on purpose is a `WorkbenchError`; its text is for a person: the place, the nearest",
        "valid name, the mend. The number is the status, and the word the code, that name it on the wire.",
        "",
        "```",
        tree,
        "```",
        "",
        "| error | status | code | |",
        "|---|---|---|---|",
    ]
    for cls in _tree(errors.WorkbenchError):
        # A class without words of its own is told by its line in the tree.
        own = cls.__doc__ or _line_of(tree, cls.__name__)
        lines.append(f"| `{cls.__name__}` | {cls.status} | `{cls.code}` | {_cell(own)} |")
    lines += ["", "## Problem", "", *_prose(inspect.getdoc(errors.Problem) or "")]
    lines += [
        "`loc` holds the keys and indexes of the request: `config` for the recipe, `values` for the chosen values. A",
        "problem of a script stands at `config.transform`; its `ctx` has `line` and `text`.",
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


def _tree(cls: type[errors.WorkbenchError]) -> Iterator[type[errors.WorkbenchError]]:
    yield cls
    for below in cls.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from _tree(below)


def _line_of(tree: str, name: str) -> str:
    found = re.search(rf"\b{name}\s+\d+\s+(.*)", tree)
    return found[1] if found else ""


# Columns


def _columns() -> str:
    lines = [
        "# The catalog, and the columns of series and summaries",
        "",
        f"<!-- {MADE} -->",
        "",
        "`bench.catalog()` and `workbench catalog` say what a store holds: of each source its columns with type, unit,",
        "how many records fill them and examples; the names found under open objects (`properties.`, `protocol.` ...);",
        "the columns of its sampled data and how many records have each; and the columns of the two summaries of",
        'measurements. `bench.catalog()["measurements"]` is one source, `.as_dict()` all of it as JSON. The fields of',
        "every record are in [records.md](records.md). How the summaries are computed, sample by sample, is in",
        "[Steps and cycles](../explanation/cycling.md).",
        "",
    ]
    for title, told, columns in (
        (
            "Time series",
            "Of measurements and simulations; a file's other columns keep their names.",
            SERIES_COLUMNS,
        ),
        ("steps", "One row per step: `op` `summary`, `dataset` `steps`.", STEP_COLUMNS),
        ("cycles", "One row per cycle: `op` `summary`, `dataset` `cycles`.", CYCLE_COLUMNS),
        ("Life", _LIFE, LIFE_COLUMNS),
    ):
        lines += [f"## {title}", "", told, "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{c.name}` | {c.kind} | {c.unit or ''} | {_cell(c.meaning)} |" for c in columns]
        lines.append("")
    return "\n".join(lines)


_LIFE = (
    "Computed on read over all tests of a cell, in `steps` and `cycles`; the first two also in a time series. "
    "See [the life of a cell](../how-to/grow.md#the-life-of-a-cell)."
)


# Words


def _first(thing: Any) -> str:
    text = (inspect.getdoc(thing) or "").split("\n\n")[0]
    if inspect.isclass(thing) and issubclass(thing, errors.WorkbenchError):
        text = thing.__doc__ or _line_of(errors.__doc__ or "", thing.__name__)
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _marked(" ".join(text.split())).replace("|", "\\|")


def _marked(text: str) -> str:
    return text.replace("``", "`")


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
