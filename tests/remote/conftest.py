"""A demo on a local and a remote bench: one store, opened here and through a server, with keys of several people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.local_and_remote import Sides, sides

import workbench as wb


@pytest.fixture(scope="module")
def demo(demo_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    """A copy of the demo, for all tests of a file."""
    path = tmp_path_factory.mktemp("remote") / "demo.db"
    with wb.open(demo_store) as original:
        original.backup(path)
    with sides(path) as made:
        yield made


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Sides]:
    """An empty store."""
    with sides(tmp_path / "lab.db") as made:
        yield made
