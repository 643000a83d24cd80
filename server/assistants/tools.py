"""The tools of assistants: each is a route of the HTTP interface, with bounds on what it answers."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pydantic import JsonValue

from workbench.errors import BadRequest, NotFound, WorkbenchError, instead

from .. import errors
from ..routes.kinds import KNOWN
from ..schemas import Json
from . import answers
from .answers import MOST_ROWS, ROWS, Answer
from .arguments import DRAFT, PROJECT, RECIPE, Refused, Request, Shape, refuse_wrong, request, shape
from .asking import Asking, Reply

Arguments = Mapping[str, JsonValue]
Answering: TypeAlias = Callable[["Call", Reply], Awaitable[Answer]]
"""Makes the answer of a tool from the answer of its route."""

_P = "/projects/{project_id}"
_BOARD = f"{_P}/dashboards/{{dashboard_id}}"
_PLOT = f"{_BOARD}/plots/{{plot_id}}"
_SESSION = "/agent/sessions/{session_id}"


@dataclass(frozen=True)
class Call:
    """A call of a tool: who asks, with which arguments, and the request that it made."""

    asking: Asking
    given: Arguments
    made: Request

    def number(self, name: str, usual: int) -> int:
        """A whole number among the arguments, within the bounds of rows."""
        value = self.given.get(name, usual)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_ROWS:
            raise BadRequest(f"'{name}' is a whole number from 0 to {MOST_ROWS}.")
        return value

    async def also(self, method: str, path: str, body: JsonValue = None, query: Json | None = None) -> Reply:
        """The answer to one more request."""
        return await self.asking.ask(method, path, query, body)


def _nothing(given: Arguments) -> Arguments:
    return {}


def _with_parts(given: Arguments) -> Arguments:
    """A message of the assistant: its remark, and its draft."""
    said: list[JsonValue] = [{"type": "text", "text": given["say"]}] if "say" in given else []
    parts: list[JsonValue] = [*said, {"type": "draft", "draft": given["draft"]}]
    return {"role": "assistant", "content": {"parts": parts}}


def _as_a_new_plot(given: Arguments) -> Arguments:
    """A new id, where a call names no plot."""
    return {} if "plot_id" in given or "new_plot_id" in given else {"new_plot_id": str(uuid.uuid4())}


async def _as_it_is(call: Call, reply: Reply) -> Answer:
    return Answer(reply.json())


@dataclass(frozen=True)
class Tool:
    """A tool of assistants.

    Parameters
    ----------
    route : the route whose arguments, rights and limits it has.
    words : what it is for; by default what the route says of itself.
    hidden : arguments of the route that calls cannot have.
    sets : the arguments of the route that the tool sets itself, from those of a call.
    own : further arguments, by name: their JSON Schema. Calls must have those of ``needs``.
    schemas : schemas of arguments of the route that say more than the route can.
    answer : makes the answer from that of the route.
    writes : it changes something.
    """

    name: str
    route: str
    words: str = ""
    hidden: tuple[str, ...] = ()
    sets: Callable[[Arguments], Arguments] = _nothing
    own: Mapping[str, Json] = field(default_factory=dict)
    schemas: Mapping[str, Json] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    answer: Answering = _as_it_is
    writes: bool = False

    @property
    def shape(self) -> Shape:
        return shape(self.route)

    @property
    def description(self) -> str:
        return self.words or self.shape.words

    @property
    def properties(self) -> dict[str, Json]:
        """The JSON Schema of each argument."""
        parts = self.shape.parts
        routed = {
            name: self.schemas.get(name, part.schema) for name, part in parts.items() if name not in self.hidden
        }
        return {**routed, **self.own}

    @property
    def required(self) -> list[str]:
        """The arguments that every call needs."""
        parts = self.shape.parts
        routed = [name for name in self.properties if name in parts and parts[name].required and name != PROJECT]
        return [*routed, *self.needs]

    @property
    def input_schema(self) -> Json:
        """The JSON Schema of all arguments."""
        return {
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": False,
        }


_ROWS: Json = {
    "type": "integer",
    "minimum": 0,
    "maximum": MOST_ROWS,
    "default": ROWS,
    "description": "Most rows of each step, and points of each series. What is left out is said under 'shown'.",
}
_POINTS: Json = {
    **_ROWS,
    "default": 0,
    "description": "How many plotted points to give as rows besides their ranges.",
}
_PICTURE: Json = {"type": "boolean", "default": True, "description": "With a picture (png)."}
_OF_FIGURE: Mapping[str, Json] = {"rows": _POINTS, "picture": _PICTURE}


async def _data(call: Call, reply: Reply) -> Answer:
    return Answer(answers.data(reply.json(), call.number("rows", ROWS)))


async def _rows(call: Call, reply: Reply) -> Answer:
    return Answer(answers.rows(reply))


async def _in_numbers(call: Call, reply: Reply) -> Answer:
    return Answer(await answers.figure(reply.json(), call.number("rows", 0)))


async def _drawn(call: Call, reply: Reply) -> Answer:
    """The numbers of a figure, and its picture where the server can draw one."""
    said = await answers.figure(reply.json(), call.number("rows", 0))
    if call.given.get("picture") is False:
        return Answer(said)
    if call.made.path.endswith("/figures"):
        picture = await call.also("POST", f"{call.made.path}/picture", call.made.body)
    else:
        asked = {name: value for name, value in (call.made.body or {}).items() if value is not None}
        picture = await call.also(
            "GET", f"{call.made.path.removesuffix('/figure')}/export", query={**asked, "format": "png"}
        )
    if picture.ok:
        return Answer(said, png=picture.content)
    return Answer({**said, "picture": f"There is no picture: {picture.json().get('message')}"})


async def _context(call: Call, reply: Reply) -> Answer:
    """The two texts of a wish, which is kept as a message of its session."""
    said = reply.json()
    body: Json = {"role": "user", "content": {"text": (call.made.body or {}).get("prompt")}}
    kept = await call.also("POST", f"/agent/sessions/{said['session_id']}/messages", body)
    return Answer(said) if kept.ok else answers.refused(kept.status, kept.json())


async def _draft_kept(call: Call, reply: Reply) -> Answer:
    """What is wrong with a draft that was kept, and what it draws, so that the assistant can send a better one."""
    session = (await call.also("GET", f"/agent/sessions/{call.given['session_id']}")).json()
    answer: Json = {"say": call.given.get("say") or "", "draft": call.given["draft"]}
    path = f"/projects/{session.get('project_id')}/authoring/answers"
    body: Json = {"answer": answer}
    checked = await call.also("POST", path, body)
    if not checked.ok:
        return answers.refused(checked.status, {"kept": reply.json().get("id"), **checked.json()})
    found = {name: part for name, part in checked.json().items() if name in _OF_CHECK and part}
    return Answer({"kept": reply.json().get("id"), "problems": [], **found})


_OF_CHECK = ("problems", "warnings", "hints", "numbers", "log", "words")
"""What the check of an answer says, but for the figure."""


TOOLS: tuple[Tool, ...] = (
    Tool("list_projects", "GET /projects", "The projects that the key opens."),
    Tool("search", "GET /search"),
    Tool(
        "catalog",
        f"GET {_P}/catalog",
        "The sources of plans in a project: columns, units, counts, kinds of tests.",
    ),
    Tool(
        "list_records",
        f"POST {_P}/records/{{kind}}/list",
        "Records of a kind, with the filters and fields of a `list` step of a plan.",
        schemas={"kind": {"type": "string", "enum": sorted(KNOWN)}},
        answer=_rows,
    ),
    Tool("gallery", f"GET {_P}/gallery", "Ready recipes for the project, and what others lack."),
    Tool("gallery_recipe", f"GET {_P}/gallery/{{name}}", "A ready recipe, made for what the project has."),
    Tool(
        "draw_gallery",
        f"POST {_P}/gallery/{{name}}/figure",
        "A ready recipe drawn for the project, in numbers. For a picture give its recipe to draw_figure.",
        own={"rows": _POINTS},
        answer=_in_numbers,
    ),
    Tool(
        "list_plots",
        f"GET {_BOARD}/plots",
        "The saved plots of a dashboard.",
        hidden=("config",),
        sets=lambda _: {"config": False},
    ),
    Tool("read_plot", f"GET {_PLOT}", "A saved plot with its recipe."),
    Tool(
        "draw_plot",
        f"POST {_PLOT}/figure",
        "A saved plot: its picture, and its numbers.",
        own=_OF_FIGURE,
        answer=_drawn,
    ),
    Tool(
        "authoring_context",
        f"POST {_BOARD}/authoring-context",
        "How to write a recipe for a wish in this project: rules, columns, helpers, examples. Opens a session; its id "
        "is for save_draft and accept_draft. Read it before you write a recipe.",
        answer=_context,
        writes=True,
    ),
    Tool(
        "check_recipe",
        f"POST {_P}/recipes/check",
        "Everything that is wrong with a recipe, and how to fix it.",
        schemas={"config": RECIPE},
    ),
    Tool("run_plan", f"POST {_P}/datasets", "The data of a plan.", own={"rows": _ROWS}, answer=_data),
    Tool(
        "draw_figure",
        f"POST {_P}/figures",
        "The figure of a recipe that is not saved: its picture, and its numbers. Scripts run locked in.",
        own=_OF_FIGURE,
        answer=_drawn,
    ),
    Tool("create_dashboard", f"POST {_P}/dashboards", "A new dashboard for plots.", writes=True),
    Tool(
        "save_draft",
        f"POST {_SESSION}/messages",
        "Keep a draft in a session, with a remark to the person. Answers what is wrong with it, and what it draws in "
        "numbers. It is not a plot yet.",
        hidden=("role", "content"),
        sets=_with_parts,
        own={
            "draft": DRAFT,
            "say": {"type": "string", "description": "A remark to the person, in the language of the wish."},
        },
        needs=("draft",),
        answer=_draft_kept,
        writes=True,
    ),
    Tool(
        "accept_draft",
        f"POST {_BOARD}/authoring-decision",
        "Save the newest sound draft of a session as a plot: a new one, or with plot_id its next revision.",
        sets=_as_a_new_plot,
        writes=True,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}


async def called(asking: Asking, name: str, given: Arguments) -> Answer:
    """The answer of a tool. What is wrong with a call is an answer too, in words that help to call again."""
    try:
        tool = BY_NAME.get(name)
        if tool is None:
            raise NotFound(f"There is no tool '{name[:80]}'. {instead(name, BY_NAME, 'tools')}")
        refuse_wrong(name, given, tool.properties, tool.required)
        here = replace(asking, tool=name)
        made = await request(here, tool.shape, {**given, **tool.sets(given)})
        reply = await here.ask(made.method, made.path, made.query, made.body)
        if not reply.ok:
            return answers.refused(reply.status, reply.json())
        answer = await tool.answer(Call(here, given, made), reply)
        _ = answer.text  # an answer that is too long is refused here
    except Refused as error:
        return answers.refused(error.status, error.body)
    except WorkbenchError as error:
        return answers.refused(error.status, _body(error))
    return answer


def _body(error: WorkbenchError) -> Json:
    return {**errors.body(error)}
