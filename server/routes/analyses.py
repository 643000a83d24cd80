"""Analyses of measurements: what was computed elsewhere, kept with its table."""

from __future__ import annotations

from typing import Any

from workbench.errors import Invalid, Problem
from workbench.records import Analysis, Measurement, Project

from .. import access, query
from .. import schemas as s
from ..call import Call
from ..forms import Form
from ..operation import Body, Need, Operation, Parameter
from . import crud, storage, tables

_FIELDS = ("measurement_id", "name", "analysis_type", "notes")


def listed(call: Call) -> dict[str, Any]:
    asked = {name: call.query[name] for name in ("measurement_id", "project_id") if call.query[name] is not None}
    if len(asked) != 1:
        message = "Give exactly one of 'measurement_id' and 'project_id'."
        raise Invalid(Problem(("measurement_id",), message, "missing" if not asked else "value_error"))
    narrowed: dict[str, Any] = {}
    if "measurement_id" in asked:
        narrowed["measurement_id"] = access.under(call, Measurement, asked["measurement_id"]).id
    else:
        narrowed["project_id"] = call.scope.project_id
    page = call.store.rows.page(Analysis, call.scope, **query.page(Analysis, call.query, **narrowed))
    return {"items": crud.plain(call, page.items), "count": page.count, "total": page.total}


def create(call: Call) -> dict[str, Any]:
    form: Form = call.body
    form.only("file", *_FIELDS, "columns", "plots", "metadata")
    if form.get("measurement_id") is None:
        raise Invalid(Problem(("measurement_id",), "'measurement_id' is missing.", "missing"))
    access.under(call, Measurement, form.fields["measurement_id"])
    table = tables.sent_table(call, form.file())
    fields = {
        **{name: form.fields[name] for name in _FIELDS if name in form.fields},
        "columns": _columns(form.json("columns"), table),
        **{name: value for name in ("plots", "metadata") if (value := form.json(name)) is not None},
    }
    return crud.wire(tables.create(call, Analysis, fields, {"series": table}))


def _columns(given: Any, table: Any) -> list[dict[str, Any]]:
    if given is None or given == []:
        return tables.described(table)
    return [{**column, "unit": column.get("unit") or ""} for column in tables.one_name_each(given)]


def download_url(call: Call) -> dict[str, Any]:
    path = storage.of_series(call, call.record(Analysis).id, "series", "data.parquet", "analysis")
    return {"url": call.base_url + path}


_ONE = s.kind(Analysis)
_PLACE = "/analyses/{analysis_id}"

OPERATIONS = (
    Operation(
        "GET",
        "/analyses",
        listed,
        Need.READ,
        "The analyses of a measurement or of a project, newest first",
        project="query",
        query=(
            *query.listing(Analysis, most=100, order="desc"),
            Parameter("measurement_id", meaning="The measurement.", kind=Measurement),
            Parameter("project_id", meaning="The project.", kind=Project),
        ),
        answer=s.listed(_ONE),
    ),
    Operation(
        "POST",
        "/analyses",
        create,
        Need.WRITE,
        "Keep an analysis with its table, a parquet file",
        body=Body(
            s.body(
                {
                    "file": {"type": "string", "format": "binary"},
                    "measurement_id": s.TEXT,
                    "name": s.NAME,
                    "analysis_type": s.NAME,
                },
                {"columns": s.TEXT, "plots": s.TEXT, "metadata": s.TEXT, "notes": s.TEXT},
            ),
            "upload",
            "multipart",
            ids={"measurement_id": Measurement},
        ),
        answer=_ONE,
        heavy=True,
    ),
    Operation("GET", _PLACE, crud.reads(Analysis), Need.READ, "One analysis", project="record", answer=_ONE),
    Operation(
        "PATCH",
        _PLACE,
        crud.changes(Analysis),
        Need.WRITE,
        "Change an analysis",
        project="record",
        body=Body(s.given(Analysis, changing=True), ids={"measurement_id": Measurement}),
        answer=_ONE,
    ),
    Operation(
        "DELETE", _PLACE, crud.deletes(Analysis), Need.WRITE, "Delete an analysis", project="record", status=204
    ),
    Operation(
        "GET",
        f"{_PLACE}/download-url",
        download_url,
        Need.READ,
        "A signed address of the table as parquet",
        project="record",
        answer=s.record({"url": s.TEXT}),
    ),
)
