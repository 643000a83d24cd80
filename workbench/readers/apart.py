"""Where parsers in C were run in a process of their own in 0.1.0."""

from __future__ import annotations

from ..deprecated import moved

__getattr__ = moved(
    __name__,
    {
        "apart": "workbench.readers.file.parser_process:load_in_process",
    },
    until="0.2",
)
