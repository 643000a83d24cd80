"""How many tests of a scope share a protocol, a tag or a part of their names: what kinds of tests there are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ...records.catalog import CatalogCount
from ...table import Plain
from ..scope import Scope
from .rows import Rows

MOST = 20
"""Values of each column that are counted; the most frequent ones."""
FIELDS = (
    "name",
    "instance_name",
    "batch_name",
    "specification_name",
    "tags",
    "protocol.name",
    "measurement_type",
)
_BETWEEN = re.compile(r"[\s_\-.,;:()\[\]/+]+")
_NUMBER_BEHIND = re.compile(r"\d+$")
_LEAST_SHARED = 2


def counts(rows: Rows, scope: Scope) -> list[CatalogCount]:
    """The types, protocols, tags and shared parts of names of the measurements in scope, the most frequent first."""
    table = rows.plan_list("measurements", scope, {}, list(FIELDS), None).table
    held = {name: table[name].tolist() for name in FIELDS}
    parts = list(map(_parts, held["name"], held["instance_name"], held["batch_name"], held["specification_name"]))
    return [
        *_counted("measurement_type", ([value] for value in held["measurement_type"])),
        *_counted("protocol.name", ([value] for value in held["protocol.name"])),
        *_counted("tags", map(_tags, held["tags"])),
        *_counted("name", _of_one_spelling(parts), least=min(_LEAST_SHARED, table.n)),
    ]


def _counted(column: str, values: Iterable[Iterable[Plain]], least: int = 1) -> Iterator[CatalogCount]:
    found = Counter(value for several in values for value in several if isinstance(value, str) and value)
    for value, records in sorted(found.items(), key=lambda item: (-item[1], item[0]))[:MOST]:
        if records >= least:
            yield CatalogCount(column, value, records)


def _of_one_spelling(parts: Sequence[Sequence[str]]) -> list[list[str]]:
    """The words in the spelling that most have: ``Cycling`` and ``cycling`` are one, as they are for `nameContains`."""
    found = Counter(word for words in parts for word in words)
    spelt: dict[str, str] = {}
    for word, _ in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        spelt.setdefault(word.casefold(), word)
    return [list(dict.fromkeys(spelt[word.casefold()] for word in words)) for words in parts]


def _tags(text: Plain) -> list[str]:
    """The tags of one measurement, which lists give as one text joined by commas."""
    return list(dict.fromkeys(part.strip() for part in text.split(","))) if isinstance(text, str) else []


def _parts(name: Plain, *others: Plain) -> list[str]:
    """The words of a name without a number behind them, and without what names its cell, batch or specification."""
    known = {word.casefold() for other in others if isinstance(other, str) for word in _BETWEEN.split(other)}
    words = (
        [word for word in _BETWEEN.split(name) if word.casefold() not in known] if isinstance(name, str) else []
    )
    bare = (_NUMBER_BEHIND.sub("", word) for word in words)
    return list(dict.fromkeys(word for word in bare if len(word) > 1))
