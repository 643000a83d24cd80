"""Circles in what depends on what."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def circle(start: str, depends: Callable[[str], Iterable[str]]) -> list[str]:
    """The shortest way from ``start`` over what it depends on back to it, both ends included; empty if none.

    >>> circle("a", {"a": ["b"], "b": ["a", "c"], "c": []}.__getitem__)
    ['a', 'b', 'a']
    """
    ways = [[start]]
    seen: set[str] = set()
    for way in ways:
        for found in depends(way[-1]):
            if found == start:
                return [*way, start]
            if found not in seen:
                seen.add(found)
                ways.append([*way, found])
    return []
