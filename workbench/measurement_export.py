"""A measurement on its way out: its samples, and all that its records say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from . import exchange
from .cycling.steps import STEP_TYPE
from .errors import BadRequest
from .records import Batch, Instance, Measurement, Record, Specification
from .table import Table

_OF_THIS_STORE = frozenset({"files", "content_hash", "processing_status"})
Get = Callable[[type[Any], str], Any]


def export(
    measurement: Measurement,
    path: Path,
    *,
    get: Get,
    pieces: Callable[[], Iterator[Table]],
    steps: Callable[[], Table],
) -> list[Path]:
    """Write a measurement to ``path``, whose ending says how (`exchange.ENDINGS`); answers the files written.

    Parameters
    ----------
    get : gives the record of a kind and an id.
    pieces, steps : give its samples in bounded pieces, and its steps.

    Raises
    ------
    BadRequest
        For another ending, a folder that is not there, or a measurement without samples.
    """
    if not measurement.sample_count:
        raise BadRequest(f"The measurement '{measurement.name}' has no sampled data to export.")
    start = None if measurement.start_time is None else measurement.start_time.timestamp()
    return exchange.write(path, pieces, _passport(measurement, get, steps), start=start)


def _passport(measurement: Measurement, get: Get, steps: Callable[[], Table]) -> exchange.Passport:
    instance = get(Instance, measurement.instance_id)
    batch = None if instance.batch_id is None else get(Batch, instance.batch_id)
    given = steps() if measurement.source.get("steps") == "given" else None
    return exchange.Passport(
        columns=[],
        content_hash="",
        rows=0,
        measurement=_known(measurement),
        instance=_known(instance),
        batch={} if batch is None else _known(batch),
        specification=_known(get(Specification, instance.specification_id)),
        # What a step is told from the present rating, which may change.
        steps=None
        if given is None
        else exchange.packed(given.select([name for name in given if name != STEP_TYPE])),
    )


def _known(record: Record) -> dict[str, Any]:
    """What a record says of itself, as JSON, without what only this store understands."""
    links = {name for name, member in type(record).members().items() if member.link or not member.stored}
    kept = {"name", *type(record).given()} - links - _OF_THIS_STORE
    said: dict[str, Any] = record.model_dump(mode="json", include=kept)
    return said
