"""Pictures have their true size: measured in the files by poppler, which knows nothing of how they were made."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from support.needs import chromium, program

from workbench import battery
from workbench.battery.paper_size import paper_of
from workbench.pictures import PaperOptions, Picture, draw, fitted
from workbench.pictures.drawing import MOST_VECTOR_POINTS
from workbench.transform.figure import encode

RED = {"paper_bgcolor": "red", "plot_bgcolor": "red"}
LONG = pytest.mark.long
MM = 72 / 25.4


def poppler(command: str, path: Path, *more: str) -> str:
    done = subprocess.run(
        [program(command, package="poppler-utils"), *more, str(path)], capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode("utf-8", "replace")


def filled(options: PaperOptions, **layout: Any) -> bytes:
    """A figure that is red to its edges, with titles, exponents, a legend and numbers of three digits."""
    x = np.arange(0.0, 800.0, 10.0)
    traces = [
        {"type": "scattergl", "name": f"Batch {name}", "x": x, "y": 150 * np.exp(-x * k / 2000)}
        for k, name in enumerate("ABC", 1)
    ]
    titles = battery.axis_titles("Equivalent full cycles", "Discharge capacity [mA.h/g]")
    held = {"template": battery.template(), "legend": battery.legend(), **titles, **layout}
    made, remarks = fitted(encode({"data": traces, "layout": held}), options)
    assert remarks == []
    content = orjson.loads(made)
    content["layout"].update(RED)
    content["layout"]["legend"]["bgcolor"] = "rgba(0,0,0,0)"
    return orjson.dumps(content)


def drawn(figure: bytes, ending: str, folder: Path) -> tuple[Picture, Path]:
    pytest.importorskip("kaleido")
    chromium()
    picture = draw(figure, ending)
    path = folder / f"figure.{ending}"
    path.write_bytes(picture.file)
    return picture, path


@pytest.mark.parametrize(
    ("journal", "columns"),
    [
        ("nature", 1),
        ("rsc", 1),
        pytest.param("acs", 1, marks=LONG),
        pytest.param("elsevier", 1, marks=LONG),
        pytest.param("ecs", 1, marks=LONG),
        pytest.param("nature", 2, marks=LONG),
    ],
)
def test_a_pdf_of_a_journal_is_to_size(journal: str, columns: int, tmp_path: Path) -> None:
    picture, path = drawn(filled({"paper": journal, "columns": columns}), "pdf", tmp_path)
    asked = paper_of(journal, columns=columns)
    said = poppler("pdfinfo", path)
    width, height = map(float, re.findall(r"Page size:\s+([\d.]+) x ([\d.]+) pts", said)[0])
    assert "Pages:           1" in said
    assert width == pytest.approx(asked.width * MM, abs=0.5)
    assert height == pytest.approx(picture.size.height_mm * MM, abs=0.5)
    assert height >= asked.height * MM - 0.5
    _is_red_to_the_edges(path, tmp_path)
    names, embedded = _fonts(path)
    assert names, "it has letters"
    assert all(
        name.replace("-", "").lower().startswith(("liberationsans", "arial", "helvetica")) for name in names
    )
    assert set(embedded) == {"yes"}
    sizes, boxes = _texts(path)
    # Ticks, legend and titles; exponents keep to the least of the journal.
    found = {round(size, 1) for size in picture.content.letters}  # type: ignore[union-attr]
    assert {asked.letters, asked.titles} <= found
    assert min(found) >= asked.least
    assert max(found) == asked.titles
    assert max(sizes) < 1.6 * asked.titles, "the boxes of poppler are a line high"
    for left, top, right, bottom in boxes:
        assert left >= -0.1
        assert top >= -0.1
        assert right <= width + 0.1
        assert bottom <= height + 0.1
    codes = {remark.code for remark in picture.remarks}
    assert codes == ({"journal_unconfirmed"} if journal in ("elsevier", "ecs") else set())


def _is_red_to_the_edges(path: Path, folder: Path) -> None:
    """The drawing fills the page: the outermost dots of a raster of 288 dpi are red on all four sides."""
    command = program("pdftoppm", package="poppler-utils")
    root = folder / "page"
    subprocess.run([command, "-r", "288", "-singlefile", str(path), str(root)], check=True, timeout=60)
    kind, size, most, dots = root.with_suffix(".ppm").read_bytes().split(b"\n", 3)
    assert (kind, most) == (b"P6", b"255")
    width, height = map(int, size.split())
    page = np.frombuffer(dots, np.uint8).reshape(height, width, 3).astype(int)
    page = page[:-1, :-1]  # the last row and column may hold less than half a dot of the page
    for edge in (page[0], page[:, 0], page[-1], page[:, -1]):
        assert (edge[:, 0] > 250).all()
        assert (edge[:, 1:] < 5).all()


def _fonts(path: Path) -> tuple[list[str], list[str]]:
    rows = [line.split() for line in poppler("pdffonts", path).splitlines()[2:]]
    return [row[0].partition("+")[2] or row[0] for row in rows], [row[-5] for row in rows]


def _texts(path: Path) -> tuple[list[float], list[tuple[float, ...]]]:
    command = program("pdftotext", package="poppler-utils")
    done = subprocess.run([command, "-bbox", str(path), "-"], capture_output=True, check=True, timeout=60)
    words = re.findall(
        r'<word xMin="([-\d.]+)" yMin="([-\d.]+)" xMax="([-\d.]+)" yMax="([-\d.]+)">(.+?)</word>',
        done.stdout.decode(),
    )
    assert {"Discharge", "Equivalent", "Batch"} <= {word[-1] for word in words}
    boxes = [tuple(map(float, word[:4])) for word in words]
    return [min(right - left, bottom - top) for left, top, right, bottom in boxes], boxes


@LONG
def test_a_pdf_of_the_screen_is_whole_too(tmp_path: Path) -> None:
    figure = encode({"data": [{"y": [1, 2]}], "layout": {"width": 900, "height": 600, **RED}})
    picture, path = drawn(figure, "pdf", tmp_path)
    assert (picture.content.width, picture.content.height) == pytest.approx((675, 450), abs=0.5)  # type: ignore[union-attr]
    _is_red_to_the_edges(path, tmp_path)


@pytest.mark.long
def test_a_png_says_how_large_its_dots_are_and_what_is_cut_off(tmp_path: Path) -> None:
    long = {
        "text": "a name that is much longer than the figure is wide",
        "x": 0.9,
        "y": 1,
        "xref": "paper",
        "xanchor": "left",
    }
    figure = filled(
        {"width": "8.5 cm"}, annotations=[{**long, "xref": "paper", "yref": "paper", "showarrow": False}]
    )
    picture, path = drawn(figure, "png", tmp_path)
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert width == pytest.approx(85 / 25.4 * 600, rel=0.002), "600 dpi"
    at = data.index(b"pHYs")
    across, down, unit = struct.unpack(">IIB", data[at + 4 : at + 13])
    assert unit == 1
    assert width / across * 1000 == pytest.approx(85, abs=0.01)
    assert height / down * 1000 == pytest.approx(picture.size.height_mm, abs=0.01)
    assert [remark.code for remark in picture.remarks] == ["text_clipped"]
    assert "a name that is much longer" in picture.remarks[0].message


@LONG
def test_an_svg_has_its_size_in_millimetres_and_lines_for_webgl(tmp_path: Path) -> None:
    picture, path = drawn(filled({"paper": "nature"}), "svg", tmp_path)
    head = path.read_text().partition(">")[0]
    assert 'width="89mm"' in head
    assert f'height="{picture.size.height_mm:.6g}mm"' in head
    assert "<image" not in path.read_text()
    many = {"type": "scattergl", "y": np.arange(MOST_VECTOR_POINTS + 1.0), "mode": "markers"}
    picture, path = drawn(encode({"data": [many], "layout": {}}), "svg", tmp_path)
    assert [remark.code for remark in picture.remarks] == ["bitmap_in_vector"]
    assert "20 001 points are a bitmap" in picture.remarks[0].message.replace("\u00a0", " ")


@LONG
def test_a_font_that_is_not_there_and_letters_too_small_are_said(tmp_path: Path) -> None:
    template = battery.paper("nature", font="4 pt").to_plotly_json()
    template["layout"]["font"]["family"] = template["layout"]["meta"]["paper"]["family"] = "No Such Font, serif"
    figure = encode({"data": [{"y": [1, 2]}], "layout": {"template": template}})
    picture, _ = drawn(figure, "pdf", tmp_path)
    said = {remark.code: remark.message for remark in picture.remarks}
    assert set(said) == {"font_replaced", "letters_small"}
    assert "none of No Such Font, serif is installed" in said["font_replaced"]
    assert "The smallest letters have 4.0 pt; 5 pt is the least" in said["letters_small"]
