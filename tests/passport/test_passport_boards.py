"""Files of a dashboard: each figure has its passport, by the order of plots; two files are compared plot by plot."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.needs import chromium
from support.passport_case import RECIPE, samples
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.errors import BadRequest
from workbench.passport import Passport, passports_in, read_passport, reading, why_boards_changed
from workbench.passport.embedding import attached
from workbench.passport.passport import PlotSeen

BROKEN = {**RECIPE, "transform": "def transform(data, params):\n    raise ValueError('no')\n"}
ENDINGS = ("html", "ipynb", "pdf", "zip")
# As Chromium writes it: one catalog, one page, a table of places.
PLAIN_PDF = (
    b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog\n/Pages 2 0 R >>\nendobj\n"
    b"2 0 obj\n<< /Type /Pages /Count 0 /Kids [] >>\nendobj\n"
    b"xref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n0000000058 00000 n \n"
    b"trailer\n<< /Size 3\n/Root 1 0 R >>\nstartxref\n107\n%%EOF\n"
)


@pytest.fixture(scope="module")
def board(bench: wb.Bench) -> wb.bench.boards.Board:
    made = bench.dashboards.create("Ageing")
    made.save("Curves", RECIPE)
    made.save("Broken", BROKEN)
    made.save("Curves twice as high", {**RECIPE, "params": {**RECIPE["params"]}})
    return made


def said(*words: str) -> str:
    answer = CliRunner().invoke(app, ["inspect", *words])
    assert answer.exit_code == 0, answer.output
    return answer.output


@pytest.mark.parametrize("ending", ENDINGS)
def test_each_figure_of_a_dashboard_has_its_passport_under_its_name(
    board: Any, bench: wb.Bench, tmp_path: Path, ending: str
) -> None:
    if ending == "pdf":
        chromium()
    path = tmp_path / f"board.{ending}"
    board.export(path, {"Curves": {"scale": 3.0}})
    found = passports_in(path.read_bytes())
    names = [one.plot.name for one in found if one.plot is not None]
    assert names == ["Curves", "Curves twice as high"], "a plot that could not be drawn has none"
    assert [one.values["scale"] for one in found] == [3.0, 1.0]
    opened = wb.open_figure(path, bench, number=2)
    assert opened.figure().to_json() == bench.figure(RECIPE).to_json()
    assert opened.why_changed() == ()
    with pytest.raises(BadRequest, match="holds 2 figures: 1 'Curves', 2 'Curves twice as high'"):
        wb.open_figure(path)
    if ending == "pdf" and shutil.which("pdfdetach"):
        listed = subprocess.run(["pdfdetach", "-list", path], capture_output=True, text=True, check=True)
        assert "2 embedded files" in listed.stdout
        assert listed.stderr == ""
        subprocess.run(["pdfdetach", "-saveall", "-o", tmp_path, path], check=True)
        attachments = sorted(tmp_path.glob("battery-workbench*.json"))
        assert [Passport.model_validate_json(one.read_bytes()) for one in attachments] == found


@pytest.mark.parametrize("ending", ["html", "ipynb", "zip"])
def test_two_files_of_a_dashboard_are_compared_plot_by_plot(board: Any, tmp_path: Path, ending: str) -> None:
    before, after = tmp_path / f"before.{ending}", tmp_path / f"after.{ending}"
    board.export(before)
    board.export(after, {"Curves twice as high": {"scale": 2.0}})
    found = wb.why_changed(before, after)
    assert [(one.kind, one.place) for one in found] == [("values", "Curves twice as high: scale")]
    assert str(found) == "values: 'Curves twice as high': 'scale' was 1.0, is 2.0"
    assert wb.why_changed(after, after) == ()


def test_an_archive_that_cannot_be_read_is_refused_in_words(
    board: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.export(tmp_path / "board.zip")
    data = (tmp_path / "board.zip").read_bytes()
    with pytest.raises(BadRequest, match="cannot be read"):
        passports_in(data[: len(data) // 2])
    monkeypatch.setattr(reading, "_MOST_UNPACKED", 1 << 10)
    with pytest.raises(BadRequest, match="have more than"):
        passports_in(data)


def test_a_figure_is_compared_with_that_of_its_plot(board: Any, bench: wb.Bench, tmp_path: Path) -> None:
    board.export(tmp_path / "board.html", {"Curves": {"scale": 4.0}})
    bench.export(board.plot("Curves"), tmp_path / "one.ipynb")
    found = wb.why_changed(tmp_path / "one.ipynb", tmp_path / "board.html")
    assert [str(one) for one in found] == ["values: 'scale' was 1.0, is 4.0"]
    bench.export(RECIPE, tmp_path / "unsaved.ipynb")
    with pytest.raises(BadRequest, match="holds 2 figures: 1 'Curves'"):
        wb.why_changed(tmp_path / "unsaved.ipynb", tmp_path / "board.html")


def test_a_plot_that_only_one_file_has_is_named(board: Any, tmp_path: Path) -> None:
    board.export(tmp_path / "board.html")
    both = passports_in((tmp_path / "board.html").read_bytes())
    found = why_boards_changed(both, both[:1])
    assert [(one.kind, one.text) for one in found] == [
        ("figure", "'Curves twice as high' is in the earlier file alone")
    ]
    assert [one.text for one in why_boards_changed(both[1:], both)] == ["'Curves' is in the later file alone"]


def test_figures_of_an_older_version_are_compared_by_their_order(board: Any, tmp_path: Path) -> None:
    board.export(tmp_path / "board.html")
    both = passports_in((tmp_path / "board.html").read_bytes())
    bare = [one.model_copy(update={"plot": None}) for one in both]
    assert why_boards_changed(bare, bare) == ()
    assert [one.place for one in why_boards_changed(bare, bare[:1])] == ["figure 2"]
    unnamed = [one.model_copy(update={"plot": PlotSeen(id=one.plot.id, revision=1)}) for one in both if one.plot]
    changed = [unnamed[0], unnamed[1].model_copy(update={"values": {}})]
    assert {one.place.partition(":")[0] for one in why_boards_changed(unnamed, changed)} == {"figure 2"}


def test_the_command_shows_all_figures_of_a_dashboard(board: Any, bench: wb.Bench, tmp_path: Path) -> None:
    old, new = tmp_path / "old.html", tmp_path / "new.html"
    board.export(old)
    board.export(new, {"Curves": {"scale": 2.0}})
    text = said(str(new), "--than", str(old))
    for words in (
        "Figure 1: wb:",
        "Figure 2: wb:",
        "'Curves', plot ",
        "'Curves twice as high', plot ",
        "scale = 2.0",
    ):
        assert words in text
    assert "Changed: values: 'Curves': 'scale' was 1.0, is 2.0" in text
    whole = json.loads(said(str(new), "--than", str(old), "--json"))
    assert [one["plot"]["name"] for one in whole["figures"]] == ["Curves", "Curves twice as high"]
    assert [one["place"] for one in whole["changes"]] == ["Curves: scale"]
    assert "Step curves" in said(str(new), "--number", "1")
    store = str(bench.backend.store.path)
    assert "Changed: Nothing differs" in said(str(new), "--now", "--store", store)
    refused = CliRunner().invoke(app, ["inspect", str(new), "-o", str(tmp_path / "recipe.json")])
    assert refused.exit_code != 0
    assert "holds 2 figures" in str(refused.exception)
    said(str(new), "--number", "2", "-o", str(tmp_path / "recipe.json"))
    assert wb.Recipe.load(tmp_path / "recipe.json").foreign


def test_the_command_names_a_test_that_grew_in_each_plot(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        ratings = {"capacity": (5.0, "A.h"), "voltage_min": (2.5, "V"), "voltage_max": (4.2, "V")}
        bench.specifications.create(
            name="M50", ratings={name: {"value": value, "unit": unit} for name, (value, unit) in ratings.items()}
        )
        cell = bench.instances.create(name="A", specification="M50")
        test = bench.measurements.create(instance_id=cell.id, name="RPT A", time_series=samples(200))
        made = bench.dashboards.create("Growing")
        made.save("Curves", RECIPE)
        made.save("More curves", RECIPE)
        made.export(tmp_path / "board.html")
        bench.measurements.extend(test.id, samples(50, 200.0))
        text = said(str(tmp_path / "board.html"), "--now", "--store", str(tmp_path / "lab.db"))
    for name in ("Curves", "More curves"):
        assert f"'{name}': 'RPT A' ({test.id}) in 'curves' grew from 200 to 250 samples, by 50" in text


def test_many_attachments_come_back_in_their_order() -> None:
    passports = [Passport(figure=f"{n:08x}") for n in range(120)]
    data = attached(PLAIN_PDF, passports)
    assert data.startswith(PLAIN_PDF), "a pdf is changed by what follows its end"
    assert passports_in(data) == passports
    names = [part.split(b")")[0] for part in data.split(b"/Names [")[1].split(b"]")[0].split(b"(")[1:]]
    assert names == sorted(names), "programs look a name up in the order of its letters"
    assert attached(PLAIN_PDF, []) == PLAIN_PDF
    assert passports_in(PLAIN_PDF) == []


def test_a_damaged_attachment_is_refused(tmp_path: Path) -> None:
    data = attached(PLAIN_PDF, [Passport(figure="ab"), Passport(figure="cd")])
    (tmp_path / "board.pdf").write_bytes(data.replace(b"/Length ", b"/Lenght ", 1))
    with pytest.raises(BadRequest, match="damaged"):
        read_passport(tmp_path / "board.pdf", 2)
