"""The text and the table that show a bench: its store, its project, and how much is in it."""

from __future__ import annotations

from html import escape

from ..backend import Backend
from ..errors import WorkbenchError
from ..messages import counted
from ..records import Analysis, Batch, Dashboard, Instance, Measurement, Record, Simulation, Specification

_KINDS: dict[type[Record], tuple[str, str]] = {
    Specification: ("specification", "specifications"),
    Batch: ("batch", "batches"),
    Instance: ("cell", "cells"),
    Measurement: ("measurement", "measurements"),
    Simulation: ("simulation", "simulations"),
    Analysis: ("analysis", "analyses"),
    Dashboard: ("dashboard", "dashboards"),
}


def as_text(backend: Backend) -> str:
    """The bench in one line."""
    return f"<bench on '{backend.place}', project '{backend.project.name}': {_holds(backend)}>"


def as_html(backend: Backend) -> str:
    """The bench as a small table in the colours of the page."""
    rows = {"store": backend.place, "project": backend.project.name, "holds": _holds(backend)}
    cells = "".join(
        f"<tr><td style='text-align:left;opacity:.65'>{name}</td>"
        f"<td style='text-align:left'>{escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table style='font:13px/1.45 system-ui,sans-serif'>{cells}</table>"


def _holds(backend: Backend) -> str:
    """The number of records of the kinds that people look for first."""
    try:
        found = {kind: backend.count(kind) for kind in _KINDS}
    except WorkbenchError as error:
        return f"it cannot be read now ({error})"
    told = [counted(n, *_KINDS[kind]) for kind, n in found.items() if n]
    return ", ".join(told) or "nothing yet"
