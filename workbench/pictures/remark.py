"""What is to be known about a picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from pydantic import JsonValue


@dataclass(frozen=True)
class Remark:
    """What is to be known about a picture: a code for programs, and words for people."""

    code: str
    message: str


def as_warnings(remarks: Iterable[Remark]) -> list[dict[str, JsonValue]]:
    """Remarks in the form of the warnings of a figure."""
    return [asdict(remark) for remark in remarks]
