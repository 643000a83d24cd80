"""Drawing in this process: packed dataset, script and params in; figure bytes and log out."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ScriptError
from .figure import NotAFigure, encode
from .frames import frames
from .script import problem, run


@dataclass(frozen=True)
class Drawn:
    """A figure as its bytes (see ``figure.encode``), and what the script printed."""

    figure: bytes
    log: str


def draw(script: str, packed: bytes | bytearray | memoryview, params: Mapping[str, Any]) -> Drawn:
    """Run ``script`` on a packed dataset and write the figure it returns.

    Raises
    ------
    ScriptError
        If the script fails its check, raises, or returns something that is no figure; the Problem leads to
        ``["config", "transform"]`` and carries the script's ``line`` and ``text``.
    StoreError
        If ``packed`` is no packed dataset.
    """
    returned = run(script, frames(packed), copy.deepcopy(dict(params)))
    try:
        return Drawn(encode(returned.value), returned.log)
    except NotAFigure as error:
        raise ScriptError(problem(script, returned.line, str(error), "script_result"), returned.log) from error
