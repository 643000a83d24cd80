"""Files that do not hold a table of a test are refused as what they are."""

from __future__ import annotations

import bz2
import json
import lzma
import pickle
import sqlite3
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pytest
from support.text_file import PLAIN, file

from workbench.errors import FileRefused
from workbench.readers import read, recognise

ROWS = [dict(zip(("time", "current", "voltage"), line.split(","), strict=True)) for line in PLAIN.splitlines()[1:]]
PALMSENS = {"Type": "PalmSens.DataFiles.SessionFile", "Measurements": [{"Title": "EIS"}]}
CELLS = "".join("<tr>" + "".join(f"<td>{value}</td>" for value in row.values()) + "</tr>" for row in ROWS)
TEXTS = {
    "records.json": (json.dumps(ROWS), "is JSON"),
    "spaced.json": (json.dumps(ROWS, indent=2), "is JSON"),
    "columns.json": (json.dumps({"time [s]": [0, 10], "voltage [V]": [4, 3.9]}), "is JSON"),
    "numbers.json": ("[[0, 1, 3.5], [10, 1, 3.6]]", "is JSON"),
    "lines.jsonl": ("\n".join(map(json.dumps, ROWS)), "is JSON"),
    "session.pssession": (json.dumps(PALMSENS), "is a session of PSTrace"),
    "test.xml": ("<?xml version='1.0'?>\n<test><row><time>0</time></row></test>", "is XML"),
    "bare.xml": ("<test id='1'>\n<row><time>0</time></row></test>", "is XML"),
    "page.html": (f"<!DOCTYPE html><html><table>{CELLS}</table></html>", "is a web page"),
    "old.xls": (f"<table>{CELLS}</table>", "is a web page"),
    "xml.xls": (
        '<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>',
        "is a workbook in XML",
    ),
    "report.pdf": ("%PDF-1.7\n1 0 obj", "is a PDF document"),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", [name for name in TEXTS if name != "report.pdf"])
def test_a_text_of_another_kind_is_named(name: str, encoding: str, tmp_path: Path) -> None:
    text, said = TEXTS[name]
    with pytest.raises(FileRefused, match=said) as caught:
        recognise(file(tmp_path, text.encode(encoding), name))
    assert "columns are" not in str(caught.value)


def test_a_binary_file_of_another_kind_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((5, 3)))
    np.savez(tmp_path / "a.npz", time=np.arange(5.0))
    file(tmp_path, pickle.dumps(ROWS), "a.pkl")
    file(tmp_path, b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "a.png")
    file(tmp_path, TEXTS["report.pdf"][0], "report.pdf")
    base = sqlite3.connect(tmp_path / "a.db")
    base.execute("create table a (b)")
    base.close()
    said = {"a.npy": "numpy", "a.npz": "numpy", "a.pkl": "pickle", "a.png": "picture", "report.pdf": "PDF"}
    for name, words in (said | {"a.db": "database"}).items():
        with pytest.raises(FileRefused, match=words):
            recognise(tmp_path / name)


@pytest.mark.parametrize("above", ["", "[Summary]\nCell=A\n\n", "[1]\nCell=A\n\n", "<cell A>\n\n", "{cell A}\n\n"])
def test_a_table_stays_one_whatever_is_above_it(above: str, tmp_path: Path) -> None:
    assert recognise(file(tmp_path, above + PLAIN)) == "delimited"


def test_a_table_in_markdown_is_a_page_to_read(tmp_path: Path) -> None:
    (path := tmp_path / "README.md").write_text(
        "| Time | Amps | Volts |\n|---|:--:|---|\n| 1 | 2 | 3.7 |\n| 2 | 2 | 3.7 |\n"
    )
    with pytest.raises(FileRefused, match="no header line"):
        read(path)
    # A long line that only looks like the one below the titles does not hold the reader up.
    path.write_text(f"| Time | Amps | Volts |\n{'-' * 200_000}x\n| 1 | 2 | 3.7 |\n")
    assert sum(batch.n for batch in read(path, sign="charge").batches) == 1
    path.write_text("Time|Amps|Volts\n1|2|3.7\n2|2|3.7\n")
    assert sum(batch.n for batch in read(path, sign="charge").batches) == 2


def test_a_packed_file_or_one_of_arrow_is_named_with_what_to_do(tmp_path: Path) -> None:
    table = pa.table({"time [s]": [0.0, 10.0], "current [A]": [1.0, 1.0], "voltage [V]": [3.5, 3.6]})
    feather.write_feather(table, tmp_path / "a.feather")
    for name, packed, words in (
        ("a.csv.bz2", bz2.compress(PLAIN.encode()), r"packed with bzip2.*Unpack it"),
        ("a.csv.xz", lzma.compress(PLAIN.encode()), r"packed with xz.*Unpack it"),
        ("a.csv.zst", b"\x28\xb5\x2f\xfd\x24\x05", r"packed with Zstandard.*Unpack it"),
        ("a.feather", (tmp_path / "a.feather").read_bytes(), r"of Arrow \(Feather\).*as parquet"),
    ):
        with pytest.raises(FileRefused, match=words):
            recognise(file(tmp_path, packed, name))
