"""Ingest on a server: files are found and named here, sent one by one, and read there."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from ..errors import BadRequest, ServerAway
from ..exchange import TEXTS, passport_of, sidecar_of
from ..ingest import FileReport, Growing, IngestOptions, Report
from ..ingest.options import FileProgress, to_send
from ..ingest.plan.jobs import Job
from ..ingest.plan.paths import Paths, are_none, shown
from ..ingest.plan.plan import plan
from ..ingest.plan.sheet import Row, Sheet
from ..ingest.read.unknown_files import unknown_files
from ..ingest.read.worker import outcome_of
from ..messages import option_name
from ..operations.operation import Sent
from . import wire
from .client import Client

_MORE_SINCE = "0.1.1"
"""The first version of a server that distinguishes files of one name by their folders, and that takes rows of a sheet
about single tests of a file."""
_LOOK_S = (0.05, 1.0)
"""The first and the longest pause, in seconds, between two questions about the state of a run."""


def ingest(
    client: Client,
    path: str,
    paths: Paths,
    options: IngestOptions,
    *,
    growing: Growing | None = None,
    progress: FileProgress | None = None,
) -> Report:
    """As ``workbench.ingest.ingest``, on a server; ``path`` is where ingests begin there.

    Folders, the sheet and the name rule are read here, where the files are. What they say of a file is sent with it.
    The files of a dry run are sent too, since the server reads them.
    """
    if options.again and are_none(paths):
        raise BadRequest(
            f"The copies that a server keeps are read again there. Here, give the files together with "
            f"{option_name('again')}."
        )
    planned = plan(paths, options, growing=growing)
    sending = _Sending(client, path, planned.loose, planned.sheet, progress or _silent)
    said = wire.plain(to_send(options, whole_lines=growing is not None))
    sending.read(planned.jobs, said, planned.report)
    return planned.close()


class _Sending:
    """Sends the files of one ingest, and reports what the server made of them."""

    def __init__(
        self, client: Client, path: str, loose: Set[Path], sheet: Sheet | None, progress: FileProgress
    ) -> None:
        self._client = client
        self._path = path
        self._loose = loose
        self._sheet = sheet
        self._progress = progress
        self._sent: list[str] = []
        self._knows_more = not client.is_before(_MORE_SINCE)

    def read(self, jobs: Sequence[Job], options: JsonValue, report: Report) -> None:
        """Have the jobs read by the server; ``report`` lists the outcomes in the order of the jobs."""
        reports: dict[int, list[FileReport]] = {}
        going: list[Job] = []
        loose = [job for job in jobs if self._loose >= set(job.paths)]
        because = unknown_files([(job.paths[0], job.options) for job in loose])
        why = {id(job): one for job, one in zip(loose, because, strict=True)}
        for job in jobs:
            unknown = why.get(id(job))
            if unknown is not None and unknown.unmapped:
                report.unmapped.append(FileReport(job.name, "skipped", shown(str(unknown))))
            elif unknown is not None:
                report.skipped.append(job.name)
            elif all(os.path.isfile(path) and os.access(path, os.R_OK) for path in job.paths):
                going.append(job)
            else:
                reports[id(job)] = [_absent(job)]
        tests = [self._test(job, len(going)) for job in going]
        made = self._run(tests, options) if tests else {"files": []}
        for number in made.get("later", []):  # where the server can take some later
            report.later |= set(going[number].paths)
        for one in made["files"]:
            job = going[one.pop("test")]
            behind = str(one["path"]).removeprefix(job.paths[0].name)
            test = behind if behind.startswith("!") else ""  # of a file that holds several
            if test and self._sheet is not None:
                self._sheet.labels(job.paths[0], job.root, test[1:])  # its rows are used now
            reports.setdefault(id(job), []).append(FileReport(**{**one, "path": f"{job.name}{test}"}))
        report.skipped += [job.name for job in going if id(job) not in reports]
        report.files += [one for job in jobs for one in reports.get(id(job), [])]

    def _test(self, job: Job, of: int) -> dict[str, Sent]:
        files = [self._send(path, of) for path in job.paths]
        first = job.paths[0]
        beside = sidecar_of(first)
        of_tests = None if self._sheet is None else self._sheet.of_tests(job.paths[0], job.root)
        rows = [] if of_tests is None else of_tests.rows
        goes_along = first.name.lower().endswith(TEXTS) and beside.is_file() and passport_of(first) is not None
        return {
            "files": files,
            "beside": [self._send(beside, of)] if goes_along else [],
            "labels": wire.plain(job.labels.said()),
            "assumed": job.assumed,
            "odd": job.odd,
            "loose": self._loose >= set(job.paths),
            **({"folder": job.folder, "above": job.above} if self._knows_more and job.folder else {}),
            **({"of_tests": [_row(row) for row in rows]} if self._knows_more and rows else {}),
        }

    def _send(self, file: Path, of: int) -> int:
        """Send a file; gives its place among those that were sent."""
        size = max(file.stat().st_size, 1)

        def sent(bytes_: int) -> None:
            self._progress(0, of, f"sending {shown(file.name)}: {100 * bytes_ // size} %")

        self._progress(0, of, f"sending {shown(file.name)}")
        answer = self._client.upload(f"{self._path}/files", file, params={"name": file.name}, sent=sent).json()
        self._sent.append(answer["file"])
        return len(self._sent) - 1

    def _run(self, tests: list[dict[str, Sent]], options: JsonValue) -> dict[str, Any]:
        """The report of the server: its ``files`` with the places of their ``test``, and which tests may be taken
        ``later``."""
        body = {"files": self._sent, "tests": tests, "options": options}
        run = self._client.ask("POST", self._path, json=body, changes=True).json()
        wait = _LOOK_S[0]
        before: tuple[int, int, str] | None = None
        while run["state"] == "running":
            now = (run["done"], run["of"], run["at"] or "waiting for the server")
            if now != before:
                self._progress(*now)
                before = now
            time.sleep(wait)
            wait = min(wait * 1.5, _LOOK_S[1])
            run = self._client.get(f"{self._path}/{run['id']}").json()
        if run["state"] != "done":
            raise ServerAway(run.get("error") or "The server did not read the files. Its log has the reason.")
        self._progress(len(tests), len(tests), "")
        found: dict[str, Any] = run["report"]
        return found


def _row(row: Row) -> dict[str, Sent]:
    """A row about tests of a file, as it is sent."""
    return {"row": row.number, "test": row.pattern, "labels": wire.plain(row.labels.said())}


def _silent(done: int, of: int, what: str) -> None:
    """Progress that nobody watches."""


def _absent(job: Job) -> FileReport:
    """What the readers say of a path that is not a file, or not one to read."""
    with tempfile.TemporaryFile() as spool:
        outcome = outcome_of(job.paths[0], job.options, spool)
    report = FileReport(job.name, why=shown(outcome["refused"]), format=outcome.get("format", ""))
    report.odd += job.odd
    for remark in job.assumed:
        report.assume("name", remark)
    return report
