"""The syntax tree of Python, also where several threads want one at once."""

from __future__ import annotations

import ast
import threading
from typing import Any

_TURN = threading.RLock()
"""Python before 3.11.8 counts how deep a tree is in one place for all threads. Where its garbage collector let another
one go on, `ast.parse` ended in a SystemError: https://github.com/python/cpython/issues/106905. A thread may take the
lock again, since a finalizer may parse too."""


def tree_of(text: str, filename: str = "<unknown>") -> ast.Module:
    """The tree of a text. Raises what `ast.parse` raises."""
    with _TURN:
        return ast.parse(text, filename)


def literal(text: str) -> Any:
    """The value of a literal. Raises what `ast.literal_eval` raises."""
    with _TURN:
        return ast.literal_eval(text)
