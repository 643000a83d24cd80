"""Figures for print: a template whose lengths are those of the printed page, and what journals ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import product

import plotly.graph_objects as go

from .plotly_dict import PlotlyDict, PlotlyValue
from .style import legend, table_heights, template
from .titles import TitleStyle

PX_PER_MM = 96 / 25.4
"""Pixels of plotly and of CSS in a millimetre."""
PX_PER_PT = 96 / 72
MARGIN: Mapping[str, int] = {"l": 40, "r": 10, "t": 8, "b": 36, "pad": 0}
"""Pixels around the plot at least."""
META = "paper"
"""The key of a paper in the ``meta`` of its template's layout."""
FAMILY = "Arial, Liberation Sans, Helvetica, sans-serif"
_IN_MM = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72, "px": 1 / PX_PER_MM}
_LENGTH = re.compile(r"\s*(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<unit>[a-z]*)\s*", re.IGNORECASE)
_NARROWEST, _LARGEST = 20.0, 1500.0
_LEAST_LETTER, _MOST_LETTER = 3.0, 72.0
_RATIOS = {1: 0.75, 1.5: 0.6, 2: 0.5}
_FLATTEST = 0.5
"""Least height of a figure with panels, in widths: titles and ticks need theirs whatever the panels are."""
_ABREAST = 1.3
"""From so many panels in a row on, they are beside each other: a narrow one may be beside a wide one."""
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")


@dataclass(frozen=True)
class Journal:
    """What a journal asks of a figure.

    Attributes
    ----------
    widths : columns -> width in mm.
    highest : most height in mm.
    letters, titles : points of ticks and legend, and of axis titles.
    least : fewest points of any letter.
    title_style : how an axis title gives its unit.
    grid : whether a light grid is allowed.
    dpi : dots per inch of a png.
    confirmed : whether the numbers were read in the journal's own guide.
    """

    widths: Mapping[float, float]
    highest: float
    letters: float = 7.0
    titles: float = 8.0
    least: float = 5.0
    title_style: TitleStyle = "solidus"
    grid: bool = True
    dpi: int = 600
    confirmed: bool = True


_ACS_WIDTHS: Mapping[float, float] = {1: 3.25 * 25.4, 2: 7 * 25.4}
JOURNALS: Mapping[str, Journal] = {
    # research-figure-guide.nature.com
    "nature": Journal({1: 89, 2: 183}, 170, 6, 7, title_style="parentheses", grid=False),
    # www.rsc.org, illustrations
    "rsc": Journal({1: 83, 2: 171}, 233, 7, 7),
    # pubs.acs.org, illustrations
    "acs": Journal(_ACS_WIDTHS, 9.5 * 25.4),
    "elsevier": Journal({1: 90, 1.5: 140, 2: 190}, 240, 7, 8, least=6, dpi=1000, confirmed=False),
    "ecs": Journal(_ACS_WIDTHS, 9.5 * 25.4, confirmed=False),
}
"""The journals whose sizes ``paper`` knows. Those of Elsevier and ECS are not confirmed by their own guides."""
_PLAIN = Journal({1: 85, 1.5: 130, 2: 175}, 230, 7, 8)


@dataclass(frozen=True)
class Paper:
    """The size and style of one printed figure, as ``paper`` keeps it in the ``meta`` of its template.

    Lengths are in mm, letters in points.
    """

    journal: str | None
    width: float
    height: float
    letters: float
    titles: float
    least: float
    title_style: TitleStyle
    grid: bool
    dpi: int
    family: str
    panels: tuple[int, int]

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height in whole pixels of plotly."""
        return round(self.width * PX_PER_MM), round(self.height * PX_PER_MM)


def paper(
    journal: str | None = None,
    *,
    width: str | float | None = None,
    columns: float = 1,
    height: str | float | None = None,
    font: str | float | None = None,
    panels: tuple[int, int] = (1, 1),
    grey: bool = False,
) -> go.layout.Template:
    """The template of a figure for print: size, letters, lines, grid, legend and margins, in true lengths.

    Give it as ``layout={"template": battery.paper("nature")}``, as ``template`` gives the default one. A picture of
    the figure then has this size on paper.

    Parameters
    ----------
    journal : ``"nature"``, ``"rsc"``, ``"acs"``, ``"elsevier"``, ``"ecs"``; None for a style that fits most.
    width : as ``"8.5 cm"``, ``"89 mm"``, ``"3.25 in"``, ``"240 pt"``, or a number in mm. By default that of the
        columns.
    columns : 1 or 2 columns of the journal's page (Elsevier and None have 1.5 too).
    height : as ``width``. By default 0.75 of the width of one column, 0.5 of two, and so much for each row of panels
        that are as wide; at most what the journal allows.
    font : size of all letters, as ``"8 pt"``, or a number in points. By default that of the journal.
    panels : rows and columns of panels; each then has its letter a, b ... at its top left corner.
    grey : dashes and symbols in turn, so that a print without colours can be read. For few traces.

    Raises
    ------
    ValueError
        For an unknown journal, a length that cannot be read, or a size that the journal does not take.

    >>> paper("nature").layout.width
    336
    """
    return template_of(
        paper_of(journal, width=width, columns=columns, height=height, font=font, panels=panels), grey=grey
    )


def paper_of(
    journal: str | None = None,
    *,
    width: str | float | None = None,
    columns: float = 1,
    height: str | float | None = None,
    font: str | float | None = None,
    panels: tuple[int, int] = (1, 1),
    more_height: float = 0,
) -> Paper:
    """Size and style of a printed figure; the arguments are those of ``paper``.

    ``more_height`` in mm is added to a height that follows from the width.
    """
    name = None if journal is None else journal.strip().lower()
    if name is not None and name not in JOURNALS:
        raise ValueError(f"There is no journal {journal!r}. Journals: {', '.join(JOURNALS)}; or give a width.")
    wanted = _PLAIN if name is None else JOURNALS[name]
    if columns not in wanted.widths:
        choices = ", ".join(f"{one:g}" for one in wanted.widths)
        raise ValueError(f"columns must be one of {choices} here, not {columns!r}.")
    rows, across = panels
    if rows < 1 or across < 1:
        raise ValueError(f"panels are rows and columns of at least 1, not {panels!r}.")
    wide = wanted.widths[columns] if width is None else millimetres(width, "width")
    # A width of one's own goes by its own ratio: 175 mm is as wide as two columns, whatever was said of columns.
    fitting = columns if width is None else min(wanted.widths, key=lambda one: abs(wanted.widths[one] - wide))
    if height is not None:
        high = millimetres(height, "height")
        if name is not None and high > wanted.highest + 0.05:
            raise ValueError(f"height is {high:.4g} mm; '{name}' takes at most {wanted.highest:.4g} mm.")
    else:
        ratio = _RATIOS[fitting] if panels == (1, 1) else shape_of(rows, across, _RATIOS[fitting])
        high = min(wide * ratio + more_height, wanted.highest)
    letters = wanted.letters if font is None else _points(font)
    return Paper(
        name,
        round(wide, 3),
        round(high, 3),
        letters,
        wanted.titles if font is None else letters,
        wanted.least,
        wanted.title_style,
        wanted.grid,
        wanted.dpi,
        FAMILY,
        (int(rows), int(across)),
    )


def shape_of(rows: float, across: float, alone: float) -> float:
    """Height of a figure of panels over its width. ``alone`` is that of a single panel: of one as wide as the page
    too, while panels beside each other are as wide as a column."""
    return max((alone if across < _ABREAST else _RATIOS[1] / across) * rows, _FLATTEST)


def paper_in(layout: Mapping[str, PlotlyValue]) -> Paper | None:
    """The paper that the template of a layout was made for, or None."""
    inner = _mapping(_mapping(layout.get("template")).get("layout"))
    kept = _mapping(_mapping(inner.get("meta")).get(META))
    try:
        return Paper(**{**kept, "panels": tuple(kept["panels"])}) if kept else None
    except (TypeError, KeyError):
        return None  # somebody else's "paper"


def _mapping(value: PlotlyValue) -> Mapping[str, PlotlyValue]:
    return value if isinstance(value, Mapping) else {}


def millimetres(length: str | float, name: str) -> float:
    """A length in mm; ``name`` is what the error calls it."""
    number = _number(length, _IN_MM, "mm", name, "'8.5 cm', '89 mm', '3.25 in'")
    if not _NARROWEST <= number <= _LARGEST:
        raise ValueError(f"{name} is {number:.4g} mm; a printed figure has {_NARROWEST:g} to {_LARGEST:g} mm.")
    return number


def _points(size: str | float) -> float:
    points = _number(size, {unit: mm / _IN_MM["pt"] for unit, mm in _IN_MM.items()}, "pt", "font", "'8 pt'")
    if not _LEAST_LETTER <= points <= _MOST_LETTER:
        raise ValueError(f"font is {points:.4g} pt; letters have {_LEAST_LETTER:g} to {_MOST_LETTER:g} pt.")
    return points


def _number(given: str | float, units: Mapping[str, float], unit: str, name: str, examples: str) -> float:
    if isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    match = _LENGTH.fullmatch(given) if isinstance(given, str) else None
    factor = match and units.get((match["unit"] or unit).lower())
    if not match or not factor:
        raise ValueError(f"{name} cannot be read: {given!r}. Write it as {examples}; units: {', '.join(units)}.")
    return float(match["number"]) * factor


def template_of(made: Paper, *, grey: bool = False, letters: bool = True) -> go.layout.Template:
    """The template of a paper. ``letters`` False leaves out the letters of its panels."""
    base = template().to_plotly_json()
    width, height = made.pixels
    small, large = made.letters * PX_PER_PT, made.titles * PX_PER_PT
    axis = {
        **base["layout"]["xaxis"],
        "linewidth": 0.5 * PX_PER_PT,
        "ticklen": 2.5 * PX_PER_PT,
        "tickwidth": 0.5 * PX_PER_PT,
        "gridwidth": 0.35 * PX_PER_PT,
        "showgrid": made.grid,
        "tickfont": {"size": small},
        # Without a size of its own, a title has 1.2 times that of the layout.
        "title": {"font": {"size": large}, "standoff": 5},
    }
    bar = {
        "tickfont": {"size": small},
        "title": {"font": {"size": large}, "side": "right"},
        "thickness": 8,
        "outlinewidth": 0,
        "ticks": "inside",
        "ticklen": 2.5 * PX_PER_PT,
        "tickwidth": 0.5 * PX_PER_PT,
    }
    layout: PlotlyDict = {
        **base["layout"],
        "autosize": False,
        "width": width,
        "height": height,
        "font": {**base["layout"]["font"], "family": made.family, "size": small},
        "title": {**base["layout"]["title"], "font": {"size": large}},
        "xaxis": axis,
        "yaxis": axis,
        "coloraxis": {"colorbar": bar},
        "margin": {**MARGIN, "t": 16 if letters and made.panels != (1, 1) else MARGIN["t"]},
        "legend": {**base["layout"]["legend"], **legend(), "font": {"size": small}, "itemwidth": 30},
        "annotationdefaults": {"font": {"size": small}, "arrowwidth": 0.5 * PX_PER_PT, "arrowsize": 1},
        "meta": {META: {**asdict(made), "panels": list(made.panels)}},
    }
    layout["legend"]["title"] = {"font": {"size": small}}
    if letters and made.panels != (1, 1):
        layout["annotations"] = _panel_letters(made, large)
    return go.layout.Template(layout=layout, data={**_traces(bar, grey), "table": [table_heights(small)]})


def _traces(bar: PlotlyDict, grey: bool) -> PlotlyDict:
    line, size = 1 * PX_PER_PT, 4 * PX_PER_PT
    kinds = list(zip(_DASHES, _SYMBOLS, strict=True)) if grey else [("solid", "circle")]
    errors = {"thickness": 0.75 * PX_PER_PT, "width": 2 * PX_PER_PT}
    drawn = [
        {
            "line": {"width": line, **({"dash": dash} if grey else {})},
            "marker": {"size": size, "colorbar": bar, **({"symbol": symbol} if grey else {})},
            "error_x": errors,
            "error_y": errors,
        }
        for dash, symbol in kinds
    ]
    coloured = [{"colorbar": bar}]
    return {
        "scatter": drawn,
        "scattergl": drawn,
        "bar": [{"error_y": errors, "marker": {"line": {"width": 0}}}],
        "heatmap": coloured,
        "contour": [{"colorbar": bar, "line": {"width": 0.5 * PX_PER_PT}}],
    }


def _panel_letters(made: Paper, size: float) -> list[PlotlyDict]:
    """A bold letter for each panel of ``make_subplots``, row by row, above its top left corner."""
    rows, across = made.panels
    found = []
    for number, _ in enumerate(product(range(rows), range(across))):
        place = "" if number == 0 else str(number + 1)
        letter = chr(ord("a") + number % 26)
        found.append(
            {
                "name": f"panel {letter}",
                "text": f"<b>{letter}</b>",
                "xref": f"x{place} domain",
                "yref": f"y{place} domain",
                "x": 0,
                "y": 1,
                "xanchor": "right",
                "yanchor": "bottom",
                "xshift": -6,
                "showarrow": False,
                "font": {"size": size},
            }
        )
    return found
