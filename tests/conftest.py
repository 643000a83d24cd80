"""What all tests share: the ``--long`` switch, one demo per run, and the folder of real files, which is not part of
the project."""

from __future__ import annotations

import fcntl
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from support.about_a_file import is_about_a_file, new_stores_are_files
from support.everyday import Everyday
from support.examples import FULL_SIZE
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from workbench.environment import store_place

# Tests start some hundred processes. Without files of bytecode each of them compiles the whole package again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# IPython warns where the environment of the shell is not the one that runs.
os.environ.pop("VIRTUAL_ENV", None)

SHARED = Path(__file__).resolve().parents[2] / "shared"
LONG = ("browser", "server", "notebooks", "transform", "ingest", "cli", "demo", "remote")
"""The folders with the longest tests. They begin first, so that no worker is left with them at the end."""
ON_ONE_WORKER = ("tests/browser/", "tests/demo/")
"""Folders whose files share what is costly to start. The tests of any other file share a worker, as its fixtures do."""

ON_ANY_WORKER = "tests/browser/test_browser_figure_walls.py"
"""The file whose tests take so long at full size that all workers share them, each with a browser."""


class ByFile(LoadScopeScheduling):
    """Gives a worker all tests of a file, or of a folder that is to be on one worker."""

    def _split_scope(self, nodeid: str) -> str:
        if self.config.getoption("--long") and nodeid.startswith(ON_ANY_WORKER):
            return nodeid
        return next((folder for folder in ON_ONE_WORKER if nodeid.startswith(folder)), nodeid.split("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    return ByFile(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run everything at full size")
    parser.addoption("--store", choices=["file", "postgres"], default="file", help="where new stores are made")


def pytest_configure(config: pytest.Config) -> None:
    settings.register_profile(FULL_SIZE)
    if config.getoption("--long"):
        settings.load_profile(FULL_SIZE)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_turn)
    if config.getoption("--store") == "postgres":
        about_a_file = pytest.mark.skip(reason="about a store in a file, or about what another process opens")
        for item in items:
            if is_about_a_file(item.nodeid):
                item.add_marker(about_a_file)
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="full size: runs with --long")
    everyday = Everyday(item.nodeid for item in items)
    for item in items:
        if "long" in item.keywords or not (everyday.has(item.nodeid) or _is_asked_for(item, config)):
            item.add_marker(skip)


def _is_asked_for(item: pytest.Item, config: pytest.Config) -> bool:
    """Whether this is not the everyday run: somebody named the file of a test, part of its name, or another place of
    stores."""
    named = [Path(str(one).partition("::")[0]).resolve() for one in config.args]
    return bool(config.option.keyword) or config.getoption("--store") != "file" or item.path in named


def pytest_collection_finish() -> None:
    """What the collection made stays to the end, a million objects: the garbage collector need not look at them, and
    rarely at what tests keep."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def _turn(item: pytest.Item) -> int:
    folder = item.nodeid.split("/")[1]
    return LONG.index(folder) if folder in LONG else len(LONG)


@pytest.fixture(scope="session", autouse=True)
def _own_scripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The record of own scripts of this run, one for all workers: they share the demo, whose plots are their own."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(shared / "state"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """With ``--store=postgres`` each new store that a test makes in this process is on PostgreSQL."""
    if request.config.getoption("--store") == "file":
        yield
        return
    from support.postgres import instead_of_files

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        instead_of_files(patch)
        yield


@pytest.fixture(scope="session")
def long(request: pytest.FixtureRequest) -> bool:
    """True in the long run: tests scale their number of cases by it."""
    return bool(request.config.getoption("--long"))


class RealFiles(type(Path())):
    """A folder of real files. A test that names one which is absent is skipped."""

    def __truediv__(self, name: str | os.PathLike[str]) -> Path:
        found = Path(self, name)
        if not found.exists():
            pytest.skip(f"a real file is absent: {name}")
        return found

    def iterdir(self) -> Iterator[Path]:
        if not self.exists():
            pytest.skip(f"the folder of real files is absent: {self.name}")
        return Path(self).iterdir()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real cycler files with their reference answers in ``truth.json``."""
    return RealFiles(SHARED / "data")


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of ``workbench demo``, made once per run whatever the number of workers. For reading only."""
    from workbench.demo import make_demo

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "demo"
    with (shared / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "demo.made").exists():
            with new_stores_are_files():  # its last step is a backup
                make_demo(folder)
            (shared / "demo.made").touch()
    return folder


@pytest.fixture(scope="session")
def demo_store(demo_folder: Path) -> Path:
    """The demo's store. For reading only; tests that write take ``demo_copy``."""
    return demo_folder / "workbench.db"


@pytest.fixture
def demo_copy(demo_store: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of the demo's store that a test may change."""
    from workbench.store.store import Store

    with Store.open(demo_store, create=False) as store:
        if request.config.getoption("--store") == "postgres":
            from support.postgres import copied

            return store_place(copied(store))
        store.backup(tmp_path / "demo.db")
    return tmp_path / "demo.db"
