"""Whose objects a place holds: a small object there names the store, and the one of its copies that may delete there.

Copies of a store have its name. Two of them at one place would each take the objects of the other for leftovers.
"""

from __future__ import annotations

from io import BytesIO
from typing import NamedTuple

import orjson

from ...errors import BadRequest
from ..store import Store
from .place import Place

CLAIM = "workbench-store.json"
"""The object that says whose objects a place holds."""
NOBODY = ""


class _Claim(NamedTuple):
    """The name of a store, and which of its copies (see `Store.place_id`) may delete objects. ``NOBODY``: backups are
    there, which delete nothing. None: it is from before copies were noted."""

    store: str
    keeper: str | None


def claim(store: Store, place: Place, *, take_over: bool = False) -> None:
    """Note at a place that this store keeps its samples there. ``take_over``: also if another copy of it does so.

    Raises
    ------
    BadRequest
        If it holds the samples of another store, or of another copy of this one.
    """
    mine = _Claim(store.identity(), store.place_id())
    theirs = _noted(place, mine)
    if theirs == mine:
        return
    if theirs.keeper is not None and not take_over:
        raise BadRequest(
            f"{place.text} holds the samples of another copy of this store, or of its backups. If nothing else uses "
            "them, give --take-over; else give this one a place of its own."
        )
    _write(place, mine)


def claim_for_backups(store: Store, place: Place) -> None:
    """Note at a place that backups of this store keep their samples there.

    Raises
    ------
    BadRequest
        If it holds the samples of another store, or a store works there: that one would delete what only backups need.
    """
    theirs = _noted(place, _Claim(store.identity(), NOBODY))
    if theirs.keeper not in (NOBODY, None):
        raise BadRequest(
            f"A store keeps its samples in {place.text}, and deletes there what it does not need itself. Give the "
            "backup a place of its own."
        )


def refuse_taken(store: Store, place: Place) -> None:
    """Refuse to delete objects that another copy of the store has taken over; BadRequest says so."""
    theirs = _read(place)
    mine = _Claim(store.identity(), store.place_id())
    if theirs is not None and theirs not in (mine, mine._replace(keeper=None)):
        raise BadRequest(
            f"Another copy of this store took over its samples in {place.text}, and only that one deletes there. If "
            f"that copy is not in use any more: 'workbench samples move {place.text} --take-over'."
        )


def _noted(place: Place, mine: _Claim) -> _Claim:
    """The claim at a place; what is there of this store, or ``mine`` if there was none."""
    if place.put_new(CLAIM, _bytes(mine)):
        return mine
    theirs = _read(place)
    if theirs is None:
        _write(place, mine)
        return mine
    if theirs.store != mine.store:
        raise BadRequest(
            f"{place.text} holds the samples of another store. Give this one a folder or prefix of its own."
        )
    return theirs


def _read(place: Place) -> _Claim | None:
    """The claim at a place. None if there is none, or an empty one: a process was killed before it wrote it."""
    data = place.whole(CLAIM)
    if not data:
        return None
    try:
        said = orjson.loads(data)
        return _Claim(str(said["store"]), said.get("keeper"))
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        return _Claim("", NOBODY)  # not ours: nobody knows whose


def _write(place: Place, mine: _Claim) -> None:
    data = _bytes(mine)
    place.put(CLAIM, BytesIO(data), len(data))


def _bytes(mine: _Claim) -> bytes:
    return orjson.dumps(mine._asdict())
