"""Fits a figure that was drawn for a screen to a paper: size, letters, lines, titles and legend."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import TypedDict

import orjson

from ..battery.paper_size import PX_PER_MM, PX_PER_PT, Paper, paper_of, shape_of, template_of
from ..battery.plotly_dict import PlotlyDict, PlotlyValue, parts_of
from ..battery.short_names import short_names
from ..battery.titles import restyled
from ..errors import BadRequest
from .gaps import fit_gaps
from .legends import fit_legend, legend_height, plot_height, shorten_names
from .remark import Remark

_AXIS = re.compile(r"[xyz]axis\d*")
_AXIS_LINES = ("linewidth", "ticklen", "tickwidth", "gridwidth")
_SCREEN_LINE = 1.8
"""Width of a line in the default template, in pixels: to it the widths of a figure refer."""
_EXPONENT = re.compile(r"[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_FIGURES = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "−0123456789")
_RAISED_SHARE = 0.7
_THINNEST = 0.25 * PX_PER_PT
_MOST_LINES = 4
_LETTER_WIDTH, _EDGE = 0.56, 30
"""Of a letter, of its height; px left and right of lines above a plot."""
_STYLED_BY_PAPER = ("width", "height", "autosize", "margin", "font", "paper_bgcolor", "plot_bgcolor", "colorway")


class PaperOptions(TypedDict, total=False):
    """The options of an export for print; they are those of ``battery.paper``.

    ``paper`` is the name of a journal, or True for a style that fits most.
    """

    paper: str | bool | None
    width: str | float | None
    height: str | float | None
    font: str | float | None
    columns: float | None


def wants_paper(options: PaperOptions) -> bool:
    """Whether any of the options asks for a figure for print."""
    return any(options.get(name) not in (None, False) for name in PaperOptions.__annotations__)


def fitted(figure: bytes, options: PaperOptions) -> tuple[bytes, list[Remark]]:
    """A figure fitted to the paper that the options describe, and what is to be known about it.

    The template of the paper replaces that of the figure. Sizes of letters and widths of axes that the figure sets
    itself give way, lines and markers are made thinner and smaller in proportion, and axis titles get the style of the
    journal. Colours, dashes, ranges and the order of everything stay.

    Raises
    ------
    BadRequest
        For an option that cannot be read or that the journal does not take; if a part of the figure is of a kind that
        plotly cannot draw.
    """
    try:
        return _fitted(orjson.loads(figure), options)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # A script may put anything anywhere, such as a text in the place of a size; plotly.js leaves that out.
        raise BadRequest(
            f"The figure has a part that plotly cannot draw ({type(error).__name__}: {error}), so it cannot be fitted "
            "to a paper. Correct the script, or export the figure as it is."
        ) from error


def _fitted(content: PlotlyDict, options: PaperOptions) -> tuple[bytes, list[Remark]]:
    layout: PlotlyDict = content.setdefault("layout", {})
    traces = [trace for trace in content.get("data") or [] if isinstance(trace, dict)]
    made = _paper(options, traces, layout)
    layout["template"] = template_of(made, letters=False).to_plotly_json()
    _fit_layout(layout, made)
    for trace in traces:
        _fit_trace(trace, made)
    held = len(traces)
    remarks = [
        Remark(
            "note_cut", f"The note above the plot is cut after {_MOST_LINES} lines. For the caption: {_words(one)}"
        )
        for one in _notes_above(layout)
        if content.get("data") and len(_all_lines(one, made)) > _MOST_LINES
    ]
    words = fit_legend(traces, layout, made, _notes_height(layout, made))
    content["data"] = [*(content.get("data") or []), *traces[held:]]
    if content["data"]:
        _fit_margin(layout, made)
        fit_gaps(traces, layout, made, _plot_pixels(traces, layout, made))
    else:
        _fit_sentence(layout, made)
    for note in parts_of(layout.get("annotations")):  # after it is wrapped: markup takes no room
        if isinstance(note.get("text"), str):
            note["text"] = _raised(note["text"], made.letters, made.least)
    return orjson.dumps(content), [*remarks, *([Remark("legend_too_long", words)] if words else [])]


def _paper(options: PaperOptions, traces: list[PlotlyDict], layout: Mapping[str, PlotlyValue]) -> Paper:
    try:
        first = _paper_of(options)
        shorten_names(traces, first)
        if options.get("height") is not None:
            return first
        # A height that nobody asked for is what the largest panel, the legend and lines above the plot need.
        rows, across = _panels(layout)
        alone = first.height / first.width
        shape = alone if (rows, across) == (1, 1) else shape_of(rows, across, alone)
        words = legend_height(traces, layout, first) + _notes_height(layout, first) + _rows_height(layout, first)
        more = (shape * first.width - first.height) + words / PX_PER_MM
        return _paper_of(options, more)
    except ValueError as error:
        raise BadRequest(str(error)) from error


def _paper_of(options: PaperOptions, more_height: float = 0) -> Paper:
    journal, columns = options.get("paper"), options.get("columns")
    return paper_of(
        journal if isinstance(journal, str) else None,
        width=options.get("width"),
        columns=1 if columns is None else columns,
        height=options.get("height"),
        font=options.get("font"),
        more_height=more_height,
    )


def _panels(layout: Mapping[str, PlotlyValue]) -> tuple[float, float]:
    """How many of its largest panel fit below and beside each other in a figure."""
    found = {}
    for letter in "xy":
        parts = [
            domain[1] - domain[0]
            for name, axis in _axes(layout)
            if name.startswith(letter)
            and isinstance(domain := axis.get("domain"), list)
            and not axis.get("overlaying")
        ]
        found[letter] = 1 / max(parts) if parts and max(parts) > 0 else 1
    # Space between panels makes the largest a little less than its share.
    return max(1, found["y"] * 0.97), max(1, found["x"] * 0.97)


def _axes(layout: Mapping[str, PlotlyValue]) -> Iterator[tuple[str, PlotlyDict]]:
    for name, value in layout.items():
        if _AXIS.fullmatch(name) and isinstance(value, dict):
            yield name, value


def _fit_layout(layout: PlotlyDict, made: Paper) -> None:
    for name in _STYLED_BY_PAPER:
        layout.pop(name, None)
    for name, value in layout.items():
        if name != "template":
            _without_letters(value)
    for _, axis in _axes(layout):
        for name in _AXIS_LINES:
            axis.pop(name, None)
        if not made.grid:
            axis.pop("showgrid", None)
        _restyle(axis, made)
    for shape in parts_of(layout.get("shapes")):
        _thinner(shape.get("line"), made)
    for name, value in layout.items():
        if name.startswith("coloraxis") and isinstance(value, dict):
            _fit_bar(value.get("colorbar"), made)


def _restyle(axis: PlotlyDict, made: Paper) -> None:
    title = axis.get("title")
    if isinstance(title, dict):
        title.pop("standoff", None)
        if isinstance(title.get("text"), str):
            title["text"] = _raised(restyled(title["text"], made.title_style), made.titles, made.least)


def _raised(text: str, size: float, least: float) -> str:
    """Exponents as raised figures: few fonts have the sign ``⁻``, and a second font would be set beside the first.

    plotly gives them 70 % of the size; where that is less than ``least`` points, they are made larger.
    """
    share = max(_RAISED_SHARE, least / size + 0.005) if size > least else 1

    def figures(match: re.Match[str]) -> str:
        style = f' style="font-size:{share:.1%} !important"' if share > _RAISED_SHARE else ""
        return f"<sup{style}>{match[0].translate(_FIGURES)}</sup>"

    return _EXPONENT.sub(figures, text)


def _fit_bar(bar: PlotlyValue, made: Paper) -> None:
    if isinstance(bar, dict):
        bar.pop("thickness", None)
        _restyle(bar, made)


def _without_letters(value: PlotlyValue) -> None:
    """Remove sizes and families of letters, so that those of the paper hold."""
    if isinstance(value, list):
        for item in value:
            _without_letters(item)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name.lower().endswith("font") and isinstance(inner, dict):
                inner.pop("family", None)
                if not isinstance(inner.get("size"), list | dict):
                    inner.pop("size", None)
            else:
                _without_letters(inner)


def _fit_trace(trace: PlotlyDict, made: Paper) -> None:
    for name, value in trace.items():
        if name not in ("customdata", "meta"):
            _without_letters({name: value})
    _thinner(trace.get("line"), made)
    for name in ("error_x", "error_y", "error_z"):
        bars = trace.get(name)
        if isinstance(bars, dict):
            bars.pop("thickness", None)
            bars.pop("width", None)
    marker = trace.get("marker")
    if isinstance(marker, dict):
        _thinner(marker.get("line"), made)
        _smaller(marker, _factor(made))
        _fit_bar(marker.get("colorbar"), made)
    _fit_bar(trace.get("colorbar"), made)


def _factor(made: Paper) -> float:
    """By how much lines and markers shrink: a line of the default template becomes 1 pt."""
    return PX_PER_PT / _SCREEN_LINE


def _thinner(line: PlotlyValue, made: Paper) -> None:
    if isinstance(line, dict) and isinstance(line.get("width"), int | float) and line["width"] > 0:
        line["width"] = max(line["width"] * _factor(made), _THINNEST)


def _smaller(marker: PlotlyDict, factor: float) -> None:
    size = marker.get("size")
    if isinstance(size, int | float):
        marker["size"] = size * factor
    elif size is not None:  # an array, perhaps typed: its reference grows instead
        power = 2 if marker.get("sizemode") == "area" else 1
        marker["sizeref"] = (marker.get("sizeref") or 1) / factor**power


def _fit_margin(layout: PlotlyDict, made: Paper) -> None:
    """Room above for what is written there: the template of a paper has none."""
    title = layout.get("title")
    text = title.get("text") if isinstance(title, dict) else title
    above = [0.0]
    if text:
        above.append(made.titles * PX_PER_PT * (1.6 + 1.25 * str(text).count("<br>")))
    end = 0.0
    for note in parts_of(layout.get("annotations")):
        if note.get("yref") == "paper" and isinstance(note.get("y"), int | float) and note["y"] >= 1:
            if note.get("yanchor") == "bottom" and note.get("yshift"):
                # The next is on the lines of this one, which may be fewer than they were on a screen.
                end = _wrapped(note, made, end or float(note["yshift"]))
                above.append(end)
            else:
                above.append(made.letters * PX_PER_PT * 1.5)
    if sum(above):
        base = layout["template"]["layout"]["margin"]
        held = layout.get("margin") or base
        layout["margin"] = {**held, "t": round(base["t"] + max(above))}


def _plot_pixels(traces: list[PlotlyDict], layout: PlotlyDict, made: Paper) -> tuple[float, float]:
    """About how many pixels of width and height all panels have together."""
    margin = layout.get("margin") or layout["template"]["layout"]["margin"]
    width, height = made.pixels
    below = margin["b"] + legend_height(traces, layout, made)
    return width - margin["l"] - margin["r"], max(height - margin["t"] - below, height / 3)


def _fit_sentence(layout: PlotlyDict, made: Paper) -> None:
    """A figure that is only a sentence has it in the middle of the paper, in lines that fit."""
    layout["margin"] = dict.fromkeys("lrtb", _EDGE // 2)
    for note in parts_of(layout.get("annotations")):
        note["text"] = "<br>".join(_all_lines(note, made))


def _wrapped(note: PlotlyDict, made: Paper, at: float) -> float:
    """Wrap lines above the plot to the width of the paper, ``at`` px above it; gives where they end."""
    lines = _lines_above(note, made)
    note["text"], note["yshift"] = "<br>".join(lines), at
    return at + 1.3 * made.letters * PX_PER_PT * len(lines) + 2


def _notes_above(layout: Mapping[str, PlotlyValue]) -> list[PlotlyDict]:
    """Notes in lines above the plot, as the recipes of the gallery have them."""
    return [
        note
        for note in parts_of(layout.get("annotations"))
        if note.get("yref") == "paper" and note.get("yanchor") == "bottom" and note.get("yshift")
    ]


def _words(note: Mapping[str, PlotlyValue]) -> str:
    return " ".join(str(note.get("text") or "").replace("<br>", " ").split())


def _lines_above(note: Mapping[str, PlotlyValue], made: Paper) -> list[str]:
    """The lines of a note above the plot. A long one would take the height of the plot, and belongs to the caption."""
    lines = _all_lines(note, made)
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 1], f"{lines[_MOST_LINES - 1].rstrip(',;. ')} …"]


def _all_lines(note: Mapping[str, PlotlyValue], made: Paper) -> list[str]:
    most = max(int((made.pixels[0] - 2 * _EDGE) / (made.letters * PX_PER_PT * _LETTER_WIDTH)), 20)
    words = _words(note).split()
    return textwrap.wrap(" ".join(map(short_names(words, most).__getitem__, words)), most, break_on_hyphens=False)


def _notes_height(layout: Mapping[str, PlotlyValue], made: Paper) -> float:
    """Pixels that lines above the plot, and titles of panels below them, take beyond one line."""
    lines = sum(len(_lines_above(note, made)) for note in _notes_above(layout))
    titles = any(
        note.get("yref") == "paper" and not note.get("yshift") and (note.get("y") or 0) >= 1
        for note in parts_of(layout.get("annotations"))
    )
    return 1.3 * made.letters * PX_PER_PT * max(lines + (titles and lines > 0) - 1, 0)


def _rows_height(layout: Mapping[str, PlotlyValue], made: Paper) -> float:
    """Pixels that the names of rows, at the ticks of a y axis, take beyond the height of the plot."""
    share = 1 / _panels(layout)[0]
    rows = max(
        (len(axis.get("tickvals") or []) for name, axis in _axes(layout) if name.startswith("y")), default=0
    )
    return max(0.0, 1.35 * made.letters * PX_PER_PT * rows / share - plot_height(made))
