"""The bytes of a job and of its answer: a head of fixed size, then JSON, then a dataset or a figure."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from ..used_names import Names

Kind = Literal["draw", "check"]
READY, FAILED = b"R", b"X"
JOB = struct.Struct("<4sIQ")  # magic, bytes of JSON, bytes of the packed dataset
ANSWER = struct.Struct("<4sIQ")  # magic, bytes of JSON, bytes of the figure
JOB_MAGIC, ANSWER_MAGIC = b"WBJ1", b"WBA1"
MOST_ANSWER_JSON = 2**20
CHECKED = ("steps", "params")
"""The params of a job to check: the names of the recipe's steps and params. A job that checks only the script has
none."""


def names_as_params(names: Names | None) -> dict[str, JsonValue]:
    """Names of steps and params as the params of a job to check."""
    if names is None:
        return {}
    return {what: None if one is None else [*one] for what, one in zip(CHECKED, names, strict=True)}


def params_as_names(params: Mapping[str, JsonValue]) -> Names | None:
    """The names that ``names_as_params`` wrote."""
    if not params:
        return None
    steps, others = (
        [str(name) for name in listed] if isinstance(listed := params[what], list) else None for what in CHECKED
    )
    return steps, others


@dataclass(frozen=True)
class Job:
    """A request to one process: draw a script on a dataset that comes with the job, or only check the script."""

    kind: Kind
    script: str
    params: Mapping[str, JsonValue]
    seconds: float
    memory_mb: int
    figure_bytes: int
    names: Mapping[str, JsonValue] = field(default_factory=dict)
    """Of a job that draws: see ``names_as_params``."""

    def dump(self) -> bytes:
        """JSON; exact for every value that a param can have."""
        return json.dumps(self.__dict__, ensure_ascii=True).encode()

    @classmethod
    def load(cls, text: bytes) -> Job:
        return cls(**json.loads(text))


def read_exactly(read: Callable[[int], bytes], size: int) -> bytes:
    """Read ``size`` bytes with ``read``, in as many parts as they come.

    Raises
    ------
    EOFError
        If the other end closes before that.
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
    """Write every byte of the parts, with as many system calls as it takes."""
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view) :]
