"""What a store knows of its objects, without asking their place."""

from __future__ import annotations

from typing import NamedTuple

from ..store import Store
from . import stored
from .place import IN_FILE


class Status(NamedTuple):
    """Where the samples are kept; how many series have an object, and their bytes; how many wait to be moved; how many
    objects nobody needs any more, and their bytes; whether this store may write and delete there."""

    place: str
    series: int
    size: int
    waiting: int
    leftovers: int
    leftover_size: int
    may_write: bool


def status(store: Store) -> Status:
    """What the store knows now."""
    with store.snapshot() as db:
        setting = stored.setting(db)
        series, size = db.execute("select count(*), coalesce(sum(size), 0) from series_objects").fetchone()
        (waiting,) = db.execute("select count(*) from series_waiting").fetchone()
        left = stored.leftovers(db)
        may_write = setting is None or store.objects.is_keeper(db)
    place = IN_FILE if setting is None else setting.place
    return Status(place, series, size, waiting, len(left), sum(one.size for one in left), may_write)
