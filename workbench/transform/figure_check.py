"""Checks that a figure drawn by an untrusted script is safe to show in a browser.

A figure is data for plotly.js in the viewer's browser, where the sandbox of the server does not reach. So this check
refuses every address that a page would fetch (a fetch sends data out of the viewer's browser), every key that reaches
a JavaScript prototype, and every text of which plotly could make one that fetches or runs (``figure_texts``). Pages,
the live view and exports of pictures do not rely on it: they have walls of their own (``workbench/inert_page.py``).
"""

from __future__ import annotations

import binascii
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from ..errors import instead
from .figure import DEEPEST, PARTS, type_problem
from .figure_texts import Unsafe, check_format, check_internals, check_separators, check_texts, texts_of

__all__ = ["MOST_BYTES", "Unsafe", "checked"]

MOST_BYTES = 16 * 2**20
MOST_CONTAINERS = 400_000
"""Most lists and mappings of a figure. Each takes some hundred bytes of memory."""
MOST_TEXTS = 1_000_000
"""Most texts and keys of a figure."""

_FORBIDDEN = frozenset(("__proto__", "constructor", "prototype"))
# plotly.js fetches the values of these keys: pictures, outlines of maps and their tiles, its own services.
_ADDRESSES = frozenset(
    ("source", "geojson", "url", "src", "href", "tiles", "sprite", "glyphs", "plotlyServerURL", "topojsonURL")
)
_STYLES = frozenset(("map", "mapbox"))
_BUTTONS = frozenset(("args", "args2"))
# Buttons above a figure that send it, with its data, to an external service.
_UPLOADS = ("senddatatocloud", "editinchartstudio")
_STOPS = frozenset(("tickformatstops", "tickformatstop", "tickformatstopdefaults"))  # their "value" is a format
_FREE = frozenset(("meta", "customdata"))  # content of the author, which plotly.js only shows
_MAPS = re.compile(r"(scatter|choropleth|density)(geo|map|mapbox)|choropleth")
_ITEM_BYTES = {"f8": 8, "f4": 4, "i1": 1, "u1": 1, "uc1": 1, "u1c": 1, "i2": 2, "u2": 2, "i4": 4, "u4": 4}
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]*={0,2}")
_TICK_DISTANCE = re.compile(r"[ML]?\d{1,15}(\.\d{1,15})?([eE][-+]?\d{1,2})?|D[12]")
_PARTS = re.compile(r"[.\[\]]+")
_REMOTE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//|\s*(?:data|blob|javascript|file):", re.IGNORECASE)
_LONGEST_KEY = 1000
# An argument of a button without one of these words neither names a property that matters here nor is an address.
_WORDS = (
    *(*_FORBIDDEN, *map(str.lower, _ADDRESSES), "style", "format", "separators", "value", "dtick"),
    *("//", "data:", "blob:", "javascript:", "file:"),
)
MOST_WORDS = 100_000
"""Most of these words in a figure with buttons: it takes time to read an argument as the name of a property."""
_NUMBERS: frozenset[type] = frozenset((int, float, bool, type(None)))


def checked(figure: bytes | bytearray | memoryview, most_bytes: int = MOST_BYTES) -> bytes:
    """Check a figure and write it again from its parsed content, so that its bytes hold nothing else.

    Bytes that ``figure.encode`` wrote come back unchanged.

    Raises
    ------
    Unsafe
        If the bytes are not strict JSON, are too large or nested too deep, are not a figure of known traces, or hold
        an address that a page would fetch, a key that reaches a prototype, or an array whose bytes do not fit its
        type and shape.
    """
    raw = bytes(figure)
    if len(raw) > most_bytes:
        raise Unsafe(
            f"The figure has {len(raw) / 1e6:.1f} MB. At most {most_bytes / 1e6:.1f} MB are allowed. Draw fewer points."
        )
    if raw.count(b"{") + raw.count(b"[") > MOST_CONTAINERS:
        raise Unsafe(f"The figure holds more than {MOST_CONTAINERS} lists and mappings.")
    if raw.count(b'"') > 2 * MOST_TEXTS:
        raise Unsafe(f"The figure holds more than {MOST_TEXTS} texts.")
    try:
        content = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Unsafe(f"The figure is not JSON: {error}.") from error
    _top(content)
    try:
        written = orjson.dumps(content)
    except TypeError as error:  # what was read as JSON fails only by its depth
        raise Unsafe(f"The figure is nested more than {DEEPEST} levels deep.") from error
    if b"args" in written and sum(map(written.lower().count, map(str.encode, _WORDS))) > MOST_WORDS:
        raise Unsafe(
            f"The buttons and sliders of the figure change more than {MOST_WORDS} properties. Leave some out."
        )
    _walk(content, _Place(None, "", 0), frozenset())
    check_internals(written)
    formulas = b"$" in written and b"\\\\" in written
    if b"<" in written or formulas or b"TOBESTRIPPED" in written.upper():
        check_texts(texts_of(content), formulas=formulas, short=b"namelength" in written and _cuts_names(content))
    return written


class _Place(NamedTuple):
    """A place in a figure: a key or index below another place. It becomes text only for an error."""

    above: _Place | None
    name: str | int
    depth: int

    def below(self, name: str | int) -> _Place:
        return _Place(self, name, self.depth + 1)

    def __str__(self) -> str:
        names: list[str | int] = []
        place: _Place | None = self
        while place is not None and place.depth:
            names.append(place.name)
            place = place.above
        words = [f"[{name}]" if isinstance(name, int) else f".{name[:40]}" for name in reversed(names)]
        return "".join(words).lstrip(".")


class _Name(NamedTuple):
    """What a key means: its last part, whether it reaches a prototype, and the parts that matter for values below."""

    last: str
    forbidden: bool
    marks: frozenset[str]


def _top(content: JsonValue) -> None:
    if not isinstance(content, dict):
        raise Unsafe("A figure is a mapping with 'data' and 'layout'.")
    for name in content:
        if name not in PARTS:
            raise Unsafe(f"A figure has no '{name[:40]}'. {instead(name[:40], PARTS, 'parts of a figure')}")
    traces, layout, frames = content.get("data"), content.get("layout", {}), content.get("frames", [])
    if not isinstance(traces, list) or not isinstance(layout, dict) or not isinstance(frames, list):
        raise Unsafe("A figure has 'data' and 'frames' as lists and 'layout' as a mapping.")
    _traces(traces, "data")
    for number, frame in enumerate(frames):
        if not isinstance(frame, dict):
            raise Unsafe(f"'frames[{number}]' is not a mapping.")
        _traces(frame.get("data") or [], f"frames[{number}].data")


def _traces(traces: JsonValue, place: str) -> None:
    if not isinstance(traces, list):
        raise Unsafe(f"'{place}' is not a list of traces.")
    for number, trace in enumerate(traces):
        if not isinstance(trace, dict):
            raise Unsafe(f"'{place}[{number}]' is not a trace: a trace is a mapping.")
        _known(trace.get("type", "scatter"), f"{place}[{number}].type")


def _known(kind: JsonValue, place: str) -> None:
    wrong = type_problem(kind, place)
    if wrong:
        raise Unsafe(wrong)
    if isinstance(kind, str) and _MAPS.fullmatch(kind):
        raise Unsafe(
            f"'{place}' is '{kind}': a map fetches its background from the network, which a figure of a protected "
            "script must not do. Draw longitude and latitude with 'scatter'."
        )


def _shown(value: JsonValue, most: int) -> str:
    """The beginning of a text or number. Of other values, which may be large, only the type."""
    return str(value)[:most] if isinstance(value, str | int | float) else f"a {type(value).__name__}"


def _walk(value: JsonValue, place: _Place, inside: frozenset[str]) -> None:
    """Check every key, address and array below ``value``. ``inside`` are the keys above it that matter."""
    if place.depth > DEEPEST + 4:
        raise Unsafe(f"'{str(place)[:80]}' is nested more than {DEEPEST} levels deep.")
    if isinstance(value, dict):
        if "bdata" in value:
            _array(value, place)
        for name, item in value.items():
            _entry(name, item, place, inside)
    elif isinstance(value, list):
        kinds = set(map(type, value))
        if kinds <= _NUMBERS:
            return
        if inside & _BUTTONS:
            _arguments(value, place)
        if kinds & {dict, list}:
            for number, item in enumerate(value):
                if item and (type(item) is dict or type(item) is list):
                    _walk(item, place.below(number), inside)


def _entry(name: str, item: JsonValue, place: _Place, inside: frozenset[str]) -> None:
    if len(name) > _LONGEST_KEY:
        raise Unsafe(f"'{place.below(name)}' is a key of {len(name)} characters. A key may have {_LONGEST_KEY}.")
    read = _name(name)
    if read.forbidden:
        raise Unsafe(
            f"'{place.below(name)}' has the key '{name[:40]}', which JavaScript reserves. Give it another name."
        )
    if read.last in _ADDRESSES and not inside & _FREE:
        _address(item, place.below(name))
    elif read.last == "style" and (inside | read.marks) & _STYLES and not inside & _FREE:
        _map_style(item, place.below(name))
    elif read.last == "type" and inside & _BUTTONS:
        _no_map(item, place.below(name))
    elif read.last == "add":
        _no_upload(item, place.below(name))
    elif read.last == "dtick" and not inside & _FREE:
        _tick_distances(item, place.below(name))
    elif _is_format(read, inside) and not inside & _FREE:
        _formats(item, read.last, place.below(name))
    if item and (type(item) is dict or type(item) is list):
        _walk(item, place.below(name), inside | read.marks if read.marks else inside)


@lru_cache(maxsize=4096)
def _name(name: str) -> _Name:
    parts = _PARTS.split(name) if "." in name or "[" in name else [name]
    named = [part for part in parts if part]
    # Subplots of maps are numbered.
    marks = {part if part in _BUTTONS else part.rstrip("0123456789") for part in named}
    marks &= _BUTTONS | _STYLES | _FREE | _STOPS
    return _Name(named[-1] if named else "", not _FORBIDDEN.isdisjoint(named), frozenset(marks))


def _no_map(value: JsonValue, place: _Place) -> None:
    if any(isinstance(one, str) and _MAPS.fullmatch(one) for one in _listed(value)):
        raise Unsafe(f"'{place}' makes a map, which fetches its background from the network. Use 'scatter'.")


def _no_upload(value: JsonValue, place: _Place) -> None:
    """Refuse additional buttons that send the figure to an external service."""
    for one in _listed(value):
        if isinstance(one, str) and any(name in one.lower() for name in _UPLOADS):
            raise Unsafe(
                f"'{place}' adds '{one[:40]}', a button that sends the figure and its data to an external service. "
                "Leave it out."
            )


def _tick_distances(value: JsonValue, place: _Place) -> None:
    """Refuse other texts than plotly's: with them its search for ticks never ends, and the page stands still. A button
    may give a list, one for each trace."""
    for text in _texts_in(value):
        if not _TICK_DISTANCE.fullmatch(text):
            raise Unsafe(
                f"'{place}' is '{text[:40]}', with which plotly would look for ticks without end. "
                "Write a number, months such as 'M3', or 'L0.5', 'D1' or 'D2' on a logarithmic axis."
            )


def _is_format(read: _Name, inside: frozenset[str]) -> bool:
    if read.last == "value":
        return bool((inside | read.marks) & _STOPS)
    return read.last.endswith("format") or read.last == "separators"


def _formats(value: JsonValue, name: str, place: _Place) -> None:
    """Check formats and separators of numbers, also where there is one for each point or column."""
    check = check_separators if name == "separators" else check_format
    for text in _texts_in(value):
        check(text, place)


def _texts_in(value: JsonValue) -> Iterator[str]:
    """A text, or the texts of a list and of the lists in it."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list) and not set(map(type, one)) <= _NUMBERS:
            waiting += one


def _cuts_names(content: JsonValue) -> bool:
    """Whether hover labels may cut names to one, two or three characters, without the dots that longer ones get."""
    waiting = [content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for name, value in one.items():
                if _name(name[:_LONGEST_KEY]).last == "namelength" and not all(map(_long, _listed(value))):
                    return True
            waiting += one.values()
        elif isinstance(one, list) and not set(map(type, one)) <= _NUMBERS:
            if any(isinstance(text, str) and "namelength" in text for text in one):
                return True
            waiting += one
    return False


def _long(length: JsonValue) -> bool:
    return isinstance(length, int | float) and (length <= 0 or length >= 4)


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _address(value: JsonValue, place: _Place) -> None:
    """Refuse a text that is not an embedded picture. Other values (links of a Sankey diagram, an outline) are checked
    by ``_walk``."""
    for text in _listed(value):
        if isinstance(text, str) and text and not _PICTURE.fullmatch(text):
            raise Unsafe(
                f"'{place}' is an address ('{text[:60]}'), which the viewer's browser would fetch. Embed the picture: "
                "data:image/png;base64,... (png, jpeg, gif or webp)."
            )


def _map_style(value: JsonValue, place: _Place) -> None:
    # Templates name a style for maps. That is harmless: traces that are maps are refused.
    if not isinstance(value, str) or "/" in value or ":" in value:
        raise Unsafe(f"'{place}' is a style of a map, which the viewer's browser would fetch. Leave it out.")


def _arguments(values: list[JsonValue], place: _Place) -> None:
    """Check the arguments of a button: a text may name a property, and the next argument is then its value."""
    _no_map(values, place)
    _no_upload(values, place)
    texts = [text for text in values if isinstance(text, str)]
    if not _worth_a_look("\n".join(texts)):
        return
    for text in texts:
        if not _worth_a_look(text):
            continue
        if len(text) > _LONGEST_KEY:
            if any(word in text for word in _FORBIDDEN):
                raise Unsafe(f"'{place}' names '{text[:60]}', which JavaScript reserves.")
            continue
        read = _name(text)
        if read.forbidden:
            raise Unsafe(f"'{place}' names '{text[:60]}', which JavaScript reserves.")
        if read.last in _ADDRESSES or read.last == "style":
            raise Unsafe(f"'{place}' changes '{text[:60]}', an address that the viewer's browser would fetch.")
        if _REMOTE.match(text):
            _address(text, place)
        if _is_format(read, frozenset()):
            _formats(values, read.last, place)
        if read.last == "dtick":
            _tick_distances([value for value in values if value != text], place)


def _worth_a_look(text: str) -> bool:
    small = text.lower()
    return any(word in small for word in _WORDS)


def _array(value: dict[str, JsonValue], place: _Place) -> None:
    """Check a typed array: its type is known, and its bytes fill its shape."""
    dtype, text, shape = value.get("dtype"), value.get("bdata"), value.get("shape")
    if not isinstance(dtype, str) or dtype not in _ITEM_BYTES or not isinstance(text, str):
        raise Unsafe(f"'{place}' is not a typed array: dtype {_shown(dtype, 20)!r}.")
    try:
        size = len(binascii.a2b_base64(text, strict_mode=True)) if text else 0
    except (binascii.Error, ValueError) as error:
        raise Unsafe(f"'{place}' is not a typed array: {error}.") from error
    if size % _ITEM_BYTES[dtype]:
        raise Unsafe(f"'{place}' has {size} bytes, which are not a whole number of {dtype}.")
    if shape is not None and math.prod(_lengths(shape, place)) * _ITEM_BYTES[dtype] != size:
        raise Unsafe(f"'{place}' has {size} bytes, which do not fill the shape {_shown(shape, 40)}.")


def _lengths(shape: JsonValue, place: _Place) -> list[int]:
    words = shape.split(",", 4) if isinstance(shape, str) else _listed(shape)[:4]
    texts = [str(word).strip() if isinstance(word, str | int) else "" for word in words]
    if not 1 <= len(words) <= 3 or not all(re.fullmatch(r"[0-9]{1,10}", text, re.ASCII) for text in texts):
        raise Unsafe(f"'{place}' has a shape that is not one to three lengths.")
    return [int(text) for text in texts]
