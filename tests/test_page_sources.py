"""The files of the web page: what is vendored is what it says, types are right, nothing writes HTML from data."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path
from typing import get_args

import pytest

from server.page_files import page, without_comments
from server.routes.ingests import MOST_FILES
from workbench.alerts.form import FieldKind
from workbench.ingest.options import CYCLES, body_model
from workbench.ingest.report.settled_by import settled_by
from workbench.plotly_files import parsed_sooner, plotly_source, source_of
from workbench.readers.reading import SIGNS
from workbench.recipe.controls import WIDGETS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "server" / "page"
VENDOR = PAGE / "vendor"
TOOLS = ROOT / "tools" / "vendor"
OWN = [path for path in PAGE.rglob("*.js") if VENDOR not in path.parents]
_PARTS = ("figure_layout.js", "still_picture.js", "plotly_library.js", "plot_view.js")
PLOT_VIEW = [ROOT / "workbench" / "notebook" / name for name in _PARTS]
PARSE = """
const [fs, vm] = [require("fs"), require("vm")];
const names = fs.readdirSync(process.argv[1]);
for (const identifier of names) {
  new vm.SourceTextModule(fs.readFileSync(`${process.argv[1]}/${identifier}`, "utf8"), { identifier });
}
console.log(names.length);
"""
FORBIDDEN = ("innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "document.write", "eval(")


def test_vendored_files_have_the_hashes_that_are_written_down() -> None:
    told = dict(re.findall(r"^\| (\S+\.js) \| ([0-9a-f]{64}) \|", (VENDOR / "VENDORED.md").read_text(), re.M))
    there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VENDOR.glob("*.js")}
    assert there == told
    assert set(there) == {"preact.js", "codemirror.js", "plotly-cartesian.js"}


@pytest.mark.parametrize("path", [*OWN, *PLOT_VIEW], ids=lambda path: path.name)
def test_nothing_writes_html_or_runs_texts(path: Path) -> None:
    text = path.read_text("utf-8")
    assert [word for word in FORBIDDEN if word in text] == []
    assert not re.search(r"\bhttps?://(?!www\.w3\.org/)[a-z]", text), "an address of another machine"


def test_links_from_data_begin_with_a_slash() -> None:
    """``javascript:`` in a record must not become a link; each address is put together here."""
    given = [found for path in OWN for found in re.findall(r"href=\$\{([^}]*)", path.read_text("utf-8"))]
    fine = re.compile(r"^(`/|`\$(\{base|\{to)?|to\b|base\b|edit\b)")
    assert [one for one in given if not fine.match(one)] == []
    assert len(given) > 20


def test_files_are_short_enough_to_read() -> None:
    assert [path.name for path in [*OWN, *PLOT_VIEW] if len(path.read_text("utf-8").splitlines()) >= 600] == []


def loaded(path: Path, seen: set[Path]) -> set[Path]:
    """A module and all that it imports at once."""
    if path not in seen and path.exists():
        seen.add(path)
        for found in re.findall(r'from "(\.[^"]+\.js)"', path.read_text("utf-8")):
            loaded((path.parent / found).resolve(), seen)
    return seen


def test_a_dashboard_loads_little_beside_plotly() -> None:
    """In kB, gzipped as the server sends them: all that a dashboard loads but plotly, and what the editor adds."""
    served = page()

    def packed(names: set[str]) -> float:
        return sum(len(found.packed) for name in names if (found := served.file(name))) / 1000

    board = loaded(PAGE / "main.js", set()) | loaded(PAGE / "pages" / "board.js", set())
    names = {path.relative_to(PAGE).as_posix() for path in board if path.is_relative_to(PAGE)}
    styles = set(re.findall(r"__VERSION__/(style/\w+\.css)", (PAGE / "index.html").read_text("utf-8")))
    assert styles
    assert packed({*names, *styles, "plot_view.js", "plot_view.css"}) < 60
    assert packed({"vendor/codemirror.js"}) < 180


@pytest.mark.parametrize("path", [*OWN, *PLOT_VIEW], ids=lambda path: path.name)
def test_comments_are_where_they_can_be_left_out(path: Path) -> None:
    """The server leaves them out by their form: a text of a program must not have it."""
    source = path.read_text("utf-8")
    bare = without_comments(source)
    assert bare.count("\n") == source.count("\n")
    assert [line for line in bare.split("\n") if line.lstrip().startswith(("//", "/*"))] == []
    for found in re.finditer(r"/\*\*", source):
        before = source[source.rfind("\n", 0, found.start()) + 1 : found.start()]
        assert before.count('"') % 2 == 0, before


def test_styles_are_served_without_comments_and_otherwise_whole() -> None:
    for path in [*PAGE.glob("style/*.css"), PLOT_VIEW[0].with_name("plot_view.css")]:
        name = "plot_view.css" if path.name == "plot_view.css" else f"style/{path.name}"
        served, source = page().file(name), path.read_text("utf-8")
        assert served is not None
        text = served.content.decode()
        assert "/*" not in text
        assert text.count("\n") == source.count("\n")
        assert re.sub(r"/\*[^*]*\*/", "", source).split() == text.split()


def test_without_comments_the_modules_are_programs(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    view = "".join(path.read_text("utf-8") for path in PLOT_VIEW)  # they are served as one
    for place, text in enumerate([*(path.read_text("utf-8") for path in OWN), view]):
        (tmp_path / f"{place:03}.js").write_text(without_comments(text))
    done = subprocess.run(
        [node, "--experimental-vm-modules", "-e", PARSE, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(len(OWN) + 1)


def test_the_page_draws_every_control() -> None:
    """A control that nothing draws would be missing from the page without a word."""
    panel = (PAGE / "controls" / "panel.js").read_text("utf-8")
    (fields,) = re.findall(r"FIELDS = \{(.*?)\};", panel, re.S)
    assert {*re.findall(r"(\w+):", fields)} == {*WIDGETS}


def test_the_form_of_an_alert_draws_every_kind_of_field() -> None:
    """A field that nothing draws would be missing from the form without a word."""
    form = (PAGE / "pages" / "alert_form.js").read_text("utf-8")
    (kinds,) = re.findall(r"const KINDS = \{(.*?)^\};", form, re.S | re.M)
    assert {*re.findall(r"^  (\w+): \(", kinds, re.M)} == {*get_args(FieldKind)}


def test_what_a_report_asks_for_can_be_said_when_files_are_brought_in() -> None:
    """A report names options; one without a field on the page could not be given there."""
    fields = (PAGE / "pages" / "bring_in.js").read_text("utf-8")
    asked = {*body_model().model_fields} - {"jobs", "keep_file", "again", "dry_run", "whole_lines"}
    assert {"sign", "cycles", "repair"} <= asked
    assert [name for name in sorted(asked) if f'"{name}"' not in fields] == []


def test_the_form_of_an_ingest_knows_the_values_and_the_limit_of_the_server() -> None:
    """A value that it lacks could not be chosen; a limit that it lacks would be met when all files were sent."""
    form = (PAGE / "pages" / "bring_in.js").read_text("utf-8")
    (choices,) = re.findall(r"const CHOICES = \[\n(.*?)^\];", form, re.S | re.M)
    values = {line.split('"')[1]: set(re.findall(r'\["(\w+)", ', line)[1:]) for line in choices.splitlines()}
    assert values == {"sign": {*SIGNS}, "cycles": {*CYCLES}, "repair": {"time"}}
    assert f"const MOST_FILES = {MOST_FILES:_};" in form


def test_the_form_of_an_ingest_words_the_advice_of_a_rating_with_its_own_fields() -> None:
    (said,) = re.findall(r'\.replace\("(sheet: [^"]*)",', (PAGE / "pages" / "bring_in.js").read_text("utf-8"))
    assert said in settled_by("rating")


def test_the_types_of_the_page_are_right() -> None:
    compiler = TOOLS / "node_modules" / "typescript" / "bin" / "tsc"
    node = shutil.which("node")
    if node is None or not compiler.exists():
        pytest.skip("typescript is not installed: run `npm ci` in tools/vendor")
    done = subprocess.run(
        [node, str(compiler), "-p", str(TOOLS / "tsconfig.json")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_library_file_knows_the_types_that_the_page_gives_it() -> None:
    """plotly.js draws a trace type that its file lacks as ``scatter``, without a word."""
    listed = re.search(r"const SMALL = new Set\(\[(.*?)\]\)", (PAGE / "plot" / "library.js").read_text(), re.S)
    assert listed is not None
    bundle = (VENDOR / "plotly-cartesian.js").read_text("utf-8")
    version = re.compile(r"plotly\.js (?:\(cartesian - minified\) )?v(\d+)\.")
    majors = [version.search(source[:500]) for source in (bundle, plotly_source())]
    assert majors[0] is not None
    assert majors[1] is not None
    assert majors[0][1] == majors[1][1], "the small file and the whole would draw differently"
    has = set(re.findall(r'moduleType:"trace",name:"([a-z0-9]+)"', bundle))
    assert set(re.findall(r'"([a-z0-9]+)"', listed[1])) == has


def test_a_browser_parses_the_library_files_once() -> None:
    """Functions that run at once are in parentheses: the one that holds a file, and in the small file each module."""
    before, small, whole = plotly_source(), source_of("small"), source_of("whole")
    for made in (small, whole):
        assert made.count(', (function(){\n"use strict";') + made.count(', (function() {\n"use strict";') == 1
        assert made.endswith("\n})));")
    assert len(re.findall(r"=\w+\(\(function\([\w$,]*\)\{", small)) > 500
    assert len(whole) == len(before) + len("(function)") - len(" =>")
    assert page(PAGE).file("plotly.js").content == whole.encode()  # type: ignore[union-attr]


def test_another_form_of_the_library_stays_as_it_is() -> None:
    for other in ("", "var Plotly = 1;", f"{plotly_source()}\n", plotly_source() * 2):
        assert parsed_sooner(other) == other
