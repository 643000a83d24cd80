"""Whose objects a place holds: a small object there names the store, and the one of its copies that may delete there.

Copies of a store have its name. Two of them at one place would each take the objects of the other for leftovers.
"""

from __future__ import annotations

import re
import zlib
from io import BytesIO
from typing import NamedTuple, Protocol

import orjson

from ...errors import BadRequest
from .place import Place

CLAIM = "workbench-store.json"
"""The object that says whose objects a place holds."""
NOBODY = ""


class Claimer(Protocol):
    """A store, by its name and which of its copies it is."""

    def identity(self) -> str: ...

    def place_id(self) -> str: ...


class _Claim(NamedTuple):
    """The name of a store, and which of its copies (see `Store.place_id`) may delete objects. ``NOBODY``: backups are
    there, which delete nothing. None: it is from before copies were noted."""

    store: str
    keeper: str | None


def claim(store: Claimer, place: Place, *, take_over: bool = False) -> None:
    """Note at a place that this store keeps its samples there. ``take_over``: also if another copy of it does so.

    Raises
    ------
    BadRequest
        If it holds the samples of another store, or of another copy of this one.
    """
    mine = _Claim(store.identity(), store.place_id())
    theirs = _noted(place, mine)
    if theirs == mine and place.whole(CLAIM) == _bytes(mine):
        return
    if theirs != mine and theirs.keeper is not None and not take_over:
        raise BadRequest(
            f"{place.text} holds the samples of another copy of this store, or of its backups. If nothing else uses "
            "them, give --take-over; else give this one a place of its own."
        )
    _write(place, mine)


def claim_for_backups(store: Claimer, place: Place) -> None:
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


def refuse_taken(store: Claimer, place: Place) -> None:
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
    return _claim_of(data) or _Claim("", NOBODY)  # not ours: nobody knows whose


def _claim_of(data: bytes) -> _Claim | None:
    """The claim in these bytes; None if they are not a claim."""
    try:
        said = orjson.loads(data)
        return _Claim(str(said["store"]), said.get("keeper"))
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        return None


def check(store: Claimer, place: Place, *, is_keeper: bool) -> list[str]:
    """What is wrong with the claim at the place of a store, as sentences. Copies of a store look at it too, and one of
    them may have taken it over."""
    data = place.whole(CLAIM)
    if not data:
        problem = "is missing or empty" if is_keeper else ""
    elif (found := _claim_of(data)) is None or not _is_intact(data, found):
        problem = "is damaged"
    else:
        problem = "" if found.store == store.identity() else "names another store, or is damaged"
    if not problem:
        return []
    return [
        f"The file '{CLAIM}' in {place.text}, which says whose samples these are, {problem}. If nothing else keeps "
        f"samples there, delete it and run 'workbench samples move {place.text}', which writes it again."
    ]


def _is_intact(data: bytes, found: _Claim) -> bool:
    """Whether a claim is as it was written. Older versions wrote no checksum: of theirs only the form is known."""
    crc = orjson.loads(data).get("crc")
    if crc is not None:
        return bool(crc == _crc(found))
    return found.keeper in (None, NOBODY) or re.fullmatch("[0-9a-f]{64}", str(found.keeper)) is not None


def _write(place: Place, mine: _Claim) -> None:
    data = _bytes(mine)
    place.put(CLAIM, BytesIO(data), len(data))


def _bytes(mine: _Claim) -> bytes:
    return orjson.dumps({**mine._asdict(), "crc": _crc(mine)})


def _crc(of: _Claim) -> int:
    return zlib.crc32(orjson.dumps([*of]))
