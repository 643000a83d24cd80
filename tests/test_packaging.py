"""What is imported is declared, what is declared is imported, and the version is written in one place."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import workbench
from server.settings import VERSION

pytestmark = pytest.mark.xdist_group("packaging")  # one worker reads the files, once
ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
OURS = {"workbench", "server", "tools", "tests", "benchmarks"}
NOT_DECLARED = {
    "galvani": "its licence is the GPL: the user installs it",
    "polars": "frames of a user who has it: workbench/bench/polars_frames.py",
    "_typeshed": "types of the type checker; never imported when the program runs",
}
"""Imported by the library although no extra has it, and why."""
NOT_IMPORTED: dict[str, dict[str, str]] = {
    "library": {
        "fastapi-swagger": "the files of the page /docs, read as files: server/docs_page.py",
        "sqlite-utils": "the command with which people look into a store: docs/explanation/store.md",
    },
    "docs": {},
    "dev": {
        "battery-workbench": "ourselves",
        "import-linter": "a command of `just lint`",
        "moto": "the S3 server of the tests, in a process of its own: tests/support/object_server.py",
        "mypy": "a command of `just lint`",
        "pandas-stubs": "types that mypy reads",
        "pre-commit": "a command of CONTRIBUTING.md",
        "pytest-xdist": "the option -n of pytest",
        "ruff": "a command of `just lint`",
        "scipy-stubs": "types that mypy reads",
    },
}
"""Declared for developers although nothing imports it, and why."""
PEERS = {"bdf", "cellpy", "fastexcel", "ionworksdata", "NewareNDA", "pyprobe"}
"""Packages that a benchmark compares with; one that is not installed is left out of its table."""
ELSEWHERE = {
    "pybamm": "sample_data/make.py has an environment of its own",
    "ionworks": "tests/server/client finds it where it is",
    "mine_changed": "a test writes this module",
}


@cache
def imported(*folders: str) -> dict[str, Path]:
    """Every module of others that is imported below the folders, by its first name, and one file that does."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "hostile" in path.parts:  # scripts as their authors wrote them
                continue
            for module in _modules(ast.parse(path.read_text("utf-8"))):
                found.setdefault(module.split(".")[0], path)
    return {name: path for name, path in found.items() if name not in sys.stdlib_module_names | OURS}


def imported_by_developers() -> dict[str, Path]:
    """The same for all that is not the library; its files find those beside them by their bare names."""
    folders = ("tests", "benchmarks", "tools", "sample_data", "docs")
    beside = {path.stem for folder in folders for path in (ROOT / folder).rglob("*.py")}
    beside |= {path.parent.name for path in (ROOT / "tests").rglob("*.py")}
    return {name: path for name, path in imported(*folders).items() if name not in beside}


def _modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(module)), *_]):
                if not module.startswith("."):
                    yield module


def declared(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


@cache
def installed() -> Mapping[str, list[str]]:
    return packages_distributions()


def distribution_of(module: str) -> set[str]:
    return {canonicalize_name(name) for name in installed().get(module, [module])}


EXTRAS: dict[str, list[str]] = PYPROJECT["project"]["optional-dependencies"]
LIBRARY = declared([*PYPROJECT["project"]["dependencies"], *(text for extra in EXTRAS.values() for text in extra)])
GROUPS: dict[str, list[str]] = PYPROJECT["dependency-groups"]


def test_what_the_library_imports_is_declared() -> None:
    missing = {
        module: path.relative_to(ROOT).as_posix()
        for module, path in imported("workbench", "server").items()
        if not distribution_of(module) & LIBRARY and module not in NOT_DECLARED
    }
    assert missing == {}


def test_what_the_library_declares_is_imported() -> None:
    used = {name for module in imported("workbench", "server") for name in distribution_of(module)}
    assert LIBRARY - used - {"battery-workbench"} - set(NOT_IMPORTED["library"]) == set()


def test_what_developers_use_is_declared() -> None:
    known = LIBRARY | declared(GROUPS["dev"]) | declared(GROUPS["docs"])
    missing = {
        module: path.relative_to(ROOT).as_posix()
        for module, path in imported_by_developers().items()
        if not distribution_of(module) & known and module not in {*PEERS, *ELSEWHERE, *NOT_DECLARED}
    }
    assert missing == {}


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_what_a_group_declares_is_used(group: str) -> None:
    text = (ROOT / "docs" / "conf.py").read_text("utf-8")
    named = {name for name in declared(GROUPS[group]) if f'"{name.replace("-", "_")}' in text}
    used = {name for module in imported_by_developers() for name in distribution_of(module)} | named
    assert declared(GROUPS[group]) - used - set(NOT_IMPORTED[group]) == set()


def test_all_is_what_the_readme_installs_and_full_has_every_extra() -> None:
    assert "pip install -q '.[all]'" in (ROOT / "README.md").read_text("utf-8")
    assert Requirement(EXTRAS["all"][0]).extras == {"lab", "neware", "hdf5", "export"}
    below = {extra for text in EXTRAS["full"] for extra in Requirement(text).extras}
    assert below | Requirement(EXTRAS["all"][0]).extras == set(EXTRAS) - {"full"}


@pytest.mark.long
def test_a_plain_install_needs_no_extra() -> None:
    extras = {"jupyterlab", "jupyter_server", "fastnda", "h5py", "kaleido", "galvani", "pybamm", "obstore"}
    words = f"""
import sys, pkgutil, importlib
sys.modules.update(dict.fromkeys({sorted(extras)}))  # None in the table of modules: importing it is an ImportError
import workbench, server
for package in (workbench, server):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        names = found.name.split(".")
        if not {{"__main__", "lab_socket", "recipes", "examples", "sample_data"}} & set(names) or names[1] == "cli":
            if names[-1] != "lab_socket":
                importlib.import_module(found.name)
"""
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_version_is_written_in_one_place() -> None:
    """The wheel takes it from the package (hatch), the server's answers and the OpenAPI document from the wheel."""
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    assert PYPROJECT["tool"]["hatch"]["version"] == {"path": "workbench/version.py"}
    assert workbench.__version__ == version("battery-workbench") == VERSION, "install again: pip install -e ."
    change = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = "dev" not in workbench.__version__
    assert (f"## {workbench.__version__}" if released else "## Unreleased") in change


def test_the_places_that_the_guide_for_developers_names_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = {
        one for one in re.findall(r"`((?:workbench|server|tests|tools|docs)/[\w./-]+)`", text) if "<" not in one
    }
    assert len(named) > 20
    assert [one for one in sorted(named) if not (ROOT / one).exists()] == []


def test_the_picture_of_the_rooms_has_every_room() -> None:
    contract = PYPROJECT["tool"]["importlinter"]["contracts"][0]
    rooms = {room.strip() for layer in contract["layers"] for room in layer.split("|")} - {"__main__"}
    picture = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## Rooms and layers")[1].split("```")[1]
    assert {room for room in rooms if not re.search(rf"\b{room}\b", picture)} == set()


def test_long_folders_have_a_reason_and_no_file_is_long() -> None:
    """A folder of the library with many files is named, with its reason, in the guide for developers."""
    reasons = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("These folders have more, and why:")[1]
    reasons = reasons.split("- Names come")[0]
    sources = [path for package in ("workbench", "server") for path in (ROOT / package).rglob("*.py")]
    assert [str(path) for path in sources if len(path.read_text("utf-8").splitlines()) > 600] == []
    crowded = [folder for folder, number in Counter(path.parent for path in sources).items() if number > 16]
    named = {folder.relative_to(ROOT).as_posix() for folder in crowded}
    assert len(named) > 10
    assert {one for one in named if f"`{one.removeprefix('workbench/')}`" not in reasons} == set()
