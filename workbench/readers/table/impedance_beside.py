"""Inserts impedance from other sheets of a file into its series, at the place where the cycler measured it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ...cycling.columns import CYCLER_CYCLE, CYCLER_STEP, FREQUENCY, TIME
from ...cycling.findings import Finding
from ...messages import counted
from ...table import Column, Kind, Table, concat
from ..reading import Reading
from .columns import in_order

_Z = (FREQUENCY, "Z_Re [Ohm]", "Z_Im [Ohm]", "Z_Mod [Ohm]", "Z_Phase [deg]")
_COUNTS = (CYCLER_CYCLE, CYCLER_STEP)
_DTYPES: dict[Kind, type] = {
    "number": np.float64, "integer": np.int64, "boolean": np.bool_, "datetime": np.int64, "text": np.int32,
    "null": np.bool_,
}  # fmt: skip


def with_spectra(reading: Reading, tables: Iterable[Table]) -> Reading:
    """The reading with the impedance rows of ``tables``, which may have the cycle and step of the cycler.

    Rows with a cycle and step of the series come after its samples, all others after the last sample. Their time,
    current and voltage are null.
    """
    spectra = [_spectrum(table) for table in tables]
    spectra = [table for table in spectra if table.n]
    if not spectra:
        return reading
    joined = concat(spectra)
    count = counted(joined.n, "impedance row")
    reading.notes.append(Finding("assumed", "impedance_beside", f"{count} beside the series are in it now."))
    reading.batches = _merged(reading.batches, joined)
    return reading


def _spectrum(table: Table) -> Table:
    kept = {name: table[name] for name in (*_COUNTS, *_Z) if name in table}
    for name in _COUNTS:
        if name in kept and kept[name].kind != "integer":
            del kept[name]
    for name in (*_COUNTS, *_Z):
        kind: Kind = "integer" if name in _COUNTS else "number"
        kept.setdefault(name, empty(kind, table.n))
    return Table({name: kept[name] for name in (*_COUNTS, *_Z)}, table.n)


def empty(kind: Kind, n: int) -> Column:
    """A column of ``n`` nulls of this kind."""
    words = ("",) if kind == "text" else ()
    return Column(kind, np.zeros(n, _DTYPES[kind]), np.zeros(n, bool), words)


def _merged(batches: Iterator[Table], spectra: Table) -> Iterator[Table]:
    waiting = _sweeps(spectra)
    last: tuple[float, float] | None = None
    shape: Table | None = None
    for batch in batches:
        whole = _padded(batch)
        shape = whole.slice(0, 0)
        parts, begun = [], 0
        for place, key in _runs(whole):
            if last is not None and key != last and waiting[last]:
                parts += [whole.slice(begun, place), _rows(waiting[last].pop(0), whole)]
                begun = place
            last = key
        parts.append(whole.slice(begun, whole.n))
        yield concat(parts)
    if shape is None:
        return
    left = waiting.pop(last, []) if last is not None else []
    left += [sweep for sweeps in waiting.values() for sweep in sweeps]
    if left:
        yield concat([_rows(sweep, shape) for sweep in left])


def _sweeps(spectra: Table) -> defaultdict[tuple[float, float], list[Table]]:
    """(cycle, step) -> sweeps. A sweep starts where the cycle or step changes or the frequency starts again."""
    cycle, step = (spectra[name].floats() for name in _COUNTS)
    frequency = spectra[FREQUENCY].floats()
    begins = np.ones(spectra.n, bool)
    if spectra.n > 1:
        change = np.diff(frequency)
        way = np.sign(np.nanmedian(change)) if np.isfinite(change).any() else 0.0
        begins[1:] = _differ(cycle) | _differ(step) | (change * way < 0)
    starts = np.flatnonzero(begins)
    found: defaultdict[tuple[float, float], list[Table]] = defaultdict(list)
    for start, stop in zip(starts, np.append(starts[1:], spectra.n), strict=True):
        found[_key(cycle[start], step[start])].append(spectra.slice(int(start), int(stop)))
    return found


def _key(cycle: float, step: float) -> tuple[float, float]:
    return (-1.0 if np.isnan(cycle) else float(cycle), -1.0 if np.isnan(step) else float(step))


def _differ(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    changed: NDArray[np.bool_] = (values[1:] != values[:-1]) & ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
    return changed


def _runs(table: Table) -> Iterator[tuple[int, tuple[float, float]]]:
    """The rows at which runs of equal (cycle, step) start, each with its cycle and step."""
    if not table.n:
        return
    none = np.full(table.n, np.nan)
    cycle, step = (table[name].floats() if name in table else none for name in _COUNTS)
    begins = np.concatenate([[True], _differ(cycle) | _differ(step)])
    for place in np.flatnonzero(begins).tolist():
        yield place, _key(cycle[place], step[place])


def _padded(batch: Table) -> Table:
    made = {name: batch[name] for name in batch.names}
    for name in _Z:
        made.setdefault(name, empty("number", batch.n))
    return Table(in_order(made), batch.n)


def _rows(sweep: Table, like: Table) -> Table:
    """The rows of a sweep with the columns of a batch."""
    made: dict[str, Column] = {}
    for name in like.names:
        column = like[name]
        fits = name in sweep and name != TIME and column.kind in ("integer", "number")
        made[name] = sweep[name] if fits else empty(column.kind, sweep.n)
    return Table(made, sweep.n)
