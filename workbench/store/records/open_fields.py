"""Open objects: the free keys inside records, named by dots, and what kind of value each name holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...errors import Damaged, Invalid, Problem
from ...records import Record
from ...table import JsonObject, Kind, Plain, kind_of
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
    """What lies under these keys; None where they lead nowhere."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def flat(value: Plain) -> Plain:
    """A value as a row has it: an array of texts is one text."""
    return ", ".join(value) if isinstance(value, list) else value


@dataclass
class Seen:
    """What the records in reach hold under one name."""

    kinds: set[Kind] = field(default_factory=set)
    filled: int = 0
    under: dict[str, None] = field(default_factory=dict)
    is_object: bool = False
    is_array: bool = False
    examples: dict[Plain, None] = field(default_factory=dict)

    def add(self, value: Plain, most_examples: int = 0) -> None:
        """Take in one value; None fills nothing."""
        if value is None:
            return
        self.filled += 1
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
        """The narrowest kind that holds all values; ``null`` where there is none."""
        return joined_kind(self.kinds)


def joined_kind(kinds: Iterable[Kind]) -> Kind:
    """The narrowest kind that holds values of all these kinds."""
    found = {kind for kind in kinds if kind != "null"}
    if not found:
        return "null"
    if found == {"integer", "number"}:
        return "number"
    return found.pop() if len(found) == 1 else "mixed"


def objects(db: sqlite3.Connection, cls: type[Record], column: str, scope: Scope) -> Iterator[JsonObject]:
    """This open object of every record in reach that has anything in it, the oldest first."""
    clause, params = reach(cls, scope)
    rows = db.execute(
        f'SELECT t."{column}" FROM "{cls.table}" AS t WHERE {clause} AND t."{column}" <> \'{{}}\' '  # noqa: S608
        "ORDER BY t.created_at, t.id",
        params,
    )
    for (text,) in rows:
        value = json_of(text)
        if not isinstance(value, dict):
            raise Damaged(f"The {column} of a {cls.label} are no object any more; run 'workbench verify'.")
        yield value


def seen_at(db: sqlite3.Connection, cls: type[Record], path: Path, scope: Scope) -> Seen:
    """What the records in reach hold under one dotted name, whose first key is the open object."""
    seen = Seen()
    for value in objects(db, cls, path[0], scope):
        seen.add(descend(value, path[1:]))
    return seen


def refuse_branches(name: str, path: Path, seen: Seen, loc: tuple[str | int, ...]) -> None:
    """A name must end at a value.

    Raises
    ------
    Invalid
        If it ends at an object, with the names under it, or at an array of anything but texts.
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
    """Every name under an open object that ends at a value in some record, in order of first appearance."""
    found: dict[Path, Seen] = {}
    for value in objects(db, cls, column, scope):
        _walk(value, (column,), found, examples)
    return {path: seen for path, seen in found.items() if seen.kinds}


def _walk(value: JsonObject, path: Path, found: dict[Path, Seen], examples: int) -> None:
    for key, item in value.items():
        here = (*path, key)
        found.setdefault(here, Seen()).add(item, examples)
        if isinstance(item, dict):
            _walk(item, here, found, examples)
