"""Deletes objects that nobody needs any more: replaced and deleted ones, and what killed writers left.

Nothing goes before a day has passed: since it was replaced, for a reader that began before that; since it was written,
for a writer that has not named it yet. An object without a row is first noted as one to delete, in a transaction, and a
writer that comes to name it sees this note and writes another one.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ...errors import BadRequest
from ..store import Store
from . import stored
from .claims import refuse_taken
from .place import Listed, Place

KEPT = timedelta(hours=24)
_NAME = re.compile(r"\d{6,}/(\d+)-\d+-[0-9a-f]{16}(\.[0-9a-f]{8}\.partial)?")


@dataclass(frozen=True)
class Surplus:
    """Objects that nobody needs: those that can be deleted now, and those that must stay for a while."""

    place: str
    names: tuple[str, ...]
    size: int
    kept: int
    kept_size: int


def surplus(store: Store, keep: timedelta = KEPT) -> Surplus:
    """What `collect` would delete now. ``keep`` is how long nobody must have needed an object, at least a day.

    Raises
    ------
    BadRequest
        If the store keeps its samples in its file, or is a copy of the one that they belong to.
    PlaceAway
        If the place cannot be listed.
    """
    place = _place(store)
    found, _ = _found(store, place, keep)
    return found


def collect(store: Store, keep: timedelta = KEPT) -> Surplus:
    """Delete what nobody has needed for ``keep``, at least a day; returns what was deleted. Errors as `surplus`."""
    place = _place(store)
    found, orphans = _found(store, place, keep)
    now = store.latest()
    with store.transaction() as db:
        named = {row.name for row in stored.every(db)}
        doomed = [name for name in found.names if name not in named]
        stored.condemn(db, [name for name in orphans if name not in named], now)
    place.delete(doomed)
    with store.transaction() as db:
        stored.forget(db, doomed)
    return found


def _place(store: Store) -> Place:
    with store.snapshot() as db:
        setting = stored.setting(db)
    if setting is None:
        raise BadRequest("This store keeps its samples in its file, so there are no objects to delete.")
    if setting.keeper != store.place_id():
        raise BadRequest(
            f"This store is a copy of the one that keeps its samples at {setting.place}, or was moved; a copy deletes "
            f"nothing there. If no other copy is in use: 'workbench samples move {setting.place} --take-over'."
        )
    place = store.objects.opened(setting.place)
    refuse_taken(store, place)
    return place


def _found(store: Store, place: Place, keep: timedelta) -> tuple[Surplus, list[str]]:
    """What can be deleted and what not yet, and those names among the first that no row ever had."""
    if keep < KEPT:
        raise BadRequest("An object stays for at least 24 hours: a reader or a writer may still need it.")
    # Listed before the rows are read: an object that is named meanwhile then has its row.
    listed = {one.name: one for one in place.listed() if _NAME.fullmatch(one.name)}
    with store.snapshot() as db:
        named = {row.name for row in stored.every(db)}
        left = {one.name: one for one in stored.leftovers(db) if one.name not in named}
        busy = {id for id, held, beat in stored.waiting(db) if held is not None and store.is_held(held, beat)}
    border = datetime.now(UTC) - keep
    border_micros = time.time_ns() // 1000 - keep // timedelta(microseconds=1)
    going = [one.name for one in left.values() if one.since <= border_micros]
    staying = [one.name for one in left.values() if one.since > border_micros]
    orphans = []
    for name, one in listed.items():
        if name in named or name in left:
            continue
        if one.modified <= border and _series(name) not in busy:
            orphans.append(name)
        else:
            staying.append(name)
    names = tuple(sorted([*going, *orphans]))
    return Surplus(place.text, names, _size(names, listed), len(staying), _size(staying, listed)), orphans


def _series(name: str) -> int:
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else 0


def _size(names: tuple[str, ...] | list[str], listed: dict[str, Listed]) -> int:
    return sum(listed[name].size for name in names if name in listed)
