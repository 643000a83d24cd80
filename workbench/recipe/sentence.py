"""A script whose figure is only a sentence: what a recipe is where the store lacks what it draws."""

from __future__ import annotations

import re

from ..python_tree import literal

_HEAD = "from workbench import battery\n\n\ndef transform(data, params):\n    return battery.message("
_TAIL = ", unmet=True)\n"
_ESCAPE = r"\\(?:[\\'nrt]|x[0-9a-f]{2}|u[0-9a-f]{4})"
_TEXT = re.compile(rf"""'(?:[^'\\\n]|{_ESCAPE})*'|"(?:[^"\\\n]|{_ESCAPE})*\"""")
"""How Python writes a text. A script may be a stranger's: other escapes could fail or warn when they are read."""


def sentence_script(text: str) -> str:
    """The script whose figure is this sentence."""
    return f"{_HEAD}{text!r}{_TAIL}"


def sentence_of(script: str) -> str | None:
    """The sentence of such a script; None for any other script."""
    if not (script.startswith(_HEAD) and script.endswith(_TAIL)):
        return None
    written = script[len(_HEAD) : -len(_TAIL)]
    if not _TEXT.fullmatch(written):
        return None
    try:
        return str(literal(written))
    except (SyntaxError, ValueError):  # a sign that no source may have, such as NUL
        return None
