"""The page itself: how large it gets, and its HTML."""

from __future__ import annotations

import html as markup
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import orjson
from pydantic import JsonValue
from typing_extensions import TypedDict

from ..errors import BadRequest, Invalid, ScriptError
from ..export import CONFIG, inside_script
from ..inert_page import fitted_notes, inert_script, page_start
from ..passport import Passport
from ..passport.passport import KEY
from ..plotly_files import needed_by, source_of
from ..recipe.check import sound
from ..recipe.plot import PlotConfig
from .choices import Choices, choices_of
from .packing import Pool, packed_size

MOST_FIGURES = 200
"""Most figures of a page; those of a dashboard share them."""
MOST_BYTES = 10_000_000
"""Most bytes of a page."""
_HERE = Path(__file__).parent
_PAGE_BYTES = 12_000


class Drawn(Protocol):
    """A drawn figure, as a page needs it."""

    @property
    def figure(self) -> bytes: ...
    @property
    def values(self) -> dict[str, JsonValue]: ...
    @property
    def options(self) -> dict[str, list[dict[str, JsonValue]]]: ...
    @property
    def warnings(self) -> list[dict[str, Any]]: ...


Draw = Callable[[Mapping[str, JsonValue]], Drawn]
Told = Callable[[int, int, str], None]
"""Called with the number of figures that are done, of how many, and a word."""


@dataclass(frozen=True)
class Source:
    """A plot of a page.

    Parameters
    ----------
    config : its recipe, or what was saved as one.
    values : the chosen values; the other params have their defaults.
    draw : gives the figure for values, or raises Invalid or ScriptError.
    said : gives the passport of a drawn figure.
    """

    name: str
    config: Mapping[str, JsonValue] | PlotConfig
    values: Mapping[str, JsonValue]
    draw: Callable[[Mapping[str, JsonValue]], Any]
    said: Callable[[Any], Passport]
    description: str = ""


class FixedShown(TypedDict):
    """A param that stays fixed in a page, and why."""

    plot: str
    label: str
    why: str


class PageSize(TypedDict):
    """What a page would hold: how many figures, about how many bytes, and which params stay fixed."""

    figures: int
    bytes: int
    most_figures: int
    most_bytes: int
    turning: int
    fixed: list[FixedShown]


@dataclass(frozen=True)
class Sheet:
    """A plot of a page, looked at: its first figure, or why there is none, and its choices."""

    source: Source
    drawn: Drawn | None
    choices: Choices = field(default_factory=Choices)
    error: Invalid | ScriptError | None = None

    @property
    def problem(self) -> str:
        return "" if self.error is None else str(self.error)


def looked_at(sources: Sequence[Source], *, controls: bool = True) -> list[Sheet]:
    """Draw the first figure of each plot and find what can be turned; without ``controls`` nothing is."""
    most = max(1, MOST_FIGURES // max(1, len(sources)))
    return [_sheet(one, most if controls else 1) for one in sources]


def _sheet(source: Source, most: int) -> Sheet:
    try:
        config = source.config if isinstance(source.config, PlotConfig) else sound(source.config)
        drawn = source.draw(source.values)
    except (Invalid, ScriptError) as error:
        return Sheet(source, None, error=error)
    return Sheet(source, drawn, choices_of(config, drawn.values, drawn.options, most))


def alone(source: Source) -> Sheet:
    """As `looked_at` for a page of one plot.

    Raises
    ------
    Invalid, ScriptError
        If it cannot be drawn.
    """
    (sheet,) = looked_at([source])
    if sheet.error is not None:
        raise sheet.error
    return sheet


def size_of(sheets: Sequence[Sheet]) -> PageSize:
    """What the page of these plots would hold, before its figures are computed. The bytes are estimated from the first
    figure of each plot, as if the figures had nothing in common: most pages are smaller."""
    drawn = [one.drawn.figure for one in sheets if one.drawn is not None]
    plots = sum(one.choices.figures * packed_size(one.drawn.figure) for one in sheets if one.drawn is not None)
    return {
        "figures": sum(one.choices.figures for one in sheets if one.drawn is not None),
        "bytes": len(plotly_for(drawn)) + _PAGE_BYTES + plots,
        "most_figures": MOST_FIGURES,
        "most_bytes": MOST_BYTES,
        "turning": sum(len(one.choices.turning) for one in sheets),
        "fixed": [
            {"plot": one.source.name, "label": fixed.label, "why": fixed.why}
            for one in sheets
            for fixed in one.choices.fixed
        ],
    }


def page(
    title: str,
    sheets: Sequence[Sheet],
    *,
    day: str = "",
    description: str = "",
    report: bool = False,
    told: Told | None = None,
) -> bytes:
    """The page of plots that were looked at. It computes the figures of all choices.

    With ``report`` the values are written below each figure, to be printed.

    Raises
    ------
    BadRequest
        If it would have more than ``MOST_BYTES``; says how large it is and what to do.
    """
    made = parts_of(title, sheets, day=day, description=description, report=report, told=told)
    text = f"{made.before}{made.library}{made.after}".encode()
    if len(text) > MOST_BYTES:
        raise BadRequest(
            f"The page would have {len(text) / 1e6:.1f} MB for its {size_of(sheets)['figures']} figures; it may have "
            f"{MOST_BYTES / 1e6:.0f} MB. Export it without controls, or fewer plots at once."
        )
    return text


class PageParts(NamedTuple):
    """A page in three parts, of which the middle one is plotly.js."""

    before: str
    library: str
    after: str


def parts_of(
    title: str,
    sheets: Sequence[Sheet],
    *,
    day: str = "",
    description: str = "",
    report: bool = False,
    told: Told | None = None,
) -> PageParts:
    """The page of plots that were looked at, as `page` without its limit, for who puts several pages into one file."""
    pool, total = Pool(), size_of(sheets)["figures"]
    shown: list[bytes] = []
    content: list[JsonValue] = []
    for sheet in sheets:
        content.append(_content(sheet, pool, shown, lambda word: told and told(len(shown), total, word)))
    head = "".join(f'<p class="said">{markup.escape(text)}</p>\n' for text in (description, day) if text)
    body = head + "".join(
        _section(number, one, alone=len(sheets) == 1, report=report) for number, one in enumerate(sheets)
    )
    before, after = _html(title, sheets, body, pool.packed(content))
    return PageParts(before, plotly_for(shown), after)


def _content(sheet: Sheet, pool: Pool, shown: list[bytes], say: Callable[[str], None]) -> JsonValue:
    """A plot as the script of the page takes it."""
    turning: list[JsonValue] = [
        {"name": one.name, "label": one.label, "slider": one.slider, "labels": [*one.labels], "first": one.first}
        for one in sheet.choices.turning
    ]
    if sheet.drawn is None:
        problem: JsonValue = {"figure": None, "notes": [], "problem": sheet.problem}
        return {"turning": [], "figures": [problem]}
    figures: list[JsonValue] = []
    for place, given in enumerate(sheet.choices.combinations()):
        say(sheet.source.name)
        figures.append(pool.keep(_figure(sheet, sheet.drawn, place, given, shown)))
    return {"turning": turning, "figures": figures}


def _figure(
    sheet: Sheet, first: Drawn, place: int, given: Mapping[str, JsonValue], shown: list[bytes]
) -> dict[str, JsonValue]:
    """The figure of a combination with its notes, or why there is none."""
    try:
        drawn = first if place == sheet.choices.first else sheet.source.draw({**first.values, **given})
    except (Invalid, ScriptError) as error:
        shown.append(b"")
        return {"figure": None, "notes": [], "problem": str(error)}
    shown.append(drawn.figure)
    return {"figure": orjson.loads(drawn.figure), "notes": [str(one["message"]) for one in drawn.warnings]}


def plotly_for(figures: Sequence[bytes]) -> str:
    """plotly.js for these figures: the small file if it draws all of them, else the whole."""
    small = all(needed_by(orjson.loads(figure)) == "small" for figure in figures if figure)
    return source_of("small" if small else "whole")


def _html(title: str, sheets: Sequence[Sheet], body: str, packed: str) -> tuple[str, str]:
    """The page up to plotly.js, and after it."""
    said = "".join(_passport(number, one, alone=len(sheets) == 1) for number, one in enumerate(sheets))
    before = f"""{page_start(title)}
{said}<style>{_text("page.css")}</style>
<script>{inert_script()}</script>
<script>"""
    after = f"""</script>
</head>
<body>
<h1>{markup.escape(title)}</h1>
{body}
<script type="application/json" id="config">{inside_script(orjson.dumps(CONFIG))}</script>
<script type="application/octet-stream" id="packed">{packed}</script>
<script>
{fitted_notes()}
{_text("page.js")}</script>
</body>
</html>
"""
    return before, after


@cache
def _text(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


def _passport(number: int, sheet: Sheet, *, alone: bool) -> str:
    if sheet.drawn is None:
        return ""
    said = inside_script(sheet.source.said(sheet.drawn).as_json())
    return f'<script type="application/json" id="{KEY if alone else f"{KEY}-{number}"}">{said}</script>\n'


def _section(number: int, sheet: Sheet, *, alone: bool, report: bool) -> str:
    """The place of a plot: its name, controls, figure, notes, and what stays fixed."""
    name = "" if alone else f"<h2>{markup.escape(sheet.source.name)}</h2>"
    about = f'<p class="said">{markup.escape(sheet.source.description)}</p>' if sheet.source.description else ""
    rows = "".join(
        f"<dt>{markup.escape(one.label)}</dt><dd>{markup.escape(one.value)}"
        + (f" <i>({markup.escape(one.why)})</i></dd>" if one.why and not report else "</dd>")
        for one in sheet.choices.fixed
    )
    wrong = f'<li class="problem">{markup.escape(sheet.problem)}</li>' if sheet.problem else ""
    word = "Fixed in this file" if sheet.choices.turning or not report else "Values"
    fixed = (
        f"<details{' open' if report else ''}><summary>{word}</summary><dl>{rows}</dl></details>" if rows else ""
    )
    return (
        f'<section id="plot-{number}" aria-label="{markup.escape(sheet.source.name, quote=True)}">{name}{about}'
        f'<div class="controls"></div><div class="figure"></div><ul class="notes">{wrong}</ul>{fixed}</section>\n'
    )
