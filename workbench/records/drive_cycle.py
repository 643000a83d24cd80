"""Drive cycles: current over time, kept once for each content."""

import hashlib
import math
from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from .record import Link, Owned, Text, Unique


def content_hash(name: str, data: Sequence[Sequence[float]]) -> str:
    """SHA-256, in hex, of the name and the canonical data: all numbers as shortest-round-trip floats, so that
    ``1`` and ``1.0``, and ``0.0`` and ``-0.0``, are one content."""
    hasher = hashlib.sha256(name.encode())
    hasher.update(b"\0")
    for row in data:
        hasher.update((",".join(repr(float(value) + 0.0) for value in row) + "\n").encode())
    return hasher.hexdigest()


def _rows(data: list[list[float]]) -> list[list[float]]:
    if not data:
        raise ValueError("A drive cycle needs at least one row [time, current].")
    for n, row in enumerate(data):
        if len(row) != 2:
            raise ValueError(f"Row {n} has {len(row)} numbers; a row is [time, current].")
        if not all(math.isfinite(value) for value in row):
            raise ValueError(f"Row {n} holds a number that is not finite.")
        if n and row[0] < data[n - 1][0]:
            raise ValueError(f"The time of row {n} is before that of row {n - 1}.")
    return data


class DriveCycle(Owned):
    """A two-column array of time and current."""

    table = "drive_cycles"
    entity = "drive_cycle"
    label = "drive cycle"
    scoping = "organization"
    unique = (Unique(("organization_id", "content_hash"), reuse=True),)
    by_store = Owned.by_store | {"content_hash"}

    data: Annotated[list[list[float]], AfterValidator(_rows)] = Field(description="Rows of time and current.")
    content_hash: Text = Field("", description="SHA-256 of name and canonical data.")
    measurement_id: Annotated[str | None, Link("measurements")] = Field(
        None, description="The measurement it was cut from."
    )

    @model_validator(mode="after")
    def _hashed(self) -> Self:
        self.content_hash = content_hash(self.name, self.data)
        return self
