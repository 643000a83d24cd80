"""What a view says in words: what is shown, what a change cost, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..backend import FigureAnswer
from ..dataset import Dataset
from ..engine.zoom import Detail
from ..errors import Invalid, Problem
from ..messages import spaced
from ..table import Table


def count(number: int) -> str:
    """A number as people read it: ``2 000``, ``1.2 M``."""
    if number >= 1_000_000:
        return f"{number / 1e6:.1f}".removesuffix(".0") + " M"
    return spaced(number)


def many(number: int, noun: str) -> str:
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"


def samples(dataset: Dataset) -> str:
    """How much of what was asked for stands in the figure."""
    series = [one for step in dataset.steps.values() if not isinstance(step, Table) for one in step.values()]
    if not series:
        rows = [step.n for step in dataset.steps.values() if isinstance(step, Table)]
        return many(rows[-1], "row") if rows else ""
    shown, total = sum(one.table.n for one in series), sum(one.total for one in series)
    if all(one.complete for one in series):
        return f"all {many(total, 'sample')}" if total != 1 else "1 sample"
    return f"{count(shown)} of {many(total, 'sample')}"


def is_whole(dataset: Dataset) -> bool:
    """Whether no sample was left out of any series."""
    series = [one for step in dataset.steps.values() if not isinstance(step, Table) for one in step.values()]
    return all(one.complete for one in series)


def cost(answer: FigureAnswer, seconds: float) -> str:
    """What a change read and how long it took."""
    return f"{many(answer.reads['sources'], 'source')} read, {time(seconds)}"


def time(seconds: float) -> str:
    if seconds >= 10:
        return f"{seconds:.0f} s"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{max(round(seconds * 1000), 1)} ms"


def closely(found: Mapping[int, Detail], coarse: Sequence[int], names: Sequence[str]) -> str:
    """What finer detail there is of the traces that are looked at; ``coarse`` are those for which there is none
    although samples were left out."""
    parts = []
    if found:
        shown, of = sum(one.shown for one in found.values()), sum(one.of for one in found.values())
        every = "all " if shown == of else f"{count(shown)} of "
        parts.append(f"in view: {every}{many(of, 'sample')}")
    if coarse:
        what = f"'{names[coarse[0]]}'" if len(coarse) == 1 and names[coarse[0]] else many(len(coarse), "trace")
        parts.append(f"no finer detail for {what}")
    return "; ".join(parts)


def problems(error: BaseException) -> list[dict[str, Any]]:
    """What is wrong, for people: the message, the script's line and text, the place in the recipe."""
    if isinstance(error, Invalid):
        return [_problem(problem) for problem in error.problems]
    text = str(error) or type(error).__name__
    return [
        {"message": text if type(error).__module__.startswith("workbench") else f"{type(error).__name__}: {text}"}
    ]


def _problem(problem: Problem) -> dict[str, Any]:
    made: dict[str, Any] = {"message": problem.msg}
    if "line" in problem.ctx:
        return {**made, "line": problem.ctx["line"], "text": problem.ctx.get("text", "")}
    if problem.loc:
        made["place"] = place(problem)
    return made


def place(problem: Problem) -> str:
    """Where it is, as one reads it: ``plan · steps · cells · limit``."""
    loc = problem.loc[1:] if problem.loc[:1] == ("config",) else problem.loc
    return " · ".join(str(part) for part in loc)


def by_param(error: BaseException) -> dict[str, str]:
    """The problems that are about the value of a param."""
    found = error.problems if isinstance(error, Invalid) else []
    return {str(one.loc[1]): one.msg for one in found if one.loc[:1] == ("values",) and len(one.loc) > 1}
