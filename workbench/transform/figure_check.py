"""Whether a figure that came from somewhere else may be shown: nothing in it fetches, runs or reaches too far.

A figure is data for a program in the viewer's browser, which no sandbox of the server sees. Here a page must not
fetch from an address in it (that sends data out of the viewer's browser), and no key may reach a prototype.
"""

from __future__ import annotations

import binascii
import math
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

import orjson

from ..errors import instead
from .figure import DEEPEST, PARTS

MOST_BYTES = 16 * 2**20
MOST_CONTAINERS = 400_000
"""Most lists and mappings of a figure; each costs some hundred bytes of memory to read."""
MOST_TEXTS = 1_000_000
"""Most texts and keys of a figure."""
MOST_MARKS = 300_000
"""Most tags with more than a name, and commands of formulas, in the texts of a figure."""

_FORBIDDEN = frozenset(("__proto__", "constructor", "prototype"))
# What plotly.js fetches, wherever it stands: pictures, outlines of maps and their tiles, its own services.
_ADDRESSES = frozenset(
    ("source", "geojson", "url", "src", "href", "tiles", "sprite", "glyphs", "plotlyServerURL", "topojsonURL")
)
_STYLES = frozenset(("map", "mapbox"))
_BUTTONS = frozenset(("args", "args2"))
# Buttons of the bar above a figure that send it, with its data, to a service of others.
_UPLOADS = ("senddatatocloud", "editinchartstudio")
_FREE = frozenset(("meta", "customdata"))  # an author's own, which plotly.js only shows
_MAPS = re.compile(r"(scatter|choropleth|density)(geo|map|mapbox)|choropleth")
_ITEM_BYTES = {"f8": 8, "f4": 4, "i1": 1, "u1": 1, "uc1": 1, "u1c": 1, "i2": 2, "u2": 2, "i4": 4, "u4": 4}
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]*={0,2}")
_PARTS = re.compile(r"[.\[\]]+")
_REMOTE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//|\s*(?:data|blob|javascript|file):", re.IGNORECASE)
_LONGEST_KEY = 1000
_NUMBERS: frozenset[type] = frozenset((int, float, bool, type(None)))
# What a page makes of texts: tags of pseudo-HTML, and formulas that reach beyond themselves.
_TAGS = ("a", "b", "br", "em", "i", "s", "span", "strong", "sub", "sup", "u")
_PLAIN_TAGS = [f"<{end}{name}>" for name in (*_TAGS, "extra") for end in ("", "/")]
_COMMANDS = (
    *("href", "url", "require", "style", "class", "cssid", "includegraphics", "data", "html", "csname"),
    "mmltoken",
)
_TEX = re.compile(rf"\\(?:{'|'.join(_COMMANDS)})", re.IGNORECASE)
_TEX_CUT = re.compile(r"\\([a-z]*)(?:%(?=[-_0{a-z])|\Z)", re.IGNORECASE)
# Each of these goes through a text once, whatever the text: what comes back is hostile to patterns too.
_TAG = re.compile(r"<[^<>]*>")
_TAG_NAME = re.compile(r"/?([^\s>%]*)(\s?)")
_PLAIN_PERCENT = re.compile(r"%[0-9a-f]{2}|(?<=[0-9])%(?=[;\"'\s])", re.IGNORECASE)
_STYLED = re.compile(r"style\s*=\s*(\"[^\"]*\"?|'[^']*'?|[^\s\"']\S*)", re.IGNORECASE)
_COLOUR = re.compile(r"(?:^|[^\w-])(?:rgb|rgba|hsl|hsla)\Z", re.IGNORECASE)


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
    if raw.count(b'"') > 2 * MOST_TEXTS:
        raise Unsafe(f"The figure holds more than {MOST_TEXTS} texts.")
    try:
        content = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Unsafe(f"The figure is no JSON: {error}.") from error
    _top(content)
    _walk(content, _Place(None, "", 0), frozenset())
    written = orjson.dumps(content)
    formulas = b"$" in written and b"\\\\" in written
    if b"<" in written or formulas:
        _look(_texts(content), formulas)
    return written


class _Place(NamedTuple):
    """Where one is: a name or number below another place. Put into words only for an error."""

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
    """What a key means: its last part, whether it reaches a prototype, and its parts that matter for what is below."""

    last: str
    forbidden: bool
    marks: frozenset[str]


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
        shown = _shown(kind, 40)
        raise Unsafe(
            f"'{place}' is '{shown}', which is no kind of trace. {instead(shown, types, 'kinds of trace')}"
        )
    if _MAPS.fullmatch(kind):
        raise Unsafe(
            f"'{place}' is '{kind}': a map fetches its picture of the land from elsewhere, which a figure of a "
            "protected script must not. Draw longitude and latitude with 'scatter'."
        )


def _shown(value: Any, most: int) -> str:
    """The beginning of a text or number; of what is neither only its kind, which may be large and nested."""
    return str(value)[:most] if isinstance(value, str | int | float) else f"a {type(value).__name__}"


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
        raise Unsafe(f"'{str(place)[:80]}' is nested more than {DEEPEST} deep.")
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


def _entry(name: str, item: Any, place: _Place, inside: frozenset[str]) -> None:
    if len(name) > _LONGEST_KEY:
        raise Unsafe(f"'{place.below(name)}' is a key of {len(name)} characters; it may have {_LONGEST_KEY}.")
    read = _name(name)
    if read.forbidden:
        raise Unsafe(f"'{place.below(name)}' is a key that no figure needs: '{name[:40]}'. Give it another name.")
    if read.last in _ADDRESSES and not inside & _FREE:
        _address(item, place.below(name))
    elif read.last == "style" and (inside | read.marks) & _STYLES and not inside & _FREE:
        _map_style(item, place.below(name))
    elif read.last == "type" and inside & _BUTTONS:
        _no_map(item, place.below(name))
    elif read.last == "add":
        _no_upload(item, place.below(name))
    if item and (type(item) is dict or type(item) is list):
        _walk(item, place.below(name), inside | read.marks if read.marks else inside)


@lru_cache(maxsize=4096)
def _name(name: str) -> _Name:
    parts = _PARTS.split(name) if "." in name or "[" in name else [name]
    named = [part for part in parts if part]
    # Subplots of maps are numbered.
    marks = {part if part in _BUTTONS else part.rstrip("0123456789") for part in named}
    marks &= _BUTTONS | _STYLES | _FREE
    return _Name(named[-1] if named else "", not _FORBIDDEN.isdisjoint(named), frozenset(marks))


def _no_map(value: Any, place: _Place) -> None:
    if any(isinstance(one, str) and _MAPS.fullmatch(one) for one in _listed(value)):
        raise Unsafe(f"'{place}' makes a map, which fetches its picture of the land from elsewhere.")


def _no_upload(value: Any, place: _Place) -> None:
    """Of the buttons that a bar is to have besides the usual."""
    for one in _listed(value):
        if isinstance(one, str) and any(name in one.lower() for name in _UPLOADS):
            raise Unsafe(f"'{place}' adds '{one[:40]}', a button that sends the figure and its data elsewhere.")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _address(value: Any, place: _Place) -> None:
    """A text is an embedded picture; what is no text (links of a Sankey, an outline in full) is walked as ever."""
    for text in _listed(value):
        if isinstance(text, str) and text and not _PICTURE.fullmatch(text):
            raise Unsafe(
                f"'{place}' is an address ('{text[:60]}'), which the viewer's browser would fetch. Embed the picture: "
                "data:image/png;base64,... (png, jpeg, gif or webp)."
            )


def _map_style(value: Any, place: _Place) -> None:
    # Templates name a style for maps that are never drawn: maps as traces are refused.
    if not isinstance(value, str) or "/" in value or ":" in value:
        raise Unsafe(f"'{place}' is a style of a map, which the viewer's browser would fetch.")


def _arguments(values: list[Any], place: _Place) -> None:
    """Texts among the arguments of a button may be names of properties, and the next one their value."""
    _no_map(values, place)
    _no_upload(values, place)
    for text in values:
        if not isinstance(text, str):
            continue
        if len(text) > _LONGEST_KEY:
            if any(word in text for word in _FORBIDDEN):
                raise Unsafe(f"'{place}' names '{text[:60]}', which no figure needs.")
            continue
        read = _name(text)
        if read.forbidden:
            raise Unsafe(f"'{place}' names '{text[:60]}', which no figure needs.")
        if read.last in _ADDRESSES or read.last == "style":
            raise Unsafe(f"'{place}' changes '{text[:60]}', an address that the viewer's browser would fetch.")
        if _REMOTE.match(text):
            _address(text, place)


def _array(value: dict[str, Any], place: _Place) -> None:
    """A typed array: a known type, and the bytes of its shape."""
    dtype, text, shape = value.get("dtype"), value.get("bdata"), value.get("shape")
    if not isinstance(dtype, str) or dtype not in _ITEM_BYTES or not isinstance(text, str):
        raise Unsafe(f"'{place}' is no typed array: dtype {_shown(dtype, 20)!r}.")
    try:
        size = len(binascii.a2b_base64(text, strict_mode=True)) if text else 0
    except (binascii.Error, ValueError) as error:
        raise Unsafe(f"'{place}' is no typed array: {error}.") from error
    if size % _ITEM_BYTES[dtype]:
        raise Unsafe(f"'{place}' has {size} bytes, which are no whole {dtype}.")
    if shape is not None and math.prod(_lengths(shape, place)) * _ITEM_BYTES[dtype] != size:
        raise Unsafe(f"'{place}' has {size} bytes, which do not fill the shape {_shown(shape, 40)}.")


def _lengths(shape: Any, place: _Place) -> list[int]:
    words = shape.split(",", 4) if isinstance(shape, str) else _listed(shape)[:4]
    texts = [str(word).strip() if isinstance(word, str | int) else "" for word in words]
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


def _look(texts: Iterable[str], formulas: bool) -> None:
    """Look at the tags of each text and, where there may be formulas, at its commands."""
    left = MOST_MARKS
    for text in texts:
        tags, commands = _marked(text), text.count("\\") if formulas else 0
        left -= tags + commands
        if left < 0:
            raise Unsafe(f"The texts of the figure hold more than {MOST_MARKS} tags and commands of formulas.")
        if tags:
            _tags(text)
        if commands:
            _formula(text)


def _marked(text: str) -> int:
    """How many signs of a text begin a tag, or seem to, beside plain tags that say nothing but their name."""
    if "<" not in text:
        return 0
    for tag in _PLAIN_TAGS:
        text = text.replace(tag, " ")
    return text.count("<")


def _tags(text: str) -> None:
    """Styles of pseudo-HTML go into the page as they are; they may name colours and sizes, and fetch nothing.

    A page puts texts together (a prefix, a value, a suffix; ``%{meta}`` in a template) and forms of times into them.
    So each tag stands whole in one text, and nothing is put into it.
    """
    end = 0
    for tag in _TAG.finditer(text):
        _whole(text, end, tag.start())
        end = tag.end()
        if "%" in _PLAIN_PERCENT.sub("", tag.group()):
            raise Unsafe(
                f"The text '{text[:60]}' has a tag into which something would be put: '{tag.group()[:60]}'."
            )
        for found in _STYLED.finditer(tag.group().replace("\ufeff", " ")):  # a space to JavaScript alone
            if _fetches(found.group(1)):
                raise Unsafe(
                    f"The text '{text[:60]}' has a style that could fetch from elsewhere: '{found.group(1)[:60]}'."
                )
    _whole(text, end, len(text))


def _whole(text: str, start: int, end: int) -> None:
    """Between tags, and after the last one, no tag is begun that another text could complete."""
    begun = text.rfind("<", start, end)
    if begun < 0:
        return
    found = _TAG_NAME.match(text, begun + 1, end)
    name, ended = (found.group(1).lower(), found.group(2)) if found else ("", "")
    if name in _TAGS if ended else any(tag.startswith(name) for tag in _TAGS):
        raise Unsafe(f"The text '{text[:60]}' begins a tag that it does not end. For a plain '<' write '&lt;'.")


def _formula(text: str) -> None:
    """A formula draws, and links and fetches nothing; its commands may be put together from several texts too."""
    cut = (found.group(1).lower() for found in _TEX_CUT.finditer(text))
    if _TEX.search(text) or any(command.startswith(begun) for begun in cut for command in _COMMANDS):
        raise Unsafe(f"The text '{text[:60]}' has a command of TeX that reaches beyond the formula.")


def _fetches(style: str) -> bool:
    """Whether a style may do more than name colours and sizes: a function that is no colour, or a way to hide one."""
    if any(mark in style for mark in ("\\", "@", "&", "/*")):
        return True
    place = style.find("(")
    while place >= 0:
        if not _COLOUR.search(style[max(0, place - 6) : place]):
            return True
        place = style.find("(", place + 1)
    return False
