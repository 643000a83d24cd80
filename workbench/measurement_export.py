"""Exports a measurement to a file, with its samples and the fields of its records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from pydantic import JsonValue

from . import exchange
from .cycling.columns import COUNTERS
from .cycling.steps import OWN_TIME, STEP_TYPE
from .errors import BadRequest
from .records import Batch, Instance, Measurement, Record, Specification
from .records.exclusion import CYCLES, EXCLUSION, REASON
from .table import Table

_OF_THIS_STORE = frozenset({"files", "content_hash", "processing_status"})
R = TypeVar("R", bound=Record)
Listing: TypeAlias = Callable[[str, Mapping[str, Any], list[str] | None, int | None], Table]


class Get(Protocol):
    """Gives the record of a kind and an id."""

    def __call__(self, kind: type[R], id: str, /) -> R: ...


def export(
    measurement: Measurement,
    path: Path,
    *,
    get: Get,
    batches: Callable[[], Iterator[Table]],
    steps: Callable[[], Table],
    exclusions: Sequence[exchange.Excluded] = (),
) -> list[Path]:
    """Write a measurement to ``path``, whose ending names the format (`exchange.ENDINGS`). Returns the files.

    Parameters
    ----------
    get : gives the record of a kind and an id.
    batches : gives its samples, in batches of bounded size.
    steps : gives its steps.
    exclusions : what is left out of it.

    Raises
    ------
    BadRequest
        For another ending, a folder that does not exist, or a measurement without samples.
    """
    if not measurement.sample_count:
        raise BadRequest(f"The measurement '{measurement.name}' has no sampled data to export.")
    start = None if measurement.start_time is None else measurement.start_time.timestamp()
    return exchange.write(path, batches, _passport(measurement, get, steps, exclusions), start=start)


def _passport(
    measurement: Measurement, get: Get, steps: Callable[[], Table], exclusions: Sequence[exchange.Excluded]
) -> exchange.Passport:
    instance = get(Instance, measurement.instance_id)
    batch = None if instance.batch_id is None else get(Batch, instance.batch_id)
    return exchange.Passport(
        columns=[],
        content_hash="",
        rows=0,
        # Beside its fields, and not a field of the passport: older releases pass over what they do not know there.
        measurement={**_known(measurement), **({exchange.EXCLUSIONS: [*exclusions]} if exclusions else {})},
        instance=_known(instance),
        batch={} if batch is None else _known(batch),
        specification=_known(get(Specification, instance.specification_id)),
        # The type of a step depends on the present rating, which may change, so it is computed again on reading.
        steps=_packed(measurement, steps()),
    )


def excluded(measurement: Measurement, listing: Listing) -> list[exchange.Excluded]:
    """What is left out of a measurement; ``listing`` gives the rows of a source of plans."""
    where: Mapping[str, Any] = {"analysisType": EXCLUSION, "measurementIds": [measurement.id]}
    listed = listing("analyses", where, ["name", CYCLES, REASON], None)
    return [
        exchange.Excluded(name=row["name"], cycles=row[CYCLES], reason=row[REASON] or "")
        for row in listed.records()
        if row[CYCLES]
    ]


def _packed(measurement: Measurement, steps: Table) -> str | None:
    """The step table of a passport: the whole one if it was given; of steps that own every interval what the samples do
    not say; else none."""
    if measurement.source.get("steps") == "given":
        return exchange.packed(steps.select([name for name in steps if name != STEP_TYPE]))
    return exchange.packed(steps.select([*COUNTERS, OWN_TIME])) if OWN_TIME in steps else None


def _known(record: Record) -> dict[str, JsonValue]:
    """The fields of a record as JSON, without those that only mean something in this store."""
    links = {name for name, member in type(record).members().items() if member.link or not member.stored}
    kept = {"name", *type(record).given()} - links - _OF_THIS_STORE
    said: dict[str, JsonValue] = record.model_dump(mode="json", include=kept)
    return said
