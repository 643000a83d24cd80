"""A notebook in JupyterLab as a person has it in front of them: cells run by keyboard, and all that the page said."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
from playwright.sync_api import Browser, Locator, Page, expect

from support.kernel_probe import KernelProbe
from support.running_jupyterlab import Lab
from workbench.notebook import plot_view

LOOPBACK = {"127.0.0.1", "localhost", "::1"}
NO_ADDRESS = {"data", "blob", "about", "chrome", "chrome-extension"}
PATIENCE = 60_000
"""Milliseconds that any wait may take on a busy machine."""
_STILL_AFTER = re.search(
    r"STILL_AFTER_MS = (\d+);", Path(plot_view.__file__).with_name("still_picture.js").read_text("utf-8")
)
KEEPS_SOON = f"""
const plain = window.setTimeout;
window.setTimeout = (work, ms, ...more) =>
  plain(work, window.keepSoon && ms === {_STILL_AFTER[1] if _STILL_AFTER else "absent"} ? 50 : ms, ...more);
"""
"""Shortens the wait for quiet before a picture is kept, where a test asks for it."""
IDLE = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"

NOT_OURS = re.compile(r"Canceled future for |^Error: Disposed\s+at \w+\._handleNewSession ")
"""JupyterLab says so of its own messages to a kernel that ends, and of a notebook closed before its kernel runs."""


@dataclass
class Overheard:
    """What a page asked of other machines and what it complained about."""

    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        self._page = page
        for event, hear in self._ears.items():
            page.on(event, hear)

    def stop(self) -> None:
        for event, hear in self._ears.items():
            self._page.remove_listener(event, hear)

    def __post_init__(self) -> None:
        self._ears: dict[str, Callable[[Any], None]] = {
            "request": lambda request: self.requests.append(request.url),
            "websocket": lambda socket: self.requests.append(socket.url),
            "pageerror": lambda error: self._complained(error.stack or str(error)),
            "console": lambda said: self._complained(said.text) if _is_complaint(said.type, said.text) else None,
        }

    def _complained(self, text: str) -> None:
        if not NOT_OURS.search(text):
            self.errors.append(text)

    @property
    def strangers(self) -> list[str]:
        """Requests to anything but this machine."""
        parts = ((url, urlsplit(url)) for url in self.requests)
        return [url for url, part in parts if part.scheme not in NO_ADDRESS and part.hostname not in LOOPBACK]


def _is_complaint(kind: str, text: str) -> bool:
    """Errors, and warnings about our widgets: anywidget names them."""
    return kind == "error" or (kind == "warning" and "workbench" in text)


def write_notebook(path: Path, cells: Sequence[str]) -> Path:
    """A notebook of code cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


class Windows:
    """Windows of a browser that have JupyterLab in them. One whose notebook was closed shows the next."""

    def __init__(self, lab: Lab, browser: Browser) -> None:
        self.lab = lab
        self._browser = browser
        self._spare: list[Page] = []

    def show(self, notebook: Path, heard: Overheard) -> Page:
        """A window in which a notebook is open, and nothing else."""
        if not self._spare:
            page = self._browser.new_page()
            page.add_init_script(KEEPS_SOON)
            heard.listen(page)
            page.set_default_timeout(PATIENCE)
            page.goto(self.lab.page(notebook))
            return page
        page = self._spare.pop()
        heard.listen(page)
        page.evaluate(
            "async path => { await window.jupyterapp.commands.execute('docmanager:open', { path }); }",
            self.lab.place(notebook),
        )
        return page

    def back(self, page: Page) -> None:
        """Close the notebook in a window, without a question, and keep the window."""
        page.evaluate(
            "() => { window.keepSoon = false; const shell = window.jupyterapp.shell;"
            " shell.currentWidget.dispose(); shell.expandLeft(); }"
        )
        self._spare.append(page)


class NotebookPage:
    """One notebook, open in the browser."""

    def __init__(self, windows: Windows, path: Path, width: int, height: int) -> None:
        self.lab = windows.lab
        self.path = path
        self.heard = Overheard()
        expect.set_options(timeout=PATIENCE)
        self._windows = windows
        self.page = windows.show(path, self.heard)
        self.page.set_viewport_size({"width": width, "height": height})
        self.cells.first.wait_for()
        self.page.wait_for_function(IDLE)
        kernel = self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id")
        self.kernel = KernelProbe(self.lab.runtime / f"kernel-{kernel}.json")
        self._shut = False

    def shut(self) -> None:
        """Close the notebook and end its kernel; the window shows another one later."""
        if self._shut:
            return
        self._shut = True
        self.kernel.close()
        self.heard.stop()
        self._windows.back(self.page)
        self.lab.stop_kernel(self.path)

    def keep_soon(self) -> None:
        """A picture for the saved notebook is kept at once, and not when the view has been left alone for seconds."""
        self.page.evaluate("() => { window.keepSoon = true; }")

    def save(self) -> None:
        """Save by keyboard and wait until it is saved."""
        self.page.keyboard.press("Control+s")
        self.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")

    def reopen_without_kernel(self) -> None:
        """Open the saved notebook anew, as a reader has it who runs nothing."""
        self.page.goto(self.lab.page(self.path) + "&reset")
        self.cells.first.wait_for()

    @property
    def cells(self) -> Locator:
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell")

    def cell(self, number: int) -> Locator:
        return self.cells.nth(number)

    def output(self, number: int) -> Locator:
        return self.cell(number).locator(".jp-Cell-outputArea")

    def run(self, number: int) -> Locator:
        """Run a code cell by keyboard and give its output; fails if the cell does."""
        cell = self.cell(number)
        before = self._prompt(number)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(
            "([cell, before]) => { const told = cell.querySelector('.jp-InputPrompt').textContent.trim();"
            " return /^\\[\\d+\\]:$/.test(told) && told !== before; }",
            arg=[cell.element_handle(), before],
        )
        self.page.wait_for_function(IDLE)
        output = self.output(number)
        wrong = output.locator('[data-mime-type$=".error"], [data-mime-type$=".stderr"]')
        if wrong.count():
            raise AssertionError(f"cell {number}: {wrong.all_inner_texts()}")
        return output

    def _prompt(self, number: int) -> str:
        return self.cell(number).locator(".jp-InputPrompt").inner_text().strip()

    def run_all(self) -> None:
        """Run the code cells one after the other."""
        for number in range(self.cells.count()):
            if "jp-CodeCell" in (self.cell(number).get_attribute("class") or ""):
                self.run(number)

    def type_into(self, number: int, code: str) -> None:
        """Replace the code of a cell, by keyboard."""
        self.cell(number).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)

    def theme(self, dark: bool) -> None:
        """Change JupyterLab's theme and wait until it is there."""
        name = "JupyterLab Dark" if dark else "JupyterLab Light"
        self.page.evaluate(
            "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name
        )
        told = "false" if dark else "true"
        self.page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{told}'")
        # JupyterLab complains if the theme changes again while its splash screen fades.
        self.page.wait_for_function("() => !document.getElementById('jupyterlab-splash')")

    def width(self, pixels: int) -> None:
        """The width of the window; the side bar is closed so that the notebook has all of it."""
        height = (self.page.viewport_size or {"height": 1000})["height"]
        self.page.set_viewport_size({"width": pixels, "height": height})

    def hide_side_bar(self) -> None:
        self.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        self.page.locator("#jp-left-stack").wait_for(state="hidden")

    def settled(self) -> None:
        """Wait until two frames have been drawn and the kernel has nothing to do."""
        self.page.wait_for_function(IDLE)
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def assert_proper(self) -> None:
        """Nothing was asked of another machine, nothing complained, and no figure offers to send itself away."""
        assert self.heard.strangers == []
        assert self.heard.errors == []
        buttons = self.page.locator(".modebar-btn")
        titles = [buttons.nth(n).get_attribute("data-title") or "" for n in range(buttons.count())]
        assert not [title for title in titles if re.search("share|cloud|chart studio", title, re.IGNORECASE)]
