"""More samples of a test that is still running: appended, with steps and cycles, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...cycling import columns as c
from ...cycling.changes import ChangeCounter
from ...cycling.cycles import cycles_of
from ...cycling.given_samples import Rules
from ...cycling.onsets import Sample
from ...cycling.steps import (
    CYCLE_SUMS,
    END_INDEX,
    OWN_TIME,
    START_INDEX,
    STEP_TYPE,
    StepsBuilder,
    step_types,
    with_cycle_sums,
)
from ...cycling.steps_builder import READ
from ...errors import Conflict, FileRefused, instead
from ...records import Measurement
from ...store import Transaction
from ...store.series import derived
from ...store.store import Scope, Store
from ...table import Column, Table, concat, concat_columns
from ..plan.ratings import known_ah
from .append_owning import Continued, continued
from .register import said_of

_PIECE = 1 << 18


def extend(
    store: Store,
    scope: Scope,
    measurement_id: str,
    samples: Table | Iterable[Table],
    *,
    held: bool = False,
    actor: str | None = None,
) -> Measurement:
    """Append samples to a running measurement; steps and cycles follow in the same transaction.

    The last step is computed anew from all its samples, steps before it stay as they are; of steps that were given
    only one that the new samples belong to. Of a test that was read from a file all steps are made anew, as they own
    the intervals between them. Columns the new samples lack are null in them.

    Parameters
    ----------
    samples : with ``Time [s]``, which may not fall below the last stored one, and ``Step count``, which goes on
        from the last stored one or the next.
    held : the caller has marked the record as running, to keep others away meanwhile.

    Raises
    ------
    Conflict
        If the measurement holds no time series, is being processed, or has ended.
    FileRefused
        If the samples break a convention; the stored ones stay as they are.
    """
    store.rows.get(Measurement, measurement_id, scope)
    parts = [samples] if isinstance(samples, Table) else list(samples)
    parts = [part for part in parts if part.n]
    with store.transaction() as connection:
        record = store.rows.get(Measurement, measurement_id, scope)
        _refuse_unless_running(record, "running" if held else "ready")
        running = _Running(store, scope, record)
        parts = running.accepted(parts)
        if not parts:
            return record
        after = running.after(parts)
        steps = after.steps
        if after.cycles is None:
            store.series.append(record.id, "series", after.parts, connection)
        else:
            running.rewrite(after, connection)
        made = {**derived.rules(), "steps": running.rule_of_steps()}
        for dataset, table in (("steps", steps), ("cycles", cycles_of(steps))):
            with store.series.writer(record.id, dataset, rule=made[dataset]) as writer:
                writer.add(table)
                writer.publish(connection)
        if record.source.get("format") and not record.source.get("extended"):
            noted = {"source": {**record.source, "extended": True}}
            store.rows.update(Measurement, record.id, noted, scope, actor, connection=connection, grew=True)
        store.bump(connection, Measurement.table)
    store.series.tidy()
    return store.rows.get(Measurement, measurement_id, scope)


def _refuse_unless_running(record: Measurement, status: str) -> None:
    if record.measurement_type != "time_series":
        raise Conflict(
            f"'{record.name}' is of the type {record.measurement_type}; only a time series can be extended."
        )
    if record.processing_status != status:
        raise Conflict(f"'{record.name}' is {record.processing_status}. Extend it when it is ready.")
    if record.end_time is not None:
        raise Conflict(f"'{record.name}' has ended. Set its end_time to None to add samples.")


class _Running:
    """A stored series as far as its continuation needs it."""

    def __init__(self, store: Store, scope: Scope, record: Measurement) -> None:
        info = store.series.info(record.id, "series", scope=scope)
        if info is None:
            raise Conflict(f"'{record.name}' has no samples yet.")
        self._store = store
        self._scope = scope
        self._record = record
        self._given = record.source.get("steps") == "given"
        self._rows = info.rows
        self._kinds = {column.name: column for column in info.columns}
        self._steps = store.series.read(record.id, dataset="steps", scope=scope)
        self._owning = OWN_TIME in self._steps and not self._given and self._steps.n > 0

    def rule_of_steps(self) -> int | None:
        """The rule of the steps once they go on: those that are done stay as an older rule made them."""
        if self._given:
            return None
        if self._owning:
            return derived.today("steps")
        return min(self._store.series.rule(self._record.id, "steps") or derived.BEFORE, derived.today("steps"))

    def accepted(self, parts: list[Table]) -> list[Table]:
        """The new samples with all columns of the series; FileRefused if they do not go on from it."""
        last = self._store.series.read(
            self._record.id, rows=(max(self._rows - 1, 0), self._rows), scope=self._scope
        )
        rules = self._rules(last)
        made = []
        for part in parts:
            missing = [name for name in (c.TIME, c.STEP_COUNT) if name in self._kinds and name not in part]
            if missing:
                raise FileRefused(f"The new samples need '{missing[0]}'. {instead(missing[0], part, 'columns')}")
            unknown = [name for name in part if name not in self._kinds]
            if unknown:
                raise FileRefused(
                    f"The series has no column '{unknown[0]}'. {instead(unknown[0], self._kinds, 'columns')}"
                )
            rules.feed(part)
            made.append(
                Table({name: part.columns.get(name) or Column.nulls(part.n) for name in self._kinds}, part.n)
            )
        if rules.broken:
            raise FileRefused(" ".join(rules.broken.values()))
        return made

    def _rules(self, last: Table) -> Rules:
        """The rules for samples that follow ``last``, the last stored one."""
        counters = {}
        for name in c.COUNTERS:
            if name in last and last.n:
                value = last[name].tolist()[0]
                if value is not None and value == value:
                    counters[name] = float(value)
        return Rules(time=self._last_of(c.TIME), step=int(last[c.STEP_COUNT].values[0]), counters=counters)

    def _last_of(self, name: str, before: int | None = None) -> float | None:
        """The last value of a column before a sample number that is not null; None if there is none."""
        if name not in self._kinds:
            return None
        stop = self._rows if before is None else before
        while stop > 0:
            start = max(stop - _PIECE, 0)
            values = self._store.series.read(self._record.id, [name], (start, stop), scope=self._scope)[
                name
            ].floats()
            known = np.flatnonzero(~np.isnan(values))
            if len(known):
                return float(values[known[-1]])
            stop = start
        return None

    def after(self, parts: list[Table]) -> Continued:
        """All steps, and the new samples as they are to be stored."""
        if not self._owning:
            return Continued(self._steps_after(parts), parts)
        names = [name for name in (*READ, c.STEP_COUNT, c.CYCLE_COUNT) if name in self._kinds]
        cycler = self._last_of(c.CYCLER_CYCLE)
        return continued(
            lambda start: self._stored_from(start, names),
            self._steps,
            parts,
            cycler=cycler,
            counted=self._counts(parts, cycler),
            rated_capacity_ah=self._rated_as_said(),
        )

    def _counts(self, parts: list[Table], cycler: float | None) -> bool:
        """Whether half cycles number the cycles, as they would if the file had all samples."""
        how = (self._record.source.get("options") or {}).get("cycles")
        if how is not None:
            return bool(how == "count")
        if any(finding.get("code") == "cycles_counted" for finding in self._record.source.get("findings") or []):
            return True
        news = [part[c.CYCLER_CYCLE].floats() for part in parts if cycler is not None]
        rises = any(bool((one[~np.isnan(one)] != cycler).any()) for one in news)
        return not rises and not self._steps[c.CYCLE_COUNT].values.any()

    def rewrite(self, after: Continued, connection: Transaction) -> None:
        """Store all samples anew, with their cycles."""
        rule = self._store.series.rule(self._record.id, "series")
        with self._store.series.writer(self._record.id, "series", rule=rule) as writer:
            for part in self._stored_from(0):
                writer.add(after.renumbered(part))
            for part in after.parts:
                writer.add(part)
            writer.publish(connection)

    def _rated_as_said(self) -> float | None:
        """The rated capacity of the cell, A.h, unless it was estimated."""
        return known_ah(said_of(self._store, self._scope, self._record.instance_id))

    def _steps_after(self, parts: list[Table]) -> Table:
        """All steps: those that are done as they are, the one that goes on anew from all its samples."""
        last, goes_on = self._last_step(parts[0])
        start = int(self._steps[START_INDEX].values[last]) if self._steps.n else 0
        number = int(self._steps[c.CYCLE_COUNT].values[last]) if self._steps.n else 0
        cycler = c.CYCLER_CYCLE if c.CYCLER_CYCLE in self._kinds else c.CYCLE_COUNT
        cycles = self._cycles_at(cycler, start, number)
        if not goes_on:
            for part in self._stored_from(start, [cycler] if cycler in self._kinds else []):
                cycles.feed(*(part[name].floats() for name in part))
            start = self._rows
        builder = StepsBuilder(start, cycles, self._complete_before(start))
        for part in [*self._stored_from(start), *parts]:
            builder.feed(part)
        done = np.flatnonzero(np.arange(self._steps.n) != last) if goes_on else np.arange(self._steps.n)
        before, made = self._steps.take(done), builder.finish()
        if self._given and goes_on:
            made = self._with_what_was_given(made, last)
        names = [*dict.fromkeys(name for name in (*before, *made) if name not in CYCLE_SUMS)]
        both = [
            Table({name: part.columns.get(name) or Column.nulls(part.n) for name in names}, part.n)
            for part in (before, made)
        ]
        return self._typed(with_cycle_sums(concat(both)), before.n + (self._given and goes_on))

    def _last_step(self, new: Table) -> tuple[int, bool]:
        """The place of the step that ends last, and whether it has to be made anew with the new samples.

        A step that was given stays as it is, unless the new samples belong to it.
        """
        if not self._given or not self._steps.n:
            return max(self._steps.n - 1, 0), True
        ends = self._steps[END_INDEX].values
        last = int(np.argmax(ends))
        stored = self._store.series.read(
            self._record.id, [c.STEP_COUNT], (self._rows - 1, self._rows), scope=self._scope
        )
        same = stored[c.STEP_COUNT].values[0] == new[c.STEP_COUNT].values[0]
        return last, bool(same and ends[last] == self._rows - 1)

    def _with_what_was_given(self, made: Table, row: int) -> Table:
        """``made``, whose first step takes from the given one what the samples do not say."""
        columns = dict(made.columns)
        rest = Column.nulls(made.n - 1)
        for name, column in self._steps.columns.items():
            if name == c.STEP_COUNT:
                columns[name] = concat_columns([column.slice(row, row + 1), made[name].slice(1, made.n)])
            elif name not in made and name not in CYCLE_SUMS:
                columns[name] = concat_columns([column.slice(row, row + 1), rest])
        return Table(columns, made.n)

    def _typed(self, steps: Table, known: int) -> Table:
        """``steps`` with the types of those after the first ``known``, where types were given."""
        if STEP_TYPE not in steps:
            return steps
        bare = Table({name: column for name, column in steps.items() if name != STEP_TYPE}, steps.n)
        types = step_types(bare, self._rated_as_said())
        parts = [steps[STEP_TYPE].slice(0, known), types.slice(known, steps.n)]
        return Table({**steps.columns, STEP_TYPE: concat_columns(parts)}, steps.n)

    def _cycles_at(self, cycler: str, start: int, number: int) -> ChangeCounter:
        """The cycle counter as it stood just before the sample ``start``, whose cycle is ``number``."""
        before = self._last_of(cycler, start)
        if before is None or cycler not in self._kinds:
            return ChangeCounter(number)
        first = self._store.series.read(self._record.id, [cycler], (start, start + 1), scope=self._scope)[
            cycler
        ].floats()
        changed = len(first) and not np.isnan(first[0]) and float(first[0]) != before
        return ChangeCounter(number - 1 if changed else number, before)

    def _complete_before(self, stop: int) -> Sample | None:
        """The last stored sample before a sample number that has time, current and voltage."""
        names = [c.TIME, c.CURRENT, c.VOLTAGE]
        if any(name not in self._kinds for name in names):
            return None
        while stop > 0:
            start = max(stop - _PIECE, 0)
            part = self._store.series.read(self._record.id, names, (start, stop), scope=self._scope)
            values = [part[name].floats() for name in names]
            known = np.flatnonzero(np.isfinite(values[0]) & np.isfinite(values[1]) & np.isfinite(values[2]))
            if len(known):
                return Sample(*(float(column[known[-1]]) for column in values))
            stop = start
        return None

    def _stored_from(self, start: int, columns: list[str] | None = None) -> Iterator[Table]:
        for at in range(start, self._rows, _PIECE):
            yield self._store.series.read(
                self._record.id, columns, (at, min(at + _PIECE, self._rows)), scope=self._scope
            )
