"""The account of an ingest, file by file: what was stored, and what was assumed, kept, repaired or odd."""

from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from ..cycling.findings import Finding

Status = Literal["stored", "duplicate", "refused"]
HEADINGS = ("file", "status", "format", "rows", "steps", "cycles", "measurement", "remarks")


_COLOURS = {"stored": "green", "duplicate": "yellow", "refused": "red"}


@dataclass
class FileReport:
    """What became of one file.

    ``kept`` are the columns stored under their own names; ``assumed``, ``repaired`` and ``odd`` are sentences;
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
    measurement: str = ""
    measurement_id: str | None = None
    seconds: float = 0.0

    def take(self, findings: list[Finding]) -> None:
        """Sort findings into their lists."""
        for finding in findings:
            if finding.level == "assumed":
                self.assumed.append(finding.message)
            elif finding.level == "repaired":
                self.repaired.append(finding.message)
            elif finding.level == "odd":
                self.odd.append(finding.message)

    @property
    def remarks(self) -> list[str]:
        """All sentences about the file, each with its level."""
        made = [self.why] if self.why else []
        if self.status == "duplicate":
            return made
        made += [f"created {name}" for name in self.created]
        if self.kept:
            made.append("kept " + ", ".join(f"'{name}'" for name in self.kept))
        for level in ("assumed", "repaired", "odd"):
            made += [f"{level}: {message}" for message in getattr(self, level)]
        return made

    def cells(self) -> list[str]:
        """The file as a row of the table, under :data:`HEADINGS`."""
        counts = [f"{count:,}" if self.rows else "" for count in (self.rows, self.steps, self.cycles)]
        return [self.path, self.status, self.format, *counts, self.measurement, "\n".join(self.remarks)]


@dataclass
class Report:
    """The account of an ingest; in a notebook and in a terminal it shows itself as a table.

    ``skipped`` are files of folders that are of no known format.
    """

    files: list[FileReport] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

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
    def duplicates(self) -> list[FileReport]:
        return [file for file in self.files if file.status == "duplicate"]

    @property
    def summary(self) -> str:
        """One line: ``3 stored, 1 refused``."""
        counts = [
            (len(self.stored), "stored"),
            (len(self.duplicates), "already there"),
            (len(self.refused), "refused"),
        ]
        counts.append((len(self.skipped), "skipped: of no known format"))
        return ", ".join(f"{count} {word}" for count, word in counts if count) or "no files"

    def __iter__(self) -> Iterator[FileReport]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, place: int) -> FileReport:
        return self.files[place]

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {"ok": self.ok, "files": [asdict(file) for file in self.files], "skipped": self.skipped}

    def __repr__(self) -> str:
        lines = [f"Ingest: {self.summary}"]
        for file in self.files:
            lines.append(f"  {file.status:9} {file.path}  {file.measurement}".rstrip())
            lines += [f"    {remark}" for remark in file.remarks]
        return "\n".join(lines)

    def __rich__(self) -> Group:
        parts: list[Any] = [Text(f"Ingest: {self.summary}", "bold")]
        if self.files:
            parts += ["", self._table()]
        for file, name in zip(self.files, self._names(), strict=True):
            if file.remarks:
                parts += ["", Text(name, _COLOURS[file.status]), _remarks(file)]
        if self.skipped:
            parts += ["", Text(f"Skipped: {_first(self.skipped)}", "dim")]
        return Group(*parts)

    def _table(self) -> RichTable:
        table = RichTable(header_style="bold", show_edge=False, pad_edge=False)
        for heading in HEADINGS[:-1]:
            table.add_column(heading, justify="right" if heading in HEADINGS[3:6] else "left", overflow="fold")
        for file, name in zip(self.files, self._names(), strict=True):
            table.add_row(*(Text(cell) for cell in (name, *file.cells()[1:-1])), style=_COLOURS[file.status])
        return table

    def _names(self) -> list[str]:
        """The files by name where that tells them apart, else by path."""
        names = [os.path.basename(file.path) or file.path for file in self.files]
        counts = Counter(names)
        return [name if counts[name] == 1 else file.path for name, file in zip(names, self.files, strict=True)]

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
        body = []
        for file in self.files:
            cells = (html.escape(cell).replace("\n", "<br>") for cell in file.cells())
            body.append("<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells) + "</tr>")
        return (
            f"<p>{html.escape(self.summary)}</p><table><thead><tr>{head}</tr></thead>" + "".join(body) + "</table>"
        )


def _remarks(file: FileReport) -> RichTable:
    """The sentences about a file, what is to be looked at first."""
    levels = {"odd": "yellow", "repaired": "yellow", "assumed": "", "created": "dim", "kept": "dim"}
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    if file.why:
        grid.add_row("", Text(file.why))
    for level, style in levels.items() if file.status != "duplicate" else ():
        told = getattr(file, level)
        lines = [", ".join(told)] if level in ("created", "kept") and told else told
        for line in lines:
            grid.add_row(Text(f"  {level}", style), Text(line, style))
    return grid


def _first(names: list[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
