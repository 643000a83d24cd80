"""Files sent to a server to be read there: found and named here, sent one by one, read together, reported as here."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import BadRequest, ServerAway, WorkbenchError, instead
from ..ingest import FileReport, Report
from ..ingest import paths as places
from ..ingest.prepare import Options
from ..ingest.ratings import ratings_of
from ..ingest.worker import outcome_of
from ..readers import FORMATS, format_of
from ..records import Record
from . import wire
from .client import Client

Told = Callable[[int, int, str], None]
_LOOK_S = (0.05, 1.0)
"""How soon, and at the end how seldom, a server is asked how far it is."""


def ingest(
    client: Client,
    path: str,
    paths: places.Paths,
    *,
    specification: str | Record | None = None,
    rating: str | Mapping[str, Any] | None = None,
    instance: str | Record | None = None,
    batch: str | Record | None = None,
    format: str | None = None,
    column_map: Mapping[str, str] | None = None,
    sign: str | None = None,
    repair: Any = (),
    jobs: int = 1,
    keep_file: bool = False,
    progress: Told | None = None,
    **others: Any,
) -> Report:
    """As ``workbench.ingest.ingest``, on a server; ``path`` is where ingests begin there.

    What needs the folder itself (a sheet, a rule for names, a dry run, a folder that grows) is done where the store is.
    """
    if asked := [name for name, value in others.items() if value]:
        raise BadRequest(
            f"{asked[0]}=... is read where the store is: use `workbench ingest` on the server's machine, or ingest the "
            "files without it and set what it says with `bench.measurements.update`."
        )
    if format is not None and format not in FORMATS:
        raise BadRequest(f"There is no format '{format}'. {instead(format, FORMATS, 'formats')}")
    if rating is not None:
        ratings_of(rating)
    repairs = (repair,) if isinstance(repair, str) else tuple(repair)
    reading = Options(format, None if column_map is None else dict(column_map), sign, repairs)
    found = places.find(paths, any_format=format is not None)
    strange = {file for file in found.loose if not _known(file, column_map)}
    report = Report(skipped=[places.shown(file) for file in found.files if file in strange])
    for pattern in found.missing:
        name = places.shown(pattern)
        report.files.append(FileReport(name, why=f"No file matches '{name}'."))
    told = progress or _silent
    wanted = [file for file in found.files if file not in strange]
    there = [file for file in wanted if file.is_file()]
    options = {
        "specification": specification,
        "rating": rating,
        "instance": instance,
        "batch": batch,
        "format": format,
        "column_map": column_map,
        "sign": sign,
        "repair": list(repairs),
        "jobs": jobs,
        "keep_file": keep_file,
    }
    read = iter(_read(client, path, there, wire.plain(options), told))
    for file in wanted:
        report.files.append(next(read) if file in there else _absent(file, reading))
    return report


def _known(file: Path, column_map: Mapping[str, str] | None) -> bool:
    """Whether a file of a folder is of a known format, told from its beginning."""
    try:
        return bool(format_of(file, column_map=column_map))
    except (WorkbenchError, OSError):
        return False


def _silent(done: int, of: int, what: str) -> None:
    """Progress that nobody watches."""


def _absent(file: Path, options: Options) -> FileReport:
    """What the readers say of a file that is none."""
    with tempfile.TemporaryFile() as spool:
        outcome = outcome_of(file, options, spool)
    return FileReport(places.shown(file), why=places.shown(outcome["refused"]), format=outcome.get("format", ""))


def _read(client: Client, path: str, files: list[Path], options: Any, told: Told) -> list[FileReport]:
    if not files:
        return []
    sent = [_send(client, path, file, len(files), told) for file in files]
    run = client.ask("POST", path, json={"files": sent, "options": options}, changes=True).json()
    wait = _LOOK_S[0]
    before: tuple[int, int, str] | None = None
    while run["state"] == "running":
        now = (run["done"], run["of"], run["at"] or "waiting for the server")
        if now != before:
            told(*now)
            before = now
        time.sleep(wait)
        wait = min(wait * 1.5, _LOOK_S[1])
        run = client.get(f"{path}/{run['id']}").json()
    if run["state"] != "done":
        raise ServerAway(run.get("error") or "The server did not read the files.")
    told(len(files), len(files), "")
    reports = [FileReport(**one) for one in run["report"]["files"]]
    for report, file in zip(reports, files, strict=True):
        report.path = places.shown(file)
    return reports


def _send(client: Client, path: str, file: Path, of: int, told: Told) -> str:
    size = max(file.stat().st_size, 1)

    def sent(bytes_: int) -> None:
        told(0, of, f"sending {places.shown(file.name)}: {100 * bytes_ // size} %")

    told(0, of, f"sending {places.shown(file.name)}")
    answer = client.upload(f"{path}/files", file, params={"name": file.name}, sent=sent).json()
    id: str = answer["file"]
    return id
