"""Imports plotly's renderers without nbformat, of which they only want the version."""

from __future__ import annotations

import importlib
import sys
from importlib import metadata
from threading import Lock
from types import SimpleNamespace

_RENDERERS = "plotly.io._renderers"
_LOOKS_FOR = "plotly.optional_imports"
_IMPORTING = Lock()


def import_renderers() -> None:
    """Import them, if nothing has yet.

    The first figure that a notebook shows imports them, and they import nbformat to compare its version. With
    JupyterLab installed, nbformat reads the grammar of web addresses for 39 kinds of them: a second, in each kernel.
    """
    with _IMPORTING:
        if _RENDERERS in sys.modules or "nbformat" in sys.modules:
            return
        try:
            version = metadata.version("nbformat")
        except metadata.PackageNotFoundError:
            return
        optional = importlib.import_module(_LOOKS_FOR)
        found = optional.get_module

        def quick(name: str, should_load: bool = True) -> object:
            return SimpleNamespace(__version__=version) if name == "nbformat" else found(name, should_load)

        optional.__dict__["get_module"] = quick
        try:
            importlib.import_module(_RENDERERS)
        finally:
            optional.__dict__["get_module"] = found
