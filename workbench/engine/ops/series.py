"""``series``: samples of one or more sources, exact or reduced to real samples, and saying which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from pydantic import JsonValue

from ...dataset import Samples, SeriesSet, Warn
from ...errors import Invalid, Problem
from ...messages import counted, spaced
from ...recipe.filters import Window
from ...recipe.plot import Caps
from ...recipe.steps import SeriesStep
from ...table import Column, Kind, Table, to_micros
from ..columns import empty, merged, there_are
from ..limits import check_sources, share_of_points
from ..plan import Part, Plan, run_step
from ..reader import Reader, Source, source_ids
from ..warnings import names_of

Bound = float | int | None
Range = tuple[Bound, Bound]


class Series(NamedTuple):
    """What a series step answers: samples by id, the kind of every column over all sources, and warnings."""

    steps: SeriesSet
    kinds: list[tuple[str, Kind]]
    warnings: list[Warn]


def series(step: SeriesStep, ids: Sequence[JsonValue], reader: Reader, caps: Caps) -> Series:
    """One entry for each distinct id in the order given: x and the columns, aligned.

    Raises
    ------
    Invalid
        Unknown ids, too many sources, columns that all sources lack, bounds that do not fit x; places are
        relative to the step.
    """
    wanted = source_ids(ids)
    check_sources(len(wanted), caps)
    share = share_of_points(len(wanted), caps)
    names = list(dict.fromkeys([step.x, *step.columns]))
    sources = reader.sources(step.source, wanted, "series", names)
    in_reach = {} if sources else reader.kinds_in_reach(step.source, "series")
    kinds, warnings = column_kinds(step, names, sources, in_reach)
    if step.source == "measurements":
        warnings += reader.lives.warnings([source.id for source in sources], names)
    window = _in_force(step.window)
    ranges = [_range(step.x, window, source) for source in sources] if window else [None] * len(sources)
    most = min(step.max_points, share)
    answer: SeriesSet = {}
    reader.read_ahead(sources)
    for place, (source, span) in enumerate(zip(sources, ranges, strict=True)):
        reader.tell(f"{source.name}: {place + 1} of {len(sources)}")
        answer[source.id] = _read(reader, source, step, span, most, windowed=window is not None)
    if any(span is not None and _is_void(span) for span in ranges):
        message = f"The window's min is above its max, so it holds no sample of '{step.x}'. Swap the two."
        warnings.append(Warn("window_empty", message))
    if share < step.max_points and not all(samples.complete for samples in answer.values()):
        warnings.append(_shared(share, len(sources), answer))
    return Series(answer, kinds, warnings)


def column_kinds(
    step: SeriesStep, names: Sequence[str], sources: Sequence[Source], kinds: Mapping[str, Kind]
) -> tuple[list[tuple[str, Kind]], list[Warn]]:
    """(name, kind over all sources) and a warning for each column that some lack; Invalid where all do.

    ``kinds`` are those of all records in reach, for a step without sources.
    """
    if not sources:
        return [(name, kinds.get(name, "null")) for name in names], []
    made: list[tuple[str, Kind]] = []
    warnings: list[Warn] = []
    problems: list[Problem] = []
    held = [source.info.kinds for source in sources]
    for name in names:
        lacking = [source for source, columns in zip(sources, held, strict=True) if name not in columns]
        made.append((name, merged([columns[name] for columns in held if name in columns])))
        if not lacking:
            continue
        if len(lacking) == len(sources):
            there = list(dict.fromkeys(column for columns in held for column in columns))
            place = ("x",) if name == step.x else ("columns", step.columns.index(name))
            message = f"No source of this step has a column '{name}'. {there_are(name, there)}"
            problems.append(Problem(place, message))
        warnings.append(missing_warning(name, lacking, len(sources)))
    if problems:
        raise Invalid(problems)
    return made, warnings


def missing_warning(name: str, lacking: Sequence[Source], of: int) -> Warn:
    """That some of the sources lack a column."""
    who = names_of([source.name for source in lacking])
    have, are = ("has", "is") if len(lacking) == 1 else ("have", "are")
    message = f"{len(lacking)} of {of} sources {have} no column '{name}' and {are} null there: {who}."
    return Warn("column_missing", message)


def _in_force(window: Window | None) -> Window | None:
    return window if window is not None and (window.min is not None or window.max is not None) else None


def _range(x: str, window: Window, source: Source) -> Range | None:
    """The bounds in the numbers of x; None where the source has no x."""
    kinds = source.info.kinds
    if x not in kinds:
        return None
    return _bound(x, kinds[x], window.min, "min", source), _bound(x, kinds[x], window.max, "max", source)


def _bound(x: str, kind: Kind, value: str | float | None, which: str, source: Source) -> Bound:
    if value is None:
        return None
    if not isinstance(value, str):
        if kind in ("number", "integer", "null"):
            return float(value) if isinstance(value, float) else int(value)
        raise _misfit(x, kind, which, source)
    if kind != "datetime":
        raise _misfit(x, kind, which, source)
    try:
        return to_micros(datetime.fromisoformat(value))
    except (ValueError, OverflowError):
        message = f"'{value}' is not a date-time. Write it like 2026-01-31T12:00:00Z."
        raise Invalid(Problem(("window", which), message)) from None


def _misfit(x: str, kind: Kind, which: str, source: Source) -> Invalid:
    """A bound of a type that x is not compared with."""
    mend = {
        "datetime": "date-times: give the bound as ISO 8601 text",
        "number": "numbers: give the bound as a number; a text bounds date-times only",
        "text": "texts, which have no window: choose another x or leave the window out",
        "boolean": "booleans, which have no window: choose another x or leave the window out",
        "null": "nothing but nulls: leave the window out",
        "mixed": "values of several types, which have no window: choose another x or leave the window out",
    }
    held = mend["number" if kind == "integer" else kind]
    return Invalid(Problem(("window", which), f"'{x}' of '{source.name}' holds {held}."))


def _is_void(span: Range) -> bool:
    low, high = span
    return low is not None and high is not None and low > high


def _read(
    reader: Reader, source: Source, step: SeriesStep, span: Range | None, most: int, *, windowed: bool
) -> Samples:
    kinds = source.info.kinds
    names = list(dict.fromkeys([step.x, *step.columns]))
    if windowed and (span is None or _is_void(span)):
        none = {name: empty(kinds.get(name, "null")) for name in names}
        return Samples(np.zeros(0, np.int64), Table(none, 0), True, 0)
    # The extremes of the requested columns are promised, those of x only where it is one of them.
    wanted = [name for name in dict.fromkeys(step.columns) if name in kinds]
    carrier = step.x if step.x in kinds else next(iter(wanted), None)
    if carrier is None:
        return _nulls(names, source.info.rows, most)
    samples = reader.sample(source.id, carrier, wanted or [carrier], span, most)
    made = {name: samples.table[name] if name in kinds else Column.nulls(samples.table.n) for name in names}
    return Samples(samples.rows, Table(made, samples.table.n), samples.complete, samples.total)


def _nulls(names: Sequence[str], total: int, most: int) -> Samples:
    """Samples of a source that has none of the columns: nulls, spread evenly where there are too many."""
    n = min(total, most)
    rows = np.arange(n) if n == total else np.linspace(0, total - 1, n).round().astype(np.int64)
    return Samples(rows.astype(np.int64), Table({name: Column.nulls(n) for name in names}, n), n == total, total)


def _shared(share: int, n: int, answer: SeriesSet) -> Warn:
    shown = sum(samples.table.n for samples in answer.values())
    total = sum(samples.total for samples in answer.values())
    message = (
        f"{counted(n, 'source')} share the points of this step, {spaced(share)} for each, fewer than max_points; "
        f"{spaced(shown)} of {counted(total, 'sample')} are here. Choose fewer sources or a window."
    )
    return Warn("points_shared", message, shown=shown, total=total)


@run_step.register
def _run(step: SeriesStep, plan: Plan) -> Part:
    return Part(*series(step, plan.ids(step.ids), plan.reader, plan.caps))
