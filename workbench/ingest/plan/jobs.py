"""What is read at once: a file, or the parts of one test in their order, with what is said of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...messages import counted
from .documents import Documents
from .labels import Labels
from .name_rule import NameRule
from .paths import folder_of, shown, stem_of
from .read_options import ReadOptions
from .sheet import Sheet

_DIGITS = re.compile(r"(\d+)")
_NO_ROW = "No row of the sheet matches this file."


@dataclass
class Job:
    """One measurement to be: its files, labels and options. ``before`` is the id of the measurement that the same bytes
    became when they were read otherwise; ``called`` what the report is to call it, where not by its paths. ``folder``
    is that of its first file, as `paths.folder_of` gives it; ``above`` how many of the last parts of it distinguish the
    file from files of the same name in other folders. ``root`` is the folder that is ingested. ``sheet`` has rows about
    single tests of the file, where the whole sheet is elsewhere."""

    paths: tuple[Path, ...]
    options: ReadOptions
    labels: Labels = field(default_factory=Labels)
    assumed: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    before: str | None = None
    called: str | None = None
    folder: str = ""
    above: int = 0
    root: Path | None = None
    sheet: Sheet | None = None

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
    paths: Iterable[Path],
    options: ReadOptions,
    sheet: Sheet | None = None,
    rule: NameRule | None = None,
    documents: Documents | None = None,
    meant: Labels | None = None,
    roots: Mapping[Path, Path] | None = None,
    folders: Mapping[Path, str] | None = None,
) -> list[Job]:
    """The files with what is said of them, in their order; parts of one test stand together at the first.

    ``documents`` lie beside the files; what is ``meant`` for all files, the sheet and the rule go before them.
    ``roots`` are the folders that were given, of the files below one; ``folders`` those of the files in archives.
    """
    jobs: list[Job] = []
    parts: dict[tuple[str | None, ...], list[Job]] = {}
    for path in paths:
        job = _job(path, options, sheet, rule, (roots or {}).get(path))
        job.folder = (folders or {}).get(path, job.folder)
        if documents is not None:
            _take_documents(job, documents, meant or Labels())
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
    made = [joined.get(id(job), job) for job in jobs]
    for job in made:
        job.odd += [] if sheet is None else sheet.too_wide(job.paths[0], job.root)
    _tell_apart(made)
    return made


def _tell_apart(jobs: Sequence[Job]) -> None:
    """Let each file without a cell know how much of its folder distinguishes it from files of its name elsewhere."""
    alike: dict[str, list[Job]] = {}
    for job in jobs:
        if job.labels.instance is None:
            alike.setdefault(job.stem, []).append(job)
    for group in alike.values():
        folders = {job.folder: job.folder.split("/") for job in group}
        if len(folders) < 2:
            continue
        for above in range(1, max(map(len, folders.values())) + 1):
            if len({tuple(parts[-above:]) for parts in folders.values()}) == len(folders):
                break
        for job in group:
            job.above = min(above, len(folders[job.folder]))


def _job(path: Path, options: ReadOptions, sheet: Sheet | None, rule: NameRule | None, root: Path | None) -> Job:
    job = Job((path,), options, folder=folder_of(path, root), root=root)
    if rule is not None:
        named, remark = rule.labels(path, root)
        job.labels = named or Labels()
        job.assumed += [remark] if remark else []
        if named is None:
            job.odd.append(rule.why_not(path, root))
    if sheet is not None:
        listed, remarks = sheet.labels(path, root)
        job.odd += remarks
        if listed is None:
            job.odd.append(_NO_ROW)
        else:
            job.labels = listed.over(job.labels)
    if job.labels.reading:
        job.options = options.with_reading(job.labels.reading)
    return job


def _take_documents(job: Job, documents: Documents, meant: Labels) -> None:
    """Add what documents beside the file say, where neither the labels of the job nor what is ``meant`` says it."""
    beside, remarks = documents.labels(job.paths[0])
    if beside is None:
        return
    job.labels = job.labels.over(beside.without(meant))
    job.assumed += remarks


def one_of(job: Job, test: str, of: int, sheet: Sheet | None = None) -> Job:
    """The job of one test of a file that holds ``of`` of them.

    The name of the test begins with that of its cell (see `readers.SeveralTests`). A row of the sheet about this test
    goes before all, as in ``cells.csv!A``.
    """
    cell, _, rest = test.partition("/")
    rest = rest.replace("/", " ")
    labels = replace(
        job.labels,
        instance=" ".join(filter(None, (job.labels.instance, cell))) or None,
        measurement=" ".join(filter(None, (job.labels.measurement, rest))) or None,
    )
    odd = list(job.odd)
    sheet = sheet or job.sheet
    if sheet is not None:
        listed, remarks = sheet.labels(job.paths[0], job.root, test)
        odd += [remark for remark in remarks if remark not in odd]
        if listed is not None:
            labels, odd = listed.over(labels), [remark for remark in odd if remark != _NO_ROW]
    options = replace(job.options.with_reading(labels.reading), test=test, of=of)
    return replace(
        job,
        options=options,
        labels=labels,
        assumed=list(job.assumed),
        odd=odd,
        called=f"{job.name}!{test}",
        before=None,
    )


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
        folder=group[0].folder,
    )


def _natural(text: str) -> list[tuple[int, int, str]]:
    """A key by which part 10 comes after part 9."""
    words = filter(None, _DIGITS.split(text.casefold()))
    return [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in words]
