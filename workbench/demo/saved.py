"""The saved plots of the demo. Each has a file with plan and params, and a file with its script."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import JsonValue

_FOLDER = Path(__file__).resolve().parent / "recipes"
# The order on the dashboards and on the index page.
_ORDER = (
    "fade-by-batch",
    "cycle-life",
    "loss-against-metadata",
    "coulombic-efficiency",
    "degradation-modes",
    "test-calendar",
    "voltage-curves",
    "dqdv",
    "pulse-resistance",
    "nyquist",
    "rate-capability",
    "test-record",
    "model-and-measurement",
    "drive-cycle",
    "open-circuit-curves",
)


@dataclass(frozen=True)
class Saved:
    """A plot of the demo: its dashboard, the question that it answers, and its recipe."""

    slug: str
    name: str
    dashboard: str
    description: str
    config: dict[str, JsonValue]


@cache
def saved_plots() -> tuple[Saved, ...]:
    """All plots of the demo, in their order."""
    return tuple(_read(slug) for slug in _ORDER)


def _read(slug: str) -> Saved:
    raw = json.loads((_FOLDER / f"{slug}.json").read_text("utf-8"))
    script = (_FOLDER / f"{slug}.py").read_text("utf-8")
    config = {"plan": raw["plan"], "transform": script, "params": raw["params"]}
    return Saved(slug, raw["name"], raw["dashboard"], raw["description"], config)


def place_of(plot_id: str, number: int) -> dict[str, str | int]:
    """The tile of the n-th plot of a dashboard: two plots in a row of 12 columns."""
    return {"plot_id": plot_id, "x": 6 * (number % 2), "y": 8 * (number // 2), "w": 6, "h": 8}


def slug_of(name: str) -> str:
    """A file name for a plot: small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "plot"
