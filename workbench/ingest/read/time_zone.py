"""Clock times that name no zone, put where a person says they were taken."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from ...readers import Reading
from ...table import Column, Table

_CODE = "time_zone"


def in_zone(reading: Reading, zone: str) -> Reading:
    """The reading with its clock times, which name no zone and were taken as UTC, as those of ``zone``.

    A file that names its zones stays as it is. A time that the clocks showed twice is the first of the two, one
    that they skipped is the moment after.
    """
    without = [note for note in reading.notes if note.code == _CODE]
    if not without:
        return reading
    reading.notes[:] = [note for note in reading.notes if note.code != _CODE]
    if reading.start_time is not None:
        wall = reading.start_time.replace(tzinfo=None)
        reading.start_time = wall.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    reading.batches = _moved(reading.batches, zone)
    return reading


def _moved(batches: Iterator[Table], zone: str) -> Iterator[Table]:
    for batch in batches:
        columns = {
            name: _column(column, zone) if column.kind == "datetime" else column for name, column in batch.items()
        }
        yield Table(columns, batch.n)


def _column(column: Column, zone: str) -> Column:
    walls = pd.Series(column.values.astype("M8[us]"))
    moments = walls.dt.tz_localize(zone, ambiguous=np.ones(len(walls), bool), nonexistent="shift_forward")
    micros = moments.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy().astype("M8[us]").astype(np.int64)
    return Column("datetime", micros, column.valid)
