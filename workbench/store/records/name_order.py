"""The names of all records in their order, in memory: what a search with many hits shows is found without reading them.

A search shows the first few hits of each kind. An index of trigrams gives all hits, in no order, so the more hits there
are the longer it takes to sort them. Here the names of a kind are in one text, one after another in the order in which
hits are shown, for each project on its own: the first hits are found first.
"""

from __future__ import annotations

import sqlite3
import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from ...records import ENTITIES
from ..db.database_file import Host
from ..db.dialect import SqlValue
from ..db.kept import Kept
from .conditions import Condition

MOST_ENTRIES = 250_000
"""A store with more records is searched without this: each name takes about 40 bytes, and 120
while it is read."""
QUICK_ENTRIES = 50_000
"""So many names are looked through in a millisecond, and read in a tenth of a second."""
_END = "\0"
"""After each name. No search text holds it."""
Entry: TypeAlias = tuple[int, int]
"""The number of an entry and its rank: 0 if it is the text, 1 if it begins with it, 2 if it holds it, 3 for words."""
_MOST_SEEN = 64
ENTRIES = "search_entries"
"""Its revision rises when all entries are written again: they have other numbers then, and no record changed."""
_TABLES = (*dict.fromkeys(cls.table for cls in ENTITIES.values()), ENTRIES)
_Asked: TypeAlias = tuple[tuple["Place", ...], str, tuple[SqlValue, ...]]
_Row: TypeAlias = tuple[str | None, str | None, str | None, int, str]


class Place(NamedTuple):
    """What decides who may see an entry; the id is that of a project alone."""

    entity: str
    organization_id: str | None
    project_id: str | None
    id: str | None


@dataclass(frozen=True)
class _Names:
    """The names of one kind in one place, in their order."""

    place: Place
    text: str
    starts: NDArray[np.int64]
    entries: NDArray[np.int64]
    by_number: NDArray[np.intp]
    """The places of the entries in the order of their numbers."""

    def first(self, folded: str, most: int) -> list[Entry]:
        """The first hits by name, at most ``most``."""
        at = bisect_left(range(len(self.entries)), folded, key=self._name)
        found: list[Entry] = []
        while at < len(self.entries) and len(found) < most and (name := self._name(at)).startswith(folded):
            found.append((int(self.entries[at]), 0 if name == folded else 1))
            at += 1
        return found + self._inside(folded, most - len(found))

    def _inside(self, folded: str, most: int) -> list[Entry]:
        """The first names that hold the text and do not begin with it."""
        found: list[Entry] = []
        begin = 0
        while len(found) < most and (begin := self.text.find(folded, begin)) >= 0:
            at = int(np.searchsorted(self.starts, begin, "right")) - 1
            if begin > self.starts[at] and not self.text.startswith(folded, int(self.starts[at])):
                found.append((int(self.entries[at]), 2))
                begin = int(self.starts[at + 1])
            else:
                begin = self._after(folded, at)
        return found

    def _after(self, folded: str, at: int) -> int:
        """Where the first name begins after this one that does not begin with the text: those stand together."""
        rest = range(at, len(self.entries))
        behind = bisect_left(rest, True, key=lambda n: not self._name(n).startswith(folded))
        return int(self.starts[at + behind])

    def among(self, numbers: NDArray[np.int64], most: int) -> list[Entry]:
        """The first of the entries with these numbers."""
        at = np.searchsorted(self.entries, numbers, sorter=self.by_number)
        inside = at < len(self.entries)
        places = self.by_number[at[inside]]
        places = np.sort(places[self.entries[places] == numbers[inside]])
        return [(int(entry), 3) for entry in self.entries[places[:most]]]

    def _name(self, at: int) -> str:
        return self.text[self.starts[at] : self.starts[at + 1] - 1]


class NameOrder:
    """The names of the records of one store, each kind kept until a record of it changes."""

    def __init__(self, store: Host) -> None:
        self._store = store
        self._kept = Kept[list[_Names]](store, len(ENTITIES))
        self._searched: tuple[dict[str, int], int] | None = None
        self._seen_before: OrderedDict[_Asked, list[bool]] = OrderedDict()
        self._lock = threading.Lock()

    def revisions(self) -> dict[str, int]:
        """Those of all kinds, at this moment."""
        return self._store.row_revisions(_TABLES)

    def note(self, revisions: dict[str, int], last: int) -> None:
        """Note that a search found the store so, with entries up to the number ``last``."""
        self._searched = revisions, last

    def is_settled(self, revisions: dict[str, int]) -> bool:
        """Whether nothing changed since the last search, and the names are so few that it is worth to have them: what
        is made of them for this search serves the next ones."""
        if self._searched is None or self._store.is_changing:
            return False
        before, last = self._searched
        return before == revisions and last <= min(QUICK_ENTRIES, MOST_ENTRIES)

    def first(
        self,
        db: sqlite3.Connection,
        revisions: dict[str, int],
        folded: str,
        words: Condition | None,
        entities: Iterable[str],
        reach: Condition,
        most: int,
    ) -> list[Entry]:
        """The first ``most`` hits of each kind in each place, by name and by words, and maybe hits after them.

        ``words`` is a query of the entries that have the words. ``reach`` is the condition on an entry ``e`` that
        says who may see it.
        """
        wanted = [(one, (ENTITIES[one].table, ENTRIES), partial(_read_all, db, one)) for one in entities]
        names = [one for held in self._kept.get_all(wanted, revisions) for one in held]
        clause, params = reach
        seen = self._seen(db, tuple(one.place for one in names), clause, tuple(params))
        numbers = None if words is None else _numbers(db, words)
        found: list[Entry] = []
        for one in (name for name, may_see in zip(names, seen, strict=True) if may_see):
            found += one.first(folded, most)
            found += [] if numbers is None or not len(numbers) else one.among(numbers, most)
        return found

    def _seen(
        self, db: sqlite3.Connection, places: tuple[Place, ...], clause: str, params: tuple[SqlValue, ...]
    ) -> list[bool]:
        """As `_within`, whose answer depends on nothing else."""
        asked = places, clause, params
        with self._lock:
            seen = self._seen_before.get(asked)
        if seen is None:
            seen = _within(db, places, (clause, [*params]))
            with self._lock:
                self._seen_before[asked] = seen
                if len(self._seen_before) > _MOST_SEEN:
                    self._seen_before.popitem(last=False)
        return seen


def _read_all(db: sqlite3.Connection, entity: str) -> list[_Names]:
    return list(_read(db, entity))


def _read(db: sqlite3.Connection, entity: str) -> Iterator[_Names]:
    own = "id" if entity == "project" else "NULL"
    rows: Iterator[_Row] = db.execute(
        f"SELECT organization_id, project_id, {own}, entry, folded FROM search_entries WHERE entity = ? "  # noqa: S608
        "ORDER BY 1, 2, 3, folded, created_at, id",
        [entity],
    )
    for place, held in groupby(rows, key=lambda row: row[:3]):
        folded, numbers = [], []
        for *_, number, name in held:
            numbers.append(number)
            folded.append(name)
        starts = np.cumsum([0, *(len(name) + 1 for name in folded)])
        entries = np.array(numbers, dtype=np.int64)
        yield _Names(Place(entity, *place), _END.join([*folded, ""]), starts, entries, np.argsort(entries))


def _within(db: sqlite3.Connection, places: Sequence[Place], reach: Condition) -> list[bool]:
    """Which of these places a caller may see."""
    clause, params = reach
    columns = ", ".join(f"json_extract(value, '$[{n}]') AS {name}" for n, name in enumerate(Place._fields))
    listed = f"SELECT CAST(key AS INTEGER) AS number, {columns} FROM json_each(?)"  # noqa: S608
    query = f"WITH e AS ({listed}) SELECT number FROM e WHERE {clause}"  # noqa: S608
    seen = {number for (number,) in db.execute(query, [orjson.dumps([*map(list, places)]).decode(), *params])}
    return [number in seen for number in range(len(places))]


def _numbers(db: sqlite3.Connection, words: Condition) -> NDArray[np.int64]:
    """The numbers of the entries that the index of words finds."""
    found, params = words
    query = f"SELECT group_concat(CAST(entry AS TEXT), ' ') FROM ({found})"  # noqa: S608
    (entries,) = db.execute(query, params).fetchone()
    return np.fromstring(entries or "", dtype=np.int64, sep=" ")
