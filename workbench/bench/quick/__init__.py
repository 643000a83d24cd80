"""``bench.quick``: draws a file that is not in the store, and reports what was assumed about it."""

from __future__ import annotations

import html
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np
import pandas as pd

from ...cycling.columns import COMPLETE
from ...engine.equality import is_any_of
from ...errors import BadRequest, instead
from ...ingest import IngestKeywords
from ...local import LocalBackend
from ...messages import counted, spaced
from ...recipe.recipe import Recipe
from ...records import Measurement
from ...table import Table
from ...transform import frames
from ..figure import Figure
from .recipes import View, over, views
from .temporary_store import Taken, discard, take

if TYPE_CHECKING:
    from ...notebook.view import View as LiveView
    from ..bench import Bench

__all__ = ["Quick", "QuickReport", "quick"]
_NAMED = 5


class QuickReport:
    """What a quick look found out about a file: ``.lines`` are pairs of level and sentence.

    The levels are ``file``; ``drawn``; ``also`` (other views of the file); ``assumed``, ``repaired`` and ``odd``, as in
    the report of an ingest; ``kept``; ``readers`` (why no reader recognizes a test); ``lint`` (what to check in the
    figure).
    """

    def __init__(self, lines: Sequence[tuple[str, str]]) -> None:
        self.lines = list(lines)

    def __repr__(self) -> str:
        width = max(len(level) for level, _ in self.lines)
        return "\n".join(f"{level.ljust(width)}  {line}" for level, line in self.lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left;vertical-align:top;opacity:.65'>{html.escape(level)}</td>"
            f"<td style='text-align:left'>{html.escape(line)}</td></tr>"
            for level, line in self.lines
        )
        return f"<table style='font:13px/1.45 system-ui,sans-serif'>{rows}</table>"


class Quick:
    """A file as a figure: ``.figure``, ``.report``, ``.table()``, and ``.recipe`` on ``.bench``, a bench of its own.

    The store of that bench is in a temporary folder. It is deleted with this object, or by ``.close()``. Nothing is
    stored anywhere else. ``.show()`` opens the live view, which reads more samples on zoom.
    """

    def __init__(self, taken: Taken, view: View, bench: Bench, others: Sequence[View]) -> None:
        self.bench, self.view, self.views = bench, view.name, [one.name for one in others]
        self.recipe: Recipe = view.recipe(taken.held)
        self._taken = taken
        self._close = weakref.finalize(self, discard, taken.backend, taken.folder)
        self.figure: Figure = bench.figure(self.recipe)
        self.report = QuickReport(_report(taken, view, others, self.figure))

    def table(self) -> pd.DataFrame:
        """All samples of the file as they are stored, or the rows of a plain table."""
        return frames.whole_frame(self._taken.backend.sampled(self._taken.record, "series"), self._taken.record)

    def cycles(self) -> pd.DataFrame:
        """One row per cycle; BadRequest if the file is a plain table."""
        return self._summary("cycles")

    def steps(self) -> pd.DataFrame:
        """One row per step; BadRequest if the file is a plain table."""
        return self._summary("steps")

    def show(self) -> LiveView:
        """The live view of the figure."""
        return self.bench.show(self.recipe)

    def close(self) -> None:
        """Delete the temporary store. Figure and report can still be used."""
        self._close()

    def __enter__(self) -> Quick:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _summary(self, name: str) -> pd.DataFrame:
        if self._taken.held.source != "measurements":
            raise BadRequest(f"'{self._taken.name}' is a plain table, and a plain table has no {name}.")
        return frames.frame_of(_summary_of(self._taken, name))

    def __repr__(self) -> str:
        what = f"a {self._taken.name}" if self._taken.is_frame else f"'{self._taken.name}'"
        return f"<quick look at {what}: {self.view}>\n{self.report!r}"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def _ipython_display_(self) -> None:
        from IPython.display import HTML, display

        self.figure._ipython_display_()
        display(HTML(self._repr_html_()))


def quick(
    given: str | Path | pd.DataFrame,
    bench_on: Callable[[LocalBackend], Bench],
    *,
    show: str | None = None,
    x: str | None = None,
    y: str | Sequence[str] | None = None,
    **options: Unpack[IngestKeywords],
) -> Quick:
    """As ``Bench.quick``; ``bench_on`` makes a bench of a backend."""
    taken = take(given, options)
    try:
        found = views(taken.held)
        return Quick(
            taken, _chosen(taken, found, show, x, [y] if isinstance(y, str) else y), bench_on(taken.backend), found
        )
    except BaseException:  # also on Ctrl-C: the temporary folder must go
        discard(taken.backend, taken.folder)
        raise


def _chosen(taken: Taken, found: list[View], show: str | None, x: str | None, y: Sequence[str] | None) -> View:
    names = [view.name for view in found]
    if x is not None or y is not None:
        if show is not None:
            raise BadRequest("show= selects a view, x= and y= select columns. Give one or the other.")
        return _forced(taken, x, y)
    if show is None and found:
        return found[0]
    if show is None:
        raise BadRequest(
            f"No view fits '{taken.name}'. Choose x= and y= among its columns: {', '.join(taken.held.columns)}."
        )
    if show not in names:
        raise BadRequest(f"'{taken.name}' cannot be shown as '{show}'. {instead(show, names, 'views')}")
    return found[names.index(show)]


def _forced(taken: Taken, x: str | None, y: Sequence[str] | None) -> View:
    held = taken.held
    if x is None:
        x = next(
            (name for name in ("Time [s]", "Row", *held.columns) if held.has(name) and name not in (y or ())), ""
        )
    usual = [name for name in ("Voltage [V]", "Current [A]") if held.has(name) and name != x]
    chosen = list(y) if y is not None else usual
    chosen = (
        chosen
        or [c.name for c in held.columns.values() if c.numeric and c.varies and c.name not in (x, "Row")][:4]
    )
    return View("xy", "the columns asked for", lambda held: over(held, x, chosen))


def _report(taken: Taken, view: View, others: Sequence[View], figure: Figure) -> list[tuple[str, str]]:
    held = taken.held
    size = counted(held.rows, "row") + (
        f", {counted(held.cycles, 'cycle')}" if held.source == "measurements" else ""
    )
    file = ("file", f"'{taken.name}', read as {taken.format}: {size}.")
    lines = [("frame", f"{size}.") if taken.is_frame else file]
    about = _columns(figure) if view.name in ("table", "xy") else view.about
    lines.append(("drawn", f"{about[:1].upper()}{about[1:]}.{_shown(figure)}"))
    lines += [("also", f"show='{one.name}': {one.about}.") for one in others if one.name != view.name]
    lines += taken.notes
    if view.name == "cycles" and (left := _left_out(taken)):
        lines.append(("assumed", left))
    return [*lines, *(("lint", found.message) for found in figure.workbench.lint)]


def _columns(figure: Figure) -> str:
    """The columns that a plot draws and the one that they are drawn over, in words."""
    values = figure.workbench.values
    group = f", by '{values['group']}'" if values["group"] is not None else ""
    drawn = values["y"] if isinstance(values["y"], list) else [values["y"]]
    return ", ".join(f"'{name}'" for name in drawn) + f" over '{values['x']}'{group}"


def _shown(figure: Figure) -> str:
    """How many of the samples were drawn; empty if it is all of them."""
    answer = figure.workbench.answer
    steps = answer.at_hand.dataset.steps if answer is not None and answer.at_hand is not None else {}
    for result in steps.values():
        for samples in result.values() if isinstance(result, dict) else ():
            if not samples.complete:
                of = spaced(samples.total)
                return f" It shows {spaced(len(samples.rows))} of {of} measured samples, the extremes among them."
    return ""


def _left_out(taken: Taken) -> str | None:
    """What the plot of cycles leaves out, in words; None if it is nothing."""
    cycles = _summary_of(taken, "cycles")
    cut = np.flatnonzero(is_any_of(cycles[COMPLETE], [False]))
    if not len(cut) or len(cut) == cycles.n:
        return None
    numbers = cycles["Cycle count"].values[cut].tolist()
    if len(cut) > 1:
        listed = ", ".join(map(str, numbers[:_NAMED])) + (f" ... {numbers[-1]}" if len(numbers) > _NAMED else "")
        what, them = f"{spaced(len(cut))} cycles, of counts {listed}, are incomplete and left out.", "them"
    else:
        place = "The last cycle" if cut[0] == cycles.n - 1 else "The cycle"
        what, them = f"{place}, of count {numbers[0]}, is incomplete and left out.", "it"
    return f"{what} Draw {them} with quick.bench.figure(quick.recipe, partial=True)."


def _summary_of(taken: Taken, name: str) -> Table:
    """The cycles or steps of the file, with the columns that are computed when they are read."""
    return taken.backend.samples(taken.backend.get(Measurement, taken.record), name)
