"""Sentences about what older rules made, for ``workbench verify`` and the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...messages import counted, quoted
from ..db.database_file import Host
from ..records import search
from . import derived
from .derived import Outdated


def notes(store: Host, ids: Iterable[str] | None = None) -> list[str]:
    """Sentences about what older rules made, of these measurements or of all; empty if all is by today's rules."""
    wanted = None if ids is None else [*ids]
    made = [
        _note(dataset, rule, [one.name for one in found])
        for (dataset, rule), found in sorted(_by_rule(derived.outdated(store, wanted)).items())
    ]
    if derived.has_read(store, wanted):
        made += _read_before(store, wanted)
    if wanted is None and (rule := derived.search_rule(store)) < search.RULE:
        made.append(f"The search is by rule {rule}, today's is {search.RULE}: run 'workbench recompute'.")
    return made


def _read_before(store: Host, ids: Sequence[str] | None) -> list[str]:
    from ...readers import rule_of, rules_of_readers  # all formats, which take half a second to import

    read: dict[tuple[str, int], list[str]] = {}
    for one in derived.read_before(store, rules_of_readers(), ids):
        read.setdefault((one.format, one.rule), []).append(one.name)
    return [
        f"{counted(len(names), 'measurement')} of format '{format}' {'was' if len(names) == 1 else 'were'} read by "
        f"rule {rule} of its reader, which has rule {rule_of(format)} now: {quoted(names)}. To read a file again, "
        f"run 'workbench ingest --again FILE'."
        for (format, rule), names in sorted(read.items())
    ]


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
