"""Clock times that name no zone, put where a person says they were taken."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...cycling.columns import TIME
from ...readers import Reading
from ...table import Column, Table

_CODE = "time_zone"
_BACK = 60.0
"""s that a clock must fall within the hour that it shows twice, to be in the second of the two."""
_GOES_ON = 900.0
"""s that a time may be apart from its clock without having been moved with it: a finer time within the steps goes on
where the clock changes."""
Micros = NDArray[np.int64]


def in_zone(reading: Reading, zone: str) -> Reading:
    """The reading with its clock times, which name no zone and were taken as UTC, as those of ``zone``.

    A file that names its zones stays as it is. Of an hour that the clocks showed twice, times are in the first until
    they fall; a time that the clocks skipped is the moment after. A time of the test that was computed from the clock
    goes on through both.
    """
    if not _names_no_zone(reading):
        return reading
    reading.notes[:] = [note for note in reading.notes if note.code != _CODE]
    begun = None
    if reading.start_time is not None:
        wall = reading.start_time.replace(tzinfo=None)
        begun = wall if _is_from_clock(reading) else None
        reading.start_time = wall.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    reading.batches = _moved(reading.batches, zone, begun)
    return reading


def local_start(reading: Reading) -> datetime | None:
    """What the clock showed at the time 0, where the time of the test is from a clock that names no zone."""
    if reading.start_time is None or not _names_no_zone(reading) or not _is_from_clock(reading):
        return None
    return reading.start_time.replace(tzinfo=None)


def _names_no_zone(reading: Reading) -> bool:
    return any(note.code == _CODE for note in reading.notes)


def _is_from_clock(reading: Reading) -> bool:
    """Whether the time of the test was computed from a clock."""
    codes = {note.code for note in reading.notes}
    return "time_from_clock" in codes or (TIME not in reading.headers and "time_from_sweep" not in codes)


def _moved(batches: Iterator[Table], zone: str, begun: datetime | None) -> Iterator[Table]:
    clocks: dict[str, _Clock] = {}
    first: int | None = None
    start = 0 if begun is None else int(np.datetime64(begun, "us").astype(np.int64))
    for batch in batches:
        columns = dict(batch.columns)
        shown = [name for name, column in batch.items() if column.kind == "datetime"]
        for name in shown:
            column = batch[name]
            moments = clocks.setdefault(name, _Clock(zone)).moments(column.values.astype(np.int64))
            columns[name] = Column("datetime", moments, column.valid)
        if begun is not None and TIME in batch:
            times = batch[TIME].floats()
            walls = start + np.nan_to_num(times * 1e6).astype(np.int64)
            moved = clocks.setdefault(TIME, _Clock(zone)).moments(walls) - walls
            first = int(moved[0]) if first is None and len(moved) else first
            made = times + (moved - (first or 0)) / 1e6
            for name in shown:
                since = (columns[name].values.astype(np.int64) - start - (first or 0)) / 1e6
                known = ~columns[name].null_mask()
                made = np.where(known & (np.abs(since - times) < _GOES_ON), times, made)
            columns[TIME] = Column("number", made, batch[TIME].valid)
        yield Table(columns, batch.n)


class _Clock:
    """A clock in the local time of a zone, read in the order of its rows."""

    def __init__(self, zone: str) -> None:
        self._zone = zone
        self._last: int | None = None
        self._in_second = False

    def moments(self, walls: Micros) -> Micros:
        """(n,) µs of local time since 1970 -> (n,) µs since 1970 in UTC."""
        shown = pd.Series(walls.astype("M8[us]"))
        earlier, later = (self._in_zone(shown, np.full(len(shown), summer)) for summer in (True, False))
        twice = earlier != later
        moments = np.where(twice & self._second(walls, twice), later, earlier)
        return np.asarray(moments, np.int64)

    def _in_zone(self, shown: pd.Series, summer: NDArray[np.bool_]) -> Micros:
        moments = shown.dt.tz_localize(self._zone, ambiguous=summer, nonexistent="shift_forward")
        utc = moments.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy().astype("M8[us]")
        return np.asarray(utc.astype(np.int64), np.int64)

    def _second(self, walls: Micros, twice: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(n,) whether the clock fell since it began to show what it shows twice."""
        made = np.zeros(len(walls), bool)
        if not len(walls):
            return made
        before = np.concatenate([[walls[0] if self._last is None else self._last], walls[:-1]])
        fell = walls < before - round(_BACK * 1e6)
        goes_on = np.concatenate([[self._in_second], twice[:-1]])
        for place in np.flatnonzero(twice).tolist():
            so_far = made[place - 1] if place else self._in_second
            made[place] = fell[place] or (goes_on[place] and so_far)
        self._last, self._in_second = int(walls[-1]), bool(made[-1])
        return made
