"""The streaming part of the ``steps`` summary: statistics of runs of samples, one row per run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..errors import Invalid, Problem
from ..table import Table
from . import columns as c
from .changes import ChangeCounter
from .onsets import Onsets, Sample
from .owned_intervals import OwnedIntervals
from .run_statistics import (
    Cut,
    Floats,
    Ints,
    Partial,
    deviation,
    ends,
    extreme,
    mean_of,
    merge_ends,
    merge_passed,
    merge_spread,
    passed,
    spread,
)

BLOCK = 65_536
READ = (
    c.TIME,
    c.CURRENT,
    c.VOLTAGE,
    c.FREQUENCY,
    c.TEMPERATURE,
    c.CYCLER_STEP,
    c.CYCLER_CYCLE,
    c.FRAME,
    *c.COUNTERS,
)
QUANTITIES = {"voltage": "V", "current": "A", "power": "W", "frequency": "Hz", "temperature": "degC"}
SOURCES = {"voltage": c.VOLTAGE, "current": c.CURRENT, "frequency": c.FREQUENCY, "temperature": c.TEMPERATURE}
_FIRST_VALUES = (c.CYCLER_STEP, c.CYCLER_CYCLE, c.FRAME)
_Runs = dict[str, Partial]


class RunsBuilder:
    """Collects the statistics of each run of equal keys; :meth:`finish` gives one row per run.

    Parameters
    ----------
    row : number of the first sample that will be fed: 0, or the start of a run that is continued.
    cycles : the count of cycles so far, if samples before ``row`` were already seen.
    before : the last complete sample before ``row``.
    owned : adds up what the runs own of the intervals, instead of the intervals within them; then the cycles are those
        of ``Cycle count`` where there is one.
    """

    def __init__(
        self,
        row: int = 0,
        cycles: ChangeCounter | None = None,
        before: Sample | None = None,
        owned: OwnedIntervals | None = None,
    ) -> None:
        self._row = row
        self._onsets = Onsets(before)
        self._owned = owned
        self._cycles = cycles or ChangeCounter()
        self._present: frozenset[str] | None = None
        self._held: list[dict[str, NDArray[np.generic]]] = []
        self._held_rows = 0
        self._open: _Runs | None = None
        self._open_key: int | None = None
        self._carry: dict[str, tuple[float, float] | None] = {"charge": None, "energy": None}
        self._done: list[_Runs] = []

    def feed(self, table: Table, keys: Ints) -> None:
        """Take the next samples and their keys (n,). Every table must have the same columns.

        Raises
        ------
        Invalid
            If the columns differ from those before, or a column that is used holds no numbers.
        """
        present = frozenset(name for name in (*READ, c.CYCLE_COUNT) if name in table)
        if self._present is not None and present != self._present:
            raise Invalid(Problem((), f"The columns of the samples change at row {self._row + self._held_rows}."))
        self._present = present
        arrays: dict[str, NDArray[np.generic]] = {name: _floats(table, name) for name in present}
        arrays["key"] = keys
        start = 0
        while start < table.n:
            held = self._row + self._held_rows
            stop = min(table.n, start + BLOCK - held % BLOCK)
            self._held.append({name: values[start:stop] for name, values in arrays.items()})
            self._held_rows += stop - start
            if (held + stop - start) % BLOCK == 0:
                self._flush()
            start = stop

    def finish(self) -> Mapping[str, Floats]:
        """The statistics of all runs by name, in order; ``key`` is the key of each."""
        self._flush()
        if self._open is not None:
            self._done.append(self._open)
            self._open = None
        if not self._done:
            return {}
        joined = {
            part: {name: np.concatenate([runs[part][name] for runs in self._done]) for name in self._done[0][part]}
            for part in self._done[0]
        }
        self._done = []
        with np.errstate(invalid="ignore", over="ignore"):
            named = _named(joined)
        return named | self._onsets.finish(named["current:std"])

    @property
    def present(self) -> frozenset[str]:
        """The columns of the samples that the statistics use."""
        return self._present or frozenset()

    def _flush(self) -> None:
        if not self._held_rows:
            return
        parts = self._held
        block = parts[0] if len(parts) == 1 else {k: np.concatenate([p[k] for p in parts]) for k in parts[0]}
        self._held = []
        with np.errstate(invalid="ignore", over="ignore"):
            self._add(block)
        self._row += self._held_rows
        self._held_rows = 0

    def _add(self, block: Mapping[str, NDArray[np.generic]]) -> None:
        keys = block["key"].astype(np.int64, copy=False)
        cut = Cut.at_changes(keys, self._open_key)
        runs = self._statistics(cut, block, keys)
        if self._open is not None:
            if cut.continues:
                head = {part: {k: v[:1] for k, v in values.items()} for part, values in runs.items()}
                joined = {part: MERGE[part.split(":")[0]](self._open[part], head[part]) for part in head}
                for part, values in runs.items():
                    for name in values:
                        values[name] = np.concatenate([joined[part][name], values[name][1:]])
            else:
                self._done.append(self._open)
        last = len(cut.starts) - 1
        if last:
            self._done.append({part: {k: v[:last] for k, v in values.items()} for part, values in runs.items()})
        self._open = {part: {k: v[last:].copy() for k, v in values.items()} for part, values in runs.items()}
        self._open_key = int(keys[-1])

    def _statistics(self, cut: Cut, block: Mapping[str, NDArray[np.generic]], keys: Ints) -> _Runs:
        n = len(keys)
        void = np.full(n, np.nan)
        series = {name: _as_floats(block.get(name, void)) for name in READ}
        if c.CYCLE_COUNT not in block or (self._owned is None and c.CYCLER_CYCLE in block):
            cycle = self._cycles.feed(series[c.CYCLER_CYCLE])
        else:
            cycle = self._cycles.feed(_as_floats(block[c.CYCLE_COUNT]))
        quantities = {name: series[source] for name, source in SOURCES.items()}
        quantities["power"] = series[c.VOLTAGE] * series[c.CURRENT]
        runs: _Runs = {"place": self._place(cut, keys, cycle, series[c.TIME])}
        self._onsets.feed(cut, series[c.TIME], series[c.CURRENT], series[c.VOLTAGE])
        for name, values in quantities.items():
            if name in ("voltage", "current", "power") or SOURCES[name] in block:
                runs[f"spread:{name}"] = spread(cut, values)
        for name in (*_FIRST_VALUES, *c.COUNTERS):
            if name in block:
                runs[f"ends:{name}"] = ends(cut, series[name])
        if self._owned is not None:
            self._owned.feed(keys, series[c.TIME], quantities["current"], quantities["power"])
            return runs
        for name, rate, needs in (
            ("charge", quantities["current"], (c.DISCHARGE_CAPACITY, c.CHARGE_CAPACITY)),
            ("energy", quantities["power"], (c.DISCHARGE_ENERGY, c.CHARGE_ENERGY)),
        ):
            if any(counter not in block for counter in needs):
                made, self._carry[name] = passed(cut, series[c.TIME], rate, self._carry[name])
                runs[f"passed:{name}"] = made
        return runs

    def _place(self, cut: Cut, keys: Ints, cycle: Ints, time: Floats) -> Partial:
        return {
            "key": keys[cut.starts].astype(np.float64),
            "start": (self._row + cut.starts).astype(np.float64),
            "end": (self._row + cut.ends - 1).astype(np.float64),
            "cycle": cycle[cut.starts].astype(np.float64),
            "start_time": time[cut.starts],
            "end_time": time[cut.ends - 1],
        }


def _merge_place(a: Partial, b: Partial) -> Partial:
    return {**a, "end": b["end"], "end_time": b["end_time"]}


MERGE: dict[str, Callable[[Partial, Partial], Partial]] = {
    "place": _merge_place,
    "spread": merge_spread,
    "ends": merge_ends,
    "passed": merge_passed,
}


def _floats(table: Table, name: str) -> Floats:
    column = table[name]
    if column.kind not in ("number", "integer", "boolean", "null"):
        raise Invalid(
            Problem(("columns", name), f"'{name}' must be a column of numbers, not of {column.kind} values.")
        )
    if column.valid is None and column.values.dtype == np.float64:
        return column.values
    return column.floats()


def _as_floats(values: NDArray[np.generic]) -> Floats:
    return values.astype(np.float64, copy=False)


def _named(runs: _Runs) -> dict[str, Floats]:
    """Flat statistics by name: ``start``, ``voltage:mean``, ``first:<column>``, ``charge:out`` ..."""
    place = runs["place"]
    flat = dict(place)
    for part, values in runs.items():
        family, _, name = part.partition(":")
        if family == "spread":
            flat[f"{name}:min"] = extreme(values, "min")
            flat[f"{name}:max"] = extreme(values, "max")
            flat[f"{name}:mean"] = mean_of(values)
            flat[f"{name}:std"] = deviation(values)
            flat[f"{name}:first"] = values["first"]
            flat[f"{name}:last"] = values["last"]
        elif family == "ends":
            flat[f"first:{name}"], flat[f"last:{name}"] = values["first"], values["last"]
        elif family == "passed":
            flat[f"{name}:out"] = values["out"] + values["out_rest"]
            flat[f"{name}:in"] = values["in"] + values["in_rest"]
    return flat
