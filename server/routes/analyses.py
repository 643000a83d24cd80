"""Analyses of measurements, computed elsewhere, with their tables."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form

from workbench.errors import Invalid, Problem
from workbench.records import Analysis, Measurement, Project
from workbench.store.records.people import Right

from .. import auth, records
from ..auth import AnyWriter, QueryReader, RecordReader, RecordWriter
from ..kept_answers import from_store
from ..parameters import Asked, Text, ids_of, listing
from ..routing import Route, heavy, takes
from ..schemas import Body, Changed, FilePart, JsonText, Name, Page, Shown, id_of, wire
from ..schemas import Text as BodyText
from . import storage, tables

router = APIRouter(route_class=Route, tags=["Analyses"])

_PLACE = "/analyses/{analysis_id}"


class NewAnalysis(Body):
    """An analysis with its table, a parquet file."""

    file: FilePart
    measurement_id: Annotated[BodyText, id_of(Measurement)]
    name: Name
    analysis_type: Name
    columns: JsonText = None
    plots: JsonText = None
    metadata: JsonText = None
    notes: BodyText | None = None


@router.get("/analyses")
@from_store()
def list_analyses(
    context: QueryReader,
    asked: Annotated[Asked, listing(Analysis, most=100, order="desc")],
    measurement_id: Annotated[Text | None, ids_of(Measurement, "The measurement.")] = None,
    project_id: Annotated[Text | None, ids_of(Project, "The project.")] = None,
) -> Page[Shown[Analysis]]:
    """The analyses of a measurement or of a project, newest first."""
    if (measurement_id is None) == (project_id is None):
        message = "Give exactly one of 'measurement_id' and 'project_id'."
        raise Invalid(Problem(("measurement_id",), message, "missing" if project_id is None else "value_error"))
    if measurement_id is None:
        return records.listed(context, Analysis, asked, project_id=project_id)
    measurement = auth.under(context, Measurement, measurement_id, Right.READ)
    return records.listed(context, Analysis, asked, measurement_id=measurement.id)


@router.post("/analyses")
@heavy
@takes("upload")
def create_analysis(context: AnyWriter, form: Annotated[NewAnalysis, Form()]) -> Shown[Analysis]:
    """Keep an analysis with its table, a parquet file."""
    auth.under(context, Measurement, form.measurement_id)
    table = tables.sent_table(context, context.saved(form.file))
    described = tables.one_name_each(form.columns) if form.columns not in (None, []) else tables.described(table)
    given = form.model_dump(exclude={"file", "columns"}, exclude_none=True)
    made = tables.create(context, Analysis, {**given, "columns": described}, {"series": table})
    return wire(made)


@router.get(_PLACE)
@from_store()
def read_analysis(context: RecordReader) -> Shown[Analysis]:
    """One analysis."""
    return wire(context.record(Analysis))


@router.patch(_PLACE)
def change_analysis(context: RecordWriter, body: Changed[Analysis]) -> Shown[Analysis]:
    """Change an analysis."""
    return wire(records.change(context, context.record(Analysis), body))


@router.delete(_PLACE, status_code=204)
def delete_analysis(context: RecordWriter) -> None:
    """Delete an analysis."""
    records.delete(context, context.record(Analysis))


@router.get(f"{_PLACE}/download-url")
def read_address(context: RecordReader, analysis_id: str) -> storage.Address:
    """A signed address of the table as parquet."""
    path = storage.of_series(context, context.record(Analysis).id, "series", "data.parquet", "analysis")
    return {"url": context.base_url + path}
