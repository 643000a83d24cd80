"""Whether a figure that came from somewhere else may be shown: nothing in it fetches, runs or reaches too far.

A figure is data for a program in the viewer's browser, which no sandbox of the server sees. Here a page must not
fetch from an address in it (that sends data out of the viewer's browser), and no key may reach a prototype.
"""

from __future__ import annotations

import binascii
import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import orjson

from ..errors import instead
from .figure import DEEPEST, PARTS

MOST_BYTES = 16 * 2**20
MOST_CONTAINERS = 1_000_000
"""Most lists and mappings of a figure; each costs some hundred bytes of memory to read."""

_FORBIDDEN = frozenset(("__proto__", "constructor", "prototype"))
# What plotly.js fetches, wherever it stands: pictures, outlines of maps and their tiles, its own services.
_ADDRESSES = frozenset(
    ("source", "geojson", "url", "src", "href", "tiles", "sprite", "glyphs", "plotlyServerURL", "topojsonURL")
)
_STYLES = frozenset(("map", "mapbox"))
_BUTTONS = frozenset(("args", "args2"))
_MAPS = re.compile(r"(scatter|choropleth|density)(geo|map|mapbox)|choropleth")
_ITEM_BYTES = {"f8": 8, "f4": 4, "i1": 1, "u1": 1, "uc1": 1, "u1c": 1, "i2": 2, "u2": 2, "i4": 4, "u4": 4}
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]*={0,2}")
_PARTS = re.compile(r"[.\[\]]+")
_NUMBERS: frozenset[type] = frozenset((int, float, bool, type(None)))
# Quick looks at the whole text, before a look at each text: a style of pseudo-HTML, a command of TeX.
_STYLE = re.compile(rb'style(?!")', re.IGNORECASE)
_TEX = re.compile(rb"\\\\(?:href|url|require|style|class|cssId|includegraphics|data|html)", re.IGNORECASE)
_STYLED = re.compile(r"<[^>]*?style\s*=\s*(\"[^\"]*\"?|'[^']*'?|[^\s>]*)", re.IGNORECASE)
_CALLED = re.compile(r"([\w-]*)\s*\(")
_COLOURS = frozenset(("rgb", "rgba", "hsl", "hsla"))


class Unsafe(ValueError):
    """The figure is not shown; the text says which place of it and why."""


def checked(figure: bytes | bytearray | memoryview, most_bytes: int = MOST_BYTES) -> bytes:
    """The figure written anew from what was read of it, so that nothing else can be in its bytes.

    Bytes of our own serialiser come back as they were.

    Raises
    ------
    Unsafe
        If it is no strict JSON, too large or deep, no figure of known traces, or holds an address that a page would
        fetch, a key that reaches a prototype, or an array whose bytes are not those of its type and shape.
    """
    raw = bytes(figure)
    if len(raw) > most_bytes:
        raise Unsafe(f"The figure has {len(raw) / 1e6:.1f} MB; it may have {most_bytes / 1e6:.1f} MB.")
    if raw.count(b"{") + raw.count(b"[") > MOST_CONTAINERS:
        raise Unsafe(f"The figure holds more than {MOST_CONTAINERS} lists and mappings.")
    try:
        content = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Unsafe(f"The figure is no JSON: {error}.") from error
    _top(content)
    _walk(content, _Place("", 0), frozenset())
    written = orjson.dumps(content)
    if _STYLE.search(written) or _TEX.search(written):
        for text in _texts(content):
            _text(text)
    return written


class _Place(NamedTuple):
    """Where one is: the way there as text, and how deep."""

    path: str
    depth: int

    def key(self, name: str) -> _Place:
        return _Place(f"{self.path}.{name[:40]}" if self.path else name[:40], self.depth + 1)

    def item(self, number: int) -> _Place:
        return _Place(f"{self.path}[{number}]", self.depth + 1)


def _top(content: Any) -> None:
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
            raise Unsafe(f"'frames[{number}]' is no mapping.")
        _traces(frame.get("data") or [], f"frames[{number}].data")


def _traces(traces: Any, place: str) -> None:
    if not isinstance(traces, list):
        raise Unsafe(f"'{place}' is no list of traces.")
    for number, trace in enumerate(traces):
        if not isinstance(trace, dict):
            raise Unsafe(f"'{place}[{number}]' is no trace.")
        _known(trace.get("type", "scatter"), f"{place}[{number}].type")


def _known(kind: Any, place: str) -> None:
    types = _trace_types()
    if not isinstance(kind, str) or kind not in types:
        shown = str(kind)[:40]
        raise Unsafe(
            f"'{place}' is '{shown}', which is no kind of trace. {instead(shown, types, 'kinds of trace')}"
        )
    if _MAPS.fullmatch(kind):
        raise Unsafe(
            f"'{place}' is '{kind}': a map fetches its picture of the land from elsewhere, which a figure of a "
            "protected script must not. Draw longitude and latitude with 'scatter'."
        )


@cache
def _trace_types() -> frozenset[str]:
    """From plotly's names alone: to load every class of a trace takes seconds."""
    import plotly.graph_objects as go

    names = set(go.__all__)
    classes = (name for name in names if name[0].isupper() and name.lower() in names)
    return frozenset(name.lower() for name in classes) - {"layout"}


def _walk(value: Any, place: _Place, inside: frozenset[str]) -> None:
    """Look at every key, address and array below ``value``; ``inside`` are those names above that matter."""
    if place.depth > DEEPEST + 4:
        raise Unsafe(f"'{place.path[:80]}' is nested more than {DEEPEST} deep.")
    if isinstance(value, dict):
        if "bdata" in value:
            _array(value, place.path)
        for name, item in value.items():
            _entry(name, item, place, inside)
    elif isinstance(value, list):
        kinds = set(map(type, value))
        if kinds <= _NUMBERS:
            return
        if inside & _BUTTONS:
            _arguments(value, place.path)
        if kinds & {dict, list}:
            for number, item in enumerate(value):
                if type(item) is dict or type(item) is list:
                    _walk(item, place.item(number), inside)


def _entry(name: str, item: Any, place: _Place, inside: frozenset[str]) -> None:
    parts = _PARTS.split(name) if "." in name or "[" in name else [name]
    if not _FORBIDDEN.isdisjoint(parts):
        raise Unsafe(
            f"'{place.key(name).path}' is a key that no figure needs: '{name[:40]}'. Give it another name."
        )
    last = parts[-1] or (parts[-2] if len(parts) > 1 else "")
    if last in _ADDRESSES:
        _address(item, place.key(name).path)
    elif last == "style" and (inside & _STYLES or set(parts[:-1]) & _STYLES):
        _map_style(item, place.key(name).path)
    if type(item) is dict or type(item) is list:
        _walk(item, place.key(name), inside | {one for part in parts if (one := _marked(part))})


def _marked(part: str) -> str | None:
    """The name of a part that matters for what stands below it; maps are numbered."""
    name = part if part in _BUTTONS else part.rstrip("0123456789")
    return name if name in _BUTTONS or name in _STYLES else None


def _address(value: Any, place: str) -> None:
    """A text is an embedded picture; what is no text (links of a Sankey, an outline in full) is walked as ever."""
    texts = value if isinstance(value, list) else [value]
    for text in texts:
        if isinstance(text, str) and text and not _PICTURE.fullmatch(text):
            raise Unsafe(
                f"'{place}' is an address ('{text[:60]}'), which the viewer's browser would fetch. Embed the picture: "
                "data:image/png;base64,... (png, jpeg, gif or webp)."
            )


def _map_style(value: Any, place: str) -> None:
    # Templates name a style for maps that are never drawn: maps as traces are refused.
    if not isinstance(value, str) or "/" in value or ":" in value:
        raise Unsafe(f"'{place}' is a style of a map, which the viewer's browser would fetch.")


def _arguments(values: list[Any], place: str) -> None:
    """Texts among the arguments of a button may be names of properties, and the next one their value."""
    for text in values:
        if not isinstance(text, str):
            continue
        parts = _PARTS.split(text)
        if not _FORBIDDEN.isdisjoint(parts):
            raise Unsafe(f"'{place}' names '{text[:60]}', which no figure needs.")
        if (parts[-1] or parts[-2:][0]) in _ADDRESSES | {"style"}:
            raise Unsafe(f"'{place}' changes '{text[:60]}', an address that the viewer's browser would fetch.")
        if re.match(r"\s*(?:[a-z][a-z0-9+.-]*:)?//|\s*(?:data|blob|javascript|file):", text, re.IGNORECASE):
            _address(text, place)


def _array(value: dict[str, Any], place: str) -> None:
    """A typed array: a known type, and the bytes of its shape."""
    dtype, text, shape = value.get("dtype"), value.get("bdata"), value.get("shape")
    if not isinstance(dtype, str) or dtype not in _ITEM_BYTES or not isinstance(text, str):
        raise Unsafe(f"'{place}' is no typed array: dtype {str(dtype)[:20]!r}.")
    try:
        size = len(binascii.a2b_base64(text, strict_mode=True)) if text else 0
    except (binascii.Error, ValueError) as error:
        raise Unsafe(f"'{place}' is no typed array: {error}.") from error
    if size % _ITEM_BYTES[dtype]:
        raise Unsafe(f"'{place}' has {size} bytes, which are no whole {dtype}.")
    if shape is not None and math.prod(_lengths(shape, place)) * _ITEM_BYTES[dtype] != size:
        raise Unsafe(f"'{place}' has {size} bytes, which do not fill the shape {str(shape)[:40]}.")


def _lengths(shape: Any, place: str) -> list[int]:
    words = shape.split(",") if isinstance(shape, str) else shape if isinstance(shape, list) else [shape]
    texts = [str(word).strip() for word in words[:4]]
    if not 1 <= len(words) <= 3 or not all(re.fullmatch(r"[0-9]{1,10}", text, re.ASCII) for text in texts):
        raise Unsafe(f"'{place}' has no shape of one to three lengths.")
    return [int(text) for text in texts]


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list) and not set(map(type, one)) <= _NUMBERS:
            waiting += one


def _text(text: str) -> None:
    """Styles of pseudo-HTML go into the page as they are; they may name colours and sizes, and fetch nothing."""
    for found in _STYLED.finditer(text):
        style = found.group(1)
        strange = [name for name in _CALLED.findall(style) if name.lower() not in _COLOURS]
        if strange or any(mark in style for mark in ("\\", "@", "&", "/*")):
            raise Unsafe(f"The text '{text[:60]}' has a style that could fetch from elsewhere: '{style[:60]}'.")
    if "$" in text and _TEX.search(orjson.dumps(text)):
        raise Unsafe(f"The text '{text[:60]}' has a command of TeX that reaches beyond the formula.")
