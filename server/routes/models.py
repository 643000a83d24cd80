"""Models: of the organization, of a project, and the system's."""

from __future__ import annotations

from typing import Any

from workbench.errors import Invalid, Problem
from workbench.records import Model, Project

from .. import body as bodies
from .. import query
from .. import schemas as s
from ..call import Call
from ..forms import Form
from ..operation import Body, Need, Operation, Parameter
from . import crud, fields, tables

_TEXTS = ("name", "chemistry", "description", "simulator_version")


def create(call: Call) -> dict[str, Any]:
    return crud.wire(crud.create(call, Model, {"project_id": None, **call.body}))


def upload_custom(call: Call) -> dict[str, Any]:
    """A model that brings its own model data, a JSON file, which is kept as it was sent."""
    form: Form = call.body
    form.only("file", "project_id", *_TEXTS)
    sent = form.file()
    bodies.strict_json(sent.path.read_bytes(), "The file")
    kept = tables.keep(call, sent)
    values: dict[str, Any] = {name: form.fields[name] for name in _TEXTS if name in form.fields}
    data = {**values, "config": {}, "is_custom_model": True, "project_id": form.get("project_id")}
    with call.writing(form.get("name")) as db:
        made = call.store.rows.create(Model, data, scope=call.scope, actor=call.actor, connection=db)
        call.store.uploads.attach(db, made.id, "model", kept)
    return crud.wire(made)


def custom_variable(call: Call) -> dict[str, Any]:
    """Add a variable, or give one another expression."""
    given = fields.read(call.body, {"name": str, "expression": str}, required=("name", "expression"))
    fields.name(given["name"], ("name",))
    if not given["expression"].strip():
        raise Invalid(Problem(("expression",), "An expression must not be blank.", "value_error"))
    with call.writing() as db:
        record = call.store.rows.get(Model, call.record(Model).id, call.scope)
        variables = {**record.config.get("custom_variables", {}), given["name"]: given["expression"]}
        config = {**record.config, "custom_variables": variables}
        changed = call.store.rows.update(
            Model, record.id, {"config": config}, call.scope, call.actor, connection=db
        )
    return crud.wire(changed)


_ONE = s.kind(Model)
_PLACE = "/models/{model_id}"
_IDS = {"project_id": Project}

OPERATIONS = (
    Operation(
        "GET",
        "/models",
        crud.lists(Model),
        Need.READ,
        "Models of a project, of the organization and of the system",
        project="query",
        query=(
            *query.listing(Model),
            Parameter("project_id", meaning="Of this project, beside those of no project.", kind=Project),
        ),
        answer=s.listed(_ONE),
    ),
    Operation(
        "POST",
        "/models",
        create,
        Need.WRITE,
        "Make a model; without a project it belongs to the whole organization",
        project="body",
        body=Body(s.given(Model), ids={**_IDS, "source_model_id": Model}),
        answer=_ONE,
    ),
    Operation(
        "POST",
        "/models/upload-custom",
        upload_custom,
        Need.WRITE,
        "Make a model from a file of model data",
        project="body",
        body=Body(
            s.body(
                {"file": {"type": "string", "format": "binary"}, "name": s.NAME},
                {**dict.fromkeys(_TEXTS[1:], s.TEXT), "project_id": s.TEXT},
            ),
            "large",
            "multipart",
            ids=_IDS,
        ),
        answer=_ONE,
        heavy=True,
    ),
    Operation("GET", _PLACE, crud.reads(Model), Need.READ, "One model", project="record", answer=_ONE),
    Operation(
        "PATCH",
        _PLACE,
        crud.changes(Model),
        Need.WRITE,
        "Change a model; simulation settings of null clear them",
        project="record",
        body=Body(s.given(Model, changing=True), ids={"source_model_id": Model}),
        answer=_ONE,
    ),
    Operation("DELETE", _PLACE, crud.deletes(Model), Need.WRITE, "Delete a model", project="record", status=204),
    Operation(
        "POST",
        f"{_PLACE}/custom-variables",
        custom_variable,
        Need.WRITE,
        "Add a variable to a model",
        project="record",
        body=Body(s.body({"name": s.NAME, "expression": s.FILLED})),
        answer=_ONE,
    ),
)
