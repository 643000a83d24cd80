"""Measurements as files that others read, and that the workbench reads back to the bit with all that is known."""

from __future__ import annotations

from .content import ContentHash
from .passport import KEY, Passport, packed, sidecar_of
from .reading import passport_of, tables
from .writing import ENDINGS, ending_of, write

__all__ = [
    "ENDINGS",
    "KEY",
    "ContentHash",
    "Passport",
    "ending_of",
    "packed",
    "passport_of",
    "sidecar_of",
    "tables",
    "write",
]
