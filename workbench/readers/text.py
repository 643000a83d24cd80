"""Where text formats were declared in 0.1.0."""

from __future__ import annotations

from ..deprecated import moved

__getattr__ = moved(
    __name__,
    {
        "TextFormat": "workbench.readers.table.text_format:TextFormat",
    },
    until="0.2",
)
