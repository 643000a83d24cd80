"""Records of any kind under one path, by our own names: what the remote workbench lists, reads, makes and changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.dataset import Dataset
from workbench.engine import arrow
from workbench.errors import BadRequest, Conflict, Invalid, NotFound, Problem, instead
from workbench.ingest import extend, register
from workbench.records import KINDS, Measurement, Record
from workbench.store.rules import refuse_kept
from workbench.store.scope import Scope
from workbench.store.series import SeriesInfo
from workbench.store.store import Store
from workbench.table import Table, concat
from workbench.work import DATASETS, without_rows

from .. import query
from .. import schemas as s
from ..answers import Blocks, Bytes, Nothing
from ..call import Call
from ..forms import Form
from ..operation import Body, Need, Operation, Parameter
from ..uploading import WHOLE
from . import crud, fields, tables

_ELSEWHERE = ("organizations", "users", "projects", "plots", "raw_data")
KNOWN: dict[str, type[Record]] = {name: cls for name, cls in KINDS.items() if name not in _ELSEWHERE}
"""The kinds that are reached so, by the names of their tables."""
"""Those that may have tables."""
BLOCK_ROWS = 1 << 17
ROWS = "rows"
"""The step under which a table without a plan stands in its Arrow stream."""


def of_path(call: Call) -> type[Record]:
    """The kind that the path names.

    Raises
    ------
    NotFound
        If there is none of that name.
    """
    name = call.path["kind"]
    if name not in KNOWN:
        raise NotFound(f"There is no kind of record '{name[:80]}' here. {instead(name, KNOWN, 'kinds')}")
    return KNOWN[name]


def _record(call: Call) -> Record:
    """The record that the path names, in the project or shared by all of its organization."""
    return call.store.rows.get(of_path(call), call.path["record_id"], call.scope)


def shown(record: Record) -> dict[str, Any]:
    """A record under our own names, without what no answer tells."""
    withheld = s.WITHHELD.get(record.table, frozenset())
    return {name: value for name, value in record.model_dump(mode="json").items() if name not in withheld}


def found(call: Call) -> dict[str, Any]:
    """The record of an id or a name, or a page of all."""
    kind, ref = of_path(call), call.query["ref"]
    if ref is not None:
        return {"items": [shown(call.store.rows.find(kind, ref, call.scope))], "count": 1, "total": 1}
    page = call.store.rows.page(kind, call.scope, limit=call.query["limit"], offset=call.query["offset"])
    return {"items": [shown(one) for one in page.items], "count": page.count, "total": page.total}


def listed(call: Call) -> Bytes:
    """A table of records, as a list step gives them or, of kinds that no plan lists, of their flat fields."""
    kind = of_path(call)
    types = {"where": dict, "fields": list, "limit": int}
    given = fields.read(call.body, types, nullable=("fields", "limit"))
    chosen = None if given.get("fields") is None else fields.texts(given["fields"], "fields")
    limit, where = given.get("limit"), given.get("where", {})
    if limit is not None and not 0 <= limit <= query.MOST_ROWS:
        raise Invalid(Problem(("limit",), f"'limit' is from 0 to {query.MOST_ROWS}.", "out_of_range"))
    if kind.listed_as is None:
        _refuse_other_filters(kind, where)
        return as_arrow(call.work.table(kind, where, chosen, limit))
    return as_arrow(call.work.listing(kind.listed_as, where, chosen, limit))


def _refuse_other_filters(kind: type[Record], where: Mapping[str, Any]) -> None:
    known = ("name", "name_contains")
    problems = [
        Problem(("where", name), f"'{name[:80]}' is no filter of {kind.table}. {instead(name, known, 'filters')}")
        for name, value in where.items()
        if name not in known
    ]
    problems += [
        Problem(("where", name), f"'{name}' is a text.", "string_type")
        for name, value in where.items()
        if name in known and isinstance(value, dict | list)
    ]
    if problems:
        raise Invalid(problems)


def as_arrow(table: Table) -> Bytes:
    """One table on the wire."""
    return Bytes(arrow.to_arrow(Dataset({ROWS: table})), arrow.MEDIA_TYPE)


def create(call: Call) -> dict[str, Any]:
    with call.writing() as db:
        kind = of_path(call)
        data = _given(kind, call.body)
        return shown(call.store.rows.create(kind, data, scope=call.scope, actor=call.actor, connection=db))


def change(call: Call) -> dict[str, Any]:
    kind, record = of_path(call), _record(call)
    with call.writing(record.id) as db:
        data = _given(kind, call.body)
        return shown(call.store.rows.update(kind, record.id, data, call.scope, call.actor, connection=db))


def delete(call: Call) -> Nothing:
    crud.delete(call, _record(call))
    return Nothing()


def _given(kind: type[Record], body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a body, without those that no caller sets."""
    refuse_kept(kind, body)
    return dict(body)


# Sampled data


def samples(call: Call) -> Blocks:
    """A stored table of a record, exact, in blocks of rows; where it changes meanwhile, the answer breaks off."""
    record, dataset = _record(call), call.query["dataset"]
    columns = call.query["columns"] or None
    if call.query["life"]:
        if not isinstance(record, Measurement) or dataset == "series" or columns is not None:
            raise BadRequest("Columns over the life of a cell stand with all steps or cycles of a measurement.")
        return _streamed(call, iter([call.work.over_life(record, dataset)]))
    with call.store.snapshot():
        info = call.store.series.info(record.id, dataset, scope=call.scope)
        if info is None or dataset != "series" or info.rows <= BLOCK_ROWS:
            return _streamed(call, iter([call.work.samples(record, dataset, columns)]))
        first = call.work.sampled(record.id, dataset, columns, rows=(0, BLOCK_ROWS))
    return _streamed(call, _blocks(call.store, call.scope, info, first))


def _streamed(call: Call, parts: Iterator[Table]) -> Blocks:
    compression = arrow.compression_of(call.headers.get("accept", ""))
    return Blocks(arrow.blocks(ROWS, parts, compression), None, arrow.MEDIA_TYPE)


def _blocks(store: Store, scope: Scope, info: SeriesInfo, first: Table) -> Iterator[Table]:
    yield first
    for start in range(BLOCK_ROWS, info.rows, BLOCK_ROWS):
        with store.snapshot():
            if store.series.info(info.owner, info.dataset, scope=scope) != info:
                raise Conflict("These data have changed since their first row was read; ask again.")
            part = store.series.read(
                info.owner,
                first.names,
                rows=(start, min(start + BLOCK_ROWS, info.rows)),
                dataset=info.dataset,
                scope=scope,
            )
        yield part


def create_with_tables(call: Call) -> dict[str, Any]:
    """A record with its tables, all or nothing; samples of a measurement pass the checks at the door."""
    kind, form = of_path(call), call.body
    form.only("fields", "sign", "columns", *DATASETS)
    if not kind.samples:
        raise BadRequest(f"A {kind.label} has no tables.")
    data = form.json("fields")
    if not isinstance(data, dict):
        raise Invalid(Problem(("fields",), "'fields' is an object of field name to value.", "dict_type"))
    data = _given(kind, data)
    rows = _rows if kind is Measurement else _some_rows
    parts = {name: _sent(form, name, rows(call, name)) for name in DATASETS if name in form.files}
    if kind is not Measurement or "series" not in parts:
        return shown(tables.create(call, kind, data, parts, wire=False))
    steps = concat(list(_whole(call, "steps"))) if "steps" in parts else None
    sign = form.get("sign")
    if sign not in (None, "discharge"):
        raise BadRequest("On the wire a positive current is a discharge; turn the others before they are sent.")
    with call.writing(instance=data.get("instance_id")):
        pass  # its account: what is read next takes long, and would keep all other writers away
    settled = sign is not None
    made = register(call.store, call.scope, data, parts["series"], steps=steps, settled=settled, actor=call.actor)
    return shown(made)


def _rows(call: Call, name: str) -> tables.Parts:
    """The rows of a file of the form; that there are some is for the checks of samples to say."""
    form: Form = call.body
    return call.state.apart.tables(form.files[name].path, name)


def _some_rows(call: Call, name: str) -> tables.Parts:
    """The rows of a file of the form; one without any is refused."""
    parts = _rows(call, name)
    if next(parts(), None) is None:
        raise without_rows(name)
    return parts


def _whole(call: Call, name: str) -> Iterator[Table]:
    form: Form = call.body
    return _sent(form, name, call.state.apart.tables(form.files[name].path, name, most=WHOLE))()


def _sent(form: Form, name: str, parts: tables.Parts) -> tables.Parts:
    """The rows of a file of the form, its columns called as ``columns`` of the form says: a name in a parquet file
    cannot be everything that a column can be called."""
    told = form.json("columns", {})
    names = told.get(name) if isinstance(told, dict) else told
    if names is None:
        return parts
    names = fields.texts(names if isinstance(names, list) else [None], "columns")

    def named() -> Iterator[Table]:
        for part in parts():
            if len(names) != len(part):
                message = f"The file '{name}' has {len(part)} columns, 'columns' names {len(names)} of them."
                raise Invalid(Problem(("columns", name), message, "value_error"))
            yield Table(dict(zip(names, part.values(), strict=True)), part.n)

    return named


def more_samples(call: Call) -> dict[str, Any]:
    """Append samples to a running measurement."""
    record = _record(call)
    if not isinstance(record, Measurement):
        raise BadRequest(f"A {record.label} is not extended; a measurement is.")
    call.body.only("series", "columns")
    call.body.file("series")
    more = list(_whole(call, "series"))
    with call.writing(record.id):
        return shown(extend(call.store, call.scope, record.id, more, actor=call.actor))


_PLACE = "/projects/{project_id}/records/{kind}"
_ONE = _PLACE + "/{record_id}"
_FILE = {"type": "string", "format": "binary"}
_TABLES = dict.fromkeys(DATASETS, _FILE)
_LIFE = query.flag("life", "With the columns over the life of the cell.")
_DATASET = Parameter("dataset", {"type": "string", "enum": list(DATASETS)}, "Which table.", default="series")

OPERATIONS = (
    Operation(
        "GET",
        _PLACE,
        found,
        Need.READ,
        "Records of a kind in a project, or the one of an id or a name",
        project="path",
        query=(*query.paging(), query.text("ref", "An id or an exact name.")),
        answer=s.listed(s.FREE),
    ),
    Operation(
        "POST",
        _PLACE,
        create,
        Need.WRITE,
        "Make a record of a kind",
        project="path",
        body=Body(s.FREE),
        answer=s.FREE,
    ),
    Operation(
        "POST",
        _PLACE + "/list",
        listed,
        Need.READ,
        "A table of records with the filters and fields of a list step, as Arrow",
        project="path",
        body=Body(
            s.body(
                {},
                {
                    "where": s.FREE,
                    "fields": {"type": ["array", "null"], "items": s.TEXT},
                    "limit": {"type": ["integer", "null"], "minimum": 0},
                },
            ),
            "small",
        ),
        media=(arrow.MEDIA_TYPE,),
    ),
    Operation(
        "POST",
        _PLACE + "/with-tables",
        create_with_tables,
        Need.WRITE,
        "Make a record with its tables, parquet files of a form; samples of a measurement are checked",
        project="path",
        body=Body(
            s.body({"fields": s.TEXT}, {"sign": s.TEXT, "columns": s.TEXT, **_TABLES}), "upload", "multipart"
        ),
        answer=s.FREE,
        heavy=True,
    ),
    Operation(
        "PATCH",
        _ONE,
        change,
        Need.WRITE,
        "Change the named fields of a record",
        project="path",
        body=Body(s.FREE),
        answer=s.FREE,
    ),
    Operation(
        "DELETE",
        _ONE,
        delete,
        Need.WRITE,
        "Delete a record and what belongs to it alone",
        project="path",
        status=204,
    ),
    Operation(
        "GET",
        _ONE + "/table",
        samples,
        Need.READ,
        "A stored table of a record, exact, as Arrow",
        project="path",
        query=(_DATASET, query.text("columns", "Only these columns; may be repeated.", many=True), _LIFE),
        media=(arrow.MEDIA_TYPE,),
        heavy=True,
    ),
    Operation(
        "POST",
        _ONE + "/extend",
        more_samples,
        Need.WRITE,
        "Append samples, a parquet file of a form, to a running measurement",
        project="path",
        body=Body(s.body({"series": _FILE}, {"columns": s.TEXT}), "upload", "multipart"),
        answer=s.FREE,
        heavy=True,
    ),
)
