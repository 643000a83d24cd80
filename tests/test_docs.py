"""The docs say what is true: every Python and shell block of README, tutorials, how-tos and explanations is run, links
lead somewhere, and the recipe files are those of their page."""

from __future__ import annotations

import contextlib
import gzip
import linecache
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly.io as pio
import pytest
from support.needs import chromium

import workbench as wb
from workbench.cli import main
from workbench.simulation import is_installed
from workbench.store.store import Store

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
RUN = [
    ROOT / "README.md",
    *sorted((DOCS / "tutorial").glob("*.md")),
    *sorted((DOCS / "how-to").glob("*.md")),
    DOCS / "explanation" / "caches.md",
    DOCS / "reference" / "errors.md",
]
PACKAGES = ("figure-for-a-paper.md", "other-libraries.md", "simulate.md")
ELSEWHERE = {
    "add-a-format.md": "tests/readers",
    "http.md": "tests/server",
    "postgresql.md": "tests/cli",
    **dict.fromkeys(PACKAGES, "below"),
}
"""Pages whose blocks are run by tests of their own."""
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="session")
def prepared(demo_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as its reader has it: the demo beside some files of their own."""
    folder = tmp_path_factory.mktemp("reader")
    demo = folder / "workbench-demo"
    demo.mkdir()
    with Store.open(demo_folder / "workbench.db", create=False) as store:
        store.backup(demo / "workbench.db")
    shutil.copytree(demo_folder / "recipes", demo / "recipes")
    shutil.copytree(demo, folder / "my-demo")
    shutil.copytree(DOCS / "recipes", folder / "docs" / "recipes")
    (folder / "data").mkdir()
    for cell in ("M50-A-01", "M50-A-02"):
        packed = (ROOT / "sample_data" / "neware" / f"{cell}_ageing.csv.gz").read_bytes()
        (folder / "data" / f"{cell}_ageing.csv").write_bytes(gzip.decompress(packed))
    shutil.copy(folder / "data" / "M50-A-01_ageing.csv", folder / "my_test.csv")
    rows = "".join(f"{10 * n},1.0,{4.0 - n / 100}\n" for n in range(50))
    sheet = re.search(
        r"^```text\n(file,specification.*?)^```", (DOCS / "how-to" / "label-files.md").read_text(), re.S | re.M
    )
    (folder / "cells.csv").write_text(sheet[1] if sheet else "")
    (folder / "own.csv").write_text("Seconds,Amps,Volts\n" + rows)
    (folder / "unsure.csv").write_text("Time [s],Current [A],Voltage [V]\n" + rows.replace(",1.0,", ",-1.0,"))
    return folder


@pytest.fixture
def reader(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "reader"
    shutil.copytree(prepared, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("WORKBENCH_STORE", raising=False)
    monkeypatch.delenv("WORKBENCH_PROJECT", raising=False)
    monkeypatch.setattr(pio, "show", lambda *_, **__: None)
    return folder


def command_lines(text: str) -> Iterator[list[str]]:
    """The ``workbench`` commands of a shell block, and what it exports to them.

    Making an environment is the business of another test.
    """
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0].split("/")[-1] in ("workbench", "export"):
            yield words


def run_command(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if words[0] == "export":
        name, _, value = words[1].partition("=")
        monkeypatch.setenv(name, value)
        return
    if words[1] == "demo":
        words = [*words, "--no-serve"]
    monkeypatch.setattr(sys, "argv", words)
    code: object = None
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    assert not code, words


def run_block(text: str, name: str, space: dict[str, Any]) -> None:
    """Run a block as a notebook runs a cell: a function in it knows its text."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), space)


SLOW = {"many-tests-at-once.md"}
"""It starts clusters of Dask: half a minute."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.long] if page.name in SLOW else [])
        for page in RUN
        if page.name not in ELSEWHERE
    ],
)
def test_every_block_of_a_page_runs(page: Path, reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = _BLOCK.findall(page.read_text("utf-8"))
    assert blocks
    space: dict[str, Any] = {}
    try:
        for number, (language, text) in enumerate(blocks):
            if language == "python":
                run_block(text, f"<{page.name}, block {number}>", space)
            else:
                for words in command_lines(text):
                    run_command(words, monkeypatch)
    finally:
        for value in list(space.values()):
            if hasattr(value, "backend"):
                with contextlib.suppress(Exception):
                    value.close()
    with wb.open("workbench-demo/workbench.db") as demo:  # a second project would stop the pages that come after
        assert demo.projects.list()["name"].tolist() == ["Default"]


def run_page(name: str, monkeypatch: pytest.MonkeyPatch, wanted: str = "") -> None:
    """Run the blocks of a how-to page; with ``wanted``, of those that import something only these."""
    space: dict[str, Any] = {}
    text = (DOCS / "how-to" / name).read_text("utf-8")
    for number, (language, block) in enumerate(_BLOCK.findall(text)):
        if language == "sh":
            for words in command_lines(block):
                run_command(words, monkeypatch)
        elif not wanted or "import" not in block or wanted in block or "import workbench" in block:
            run_block(block, f"<{name}, block {number}>", space)
    space["bench"].close()


def test_the_page_of_figures_for_papers_runs(reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("kaleido")
    chromium()
    run_page("figure-for-a-paper.md", monkeypatch)
    assert (reader / "fade.pdf").read_bytes().startswith(b"%PDF")
    assert "Capacity retention [%]" in (reader / "fade.csv").read_text().partition("\n")[0]


@pytest.mark.parametrize("library", ["matplotlib", "altair", "polars"])
def test_other_libraries_draw_our_numbers(library: str, reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed here")
    run_page("other-libraries.md", monkeypatch, f"import {library}")
    made = {"matplotlib": "curves.pdf", "altair": "curves.json", "polars": "curves.csv"}[library]
    assert (reader / made).stat().st_size > 1000


@pytest.mark.long
def test_the_page_of_simulations_runs(reader: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_installed():
        pytest.skip("PyBaMM is not installed: pip install pybamm")
    run_page("simulate.md", monkeypatch)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        place = page if not path else page.parent / path
        assert place.exists(), f"{page.relative_to(ROOT)} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", place.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in slugs, f"{page.relative_to(ROOT)} links to {target}"


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    gallery = DOCS / "reference" / "gallery"
    recipes = gallery.with_suffix(".md").read_text("utf-8")
    for page in DOCS.rglob("*.md"):
        if page.parent == gallery:
            assert f"(gallery/{page.name})" in recipes, page.name
        elif page.name != "README.md":
            assert f"({page.relative_to(DOCS)})" in index, page.name


def test_recipe_files_are_those_of_their_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "how-to" / "recipes-by-example.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    exec("\n".join(text for language, text in _BLOCK.findall(page) if language == "python"), {})
    for made in tmp_path.glob("*.json"):
        kept = DOCS / "recipes" / made.name
        assert kept.read_text("utf-8") == made.read_text("utf-8"), (
            f"run 'python docs/recipes/make.py': {made.name}"
        )
    assert {path.name for path in tmp_path.glob("*.json")} == {
        path.name for path in (DOCS / "recipes").glob("*.json")
    }


def test_the_recipes_of_the_docs_draw_on_the_demo(demo_store: Path) -> None:
    import workbench as wb

    with wb.open(demo_store) as bench:
        for path in sorted((DOCS / "recipes").glob("*.json")):
            assert bench.check(path) == [], path.name
            assert len(bench.figure(path).data) > 0, path.name
