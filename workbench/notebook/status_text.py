"""The texts of a view: how many samples it shows, how long a change took, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..backend import FigureAnswer
from ..dataset import Dataset, Samples
from ..engine.traces import TraceShown
from ..engine.zoom import Detail
from ..errors import Invalid, Problem
from ..messages import spaced
from ..table import Table
from .surface import ShownProblem

_MOST_NAMED = 5


def count(number: int) -> str:
    """A number as people read it: ``2 000``, ``1.2 M``."""
    if number >= 1_000_000:
        return f"{number / 1e6:.1f}".removesuffix(".0") + " M"
    return spaced(number)


def many(number: int, noun: str) -> str:
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"


def samples(dataset: Dataset) -> str:
    """How many of the samples or rows the figure shows; a sample that several steps read counts once."""
    series: dict[str, list[Samples]] = {}
    for step in dataset.steps.values():
        for id, one in () if isinstance(step, Table) else step.items():
            held = series.setdefault(id, [])
            if not any(np.array_equal(one.rows, other.rows) and one.total == other.total for other in held):
                held.append(one)
    if not series:
        rows = [step.n for step in dataset.steps.values() if isinstance(step, Table)]
        return many(rows[-1], "row") if rows else ""
    if is_whole(dataset):
        total = sum(_distinct(held) for held in series.values())
        return f"all {many(total, 'sample')}" if total != 1 else "1 sample"
    counts = [(one.table.n, one.total) for held in series.values() for one in held]
    shown, total = (sum(numbers) for numbers in zip(*counts, strict=True))
    return f"{count(shown)} of {many(total, 'sample')}"


def _distinct(held: Sequence[Samples]) -> int:
    """How many samples several steps have read of one source."""
    return held[0].total if len(held) == 1 else len(np.unique(np.concatenate([one.rows for one in held])))


def is_whole(dataset: Dataset) -> bool:
    """Whether no sample was left out of any series."""
    series = [one for step in dataset.steps.values() if not isinstance(step, Table) for one in step.values()]
    return all(one.complete for one in series)


def cost(answer: FigureAnswer, seconds: float) -> str:
    """How much a change read and how long it took."""
    return f"{many(answer.reads['sources'], 'source')} read, {time(seconds)}"


def time(seconds: float) -> str:
    if seconds >= 10:
        return f"{seconds:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{max(round(seconds * 1000), 1)} ms"


def closely(found: Mapping[int, Detail], coarse: Sequence[int], names: Sequence[str]) -> str:
    """How many samples the zoomed traces show now.

    ``coarse`` are the traces that show less than all samples and have no finer detail.
    """
    parts = []
    if found:
        shown, of = sum(one.shown for one in found.values()), sum(one.of for one in found.values())
        every = "all " if shown == of else f"{count(shown)} of "
        # A sample is a point of each trace that it is in.
        what = many(of, "sample") if len(found) == 1 else f"{many(of, 'point')} of {many(len(found), 'trace')}"
        parts.append(f"in view: {every}{what}")
    if coarse:
        what = f"'{names[coarse[0]]}'" if len(coarse) == 1 and names[coarse[0]] else many(len(coarse), "trace")
        parts.append(f"no finer detail for {what}")
    return "; ".join(parts)


def has_more(traces: Sequence[TraceShown]) -> str:
    """That zoom reads more, if it does."""
    return "more on zoom" if any(trace["detail"] == "finer" for trace in traces) else ""


def without_detail(traces: Sequence[TraceShown], names: Sequence[str]) -> list[str]:
    """A sentence for each reason for which traces of a figure that is not whole have no finer detail.

    Single points, such as entries of a legend, have none by nature.
    """
    by_reason: dict[str, list[str]] = {}
    for trace, name in zip(traces, names, strict=True):
        if trace["detail"] == "none" and trace["shown"] > 1:
            by_reason.setdefault(trace.get("why", ""), []).append(name)
    return [f"Zoom reads no more samples of {_which(found)}: {reason}." for reason, found in by_reason.items()]


def _which(names: Sequence[str]) -> str:
    """Traces by their names: ``'a'``, ``3 traces ('a', 'b', 'c')``."""
    named = [f"'{name}'" for name in names if name]
    if len(names) == 1:
        return named[0] if named else "a trace without a name"
    listed = ", ".join(named[:_MOST_NAMED]) + (", ..." if len(named) > _MOST_NAMED else "")
    return many(len(names), "trace") + (f" ({listed})" if listed else "")


def problems(error: BaseException) -> list[ShownProblem]:
    """What an error says: the message, with line and text of the script or the place in the recipe."""
    if isinstance(error, Invalid):
        return [_problem(problem) for problem in error.problems]
    text = str(error) or type(error).__name__
    return [
        {"message": text if type(error).__module__.startswith("workbench") else f"{type(error).__name__}: {text}"}
    ]


def _problem(problem: Problem) -> ShownProblem:
    if "line" in problem.ctx:
        return {"message": problem.msg, "line": problem.ctx["line"], "text": problem.ctx.get("text", "")}
    return {"message": problem.msg, "place": place(problem)} if problem.loc else {"message": problem.msg}


def place(problem: Problem) -> str:
    """The place of a problem for readers: ``plan · steps · cells · limit``."""
    loc = problem.loc[1:] if problem.loc[:1] == ("config",) else problem.loc
    return " · ".join(str(part) for part in loc)


def by_param(error: BaseException) -> dict[str, str]:
    """Param name -> the problem of its value."""
    found = error.problems if isinstance(error, Invalid) else []
    return {str(one.loc[1]): one.msg for one in found if one.loc[:1] == ("values",) and len(one.loc) > 1}
