"""Recipes written by hand for the demo's store: together they use every operation, control and kind of param."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.demo.saved import saved_plots


def _read(path: Path) -> dict[str, Any]:
    raw = json.loads(path.read_text("utf-8"))
    return {"plan": raw["plan"], "transform": path.with_suffix(".py").read_text("utf-8"), "params": raw["params"]}


HANDWRITTEN: dict[str, dict[str, Any]] = {
    **{path.stem: _read(path) for path in sorted(Path(__file__).parent.glob("*.json"))},
    **{plot.slug: plot.own for plot in saved_plots() if plot.own},
}
"""Name -> recipe: those beside this file, and those of the demo that are not the gallery's."""
