"""Imports all modules in the zygote before it forks: a locked process cannot open files, so it cannot import."""

from __future__ import annotations

import codecs
import encodings.aliases
import encodings.idna
import gc
import importlib
import os
import pkgutil
import platform
import sys
import warnings
import zoneinfo
from collections.abc import Iterator
from types import ModuleType
from typing import Any, TypeAlias

from ..modules import HELPERS, LIBRARIES, STANDARD

_TESTS = frozenset(["tests", "testing", "conftest", "_pyinstaller"])
_LEFT_OUT = _TESTS | {"f2py", "distutils", "_precompute", "_dash", "matplotlylib"}
# Parts of plotly for notebooks. They take longer to load than all other modules, and plotly works without them.
_NOT_THERE = ("plotly.basewidget", "plotly.io._renderers")
Kept: TypeAlias = tuple[str, str] | codecs.CodecInfo | zoneinfo.ZoneInfo | ModuleType
KEPT: list[Kept] = []
"""Objects held for ever, because the caches of the libraries hold only weak references to them."""


def everything() -> None:
    """Import every module that scripts have, load templates and time zones, draw, and freeze the garbage collector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        absent: Any = dict.fromkeys(_NOT_THERE)  # None in the table of modules makes an import raise ImportError
        sys.modules.update(absent)
        for name in _names():
            _import(name)
        _templates()
        _zones()
        _encodings()
        from .warm_up import draw_some

        draw_some()
    _tidy()


def forget() -> None:
    """Delete what a script must not learn about this machine: its name, and the paths of programs and folders."""
    platform.uname()
    # Private names of the standard library: what they hold would show the machine to a script.
    cached = platform._uname_cache  # type: ignore[attr-defined]
    if cached is not None:
        platform._uname_cache = cached._replace(node="")  # type: ignore[attr-defined]
    sys.argv[:], sys.orig_argv[:] = [""], [""]
    sys.executable = sys._base_executable = ""  # type: ignore[attr-defined]  # as above
    sys.path.clear()
    sys.path_importer_cache.clear()
    os.environ.clear()


def _names() -> Iterator[str]:
    yield from sorted(STANDARD)
    for top in (*sorted(LIBRARIES), HELPERS):
        yield top
        folders = getattr(sys.modules.get(top) or importlib.import_module(top), "__path__", None)
        if folders is not None:
            yield from _below(top, list(folders))


def _below(package: str, folders: list[str]) -> Iterator[str]:
    for found in pkgutil.iter_modules(folders, package + "."):
        last = found.name.rpartition(".")[2]
        if last in _LEFT_OUT or last.startswith("test_") or last == "__main__":
            continue
        yield found.name
        inner = getattr(sys.modules.get(found.name), "__path__", None)
        if inner is not None:
            yield from _below(found.name, list(inner))


def _import(name: str) -> None:
    """Import a module. One that needs a package which is not installed is left out."""
    try:
        importlib.import_module(name)
    except (ImportError, AttributeError, RuntimeError, SyntaxError, OSError) as error:
        KEPT.append((name, f"{type(error).__name__}: {error}"))


def _templates() -> None:
    import plotly.io as pio

    KEPT.extend(pio.templates[name] for name in list(pio.templates))


def _zones() -> None:
    for name in sorted(zoneinfo.available_timezones()):
        try:
            KEPT.append(zoneinfo.ZoneInfo(name))
        except (OSError, ValueError) as error:  # a file of the system that is not a time zone
            KEPT.append((name, str(error)))


def _encodings() -> None:
    for name in sorted(set(encodings.aliases.aliases.values())):
        try:
            KEPT.append(codecs.lookup(name))
        except LookupError as error:  # an encoding of another system
            KEPT.append((name, str(error)))


def _tidy() -> None:
    importlib.invalidate_caches()
    gc.collect()
    gc.freeze()
