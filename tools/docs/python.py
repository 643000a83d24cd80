"""The page of the Python names: the package, the bench and what its methods answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

import workbench
from workbench import errors
from workbench.bench import Bench, Board, Data, Figure, SavedPlot
from workbench.bench.boards import Boards
from workbench.bench.collections import Collection
from workbench.bench.figure import Made
from workbench.bench.look import Look, Page, StepLook
from workbench.bench.quick import Quick, QuickReport
from workbench.bench.sampled_collections import Analyses, MaterialProperties, Measurements, Simulations
from workbench.bench.sessions import Sessions
from workbench.bench.studies import Studies
from workbench.ingest import FileReport, Report
from workbench.lint import Lint
from workbench.recipe.recipe import Recipe
from workbench.records.catalog import Catalog

from .errors import line_of
from .prose import MADE, cell, described, prose


def page() -> str:
    """The page as Markdown."""
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
        *(f"| `wb.{name}` | {cell(_first(getattr(workbench, name)))} |" for name in workbench.__all__),
        "",
        "## wb.open",
        "",
        *described(workbench.open, "open"),
    ]
    for cls in CLASSES:
        lines += _class(cls)
    return "\n".join(lines)


_COLLECTIONS: tuple[type, ...] = (
    Collection,
    Measurements,
    Analyses,
    Simulations,
    MaterialProperties,
    Studies,
    Sessions,
)
_OBJECTS: tuple[type, ...] = (
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
)
CLASSES = (Bench, *_COLLECTIONS, *_OBJECTS, Lint, Report, FileReport, Catalog)


def _class(cls: type) -> Iterator[str]:
    yield f"## {cls.__name__}"
    yield ""
    if collections := [name for name, holder in _HELD.items() if holder is cls]:
        yield "As " + ", ".join(f"`bench.{name}`" for name in collections) + "."
        yield ""
    yield from prose(inspect.getdoc(cls) or "")
    if cls is Bench:
        yield "Collections: " + ", ".join(f"`{name}`" for name in _HELD) + "."
        yield ""
    for name, member in _members(cls):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"### .{name}"
            yield ""
            yield from prose(inspect.getdoc(member) or "")
        elif (function := _function(member)) is not None:
            yield f"### {cls.__name__}.{name}"
            yield ""
            yield from described(function, name)


def _members(cls: type) -> Iterator[tuple[str, object]]:
    """What a class has, and for `Bench` also the members of the parts that it is made of."""
    seen: set[str] = set()
    for one in cls.__mro__:
        if one is cls or (cls is Bench and one.__module__.startswith(Bench.__module__.rpartition(".")[0])):
            for name in [*vars(one)]:
                if name not in seen:
                    getattr(one, name, None)  # some methods are decorated when they are first looked up
                    yield name, vars(one)[name]
            seen |= {*vars(one)}


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


def _function(member: object) -> Callable[..., object] | None:
    """The function behind a member of a class; none for what is not a function, such as a constant."""
    bare = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    return bare if callable(bare) and inspect.isfunction(inspect.unwrap(bare)) else None


def _first(thing: object) -> str:
    text = (inspect.getdoc(thing) or "").split("\n\n")[0]
    if inspect.isclass(thing) and issubclass(thing, errors.WorkbenchError):
        text = thing.__doc__ or line_of(errors.__doc__ or "", thing.__name__)
    return " ".join(text.split())
