"""A number as people type it: a field that keeps every character, and the number that the text stands for.

A number field of a browser drops characters that it does not know: typed 7.5 or 7,5 becomes 75, and 1e3 becomes 13. So
this field is a text on the page, and Python reads it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import anywidget
import traitlets
from pydantic import JsonValue

from ..recipe.controls import Decided, text_of
from ..recipe.strict import is_number
from .event_loop import at_home
from .surface import Message

HERE = Path(__file__).parent
Number = int | float
_BLANKS = "\u0020\u00a0\u2009\u202f"
_GROUPED = re.compile(rf"[+-]?\d{{1,3}}(?:[{_BLANKS}]\d{{3}})+(?![\d{_BLANKS}])")
_PLAIN = re.compile(r"([+-]?)(\d*)(?:[.](\d*))?(?:[eE]([+-]?\d{1,4}))?", re.ASCII)
_COMMA = re.compile(r"([+-]?\d+),(\d+)((?:[eE][+-]?\d{1,4})?)", re.ASCII)
LONGEST = 400
"""Most characters of a number."""


class NotANumber(ValueError):
    """The text is not a number that the field takes; the message says why."""


def read_number(text: str, *, whole: bool) -> Number:
    """The number that a text stands for, without a rounding that the reader does not see.

    A comma is a decimal comma, unless it may group thousands, as in ``1,500``: that is refused. ``1 000`` is a
    thousand, ``1e3`` too.

    Parameters
    ----------
    whole : only a whole number is taken, and the result is an ``int``; otherwise it is a ``float``.

    Raises
    ------
    NotANumber
        If the text is something else.
    """
    typed = text.strip()
    if not typed:
        raise NotANumber("The field is empty.")
    shown = f"'{typed if len(typed) <= 40 else typed[:40] + ' ...'}'"
    written = _with_point(_without_groups(typed.replace("\u2212", "-")), shown)
    found = _PLAIN.fullmatch(written)
    if found is None or not (found[2] or found[3]) or len(written) > LONGEST:
        raise NotANumber(f"{shown} is not a number. Type digits, with a point before a fraction.")
    value = float(written)
    if not math.isfinite(value):
        raise NotANumber(f"{shown} is too large for a number.")
    if not whole:
        return value
    exact = Decimal(written)
    if exact != exact.to_integral_value():
        raise NotANumber(f"{shown} is not a whole number.")
    return int(exact)


def _without_groups(text: str) -> str:
    found = _GROUPED.match(text)
    if found is None:
        return text
    return re.sub(f"[{_BLANKS}]", "", found[0]) + text[found.end() :]


def _with_point(text: str, shown: str) -> str:
    found = _COMMA.fullmatch(text)
    if found is None:
        return text
    head, tail, power = found.groups()
    digits = head.lstrip("+-")
    if len(tail) == 3 and not power and len(digits) <= 3 and digits[0] != "0":
        raise NotANumber(f"{shown} can mean {head}.{tail} or {head}{tail}. Type one of them.")
    return f"{head}.{tail}{power}"


def stepped(value: Number, step: Number, times: int) -> Number:
    """A number some steps further, without the rounding of binary fractions: 0.1 and 0.2 give 0.3."""
    further = Decimal(text_of(value)) + times * Decimal(text_of(step))
    return int(further) if isinstance(value, int) and isinstance(step, int) else float(further)


class NumberText(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types
    """A field for a number on the page. ``text`` is what it holds, letter by letter.

    ``on_msg`` hears ``{"kind": "step", "by": n, "text": ...}`` for the arrow keys. ``low``, ``high`` and ``wrong`` are
    for people who hear the page.
    """

    _esm = (HERE / "number_text.js").read_text("utf-8")
    text = traitlets.Unicode("").tag(sync=True)
    description = traitlets.Unicode("").tag(sync=True)
    name = traitlets.Unicode("").tag(sync=True)
    tooltip = traitlets.Unicode("").tag(sync=True)
    low = traitlets.Unicode("").tag(sync=True)
    high = traitlets.Unicode("").tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)


class TypedNumber:
    """A number that is typed: the field as ``widget``, and ``number``, the value that is in use.

    Parameters
    ----------
    decided : bounds, step and whether only whole numbers are taken.
    changed : called when a user has changed the number.
    say : called as ``say(sentence, wrong)`` with what is to be known of a typed text; None: nothing.
    label : shown above the field; without it, ``name`` is its name for people who hear the page.
    clamps : a number outside the bounds is set to the nearest one. Otherwise it is refused.
    """

    def __init__(
        self,
        decided: Decided,
        changed: Callable[[], None],
        say: Callable[[str | None, bool], None],
        *,
        label: str = "",
        name: str = "",
        clamps: bool = True,
    ) -> None:
        self._decided, self._changed, self._say, self._clamps = decided, changed, say, clamps
        self._quiet = False
        self.number: Number | None = None
        self.widget = NumberText(
            description=label,
            name=name,
            tooltip=decided["description"],
            low="" if decided["min"] is None else text_of(decided["min"]),
            high="" if decided["max"] is None else text_of(decided["max"]),
        )
        self.widget.observe(self._typed, "text")
        self.widget.on_msg(at_home(self._keyed))

    def put(self, decided: Decided, value: JsonValue) -> None:
        """Show a value, or none; the user did not change it."""
        self._decided = decided
        self._write(value if is_number(value) else None)

    def _write(self, value: Number | None) -> None:
        self.number = value
        self._quiet = True
        try:
            self.widget.text = "" if value is None else text_of(value)
        finally:
            self._quiet = False

    def _typed(self, _: object) -> None:
        if self._quiet:
            return
        try:
            value = read_number(self.widget.text, whole=self._decided["integer"])
            near = self._near(value)
        except NotANumber as error:
            kept = "No number is in use." if self.number is None else f"{text_of(self.number)} stays in use."
            self._say(f"{error} {kept}", True)
            return
        self._say(None if near == value else self._beyond(value, near), False)
        self._write(near)
        self._changed()

    def _near(self, value: Number) -> Number:
        low, high = self._decided["min"], self._decided["max"]
        near = low if low is not None and value < low else high if high is not None and value > high else value
        if near != value and not self._clamps:
            raise NotANumber(f"Use a number {bounds(self._decided)}.")
        return near

    def _beyond(self, value: Number, near: Number) -> str:
        side = "least" if near == self._decided["min"] else "most"
        return f"{text_of(value)} is outside the range; the {side} is {text_of(near)}."

    def _keyed(self, _: object, content: Message, buffers: object) -> None:
        """An arrow key: some steps up or down, and not beyond a bound."""
        times = content.get("by")
        if content.get("kind") != "step" or not isinstance(times, int) or self.widget.disabled:
            return
        try:
            begin = read_number(str(content.get("text", "")), whole=self._decided["integer"])
            value = self._near(stepped(begin, self._decided["step"], times))
        except NotANumber:
            return
        self._say(None, False)
        if value != self.number:
            self._write(value)
            self._changed()


def bounds(decided: Decided) -> str:
    """The bounds of a number in words. One of them is there."""
    low, high = decided["min"], decided["max"]
    if low is None:
        return f"of at most {text_of(high)}"
    return f"of at least {text_of(low)}" if high is None else f"from {text_of(low)} to {text_of(high)}"
