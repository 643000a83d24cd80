"""Records of any kind under one path, with our own field names: the remote bench uses these routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, UploadFile
from pydantic import Field
from starlette.responses import Response

from workbench.backend import DATASETS, without_rows
from workbench.dataset import Dataset
from workbench.engine import arrow
from workbench.errors import BadRequest, Conflict, Invalid, NotFound, Problem, instead
from workbench.ingest import extend, register
from workbench.messages import with_article
from workbench.operations.operation import MOST_ROWS
from workbench.records import KINDS, Measurement, Record
from workbench.store.records.constraints import refuse_kept
from workbench.store.scope import Scope
from workbench.store.series.series import SeriesInfo
from workbench.store.store import Store
from workbench.table import Table, concat

from .. import auth, records
from ..auth import ProjectReader, ProjectWriter
from ..context import RequestContext
from ..intake import WHOLE
from ..kept_answers import from_store
from ..parameters import Flag, Paging, Text, paging
from ..requests import SentFile
from ..responses import streamed
from ..routing import Route, heavy, takes
from ..schemas import Body, FromJson, Json, JsonText, Page, page
from ..schemas import Text as BodyText
from . import tables

router = APIRouter(route_class=Route, tags=["Records of any kind"])

_ELSEWHERE = ("organizations", "users", "projects", "plots", "raw_data")
KNOWN: dict[str, type[Record]] = {name: cls for name, cls in KINDS.items() if name not in _ELSEWHERE}
"""The kinds of these routes, by the names of their tables."""
BLOCK_ROWS = 1 << 17
ROWS = "rows"
"""The name of the step in the Arrow stream of a table that has no plan."""
_KIND = "/projects/{project_id}/records/{kind}"
_ONE = _KIND + "/{record_id}"
_BYTES = {"schema": {"type": "string", "format": "binary"}}
_ARROW: dict[int | str, Json] = {200: {"content": {arrow.MEDIA_TYPE: _BYTES}}}


class ListOf(Body):
    """Filters, fields and limit of a list of records, as in a list step of a plan."""

    where: Json = Field(default_factory=dict)
    fields: list[BodyText] | None = None
    limit: Annotated[int | None, Field(json_schema_extra={"minimum": 0})] = None


class WithTables(Body):
    """The fields of a record as JSON text, its tables as parquet files, and the names of their columns."""

    fields: JsonText = None
    sign: str | None = None
    columns: JsonText = None
    series: UploadFile | None = None
    steps: UploadFile | None = None
    cycles: UploadFile | None = None


class MoreSamples(Body):
    """Samples as a parquet file, and the names of its columns."""

    series: UploadFile
    columns: JsonText = None


def _kind(context: RequestContext) -> type[Record]:
    """The kind that the path names.

    Raises
    ------
    NotFound
        If there is none of that name.
    """
    name = context.path["kind"]
    if name not in KNOWN:
        raise NotFound(f"There is no kind of record '{name[:80]}' here. {instead(name, KNOWN, 'kinds')}")
    return KNOWN[name]


def _record(context: RequestContext) -> Record:
    """The record of the path, in the project or shared by the whole organization."""
    record = context.store.rows.get(_kind(context), context.path["record_id"], context.scope)
    auth.refuse_of_others(context, record)
    return record


def _named_so(context: RequestContext, kind: type[Record], ref: str) -> Record:
    """The record of an id or an exact name."""
    rows, own = context.store.rows, auth.own(context, kind)
    if not own:
        return rows.find(kind, ref, context.scope)
    found = rows.existing(kind, ref, context.scope, own)
    if found is None:  # names of others are not suggested
        raise NotFound(f"There is no {kind.label} '{ref}'.")
    return found


def _shown(record: Record) -> Json:
    """A record with our own field names, without the fields that no answer shows."""
    return record.model_dump(mode="json", exclude={*record.withheld} or None)


@router.get(_KIND)
@from_store()
def find_records(
    context: ProjectReader,
    asked: Annotated[Paging, paging()],
    ref: Annotated[Text | None, Query(description="An id or an exact name.")] = None,
) -> Page[Json]:
    """Records of a kind in a project, or the one of an id or a name."""
    kind = _kind(context)
    if ref is not None:
        return page([_shown(_named_so(context, kind, ref))], 1)
    own = auth.own(context, kind) or None
    found = context.store.rows.page(kind, context.scope, where=own, limit=asked.limit, offset=asked.offset)
    return page([_shown(one) for one in found.items], found.total)


@router.post(f"{_KIND}/list", response_class=Response, responses=_ARROW)
@takes("small")
def list_records(context: ProjectReader, body: ListOf) -> Response:
    """A table of records with the filters and fields of a list step, as Arrow."""
    kind = _kind(context)
    fields = None if body.fields is None else list(dict.fromkeys(body.fields))
    if body.limit is not None and not 0 <= body.limit <= MOST_ROWS:
        raise Invalid(Problem(("limit",), f"'limit' is from 0 to {MOST_ROWS}.", "out_of_range"))
    if kind.listed_as is None:
        _refuse_other_filters(kind, body.where)
        return _as_arrow(context.backend.table(kind, body.where, fields, body.limit))
    return _as_arrow(context.backend.listing(kind.listed_as, body.where, fields, body.limit))


def _refuse_other_filters(kind: type[Record], where: Json) -> None:
    known = ("name", "name_contains")
    problems = [
        Problem(
            ("where", name), f"'{name[:80]}' is not a filter of {kind.table}. {instead(name, known, 'filters')}"
        )
        for name in where
        if name not in known
    ]
    problems += [
        Problem(("where", name), f"'{name}' must be a text.", "string_type")
        for name, value in where.items()
        if name in known and isinstance(value, dict | list)
    ]
    if problems:
        raise Invalid(problems)


def _as_arrow(table: Table) -> Response:
    """One table on the wire."""
    return Response(arrow.to_arrow(Dataset({ROWS: table})), media_type=arrow.MEDIA_TYPE)


@router.post(_KIND)
def create_record(context: ProjectWriter, body: Json) -> Json:
    """Make a record of a kind."""
    kind = _kind(context)
    with context.writing() as db:
        refuse_kept(kind, body)
        return _shown(
            context.store.rows.create(kind, body, scope=context.scope, actor=context.actor, connection=db)
        )


@router.post(f"{_KIND}/with-tables")
@heavy
@takes("upload")
def create_record_with_tables(context: ProjectWriter, form: Annotated[WithTables, Form()]) -> Json:
    """Make a record with its tables, parquet files of a form; samples of a measurement are checked."""
    kind = _kind(context)
    if not kind.samples:
        raise BadRequest(f"{with_article(kind.label).capitalize()} has no tables.")
    fields = form.fields
    if not isinstance(fields, dict):
        raise Invalid(
            Problem(
                ("fields",), "'fields' must be an object with the name of each field and its value.", "dict_type"
            )
        )
    refuse_kept(kind, fields)
    sent = {name: context.saved(upload) for name in DATASETS if (upload := getattr(form, name)) is not None}
    is_measurement = kind is Measurement
    parts = {name: _named(form.columns, name, _rows(context, name, one)) for name, one in sent.items()}
    if not is_measurement:
        _refuse_empty(parts)
    if not is_measurement or "series" not in parts:
        return _shown(tables.create(context, kind, fields, parts, wire=False))
    steps = (
        concat(list(_named(form.columns, "steps", _whole(context, sent["steps"]))())) if "steps" in sent else None
    )
    if form.sign not in (None, "discharge"):
        raise BadRequest(
            "Over HTTP a positive current is a discharge. Change the sign before you send the samples."
        )
    with context.writing(instance=fields.get("instance_id")):
        pass  # This writes the entry of the audit log. Reading samples takes long, and must not hold up other writers.
    made = register(
        context.store,
        context.scope,
        fields,
        parts["series"],
        steps=steps,
        settled=form.sign is not None,
        actor=context.actor,
    )
    return _shown(made)


def _rows(context: RequestContext, name: str, sent: SentFile) -> tables.Parts:
    """The rows of a file of the form."""
    return context.state.apart.tables(sent.path, name)


def _whole(context: RequestContext, sent: SentFile) -> tables.Parts:
    return context.state.apart.tables(sent.path, "steps", most=WHOLE)


def _refuse_empty(parts: Mapping[str, tables.Parts]) -> None:
    empty = next((name for name, one in parts.items() if next(one(), None) is None), None)
    if empty is not None:
        raise without_rows(empty)


def _named(columns: FromJson, name: str, parts: tables.Parts) -> tables.Parts:
    """The rows of a file of the form, with the column names that ``columns`` of the form gives: a parquet file cannot
    hold every name that a column may have."""
    names = columns.get(name) if isinstance(columns, dict) else columns
    if names is None:
        return parts
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise Invalid(Problem(("columns", 0), "'columns' holds lists of texts.", "string_type"))

    def renamed() -> Iterator[Table]:
        for part in parts():
            if len(names) != len(part):
                message = f"The file '{name}' has {len(part)} columns, 'columns' names {len(names)} of them."
                raise Invalid(Problem(("columns", name), message, "value_error"))
            yield Table(dict(zip(names, part.values(), strict=True)), part.n)

    return renamed


@router.patch(_ONE)
def change_record(context: ProjectWriter, body: Json) -> Json:
    """Change the named fields of a record."""
    kind, record = _kind(context), _record(context)
    with context.writing(record.id) as db:
        refuse_kept(kind, body)
        return _shown(
            context.store.rows.update(kind, record.id, body, context.scope, context.actor, connection=db)
        )


@router.delete(_ONE, status_code=204)
def delete_record(context: ProjectWriter) -> None:
    """Delete a record and what belongs to it alone."""
    records.delete(context, _record(context))


@router.get(f"{_ONE}/table", response_class=Response, responses=_ARROW)
@heavy
def read_table(
    context: ProjectReader,
    dataset: Annotated[Literal["series", "steps", "cycles"], Query(description="Which table.")] = "series",
    columns: Annotated[list[Text], Query(description="Only these columns; may be repeated.")] = [],  # noqa: B006
    life: Annotated[Flag, Query(description="With the columns over the life of the cell.")] = False,
) -> Response:
    """A stored table of a record, exact, as Arrow in blocks of rows; the stream breaks off if the table changes."""
    record = _record(context)
    chosen = columns or None
    if life:
        if not isinstance(record, Measurement) or dataset == "series" or chosen is not None:
            raise BadRequest(
                "'life' is for all columns of the steps or cycles of a measurement. Choose one of these."
            )
        return _streamed(context, iter([context.backend.over_life(record, dataset)]))
    with context.store.snapshot():
        info = context.store.series.info(record.id, dataset, scope=context.scope)
        if info is None or dataset != "series" or info.rows <= BLOCK_ROWS:
            return _streamed(context, iter([context.backend.samples(record, dataset, chosen)]))
        first = context.backend.sampled(record.id, dataset, chosen, rows=(0, BLOCK_ROWS))
    return _streamed(context, _blocks(context.store, context.scope, info, first))


def _streamed(context: RequestContext, parts: Iterator[Table]) -> Response:
    compression = arrow.compression_of(context.request.headers.get("accept", ""))
    return streamed(arrow.blocks(ROWS, parts, compression), arrow.MEDIA_TYPE)


def _blocks(store: Store, scope: Scope, info: SeriesInfo, first: Table) -> Iterator[Table]:
    yield first
    for start in range(BLOCK_ROWS, info.rows, BLOCK_ROWS):
        with store.snapshot():
            if store.series.info(info.owner, info.dataset, scope=scope) != info:
                raise Conflict("These data have changed since their first row was read. Ask again.")
            part = store.series.read(
                info.owner,
                first.names,
                rows=(start, min(start + BLOCK_ROWS, info.rows)),
                dataset=info.dataset,
                scope=scope,
            )
        yield part


@router.post(f"{_ONE}/extend")
@heavy
@takes("upload")
def extend_measurement(context: ProjectWriter, form: Annotated[MoreSamples, Form()]) -> Json:
    """Append samples, a parquet file of a form, to a running measurement."""
    record = _record(context)
    if not isinstance(record, Measurement):
        raise BadRequest(f"{with_article(record.label).capitalize()} cannot be extended. A measurement can.")
    sent = context.saved(form.series)
    parts = context.state.apart.tables(sent.path, "series", most=WHOLE)
    more = list(_named(form.columns, "series", parts)())
    with context.writing(record.id):
        return _shown(extend(context.store, context.scope, record.id, more, actor=context.actor))
