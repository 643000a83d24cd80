"""Sentences about what older rules made, for ``workbench verify`` and the catalog."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import orjson

from ... import readers
from ...messages import counted, quoted
from ...readers.installed import installed
from ...table import Plain
from ..cache.cache import Cache
from ..db.database_file import Host
from ..records import search
from . import derived
from .derived import Outdated

KEPT = "reader_rules"
"""The kind of their entry in the cache."""


def notes(store: Host, ids: Iterable[str] | None = None, cache: Cache | None = None) -> list[str]:
    """Sentences about what older rules made, of these measurements or of all; empty if all is by today's rules.

    With a ``cache`` the rules of readers are taken from there, where another process has put them.
    """
    wanted = None if ids is None else [*ids]
    made = [
        _note(dataset, rule, [one.name for one in found])
        for (dataset, rule), found in sorted(_by_rule(derived.outdated(store, wanted)).items())
    ]
    if derived.has_read(store, wanted):
        made += _read_before(store, wanted, cache)
    if wanted is None and (rule := derived.search_rule(store)) < search.RULE:
        made.append(f"The search is by rule {rule}, today's is {search.RULE}: run 'workbench recompute'.")
    return made


def _read_before(store: Host, ids: Sequence[str] | None, cache: Cache | None) -> list[str]:
    rules = _rules(cache)
    read: dict[tuple[str, int], list[str]] = {}
    for one in derived.read_before(store, rules, ids):
        read.setdefault((one.format, one.rule), []).append(one.name)
    return [
        f"{counted(len(names), 'measurement')} of format '{format}' {'was' if len(names) == 1 else 'were'} read by "
        f"rule {rule} of its reader, which has rule {rules[format]} now: {quoted(names)}. To read a file again, "
        f"run 'workbench ingest --again FILE'."
        for (format, rule), names in sorted(read.items())
    ]


def _rules(cache: Cache | None) -> dict[str, int]:
    """Format -> its rule today. All formats take half a second to import, so that a new process asks the cache first;
    one that has them asks them."""
    if cache is None or "workbench.readers.recognition" in sys.modules:
        return readers.rules_of_readers()

    def make() -> tuple[bytes, dict[str, Plain]]:
        return orjson.dumps(readers.rules_of_readers()), {}

    rules: dict[str, int] = orjson.loads(cache.get_or_make(KEPT, installed(), make, soon=True).bytes)
    return rules


def _by_rule(found: Iterable[Outdated]) -> dict[tuple[str, int], list[Outdated]]:
    made: dict[tuple[str, int], list[Outdated]] = {}
    for one in found:
        for key in one.datasets.items():
            made.setdefault(key, []).append(one)
    return made


def _note(dataset: str, rule: int, names: Sequence[str]) -> str:
    return (
        f"The {dataset} of {counted(len(names), 'measurement')} are by rule {rule}, today's is "
        f"{derived.today(dataset)}: {quoted(names)}. Run 'workbench recompute'."
    )
