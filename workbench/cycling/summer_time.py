"""Where a clock that names no zone changes by an hour, as local clocks do when summer time begins or ends."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from ..messages import option
from .findings import Finding
from .run_statistics import Floats

_FIRST = (
    *("Europe/Berlin", "Europe/London", "Europe/Athens", "America/New_York", "America/Chicago", "America/Denver"),
    *("America/Los_Angeles", "America/Halifax", "America/Sao_Paulo", "Asia/Jerusalem", "Australia/Sydney"),
    *("Australia/Adelaide", "Pacific/Auckland"),
)
"""Zones that are named before others with the same change."""
_LEAST, _MOST = 60.0, 7200.0
"""s by which a clock falls, at least and at most, where summer time ends."""
_LEAST_ON, _MOST_ON = 1800.0, 3 * 3600.0
"""s by which a clock goes on, at least and at most, where summer time begins."""
_MOVES = tuple(sign * hours * 3600.0 for hours in (0.5, 1, 2) for sign in (1, -1))
"""s by which clocks are moved: an hour, half of one on Lord Howe, two in the Antarctic."""
_BESIDE = 2.0
"""How many times as long as the intervals beside it an interval may be once the change is taken out of it."""
_SHORT = 60.0
"""s up to which an interval may last whatever the intervals beside it."""


@dataclass(frozen=True)
class _Jump:
    """Two times that follow on each other, s, and the longer one of the intervals beside theirs, s."""

    before: float
    after: float
    beside: float


class SummerTime:
    """Watches times that are from a clock which names no zone: do they change where a zone changes?

    ``start`` is what the clock showed at the time 0; None if the times are from no such clock.
    """

    def __init__(self, start: datetime | None) -> None:
        self._start = None if start is None else start.replace(tzinfo=None)
        self._tail = np.zeros(0)
        self._found: list[tuple[_Jump, str]] = []

    def feed(self, times: Floats) -> None:
        """Take the next times (n,) s that are known."""
        if self._start is None or not len(times):
            return
        context = len(self._tail) == 3
        known = np.concatenate([self._tail, times])
        self._look(known, int(context), len(known) - 2)
        self._tail = known[-3:]

    def falls(self) -> int:
        """How many times the clock falls where summer time ends somewhere; asked for when all times were fed."""
        return sum(jump.after < jump.before for jump, _ in self._all())

    def findings(self, *, repaired: bool) -> list[Finding]:
        """A warning if the clock seems to change to or from summer time, with the zone that goes on through it."""
        found = self._all()
        if not found or self._start is None:
            return []
        jump, zone = found[0]
        before, after = (self._start + timedelta(seconds=one) for one in (jump.before, jump.after))
        does, change = ("falls", "ends") if after < before else ("jumps", "begins")
        often = "" if len(found) == 1 else f", the first of {len(found)} such changes"
        instead = f", without {option('repair', 'time')}" if repaired else ""
        message = (
            f"The clock {does} from {_shown(before)} to {_shown(after)}{often}: summer time {change} then, for "
            f"example in {zone}. If it shows local time, say {option('zone', zone)} or the zone of its place{instead}: "
            f"the time goes on through the change{', and no interval is lost' if after < before else ''}."
        )
        return [Finding("odd", "summer_time", message)]

    def _all(self) -> list[tuple[_Jump, str]]:
        if len(self._tail) > 1:
            self._look(self._tail, len(self._tail) - 2, len(self._tail) - 1)
            self._tail = self._tail[:0]
        return self._found

    def _look(self, known: Floats, first: int, last: int) -> None:
        """Look at the intervals from ``first`` up to ``last``, without it; others are beside these."""
        moves = np.diff(known)
        fell = (moves <= -_LEAST) & (moves >= -_MOST)
        went_on = (moves >= _LEAST_ON) & (moves <= _MOST_ON)
        around = np.concatenate([[0.0], moves, [0.0]])
        for at in (np.flatnonzero((fell | went_on)[first:last]) + first).tolist():
            jump = _Jump(float(known[at]), float(known[at + 1]), float(max(around[at], around[at + 2])))
            zone = self._zone(jump)
            if zone is not None:
                self._found.append((jump, zone))

    def _zone(self, jump: _Jump) -> str | None:
        """A zone whose clocks changed between the two times, so that little time passed between them."""
        if self._start is None:
            return None
        try:
            before, after = (self._start + timedelta(seconds=one) for one in (jump.before, jump.after))
        except OverflowError:
            return None
        longest = max(_SHORT, _BESIDE * jump.beside)
        # Most gaps fit no change: then no zone is read, which takes a third of a second.
        if not any(0 < jump.after - jump.before + moved <= longest for moved in _MOVES):
            return None
        changes = _changes(before.year)
        zones = [zone for day in sorted({before.date(), after.date()}) for zone in changes.get(day, ())]
        for name in zones:
            zone = ZoneInfo(name)
            began = before.replace(tzinfo=zone, fold=0).astimezone(UTC)
            ended = after.replace(tzinfo=zone, fold=1).astimezone(UTC)
            passed = (ended - began).total_seconds()
            moved = passed - (jump.after - jump.before)
            fits = 0 < passed <= longest and abs(moved) >= _LEAST_ON
            if fits and not _is_skipped(before, zone) and not _is_skipped(after, zone):
                return name
        return None


def _is_skipped(wall: datetime, zone: ZoneInfo) -> bool:
    """Whether clocks of the zone never showed this."""
    there = wall.replace(tzinfo=zone, fold=0)
    return there.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != wall


@functools.lru_cache(maxsize=8)
def _changes(year: int) -> Mapping[date, tuple[str, ...]]:
    """Days of a year on which clocks change -> the zones where they do, those that many know before others."""
    found: dict[date, list[str]] = defaultdict(list)
    rest = sorted(name for name in available_timezones() - {*_FIRST} if "/" in name and "Etc/" not in name)
    for name in (*_FIRST, *rest):
        zone = ZoneInfo(name)
        days = [datetime(year, 1, 1, tzinfo=zone) + timedelta(days=day) for day in range(367)]
        offsets = [day.utcoffset() for day in days]
        for number in range(len(days) - 1):
            if offsets[number] != offsets[number + 1]:
                found[days[number].date()].append(name)
    return {day: tuple(names) for day, names in found.items()}


def _shown(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")
