"""Values, records and tables as they go to a server and come from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields as fields_of_class
from datetime import date, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, JsonValue

from ..arrow import to_arrow
from ..backend import FigureAnswer
from ..engine import arrow
from ..engine.zoom import Detail
from ..errors import BadRequest, Invalid, Problem, StoreError
from ..operations.operation import Page, Sent
from ..operations.operation import pages as paged
from ..recipe.jsontext import plain as as_json
from ..recipe.strict import Raw
from ..records import Record
from ..records.values import as_moment, json_object
from ..store.records.search import Found, Hit
from ..store.series.layout import fields_of
from ..table import Table, time_text, to_micros
from .client import Params, Reply

R = TypeVar("R", bound=Record)
_OF_FIGURE = {one.name for one in fields_of_class(FigureAnswer)}
_GROUP = 1 << 17


def plain(value: Raw) -> JsonValue:
    """A field of a record as JSON takes it.

    Raises
    ------
    BadRequest
        For what no record can hold.
    """
    if isinstance(value, Record):
        return value.id
    if isinstance(value, BaseModel):
        dumped: JsonValue = value.model_dump(mode="json")
        return dumped
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, datetime):
        return time_text(to_micros(value))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise BadRequest(f"A field holds {value}. A record keeps finite numbers; give None for a missing one.")
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise BadRequest(
        f"A field holds a {type(value).__name__}, which a record cannot hold. "
        "Give texts, numbers, booleans, times, lists or objects."
    )


def fields(given: Mapping[str, Raw]) -> dict[str, JsonValue]:
    """The fields of a record as a request takes them: what a local store refuses is refused here in the same words, and
    what it keeps is kept there letter by letter.

    Raises
    ------
    Invalid
        With what JSON cannot hold, at its field.
    """
    made: dict[str, JsonValue] = {}
    problems = []
    for name, value in given.items():
        shaped = _dumped(value)
        try:
            made |= {name: json_object(shaped)} if isinstance(shaped, Mapping) else json_object({name: shaped})
        except ValueError as error:
            problems.append(Problem((name,), str(error), "value_error"))
    if problems:
        raise Invalid(problems)
    return made


def _dumped(value: Raw) -> Raw:
    """The value with ids in place of records, and objects in place of the shapes of a field."""
    if isinstance(value, Record):
        return value.id
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping) and any(isinstance(item, BaseModel) for item in value.values()):
        return {key: _dumped(item) for key, item in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(item, BaseModel) for item in value):
        return [_dumped(item) for item in value]
    return value


def body(content: Mapping[str, Raw] | None) -> dict[str, JsonValue] | None:
    """The body of an operation: arrays, pandas columns and their scalars become JSON values.

    Raises
    ------
    Invalid
        With what JSON cannot hold, at its place. The encoder alone would send null for NaN.
    """
    made, problems = as_json(content)
    if problems:
        raise Invalid(problems)
    return made if isinstance(made, dict) else None


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(f"A text is not valid Unicode and cannot be kept ({error}).") from error
    return value


def columns(tables: Mapping[str, Table]) -> str:
    """The names of the columns of tables, as a form takes them."""
    return orjson.dumps({name: [_text(column) for column in one] for name, one in tables.items()}).decode()


def record(kind: type[R], sent: Mapping[str, Sent]) -> R:
    """The record of an answer, under our own names or the wire's."""
    return kind.checked(kind.from_wire(sent))


def project(kind: type[R], sent: Mapping[str, Sent]) -> R:
    """The project of an answer, without the roles that the answer adds."""
    return record(kind, {name: value for name, value in sent.items() if name in kind.members()})


def table(content: bytes) -> Table:
    """The table of an Arrow answer."""
    steps, _ = arrow.from_arrow(content)
    found = next(iter(steps.values()))
    if not isinstance(found, Table):
        raise StoreError("The server answered series, not the table that was asked for.")
    return found


def figure(content: bytes) -> FigureAnswer:
    """A figure answer."""
    answer = orjson.loads(content)
    drawn = answer.pop("figure")
    # A server also says what a page needs, and a newer one may say more.
    known = {name: part for name, part in answer.items() if name in _OF_FIGURE}
    return FigureAnswer(figure=orjson.dumps(drawn), **known)


def detail(sent: Mapping[str, Sent]) -> Detail:
    """Finer detail of a trace."""
    own = ("x", "y", "shown", "of")
    others = {key: value for key, value in sent.items() if key not in own}
    return Detail(sent["x"], sent["y"], sent["shown"], sent["of"], others)


def found(sent: Mapping[str, Sent]) -> Found:
    """A page of hits."""
    hits = [Hit(**{**hit, "created_at": as_moment(hit["created_at"])}) for hit in sent["results"]]
    return Found(hits, sent["query"], sent["total"], sent["limit"], sent["offset"])


def write_parquet(tables: Mapping[str, Table], folder: Path) -> dict[str, Path]:
    """Tables as parquet files, bit for bit, their columns called by their places.

    Raises
    ------
    BadRequest
        For a column that no store keeps: of several kinds, or with a text that is not valid Unicode.
    """
    made = {}
    for name, one in tables.items():
        fields_of(one)
        made[name] = folder / f"{name}.parquet"
        try:
            arrays = {str(place): to_arrow(column) for place, column in enumerate(one.values())}
        except UnicodeEncodeError as error:
            raise BadRequest(f"A text is not valid Unicode and cannot be kept ({error}).") from error
        text = [str(place) for place, column in enumerate(one.values()) if column.kind == "text"]
        written = pa.table(arrays)
        pq.write_table(written, made[name], row_group_size=_GROUP, compression="zstd", use_dictionary=text)
    return made


def pages(get: Callable[[str, Params], Reply], path: str, size: int = 1000) -> Iterator[dict[str, Sent]]:
    """All items of a list, page by page."""

    def ask(limit: int, offset: int) -> Page[dict[str, Sent]]:
        sent = get(path, {"limit": limit, "offset": offset}).json()
        return Page(sent["items"], sent["count"], sent["total"])

    return paged(ask, size)
