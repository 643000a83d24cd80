"""What is said of a file from outside it: which cell, which test, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from pydantic import JsonValue

from ..limits import JsonObject

Ratings: TypeAlias = JsonObject
"""``{"capacity": {"value": 5.0, "unit": "A.h"}, ...}``."""
ABOUT = ("specification", "cell", "test")
"""What a property may describe: the design of the cell, the cell, this one test of it."""


@dataclass(frozen=True)
class Labels:
    """All that a sheet and a rule for names say of one file; None and empty where they say nothing.

    ``part`` is the place of the file in a test that was split over several. ``design``, ``cell`` and ``test`` are
    properties, by name. ``reading`` are options of reading (``format``, ``sign``, ``column_map``).
    """

    specification: str | None = None
    batch: str | None = None
    instance: str | None = None
    measurement: str | None = None
    part: str | None = None
    protocol: str | None = None
    tags: tuple[str, ...] | None = None
    ratings: Ratings = field(default_factory=dict)
    design: JsonObject = field(default_factory=dict)
    cell: JsonObject = field(default_factory=dict)
    test: JsonObject = field(default_factory=dict)
    reading: JsonObject = field(default_factory=dict)

    def over(self, other: Labels) -> Labels:
        """These, and what only ``other`` says."""
        made: dict[str, Any] = {}
        for member in fields(self):
            mine, theirs = getattr(self, member.name), getattr(other, member.name)
            made[member.name] = {**theirs, **mine} if isinstance(mine, dict) else theirs if mine is None else mine
        return Labels(**made)

    def without(self, other: Labels) -> Labels:
        """These, but nothing of what ``other`` says too."""
        made: dict[str, Any] = {}
        for member in fields(self):
            mine, theirs = getattr(self, member.name), getattr(other, member.name)
            if isinstance(mine, dict):
                made[member.name] = {name: value for name, value in mine.items() if name not in theirs}
            else:
                made[member.name] = mine if theirs is None else None
        return Labels(**made)

    def said(self) -> JsonObject:
        """What is said, as JSON; empty if nothing."""
        found = {member.name: getattr(self, member.name) for member in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in found.items()
            if value is not None and value != {}
        }

    @classmethod
    def of(cls, said: Mapping[str, JsonValue]) -> Labels:
        """What :meth:`said` gave."""
        known: dict[str, Any] = {member.name: said[member.name] for member in fields(cls) if member.name in said}
        return cls(**known | ({"tags": tuple(known["tags"])} if "tags" in known else {}))

    def differing(self, other: Labels) -> list[str]:
        """The names of what both say, and differently."""
        found = []
        for member in fields(self):
            mine, theirs = getattr(self, member.name), getattr(other, member.name)
            if isinstance(mine, dict):
                found += [name for name in mine if name in theirs and mine[name] != theirs[name]]
            elif mine is not None and theirs is not None and mine != theirs:
                found.append(member.name)
        return found
