"""From the command to a notebook that takes what is typed: ``workbench lab`` beside ``jupyter lab`` on the same folder.

``python benchmarks/lab.py [--full]``. Each start is a new server with a home of its own and a new page of a browser
that runs already; a round has one of each. Needs Chromium.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from compiled import keep_compiled  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402
from support.needs import chromium  # noqa: E402
from support.notebook_page import write_notebook  # noqa: E402
from support.running_jupyterlab import TOKEN, free_port, stop, surroundings  # noqa: E402

RESULT = HERE / "results" / "lab.md"
MOST_MORE = 1.0
PATIENCE = 120
SAME = ("--ServerApp.ip=127.0.0.1", "--allow-root")


def commands(root: Path, port: int) -> dict[str, list[str]]:
    programs = Path(sys.executable).parent
    jupyter = [f"--ServerApp.root_dir={root}", f"--ServerApp.port={port}", "--no-browser"]
    return {
        "workbench lab": [
            *(str(programs / "workbench"), "lab", str(root), "--port", str(port), "--no-browser", "--"),
            *SAME,
        ],
        "jupyter lab": [str(programs / "jupyter"), "lab", *jupyter, *SAME],
    }


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/api/status?token={TOKEN}", timeout=10):
            return True
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def typed(name: str, browser: Browser) -> tuple[float, float]:
    """Seconds until the server answers, and until a letter that is typed is in the notebook."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        write_notebook(root / "first.ipynb", [""])
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        page = browser.new_context().new_page()
        began = time.perf_counter()
        process = subprocess.Popen(
            commands(root, port)[name],
            env=surroundings(Path(folder)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            while not answers(address):
                if process.poll() is not None or time.perf_counter() - began > PATIENCE:
                    raise RuntimeError(f"`{name}` did not start.")
                time.sleep(0.02)
            there = time.perf_counter() - began
            page.goto(f"{address}/lab/tree/first.ipynb?token={TOKEN}", timeout=PATIENCE * 1000)
            cell = page.locator(".jp-Notebook .jp-CodeCell .cm-content").first
            cell.click(timeout=PATIENCE * 1000)
            page.keyboard.type("7")
            page.wait_for_function("cell => cell.textContent.includes('7')", arg=cell.element_handle())
            return there, time.perf_counter() - began
        finally:
            page.context.close()
            stop(process)


def main(full: bool) -> int:
    """Run the rounds and write the page; 1 if the gate was missed."""
    keep_compiled()
    rounds = 7 if full else 3
    taken: dict[str, list[tuple[float, float]]] = {"workbench lab": [], "jupyter lab": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        for turn in range(rounds + 1):
            for name in taken:
                one = typed(name, browser)
                # The first round reads the files of JupyterLab from the disk, for whichever comes first.
                if turn:
                    taken[name].append(one)
        browser.close()
    medians = {name: [statistics.median(part) for part in zip(*ones, strict=True)] for name, ones in taken.items()}
    more = medians["workbench lab"][1] - medians["jupyter lab"][1]
    kept = "kept" if more <= MOST_MORE else "MISSED"
    lines = [
        "# JupyterLab, until a notebook takes what is typed",
        "",
        "Seconds from the command, medians of interleaved rounds; headless Chromium runs already and opens a new page.",
        "`python -m benchmarks lab` makes this page.",
        "",
        "| command | the server answers | a typed letter is in the notebook |",
        "|---|---|---|",
        *(f"| `{name}` | {first:.2f} | {last:.2f} |" for name, (first, last) in medians.items()),
        "",
        f"Gate: at most {MOST_MORE:g} s more than JupyterLab alone; {more:+.2f} s, {kept}.",
        "",
    ]
    RESULT.write_text("\n".join(lines), "utf-8")
    print("\n".join(lines))
    return 0 if more <= MOST_MORE else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="more rounds")
    sys.exit(main(parser.parse_args().full))
