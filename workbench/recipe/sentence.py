"""A script whose figure is only a sentence: what a recipe is where the store lacks what it draws."""

from __future__ import annotations

import re
from ast import literal_eval

_HEAD = "from workbench import battery\n\n\ndef transform(data, params):\n    return battery.message("
_TAIL = ", unmet=True)\n"
_TEXT = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")


def sentence_script(text: str) -> str:
    """The script whose figure is this sentence."""
    return f"{_HEAD}{text!r}{_TAIL}"


def sentence_of(script: str) -> str | None:
    """The sentence of such a script; None for any other script."""
    if not (script.startswith(_HEAD) and script.endswith(_TAIL)):
        return None
    written = script[len(_HEAD) : -len(_TAIL)]
    return str(literal_eval(written)) if _TEXT.fullmatch(written) else None
