"""While a script runs, plotly checks each trace once.

``figure.add_scatter(...)`` makes a trace, which plotly checks. Then ``BaseDataValidator`` makes another one of its
properties and checks that too, which took a tenth of the time of a figure or more. Here the second one is not checked.
plotly copies the properties afterwards in either case, and checks what is set later.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

from _plotly_utils.basevalidators import BaseDataValidator
from plotly.basedatatypes import BaseTraceType

_OF_PLOTLY = BaseDataValidator.validate_coerce
_KNOWN = [*signature(_OF_PLOTLY).parameters] == ["self", "v", "skip_invalid", "_validate"]
"""Whether this version of plotly can make traces without checking them."""


@contextmanager
def traces_checked_once() -> Iterator[None]:
    """Traces that plotly has checked are added to figures as they are. Only one thread may be in it at a time."""
    if _KNOWN:
        BaseDataValidator.validate_coerce = _added
    try:
        yield
    finally:
        BaseDataValidator.validate_coerce = _OF_PLOTLY


def _added(self: BaseDataValidator, v: Any, skip_invalid: bool = False, _validate: bool = True) -> Any:
    given = v if isinstance(v, list | tuple) else [v]
    if not (_validate and given and all(isinstance(one, BaseTraceType) and one._validate for one in given)):
        return _OF_PLOTLY(self, v, skip_invalid, _validate)
    made = _OF_PLOTLY(self, v, skip_invalid, False)
    for trace in made:
        trace._validate = True
    return made
