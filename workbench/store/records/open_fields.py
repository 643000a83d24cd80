"""Open objects of records: their free keys under dotted names, and the kind of the values under each name."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from ...errors import Damaged, Invalid, Problem
from ...messages import with_article
from ...records import Record
from ...table import Column, JsonObject, Kind, Plain, kind_of
from ..scope import Scope
from .tables import json_of, reach

Path = tuple[str, ...]


def split_name(name: str) -> Path:
    r"""The keys of a dotted name; ``\.`` is a dot inside a key.

    >>> split_name(r"properties.tab\.width.value")
    ('properties', 'tab.width', 'value')
    """
    keys, key, place = [], "", 0
    while place < len(name):
        if name.startswith("\\.", place):
            key, place = key + ".", place + 2
        elif name[place] == ".":
            keys.append(key)
            key, place = "", place + 1
        else:
            key, place = key + name[place], place + 1
    return (*keys, key)


def join_name(path: Sequence[str]) -> str:
    """The dotted name of these keys."""
    return ".".join(key.replace(".", "\\.") for key in path)


def descend(value: Plain, path: Sequence[str]) -> Plain:
    """The value under these keys; None if there is none."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def flat(value: Plain) -> Plain:
    """A value for a row: an array of texts becomes one text."""
    return ", ".join(value) if isinstance(value, list) else value


def beside_floats(values: Sequence[Plain]) -> Column:
    """A column of several types in which whole numbers are floats, as far as 64 bits go; those that are rounded are
    compared as they were."""
    shown = [float(value) if _is_whole(value) else value for value in values]
    made = Column.from_python(shown, "mixed")
    if not any(_is_whole(value) and one != value for value, one in zip(values, shown, strict=True)):
        return made
    exact = np.empty(len(values), object)
    exact[:] = values
    return replace(made, exact=exact)


def _is_whole(value: Plain) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


@dataclass
class Seen:
    """The values of the records in scope under one name."""

    kinds: set[Kind] = field(default_factory=set)
    filled: int = 0
    under: dict[str, None] = field(default_factory=dict)
    is_object: bool = False
    is_array: bool = False
    examples: dict[Plain, None] = field(default_factory=dict)

    def add(self, value: Plain, most_examples: int = 0, times: int = 1) -> None:
        """Add a value that so many records have; None counts as empty."""
        if value is None:
            return
        self.filled += times
        if isinstance(value, dict):
            self.is_object = True
            self.under.update(dict.fromkeys(value))
            return
        if isinstance(value, list):
            if not all(isinstance(item, str) for item in value):
                self.is_array = True
                return
            value = flat(value)
        self.kinds.add(kind_of([value]))
        if len(self.examples) < most_examples:
            self.examples.setdefault(value)

    @property
    def kind(self) -> Kind:
        """The narrowest kind of all values; ``null`` if there are none."""
        return joined_kind(self.kinds)


def joined_kind(kinds: Iterable[Kind]) -> Kind:
    """The narrowest kind for values of all these kinds."""
    found = {kind for kind in kinds if kind != "null"}
    if not found:
        return "null"
    if found == {"integer", "number"}:
        return "number"
    return found.pop() if len(found) == 1 else "mixed"


def objects(
    db: sqlite3.Connection, cls: type[Record], column: str, scope: Scope
) -> Iterator[tuple[JsonObject, int]]:
    """The different values of this open object in the records in scope, if they are not empty, each with the number of
    records that have it; in the order in which the oldest records have them."""
    clause, params = reach(cls, scope)
    rows = db.execute(
        f'SELECT t."{column}" FROM "{cls.table}" AS t WHERE {clause} AND t."{column}" <> \'{{}}\' '  # noqa: S608
        "ORDER BY t.created_at, t.id",
        params,
    )
    for text, times in Counter(chain.from_iterable(rows)).items():
        value = json_of(text)
        if not isinstance(value, dict):
            raise Damaged(
                f"The '{column}' of {with_article(cls.label)} are not a JSON object any more. "
                "Run 'workbench verify', which names the record."
            )
        yield value, times


def seen_at(db: sqlite3.Connection, cls: type[Record], path: Path, scope: Scope) -> Seen:
    """The values of the records in scope under one dotted name; its first key is the open object."""
    seen = Seen()
    for value, times in objects(db, cls, path[0], scope):
        seen.add(descend(value, path[1:]), times=times)
    return seen


def refuse_branches(name: str, path: Path, seen: Seen, loc: tuple[str | int, ...]) -> None:
    """Refuse a name that does not end at a value.

    Raises
    ------
    Invalid
        If it ends at an object (the message lists the names under it), or at an array of other than texts.
    """
    if seen.is_object:
        under = ", ".join(f"'{join_name((*path, key))}'" for key in list(seen.under)[:20])
        more = f" and {len(seen.under) - 20} more" if len(seen.under) > 20 else ""
        listed = f" The names under it are {under}{more}." if under else " There is nothing under it."
        raise Invalid(Problem(loc, f"'{name}' is an object, not a value.{listed}"))
    if seen.is_array:
        raise Invalid(Problem(loc, f"'{name}' is an array; only arrays of texts can be shown in a row."))


def census(
    db: sqlite3.Connection, cls: type[Record], column: str, scope: Scope, examples: int
) -> dict[Path, Seen]:
    """Every name under an open object that has a value in a record, in order of first appearance."""
    found: dict[Path, Seen] = {}
    for value, times in objects(db, cls, column, scope):
        _walk(value, (column,), found, examples, times)
    return {path: seen for path, seen in found.items() if seen.kinds}


def _walk(value: JsonObject, path: Path, found: dict[Path, Seen], examples: int, times: int) -> None:
    for key, item in value.items():
        here = (*path, key)
        seen = found.get(here)
        if seen is None:
            seen = found[here] = Seen()
        seen.add(item, examples, times)
        if isinstance(item, dict):
            _walk(item, here, found, examples, times)
