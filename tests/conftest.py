"""What all tests share: the ``--long`` switch and the folder of real files, which is not part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run everything at full size")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="full size: runs with --long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


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
