"""The entries of the gallery, in the order of their questions, and how one is found by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache

from ..errors import NotFound, instead
from ..recipe.plot import PlotConfig
from .entry import Entry, load
from .facts import Facts, Looked

PREFIX = "gallery:"
"""``gallery:fade`` is always the gallery's, whatever files and saved plots there are."""
MODULES = (
    "fade",
    "end_of_life",
    "knee",
    "outliers",
    "reversible_loss",
    "degradation_modes",
    "dq_dv",
    "ic_peaks",
    "voltage_curves",
    "dcir",
    "resistance_growth",
    "power_capability",
    "pseudo_ocv",
    "ocv_from_rests",
    "gitt",
    "bode",
    "kk",
    "circuit",
    "drt",
    "rate_capability",
    "ragone",
    "efficiency",
    "formation",
    "self_discharge",
    "arrhenius",
    "delta_q",
    "capacity_by_step",
    "test_timeline",
    "simulation",
    "simulation_residual",
    "simulation_error",
)


@cache
def entries() -> Mapping[str, Entry]:
    """All entries by name."""
    return load(MODULES)


def is_entry(name: str) -> bool:
    """Whether a text names an entry, with or without ``gallery:``."""
    return name.removeprefix(PREFIX) in entries()


def entry(name: str) -> Entry:
    """The entry of a name.

    Raises
    ------
    NotFound
        If there is none; names the nearest.
    """
    bare = name.removeprefix(PREFIX)
    if bare not in entries():
        raise NotFound(f"The gallery has no '{bare}'. {instead(bare, entries(), 'recipes')}")
    return entries()[bare]


def config_of(name: str, store: Looked, measurements: Collection[str] | None = None) -> PlotConfig:
    """The recipe of an entry for a store, or for these of its tests."""
    return entry(name).config(Facts(store, measurements))
