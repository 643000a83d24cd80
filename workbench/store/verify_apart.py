"""The check of a whole store where work fans out: each worker reads a part of the samples and files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from ..fan_out import FanOut, own_task
from .reached import Reached
from .store import Store

Key = TypeVar("Key", str, tuple[str, str])
_SERIES = 16
_FILES = 16
"""How many tables of samples, and files, are one task."""


def verify(store: Store, fan_out: FanOut) -> list[str]:
    """As `Store.verify`: the same sentences in the same order. What is deleted meanwhile is left out."""
    if not fan_out.leaves:
        return store.verify()
    reached = Reached(store)
    return store.verify(
        [
            partial(_of_all, fan_out, wrong_series, reached, store.series.keys, _SERIES),
            store.series.stray,
            partial(_of_all, fan_out, wrong_files, reached, store.blobs.names, _FILES),
        ]
    )


def _of_all(
    fan_out: FanOut,
    check: Callable[[Reached, Sequence[Key]], list[str]],
    reached: Reached,
    listed: Callable[[], Sequence[Key]],
    size: int,
) -> list[str]:
    found = listed()
    parts = [found[start : start + size] for start in range(0, len(found), size)]
    findings: list[str] = []
    for _, part in fan_out.results(check, parts, lambda part: (reached, part)):
        findings += part()
    return findings


@own_task
def wrong_series(reached: Reached, keys: Sequence[tuple[str, str]]) -> list[str]:
    """What is wrong with some tables of samples, as sentences."""
    series = reached.store.series
    return reached.store.found_by(lambda: series.wrong(_there(keys, series.keys())))


@own_task
def wrong_files(reached: Reached, names: Sequence[str]) -> list[str]:
    """What is wrong with some files, as sentences."""
    blobs = reached.store.blobs
    return reached.store.found_by(lambda: blobs.wrong(_there(names, blobs.names())))


def _there(wanted: Sequence[Key], found: Sequence[Key]) -> list[Key]:
    """Those that were not deleted meanwhile."""
    known = set(found)
    return [one for one in wanted if one in known]
