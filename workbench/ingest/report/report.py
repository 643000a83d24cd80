"""The report of an ingest, file by file: what was stored, assumed, kept and repaired, and the warnings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ...cycling.findings import Finding
from ...errors import StoreError
from ...messages import option_name
from ...table import Table
from . import shown
from .said_often import SEVERAL
from .settled_by import NOTHING, settled_by
from .table import as_table, save

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

Status = Literal["stored", "extended", "updated", "duplicate", "refused", "skipped"]


_WORDS: dict[str, str] = {
    "stored": "stored",
    "extended": "extended",
    "updated": "updated",
    "duplicate": "already there",
    "refused": "refused",
}


_MOST_FIXES = 4
_BY_FILE = "an option for each file; 'fixes' in the kept report has it"
SumRow: TypeAlias = dict[str, str | int]
"""A row of a table in sum."""


@dataclass
class FileReport:
    """What became of one file.

    ``stored``: it is a measurement now. ``extended``: it goes on from one that was there, which has its
    ``added`` rows now. ``updated``: its samples were there, and its labels changed. ``duplicate``: all of it was there.
    ``refused``: it is not stored. ``skipped``: it lies in a folder and is of no known format.

    ``kept`` are the columns stored under their own names; ``assumed``, ``repaired`` and ``odd`` (the warnings) are
    sentences;
    ``created`` names the records made on the way (``instance 'cell 1'``). ``why`` says why a file was refused, or
    which measurement has the same content.
    """

    path: str
    status: Status = "refused"
    why: str = ""
    format: str = ""
    rows: int = 0
    steps: int = 0
    cycles: int = 0
    kept: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    fixes: list[str] = field(default_factory=list)
    added: int = 0
    specification: str = ""
    batch: str = ""
    instance: str = ""
    measurement: str = ""
    measurement_id: str | None = None
    seconds: float = 0.0

    def take(self, findings: list[Finding]) -> None:
        """Sort findings into their lists."""
        for finding in findings:
            if finding.level == "assumed":
                self.assume(finding.code, finding.message, finding.fix)
            elif finding.level == "repaired":
                self.repaired.append(finding.message)
            elif finding.level == "odd":
                self.odd.append(finding.message)

    def assume(self, code: str, message: str, fix: str = "") -> None:
        """Note what was assumed, under its code, with the option that says the same."""
        self.assumed.append(message)
        self.codes.append(code)
        self.fixes.append(fix)

    @property
    def remarks(self) -> list[str]:
        """All sentences about the file, each with its level."""
        made = [self.why] if self.why else []
        if self.status == "duplicate":
            return [*made, *(f"warning: {message}" for message in self.odd)]
        made += [f"created {name}" for name in self.created]
        made += [f"changed {what}" for what in self.changed]
        if self.kept:
            made.append("kept " + ", ".join(f"'{name}'" for name in self.kept))
        made += [f"assumed: {message}" for message in self.assumed_and_settled]
        made += [f"repaired: {message}" for message in self.repaired]
        made += [f"warning: {message}" for message in self.odd]
        return made

    @property
    def assumed_and_settled(self) -> list[str]:
        """What was assumed, each sentence followed by the option that settles it, unless it names the option itself."""
        return [
            message if not fix or fix in message else f"{message} {_settling(fix)}."
            for message, fix in zip_longest(self.assumed, self.fixes[: len(self.assumed)], fillvalue="")
        ]


def _settling(fix: str) -> str:
    return f"There is {fix}" if fix.startswith(NOTHING) else f"Settled by {fix}"


@dataclass
class Report:
    """The report of an ingest; in a notebook and in a terminal it shows itself as a table.

    ``skipped`` are files of folders that are of no known format; those of them that are tables with columns
    like those of a test are in ``unmapped``, each with the option that has it read. ``unused`` are the rows of
    the sheet that fit no file, ``left`` the files that wait for other parts of their test (when a folder is watched).
    ``store_errors`` says of which files (their paths in ``files``) the store refused the test, and why, and ``later``
    are those that may be taken when the place of its samples answers again, or the disk has room.
    Of a ``dry_run`` it says what would happen. ``name_rule`` is the rule for names that was used; ``labelled``: cells
    were named in another way.
    """

    files: list[FileReport] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    unmapped: list[FileReport] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    left: set[Path] = field(default_factory=set)
    store_errors: dict[str, StoreError] = field(default_factory=dict)
    later: set[Path] = field(default_factory=set)
    dry_run: bool = False
    name_rule: str = ""
    labelled: bool = False

    @property
    def ok(self) -> bool:
        """True if no file was refused."""
        return not self.refused

    @property
    def stored(self) -> list[FileReport]:
        return [file for file in self.files if file.status == "stored"]

    @property
    def refused(self) -> list[FileReport]:
        return [file for file in self.files if file.status == "refused"]

    @property
    def extended(self) -> list[FileReport]:
        return [file for file in self.files if file.status == "extended"]

    @property
    def updated(self) -> list[FileReport]:
        return [file for file in self.files if file.status == "updated"]

    @property
    def duplicates(self) -> list[FileReport]:
        return [file for file in self.files if file.status == "duplicate"]

    @property
    def summary(self) -> str:
        """One line: ``3 stored, 1 refused``; of a dry run, what would be."""
        counts = [(sum(file.status == status for file in self.files), word) for status, word in _WORDS.items()]
        counts.append((len(self.unmapped), "not read: names of columns are missing"))
        counts.append((len(self.skipped), "skipped: no known format"))
        line = ", ".join(f"{count} {word}" for count, word in counts if count) or "no files"
        return f"dry run, nothing was changed; it would be: {line}" if self.dry_run else line

    @property
    def headline(self) -> str:
        """The summary, and that each file became a cell of its own, if that is so: it is often not meant."""
        files = [file for file in self.files if file.measurement_id is not None]
        tests = {file.measurement_id for file in files}  # a copy of a file is the same test
        cells = {(file.specification, file.instance) for file in files}
        if len(tests) < SEVERAL or len(cells) < len(tests):
            return self.summary
        if self.name_rule:
            return f"{self.summary}. The name rule '{self.name_rule}' made each file a cell of its own."
        how = f"{option_name('name_rule')} or {option_name('sheet')} says which files are of one cell"
        return f"{self.summary}. Each file is a cell of its own" + ("." if self.labelled else f"; {how}.")

    def table(self) -> Table:
        """The report as a table, one row a file, also those that were skipped; lists are one sentence a line."""
        skipped = [FileReport(path, "skipped", "The format is not known.") for path in self.skipped]
        return as_table([*self.files, *self.unmapped, *skipped])

    def frame(self) -> pd.DataFrame:
        """The report as a DataFrame, one row a file."""
        import pandas as pd

        return pd.DataFrame({name: column.tolist() for name, column in self.table().items()})

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Keep the report as ``.csv``, ``.parquet`` or ``.json``.

        Raises
        ------
        BadRequest
            For another ending.
        """
        return save(self.table(), self.as_dict(), Path(path))

    def by_format(self) -> list[SumRow]:
        """In sum: files, rows, steps and cycles of each format, and how the files fared."""
        made: list[SumRow] = []
        for format in dict.fromkeys(file.format for file in self.files):
            files = [file for file in self.files if file.format == format]
            fared = Counter(_WORDS[file.status] for file in files)
            made.append(
                {
                    "format": format or "none",
                    "files": len(files),
                    "rows": sum(file.rows for file in files),
                    "steps": sum(file.steps for file in files),
                    "cycles": sum(file.cycles for file in files),
                    "what": ", ".join(f"{count} {word}" for word, count in fared.items()),
                }
            )
        return made

    def assumptions(self) -> list[SumRow]:
        """In sum: each kind of thing that was assumed, of how many files, an example, and what settles it."""
        found: dict[tuple[str, str], list[str]] = {}
        for file in self.files:
            if file.status != "duplicate":
                for code, message, fix in zip_longest(file.codes, file.assumed, file.fixes, fillvalue=""):
                    found.setdefault((code, fix), []).append(message)
        kinds = Counter(code for code, _ in found)
        made: dict[tuple[str, str], list[str]] = {}
        for (code, fix), said in found.items():
            made.setdefault((code, fix if kinds[code] <= _MOST_FIXES else _BY_FILE), []).extend(said)
        return [
            {"assumed": code, "files": len(said), "example": said[0], "settled by": settled_by(code, fix) or ""}
            for (code, fix), said in sorted(made.items(), key=lambda item: -len(item[1]))
        ]

    def __iter__(self) -> Iterator[FileReport]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, place: int) -> FileReport:
        return self.files[place]

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "ok": self.ok,
            "dry_run": self.dry_run,
            "summary": self.summary,
            "files": [asdict(file) for file in self.files],
            "unmapped": [asdict(file) for file in self.unmapped],
            "skipped": self.skipped,
            "unused": self.unused,
            "by_format": self.by_format(),
            "assumptions": self.assumptions(),
        }

    def __repr__(self) -> str:
        lines = [f"Ingest: {self.summary}"]
        for file in self.files:
            lines.append(f"  {file.status:9} {file.path}  {file.measurement}".rstrip())
            lines += [f"    {remark}" for remark in file.remarks]
        lines += [f"  {file.status:9} {file.path}\n    {file.why}" for file in self.unmapped]
        lines += [f"  sheet: {row}" for row in self.unused]
        return "\n".join(lines)

    def __rich__(self) -> Group:
        return shown.as_rich(self)

    def _repr_html_(self) -> str:
        return shown.as_html(self)
