"""Where columns of a format were declared in 0.1.0."""

from __future__ import annotations

from ..deprecated import moved

__getattr__ = moved(
    __name__,
    {
        "From": "workbench.readers.table.columns:From",
    },
    until="0.2",
)
