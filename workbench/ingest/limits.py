"""Bounds on one file of an ingest, and the JSON that processes hand each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import JsonValue

JsonObject: TypeAlias = dict[str, JsonValue]
RecordFields: TypeAlias = dict[str, Any]
"""The fields of a record, as the store takes them and as their kinds check them."""


@dataclass(frozen=True)
class Limits:
    """Bounds on one file, below those that the readers keep: it is hostile input until it was read."""

    rows: int = 500_000_000
    columns: int = 4096
    seconds: float = 3600.0
