"""Letters that no font of this machine has are named at the export, before a reader finds empty boxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.needs import chromium

import workbench as wb
from workbench.pictures import draw, letters
from workbench.transform.figure import encode


def titled(title: str, **trace: Any) -> dict[str, Any]:
    return {"data": [{"x": [1, 2], "y": [3, 4], **trace}], "layout": {"title": {"text": title}}}


@pytest.fixture
def latin_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose fonts have hangul, but neither Han nor kana."""
    monkeypatch.setattr(letters, "_is_in_a_font", lambda letter: "\uac00" <= letter <= "\ud7af")


@pytest.mark.usefixtures("latin_only")
@pytest.mark.parametrize("figure", [
    titled("容量"), titled("", name="容量"), titled("", x=["容", "量"]), titled("", text=["容量"]),
    titled("", type="table", cells={"values": [["容量"]]}),
])  # fmt: skip
def test_letters_without_a_font_are_named_wherever_they_are_drawn(figure: dict[str, Any]) -> None:
    (remark,) = letters.missing_letters(figure, "png")
    assert remark.code == "letters_missing"
    assert "No font on this machine has '容' and '量': they are empty boxes" in remark.message
    assert "fonts-noto-cjk" in remark.message


@pytest.mark.usefixtures("latin_only")
def test_letters_with_a_font_and_those_that_are_not_drawn_are_not() -> None:
    for text in ("Ω µ² é Привет", "한국어", ""):
        assert letters.missing_letters(titled(text, hovertext="容量", customdata=[["量"]]), "png") == []
    (many,) = letters.missing_letters(titled("".join(chr(0x5000 + n) for n in range(500))), "svg")
    assert many.message.count("'") == 16
    assert "where the svg is opened" in many.message


def test_fontconfig_is_asked_and_nothing_is_said_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "fc-list"
    program.write_text('#!/bin/sh\n[ "$1" = ":charset=5bb9" ] && echo "Noto Sans CJK"\nexit 0\n')
    program.chmod(0o755)
    monkeypatch.setattr(letters, "_fontconfig", lambda: str(program))
    (remark,) = letters.missing_letters(titled("容量"), "pdf")
    assert "has '量':" in remark.message
    for gone in (None, str(tmp_path / "gone")):
        monkeypatch.setattr(letters, "_fontconfig", lambda gone=gone: gone)
        assert letters.missing_letters(titled("容量"), "pdf") == []


@pytest.mark.usefixtures("latin_only")
def test_an_export_says_it(tmp_path: Path) -> None:
    pytest.importorskip("kaleido")
    chromium()
    assert [one.code for one in draw(encode(titled("容量")), "png").remarks] == ["letters_missing"]
    with wb.open(tmp_path / "w.db") as bench:
        script = "def transform(data, params):\n    return go.Figure(go.Scatter(y=[1, 2], name='容量'))"
        plan = {"steps": {"cells": {"op": "list", "source": "instances"}}}
        told = bench.export({"plan": plan, "transform": script}, tmp_path / "figure.png")
    assert [warning["code"] for warning in told["warnings"]] == ["letters_missing"]
