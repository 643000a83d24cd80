"""Simulations and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import Invalid, NotFound, Problem
from workbench.records import Model, Project, Simulation, Specification, Study
from workbench.table import time_text, to_micros

from .. import access, query
from .. import schemas as s
from ..answers import Redirect
from ..call import Call
from ..forms import Form
from ..operation import Body, Need, Operation, Parameter
from . import crud, fields, storage, tables
from .cells import only_project

_BY = ("parameterized_model_id", "study_id", "experiment_template_id", "project_id")
_TEXTS = ("name", "model_id", "cell_specification_id", "state", "error", "notes")


def shown(call: Call, simulations: Sequence[Simulation]) -> list[dict[str, Any]]:
    """Simulations on the wire; a folder of results says that one is finished."""
    return [
        {
            **crud.wire(one),
            "storage_folder": f"simulations/{one.id}" if one.state == "completed" else None,
            "job_id": None,
        }
        for one in simulations
    ]


def listed(call: Call) -> dict[str, Any]:
    asked = {name: call.query[name] for name in _BY if call.query[name] is not None}
    if not asked:
        raise Invalid(Problem(("study_id",), f"Give one of {', '.join(_BY)}.", "missing"))
    narrowed: dict[str, Any] = {}
    if "study_id" in asked:
        narrowed["study_id"] = access.under(call, Study, asked["study_id"]).id
    if "parameterized_model_id" in asked:
        narrowed["model_id"] = {"in": [asked["parameterized_model_id"]]}
    if "experiment_template_id" in asked:
        narrowed["id"] = {"in": []}  # there are no templates of experiments here
    if call.query["state"] is not None:
        narrowed["state"] = call.query["state"]
    page = call.store.rows.page(Simulation, call.scope, **query.page(Simulation, call.query, **narrowed))
    return {"simulations": shown(call, page.items), "total": page.total, "model_scalar_parameters": {}}


def statuses(call: Call) -> list[dict[str, Any]]:
    given = fields.read(
        call.body, {"simulation_ids": list, "limit": int}, required=("simulation_ids",), nullable=("limit",)
    )
    ids = fields.texts(given["simulation_ids"], "simulation_ids")
    limit = given.get("limit")
    if limit is not None and limit < 1:
        raise Invalid(Problem(("limit",), "'limit' is at least 1.", "out_of_range"))
    page = call.store.rows.page(Simulation, call.scope, where={"id": {"in": ids}}, limit=limit or len(ids))
    return [
        {
            "simulation_id": one.id,
            "status": one.state,
            "error": one.error,
            "error_code": None,
            "updated_at": time_text(to_micros(one.updated_at)),
        }
        for one in page.items
    ]


def create(call: Call) -> dict[str, Any]:
    """A simulation that ran elsewhere, with its results."""
    form: Form = call.body
    form.only("time_series", "file", "steps", "project_id", "study_id", "metrics", "source", *_TEXTS)
    study = None if form.get("study_id") is None else access.under(call, Study, form.fields["study_id"])
    if call.project is None:
        access.enter(call, only_project(call))
    sent = form.files.get("time_series") or form.file("file")
    parts = {"series": tables.sent_table(call, sent)}
    if "steps" in form.files:
        parts["steps"] = tables.sent_table(call, form.files["steps"])
    values: dict[str, Any] = {name: form.fields[name] for name in _TEXTS if name in form.fields}
    values |= {name: form.json(name) for name in ("metrics", "source") if name in form.fields}

    def assign(id: str) -> None:
        if study is not None:
            call.store.rows.assign(study.id, Simulation, id, call.scope)

    fields = {**values, "project_id": call.scope.project_id}
    made = tables.create(call, Simulation, fields, parts, also=assign)
    return shown(call, [made])[0]


def time_series(call: Call) -> Redirect:
    return _download(call, "series", "time_series.parquet")


def steps(call: Call) -> Redirect:
    return _download(call, "steps", "steps.parquet")


def _download(call: Call, dataset: str, filename: str) -> Redirect:
    record = call.record(Simulation)
    if record.state != "completed":
        raise NotFound(f"This simulation has no results yet (it is {record.state}).")
    return Redirect(storage.of_series(call, record.id, dataset, filename, "simulation"))


_ONE = s.kind(Simulation)
_PLACE = "/simulations/{simulation_id}"
_FILE = {"type": "string", "format": "binary"}
_STATES = ["queued", "running", "completed", "failed"]

OPERATIONS = (
    Operation(
        "GET",
        "/simulations",
        listed,
        Need.READ,
        "Simulations of a model, a study or a project",
        project="query",
        query=(
            *query.listing(Simulation),
            query.text("parameterized_model_id", "Simulated with this model.", kind=Model),
            query.text("study_id", "Assigned to this study.", kind=Study),
            query.text("experiment_template_id", "There are none here, so nothing is found."),
            query.text("project_id", "Of this project.", kind=Project),
            Parameter("state", {"type": "string", "enum": _STATES}, "In this state."),
            query.flag("summary", "Has no effect: lists are short."),
        ),
        answer=s.record({"simulations": s.array(_ONE), "total": s.NUMBER, "model_scalar_parameters": s.FREE}),
    ),
    Operation(
        "POST",
        "/simulations/statuses",
        statuses,
        Need.READ,
        "The states of several simulations",
        body=Body(
            s.body({"simulation_ids": s.array(s.TEXT)}, {"limit": {"type": ["integer", "null"]}}),
            ids={"simulation_ids": Simulation},
        ),
        answer=s.array(
            s.record(
                {
                    "simulation_id": s.TEXT,
                    "status": s.TEXT,
                    "error": s.TEXT_OR_NULL,
                    "error_code": s.TEXT_OR_NULL,
                    "updated_at": s.TIME,
                }
            )
        ),
    ),
    Operation(
        "POST",
        "/simulations",
        create,
        Need.WRITE,
        "Keep a simulation that ran elsewhere: its time series and steps as parquet files",
        project="body",
        body=Body(
            s.body(
                {"name": s.NAME},
                {
                    **dict.fromkeys(_TEXTS[1:], s.TEXT),
                    **dict.fromkeys(("project_id", "study_id", "metrics", "source"), s.TEXT),
                    **dict.fromkeys(("time_series", "file", "steps"), _FILE),
                },
            ),
            "upload",
            "multipart",
            ids={
                "project_id": Project,
                "study_id": Study,
                "model_id": Model,
                "cell_specification_id": Specification,
            },
        ),
        answer=_ONE,
        heavy=True,
    ),
    Operation(
        "GET", _PLACE, crud.reads(Simulation, shown), Need.READ, "One simulation", project="record", answer=_ONE
    ),
    Operation(
        "DELETE",
        _PLACE,
        crud.deletes(Simulation),
        Need.WRITE,
        "Delete a simulation with its results",
        project="record",
        status=204,
    ),
    Operation(
        "GET",
        f"{_PLACE}/time_series/download",
        time_series,
        Need.READ,
        "Redirect to the time series as parquet",
        project="record",
        status=307,
    ),
    Operation(
        "GET",
        f"{_PLACE}/steps/download",
        steps,
        Need.READ,
        "Redirect to the steps as parquet",
        project="record",
        status=307,
    ),
)
