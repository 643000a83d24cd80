"""What many files of an ingest say alike: found once, so that the report says it once."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...messages import counted, quoted

if TYPE_CHECKING:
    from .report import FileReport

SEVERAL = 4
"""From so many files on a sentence is said once for all of them."""
LONGEST_NAME = 40
_EXAMPLES = 3
_PLURALS = {"batch": "batches"}
_LEVELS = ("refused", "warning", "repaired", "changed", "", "kept")
"""In the order in which they are shown; what was assumed and created is shown in sum."""
_NAME, _NUMBER = re.compile(r"'[^']*'"), re.compile(r"\d(?:[\d\s.,:e+-]*\d)?")


@dataclass(frozen=True)
class SaidOften:
    """A sentence of several files: its level, the sentence of the first, and the names of all."""

    level: str
    sentence: str
    files: tuple[str, ...]

    @property
    def where(self) -> str:
        """The files, the first of them by name."""
        return quoted(self.files, most=_EXAMPLES).replace("'", "")


class InSum:
    """The sentences of the files of a report, sorted into those of several files and those of one."""

    def __init__(self, files: Sequence[FileReport]) -> None:
        self.names = dict(zip(map(id, files), short_names([file.path for file in files]), strict=True))
        found: dict[tuple[str, str], dict[str, str]] = {}
        for file in files:
            for level, sentence in _sentences(file):
                found.setdefault((level, _alike(level, sentence)), {}).setdefault(self.names[id(file)], sentence)
        self._often = {key for key, said in found.items() if len(said) >= SEVERAL}
        self.often = [
            SaidOften(level, next(iter(said.values())), tuple(said))
            for (level, alike), said in found.items()
            if (level, alike) in self._often and level in _LEVELS
        ]
        self.often.sort(key=lambda one: (_LEVELS.index(one.level), -len(one.files)))

    def own(self, file: FileReport) -> list[tuple[str, str]]:
        """What only this file and few others say: level and sentence, of what was assumed with what settles it."""
        settled = dict(zip(file.assumed, file.assumed_and_settled, strict=True))
        return [
            (level, settled.get(sentence, sentence) if level == "assumed" else sentence)
            for level, sentence in _sentences(file)
            if (level, _alike(level, sentence)) not in self._often
        ]


def _sentences(file: FileReport) -> list[tuple[str, str]]:
    made = [("refused", file.why)] if file.why and file.status == "refused" else []
    made += [("", file.why)] if file.why and file.status != "refused" else []
    made += [("warning", sentence) for sentence in file.odd]
    if file.status == "duplicate":
        return made
    made += [("repaired", sentence) for sentence in file.repaired]
    made += [("changed", sentence) for sentence in file.changed]
    made += [("assumed", sentence) for sentence in file.assumed]
    made += [("created", ", ".join(file.created))] if file.created else []
    return made + ([("kept", ", ".join(f"'{name}'" for name in file.kept))] if file.kept else [])


def _alike(level: str, sentence: str) -> str:
    """A sentence without its names and numbers; names of columns that were kept stay."""
    return sentence if level == "kept" else _NUMBER.sub("0", _NAME.sub("''", sentence))


def created(files: Sequence[FileReport]) -> str:
    """How many records of each kind were made; empty if none."""
    kinds = Counter(name.partition(" '")[0] for file in files for name in file.created)
    return ", ".join(counted(number, kind, _PLURALS.get(kind)) for kind, number in kinds.items())


def short_names(paths: Sequence[str]) -> list[str]:
    """Each file by its name, with as much of its folder as distinguishes it from the others.

    >>> short_names(["in/A/c1/RPT.csv", "in/B/c1/RPT.csv", "in/B/c2/ageing.csv"])
    ['A/c1/RPT.csv', 'B/c1/RPT.csv', 'ageing.csv']
    """
    parts = [tuple(path.replace(os.sep, "/").split("/")) for path in paths]
    ends = Counter(path[-depth:] for path in dict.fromkeys(parts) for depth in range(1, len(path) + 1))
    made = []
    for path in parts:
        depth = next((depth for depth in range(1, len(path) + 1) if ends[path[-depth:]] == 1), len(path))
        made.append("/".join(path[-depth:]) or "/".join(path))
    cut = [name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}" for name in made]
    counts = Counter(cut)
    return [short if counts[short] == 1 else name for short, name in zip(cut, made, strict=True)]
