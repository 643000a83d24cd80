"""Names that are too long for a legend, cut in the middle: what makes them differ is often at their end."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

CUT = "…"
FEWEST = 5
"""Letters that a name keeps at least."""


def short_names(names: Iterable[str], most: int = 28) -> dict[str, str]:
    """Each name with a text of at most ``most`` letters, cut in the middle; names that differ stay different.

    Of names that would be cut to the same text, what makes them differ is kept; where that is not enough, more letters.

    Parameters
    ----------
    names : in any order; one that is there twice counts once.
    most : letters of a text, with the sign ``…`` for what is left out; 5 or more.

    Raises
    ------
    ValueError
        If ``most`` is less than 5.

    >>> short_names(["cell-A of the first batch at 25 degC", "B"], 15)
    {'cell-A of the first batch at 25 degC': 'cell-A …25 degC', 'B': 'B'}
    """
    if most < FEWEST:
        raise ValueError(f"A short name has {FEWEST} letters or more; most is {most!r}.")
    wanted = list(dict.fromkeys(names))
    found = {name: _cut(name, most) for name in wanted}
    for alike in _shared(found):
        found |= _by_difference(alike, most)
    while shared := _shared(found):
        for name in (name for alike in shared for name in alike):
            found[name] = _cut(name, len(found[name]) + 1)
    return found


def _cut(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    head = (most - 1) // 2
    return f"{name[:head]}{CUT}{name[len(name) - (most - 1 - head) :]}"


def _by_difference(names: list[str], most: int) -> dict[str, str]:
    """Texts with what makes these names differ, between what they share at both ends."""
    before = _alike(names)
    after = _alike([name[before:][::-1] for name in names])
    found = {}
    for name in names:
        own = name[before : len(name) - after]
        room = most - len(own) - 2 * len(CUT)
        if room < 0:
            return {}
        head, tail = min(room // 2, before), min(room - room // 2, after)
        left, right = CUT if head < before else "", CUT if tail < after else ""
        found[name] = f"{name[:head]}{left}{own}{right}{name[len(name) - tail :] if tail else ''}"
    return found


def _alike(names: list[str]) -> int:
    """How many letters all names begin with."""
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False)))


def _shared(found: dict[str, str]) -> list[list[str]]:
    """The groups of names that have one text; of each those that are cut."""
    by_text: dict[str, list[str]] = {}
    for name, text in found.items():
        by_text.setdefault(text, []).append(name)
    groups = [names for names in by_text.values() if len(names) > 1]
    return [[name for name in names if found[name] != name] for names in groups]
