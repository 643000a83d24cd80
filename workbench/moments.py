"""A moment as people name it: a time, a day, or a revision of the store."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import TypeAlias

from .errors import BadRequest
from .table import to_micros

Moment: TypeAlias = datetime | date | str | int
"""A time; a day, which counts to its end; either as ISO text; or a revision of the store (microseconds since 1970)."""
_LEAST, _MOST = 0, to_micros(datetime.max.replace(tzinfo=UTC))
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


def _read(moment: Moment) -> int | None:
    if isinstance(moment, bool):
        return None
    if isinstance(moment, int):
        return moment if moment >= _FIRST_REVISION else None
    if isinstance(moment, datetime):
        return to_micros(moment)
    if isinstance(moment, date):
        return to_micros(datetime.combine(moment, time.max, UTC))
    if not isinstance(moment, str):
        return None
    text = moment.strip()
    if text.isascii() and text.isdigit() and len(text) > 8:
        return _read(int(text))
    with suppress(ValueError):  # a day in any of its forms, such as 20260131
        return _read(date.fromisoformat(text))
    try:
        return to_micros(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None
