"""Measurement files for exchange: other programs can read them, and the workbench reads them back bit for bit."""

from __future__ import annotations

from .content import ContentHash
from .passport import EXCLUSIONS, KEY, TEXTS, Excluded, Passport, packed, sidecar_of
from .reading import passport_of, tables
from .writing import ENDINGS, ending_of, write

__all__ = [
    "ENDINGS",
    "EXCLUSIONS",
    "KEY",
    "TEXTS",
    "ContentHash",
    "Excluded",
    "Passport",
    "ending_of",
    "packed",
    "passport_of",
    "sidecar_of",
    "tables",
    "write",
]
