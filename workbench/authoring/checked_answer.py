"""The checked loop's one step: an answer is read, checked, run, drawn and looked at. All that is wrong comes at once.

``examine`` is the only way in which a draft of somebody else becomes a picture that a person may accept: the notebook,
the page, the command, HTTP, and the programs that ask a language model all call it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from typing_extensions import TypedDict

from ..dataset import Dataset
from ..engine.look import wrong_steps
from ..engine.reader import Cancel, Progress
from ..errors import Invalid, Problem, ProblemDetail, ScriptError, near
from ..lint import Lint, hints
from ..recipe.check import sound
from ..recipe.jsontext import plain
from ..recipe.parse import parse_draft
from ..recipe.plot import PlotConfig
from ..recipe.shapes import without
from ..recipe.strict import Raw
from ..transform.used_names import KEY_PROBLEM
from ..typed_arrays import decode
from .answer import place_in, read_answer
from .edits import HOW, edited
from .emptied import null_columns, reasons
from .numbers import FigureNumbers, numbers_of

NOTHING = "nothing_drawn"
"""The code of lint for a figure without points: for a draft it is a problem."""
DROPPED = "step_empty"
"""The code of a hint: a step of the plan gave no rows, or lost whole tests."""
EMPTY_FIGURE = "empty_figure"
"""The type of the problem of such a draft."""
EMPTY = (
    "The figure has no points at its defaults. Choose defaults that draw something; or, if the project does not hold "
    "what is asked, say so and send no draft."
)
REPAIRED = frozenset({"list_truncated", "options_truncated", "field_unfilled", "window_empty", "needs_unmet"})
"""Warnings of a drawn draft that go back to its author, since the draft can avoid them."""
MOST_WORDS = 12_000
"""Characters of the words for the author."""


class Finding(TypedDict):
    """A warning of an answer, or what lint found: a code and a sentence."""

    code: str
    message: str


class CheckedAnswer(BaseModel):
    """An answer after the check: what it says, and what its draft draws or what is wrong with it."""

    model_config = ConfigDict(frozen=True)

    say: str = Field("", description="What the author says to the person.")
    draft: dict[str, JsonValue] | None = Field(
        None, description="The draft, a name and a recipe, as it was sent or edited."
    )
    problems: list[ProblemDetail] = Field(
        default_factory=list,
        description="All that is wrong, each with its place in the answer; empty if it is sound.",
    )
    warnings: list[Finding] = Field(default_factory=list, description="Warnings of the data.")
    hints: list[Finding] = Field(default_factory=list, description="What lint finds in the figure.")
    figure: dict[str, JsonValue] | None = Field(None, description="The figure of plotly, drawn with the defaults.")
    values: dict[str, JsonValue] = Field(default_factory=dict, description="The values it was drawn with.")
    numbers: FigureNumbers | None = Field(None, description="The figure in numbers.")
    log: str = Field("", description="What the script printed.")
    timings: dict[str, float] = Field(default_factory=dict, description="Milliseconds of each stage.")
    words: str = Field("", description="What to give back to the author to repair; empty if nothing is to be.")

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """What is shown: the words, the name of the draft, and what is wrong; not the recipe and the figure."""
        yield "say", self.say
        yield "draft", self.draft and self.draft.get("name")
        yield "is_sound", self.is_sound
        yield from ((name, value) for name in ("problems", "warnings", "hints") if (value := getattr(self, name)))

    @property
    def is_sound(self) -> bool:
        """Whether there is a draft, and a picture of it that shows something."""
        return self.draft is not None and not self.problems


class Shown(Protocol):
    """A drawn figure; `workbench.drawing.FigureAnswer` is one."""

    @property
    def figure(self) -> bytes: ...
    @property
    def values(self) -> dict[str, JsonValue]: ...
    @property
    def warnings(self) -> list[dict[str, Any]]: ...
    @property
    def timings(self) -> dict[str, float]: ...
    @property
    def log(self) -> str: ...
    @property
    def lint(self) -> list[Lint]: ...
    @property
    def data(self) -> Dataset | None: ...
    @property
    def cache(self) -> dict[str, str]: ...


class Draws(Protocol):
    """A store as one user sees it, that checks and draws recipes; `workbench.local.LocalBackend` is one."""

    def check(
        self, config: Raw, values: Mapping[str, JsonValue], *, protected: bool | None = None
    ) -> list[Problem]: ...
    def script_problems(self, config: Raw, *, protected: bool | None = None) -> list[Problem]: ...
    def against_store(self, config: PlotConfig, values: Mapping[str, JsonValue]) -> list[Problem]: ...
    def figure(
        self,
        config: Raw,
        values: Mapping[str, JsonValue],
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        *,
        protected: bool | None = None,
        strict: bool = False,
    ) -> Shown: ...


def examine(
    answer: Raw,
    on: Draws,
    values: Mapping[str, JsonValue] | None = None,
    cancel: Cancel | None = None,
    *,
    before: Mapping[str, JsonValue] | None = None,
) -> CheckedAnswer:
    """Check an answer, and draw its draft in a locked process. What is wrong with it is in ``problems``.

    Parameters
    ----------
    answer : a text or an object ``{"say": text, "draft": {"name", "config"} or null}``, or with ``edits``, a list of
        ``{"part", "old", "new"}``, in place of the draft.
    on : the store that it is for.
    values : chosen values by param name; the rest are the defaults.
    cancel : set to stop the drawing.
    before : the draft or plot that edits change.

    Raises
    ------
    NotProtected
        If this machine cannot lock a process: then nothing is drawn.
    """
    read = read_answer(answer)
    problems, draft = [*read.problems], read.draft
    if read.edits is not None and not problems:
        draft, problems = edited(before, read.edits)
    if not isinstance(draft, dict):
        return _settled(CheckedAnswer(say=read.say, problems=[one.as_detail() for one in problems]))
    made = CheckedAnswer(say=read.say, draft=draft)
    config = None if problems else _sound(draft)
    if config is None:
        problems += _of_draft(draft, on, values or {})
        return _settled(made.model_copy(update={"problems": [one.as_detail() for one in problems]}))
    # What is drawn is sound: plan, choices and script have run. Only what fails is looked at for all that is wrong.
    try:
        drawn = on.figure(config, values or {}, cancel=cancel, protected=True, strict=True)
    except Invalid as error:
        return _settled(_failed(made, config, on, values or {}, error, cancel))
    unread = on.script_problems(config, protected=True) if drawn.cache.get("figure") == "hit" else []
    if unread:
        return _settled(_failed(made, config, on, values or {}, Invalid(unread), cancel))
    return _settled(_with_picture(made, drawn))


def _sound(draft: Mapping[str, JsonValue]) -> PlotConfig | None:
    """The recipe of a draft of sound shape and meaning; None if something is wrong with it."""
    try:
        return sound(parse_draft(draft).config)
    except Invalid:
        return None


def _failed(
    made: CheckedAnswer,
    config: PlotConfig,
    on: Draws,
    values: Mapping[str, JsonValue],
    error: Invalid,
    cancel: Cancel | None,
) -> CheckedAnswer:
    """All that is wrong with a draft that was not drawn."""
    if all(one.type == KEY_PROBLEM for one in error.problems):  # a script that was not run: what else fails in it?
        try:
            on.figure(config, values, cancel=cancel, protected=True)
        except Invalid as other:
            error = other
    found = _of_draft(made.draft or {}, on, values)
    if isinstance(error, ScriptError) or not found:  # else the run has failed by what is found
        told = {one.msg for one in found}
        found += [_in_answer(one) for one in error.problems if one.msg.replace("KeyError: ", "", 1) not in told]
    placed = {str(one): one.as_detail() for one in found}
    return made.model_copy(update={"problems": [*placed.values()], "log": getattr(error, "log", "")})


def _in_answer(problem: Problem) -> Problem:
    """A problem of a recipe at its place in the answer."""
    return Problem(place_in(problem.loc), problem.msg, problem.type, problem.ctx)


def _of_draft(draft: Mapping[str, JsonValue], on: Draws, values: Mapping[str, JsonValue]) -> list[Problem]:
    """Everything that is wrong with a draft and can be seen without drawing it, each place in the answer."""
    found: list[Problem] = []
    of_recipe: list[Problem] = []
    try:
        parse_draft(draft)
    except Invalid as error:
        for one in error.problems:
            is_inside = one.loc[:2] == ("draft", "config") and len(one.loc) > 2
            (of_recipe if is_inside else found).append(one)
    config = draft.get("config")
    if isinstance(config, dict):
        more = [
            Problem(place_in(one.loc), one.msg, one.type, one.ctx) for one in problems_at_once(config, on, values)
        ]
        places = {one.loc for one in more}
        # A recipe may be checked without its script; a draft may not be without it.
        found += [*more, *(one for one in of_recipe if one.type == "missing" and one.loc not in places)]
    return found


def problems_at_once(
    config: Mapping[str, Raw], on: Draws, values: Mapping[str, JsonValue] | None = None
) -> list[Problem]:
    """Everything wrong with a recipe: its shape, its script, and what the store says of all parts that are sound.

    A field of wrong shape is left out, and the rest is compared with the store; a step that cannot be read keeps only
    those from being compared that read it.
    """
    chosen = values or {}
    found = list(on.check(config, chosen, protected=True))
    wrong = [one for one in found if one.loc[:2] != ("config", "transform")]
    if not wrong:
        return found
    raw = plain(config)[0]
    rest = without(PlotConfig, raw, [one.loc[1:] for one in wrong if one.loc[:1] == ("config",)])
    places = {one.loc for one in found}
    for one in wrong_steps(raw if rest is None else rest, {}, on.against_store):
        if one.loc not in places and not _is_cut(one, found):
            found.append(one)
            places.add(one.loc)
    return _without_followers(found, raw)


def _without_followers(found: Sequence[Problem], raw: JsonValue) -> list[Problem]:
    """The problems without those that only say that a column is missing which an earlier step misspells: their fix
    would be to misspell it again."""
    misspelt = [
        str(_value_at(raw, one.loc[1:]))
        for one in found
        if one.loc[:3] == ("config", "plan", "steps")
        and "columns" in one.loc[4:5]
        and one.type != "unknown_column"
    ]

    def follows(one: Problem) -> bool:
        return one.type == "unknown_column" and bool(near(str(_value_at(raw, one.loc[1:])), misspelt))

    return [one for one in found if not follows(one)]


def _value_at(raw: JsonValue, loc: Sequence[str | int]) -> JsonValue:
    """What a recipe has at a place; null where it has nothing."""
    for key in loc:
        if isinstance(raw, dict):
            raw = raw.get(str(key))
        else:
            raw = raw[key] if isinstance(raw, list) and isinstance(key, int) and key < len(raw) else None
    return raw


def _is_cut(problem: Problem, found: Sequence[Problem]) -> bool:
    """Whether a problem only says that a part is missing which was left out as wrong."""
    return problem.type in ("missing", "too_short") and any(
        one.loc[: len(problem.loc)] == problem.loc for one in found
    )


def _with_picture(made: CheckedAnswer, drawn: Shown) -> CheckedAnswer:
    found = drawn.lint
    numbers = numbers_of(decode(drawn.figure), drawn.data)
    problems: list[ProblemDetail] = []
    is_empty = any(one.code == NOTHING for one in found)
    why = [] if drawn.data is None else reasons(_steps(made.draft or {}), drawn.data, lists=is_empty)
    if is_empty:
        said = f" It only says: '{' '.join(numbers.sentences)}'" if numbers.sentences else ""
        why += [] if drawn.data is None else null_columns(drawn.data)
        message = " ".join([f"{EMPTY}{said}", *why])
        problems = [Problem(("draft", "config", "transform"), message, EMPTY_FIGURE).as_detail()]
    return made.model_copy(
        update={
            "problems": problems,
            "warnings": [_finding(one) for one in drawn.warnings],
            "hints": [
                *(_finding(one.as_dict()) for one in hints(found) if one.code != NOTHING),
                *({"code": DROPPED, "message": one} for one in (why if not problems else [])),
            ],
            "figure": orjson.loads(drawn.figure),
            "values": drawn.values,
            "numbers": numbers,
            "log": drawn.log,
            "timings": drawn.timings,
        }
    )


def _steps(draft: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """The steps of a draft that was drawn."""
    steps: JsonValue = dict(draft)
    for key in ("config", "plan", "steps"):
        steps = steps.get(key) if isinstance(steps, dict) else None
    return steps if isinstance(steps, dict) else {}


def _finding(raw: Mapping[str, Any]) -> Finding:
    return {"code": str(raw["code"]), "message": str(raw["message"])}


def _settled(made: CheckedAnswer) -> CheckedAnswer:
    return made.model_copy(update={"words": words_for(made)})


def words_for(made: CheckedAnswer) -> str:
    """What the author of an answer is to repair, in words; empty if nothing is."""
    avoidable = [one["message"] for one in made.warnings if one["code"] in REPAIRED]
    remarks = [*avoidable, *(one["message"] for one in made.hints)]
    if not made.problems and not remarks:
        return ""
    lines = [
        f"Repair all of this. Answer again with the whole draft, or with edits of the one as it is now. {HOW}"
    ]
    if made.problems:
        lines += ["", "Problems:", *(f"- {_placed(one)}" for one in made.problems)]
    if remarks:
        lines += ["", "What looks wrong in the figure:", *(f"- {one}" for one in remarks)]
    if made.log:
        lines += ["", f"The script printed:\n{made.log[:2000]}"]
    if made.numbers is not None:
        lines += ["", f"What was drawn: {made.numbers.as_text()}"]
    text = "\n".join(lines)
    return text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 2] + " …"


def _placed(problem: ProblemDetail) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    text = problem.get("ctx", {}).get("text")
    at = f" (`{text}`)" if isinstance(text, str) and text else ""
    return f"{place or 'answer'}: {problem['msg']}{at}"
