"""Turns the columns of a cycler file into the columns of a series, batch by batch, and reports what it changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

import numpy as np

from ..errors import FileRefused
from ..messages import column_map, counted, option, quoted, spaced, times
from ..table import Column, Table
from . import columns as c
from .charge_swing import ChargeSwing
from .checks import Survey, begins_anew
from .columns import SERIES_COLUMNS
from .counted_cycles import counted_cycles
from .counters import CounterReset, shifted
from .crossed_counters import OTHER_WAY, are_crossed
from .findings import Finding
from .owned_intervals import Owned
from .rest_limit import QuietNoise, rest_limit
from .run_statistics import Floats, Ints
from .sign_check import BY_CONVENTION, Taken, agrees
from .step_numbers import CycleNumbers, StepNumbers
from .steps import StepsBuilder, replaced
from .summer_time import SummerTime

RULE = 2
"""The number of the rule by which samples of any reader become a series. Raise it whenever the same samples give
another series, or other steps and cycles that cannot be made from the series."""
REPAIRS = ("time",)
Counting: TypeAlias = Literal["always", "never"]
_KNOWN = {described.name: place for place, described in enumerate(SERIES_COLUMNS)}
_NOT_A_COUNTER = 0.1
_OTHER_WAY = (1, 0, 3, 2)
_LITTLE = 0.1
"""Share of what passed in both directions that a counter may leave out: noise at rest, and what is below its digits."""
_REVERSED = 3.0
"""Falls of the time for each rise where the newest row comes first."""
_UNSORTED = 0.5
"""Falls of the time for each rise that a clock which was set does not explain, unless time begins anew with them."""
_CLOCK_SET = 3
"""Falls of the time that are a clock which was set, or a test that began again, however few the rows are."""


@dataclass(frozen=True)
class Known:
    """What must be known about a whole series before its first sample can be written.

    ``rest_limit`` in A: it separates rest from current if the file has no steps.
    ``uncounted``: columns that are named like counters, but rise and fall, so they are not counters.
    ``one_step``: the step of the cycler is the same in all samples, though the cell is charged and discharged.
    """

    rest_limit: float | None = None
    uncounted: frozenset[str] = frozenset()
    one_step: bool = False
    still: frozenset[str] = frozenset()
    """Those of ``uncounted`` that stand still, though current flowed in their direction."""
    crossed: bool = False
    """Counters of charge count where the current discharges, and the other way round: they are exchanged."""


class SecondLook(Exception):
    """The series must be read again with ``known``. This never leaves the package."""

    def __init__(self, known: Known) -> None:
        super().__init__()
        self.known = known


class Conformer:
    """Gives the batches of one file the columns and the origins that every series has.

    Time starts at 0. ``Step count`` rises with each change of the cycler's (cycle, step). If the cycler wrote no
    step, it rises with each change of the cycler's cycle and of rest, charge and discharge. ``Cycle count`` rises
    with each change of the cycler's cycle; where there is none, it is known when all samples were fed: :attr:`cycles`.
    Counters start at 0 in each step. The steps own every interval of the test.
    All other columns keep their names and values, bit for bit. Nothing that can be computed is added.

    Parameters
    ----------
    rated_capacity_ah : capacity of the specification, A.h, for the rest limit; None if it is unknown.
    rated_voltage_v : highest voltage of the specification, V, to find those far above it; None if it is unknown.
    known : what an earlier pass over the same file found.
    repair : some of :data:`REPAIRS`. ``time``: where the clock falls, time stays the same and later times move up.
    settled : True if a person has said what the sign of the current means.
    taken : how the reader took that sign, for the messages.
    headers : our name -> the column of the file it is from, for the messages.
    count : when half cycles number the cycles: ``always``, ``never``, or where the cycler counted none (None).
    """

    def __init__(
        self,
        *,
        rated_capacity_ah: float | None = None,
        rated_voltage_v: float | None = None,
        known: Known | None = None,
        repair: Iterable[str] = (),
        settled: bool = False,
        taken: Taken = BY_CONVENTION,
        headers: Mapping[str, str] | None = None,
        local_start: datetime | None = None,
        count: Counting | None = None,
    ) -> None:
        self.known = known or Known()
        self.survey = Survey(owning=True)
        self.cycles: Ints | None = None
        """(g,) number of the cycle of each step, where it is not that of the samples; known at the end."""
        self._steps_builder = StepsBuilder(owning=True)
        self._rated = rated_capacity_ah
        self._rated_voltage = rated_voltage_v
        self._count = count
        self._settled, self._taken, self._headers = settled, taken, headers
        self._clock = _Clock(repair="time" in repair, local_start=local_start)
        self._limit = self.known.rest_limit or rest_limit(rated_capacity_ah, 0.0, 0.0)
        self._noise = QuietNoise()
        self._steps = StepNumbers(self._limit, uncounted=self.known.one_step)
        self._swing = ChargeSwing()
        self._cycle_numbers = CycleNumbers()
        self._counters = {name: CounterReset() for name in c.COUNTERS}
        self._columns: list[str] | None = None
        self._against_counters = False

    def feed(self, table: Table) -> Table:
        """Take the next samples and return them as they will be stored.

        Raises
        ------
        FileRefused
            If the series has no current, no voltage, or neither time nor another axis.
        """
        if self._columns is None:
            refuse_without_axes(table)
            self._columns = table.names
        steps = self._steps.feed(table)
        if self._steps.by_state:
            self._noise.feed(table[c.CURRENT].floats())
        made: dict[str, Column] = {}
        for name, column in table.columns.items():
            if name == c.TIME:
                column = self._clock.feed(column)
            if self.known.crossed:
                name = OTHER_WAY.get(name, name)
            if name in self.known.uncounted:
                name = uncounted_name(name)
            made[name] = column
        if self._steps.is_one_step and {c.TIME, c.CURRENT} <= made.keys():
            self._swing.feed(made[c.TIME].floats(), made[c.CURRENT].floats())
        self._reset_counters(made, steps)
        made[c.STEP_COUNT] = Column("integer", steps)
        made[c.CYCLE_COUNT] = Column("integer", self._cycle_numbers.feed(table))
        order = sorted(made, key=lambda name: _KNOWN.get(name, len(_KNOWN)))
        conformed = Table({name: made[name] for name in order}, table.n)
        self.survey.feed(conformed, steps)
        self._steps_builder.feed(conformed)
        return conformed

    def _reset_counters(self, made: dict[str, Column], steps: Ints) -> None:
        """Let the counters start at 0 in each step."""
        present = [name for name in c.COUNTERS if name in made]
        if not present:
            return
        time, current, voltage = (
            made[name].floats() if name in made else np.full(len(steps), np.nan)
            for name in (c.TIME, c.CURRENT, c.VOLTAGE)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            for name in present:
                rate = current if name in c.COUNTERS[:2] else current * voltage
                flow = np.maximum(rate if name in (c.DISCHARGE_CAPACITY, c.DISCHARGE_ENERGY) else -rate, 0.0)
                made[name] = self._counters[name].feed(made[name], steps, time, flow)

    def finish(self) -> tuple[Table, list[Finding]]:
        """The ``steps`` of the series, and the findings about it.

        Raises
        ------
        FileRefused
            If the series has no samples, or the direction of its current cannot be known.
        SecondLook
            If the file must be read again; the error carries what is known now.
        """
        if not self.survey.rows:
            raise FileRefused("The file holds no samples.")
        self._look_again()
        steps = self._steps_builder.finish(self._between)
        if self._steps_builder.owned is not None:
            self.survey.take(steps, self._steps_builder.owned)
            self._look_for_crossed(steps, self._steps_builder.owned)
            self._look_for_still(self._steps_builder.owned)
        self.cycles, about_cycles = self._counted(steps)
        if self.cycles is not None:
            steps = replaced(steps, {c.CYCLE_COUNT: Column("integer", self.cycles)})
        findings = [*about_cycles, *self._own_findings(), *self._findings_of(steps)]
        refused = {finding.code: finding.message for finding in findings if finding.level == "refused"}
        for code in ("time_reversed", "time_unsorted"):  # what else is seen in rows out of order says nothing
            if code in refused:
                raise FileRefused(refused[code])
        if refused:
            raise FileRefused(" ".join(refused.values()))
        return steps, findings

    def _between(self, name: str, within: Floats, integral: float) -> Floats:
        return self._counters[name].between(len(within), within, integral)

    def _counted(self, steps: Table) -> tuple[Ints | None, list[Finding]]:
        """The cycles of the steps, if they are numbered by half cycles, and what is to be said about them."""
        flows = c.CURRENT in self.survey.present and self.survey.largest_current > 0
        has = self._cycle_numbers.source is not None
        rises = self._cycle_numbers.count > 1
        if not flows or (self._count == "never" and has):
            return None, []
        none = "The file has no cycle counter" if not has else "The cycle counter of the file never rises"
        if self._count == "never":
            return None, [Finding("assumed", "one_cycle", f"{none}, so the whole file is one cycle.")]
        numbers = counted_cycles(steps, self._rated)
        found = int(numbers[-1]) + 1
        if rises and self._count is None:
            return None, self._compared(found)
        if found == 1:
            message = f"{none}, and its half cycles make no more than one: the whole file is one cycle."
            return None if not rises else numbers, [] if has else [Finding("assumed", "one_cycle", message)]
        why = "As was said" if rises else none
        message = (
            f"{why}: {counted(found, 'cycle')} were counted from half cycles, each of at least 5 % of "
            f"{'the rated capacity' if self._rated else 'the largest'}."
        )
        if not rises:
            message += f" {option('cycles', 'file')} leaves it one cycle."
        return numbers, [Finding("assumed", "cycles_counted", message)]

    def _compared(self, found: int) -> list[Finding]:
        """A warning, if the counter of the file and the half cycles disagree by more than 5 %."""
        count = self._cycle_numbers.count
        if abs(found - count) <= max(1.0, 0.05 * count):
            return []
        message = (
            f"The cycler counts {counted(count, 'cycle')}, its half cycles make {spaced(found)}. The cycler's count "
            f"was kept; {option('cycles', 'count')} takes the other."
        )
        return [Finding("odd", "cycles_apart", message)]

    def _findings_of(self, steps: Table) -> list[Finding]:
        self.survey.clock.explained = self._clock.summer.falls()
        return self.survey.findings(
            steps,
            settled=self._settled,
            taken=self._taken,
            headers=self._headers,
            rated_voltage=self._rated_voltage,
        )

    def _charge_findings(self) -> list[Finding]:
        """Where charge and energy of the steps are from, if all of it is not from the counters of the file."""
        if (
            c.CURRENT not in self.survey.present
            or self.survey.largest_current == 0
            or c.TIME not in self.survey.present
        ):
            return []
        without = [name for name in c.COUNTERS if name not in self.survey.present]
        if not without:
            return []
        which = "no counters" if len(without) == len(c.COUNTERS) else f"no counter {quoted(without, last='or')}"
        message = f"The file has {which}, so the samples were integrated: current for charge, power for energy."
        return [Finding("assumed", "integrated", message)]

    @property
    def kept(self) -> list[str]:
        """The stored columns that the workbench does not know by name."""
        own = [name for name in self._columns or () if name not in _KNOWN]
        return [*own, *(uncounted_name(name) for name in sorted(self.known.uncounted))]

    @property
    def may_look_again(self) -> bool:
        """Whether it is likely by now that the series must be read again."""
        return (self._steps.by_state and self.known.rest_limit is None) or self._steps.is_one_step

    def _look_again(self) -> None:
        wanted = self.known
        if self._steps.by_state and wanted.rest_limit is None:
            limit = rest_limit(self._rated, self.survey.largest_current, self._noise.noise)
            if limit != self._limit:
                wanted = replace(wanted, rest_limit=limit)
        uncounted = {
            name for name, counter in self._counters.items() if counter.falls > _NOT_A_COUNTER * counter.rises
        }
        if uncounted:
            wanted = replace(wanted, uncounted=wanted.uncounted | uncounted)
        if self._steps.is_one_step and self._swing.is_both_ways:
            wanted = replace(wanted, one_step=True)
        if wanted != self.known:
            raise SecondLook(wanted)

    def _look_for_still(self, owned: Owned) -> None:
        """Look again if a counter stands still in all samples while much passed in its direction: it counts nothing."""
        passed = owned.both.sum(axis=0)
        still = set()
        for place, name in enumerate(c.COUNTERS):
            both = passed[place] + passed[_OTHER_WAY[place]]
            if self._counters[name].is_still and passed[place] > _LITTLE * both:
                still.add(name)
        if still:
            known = self.known
            raise SecondLook(replace(known, uncounted=known.uncounted | still, still=known.still | still))

    def _look_for_crossed(self, steps: Table, owned: Owned) -> None:
        """Look again if the counters go the other way than a current whose direction the voltage or a person showed."""
        if self.known.crossed or not are_crossed(steps, owned, self.survey.present):
            return
        self._against_counters = True
        if not self.known.uncounted and (self._settled or agrees(steps, self.survey.windows)):
            raise SecondLook(replace(self.known, crossed=True))

    def _crossed_findings(self) -> Iterator[Finding]:
        """That counters go the other way than the current, and what was done."""
        goes = "The counter of charge counts where the current discharges, and that of discharge where it charges."
        if self.known.crossed:
            done = "They were exchanged, so that they go with the current."
        elif self._against_counters:
            done = (
                "They were kept as they are named. If the counters are right, the current has the other sign: say "
                f"{option('sign', 'discharge' if self._taken.means == 'charge' else 'charge')}."
            )
        else:
            return
        yield Finding("odd", "counters_crossed", f"{goes} {done}")

    def _own_findings(self) -> list[Finding]:
        made = [*self._clock.findings(), *self._steps.findings()]
        made += self._charge_findings()
        made += self._crossed_findings()
        for name, counter in self._counters.items():
            if counter.fall_count:
                message = (
                    f"'{name}' falls {times(counter.fall_count)} within a step, first at sample "
                    f"{counter.first_fall}. Each fall was read as a new start of the counter, and counting went on."
                )
                made.append(Finding("odd", "counter_falls", message))
            if counter.started is not None:
                plain, used = counter.started
                message = (
                    f"'{name}' starts again with a step, also where its first value in the new step is the larger one. "
                    f"With that it counts {used:.6g} and not {plain:.6g}, as the samples show."
                )
                made.append(Finding("odd", "counter_starts", message))
        for name in sorted(self.known.uncounted):
            does = "goes up and down"
            if name in self.known.still:
                does = "stands still while the cell is charged or discharged"
            message = f"'{name}' {does}, so it is not a counter. It was kept as '{uncounted_name(name)}'."
            made.append(Finding("odd", "no_counter", message))
        return made


class _Clock:
    """Moves the time of a file to start at 0, and on request removes its falls."""

    def __init__(self, *, repair: bool, local_start: datetime | None) -> None:
        self._repair = repair
        self.summer = SummerTime(local_start)
        self._start: float | None = None
        self._last: float | None = None
        self._moved = 0.0
        self._falls = 0
        self._order = _Order()

    def feed(self, column: Column) -> Column:
        values = column.floats()
        known = np.flatnonzero(~np.isnan(values))
        if self._start is None and len(known):
            self._start = float(values[known[0]])
        self._order.feed(values[known])
        self.summer.feed(values[known])
        if self._start:
            column = shifted(column, self._start)
        return self._repaired(column, known) if self._repair and len(known) else column

    def _repaired(self, column: Column, known: Ints) -> Column:
        values = column.floats()
        t = values[known]
        before = np.concatenate([[t[0] if self._last is None else self._last], t[:-1]])
        falls = np.maximum(before - t, 0.0)
        self._last = float(t[-1])
        self._falls += int((falls > 0).sum())
        moved = self._moved + np.cumsum(falls)
        self._moved = float(moved[-1])
        if not self._moved:
            return column
        values[known] = t + moved
        return Column("number", values, column.valid)

    def findings(self) -> Iterator[Finding]:
        yield from self._order.findings()
        yield from self.summer.findings(repaired=bool(self._falls))
        if self._start:
            yield Finding(
                "assumed", "time_shifted", f"Time began at {self._start:g} s in the file; it starts at 0 here."
            )
        if self._falls:
            fell = f"The clock fell {times(self._falls)}, by {self._moved:g} s in all"
            message = f"{fell}. The time stays the same there now."
            yield Finding("repaired", "time", message)


class _Order:
    """Watches whether the rows of a file are in the order of their times."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._last: float | None = None
        self._rises, self._falls, self._anew = 0, 0, 0

    def feed(self, times: Floats) -> None:
        """Take the next times (n,) that are known."""
        if not len(times):
            return
        if self._first is None or self._last is None:
            self._first = self._last = float(times[0])
        followed = np.concatenate([[self._last], times])
        moves = np.diff(followed)
        self._rises += int((moves > 0).sum())
        self._falls += int((moves < 0).sum())
        self._anew += int((begins_anew(followed - self._first) & (moves < 0)).sum())
        self._last = float(times[-1])

    def findings(self) -> Iterator[Finding]:
        if self._falls > max(_CLOCK_SET, _REVERSED * self._rises):
            message = (
                f"The time falls in {spaced(self._falls)} of {counted(self._falls + self._rises, 'interval')}: the "
                "newest row comes first. Sort the rows by time, the oldest first, and ingest the file again."
            )
            yield Finding("refused", "time_reversed", message)
        elif self._falls - self._anew > max(_CLOCK_SET, _UNSORTED * self._rises):
            message = (
                f"The time falls in {spaced(self._falls)} of {counted(self._falls + self._rises, 'interval')}: the "
                "rows are not in the order of their times. Sort them by time, and ingest the file again."
            )
            yield Finding("refused", "time_unsorted", message)


def refuse_without_axes(table: Table, fix: str | None = None) -> None:
    """Refuse a table without a voltage, or without an axis to plot it over.

    Impedance and open-circuit data may have no time and no current. They have a frequency, or a capacity, a
    stoichiometry or a state of charge instead. ``fix`` is the last sentence of the message: what to do.

    Raises
    ------
    FileRefused
        With the columns that are missing and those that are there.
    """
    impedance = c.FREQUENCY in table
    open_circuit = any(name in table for name in c.OPEN_CIRCUIT_AXES)
    missing = []
    if c.VOLTAGE not in table and not impedance:
        missing.append("voltage")
    if not (impedance or open_circuit):
        missing += [word for word, name in (("current", c.CURRENT), ("time", c.TIME)) if name not in table]
    if missing:
        name = {"current": c.CURRENT, "time": c.TIME}.get(missing[0], c.VOLTAGE)
        fix = fix or f"Say which column it is with {column_map({'column in the file': name})}."
        raise FileRefused(
            f"No column was recognised as {' or as '.join(missing)}. The columns are {quoted(table.names)}. {fix}"
        )


def uncounted_name(name: str) -> str:
    """The name of a column that is named like a counter but is not one.

    >>> uncounted_name("Discharge capacity [A.h]")
    'Discharge capacity from cycler [A.h]'
    """
    words, _, unit = name.partition(" [")
    return f"{words} from cycler [{unit}"
