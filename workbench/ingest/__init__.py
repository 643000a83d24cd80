"""How files come in: options, plan, reading, checks, commit, report; and samples that are given by hand.

The names below are imported when they are first used, so that a help text loads no reader and no store.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .commit.append import extend
    from .commit.register import register
    from .ingest_files import ingest
    from .limits import Limits
    from .options import IngestKeywords, IngestOptions
    from .plan.watched import Growing
    from .report.report import FileReport, Report
    from .watch_folder import watch

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
    "FileReport": "report.report",
    "Growing": "plan.watched",
    "IngestKeywords": "options",
    "IngestOptions": "options",
    "Limits": "limits",
    "Report": "report.report",
    "extend": "commit.append",
    "ingest": "ingest_files",
    "register": "commit.register",
    "watch": "watch_folder",
}


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = getattr(import_module(f".{_FROM[name]}", __name__), name)
    globals()[name] = found
    return found
