"""How files come in: options, plan, reading, checks, commit, report; and samples that are given by hand.

The names below are imported when they are first used, so that a help text loads no reader and no store.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .extending import extend
    from .given import register
    from .growth import Growing
    from .ingest_files import ingest
    from .limits import Limits
    from .options import IngestKeywords, IngestOptions
    from .report import FileReport, Report
    from .watching import watch

__all__ = [
    "FileReport",
    "Growing",
    "IngestKeywords",
    "IngestOptions",
    "Limits",
    "Report",
    "extend",
    "ingest",
    "register",
    "watch",
]
_FROM = {
    "FileReport": "report",
    "Growing": "growth",
    "IngestKeywords": "options",
    "IngestOptions": "options",
    "Limits": "limits",
    "Report": "report",
    "extend": "extending",
    "ingest": "ingest_files",
    "register": "given",
    "watch": "watching",
}


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = getattr(import_module(f".{_FROM[name]}", __name__), name)
    globals()[name] = found
    return found
