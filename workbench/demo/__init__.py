"""``workbench demo``: makes a folder with a store of sample data, saved plots, and an HTML page of each plot."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypedDict, cast

import pandas as pd
from pydantic import JsonValue

from .. import export, living_process
from ..bench import Bench, SavedPlot, open_bench
from ..bench.page_exports import seen
from ..drawing import FigureAnswer
from ..errors import BadRequest, Conflict, WorkbenchError
from ..local import LocalBackend
from ..recipe.plot import PlotConfig
from ..store.db.backup import give_name
from ..transform.protected import shared
from .fill import Progress, fill
from .pages import Count, Drawn, index_page
from .saved import Made, place_of, recipes_on, saved_plots, slug_of
from .source import Samples

__all__ = ["DemoResult", "make_demo"]

STORE, FIGURES, RECIPES, NOTEBOOKS = "workbench.db", "figures", "recipes", "notebooks"


class Lists(Protocol):
    """A collection of a bench."""

    def list(self, *, fields: Iterable[str] | None = None) -> pd.DataFrame: ...


class PlotResult(TypedDict):
    """A plot of the demo: its dashboard, what came of it, and how long it took in ms."""

    plot: str
    dashboard: str
    result: str
    ms: int


@dataclass
class DemoResult:
    """What is in a demo.

    Attributes
    ----------
    store : the store file.
    index : the page to open.
    counts : for each kind of record, how many there are, with examples.
    plots : for each plot, its dashboard, its result and how long it took in ms.
    failures : a sentence for each plot that was not drawn.
    """

    store: Path
    index: Path
    counts: list[Count] = field(default_factory=list)
    plots: list[PlotResult] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def _silent(done: int, of: int, what: str) -> None:
    """Progress that is not shown."""


def make_demo(
    folder: str | Path,
    *,
    project: str | None = None,
    organization: str | None = None,
    progress: Progress | None = None,
    for_server: bool = False,
) -> DemoResult:
    """Make a demo in a folder. If the folder has a demo already, draw its plots again.

    The store is built under another name, so it appears complete or not at all. An existing store is used as it is:
    only missing plots of the demo are added. Existing files in ``recipes`` and ``notebooks`` stay as they are.

    Parameters
    ----------
    folder : created if it does not exist. It then holds ``workbench.db``, ``recipes``, ``notebooks`` and ``figures``.
    project, organization : in a new store, the name of its only project; in an existing store, the ones to use.
    progress : called as ``progress(done, of, what)``.
    for_server : draw as a server does, in locked processes, where this machine can lock one. A server takes these
        figures from the cache: its first page has sketches, and its dashboards open at once.

    Raises
    ------
    BadRequest
        If the store in the folder is not a demo, a file is in its place, or the sample data are missing.
    """
    target = Path(folder)
    report = progress or _silent
    samples = Samples.find()
    if target.exists() and not target.is_dir():
        raise BadRequest(f"'{target}' is a file. Name a folder for the demo, or one that does not exist.")
    target.mkdir(parents=True, exist_ok=True)
    store = target / STORE
    if not store.exists():
        _build(store, samples, report, project, organization)
    with open_bench(store, project, organization) as bench:
        _refuse_other(bench, samples, store)
        _copy_new(samples.notebooks, target / NOTEBOOKS)
        made = _recipes(bench)
        for saved, recipe in made:
            _write_new(target / RECIPES / f"{saved.slug}.json", recipe)
        _save_missing(bench, made)
        result = DemoResult(store=store, index=target / FIGURES / "index.html", counts=_counts(bench))
        _draw_all(bench, target / FIGURES, result, report, locked=for_server and shared().fence().holds)
    return result


def _build(store: Path, samples: Samples, report: Progress, project: str | None, organization: str | None) -> None:
    """Fill a store in a temporary folder next to its place, then move it there. Where another process has made one
    there meanwhile, that one stays."""
    for stale in store.parent.glob(".making-*"):
        maker = stale.name.removeprefix(".making-")  # older versions named no process
        if re.fullmatch(living_process.NAME, maker) is None or living_process.has_ended(maker):
            shutil.rmtree(stale, ignore_errors=True)
    making = store.parent / f".making-{living_process.name()}"
    making.mkdir()
    try:
        with open_bench(making / "draft.db", organization=organization) as bench:
            if project is not None:
                bench.projects.update(bench.backend.project, name=project)
            fill(bench, samples, report)
            _save_missing(bench, _recipes(bench))
            bench.backup(making / STORE)
        with suppress(Conflict):
            give_name(making / STORE, store)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _refuse_other(bench: Bench, samples: Samples, store: Path) -> None:
    present = set(bench.specifications.list(fields=["name"])["name"])
    if not {one["name"] for one in samples.manifest["specifications"]} <= present:
        raise BadRequest(
            f"{store} is a store of your own, not a demo. Name another folder, as in `workbench demo my-demo`."
        )


def _recipes(bench: Bench) -> list[Made]:
    """The plots of the demo with their recipes on its store."""
    return list(
        recipes_on(cast(LocalBackend, bench.backend))
    )  # a demo is a file, and its bench is on this machine


def _save_missing(bench: Bench, recipes: list[Made]) -> None:
    """Create the missing dashboards and plots of the demo; existing ones stay as they are."""
    boards = set(bench.dashboards.list(fields=["name"])["name"])
    by_board: dict[str, list[Made]] = {}
    for saved, recipe in recipes:
        by_board.setdefault(saved.dashboard, []).append((saved, recipe))
    for name, plots in by_board.items():
        board = bench.dashboards.get(name) if name in boards else bench.dashboards.create(name)
        there = {plot.name for plot in board.plots()}
        made = [board.save(saved.name, recipe) for saved, recipe in plots if saved.name not in there]
        if made:
            kept = [tile.model_dump() for tile in board.record.layout]
            tiles = [place_of(plot.id, len(kept) + place) for place, plot in enumerate(made)]
            bench.dashboards.update(board.id, layout=[*kept, *tiles])


def _draw_all(bench: Bench, figures: Path, result: DemoResult, report: Progress, *, locked: bool) -> None:
    figures.mkdir(exist_ok=True)
    export.write_plotlyjs(figures)
    names = bench.dashboards.list(fields=["name"])["name"]
    plots = [(name, plot) for name in names for plot in bench.dashboards.get(name).plots()]
    drawn: list[Drawn] = []
    for done, (board, plot) in enumerate(plots):
        report(done, len(plots), plot.name)
        one = _draw(bench, board, plot, {other.slug for other in drawn}, locked=locked)
        drawn.append(one)
        report(done + 1, len(plots), plot.name)
        result.plots.append({"plot": one.name, "dashboard": board, "result": one.result, "ms": round(one.ms)})
        if one.figure is None:
            result.failures.append(f"The plot '{one.name}' was not drawn: {one.problem}")
        else:
            page = export.html(one.figure, title=one.name, plotlyjs=export.PLOTLY_FILE, passport=one.passport)
            export.write(figures / f"{one.slug}.html", page)
    export.write(result.index, index_page(drawn, result.counts))


def _draw(bench: Bench, board: str, plot: SavedPlot, taken: set[str], *, locked: bool) -> Drawn:
    known = {saved.name: saved for saved in saved_plots() if saved.dashboard == board}.get(plot.name)
    slug = known.slug if known else slug_of(plot.name)
    slug = slug if slug not in taken else f"{slug}-{plot.id}"
    description = known.description if known else ""
    started = time.perf_counter()
    config = plot.recipe().config
    try:
        answer = _figure(bench, config, locked=locked)
        said = bench.backend.passport(config, answer, plot=seen(plot), with_recipe=True)
    except WorkbenchError as error:
        spent = 1000 * (time.perf_counter() - started)
        return Drawn(plot.name, board, slug, description, ms=spent, problem=str(error))
    spent = 1000 * (time.perf_counter() - started)
    warnings = [warning["message"] for warning in answer.warnings]
    return Drawn(
        plot.name,
        board,
        slug,
        description,
        answer.figure,
        config.params,
        answer.values,
        warnings,
        spent,
        passport=said,
    )


def _figure(bench: Bench, config: PlotConfig, *, locked: bool) -> FigureAnswer:
    """The figure of a plot; with ``locked`` as a server draws it, with what the server keeps beside it in the cache."""
    if not locked:
        return bench.backend.figure(config, {})
    try:
        answer = bench.backend.figure(config, {}, protected=True)
    except WorkbenchError:  # a slow machine may take longer than a locked process may
        return bench.backend.figure(config, {})
    _kept = answer.traced, answer.hinted
    return answer


def _counts(bench: Bench) -> list[Count]:
    """How many records of each kind the store has, with the names of the first three."""
    kinds: dict[str, Lists] = {
        "cell specifications": bench.specifications,
        "batches": bench.batches,
        "cells": bench.instances,
        "measurements": bench.measurements,
        "analyses": bench.analyses,
        "materials": bench.materials,
        "material property sets": bench.material_properties,
        "models": bench.models,
        "simulations": bench.simulations,
        "studies": bench.studies,
        "drive cycles": bench.drive_cycles,
        "dashboards": bench.dashboards,
    }
    rows: list[Count] = []
    for what, collection in kinds.items():
        names = [str(name) for name in collection.list(fields=["name"])["name"]]
        rows.append({"what": what, "count": len(names), "examples": ", ".join(names[:3])})
    samples = bench.measurements.list(fields=["sample_count", "cycle_count"])
    cycles = f"{int(samples['cycle_count'].sum())} cycles"
    rows.append({"what": "samples", "count": int(samples["sample_count"].sum()), "examples": cycles})
    return rows


def _copy_new(source: Path | None, target: Path) -> None:
    """Copy the notebooks; existing files stay as they are."""
    target.mkdir(exist_ok=True)
    for path in sorted(source.glob("*.ipynb")) if source is not None else []:
        if not (target / path.name).exists():
            export.write(target / path.name, path.read_bytes())


def _write_new(target: Path, recipe: Mapping[str, JsonValue]) -> None:
    target.parent.mkdir(exist_ok=True)
    if not target.exists():
        export.write(target, (json.dumps(recipe, ensure_ascii=False, indent=2) + "\n").encode())
