"""What people rely on: the names of the package, and reference pages that say all of it and no more."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import workbench
from tools.docs import COMMAND, FOLDER, WRITTEN, stale
from tools.docs.commands import commands

ROOT = Path(__file__).parents[1]


def test_all_is_what_is_exported() -> None:
    assert workbench.__all__ == sorted(workbench.__all__)
    for name in workbench.__all__:
        assert getattr(workbench, name) is not None
    assert [name for name in dir(workbench) if not name.startswith("_")] == workbench.__all__


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        importlib.import_module("workbench").opne  # noqa: B018


def test_importing_the_package_loads_nothing_heavy() -> None:
    words = (
        "import sys, workbench; print([m for m in ('pandas', 'plotly', 'sqlite3', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_what_is_written_from_the_code_is_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == WRITTEN[path](), f"{path.name} is stale: run '{COMMAND}'"


def test_a_stale_page_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WRITTEN, FOLDER / "errors.md", lambda: "other")
    monkeypatch.setitem(WRITTEN, FOLDER / "absent.md", lambda: "new")
    assert stale() == [FOLDER / "errors.md", FOLDER / "absent.md"]


def test_every_exported_name_is_documented() -> None:
    page = (FOLDER / "python.md").read_text("utf-8")
    for name in workbench.__all__:
        row = re.search(rf"^\| `wb\.{name}` \| (.+) \|$", page, re.MULTILINE)
        assert row, name
        assert len(row[1]) > 10


def test_every_command_and_option_is_documented_and_has_an_example() -> None:
    page = (FOLDER / "commands.md").read_text("utf-8")
    for name, command in commands().items():
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert f"Example: `workbench {name} " in section
        for param in command.params:
            if param.is_eager:
                continue
            assert param.opts[0] in section or param.metavar in section, (name, param.name)
            assert param.help, f"{name}: {param.name} has no help"


def test_every_command_takes_project_and_organization() -> None:
    for name, command in commands().items():
        options = {option for param in command.params for option in param.opts}
        assert {"--project", "--organization"} <= options, name
        assert "--json" in options or name in ("lab", "mcp")  # they print no table
        assert "--store" in options or name in ("demo", "copy-store")  # which names two stores
