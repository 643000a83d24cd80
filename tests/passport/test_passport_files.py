"""Passports in exported files: each format gives them back, other programs still open the file, and hostile files do no
harm."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Any

import nbformat
import orjson
import pandas as pd
import pyarrow.parquet as pq
import pytest
from support.needs import chromium
from support.passport_case import RECIPE
from typer.testing import CliRunner

import workbench as wb
from workbench.bench.opened_figure import OpenedFigure
from workbench.cli import app
from workbench.errors import BadRequest, NotFound
from workbench.inert_page import check_svg
from workbench.passport import Passport, passport_in, read_passport
from workbench.passport.embedding import PNG
from workbench.passport.passport import KEY, MOST_BYTES, from_json

VALUES = {"scale": 2.5, "name": "</script>-- \u2028 Ä"}
PLAIN = ("html", "csv", "parquet", "ipynb")
PICTURES = ("png", "svg", "pdf")


def exported(bench: wb.Bench, path: Path, **how: Any) -> Passport:
    bench.export(RECIPE, path, VALUES, **how)
    return read_passport(path)


def same(found: Passport, bench: wb.Bench) -> None:
    """The passport is that of the figure that is drawn now, but for the time."""
    drawn = bench.figure(RECIPE, VALUES).workbench.passport
    assert found.model_copy(update={"made_at": ""}) == drawn.model_copy(update={"made_at": ""})
    assert found.values == VALUES
    assert found.recipe == wb.Recipe(RECIPE).config.dump()


@pytest.mark.parametrize("ending", PLAIN)
def test_a_file_gives_its_passport_back(bench: wb.Bench, tmp_path: Path, ending: str) -> None:
    same(exported(bench, tmp_path / f"figure.{ending}"), bench)


@pytest.mark.parametrize("ending", PICTURES)
def test_a_picture_gives_its_passport_back_and_still_opens(bench: wb.Bench, tmp_path: Path, ending: str) -> None:
    chromium()
    path = tmp_path / f"figure.{ending}"
    same(exported(bench, path), bench)
    data = path.read_bytes()
    if ending == "svg":
        check_svg(data)
    elif ending == "png":
        place, kinds = len(PNG), []
        while place < len(data):
            length = int.from_bytes(data[place : place + 4], "big")
            body = data[place + 4 : place + 8 + length]
            kinds.append(body[:4])
            assert zlib.crc32(body) == int.from_bytes(data[place + 8 + length : place + 12 + length], "big")
            place += 12 + length
        assert place == len(data)
        assert kinds.count(b"iTXt") == 1
        assert kinds.index(b"iTXt") < kinds.index(b"IDAT")
    elif shutil.which("pdfdetach"):
        listed = subprocess.run(["pdfdetach", "-list", path], capture_output=True, text=True, check=True)
        assert "1: battery-workbench.json" in listed.stdout
        assert listed.stderr == ""
        subprocess.run(["pdfdetach", "-save", "1", "-o", tmp_path / "said.json", path], check=True)
        assert from_json((tmp_path / "said.json").read_bytes()) == read_passport(path)


def test_other_programs_still_read_the_tables_and_the_figure(bench: wb.Bench, tmp_path: Path) -> None:
    for ending in PLAIN:
        bench.export(RECIPE, tmp_path / f"figure.{ending}", VALUES)
    table = pd.read_parquet(tmp_path / "figure.parquet")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "figure.csv"), table, check_dtype=False)
    assert KEY.encode() in pq.read_schema(tmp_path / "figure.parquet").metadata
    beside = json.loads((tmp_path / "figure.csv.json").read_bytes())
    assert beside["sha256"] == hashlib.sha256((tmp_path / "figure.csv").read_bytes()).hexdigest()
    nbformat.validate(nbformat.read(tmp_path / "figure.ipynb", 4))
    page = (tmp_path / "figure.html").read_text()
    assert page.count("</script>-- ") == 0


def test_it_holds_no_name_no_path_and_no_recipe_that_was_left_out(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "figure.html"
    bench.export(RECIPE, path, with_recipe=False)
    found = read_passport(path)
    said = found.as_json().decode()
    for secret in ("local@localhost", "Local user", str(tmp_path), bench.backend.place, "def transform"):
        assert secret not in said
    assert found.recipe is None
    assert set(found.parts) == {"plan", "transform", "params"}
    with pytest.raises(BadRequest, match="without its recipe"):
        _ = wb.open_figure(path).recipe


def test_an_opened_figure_is_live_where_its_data_are(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "figure.html"
    bench.export(RECIPE, path, VALUES)
    opened = wb.open_figure(path, bench)
    assert isinstance(opened, OpenedFigure)
    assert opened.recipe.foreign
    assert opened.values == VALUES
    assert opened.figure().to_json() == bench.figure(RECIPE, VALUES).to_json()
    assert opened.why_changed() == ()
    assert opened.passport.code in repr(opened)


def test_its_script_is_untrusted_even_if_it_says_otherwise(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "def transform(data, params):\n    return {'data': [], 'layout': {'title': {'text': 'not mine'}}}\n"
    foreign = {**RECIPE, "transform": script}
    bench.export(foreign, tmp_path / "a.ipynb")
    asked = []
    real = bench.backend.figure

    def figure(*args: Any, **how: Any) -> Any:
        asked.append(how["protected"])
        return real(*args, **how)

    monkeypatch.setattr(bench.backend, "figure", figure)
    wb.open_figure(tmp_path / "a.ipynb", bench).figure()
    assert asked == [True]


def test_the_plot_and_its_revision_are_named(bench: wb.Bench, tmp_path: Path) -> None:
    plot = bench.dashboards.create("Ageing").save("Curves", RECIPE)
    bench.export(plot, tmp_path / "figure.ipynb")
    found = read_passport(tmp_path / "figure.ipynb").plot
    assert found is not None
    assert (found.id, found.revision) == (plot.id, 1)


def test_the_command_shows_it_and_says_what_changed(bench: wb.Bench, tmp_path: Path) -> None:
    bench.export(RECIPE, tmp_path / "a.html")
    bench.export(RECIPE, tmp_path / "b.parquet", {"scale": 2.0})

    def said(*words: str) -> str:
        answer = CliRunner().invoke(app, ["inspect", *words])
        assert answer.exit_code == 0, answer.output
        return answer.output

    text = said(str(tmp_path / "b.parquet"), "--than", str(tmp_path / "a.html"), "-o", str(tmp_path / "r.json"))
    assert "Values: scale = 2.0" in text
    assert "Step curves: 400 rows of 2 sources" in text
    assert "Changed: values: 'scale' was 1.0, is 2.0" in text
    assert wb.Recipe.load(tmp_path / "r.json").foreign
    whole = json.loads(said(str(tmp_path / "b.parquet"), "--than", str(tmp_path / "a.html"), "--json"))
    assert whole["values"]["scale"] == 2.0
    assert [one["kind"] for one in whole["changes"]] == ["values"]
    store = str(bench.backend.store.path)
    assert "Changed: Nothing differs" in said(str(tmp_path / "b.parquet"), "--now", "--store", store)
    both = [str(tmp_path / "b.parquet"), "--now", "--than", str(tmp_path / "a.html")]
    assert CliRunner().invoke(app, ["inspect", *both]).exit_code != 0
    missing = CliRunner().invoke(app, ["inspect", str(tmp_path / "none.png")])
    assert missing.exit_code != 0


def test_a_table_that_was_changed_has_no_passport_any_more(bench: wb.Bench, tmp_path: Path) -> None:
    table = tmp_path / "fade.csv"
    bench.export(RECIPE, table)
    written = table.read_bytes()
    table.write_bytes(written.replace(b"\n", b"\r\n"))
    assert wb.open_figure(table).passport.figure, "another end of lines is no other table"
    table.write_bytes(written.replace(b"1", b"2"))
    with pytest.raises(BadRequest, match=r"'fade.csv' is not the table that its passport is of"):
        wb.open_figure(table)
    assert wb.open_figure(tmp_path / "fade.csv.json").passport.figure


def test_without_a_passport_the_reason_is_said(bench: wb.Bench, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    with pytest.raises(NotFound, match="has no passport"):
        wb.open_figure(tmp_path / "a.png")
    bench.figure(RECIPE).save(tmp_path / "mine.html")  # it may have been changed by hand
    with pytest.raises(NotFound, match=r"figure.save and plotly do not"):
        wb.open_figure(tmp_path / "mine.html")
    bench.export(RECIPE, tmp_path / "figure.csv")
    (tmp_path / "figure.csv.json").unlink()
    with pytest.raises(NotFound, match=r"is in 'figure.csv.json' beside it"):
        wb.open_figure(tmp_path / "figure.csv")
    with pytest.raises(NotFound, match="cannot be read"):
        wb.open_figure(tmp_path / "none.svg")
    with pytest.raises(BadRequest, match="not drawn by bench"):
        wb.why_changed(wb.Figure(), wb.Figure())


# Hostile files


def _png(body: bytes) -> bytes:
    chunk = b"iTXt" + body
    return PNG + len(body).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big")


BOMB = zlib.compress(b" " * (MOST_BYTES * 20))
HEAD = KEY.encode() + b"\0\1\0\0\0"
HOSTILE = {
    "a bomb": _png(HEAD + BOMB),
    "not zlib": _png(HEAD + b"nonsense"),
    "not JSON": _png(HEAD + zlib.compress(b"{")),
    "deep": _png(HEAD + zlib.compress(b'{"recipe":' + b"[" * 100_000)),
    "a list": _png(HEAD + zlib.compress(b"[1]")),
    "a wrong field": _png(HEAD + zlib.compress(b'{"values": 1}')),
    "a newer version": _png(HEAD + zlib.compress(b'{"version": 999}')),
    "many steps": _png(
        HEAD + zlib.compress(orjson.dumps({"steps": {str(n): {"rows": 1, "hash": ""} for n in range(2000)}}))
    ),
    "an svg that is not base64": f'<svg xmlns="x"><metadata id="{KEY}">AAA=A</metadata></svg>'.encode(),
    "an svg bomb": f'<svg><metadata id="{KEY}">'.encode()
    + __import__("base64").b64encode(BOMB)
    + b"</metadata></svg>",
    "html without an end": f'<!DOCTYPE html><script type="application/json" id="{KEY}">{{'.encode(),
    "a pdf without its object": b"%PDF-1.4\n<< /F (battery-workbench.json) /UF (x) /EF << /F 7 0 R >>",
    "a parquet with a long number": b"PAR1xxxx"
    + bytes((0x18, 17))
    + KEY.encode()
    + b"\x18\xff\xff\xff\xff\xff"
    + (25).to_bytes(4, "little")
    + b"PAR1",
    "a notebook": json.dumps({"metadata": {"battery_workbench": {"values": []}}}).encode(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(name: str) -> None:
    with pytest.raises(BadRequest):
        passport_in(HOSTILE[name])


def test_a_hostile_file_is_refused_whatever_zlib_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """fastnda puts that of isal in its place, with errors of its own."""

    class OtherError(Exception):
        pass

    class Other:
        def decompress(self, data: bytes, most: int) -> bytes:
            raise OtherError

    monkeypatch.setattr("zlib.decompressobj", Other)
    with pytest.raises(BadRequest):
        passport_in(HOSTILE["not zlib"])


@pytest.mark.parametrize(
    "data",
    [b"", b"PAR1", b"PAR1" + b"\xff" * 8 + b"PAR1", PNG + b"\xff" * 40, b"{", b"[]", b"%PDF", b"<svg>", b"GIF89a"],
)
def test_a_file_without_one_has_none(data: bytes) -> None:
    assert passport_in(data) is None


def test_every_cut_of_a_file_is_refused_or_empty(bench: wb.Bench, tmp_path: Path) -> None:
    for ending in ("parquet", "ipynb"):
        exported(bench, tmp_path / f"figure.{ending}")
        data = (tmp_path / f"figure.{ending}").read_bytes()
        for size in range(0, len(data), max(1, len(data) // 40)):
            try:
                assert passport_in(data[:size]) is None
            except BadRequest:
                continue
