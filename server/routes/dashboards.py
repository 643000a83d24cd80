"""Dashboards and their plots: saved recipes, every revision of them, their figures and data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench import export
from workbench.engine import arrow
from workbench.errors import Invalid, NotFound, Problem, instead
from workbench.recipe.check import sound
from workbench.records import Dashboard, Plot

from .. import query
from .. import schemas as s
from ..answers import Bytes
from ..call import Call
from ..operation import Body, Need, Operation, Parameter
from . import crud, fields, recipes

_FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


def create_dashboard(call: Call) -> dict[str, Any]:
    above = {"project_id": call.path["project_id"]}
    return crud.wire(crud.create(call, Dashboard, crud.placed(Dashboard, call.body, above)))


def _of_project(call: Call) -> Mapping[str, Any]:
    return {"project_id": call.path["project_id"]}


def _of_dashboard(call: Call) -> Mapping[str, Any]:
    return {"dashboard_id": call.path["dashboard_id"]}


def sound_config(call: Call, raw: Any) -> dict[str, Any]:
    """A recipe as it is kept; its script is looked at where scripts are drawn.

    Raises
    ------
    Invalid
        With everything wrong with it or with its script.
    """
    checked = sound(raw)
    call.work.check_script(checked)
    return checked.dump()


def create_plot(call: Call) -> dict[str, Any]:
    given = fields.read(call.body, {"name": str, "config": dict}, required=("name", "config"))
    body = {
        "name": given["name"],
        "config": sound_config(call, given["config"]),
        "dashboard_id": call.path["dashboard_id"],
    }
    return crud.wire(crud.create(call, Plot, body))


def change_plot(call: Call) -> dict[str, Any]:
    """A new revision; a change that started from an older one than the newest is refused with both numbers."""
    types = {"name": str, "config": dict, "revision": int}
    given = fields.read(call.body, types, required=("revision",))
    if not 0 <= given["revision"] <= _STARTED["maximum"]:
        message = f"'revision' is a whole number from 0 to {_STARTED['maximum']}."
        raise Invalid(Problem(("revision",), message, "int_range"))
    if "config" in given:
        given["config"] = sound_config(call, given["config"])
    return crud.wire(crud.change(call, call.record(Plot), given))


def dataset(call: Call) -> Bytes:
    """The data of a saved plot, for who draws it at home."""
    config, values = _saved(call)
    return recipes.data(call, config, values)


def figure(call: Call) -> Bytes:
    config, values = _saved(call)
    return recipes.shown(call.work.figure(config, values, cancel=call.cancel))


def detail(call: Call) -> dict[str, Any]:
    config, values = _saved(call, *recipes.DETAIL, "y")
    return recipes.detailed(call, config, values)


def _saved(call: Call, *further: str) -> tuple[Any, dict[str, Any]]:
    """The recipe of a plot, its newest or that of the revision that the body names, and the values."""
    _, values = recipes.parts(call.body, "revision", *further, config=False)
    plot, number = call.record(Plot), call.body.get("revision")
    if number is None or number == plot.revision:
        return call.state.recipes.of(plot), values
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 1 << 31:
        raise Invalid(Problem(("revision",), "'revision' is a whole number from 1.", "int_type"))
    return call.work.revision(plot, number).config, values


def data(call: Call) -> Bytes:
    """The traces of a plot in long form, or the rows of one step, as a file."""
    plot, asked = call.record(Plot), call.query
    values = asked["values"] or {}
    if asked["step"] is None:
        table = export.traces(call.work.figure(plot.config, values, cancel=call.cancel).figure)
    else:
        steps = call.work.dataset(plot.config, values, cancel=call.cancel).steps
        if asked["step"] not in steps:
            message = f"The plan has no step '{asked['step'][:80]}'. {instead(asked['step'], steps, 'steps')}"
            raise Invalid(Problem(("step",), message, "value_error"))
        table = export.step_table(steps[asked["step"]])
    write = export.table_csv if asked["format"] == "csv" else export.table_parquet
    told = {"content-disposition": f'attachment; filename="data.{asked["format"]}"'}
    return Bytes(write(table), _FORMATS[asked["format"]], told)


def revisions(call: Call) -> dict[str, Any]:
    found = [one.model_dump(mode="json") for one in call.work.history(call.record(Plot))]
    start = call.query["offset"]
    items = found[start : start + call.query["limit"]]
    return {"items": items, "count": len(items), "total": len(found)}


def restore(call: Call) -> dict[str, Any]:
    number = call.path["number"]
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise NotFound(f"The plot has no revision '{number[:40]}'.")
    with call.writing(call.path["plot_id"], revision=int(number)):
        return crud.wire(call.work.restore(call.record(Plot), int(number)))


_BOARD, _PLOT = s.kind(Dashboard), s.kind(Plot)
_BOARDS = "/projects/{project_id}/dashboards"
_ONE = _BOARDS + "/{dashboard_id}"
_PLOTS = _ONE + "/plots"
_PLACE = _PLOTS + "/{plot_id}"
_GIVEN = s.given(Dashboard)
_GIVEN["properties"].pop("project_id")
_CHANGED = s.given(Dashboard, changing=True)
_CHANGED["properties"].pop("project_id")
_REVISION = s.record(
    {
        "plot_id": s.TEXT,
        "revision": s.NUMBER,
        "name": s.TEXT,
        "config": s.FREE,
        "origin": s.TEXT,
        "created_at": s.TIME,
    },
    {"created_by": s.TEXT_OR_NULL, "created_by_email": s.TEXT_OR_NULL},
)
_STARTED: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": (1 << 31) - 1}
_CHOSEN = {"values": s.FREE, "revision": {"type": ["integer", "null"], "minimum": 1, "maximum": (1 << 31) - 1}}

OPERATIONS = (
    Operation(
        "GET",
        _BOARDS,
        crud.lists(Dashboard, narrowed=_of_project),
        Need.READ,
        "The dashboards of a project",
        project="path",
        query=query.listing(Dashboard),
        answer=s.listed(_BOARD),
    ),
    Operation(
        "POST",
        _BOARDS,
        create_dashboard,
        Need.WRITE,
        "Make a dashboard",
        project="path",
        body=Body(_GIVEN, "small"),
        answer=_BOARD,
    ),
    Operation("GET", _ONE, crud.reads(Dashboard), Need.READ, "One dashboard", project="path", answer=_BOARD),
    Operation(
        "PATCH",
        _ONE,
        crud.changes(Dashboard),
        Need.WRITE,
        "Change a dashboard",
        project="path",
        body=Body(_CHANGED, "small"),
        answer=_BOARD,
    ),
    Operation(
        "DELETE",
        _ONE,
        crud.deletes(Dashboard),
        Need.WRITE,
        "Delete a dashboard with its plots",
        project="path",
        status=204,
    ),
    Operation(
        "GET",
        _PLOTS,
        crud.lists(Plot, narrowed=_of_dashboard),
        Need.READ,
        "The plots of a dashboard",
        project="path",
        query=query.listing(Plot),
        answer=s.listed(_PLOT),
    ),
    Operation(
        "POST",
        _PLOTS,
        create_plot,
        Need.WRITE,
        "Save a recipe as a plot",
        project="path",
        body=Body(s.body({"name": s.NAME, "config": s.ref("PlotConfig")}), "small"),
        answer=_PLOT,
        heavy=True,
    ),
    Operation("GET", _PLACE, crud.reads(Plot), Need.READ, "One plot", project="path", answer=_PLOT),
    Operation(
        "PATCH",
        _PLACE,
        change_plot,
        Need.WRITE,
        "Change a plot: a new revision, started from the one that the body names",
        project="path",
        body=Body(
            s.body({"revision": _STARTED}, {"name": s.NAME, "config": s.ref("PlotConfig")}),
            "small",
        ),
        answer=_PLOT,
        heavy=True,
    ),
    Operation(
        "DELETE",
        _PLACE,
        crud.deletes(Plot),
        Need.WRITE,
        "Delete a plot with its revisions",
        project="path",
        status=204,
    ),
    Operation(
        "GET",
        f"{_PLACE}/revisions",
        revisions,
        Need.READ,
        "All revisions of a plot, the oldest first",
        project="path",
        query=query.paging(),
        answer=s.listed(_REVISION),
    ),
    Operation(
        "POST",
        f"{_PLACE}/revisions/{{number}}/restore",
        restore,
        Need.WRITE,
        "Make an earlier revision the newest one",
        project="path",
        answer=_PLOT,
    ),
    Operation(
        "POST",
        f"{_PLACE}/dataset",
        dataset,
        Need.READ,
        "The data of a plot with chosen values, as JSON or Arrow",
        project="path",
        body=Body(s.body({}, _CHOSEN), "small", optional=True),
        answer=recipes.DATASET,
        media=(arrow.MEDIA_TYPE,),
        heavy=True,
    ),
    Operation(
        "POST",
        f"{_PLACE}/figure",
        figure,
        Need.READ,
        "The figure of a plot with chosen values",
        project="path",
        body=Body(s.body({}, _CHOSEN), "small", optional=True),
        answer=recipes.FIGURE,
        heavy=True,
    ),
    Operation(
        "POST",
        f"{_PLACE}/figure/detail",
        detail,
        Need.READ,
        "Finer detail of a part of the figure of a plot",
        project="path",
        body=Body(s.body(recipes.DETAIL, {**_CHOSEN, **recipes.MORE_DETAIL}), "small"),
        answer=recipes.TRACES,
        heavy=True,
    ),
    Operation(
        "GET",
        f"{_PLACE}/data",
        data,
        Need.READ,
        "The traces of a plot in long form, or the rows of a step, as a file",
        project="path",
        query=(
            Parameter("format", {"type": "string", "enum": list(_FORMATS)}, "Of the file.", default="csv"),
            query.text("step", "The rows of this step, not the traces."),
            query.values_parameter(),
        ),
        media=tuple(_FORMATS.values()),
        heavy=True,
    ),
)
