"""Sheets as people make them in a spreadsheet program: titles, merged cells, blank rows, German headings."""

from __future__ import annotations

import io
import time
import zipfile
from pathlib import Path

import pytest
from test_ingest_sheet import workbook

from workbench.errors import BadRequest
from workbench.ingest.plan.headings import Heading
from workbench.ingest.plan.sheet import MOST_COLUMNS, read_sheet


def merged(data: bytes, *ranges: str) -> bytes:
    """The workbook with merged cells."""
    made = io.BytesIO()
    cells = "".join(f'<mergeCell ref="{place}"/>' for place in ranges)
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            text = old.read(name).decode()
            new.writestr(name, text.replace("</sheetData>", f"</sheetData><mergeCells>{cells}</mergeCells>"))
    return made.getvalue()


def test_a_title_and_blank_rows_above_the_headings(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text("\nCells of the project;;\n;;\nDatei;Zelle;Masse [g]\nA_*;c1;68,5\n\n;x;\n")
    with pytest.raises(BadRequest, match="Row 7: the column for the file is empty"):
        read_sheet(path)
    path.write_text("\nCells of the project;;\n;;\nDatei;Zelle;Masse [g]\nA_*;c1;68,5\n")
    row = read_sheet(path).rows[0]
    assert (row.number, row.pattern, row.labels.instance) == (5, "A_*", "c1")
    assert row.labels.cell == {"mass": {"value": 68.5, "unit": "g"}}


def test_what_stands_in_a_merged_cell_holds_for_its_rows(tmp_path: Path) -> None:
    rows = [
        ["List of cells"],
        ["file", "batch", "Temperatur [°C]"],
        ["c1*", "A", 25],
        ["c2*", None, 25],
        ["c3*", "B", 45],
    ]
    (tmp_path / "cells.xlsx").write_bytes(merged(workbook(rows), "A1:C1", "B3:B4"))
    sheet = read_sheet(tmp_path / "cells.xlsx")
    assert [(row.number, row.pattern, row.labels.batch) for row in sheet.rows] == [
        (3, "c1*", "A"),
        (4, "c2*", "A"),
        (5, "c3*", "B"),
    ]
    assert sheet.rows[2].labels.test == {"temperature": {"value": 45.0, "unit": "degC"}}


@pytest.mark.parametrize("heading", ["date", "charge [A.h]", "change"])
def test_a_property_is_no_slip_of_a_german_heading(heading: str) -> None:
    assert Heading(heading, "The sheet").means == "property"


@pytest.mark.parametrize("heading", ["C-rate", "c rate", "Temperature", "Druck"])
def test_a_property_of_the_test_needs_no_unit(heading: str) -> None:
    """`C-rate` was refused: "Did you mean 'c-rate'?"."""
    assert (Heading(heading, "The sheet").means, Heading(heading, "The sheet").about) == ("property", "test")


@pytest.mark.parametrize("unit", ["mAh/g", "mAh cm-2", "Wh", "V"])
def test_a_capacity_in_a_unit_of_something_else_is_not_the_rating(unit: str) -> None:
    """`capacity [mAh/g]` became the rated capacity of the cell, 150 mAh/g."""
    said = Heading(f"capacity [{unit}]", "The sheet").labels("150")
    assert said.ratings == {}
    assert [*said.cell] == ["capacity"]


@pytest.mark.parametrize("heading", ["capacity [mAh]", "Nennkapazität [Ah]", "capacity [A h]", "Umin [V]"])
def test_a_rating_in_a_unit_of_its_own_is_one(heading: str) -> None:
    assert Heading(heading, "The sheet").means == "rated"


def test_a_long_heading_is_refused_at_once(tmp_path: Path) -> None:
    begun = time.process_time()
    (tmp_path / "cells.csv").write_text(f"file,mass [mg],{'/a' * 50_000} x y\nA_*,3,4\n")
    with pytest.raises(BadRequest, match="the heading of column 3 has 100004 characters; at most 500 can be read"):
        read_sheet(tmp_path / "cells.csv")
    assert time.process_time() - begun < 5  # each slash was looked at with all that follows it
    (tmp_path / "cells.csv").write_text(f'file,mass [mg]\nA_*,3\n"B_*,{"4" * 200_000}\n')
    with pytest.raises(BadRequest, match="cannot be read as text with ',' between its cells: field larger"):
        read_sheet(tmp_path / "cells.csv")


def test_only_so_many_columns(tmp_path: Path) -> None:
    names = ",".join(f"property {place}" for place in range(MOST_COLUMNS))
    (tmp_path / "cells.csv").write_text(f"file,{names}\nA_*,3\n")
    with pytest.raises(BadRequest, match=r"has more than 1.000 columns"):
        read_sheet(tmp_path / "cells.csv")
    (tmp_path / "cells.csv").write_text(f"file,{names.rpartition(',')[0]}{',' * 2000}\nA_*,3\n")
    assert read_sheet(tmp_path / "cells.csv").rows[0].labels.cell == {"property 0": 3}
