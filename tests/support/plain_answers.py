"""What a call answered, as plain values in which both sides of a server can be compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from pydantic import BaseModel

import workbench as wb
from workbench.bench import Board, SavedPlot
from workbench.bench.look import Look
from workbench.bench.quick import Quick
from workbench.ingest import Report
from workbench.records.catalog import Catalog
from workbench.transform.frames import SeriesFrames

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")


@dataclass
class Told:
    """Makes answers of one side plain: ids that were made here become numbers in their order, times of today ``now``.

    ``own`` are the ids that both sides had from the start.
    """

    place: str
    folder: Path
    own: set[str]
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    _made: dict[str, str] = field(default_factory=dict)

    def begin(self, folder: Path) -> None:
        """Another row, which writes into this folder."""
        self.folder = folder
        self._made.clear()

    def outcome(self, call: Callable[[], Any]) -> Any:
        """The answer of a call, or the error with all that it says."""
        try:
            return self.plain(call())
        except wb.WorkbenchError as error:
            more = {name: getattr(error, name, None) for name in ("existing_id", "detail", "log")}
            problems = [problem.as_detail() for problem in getattr(error, "problems", [])]
            return self.plain({"raised": type(error).__name__, "text": str(error), "problems": problems, **more})

    def plain(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, datetime):
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            return "now" if aware >= self.since else aware.isoformat()
        if isinstance(value, pd.DataFrame):
            columns = {name: [str(value[name].dtype), self.plain(value[name].tolist())] for name in value}
            return {"columns": self.plain(columns), "rows": len(value)}
        if isinstance(value, Board | SavedPlot):
            return self.plain({"repr": repr(value), "record": value.record})
        if isinstance(value, BaseModel):
            return {"kind": type(value).__name__, **self.plain(value.model_dump())}
        if (known := _answer(value)) is not None:
            return self.plain(known)
        if isinstance(value, Mapping):
            return {self.plain(key): self.plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set):
            return [self.plain(item) for item in value]
        if isinstance(value, float):
            return repr(value)
        if is_dataclass(value) and not isinstance(value, type):
            return self.plain(asdict(value))
        if value is None or isinstance(value, bool | int):
            return value
        return self._text(repr(value))

    def _text(self, text: str) -> str:
        text = text.replace(str(self.folder), "<folder>").replace(self.place, "<place>")
        return _TIME.sub(self._moment, _ID.sub(self._id, text))

    def _id(self, found: re.Match[str]) -> str:
        if found[0] in self.own:
            return found[0]
        return self._made.setdefault(found[0], f"<{len(self._made)}>")

    def _moment(self, found: re.Match[str]) -> str:
        moment = datetime.fromisoformat(found[0].replace("Z", "+00:00"))
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return "now" if aware >= self.since else found[0]


def _answer(value: Any) -> Any:
    """What an answer of several parts says, without times; None if it is none."""
    if isinstance(value, wb.Figure):
        made = value.workbench
        parts = ("values", "options", "warnings", "cache", "reads", "log")
        return {"figure": value.to_json(), **{name: getattr(made, name) for name in parts}, "lint": made.lint}
    if isinstance(value, go.FigureWidget):
        return {"figure": value.to_json()}
    if isinstance(value, SeriesFrames):
        return {"series": dict(value), "complete": value.complete}
    if isinstance(value, wb.Data):
        parts = ("params", "options", "warnings", "cache", "reads")
        return {"steps": dict(value), **{name: getattr(value, name) for name in parts}}
    if isinstance(value, Report):
        told = value.as_dict()
        return {**told, "files": [{**file, "seconds": 0} for file in told["files"]], "shown": repr(value)}
    if isinstance(value, Catalog):
        return value.as_dict()
    if isinstance(value, Look | Quick):
        return {"shown": repr(value)}
    return None
