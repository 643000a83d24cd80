"""The live view in a real JupyterLab against plotly's FigureWidget: ``python benchmarks/notebook.py [--full]``.

Chromium is driven by keyboard; rounds of ours and theirs are interleaved, so that a busy machine slows both. Needs
what the browser tests need.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from playwright.sync_api import sync_playwright  # noqa: E402
from support.notebook_page import NotebookPage, Windows, write_notebook  # noqa: E402
from support.running_jupyterlab import running_lab  # noqa: E402

RESULT = HERE / "results" / "notebook.md"
SOURCES, POINTS, PLOTS = 20, 2000, 6
LEAST_SPEED, LEAST_KERNEL, LEAST_OPEN = 0.95, 5.0, 8.0
PATIENCE_MS = 300_000
MOST_ANSWER_MS, MOST_DRAWN = 100, 3

STORE = f"""
import numpy as np, time, threading
import ipywidgets as widgets, plotly.graph_objects as go
import workbench as wb
bench = wb.open("bench.db")
bench.specifications.create(name="cell", ratings={{
    "capacity": {{"value": 3.0, "unit": "A.h"}},
    "voltage_min": {{"value": 2.5, "unit": "V"}}, "voltage_max": {{"value": 4.2, "unit": "V"}}}})
cell = bench.instances.create(name="cell", specification="cell")
t = np.arange(20_000.0)
ids = []
for k in range({SOURCES}):
    volts = 3.6 + 0.3 * np.sin(t / (300 + 10 * k)) + np.random.default_rng(k).normal(0, 1e-3, t.size)
    frame = {{"Time [s]": t, "Voltage [V]": volts, "Current [A]": np.sin(t)}}
    ids.append(bench.measurements.create(instance_id=cell.id, name=f"m{{k}}", time_series=frame).id)
script = '''
def transform(data, params):
    traces = [{{"type": "scatter", "mode": "lines", "name": key[-4:], "x": frame["Time [s]"],
               "y": frame["Voltage [V]"] * params["k"]}} for key, frame in data["samples"].items()]
    return {{"data": traces, "layout": {{"xaxis": {{"title": {{"text": "Time / s"}}}}}}}}
'''
plan = {{"steps": {{"samples": {{"op": "series", "source": "measurements", "ids": ids, "x": "Time [s]",
        "columns": ["Voltage [V]"], "max_points": {POINTS}}}}}}}
params = {{"k": {{"kind": "view", "default": 1, "control": {{"min": 1, "max": 1000}}}}}}
recipe = wb.Recipe(plan=plan, transform=script, params=params)
board = bench.dashboards.create("Six")
for n in range({PLOTS}):
    few = {{"steps": {{"samples": {{**plan["steps"]["samples"], "ids": ids[n:n + 3]}}}}}}
    board.save(f"plot {{n}}", wb.Recipe(plan=few, transform=script, params=params))
"""
OURS = """
view = bench.show(recipe)
held = []
apply = view.surface.apply
def timed(*told):
    began = time.perf_counter()
    apply(*told)
    held.append(time.perf_counter() - began)
view.surface.apply = timed
view
"""
THEIRS = """
figure = bench.figure(recipe)
base = [np.array(trace.y) for trace in figure.data]
figure_widget = bench.figure_widget(recipe)
slider = widgets.IntSlider(1, 1, 1000, continuous_update=False)
updated = []
def change(told):
    began = time.perf_counter()
    with figure_widget.batch_update():
        for trace, y in zip(figure_widget.data, base):
            trace.y = y * told["new"]
    updated.append(time.perf_counter() - began)
slider.observe(change, "value")
widgets.VBox([slider, figure_widget])
"""
WARM = """
import workbench.notebook.board_view, workbench.notebook.figure_widget
for plot in board.plots():
    plot.figure()
"""
BOARD = "board.show()"
SIX = """
widgets.VBox([bench.figure_widget(plot.recipe()) for plot in board.plots()])
"""
# From the key to the frame after the drawing.
WATCH = """cell => {
  const plot = cell.querySelector(".js-plotly-plot");
  window.took = [];
  if (plot.watched) return;
  plot.watched = true;
  cell.addEventListener("keydown", () => { plot.began = performance.now(); }, true);
  plot.on("plotly_afterplot", () => requestAnimationFrame(() => {
    if (plot.began) window.took.push(performance.now() - plot.began);
    plot.began = 0;
  }));
}"""


class Session:
    """The notebook of the benchmark."""

    def __init__(self, sheet: NotebookPage) -> None:
        self.sheet = sheet

    def change(self, number: int) -> float:
        """Milliseconds from a key on the slider of a cell to the picture."""
        cell = self.sheet.cell(number)
        cell.evaluate(WATCH)
        cell.locator(".noUi-handle").first.focus()
        self.sheet.page.keyboard.press("ArrowRight")
        self.sheet.page.wait_for_function("() => window.took.length > 0")
        took: float = self.sheet.page.evaluate("() => window.took[0]")
        self.sheet.settled()
        time.sleep(0.5)
        return took

    def open(self, number: int, traces: int) -> float:
        """Seconds from running a cell to all its traces in the picture."""
        cell = self.sheet.cell(number)
        cell.locator(".cm-content").click()
        self.sheet.page.keyboard.press("Escape")
        self.sheet.page.keyboard.press("Control+Enter")
        began = time.perf_counter()
        self.sheet.page.wait_for_function(
            "([cell, n, before]) => { const drawn = cell.querySelectorAll('.scatterlayer .trace');"
            " return drawn.length === n && drawn[0] !== before; }",
            arg=[cell.element_handle(), traces, None],
            polling="raf",
        )
        took = time.perf_counter() - began
        self.sheet.settled()
        return took

    def clear(self, number: int) -> None:
        """Take the output of a cell away, so that the next run starts from nothing."""
        self.sheet.cell(number).locator(".cm-content").click()
        self.sheet.page.keyboard.press("Escape")
        self.sheet.page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-cell-output')")
        self.sheet.page.wait_for_function(
            "cell => !cell.querySelector('.scatterlayer')", arg=self.sheet.cell(number).element_handle()
        )

    def burst(self, number: int) -> dict[str, float]:
        """Thirty fast changes of the slider: computations, the slowest answer of the kernel, the value shown."""
        kernel = self.sheet.kernel
        before = kernel.ask("len(held)")
        self.sheet.cell(number).locator(".noUi-handle").first.focus()
        delays = []
        for n in range(30):
            self.sheet.page.keyboard.press("ArrowRight")
            if n % 3 == 0:
                delays.append(kernel.delay())
        end = time.monotonic() + 3
        while time.monotonic() < end:
            delays.append(kernel.delay())
        if kernel.ask("view.values['k']") != kernel.ask("view._panel.fields['k'].value"):
            raise RuntimeError("the last value is not the one shown")
        return {
            "drawn": kernel.ask("len(held)") - before,
            "median": 1e3 * statistics.median(delays),
            "slowest": 1e3 * max(delays),
        }


def measured(sheet: NotebookPage, rounds: int) -> dict[str, Any]:
    session = Session(sheet)
    sheet.run(0)
    sheet.run(1)
    sheet.page.locator(".wb-plot[data-drawn]").first.wait_for()
    sheet.run(2)
    sheet.cell(2).locator(".scatterlayer .trace").first.wait_for()
    changes: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(rounds + 2):
        changes["ours"].append(session.change(1))
        changes["theirs"].append(session.change(2))
    kernel = sheet.kernel
    found: dict[str, Any] = {name: statistics.median(took[2:]) for name, took in changes.items()}
    found["held"] = 1e3 * statistics.median(kernel.ask("held")[2:])
    found["updated"] = 1e3 * statistics.median(kernel.ask("updated")[2:])
    found["burst"] = session.burst(1)
    sheet.assert_proper()
    return found


def opening(sheet: NotebookPage) -> tuple[float, float]:
    """Seconds to open six figures: the first time on a page, and the median of two later times. Before them one cell
    opens the bench, and one draws the figures without a view."""
    session = Session(sheet)
    sheet.run(0)
    sheet.run(1)
    took = []
    for _ in range(3):
        took.append(session.open(2, 3 * PLOTS))
        session.clear(2)
    sheet.assert_proper()
    return took[0], statistics.median(took[1:])


def page_of(found: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The lines of the page, and the gates that were missed."""
    speed, kernel = found["theirs"] / found["ours"], found["updated"] / found["held"]
    first, later = ([found["opened"][name][n] for name in ("ours", "theirs")] for n in (0, 1))
    burst = found["burst"]
    rows = [
        (f"view change, {SOURCES} traces x {POINTS} points, key to picture", "ms", found["ours"], found["theirs"]),
        ("kernel held by the new picture", "ms", found["held"], found["updated"]),
        (f"dashboard of {PLOTS} plots, first time on a page", "s", *first),
        (f"dashboard of {PLOTS} plots, later", "s", *later),
    ]
    gates = {
        f"a view change at least {LEAST_SPEED} times as fast": speed >= LEAST_SPEED,
        f"kernel cost at least {LEAST_KERNEL:g} times lower": kernel >= LEAST_KERNEL,
        f"a dashboard at least {LEAST_OPEN:g} times as fast where a figure was drawn before": later[1] / later[0]
        >= LEAST_OPEN,
        f"thirty fast changes are at most {MOST_DRAWN} computations": burst["drawn"] <= MOST_DRAWN,
        f"meanwhile 1+1 within {MOST_ANSWER_MS} ms": burst["slowest"] <= MOST_ANSWER_MS,
    }
    lines = [
        "# The live view",
        "",
        "JupyterLab in headless Chromium, by keyboard; medians of interleaved rounds against plotly's `FigureWidget`.",
        "Ours runs the recipe's script on the data at hand; theirs replaces `y` in `batch_update`.",
        "A page compiles plotly.js once for all our plots: its small file, which most figures need, in a quarter of",
        "the time of the whole one. It comes to the page after the cell that opens the bench, while the user writes",
        "the next one, as here; before, the first plot waited for it, and six were there 5.4 times as fast.",
        "Tried before that: the kernel brings the file with its first plot and is not asked. It arrives 0.3 s sooner,",
        "but the thread of the page is busy then: six plots are there no sooner, a single one by a tenth.",
        "A dashboard shows no label of ipywidgets before controls are open: the first one makes a page load MathJax.",
        "Five sessions each by turns, on a slower machine: 2.66 s with such a label, 2.30 s without one (medians).",
        "`python -m benchmarks notebook` makes this page.",
        "",
        "| what | unit | ours | FigureWidget | ratio |",
        "|---|---|---|---|---|",
        *(
            f"| {what} | {unit} | {ours:.3g} | {theirs:.3g} | {theirs / ours:.2f} |"
            for what, unit, ours, theirs in rows
        ),
        "",
        f"Thirty fast changes of a slider: {burst['drawn']} computations; the kernel answered `1+1` in "
        f"{burst['median']:.0f} ms (median), {burst['slowest']:.0f} ms at most.",
        "",
        *(f"- {'met' if met else 'MISSED'}: {gate}" for gate, met in gates.items()),
        "",
    ]
    return lines, [gate for gate, met in gates.items() if not met]


def main(full: bool) -> int:
    """Run everything and write the page; 1 if a gate was missed."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("Chromium is not installed.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "root"
        # Each session has a notebook, and so a store, of its own.
        sessions = range(5 if full else 3)
        cells = {"change": [STORE, OURS, THEIRS]}
        cells |= {f"ours-{n}": [STORE, WARM, BOARD] for n in sessions}
        cells |= {f"theirs-{n}": [STORE, WARM, SIX] for n in sessions}
        notebooks = {key: write_notebook(root / key / "notebooks" / "live.ipynb", of) for key, of in cells.items()}
        write_notebook(root / "empty.ipynb", [])
        with running_lab(root, Path(name)) as lab, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])

            def opened(key: str) -> NotebookPage:
                sheet = NotebookPage(Windows(lab, browser), notebooks[key], 1440, 1000)
                sheet.page.set_default_timeout(PATIENCE_MS)
                return sheet

            def closed(sheet: NotebookPage) -> None:
                sheet.shut()
                sheet.page.close()

            sheet = opened("change")
            found = measured(sheet, 25 if full else 10)
            closed(sheet)
            print(found, flush=True)
            taken: dict[str, list[tuple[float, float]]] = {"ours": [], "theirs": []}
            for n in sessions:
                for key, times in taken.items():
                    sheet = opened(f"{key}-{n}")
                    times.append(opening(sheet))
                    print(key, times[-1], flush=True)
                    closed(sheet)
            found["opened"] = {
                key: [*map(statistics.median, zip(*times, strict=True))] for key, times in taken.items()
            }
            browser.close()
    lines, missed = page_of(found)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("\n".join(lines), "utf-8")
    print("\n".join(lines))
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="more rounds")
    sys.exit(main(parser.parse_args().full))
