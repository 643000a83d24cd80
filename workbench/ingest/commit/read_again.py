"""Tests that a fixed rule of a reader concerns, read again from the copies of their files that the store keeps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import BadRequest
from ...messages import counted, option_name
from ...readers import rules_of_readers
from ...records import Measurement
from ...store.scope import Scope
from ...store.series import derived
from ...store.store import Store
from ...temporary_folder import temporary_folder
from ..plan.jobs import Job
from ..plan.read_options import ReadOptions
from ..report.report import FileReport


@contextmanager
def from_kept_copies(
    store: Store, scope: Scope, reading: ReadOptions
) -> Iterator[tuple[list[Job], list[FileReport]]]:
    """A job for each test in scope that an older rule read and whose file is kept, and a report of each other one.

    The copies go at the end. A file is read as it was then, unless ``reading`` says more.
    """
    found = derived.read_before(store, rules_of_readers(), derived.in_reach(store, scope))
    jobs: list[Job] = []
    lacking: list[FileReport] = []
    with temporary_folder() as folder:
        for number, one in enumerate(found):
            record = store.rows.get(Measurement, one.id, scope)
            paths = _copies(store, record, folder / str(number))
            if paths:
                options = reading.as_said(record.source.get("options") or {}, paths[1:])
                jobs.append(Job(paths, options, before=record.id, called=f"the kept copy of {paths[0].name}"))
            else:
                lacking.append(FileReport(str(record.source.get("file", record.name)), why=_why(record)))
        yield jobs, lacking


def _copies(store: Store, record: Measurement, folder: Path) -> tuple[Path, ...]:
    """The kept files that a measurement was read from, under their own names; none if one of them is not kept."""
    named = record.source.get("files") or [
        {"name": record.source.get("file"), "sha256": record.source.get("sha256")}
    ]
    kept = {file.piece: file for file in record.files}
    if not all(one.get("sha256") in kept for one in named):
        return ()
    made = []
    for place, one in enumerate(named):
        path = Path(folder, str(place), Path(str(one["name"])).name)
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            for block in store.blobs.get(one["sha256"]):
                file.write(block)
        made.append(path)
    return tuple(made)


def _why(record: Measurement) -> str:
    return (
        f"'{record.name}' of '{record.instance_name}' was read by an older rule, and no copy of its file is kept. "
        f"Give the file together with {option_name('again')}."
    )


def refuse_extended(record: Measurement, stored: int, read: int) -> None:
    """Keep samples that were added to a test after its file was read.

    Raises
    ------
    BadRequest
        If the reading would drop them.
    """
    if record.source.get("extended") and read < stored:
        raise BadRequest(
            f"'{record.name}' has {counted(stored - read, 'sample')} more, added after its file was read, and reading "
            "it again would drop them. Add them to the file, or delete the measurement and begin anew."
        )
