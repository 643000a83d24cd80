"""Answers as plain JSON values in which two runs can be compared: new ids, times and signed addresses become names.

Left out are sentences (``message``, ``msg``, what a report or a record of a failure says in words), ``log`` and
``timings``. Numbers stay as they are (``1.0`` is not ``1``), keys stay in their order. A long array or text becomes one
line with its length, its ends and a hash of all of it.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.recordings.added import (
    OF_HEADERS,
    without_added,
    without_added_columns,
    without_added_streams,
)

SINCE = datetime(2025, 5, 2, tzinfo=UTC)
"""The old store is from before; what is later was made by the run."""
LEFT_OUT = ("message", "msg", "log", "timings", "meaning")
WORDS = (
    "why",
    "assumed",
    "odd",
    "processing_error",
    "error",
    "system",
    "prompt",
    "meaning",
    "seconds",
    "shown_as",
    "example",
    "changed",
)
"""Keys whose values are sentences, or times that something took: that there is one is kept, not what it says."""
HEADERS = (
    *("content-type", "content-range", "content-disposition", "accept-ranges", "location", "allow", "retry-after"),
    *("etag", "www-authenticate", "cache-control"),
)
USUAL = {"content-type": "application/json", "x-content-type-options": "nosniff", "x-correlation-id": "<request>"}
"""Headers that nearly every answer has: only what differs from them is recorded."""
_UUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![0-9a-zA-Z])[0-9a-f]{32}(?![0-9a-zA-Z])",
    re.I,
)
"""Ids of records, and those of files that were sent."""
_TIME = re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")
_TICKET = re.compile(r"(/storage/)[A-Za-z0-9_=-]{30,}(?=/)")
_MICROS = re.compile(r"(?<!\d)\d{16}(?!\d)")
_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")
_SIZE = re.compile(r"\d{3,}")
_LONG, _MANY = 200, 16


class Plain:
    """Makes the answers of one run plain; the same new id has the same name throughout.

    With ``once`` a record that was answered before as it is now becomes its id; without ``versions`` the version of
    the workbench, which records keep that were read from a file, becomes ``<version>``.
    """

    def __init__(self, own: Collection[str], *, once: bool = False, versions: bool = True) -> None:
        self._own = own
        self._versions = versions
        self._each_once = once
        self._ids: dict[str, str] = {}
        self._contents: dict[str, str] = {}
        self._records: set[str] = set()

    def text(self, text: str) -> str:
        """A text without what differs from run to run."""
        text = _TICKET.sub(r"\1<ticket>", text)
        return _TIME.sub(_moment, _UUID.sub(lambda found: self._id(found[0]), text))

    def _id(self, id: str) -> str:
        if id in self._own:
            return id
        return self._ids.setdefault(id, f"<id {len(self._ids) + 1}>")

    def made(self) -> dict[str, str]:
        """What the run made, by the name it has here: ids and names of contents."""
        return {name: own for found in (self._ids, self._contents) for own, name in found.items()}

    def headers(self, headers: Mapping[str, str]) -> dict[str, Any]:
        """The headers that mean something and are not as usual; None for a usual one that is missing."""
        kept = {name: value for name, value in headers.items() if name in HEADERS or name.startswith("x-")}
        kept = {name: value for name, value in kept.items() if name not in OF_HEADERS}
        if "x-correlation-id" in kept:
            kept["x-correlation-id"] = "<request>"
        if "x-workbench-content" in kept:
            content = kept["x-workbench-content"]
            kept["x-workbench-content"] = self._contents.setdefault(
                content, f"<content {len(self._contents) + 1}>"
            )
        if "etag" in kept:
            kept["etag"] = _MICROS.sub("<revision>", kept["etag"])
        if "parquet" in kept.get("content-type", "") and "content-range" in kept:
            kept["content-range"] = _SIZE.sub("<n>", kept["content-range"])  # the library's version decides
        made: dict[str, Any] = {name: self.text(value) for name, value in sorted(kept.items())}
        return {name: made.get(name) for name in sorted({*made, *USUAL}) if made.get(name) != USUAL.get(name)}

    def body(self, content: bytes, media: str) -> Any:
        """A body by its media type."""
        if not content:
            return None
        if media.startswith("application/json"):
            return self.value(without_added(json.loads(content)))
        if media == "application/vnd.apache.parquet":
            try:
                return {"parquet": self.value(_columns(without_added_columns(pq.read_table(io.BytesIO(content)))))}
            except pa.ArrowInvalid:  # a part of a file
                return {"bytes": len(content)}
        if media == "application/vnd.apache.arrow.stream":
            return {"arrow": [self._stream(stream) for stream in without_added_streams(_streams(content))]}
        return {"text": self._line(self.text(content.decode("utf-8", "backslashreplace")))}

    def _stream(self, stream: tuple[dict[str, str], pa.Table]) -> dict[str, Any]:
        about, table = stream
        read = {
            name: without_added(json.loads(text)) if text[:1] in ("{", "[") else text
            for name, text in about.items()
        }
        return {"about": self.value(read), "columns": self.value(_columns(without_added_columns(table)))}

    def value(self, value: Any) -> Any:
        """A JSON value."""
        if isinstance(value, str):
            return self._line(self.text(value))
        if isinstance(value, dict):
            made = {self.text(key): self._member(key, one) for key, one in value.items() if key not in LEFT_OUT}
            return self._once(made)
        if isinstance(value, list):
            if len(value) > _MANY and not any(isinstance(one, dict | list) for one in value):
                return _shortened([self.text(one) if isinstance(one, str) else one for one in value])
            return [self.value(one) for one in value]
        return value

    def _once(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record, or its id where the same was answered before."""
        if not self._each_once or not isinstance(record.get("id"), str):
            return record
        text = json.dumps(record)
        if len(text) > _LONG and text in self._records:
            return {"as before": record["id"]}
        self._records.add(text)
        return record

    def _member(self, key: str, value: Any) -> Any:
        if key == "token":
            return "<token>"
        if key == "version" and not self._versions and _VERSION.fullmatch(str(value)):
            return "<version>"
        if key == "template":  # plotly's own, another with each of its versions
            return "<template>"
        if key in WORDS and value not in (None, "", []):
            return ["<words>"] * len(value) if isinstance(value, list) else "<words>"
        return self.value(value)

    def _line(self, text: str) -> str:
        if len(text) <= _LONG:
            return text
        return f"<{len(text)} characters: {text[:40]} ... {text[-20:]} #{hashed(text)}>"


def without_progress(value: Any) -> Any:
    """The answer to who begins an ingest, without how far it is by then."""
    return {"id": value["id"], "state": "begun"} if isinstance(value, dict) and "state" in value else value


def without_descriptions(value: Any) -> Any:
    """A JSON value without the sentences that describe it: ``description`` where that is a text."""
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key != "description" or not isinstance(one, str)}
        return {key: without_descriptions(one) for key, one in kept.items()}
    return [without_descriptions(one) for one in value] if isinstance(value, list) else value


def _moment(found: re.Match[str]) -> str:
    moment = datetime.fromisoformat(found[0].replace("Z", "+00:00"))
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return "<now>" if aware >= SINCE else found[0]


def _shortened(value: list[Any]) -> str:
    ends = [json.dumps(one, ensure_ascii=False) for one in (*value[:3], *value[-2:])]
    whole = json.dumps(value, ensure_ascii=False)
    return f"<{len(value)} values: {', '.join(ends[:3])} ... {', '.join(ends[3:])} #{hashed(whole)}>"


def hashed(text: str) -> str:
    """A short hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _columns(table: pa.Table) -> dict[str, Any]:
    made = {}
    for field, column in zip(table.schema, table.columns, strict=True):
        values = [_plain(value) for value in column.to_pylist()]
        made[field.name] = {"type": str(field.type), "values": values}
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    return value


def _streams(content: bytes) -> Iterator[tuple[dict[str, str], pa.Table]]:
    """The Arrow streams of an answer, one after the other, with their metadata."""
    source = pa.BufferReader(content)
    while source.tell() < len(content):
        with pa.ipc.open_stream(source) as stream:
            about = {key.decode(): value.decode() for key, value in (stream.schema.metadata or {}).items()}
            yield about, stream.read_all()


def differences(was: Any, now: Any, place: str = "") -> Iterator[tuple[str, str, str]]:
    """Where two plain values differ: (place, was, is)."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in (*was, *(key for key in now if key not in was)):
            inner = f"{place}.{key}" if place else key
            if key not in now:
                yield inner, _shown(was[key]), "(nothing)"
            elif key not in was:
                yield inner, "(nothing)", _shown(now[key])
            else:
                yield from differences(was[key], now[key], inner)
        if set(was) == set(now) and list(was) != list(now):
            yield f"{place} (order of the keys)", ", ".join(was), ", ".join(now)
    elif isinstance(was, list) and isinstance(now, list):
        if len(was) != len(now):
            yield f"{place} (length)", str(len(was)), str(len(now))
        for number, (one, other) in enumerate(zip(was, now, strict=False)):
            yield from differences(one, other, f"{place}[{number}]")
    elif json.dumps(was) != json.dumps(now):
        yield place, _shown(was), _shown(now)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONG else f"{text[: _LONG - 4]} ..."
