"""Samples given by hand, as a table or in batches: checked, stored to the bit, never repaired."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any, TypeAlias

import numpy as np
from pydantic import JsonValue

from ...cycling import columns as c
from ...cycling.checks import Survey
from ...cycling.conform import refuse_without_axes
from ...cycling.cycles import cycles_of
from ...cycling.findings import Finding
from ...cycling.given_samples import Rules
from ...cycling.given_steps import complete_steps, given_steps
from ...cycling.step_numbers import StepNumbers
from ...cycling.steps import StepsBuilder, current_limits
from ...errors import FileRefused, Invalid
from ...records import Instance, Measurement, Specification
from ...store.series import derived
from ...store.series.series import SeriesWriter
from ...store.store import Scope, Store
from ...table import Column, Table
from ..limits import RecordFields
from ..plan.ratings import known_ah, rated_volts
from .estimates import said_ratings

Samples: TypeAlias = Table | Callable[[], Iterable[Table]]
_NEEDED = "Samples need at least the columns 'Time [s]', 'Current [A]' (positive on discharge) and 'Voltage [V]'."


def register(
    store: Store,
    scope: Scope,
    fields: Mapping[str, Any],
    samples: Samples,
    *,
    steps: Table | None = None,
    derive: bool = True,
    settled: bool = False,
    id: str | None = None,
    present: bool = False,
    actor: str | None = None,
) -> Measurement:
    """A time series measurement from samples that keep the conventions; its steps and cycles come with it.

    Every column is kept under its name and comes back bit for bit.

    Parameters
    ----------
    fields : of the record: ``instance_id``, ``name`` and what else a measurement has.
    samples : a table, or a function that gives the batches anew at each call.
    steps : a step table, used as it is; columns it lacks are computed.
    derive : where ``Step count`` is missing, add it as the last column, from the cycler's steps or the
        current; else that is refused.
    settled : the caller vouches for the sign of the current, so a contradiction is recorded and not refused.
    id : of the new record, where one was promised already.
    present : the record of this id is there and waits for its samples; it is made ready with them.

    Raises
    ------
    FileRefused
        If the samples break a convention: all that are broken, each with its place. Nothing is stored.
    Conflict, NotFound, Invalid
        As creating the record does.
    """
    id = id or store.rows.reserved_ids()[0]
    with ExitStack() as stack:
        writers = {
            name: stack.enter_context(store.series.writer(id, name, rule=rule))
            for name, rule in derived.rules(given=steps is not None).items()
        }
        said = said_of(store, scope, fields.get("instance_id"))
        number = _numbering(samples, known_ah(said), derive=derive)
        taken = Taken(writers["series"], number)
        for batch in _batches(samples):
            taken.feed(batch)
        made = taken.finish(settled=settled, rated_voltage=rated_volts(said))
        if steps is not None:
            made = _completed(steps, samples, number, taken.survey.rows)
        writers["steps"].add(made)
        writers["cycles"].add(cycles_of(made))
        data = {**fields, "measurement_type": "time_series"}
        found = _provenance(taken.findings, given=steps is not None)
        if found:
            data["source"] = {**fields.get("source", {}), **found}
        with store.transaction() as connection:
            if present:
                ready = {"processing_status": "ready", **({"source": data["source"]} if found else {})}
                record = store.rows.update(Measurement, id, ready, scope, actor, connection=connection)
            else:
                record = store.rows.create(
                    Measurement, data, scope=scope, actor=actor, id=id, connection=connection
                )
            for writer in writers.values():
                writer.publish(connection)
    store.series.tidy()
    return store.rows.get(Measurement, record.id, scope)


class Taken:
    """Samples on their way in: checked, summarised and written as they pass."""

    def __init__(self, writer: SeriesWriter, number: Callable[[], StepNumbers] | None) -> None:
        self.survey = Survey(owning=number is not None)
        self.findings: list[Finding] = []
        self._writer = writer
        self._numbers = None if number is None else number()
        self._rules = Rules()
        self._builder = StepsBuilder(owning=number is not None)

    def feed(self, batch: Table) -> None:
        if not self.survey.rows:
            refuse_without_axes(batch, _NEEDED)
        batch = with_steps(batch, self._numbers)
        self._rules.feed(batch)
        if self._rules.broken:
            return
        steps = batch[c.STEP_COUNT].values
        self.survey.feed(batch, steps)
        self._builder.feed(batch)
        self._writer.add(batch)

    def finish(self, *, settled: bool, rated_voltage: float | None = None) -> Table:
        """The steps; FileRefused with every rule that is broken."""
        if self._rules.broken:
            raise FileRefused(" ".join(self._rules.broken.values()))
        if not self.survey.rows:
            raise FileRefused("The time series has no samples.")
        # The counters start at 0 in each step: they counted nothing between two steps.
        steps = self._builder.finish(lambda name, within, integral: np.zeros(len(within)))
        if self._builder.owned is not None:
            self.survey.take(steps, self._builder.owned)
        numbered = [] if self._numbers is None else self._numbers.findings()
        self.findings = [*numbered, *self.survey.findings(steps, settled=settled, rated_voltage=rated_voltage)]
        refused = [finding.message for finding in self.findings if finding.level == "refused"]
        if refused:
            raise FileRefused(" ".join(refused))
        return steps


def with_steps(batch: Table, numbers: StepNumbers | None) -> Table:
    """The batch with ``Step count`` as its last column, if ``numbers`` are to give it."""
    if numbers is None or c.STEP_COUNT in batch:
        return batch
    return Table({**batch.columns, c.STEP_COUNT: Column("integer", numbers.feed(batch))}, batch.n)


def _batches(samples: Samples) -> Iterable[Table]:
    return [samples] if isinstance(samples, Table) else samples()


def _numbering(samples: Samples, rated: float | None, *, derive: bool) -> Callable[[], StepNumbers] | None:
    """How to begin to number the steps, where the samples have none and numbering is wanted. ``rated``: A.h."""
    first = next(iter(_batches(samples)), None)
    if not derive or first is None or c.STEP_COUNT in first:
        return None
    trial = StepNumbers(_limit(rated, 0.0))
    trial.feed(first)
    if rated is not None or not trial.by_state:
        return lambda: StepNumbers(_limit(rated, 0.0))
    survey = Survey()
    for batch in _batches(samples):
        survey.feed(batch, trial.feed(batch))
    return lambda: StepNumbers(_limit(None, survey.largest_current))


def _limit(rated: float | None, largest: float) -> float:
    """The largest magnitude of a current at rest, A."""
    return current_limits(rated, np.array([largest]))[0]


def said_of(store: Store, scope: Scope, instance: Any) -> Mapping[str, JsonValue]:
    """The ratings of a cell that somebody said; none without a cell."""
    if not isinstance(instance, str):
        return {}
    cell = store.rows.get(Instance, instance, scope)
    return said_ratings(store.rows.get(Specification, cell.specification_id, scope))


def _completed(steps: Table, samples: Samples, number: Callable[[], StepNumbers] | None, rows: int) -> Table:
    numbers = None if number is None else number()
    try:
        return complete_steps(
            given_steps(steps), (with_steps(batch, numbers) for batch in _batches(samples)), rows
        )
    except Invalid as error:
        raise FileRefused(f"The step table does not fit: {error}") from None


def _provenance(findings: list[Finding], *, given: bool) -> RecordFields:
    found: RecordFields = {"steps": "given"} if given else {}
    if findings:
        found["findings"] = [{"level": f.level, "code": f.code, "message": f.message} for f in findings]
    return found
