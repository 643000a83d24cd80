"""Bounds on one file of an ingest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on one file, below those that the readers keep: it is hostile input until it was read."""

    rows: int = 500_000_000
    columns: int = 4096
    seconds: float = 3600.0
