"""A moment as people name it: a time, a day, or a revision of the store."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import TypeAlias, TypeVar

import numpy as np

from .errors import BadRequest
from .table import to_micros

T = TypeVar("T")
Moment: TypeAlias = datetime | date | np.datetime64 | str | int | np.integer
"""A time, also of numpy or pandas; a day, which counts to its end; either as ISO text; or a revision of the store
(microseconds since 1970)."""
_LEAST, _MOST = 0, to_micros(datetime.max.replace(tzinfo=UTC))
_MOST_DIGITS = 20
_FIRST_REVISION = to_micros(datetime(2000, 1, 1, tzinfo=UTC))
"""No store is older. What is before it counts other units, such as seconds."""


def micros_of(moment: Moment) -> int:
    """Microseconds since 1970 UTC. A time without a zone is UTC; of a day its last microsecond is meant.

    Raises
    ------
    BadRequest
        If it is none of these.

    >>> micros_of("2026-01-31"), micros_of("2026-01-31T12:00:00+01:00"), micros_of(1769860800000000)
    (1769903999999999, 1769857200000000, 1769860800000000)
    """
    found = _read(moment)
    if found is None or not _LEAST <= found <= _MOST:
        shown = repr(moment)[:80]
        raise BadRequest(
            f"{shown} is not a moment. Give a time (2026-01-31T12:00:00Z), a day (2026-01-31), which counts to its "
            "end, or a revision of the store (microseconds since 1970)."
        )
    return found


def python_time(value: T) -> T | datetime | date | str | int | None:
    """A time or day of numpy as Python has it, a year or a month as text, and None for ``NaT``; others as they are.

    >>> python_time(np.datetime64("2026-01-31")), python_time(np.datetime64("2026-01")), python_time(3)
    (datetime.date(2026, 1, 31), '2026-01', 3)
    """
    if isinstance(value, datetime) and value != value:  # NaT of pandas
        return None
    if not isinstance(value, np.datetime64):
        return value
    if np.isnat(value):
        return None
    unit, _ = np.datetime_data(value.dtype)
    if unit in ("Y", "M"):
        return str(value)
    # Where no calendar has the day, numpy gives a number.
    found: datetime | date | int = value.astype(f"datetime64[{'D' if unit in ('D', 'W') else 'us'}]").item()
    return found


def _read(moment: Moment | None) -> int | None:
    moment = python_time(moment)
    if isinstance(moment, bool):
        return None
    if isinstance(moment, int | np.integer):
        return int(moment) if moment >= _FIRST_REVISION else None
    if isinstance(moment, datetime):
        return to_micros(moment)
    if isinstance(moment, date):
        return to_micros(datetime.combine(moment, time.max, UTC))
    if not isinstance(moment, str):
        return None
    text = moment.strip()
    if text.isascii() and text.isdigit() and 8 < len(text) <= _MOST_DIGITS:
        return _read(int(text))
    with suppress(ValueError):  # a day in any of its forms, such as 20260131
        return _read(date.fromisoformat(text))
    try:
        return to_micros(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None
