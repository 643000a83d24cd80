"""A demo of this folder's own, from the one that is made once per run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.bench import Bench, open_bench
from workbench.demo import DemoResult, make_demo
from workbench.demo.saved import saved_plots


@pytest.fixture(scope="session")
def demo(demo_store: Path, tmp_path_factory: pytest.TempPathFactory) -> DemoResult:
    """The result of drawing a copy of the demo's store: for reading, and for copying whole."""
    folder = tmp_path_factory.mktemp("own") / "demo"
    folder.mkdir()
    with open_bench(demo_store) as bench:
        bench.backup(folder / "workbench.db")
    return make_demo(folder)


@pytest.fixture
def copied(demo: DemoResult, tmp_path: Path) -> Path:
    """A demo that a test may change."""
    return Path(shutil.copytree(demo.store.parent, tmp_path / "copy"))


@pytest.fixture(scope="session")
def demo_bench(demo: DemoResult) -> Iterator[Bench]:
    with open_bench(demo.store) as bench:
        yield bench


@pytest.fixture(scope="session")
def recipes(demo_bench: Bench) -> dict[str, dict[str, Any]]:
    """The recipe of each plot of the demo, as its dashboard has it, by slug."""
    boards = {plot.dashboard: demo_bench.dashboards.get(plot.dashboard) for plot in saved_plots()}
    return {plot.slug: boards[plot.dashboard].plot(plot.name).recipe().raw() for plot in saved_plots()}
