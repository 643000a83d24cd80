"""Battery Workbench: from cycler files to a figure that answers a question.

>>> import workbench as wb
>>> bench = wb.open("lab.db")                              # doctest: +SKIP
>>> bench.ingest("data/*.csv", specification="LG M50")     # doctest: +SKIP
>>> bench.figure("recipes/fade.json").show()               # doctest: +SKIP

The names below are imported when first used: a worker that only draws or only reads a file loads no more than that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .quick_import import not_collected as _not_collected
from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import battery, steps
    from .bench import Bench, Data, Figure, connect, open_figure, why_changed
    from .bench import open_bench as open
    from .errors import (
        BadRequest,
        Conflict,
        FileRefused,
        Invalid,
        NotFound,
        Problem,
        ScriptError,
        StoreError,
        WorkbenchError,
    )
    from .recipe.build import param, plan
    from .recipe.recipe import Recipe


__all__ = [
    "BadRequest",
    "Bench",
    "Conflict",
    "Data",
    "Figure",
    "FileRefused",
    "Invalid",
    "NotFound",
    "Problem",
    "Recipe",
    "ScriptError",
    "StoreError",
    "WorkbenchError",
    "battery",
    "connect",
    "open",
    "open_figure",
    "param",
    "plan",
    "steps",
    "why_changed",
]

_MODULES = ("battery", "steps")
_HOMES = {"open": ("bench", "open_bench"), "Recipe": ("recipe.recipe", "Recipe")}
_HOMES |= {name: ("recipe.build", name) for name in ("param", "plan")}
_HOMES |= {name: ("bench", name) for name in ("Bench", "Data", "Figure", "connect", "open_figure", "why_changed")}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'workbench' has no attribute '{name}'")
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    module, attribute = _HOMES.get(name, ("errors", name))
    with _not_collected():
        found = getattr(import_module(f".{module}", __name__), attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
