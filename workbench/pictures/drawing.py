"""A figure as a picture file of its true size, and what is to be known about it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from ..battery.paper_size import JOURNALS, Paper, paper_in
from ..battery.plotly_dict import PlotlyDict, PlotlyValue
from ..errors import ExportUnavailable
from ..messages import counted, quoted, spaced
from ..typed_arrays import from_spec, is_spec
from .browser import Drawn, measured_picture, quick_picture, quick_pictures
from .letters import missing_letters
from .pdf_content import NotReadable, PdfContent, read_pdf
from .remark import Remark
from .sized_files import Size, png_with_dots, svg_in_mm

MOST_VECTOR_POINTS = 20_000
"""Most points of WebGL traces that a svg or pdf draws as lines; more stay a bitmap, which opens faster."""
_GL = {"scattergl": "scatter", "scatterpolargl": "scatterpolar"}
_ALWAYS_BITMAP = frozenset(
    ("scatter3d", "surface", "mesh3d", "cone", "streamtube", "volume", "isosurface", "splom", "parcoords", "image")
)
_DEFAULT_DPI = 192
_ROOM_PT = 0.5
# The same letters under other names: fonts made to take each other's place, with letters equally wide.
_SAME_WIDTHS = {"arimo": "arial", "liberationsans": "arial", "arialmt": "arial", "nimbussans": "helvetica"}
_GENERIC = frozenset(("sansserif", "serif", "monospace", "systemui", "cursive"))
_STYLES = re.compile(r"[-,](bold|italic|oblique|regular|medium|roman)+$|mt$|ps$", re.IGNORECASE)


@dataclass(frozen=True)
class Picture:
    """A picture file, its size, what was read back from it, and what is to be known about it."""

    file: bytes
    size: Size
    remarks: tuple[Remark, ...]
    content: PdfContent | None = None
    """What was found in a pdf; None for other formats."""


def draw(
    figure: bytes,
    format: str,
    *,
    width: int | None = None,
    height: int | None = None,
    scale: float | None = None,
    title: str = "Figure",
) -> Picture:
    """The figure as ``png``, ``svg`` or ``pdf`` of its true size, drawn in a Chromium without a network.

    A figure whose template is for print has the size of its paper. For others an inch has 96 pixels.

    Parameters
    ----------
    width, height : pixels; by default those of the layout or of its paper, else 900 x 600.
    scale : dots of a png for each pixel; by default 2, or what the journal asks.
    title : title of a pdf.

    Raises
    ------
    ExportUnavailable
        If kaleido or a browser is missing, or the browser fails, or an svg could run or fetch when it is opened.
    """
    content: PlotlyDict = orjson.loads(figure)
    layout = content.get("layout") or {}
    paper = paper_in(layout)
    size = _size(layout, paper, width, height)
    dots = scale or ((paper.dpi if paper else _DEFAULT_DPI) / 96 if format == "png" else 1)
    remarks = _as_vectors(content) if format != "png" else []
    if paper is None and format != "pdf":
        drawn = quick_picture(content, format, size, dots)
    else:
        drawn = measured_picture(content, format, size, dots, title)
    found = None
    if format == "pdf":
        found, unread = _read_back(drawn.file, size)
        remarks += unread
    remarks += missing_letters(content, format) + _clipped(drawn) + _about_paper(paper, found)
    return Picture(_sized(drawn.file, format, size), size, tuple(remarks), found)


def thumbnails(figures: Sequence[bytes], width: int, height: int) -> list[bytes | ExportUnavailable]:
    """Figures as small ``png`` files for a screen, all drawn with one start of the browser if none takes too long.

    Each is a file, or the error that says why it is not drawn.

    Raises
    ------
    ExportUnavailable
        If kaleido or a browser is missing.
    """
    made = quick_pictures(map(orjson.loads, figures), "png", Size.of_pixels(width, height), 1)
    return [one if isinstance(one, ExportUnavailable) else one.file for one in made]


def _size(layout: Mapping[str, PlotlyValue], paper: Paper | None, width: int | None, height: int | None) -> Size:
    """Pixels and millimetres; what the figure itself sets goes before its paper."""
    wide, high = width or layout.get("width"), height or layout.get("height")
    if paper is None:
        return Size.of_pixels(round(wide or 900), round(high or 600))
    across, down = paper.pixels
    given = Size.of_pixels(round(wide or across), round(high or down))
    return Size(
        given.width,
        given.height,
        paper.width if given.width == across else given.width_mm,
        paper.height if given.height == down else given.height_mm,
    )


def _sized(file: bytes, format: str, size: Size) -> bytes:
    if format == "png":
        return png_with_dots(file, size)
    return svg_in_mm(file, size) if format == "svg" else file


def _as_vectors(content: PlotlyDict) -> list[Remark]:
    """Let WebGL traces be drawn as lines if they are not too many points; say which stay a bitmap."""
    traces = [trace for trace in content.get("data") or [] if isinstance(trace, dict)]
    gl = [trace for trace in traces if trace.get("type") in _GL]
    points = sum(_points(trace) for trace in gl)
    bitmaps = Counter(trace["type"] for trace in traces if trace.get("type") in _ALWAYS_BITMAP)
    remarks = []
    if points <= MOST_VECTOR_POINTS:
        for trace in gl:
            trace["type"] = _GL[trace["type"]]
    elif gl:
        remarks.append(
            Remark(
                "bitmap_in_vector",
                f"{counted(len(gl), 'trace')} with {spaced(points)} points are a bitmap in this file: WebGL traces "
                f"become lines up to {spaced(MOST_VECTOR_POINTS)} points. Draw fewer, or set the type 'scatter'.",
            )
        )
    if bitmaps:
        kinds = quoted(sorted(bitmaps))
        remarks.append(Remark("bitmap_in_vector", f"Traces of the type {kinds} are a bitmap in this file."))
    return remarks


def _points(trace: Mapping[str, PlotlyValue]) -> int:
    return max(_length(trace.get(name)) for name in ("x", "y", "r", "theta"))


def _length(values: PlotlyValue) -> int:
    if is_spec(values):
        return len(from_spec(values))
    return len(values) if isinstance(values, list) else 0


def _read_back(file: bytes, size: Size) -> tuple[PdfContent | None, list[Remark]]:
    try:
        found = read_pdf(file)
    except NotReadable as error:
        return None, [Remark("pdf_not_read", f"The pdf was written, but could not be read back: {error}")]
    wide, high = size.width_mm / 25.4 * 72, size.height_mm / 25.4 * 72
    if abs(found.width - wide) > _ROOM_PT or abs(found.height - high) > _ROOM_PT:
        words = f"The page has {found.width:.1f} x {found.height:.1f} pt, not {wide:.1f} x {high:.1f} pt."
        return found, [Remark("page_size", words)]
    return found, []


def _clipped(drawn: Drawn) -> list[Remark]:
    if not drawn.clipped:
        return []
    some = quoted(drawn.clipped[:3])
    more = f" and {len(drawn.clipped) - 3} more" if len(drawn.clipped) > 3 else ""
    words = f"Text reaches over the edge and is cut off: {some}{more}. Make it shorter, or the figure larger."
    return [Remark("text_clipped", words)]


def _about_paper(paper: Paper | None, found: PdfContent | None) -> list[Remark]:
    if paper is None:
        return []
    remarks = _fonts(paper, found) if found else []
    least = min(found.letters, default=None) if found else paper.letters
    if least is not None and least < paper.least - 0.05:
        words = (
            f"The smallest letters have {least:.1f} pt; {paper.least:g} pt is the least that can be read in print."
        )
        remarks.append(Remark("letters_small", words))
    if paper.journal is not None and paper.journal in JOURNALS and not JOURNALS[paper.journal].confirmed:
        words = f"The sizes of '{paper.journal}' are not confirmed by its own guide. Check them before you submit."
        remarks.append(Remark("journal_unconfirmed", words))
    return remarks


def _fonts(paper: Paper, found: PdfContent) -> list[Remark]:
    remarks = []
    wanted = {_family(name) for name in paper.family.split(",")} - _GENERIC
    others = sorted({font.name for font in found.fonts if _family(font.name) not in wanted})
    if others and len(others) == len({font.name for font in found.fonts}):
        words = (
            f"The letters are those of {', '.join(others)}: none of {paper.family} is installed. Install Arial or the "
            "package fonts-liberation."
        )
        remarks.append(Remark("font_replaced", words))
    elif others:
        remarks.append(
            Remark(
                "font_replaced", f"Some signs are those of {', '.join(others)}: the font of the figure lacks them."
            )
        )
    loose = sorted({font.name for font in found.fonts if not font.embedded})
    if loose:
        remarks.append(Remark("font_not_embedded", f"These fonts are not in the file: {', '.join(loose)}."))
    return remarks


def _family(name: str) -> str:
    bare = re.sub(r"[^a-z]", "", _STYLES.sub("", name.strip().strip("'\"")).lower())
    return _SAME_WIDTHS.get(bare, bare)
