"""Every shipped notebook runs from top to bottom in under a minute, without a warning, and is kept without outputs."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
PICTURES = {"application/vnd.plotly.v1+json", "application/vnd.jupyter.widget-view+json"}
STRICT = """
import warnings

warnings.simplefilter("error")
warnings.filterwarnings("default", module=r"ipykernel\\.")  # Jupyter's own affairs
"""
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
some = pytest.mark.parametrize(
    "path",
    [
        path if place in (0, 4) else pytest.param(path, marks=pytest.mark.long)
        for place, path in enumerate(NOTEBOOKS)
    ],
    ids=lambda path: path.stem,
)
"""The first one, and that of one's own files. ``tests/browser`` runs all of them, in JupyterLab."""


def run(path: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook as it is after it ran in a folder; what warns, fails."""
    folder.mkdir()
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(STRICT))
    client = NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return notebook


def outputs(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def test_there_are_six() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06"]


@each
def test_it_is_kept_without_outputs(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@each
def test_it_asks_a_question_and_answers_it(path: Path) -> None:
    words = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    assert words[0].startswith("# ")
    assert "**The question:**" in words[0]
    assert words[-1].startswith("## The answer")


@each
def test_its_links_lead_somewhere(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        for link in re.findall(r"\]\(([^)]+)\)", cell.source) if cell.cell_type == "markdown" else []:
            assert (path.parent / link).exists()


@pytest.mark.filterwarnings("default")
@some
def test_it_runs_beside_a_demo(path: Path, tmp_path: Path, demo_store: Path) -> None:
    shutil.copy(demo_store, tmp_path / "workbench.db")
    started = time.monotonic()
    made = outputs(run(path, tmp_path / "notebooks"))
    assert time.monotonic() - started < 60
    assert not [output for output in made if output.get("name") == "stderr"]
    assert any(PICTURES & set(output.get("data", {})) for output in made)


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_without_a_demo_one_is_made(tmp_path: Path) -> None:
    run(NOTEBOOKS[0], tmp_path / "notebooks")
    assert (tmp_path / "notebooks" / "workbench-demo" / "workbench.db").exists()


def test_a_demo_brings_all_of_them(demo_folder: Path) -> None:
    assert {path.name for path in (demo_folder / "notebooks").iterdir()} >= {path.name for path in NOTEBOOKS}
