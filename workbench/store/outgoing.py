"""A measurement on its way out: its samples, and all that its records say of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import exchange
from ..errors import BadRequest
from ..records import Batch, Instance, Measurement, Record, Specification
from ..table import Table
from .store import Scope, Store

_PIECE = 1 << 18
_OF_THIS_STORE = frozenset({"files", "content_hash", "processing_status"})


def export(store: Store, scope: Scope, measurement: Measurement, path: Path) -> list[Path]:
    """Write a measurement to ``path``, whose ending says how (`exchange.ENDINGS`); answers the files written.

    Raises
    ------
    BadRequest
        For another ending, a folder that is not there, or a measurement without samples.
    """
    with store.snapshot():
        info = store.series.info(measurement.id)
        if info is None:
            raise BadRequest(f"The measurement '{measurement.name}' has no sampled data to export.")
        rows = info.rows

        def batches() -> Iterator[Table]:
            for start in range(0, rows, _PIECE):
                yield store.series.read(measurement.id, None, (start, min(start + _PIECE, rows)))

        start = None if measurement.start_time is None else measurement.start_time.timestamp()
        return exchange.write(path, batches, _passport(store, scope, measurement), start=start)


def _passport(store: Store, scope: Scope, measurement: Measurement) -> exchange.Passport:
    instance = store.rows.get(Instance, measurement.instance_id, scope)
    batch = None if instance.batch_id is None else store.rows.get(Batch, instance.batch_id, scope)
    given = measurement.source.get("steps") == "given"
    return exchange.Passport(
        columns=[],
        content_hash="",
        rows=0,
        measurement=_known(measurement),
        instance=_known(instance),
        batch={} if batch is None else _known(batch),
        specification=_known(store.rows.get(Specification, instance.specification_id, scope)),
        steps=exchange.packed(store.series.read(measurement.id, dataset="steps")) if given else None,
    )


def _known(record: Record) -> dict[str, Any]:
    """What a record says of itself, as JSON, without what only this store understands."""
    links = {name for name, member in type(record).members().items() if member.link or not member.stored}
    kept = {"name", *type(record).given()} - links - _OF_THIS_STORE
    said: dict[str, Any] = record.model_dump(mode="json", include=kept)
    return said
