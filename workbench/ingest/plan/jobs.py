"""What is read at once: a file, or the parts of one test in their order, with what is said of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...messages import counted
from .labels import Labels
from .name_rule import NameRule
from .paths import shown, stem_of
from .read_options import ReadOptions
from .sheet import Sheet

_DIGITS = re.compile(r"(\d+)")


@dataclass
class Job:
    """One measurement to be: its files, labels and options. ``before`` is the id of the measurement that the same bytes
    became when they were read otherwise; ``called`` what the report is to call it, where not by its paths."""

    paths: tuple[Path, ...]
    options: ReadOptions
    labels: Labels = field(default_factory=Labels)
    assumed: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    before: str | None = None
    called: str | None = None

    @property
    def name(self) -> str:
        """The path in the report; of several parts, of all."""
        if self.called is not None:
            return self.called
        first = shown(self.paths[0])
        return first if len(self.paths) == 1 else f"{first} and {counted(len(self.paths) - 1, 'more part')}"

    @property
    def stem(self) -> str:
        """What cell and measurement are called where nothing is said: after the file, or the joined test."""
        return (
            stem_of(self.paths[0]) if len(self.paths) == 1 else self.labels.measurement or stem_of(self.paths[0])
        )

    @property
    def size(self) -> int:
        """Bytes to be read."""
        return sum(path.stat().st_size for path in self.paths if path.is_file())


def jobs_of(
    paths: Iterable[Path], options: ReadOptions, sheet: Sheet | None = None, rule: NameRule | None = None
) -> list[Job]:
    """The files with what is said of them, in their order; parts of one test stand together at the first."""
    jobs: list[Job] = []
    parts: dict[tuple[str | None, ...], list[Job]] = {}
    for path in paths:
        job = _job(path, options, sheet, rule)
        key = (job.labels.specification, job.labels.instance, job.labels.measurement)
        if job.labels.part is None:
            jobs.append(job)
        elif job.labels.measurement is None:
            job.odd.append(
                "The file has a part number but no test, so it was stored by itself. "
                "Give its test too (a column 'test')."
            )
            jobs.append(job)
        elif key in parts:
            parts[key].append(job)
        else:
            parts[key] = [job]
            jobs.append(job)
    joined = {id(group[0]): _joined(group) for group in parts.values()}
    return [joined.get(id(job), job) for job in jobs]


def _job(path: Path, options: ReadOptions, sheet: Sheet | None, rule: NameRule | None) -> Job:
    job = Job((path,), options)
    if rule is not None:
        named, remark = rule.labels(path)
        job.labels = named or Labels()
        job.assumed += [remark] if remark else []
        if named is None:
            job.odd.append(f"The file name does not match the name rule '{rule.text}'.")
    if sheet is not None:
        listed, remarks = sheet.labels(path)
        job.odd += remarks
        if listed is None:
            job.odd.append("No row of the sheet matches this file.")
        else:
            job.labels = listed.over(job.labels)
    if job.labels.reading:
        job.options = options.with_reading(job.labels.reading)
    return job


def _joined(group: Sequence[Job]) -> Job:
    """One job of several parts, in the order of their numbers."""
    group = sorted(group, key=lambda job: (_natural(job.labels.part or ""), job.paths[0].parts))
    labels = group[0].labels
    for other in group[1:]:
        labels = labels.over(other.labels)
    said = [remark for job in group for remark in job.odd]
    numbers = [job.labels.part for job in group]
    if len(set(numbers)) < len(numbers):
        said.append("Two files have the same part number. They were joined in the order of their names.")
    paths = tuple(job.paths[0] for job in group)
    return Job(
        paths,
        replace(group[0].options, parts=tuple(str(path) for path in paths[1:])),
        replace(labels, part=None),
        [remark for job in group for remark in job.assumed],
        list(dict.fromkeys(said)),
    )


def _natural(text: str) -> list[tuple[int, int, str]]:
    """A key by which part 10 comes after part 9."""
    words = filter(None, _DIGITS.split(text.casefold()))
    return [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in words]
