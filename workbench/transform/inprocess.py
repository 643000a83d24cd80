"""Drawing in this process: packed dataset, script and params in; figure bytes and log out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Problem, ScriptError
from .figure import NotAFigure, encode
from .frames import frames
from .script import check_script, problem, run
from .used_names import Names, check_keys


@dataclass(frozen=True)
class Drawn:
    """A figure as its bytes (see ``figure.encode``), and what the script printed."""

    figure: bytes
    log: str


class InProcess:
    """The drawer of one's own scripts: no fence, no limits, nothing to wait for."""

    locked = False

    def draw(
        self,
        script: str,
        packed: bytes | bytearray | memoryview,
        params: Mapping[str, Any],
        *,
        content: str | None = None,
        organization: str | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Drawn:
        """As ``draw``; what only matters to processes that wait is not looked at."""
        return draw(script, packed, params)

    def check(self, script: str, names: Names | None = None, *, organization: str | None = None) -> list[Problem]:
        """As ``check``."""
        return check(script, names)


def check(script: str, names: Names | None = None) -> list[Problem]:
    """As ``check_script`` and, of a script that is sound and where there are names, as ``check_keys``."""
    return check_script(script) or ([] if names is None else check_keys(script, *names))


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
