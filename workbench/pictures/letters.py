"""Letters of Chinese, Japanese and Korean that no font of this machine has: a browser draws empty boxes for them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache

from ..battery.plotly_dict import PlotlyValue
from ..messages import quoted
from .remark import Remark

_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u303f\u3041-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Han, kana, bopomofo and hangul."""
_NOT_DRAWN = frozenset(
    (
        "bdata",
        "template",
        "meta",
        "customdata",
        "ids",
        "hovertext",
        "hovertemplate",
        "hoverinfo",
        "hoverlabel",
        "uid",
    )
)
_MOST = 30
_SHOWN = 8


def missing_letters(content: PlotlyValue, format: str) -> list[Remark]:
    """Which letters of a figure are drawn as empty boxes, and what to install.

    Only the first letters are looked up. Nothing is said where fontconfig is not there to be asked.
    """
    letters = dict.fromkeys(letter for text in _texts(content) for letter in _WIDE.findall(text))
    lost = [letter for letter in list(letters)[:_MOST] if not _is_in_a_font(letter)]
    if not lost:
        return []
    more = ", and more" if len(lost) > _SHOWN or len(letters) > _MOST else ""
    seen = (
        "they are empty boxes where the svg is opened without such a font"
        if format == "svg"
        else ("they are empty boxes in this file")
    )
    words = (
        f"No font on this machine has {quoted(lost[:_SHOWN])}{more}: {seen}. Install a font for Chinese, Japanese and "
        "Korean, as the package fonts-noto-cjk, where the picture is made, and export again."
    )
    return [Remark("letters_missing", words)]


def _texts(value: PlotlyValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in _NOT_DRAWN:
                yield from _texts(one)


@cache
def _fontconfig() -> str | None:
    return shutil.which("fc-list")


def _is_in_a_font(letter: str) -> bool:
    """Whether an installed font has a letter; True if that cannot be found out."""
    program = _fontconfig()
    if program is None:
        return True
    try:
        done = subprocess.run(  # noqa: S603  # fontconfig's own program, with a number of ours
            [program, f":charset={ord(letter):x}", "family"], capture_output=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 0 or bool(done.stdout.strip())
