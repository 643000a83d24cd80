"""The saved plots of the demo. Each has a file: the name of a recipe of the gallery, and the values it begins with.
What no recipe of the gallery answers has plan and params in its file, and a file with its script beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from pydantic import JsonValue

from ..gallery.catalog import entry
from ..gallery.facts import Facts, Looked

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
    """A plot of the demo: its dashboard, the question that it answers, and its recipe.

    Parameters
    ----------
    entry : the recipe of the gallery that it is, with ``values`` as the defaults of its params; empty for a plot that
        has a recipe of its own.
    own : that recipe.
    """

    slug: str
    name: str
    dashboard: str
    description: str
    entry: str
    values: dict[str, JsonValue]
    own: dict[str, JsonValue]

    def made(self, facts: Facts) -> dict[str, JsonValue]:
        """The recipe on a store; without params if the store lacks what it draws, and its figure is a sentence."""
        if not self.entry:
            return self.own
        raw: dict[str, JsonValue] = entry(self.entry).config(facts).dump()
        params = raw.get("params")
        for name, value in self.values.items():
            param = params.get(name) if isinstance(params, dict) else None
            if isinstance(param, dict):
                param["default"] = value
        return raw


@cache
def saved_plots() -> tuple[Saved, ...]:
    """All plots of the demo, in their order."""
    return tuple(_read(slug) for slug in _ORDER)


Made: TypeAlias = tuple[Saved, dict[str, JsonValue]]
"""A plot of the demo, and its recipe on a store."""


def recipes_on(store: Looked) -> Iterator[Made]:
    """Each plot of the demo with its recipe on a store, at which all of them look once."""
    facts = Facts(store)
    for plot in saved_plots():
        yield plot, plot.made(facts)


def _read(slug: str) -> Saved:
    raw = json.loads((_FOLDER / f"{slug}.json").read_text("utf-8"))
    if "gallery" in raw:
        question = entry(raw["gallery"]).question
        return Saved(slug, raw["name"], raw["dashboard"], question, raw["gallery"], raw["values"], {})
    script = (_FOLDER / f"{slug}.py").read_text("utf-8")
    config = {"plan": raw["plan"], "transform": script, "params": raw["params"]}
    return Saved(slug, raw["name"], raw["dashboard"], raw["description"], "", {}, config)


def place_of(plot_id: str, number: int) -> dict[str, str | int]:
    """The tile of the n-th plot of a dashboard: two plots in a row of 12 columns."""
    return {"plot_id": plot_id, "x": 6 * (number % 2), "y": 8 * (number // 2), "w": 6, "h": 8}


def slug_of(name: str) -> str:
    """A file name for a plot: small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "plot"
