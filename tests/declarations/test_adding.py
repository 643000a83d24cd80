"""A source, an operation, a control, a capability and a format work when they are declared as the page says.

The blocks of ``docs/explanation/adding-things.md`` are applied to a copy of the package; whatever else would have to be
touched is missing there, and a check fails.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import server
import workbench
from workbench.readers import BUILT_IN, formats
from workbench.readers.plugins import NEEDED
from workbench.records import KINDS, Record

PACKAGE = Path(workbench.__file__).parent
SERVER = Path(server.__file__).parent
TOOLS = PACKAGE.parent / "tools"
PAGE = PACKAGE.parent / "docs" / "explanation" / "adding-things.md"
HOW_TO = PACKAGE.parent / "docs" / "how-to" / "add-a-format.md"
CASES = Path(__file__).with_name("adding_checks.py")
_PART = re.compile(
    r"^`(?P<file>(?:workbench|server)/[\w/.]+)`:$|^```(?P<kind>python|diff)\n(?P<text>.*?)^```", re.M | re.S
)
NAMES = [node.name for node in ast.parse(CASES.read_text()).body if isinstance(node, ast.FunctionDef)]


def blocks() -> Iterator[tuple[str, str, str]]:
    """(file, kind, text) of every block of the page, in order."""
    file = ""
    for part in _PART.finditer(PAGE.read_text("utf-8")):
        if part["file"]:
            file = part["file"]
        else:
            yield file, part["kind"], part["text"]
    text, example = re.findall(r"^```(?:python)?\n(.*?)^```", HOW_TO.read_text("utf-8"), re.M | re.S)[:2]
    yield "workbench/readers/formats/exemplar.py", "python", example
    yield "exemplar.csv", "python", text


def patched(text: str, diff: str) -> str:
    """The text with the lines of a diff added and taken out, where its other lines stand."""
    before = "".join(line[1:] + "\n" for line in diff.splitlines() if not line.startswith("+")).rstrip("\n")
    after = "".join(line[1:] + "\n" for line in diff.splitlines() if not line.startswith("-")).rstrip("\n")
    assert text.count(before) == 1, f"stands {text.count(before)} times:\n{before}"
    return text.replace(before, after)


def copied(folder: Path, without: str = "") -> Path:
    """A copy of the package with the blocks applied, save those of one file."""
    for package in (PACKAGE, SERVER, TOOLS):
        shutil.copytree(package, folder / package.name)
    for file, kind, text in blocks():
        if file != without:
            path = folder / file
            path.write_text(patched(path.read_text("utf-8"), text) if kind == "diff" else text, "utf-8")
    return folder


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(PACKAGE.parent)])}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Check -> how it failed, empty where it holds."""
    folder = copied(tmp_path_factory.mktemp("adding"))
    done = ran(folder, str(CASES))
    assert done.returncode == 0, done.stderr
    told: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize("name", NAMES)
def test_what_is_declared_as_the_page_says_works(found: Mapping[str, str], name: str) -> None:
    assert found[name] == "", found[name]


@pytest.mark.parametrize(
    ("file", "imported", "words"),
    [
        (
            "workbench/engine/ops/sort.py",
            "workbench.engine.run",
            "'sort' has no meaning: write workbench/engine/ops/sort.py",
        ),
        ("workbench/notebook/fields.py", "workbench.notebook.fields", "No class here draws color"),
        ("workbench/readers/formats/exemplar.py", "workbench.readers.recognition", "exemplar"),
    ],
)
def test_what_is_left_out_is_named_at_import(tmp_path: Path, file: str, imported: str, words: str) -> None:
    done = ran(copied(tmp_path, without=file), "-c", f"import {imported}")
    assert done.returncode != 0
    assert words in done.stderr.splitlines()[-1]


def test_a_filter_that_does_not_exist_is_named_at_import(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    file = folder / "workbench" / "records" / "instance.py"
    file.write_text(file.read_text().replace('"specificationIds": Filter(', '"specificationId": Filter('))
    done = ran(folder, "-c", "import workbench.recipe.check")
    assert "has a filter 'specificationId', which is not a field of Filters" in done.stderr.splitlines()[-1]


def test_every_format_in_a_file_is_listed() -> None:
    """A declaration that nobody listed is a format that is never tried."""
    listed = {id(reader) for reader in BUILT_IN.values()}
    found = []
    for module in pkgutil.iter_modules(formats.__path__, f"{formats.__name__}."):
        for name, one in vars(importlib.import_module(module.name)).items():
            if name.isupper() and name[0] != "_" and all(hasattr(one, part) for part in NEEDED):
                found.append((f"{module.name}.{name}", id(one)))
    assert len(found) > 20
    assert [name for name, one in found if one not in listed] == []


def test_every_kind_of_record_in_a_file_is_listed() -> None:
    def below(cls: type[Record]) -> Iterator[type[Record]]:
        for inner in cls.__subclasses__():
            yield inner
            yield from below(inner)

    assert {cls.__name__ for cls in below(Record) if cls.table and cls.__module__.startswith("workbench.")} == {
        cls.__name__ for cls in KINDS.values()
    }
