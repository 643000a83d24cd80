"""Links for outsiders: made by who may change the project, opened by whoever has one, revoked at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Literal, NamedTuple, NotRequired

from fastapi import APIRouter, Query
from pydantic import Field, JsonValue
from starlette.responses import Response
from typing_extensions import TypedDict

from workbench import export
from workbench.backend import FigureAnswer
from workbench.errors import Conflict, Invalid, NotFound, Problem, instead
from workbench.recipe.plot import PlotConfig
from workbench.recipe.values import effective, same_key
from workbench.records import Dashboard, Plot
from workbench.store.records.shares import LONGEST_DAYS, Share, Wanted
from workbench.table import time_text

from ..auth import Outsider, ProjectWriter
from ..context import RequestContext, Slow
from ..parameters import Values
from ..responses import CSV, JSON, PARQUET, attachment, dumps
from ..routing import Route, heavy, takes
from ..schemas import Body, Json, Text, id_of
from .dashboards import Chosen, config_of
from .recipes import FigureShown, Part, TracesShown, detail, drawn, figure_response

router = APIRouter(route_class=Route, tags=["Links for outsiders"])

_SHARES = "/projects/{project_id}/shares"
_PLOT = "/shared/{token}/plots/{shown_plot_id}"
_QUIET = {"x-robots-tag": "noindex", "cache-control": "no-store"}
_ASK = "Ask the person who sent the link for a new one."
_NOT_DRAWN = "This plot cannot be drawn now. The person who sent the link sees the reason when they open the plot."
_OF_PART = ("traces", "x", "y", "width")
_MEDIA = {"csv": CSV, "parquet": PARQUET}


class NewShare(Body):
    """What a link shows.

    ``values`` has the fixed values by plot id and param name; other params have their defaults. ``view_params`` lets
    outsiders change params of kind view; those of kind data stay as they are, since their choices would list the cells
    of the project. ``downloads`` lets them have the plotted values, ``embed`` lets the sites that the operator names
    show it in a frame.
    """

    dashboard_id: Annotated[Text, id_of(Dashboard)]
    plot_id: Annotated[Text | None, id_of(Plot)] = None
    revision: Annotated[int | None, Field(ge=1, le=(1 << 31) - 1)] = None
    values: dict[Text, Json] = Field(default_factory=dict)
    days: Annotated[float, Field(gt=0, le=LONGEST_DAYS)] = 30.0
    view_params: bool = True
    downloads: bool = False
    embed: bool = False


class ShareShown(TypedDict):
    """A link; ``token`` and ``path`` are in the answer that makes it, and never again."""

    id: str
    dashboard_id: str
    plot_id: str | None
    revision: int | None
    values: dict[str, Json]
    view_params: bool
    downloads: bool
    embed: bool
    created_by: str
    created_at: str
    expires_at: str
    revoked_at: str | None
    used_at: str | None
    uses: int
    token: NotRequired[str]
    path: NotRequired[str]


class SharedPlot(TypedDict):
    """A plot of a link, and its place on the grid of 12 columns; without a place null."""

    id: str
    name: str
    place: dict[str, int] | None


class Shared(TypedDict):
    """What a link shows."""

    name: str
    description: str | None
    plots: list[SharedPlot]
    view_params: bool
    downloads: bool
    embed: bool
    expires_at: str


class SharedDetail(Part):
    """The part of a figure that is wanted in detail, and chosen values of params of kind view."""

    values: Json = Field(default_factory=dict)


@router.get(_SHARES)
def list_shares(context: ProjectWriter, project_id: str) -> list[ShareShown]:
    """The links of a project, also those that are over, the newest first."""
    return [_shown(one) for one in context.store.shares.of_project(project_id)]


@router.post(_SHARES)
@takes("small")
def create_share(context: ProjectWriter, project_id: str, body: NewShare) -> ShareShown:
    """Make a link to a dashboard or a plot, for people without a key. The answer has its token, once."""
    _refuse_unknown(context, body)
    wanted = Wanted(**body.model_dump(exclude={"days"}))
    with context.writing(body.plot_id or body.dashboard_id, days=body.days, downloads=body.downloads) as db:
        share, token = context.store.shares.create(db, wanted, body.days, context.scope, context.actor)
    return {**_shown(share), "token": token, "path": f"/s/{token}"}


def _refuse_unknown(context: RequestContext, body: NewShare) -> None:
    """Refuse a link that could show nothing: with a revision that does not exist, values of other plots than those of
    the dashboard, or values that the params do not take."""
    if body.plot_id is not None and body.revision is not None:
        context.backend.revision(context.store.rows.get(Plot, body.plot_id, context.scope), body.revision)
    problems = []
    for id, values in body.values.items():
        plot = context.store.rows.get(Plot, id, context.scope)
        if plot.dashboard_id != body.dashboard_id:
            raise NotFound(f"There is no plot '{plot.id}'.")
        config = config_of(context, plot, Chosen(revision=body.revision if id == body.plot_id else None))
        known = config.params
        problems += [
            Problem(
                ("values", id, name),
                f"There is no param '{name[:80]}'. {instead(name, known, 'params')}",
                "unknown_param",
            )
            for name in values
            if name not in known
        ]
        try:
            effective(config, {name: value for name, value in values.items() if name in known})
        except Invalid as error:
            problems += [Problem(("values", id, *p.loc[1:]), p.msg, p.type, p.ctx) for p in error.problems]
    if problems:
        raise Invalid(problems)


@router.delete(_SHARES + "/{share_id}", status_code=204)
def revoke_share(context: ProjectWriter, project_id: str, share_id: str) -> None:
    """Revoke a link at once."""
    with context.writing(share_id) as db:
        context.store.shares.revoke(db, project_id, share_id)


@router.get("/shared/{token}", response_model=Shared)
def read_shared(context: Outsider) -> Response:
    """What a link shows: names and places of its plots."""
    share = context.shared
    context.store.shares.used(share)
    board = context.store.rows.get(Dashboard, share.dashboard_id, context.scope)
    tiles = {tile.plot_id: {"x": tile.x, "y": tile.y, "w": tile.w, "h": tile.h} for tile in board.layout}
    plots = context.backend.plots(board)
    shown: Shared = {
        "name": board.name,
        "description": board.description,
        "plots": [
            {"id": one.id, "name": one.name, "place": tiles.get(one.id)}
            for one in plots
            if share.plot_id in (None, one.id)
        ],
        "view_params": share.view_params,
        "downloads": share.downloads,
        "embed": share.embed,
        "expires_at": time_text(share.expires_at),
    }
    return Response(dumps(shown), 200, _QUIET, JSON)


@router.get(_PLOT + "/figure", response_model=FigureShown)
def read_shared_figure(context: Outsider, shown_plot_id: str, values: Values = None) -> Response | Slow:
    """The figure of a plot of a link. ``values`` are of params of kind view; others are refused."""
    seen = _seen(context, shown_plot_id, values or {})

    def respond(config: PlotConfig, found: FigureAnswer) -> Response:
        seen.refuse_others(found.values)
        return figure_response(config, found, _QUIET, only=seen.turned)

    with seen.said_outside():
        answer = drawn(context, seen.config, seen.values, respond)
    return Slow(lambda: seen.outside(answer)) if isinstance(answer, Slow) else answer


@router.post(_PLOT + "/figure/detail")
@heavy
@takes("small")
def read_shared_detail(context: Outsider, shown_plot_id: str, body: SharedDetail) -> TracesShown:
    """Finer detail of a part of the figure of a plot of a link."""
    seen, backend = _seen(context, shown_plot_id, body.values), context.backend
    with seen.said_outside(), context.store.snapshot():
        whole = backend.cached_figure(seen.config, seen.values)
        if whole is None:
            whole = backend.figure(seen.config, seen.values, cancel=context.cancel)
        seen.refuse_others(whole.values)
        return detail(context, seen.config, seen.values, body)


@router.get(
    _PLOT + "/data", response_class=Response, responses={200: {"content": {one: {} for one in _MEDIA.values()}}}
)
@heavy
def read_shared_data(
    context: Outsider,
    shown_plot_id: str,
    format: Annotated[Literal["csv", "parquet"], Query(description="Of the file.")] = "csv",
    values: Values = None,
) -> Response:
    """The plotted values of a plot of a link, if it allows downloads."""
    if not context.shared.downloads:
        raise NotFound("This link does not allow downloads.")
    seen = _seen(context, shown_plot_id, values or {})
    with seen.said_outside():
        drawn = context.backend.figure(seen.config, seen.values, cancel=context.cancel)
        seen.refuse_others(drawn.values)
        content = export.file(drawn.figure, format)
    return Response(content, 200, {**_QUIET, **attachment(f"plot.{format}")}, _MEDIA[format])


class _Seen(NamedTuple):
    """A plot as an outsider asked for it.

    ``values`` are those that the link sets, ``fixed``, and those that the outsider chose of the params that may be
    ``turned``.
    """

    config: PlotConfig
    values: Json
    fixed: Json
    turned: frozenset[str]

    def refuse_others(self, values: Mapping[str, JsonValue]) -> None:
        """Refuse to show the plot with other values than those that the link sets: what does not exist any more, as a
        cell that has another name, is replaced on a plot by its default or by the first choice, and that may be what
        the link leaves out. Of several values some may be gone."""
        meant = effective(self.config, self.fixed)
        for name in self.fixed:
            if not _within(values.get(name), meant[name]):
                raise Conflict(
                    f"What this link shows of a plot does not exist any more, or has another name. {_ASK}"
                )

    @contextmanager
    def said_outside(self) -> Iterator[None]:
        """Inside, an error says nothing of the recipe, of fixed values, and of what the script printed."""
        try:
            yield
        except Invalid as error:
            said = [
                problem
                for problem in error.problems
                if problem.loc[:1] in {(name,) for name in _OF_PART}
                or (problem.loc[:1] == ("values",) and self.turned.intersection(map(str, problem.loc[1:2])))
            ]
            raise Invalid(said or Problem((), _NOT_DRAWN, "not_drawn")) from error

    def outside(self, slow: Slow) -> Response:
        """The response of slow work, or an error that outsiders may read."""
        with self.said_outside():
            return slow.work()


def _within(value: JsonValue, meant: JsonValue) -> bool:
    if not isinstance(value, list) or not isinstance(meant, list):
        return same_key(value) == same_key(meant)
    return bool(value) == bool(meant) and set(map(same_key, value)) <= set(map(same_key, meant))


def _seen(context: RequestContext, id: str, given: Json) -> _Seen:
    """A plot of the link as an outsider asked for it.

    Raises
    ------
    NotFound, Conflict, Invalid
        If the link does not show it, cannot show it any more, or sets a value that was given.
    """
    share = context.shared
    plot = context.store.rows.get(Plot, id, context.scope)
    if plot.dashboard_id != share.dashboard_id or share.plot_id not in (None, plot.id):
        raise NotFound(f"There is no plot '{plot.id}'.")
    config = config_of(context, plot, Chosen(revision=share.revision))
    gone = [name for name in share.values.get(plot.id, {}) if name not in config.params]
    if gone:  # without it the plot could show what the link leaves out
        raise Conflict(
            f"This link sets a value of its plot. The plot was changed and has no '{gone[0][:80]}' any more. {_ASK}"
        )
    turned = _turned(share, config)
    fixed = [name for name in given if name not in turned]
    if fixed:
        raise Invalid(
            [Problem(("values", name), f"'{name[:80]}' is fixed in this link.", "value_error") for name in fixed]
        )
    set_by_link = share.values.get(plot.id, {})
    return _Seen(
        config, {**set_by_link, **given}, {n: v for n, v in set_by_link.items() if n not in given}, turned
    )


def _turned(share: Share, config: PlotConfig) -> frozenset[str]:
    """The params that outsiders may change."""
    if not share.view_params:
        return frozenset()
    return frozenset(name for name, one in config.params.items() if one.kind == "view" and one.control is not None)


def _shown(share: Share) -> ShareShown:
    def text(moment: int | None) -> str | None:
        return None if moment is None else time_text(moment)

    return {
        "id": share.id,
        "dashboard_id": share.dashboard_id,
        "plot_id": share.plot_id,
        "revision": share.revision,
        "values": share.values,
        "view_params": share.view_params,
        "downloads": share.downloads,
        "embed": share.embed,
        "created_by": share.created_by,
        "created_at": time_text(share.created_at),
        "expires_at": time_text(share.expires_at),
        "revoked_at": text(share.revoked_at),
        "used_at": text(share.used_at),
        "uses": share.uses,
    }
