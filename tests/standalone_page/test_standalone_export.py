"""Pages whose controls work without a kernel: of a plot and of a dashboard, from Python, the command and HTTP alike."""

from __future__ import annotations

import base64
import gzip
import re
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.full_organization import make
from support.server_in_process import Lab, lab
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.errors import BadRequest, Invalid
from workbench.passport import passport_in, passports_in
from workbench.standalone_page import page as pages
from workbench.standalone_page.packing import PART, Pool

SCRIPT = """def transform(data, params):
    if params["n"] == 3:
        raise ValueError("three is <not> drawn")
    fig = go.Figure(go.Scatter(x=list(range(200)), y=[params["n"] * v for v in range(200)]))
    fig.update_layout(title=params["word"])
    return fig
"""
RECIPE: dict[str, Any] = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances"}}},
    "transform": SCRIPT,
    "params": {
        "n": {"kind": "view", "default": 2, "control": {"label": "Times", "min": 1, "max": 4}},
        "word": {"kind": "view", "default": "a", "control": {"options": ["a", "b"]}},
        "free": {"kind": "view", "default": 0.5, "control": {"label": "</script><b>Free"}},
    },
}


def restored(value: Any, parts: list[Any]) -> Any:
    if isinstance(value, list):
        return [restored(item, parts) for item in value]
    if not isinstance(value, dict):
        return value
    return (
        restored(parts[value[PART]], parts)
        if PART in value
        else {key: restored(item, parts) for key, item in value.items()}
    )


def content(page: bytes) -> Any:
    """What the script of a page unpacks."""
    found = re.search(rb'id="packed">([^<]*)</script>', page)
    assert found is not None
    unpacked = orjson.loads(gzip.decompress(base64.b64decode(found[1])))
    return restored(unpacked["content"], unpacked["parts"])


@pytest.fixture
def bench(tmp_path: Path) -> wb.Bench:
    return wb.open(tmp_path / "lab.db")


def test_each_combination_has_its_figure_and_a_refused_one_its_reason(bench: wb.Bench, tmp_path: Path) -> None:
    size = bench.export_size(RECIPE)
    assert (size["figures"], size["turning"]) == (8, 2)
    assert [one["label"] for one in size["fixed"]] == ["</script><b>Free"]
    out = tmp_path / "page.html"
    account = bench.export(RECIPE, out, controls=True)
    assert account["values"]["n"] == 2
    page = out.read_bytes()
    (plot,) = content(page)
    assert [(one["label"], one["first"], one["slider"]) for one in plot["turning"]] == [
        ("Times", 1, True),
        ("word", 0, False),
    ]
    shown = [(one["figure"] or {}).get("layout", {}).get("title", {}).get("text") for one in plot["figures"]]
    assert shown == ["a", "b", "a", "b", None, None, "a", "b"]
    assert "three is <not> drawn" in plot["figures"][4]["problem"]
    for place, values in ((3, {"n": 2, "word": "b"}), (7, {"n": 4, "word": "b"})):
        drawn = bench.figure(RECIPE, values)
        figure = plot["figures"][place]["figure"]
        assert figure["layout"]["title"]["text"] == drawn.layout.title.text
        assert wb.open_figure(out).values == {"n": 2, "word": "a", "free": 0.5}
    assert b"</script><b>Free" not in page
    assert b"http://" not in page.partition(b"<body>")[2]


def test_what_figures_share_is_in_the_page_once() -> None:
    array = {"dtype": "f8", "bdata": "A" * 5000}
    pool = Pool()
    kept = [pool.keep({"data": [{"x": array, "name": str(n)}], "layout": {"n": n}}) for n in range(50)]
    packed = gzip.decompress(base64.b64decode(pool.packed(kept)))
    assert packed.count(b"A" * 5000) == 1
    unpacked = orjson.loads(packed)
    assert restored(unpacked["content"], unpacked["parts"])[49] == {
        "data": [{"x": array, "name": "49"}],
        "layout": {"n": 49},
    }


def test_a_figure_cannot_name_parts_itself() -> None:
    pool = Pool()
    assert pool.keep({"layout": {"meta": {PART: 0, "mine": 1}}}) == {"layout": {"meta": {"mine": 1}}}


def test_a_page_that_would_be_too_large_is_refused_with_its_size(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_BYTES", 1_000_000)
    with pytest.raises(BadRequest, match=r"would have 1\.\d MB for its 8 figures; it may have 1 MB"):
        bench.export(RECIPE, tmp_path / "page.html", controls=True)
    assert not (tmp_path / "page.html").exists()


def test_controls_are_for_pages_and_a_problem_is_no_page(bench: wb.Bench, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"not in 'page\.png'"):
        bench.export(RECIPE, tmp_path / "page.png", controls=True)
    with pytest.raises(wb.errors.ScriptError):
        bench.export(RECIPE, tmp_path / "page.html", {"n": 3}, controls=True)


def test_a_kind_of_trace_that_the_small_file_lacks_brings_the_whole(bench: wb.Bench, tmp_path: Path) -> None:
    for kind, least in (("Scatterpolar", 4_000_000), ("Scatter", 1_500_000)):
        script = f"def transform(data, params):\n    return go.Figure(go.{kind}())\n"
        bench.export({**RECIPE, "params": {}, "transform": script}, tmp_path / "page.html", controls=True)
        assert least < (tmp_path / "page.html").stat().st_size < 1.3 * least


def test_a_dashboard_is_one_page_with_the_reason_of_what_is_not_drawn(bench: wb.Bench, tmp_path: Path) -> None:
    board = bench.dashboards.create("Both")
    board.save("Works", RECIPE)
    board.save("Fails", {**RECIPE, "transform": "def transform(data, params):\n    raise ValueError('<b>no')\n"})
    size = board.export_size()
    assert size["figures"] == 8
    made = board.export(tmp_path / "board.html", {"Works": {"word": "b"}}, controls=True)
    page = (tmp_path / "board.html").read_bytes()
    assert made["bytes"] == len(page)
    assert made["bytes"] < size["bytes"] + 20_000
    works, fails = content(page)
    assert works["turning"][1]["first"] == 1
    assert "<b>no" in fails["figures"][0]["problem"]
    assert [one.values["word"] for one in passports_in(page)] == ["b"]
    still = board.export(tmp_path / "still.html")
    assert still["figures"] == 1
    assert content((tmp_path / "still.html").read_bytes())[0]["turning"] == []
    with pytest.raises(Invalid, match=r"There is no plot 'Work' on 'Both'\. Did you mean 'Works'"):
        board.export(tmp_path / "board.html", {"Work": {}})
    for ending in ("ipynb", "zip"):
        board.export(tmp_path / f"board.{ending}")
        assert (tmp_path / f"board.{ending}").stat().st_size > 500


def test_the_command_says_the_size_first(bench: wb.Bench, tmp_path: Path) -> None:
    bench.dashboards.create("Both").save("Works", RECIPE)
    store = str(tmp_path / "lab.db")
    for words in (("run", "Works"), ("board", "Both")):
        done = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "out.html"), "--controls", "--store", store])
        assert done.exit_code == 0, done.output
        assert "8 figures for 2 controls, about" in done.output
        assert "fixed: '</script><b>Free' (any value may be given)" in done.output
        assert len(content((tmp_path / "out.html").read_bytes())[0]["figures"]) == 8


def test_http_gives_the_same_figures_and_says_their_size(tmp_path: Path) -> None:
    with lab(tmp_path) as served:
        _over_http(served)


def _over_http(served: Lab) -> None:
    ids = make(served, served.admin, "OURS").ids
    board = f"/projects/{ids['project_id']}/dashboards/{ids['dashboard_id']}"
    plot = served.json("POST", f"{board}/plots", json={"name": "Works", "config": RECIPE})["id"]
    at = f"{board}/plots/{plot}"
    viewer = served.person("viewer@lab", everywhere="project-viewer")
    size = served.json("GET", f"{at}/export/size", viewer)
    assert (size["figures"], size["turning"]) == (8, 2)
    assert served.json("GET", f"{board}/export/size", viewer)["figures"] == 9
    answer = served.call("GET", f"{at}/export", viewer, params={"controls": "true", "values": '{"n": 4}'})
    assert answer.headers["content-security-policy"] == "sandbox allow-scripts"
    (one,) = content(answer.content)
    assert [figure["figure"] is None for figure in one["figures"]].count(True) == 2
    assert one["turning"][0]["first"] == 3
    said = passport_in(answer.content)
    assert said is not None
    assert said.values["n"] == 4
    whole = served.call("GET", f"{board}/export", params={"controls": "true"}).content
    assert [len(plot["figures"]) for plot in content(whole)] == [1, 8]
    still = served.call("GET", f"{board}/export").content
    assert [len(plot["figures"]) for plot in content(still)] == [1, 1]
    assert served.call("GET", f"{at}/export/size", params={"values": '{"n": 3}'}).status_code == 422


@pytest.mark.long
def test_a_dashboard_is_a_report_on_paper(bench: wb.Bench, tmp_path: Path) -> None:
    from support.needs import chromium

    chromium()
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (poppler-utils)")
    import subprocess

    board = bench.dashboards.create("Both")
    board.save("Works", RECIPE)
    board.save("Fails", {**RECIPE, "transform": "def transform(data, params):\n    raise ValueError('<b>no')\n"})
    board.export(tmp_path / "board.pdf", {"Works": {"word": "b"}})
    text = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "board.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout
    for word in ("Both", "Works", "Fails", "<b>no", "Times", "word"):
        assert word in text, text
