"""A typed number means the same on the web page as in a notebook: their two readers agree."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from workbench.notebook.number_text import NotANumber, read_number

PAGE = Path(__file__).parents[2] / "server" / "page" / "controls" / "numbers.js"
TEXTS = [
    *(
        "7.5",
        "7,5",
        "1e3",
        "1E3",
        "1 000",
        "1 000,5",
        "1\u202f000\u202f000",
        "12,5e-3",
        "\u22123",
        "+5",
        ".5",
        "5.",
    ),
    *(
        "1,000",
        "-12,500",
        "0,001",
        "0,500",
        "1234,500",
        "1,5",
        "1,500e2",
        "1 00",
        "7 5",
        "1 2 3",
        "1 0000",
        "10 000 0",
    ),
    *("0x10", "0b11", "1_000", "\uff11\uff12", "nan", "Infinity", "-inf", "1e400", "1'000", "1.000,5", "1,000.5"),
    *("--5", "5 mA", "1e0.5", "-0", "7.0", "", "  12  ", "1e-3", "3e+2", "e5", "."),
]
SCRIPT = """
import {{ parsed }} from {page};
const texts = {texts};
const read = (text, integer) => parsed(text, {{ integer, min: null, max: null }}).value ?? null;
console.log(JSON.stringify(texts.map((text) => [read(text, false), read(text, true)])));
"""


def in_a_notebook(text: str, *, whole: bool) -> float | None:
    try:
        return read_number(text, whole=whole)
    except NotANumber:
        return None


def test_the_page_and_the_notebook_read_the_same_numbers(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    script = SCRIPT.format(page=json.dumps(PAGE.as_uri()), texts=json.dumps(TEXTS))
    path = tmp_path / "read.mjs"
    path.write_text(script)
    done = subprocess.run([node, path], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found = {text: tuple(both) for text, both in zip(TEXTS, json.loads(done.stdout), strict=True)}
    assert found == {text: (in_a_notebook(text, whole=False), in_a_notebook(text, whole=True)) for text in TEXTS}


def test_a_whole_number_that_a_page_would_round_is_refused() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    script = SCRIPT.format(page=json.dumps(PAGE.as_uri()), texts='["9007199254740993"]')
    done = subprocess.run(
        [node, "--input-type=module", "-e", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert json.loads(done.stdout) == [[9007199254740992, None]]
