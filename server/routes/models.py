"""Models of a project, of the organization and of the system."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form
from pydantic import AfterValidator, Field

from workbench.errors import Conflict
from workbench.records import Model, Project

from .. import records
from ..auth import BodyWriter, QueryReader, RecordReader, RecordWriter
from ..kept_answers import from_store
from ..parameters import Asked, ids_of, listing
from ..parameters import Text as QueryText
from ..requests import strict_json
from ..routing import Route, heavy
from ..schemas import Body, Changed, FilePart, Given, Name, Page, Shown, Text, id_of, wire
from . import tables

router = APIRouter(route_class=Route, tags=["Models"])

_PLACE = "/models/{model_id}"


def _filled(value: str) -> str:
    if not value.strip():
        raise ValueError("An expression must not be blank.")
    return value


class CustomModel(Body):
    """A model with its file of model data."""

    file: FilePart
    name: Name
    chemistry: Text | None = None
    description: Text | None = None
    simulator_version: Text | None = None
    project_id: Annotated[Text | None, id_of(Project)] = None


class Variable(Body):
    """A variable of a model."""

    name: Name
    expression: Annotated[
        Text, AfterValidator(_filled), Field(json_schema_extra={"minLength": 1, "pattern": r"\S"})
    ]


@router.get("/models")
@from_store()
def list_models(
    context: QueryReader,
    asked: Annotated[Asked, listing(Model)],
    project_id: Annotated[
        QueryText | None, ids_of(Project, "Models of this project, and those of no project.")
    ] = None,
) -> Page[Shown[Model]]:
    """Models of a project, of the organization and of the system."""
    return records.listed(context, Model, asked)


@router.post("/models")
def create_model(context: BodyWriter, body: Given[Model]) -> Shown[Model]:
    """Make a model; without a project it belongs to the whole organization."""
    return wire(records.create(context, Model, {"project_id": None, **body}))


@router.post("/models/upload-custom")
@heavy
def upload_model(context: BodyWriter, form: Annotated[CustomModel, Form()]) -> Shown[Model]:
    """Make a model from a file of model data.

    The file is JSON, and it is kept as it was sent.
    """
    sent = context.saved(form.file)
    strict_json(sent.path.read_bytes(), "The file")
    kept = tables.keep(context, sent)
    given = form.model_dump(exclude={"file"}, exclude_unset=True)
    data = {"project_id": None, **given, "config": {}, "is_custom_model": True}
    with context.writing(form.name) as db:
        made = context.store.rows.create(Model, data, scope=context.scope, actor=context.actor, connection=db)
        context.store.uploads.attach(db, made.id, "model", kept)
    return wire(made)


@router.get(_PLACE)
@from_store()
def read_model(context: RecordReader) -> Shown[Model]:
    """One model."""
    return wire(context.record(Model))


@router.patch(_PLACE)
def change_model(context: RecordWriter, body: Changed[Model]) -> Shown[Model]:
    """Change a model; simulation settings of null clear them."""
    return wire(records.change(context, context.record(Model), body))


@router.delete(_PLACE, status_code=204)
def delete_model(context: RecordWriter) -> None:
    """Delete a model."""
    records.delete(context, context.record(Model))


@router.post(f"{_PLACE}/custom-variables")
def set_variable(context: RecordWriter, model_id: str, body: Variable) -> Shown[Model]:
    """Add a variable to a model, or give one another expression."""
    rows = context.store.rows
    with context.writing() as db:
        config = rows.get(Model, model_id, context.scope).config
        there = config.get("custom_variables")
        # A config is free JSON, so that its maker may have put anything there.
        if not (there is None or isinstance(there, dict)):
            raise Conflict(
                "The config of this model has 'custom_variables' that are not an object. Change it first."
            )
        variables = {**(there or {}), body.name: body.expression}
        changes = {"config": {**config, "custom_variables": variables}}
        changed = rows.update(Model, model_id, changes, context.scope, context.actor, connection=db)
    return wire(changed)
