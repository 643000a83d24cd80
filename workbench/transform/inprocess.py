"""Draws a script in this process: a packed dataset and params go in, figure bytes and a log come out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from ..errors import Problem, ScriptError
from .figure import NotAFigure, encode
from .frames import frames
from .output import Warned
from .script import check_script, problem, run, worded
from .used_names import Names, check_keys


@dataclass(frozen=True)
class Drawn:
    """A figure as its bytes (see ``figure.encode``), what the script printed, and what helpers warned of."""

    figure: bytes
    log: str
    warned: tuple[Warned, ...] = ()


class InProcess:
    """Draws scripts that the user trusts: without a lock, without limits and without a queue."""

    locked = False

    def draw(
        self,
        script: str,
        packed: bytes | bytearray | memoryview,
        params: Mapping[str, JsonValue],
        *,
        content: str | None = None,
        organization: str | None = None,
        cancelled: Callable[[], bool] | None = None,
        names: Names | None = None,
    ) -> Drawn:
        """As ``draw``. Of the options after ``params`` all but ``names`` matter only to drawers with a queue."""
        return draw(script, packed, params, names)

    def check(self, script: str, names: Names | None = None, *, organization: str | None = None) -> list[Problem]:
        """As ``check``."""
        return check(script, names)


def check(script: str, names: Names | None = None) -> list[Problem]:
    """What ``check_script`` finds. If it finds nothing and ``names`` are given, what ``check_keys`` finds."""
    return check_script(script) or ([] if names is None else check_keys(script, *names))


def draw(
    script: str,
    packed: bytes | bytearray | memoryview,
    params: Mapping[str, JsonValue],
    names: Names | None = None,
) -> Drawn:
    """Run ``script`` on a packed dataset and write the figure it returns. ``names`` are for `check`, before the run.

    Raises
    ------
    ScriptError
        If the script fails its check, raises, or returns something that is not a figure. The Problem points to
        ``["config", "transform"]`` and carries ``line`` and ``text`` of the script.
    StoreError
        If ``packed`` is not a packed dataset.
    """
    if names is not None and (problems := check(script, names)):
        raise ScriptError(problems, "")
    returned = run(script, frames(packed), copy.deepcopy(dict(params)))
    try:
        return Drawn(encode(returned.value), returned.log, returned.warned)
    except NotAFigure as error:
        raise ScriptError(problem(script, returned.line, str(error), "script_result"), returned.log) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # what a script returns may be of its own class, which may raise anything
        raise ScriptError(worded(script, error, returned.line), returned.log) from error
