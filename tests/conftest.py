"""What all tests share: the ``--long`` switch, one demo per run, and the folder of real files, which is not part of
the project."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
LONG_FILES = (
    "browser", "server/test_server_fuzz", "server/test_server_commands", "notebooks", "server/test_server_killed",
)  # fmt: skip
"""Where the tests are that take longest: they begin first, so that no worker is left with them at the end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run everything at full size")


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=_turn)  # stable
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="full size: runs with --long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


def _group(item: pytest.Item) -> str:
    """The tests that share a costly set-up run on one worker, so that it is made once: those of a file that has a
    fixture for the module, those of a folder that has one for all of it. Else a test goes wherever there is room.
    """
    info = getattr(item, "_fixtureinfo", None)
    known = [defined[-1] for defined in info.name2fixturedefs.values()] if info else []
    folders = {
        one.baseid for one in known if one.scope in ("package", "session") and one.baseid not in ("", "tests")
    }
    shared = any(one.scope == "module" for one in known)
    return min(folders, default=item.nodeid.split("::")[0] if shared else "")


def _turn(item: pytest.Item) -> int:
    """What takes longest begins first; what is in no group comes last, since it fills any gap."""
    long = [n for n, name in enumerate(LONG_FILES) if item.nodeid.startswith(f"tests/{name}")]
    alone = item.get_closest_marker("xdist_group") is None
    return long[0] if long else len(LONG_FILES) + alone


@pytest.fixture(scope="session")
def long(request: pytest.FixtureRequest) -> bool:
    """True in the long run: tests scale their number of cases by it."""
    return bool(request.config.getoption("--long"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real cycler files with their reference answers; tests skip where the folder is absent."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("the shared folder of real cycler files is absent")
    return folder


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
            make_demo(folder)
            (shared / "demo.made").touch()
    return folder


@pytest.fixture(scope="session")
def demo_store(demo_folder: Path) -> Path:
    """The demo's store. For reading only; tests that write take ``demo_copy``."""
    return demo_folder / "workbench.db"


@pytest.fixture
def demo_copy(demo_store: Path, tmp_path: Path) -> Path:
    """A copy of the demo's store that a test may change."""
    from workbench.store.store import Store

    with Store.open(demo_store, create=False) as store:
        store.backup(tmp_path / "demo.db")
    return tmp_path / "demo.db"
