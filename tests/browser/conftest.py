"""JupyterLab and Chromium for the tests in this folder: both are started once, and only on one worker."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.needs import chromium
from support.running_jupyterlab import Lab, running_lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from support.notebook_page import NotebookPage, Windows
    from support.web_page import Window

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Whatever the page asks of another machine is not found.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.when == "call" and report.failed:
        report.sections.extend(("The page", said) for said in evidence(item))


def evidence(item: pytest.Item) -> list[str]:
    """What is known of each page that a test has open: its picture, its address, its complaints."""
    return [_evidence(item, number, folder, page) for number, (folder, page) in enumerate(_open_pages(item))]


def _open_pages(item: pytest.Item) -> list[tuple[Path, NotebookPage | Window]]:
    """The pages that a test has open, with the folder for their pictures. Their modules may not be there to import."""
    values = getattr(item, "funcargs", {}).values()
    sheets = [(value.path.parent, value) for value in values if type(value).__name__ == "NotebookPage"]
    sites = [value for value in values if type(value).__name__ == "Site"]
    return [*sheets, *((site.folder, window) for site in sites for window in site.windows)]


def _evidence(item: pytest.Item, number: int, folder: Path, page: NotebookPage | Window) -> str:
    name = re.sub(r"\W+", "-", item.name)
    picture = folder / f"{name}-{number}.png"
    try:
        page.page.screenshot(path=picture)
    except Exception as problem:  # a page that hangs or is closed must not hide why the test failed
        return f"no screenshot: {problem}"
    return "\n".join([f"screenshot: {picture}", page.page.url, "console:", *page.heard.errors[-20:]])


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory, demo_folder: Path) -> Iterator[Lab]:
    """A JupyterLab on a folder of its own, which holds a copy of the demo's notebooks."""
    chromium()
    folder = tmp_path_factory.mktemp("lab")
    root = folder / "root"
    shutil.copytree(demo_folder / "notebooks", root / "notebooks")
    with running_lab(root, folder) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, for this folder alone: playwright keeps a loop running that other tests should not meet."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture(scope="package")
def windows(lab: Lab, browser: Browser) -> Windows:
    """Windows with JupyterLab, which takes long to load: one whose notebook is closed is used again."""
    from support.notebook_page import Windows

    return Windows(lab, browser)


Open = Callable[..., "NotebookPage"]


@contextmanager
def opening(windows: Windows, demo_store: Path, root: Path) -> Iterator[Open]:
    """Opens notebooks in folders below ``root``, each beside a copy of the demo's store; closes them at the end."""
    from support.notebook_page import NotebookPage, write_notebook

    from workbench.store.store import Store

    sheets: list[NotebookPage] = []

    def opened(source: list[str] | Path, *, width: int = 1440, height: int = 1000) -> NotebookPage:
        folder = Path(tempfile.mkdtemp(dir=root))
        target = folder / "notebooks" / "of-a-test.ipynb"
        target.parent.mkdir()
        with Store.open(demo_store, create=False) as store:
            store.backup(folder / "workbench.db")
        if isinstance(source, Path):
            target = target.with_name(source.name)
            shutil.copy(source, target)
        else:
            write_notebook(target, source)
        sheets.append(NotebookPage(windows, target, width, height))
        return sheets[-1]

    yield opened
    for sheet in sheets:
        sheet.shut()


@pytest.fixture
def opened(windows: Windows, demo_store: Path) -> Iterator[Open]:
    """Open a notebook until the test ends: ``opened(cells)``, or ``opened(path)`` of one that exists."""
    with opening(windows, demo_store, windows.lab.root) as opened:
        yield opened


@pytest.fixture(scope="module")
def kept_open(windows: Windows, demo_store: Path) -> Iterator[Open]:
    """Open a notebook that the tests of a file share."""
    with opening(windows, demo_store, windows.lab.root) as opened:
        yield opened


@pytest.fixture(scope="session")
def pictures() -> Path | None:
    """Where pictures of every figure go, light and dark, for people to look at: $WORKBENCH_PICTURES, else nowhere."""
    chosen = os.environ.get("WORKBENCH_PICTURES")
    if chosen is None:
        return None
    folder = Path(chosen)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
