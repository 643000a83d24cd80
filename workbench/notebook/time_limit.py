"""The time limit of the user's own scripts in a view."""

from __future__ import annotations

import math
import os
from types import EllipsisType
from typing import TypeAlias

from ..environment import SCRIPT_SECONDS
from ..errors import BadRequest
from ..recipe.strict import is_number

SECONDS = 60.0
"""The limit where nobody has chosen one."""
TimeLimit: TypeAlias = float | EllipsisType | None
"""Seconds, None for no limit, or ``...`` for the limit of ``$WORKBENCH_SCRIPT_SECONDS``, else ``SECONDS``."""


def seconds_of(given: TimeLimit) -> float | None:
    """The limit in seconds; None: no limit.

    Raises
    ------
    BadRequest
        If it is not a number above 0.
    """
    if isinstance(given, EllipsisType):
        return _of_environment()
    # A number out of an array is numpy's, of which the types here know nothing.
    seconds: float | None = given if given is None or not hasattr(given, "tolist") else given.tolist()
    if seconds is None or (is_number(seconds) and 0 < seconds < math.inf):
        return seconds
    raise BadRequest(f"time_limit is a number of seconds above 0, or None for no limit, not {given!r}.")


def _of_environment() -> float | None:
    text = os.environ.get(SCRIPT_SECONDS, "").strip()
    if not text:
        return SECONDS
    if text.casefold() == "none":
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise BadRequest(f"${SCRIPT_SECONDS} is a number of seconds above 0, or none for no limit, not '{text}'.")
    return seconds
