"""How a job goes to a process and its answer comes back: a head of fixed size, then JSON, then a figure's bytes."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["draw", "check"]
READY, FAILED = b"R", b"X"
JOB = struct.Struct("<4sIQ")  # magic, bytes of JSON, bytes of the packed dataset
ANSWER = struct.Struct("<4sIQ")  # magic, bytes of JSON, bytes of the figure
JOB_MAGIC, ANSWER_MAGIC = b"WBJ1", b"WBA1"
MOST_ANSWER_JSON = 2**20
CHECKED = ("steps", "params")
"""The params of a job to check: the names of the recipe's steps and params; none where only the script is meant."""


def names_as_params(names: tuple[Collection[str] | None, Collection[str] | None] | None) -> dict[str, Any]:
    """Names of steps and params as the params of a job to check."""
    if names is None:
        return {}
    return {what: None if one is None else list(one) for what, one in zip(CHECKED, names, strict=True)}


@dataclass(frozen=True)
class Job:
    """What one process is asked: to draw a script on a dataset that it is handed, or to check it alone."""

    kind: Kind
    script: str
    params: Mapping[str, Any]
    seconds: float
    memory_mb: int
    figure_bytes: int

    def dump(self) -> bytes:
        """JSON; exact for every value that a param can have."""
        return json.dumps(self.__dict__, ensure_ascii=True).encode()

    @classmethod
    def load(cls, text: bytes) -> Job:
        return cls(**json.loads(text))


def read_exactly(read: Callable[[int], bytes], size: int) -> bytes:
    """``size`` bytes from ``read``, in as many pieces as come.

    Raises
    ------
    EOFError
        If the other end closed before.
    """
    parts: list[bytes] = []
    left = size
    while left:
        part = read(min(left, 2**20))
        if not part:
            raise EOFError("the other end closed")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def write_all(descriptor: int, *parts: bytes) -> None:
    """Every byte of the parts, however many writes it takes."""
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view) :]
