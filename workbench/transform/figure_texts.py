"""Checks the texts of a figure by what plotly can make of them.

A page joins texts before it reads their tags: a prefix, a formatted number and a suffix; a template and its values. So
it is not enough that no text has a harmful tag. Nothing that plotly puts into such a text may leave a tag open:

- a text that begins a tag ends it, and plotly inserts nothing into it;
- a format writes no sign of a tag: its fill character and the separators of numbers are plain;
- a template reads only what an author may show, and its formats obey the same rule;
- a tag with attributes is of a strict form, so that plotly and this check read the same of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

MOST_MARKS = 100_000
"""Most tags with attributes, plus templates and commands of formulas, in the texts of a figure."""

# A page interprets texts: it renders tags of pseudo-HTML, and TeX commands of formulas that can fetch or style.
_TAGS = ("a", "b", "br", "em", "i", "s", "span", "strong", "sub", "sup", "u")
_PLAIN_TAG = re.compile(rf"</?(?:{'|'.join(_TAGS)}|extra)>|<br ?/>")
_COMMANDS = (
    *("href", "url", "require", "style", "class", "cssid", "includegraphics", "data", "html", "csname"),
    "mmltoken",
)
_TEX = re.compile(rf"\\(?:{'|'.join(_COMMANDS)})", re.IGNORECASE)
_TEX_CUT = re.compile(r"\\([a-z]*)(?:%(?=[-_0{a-z])|\Z)", re.IGNORECASE)
# Each of these patterns takes linear time on every text: a hostile text may be made to slow a pattern down.
_TAG = re.compile(r"<[^<>]*>")
_TAG_NAME = re.compile(r"/?([^\s>%]*)(\s?)")
_PLAIN_PERCENT = re.compile(r"%[0-9a-f]{2}|(?<=[0-9])%(?=[;\"'\s])", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"[ \t\r\n]+([A-Za-z-]{1,40})[ \t\r\n]{0,9}=[ \t\r\n]{0,9}(?:\"([^\"]*)\"|'([^']*)'|([\w#:;.,%+-]+))", re.ASCII
)
_TAG_END = re.compile(r"[ \t\r\n]{0,9}/?>\Z")
_LINK = re.compile(r"(?:https://|mailto:)[^\s\"'<>\\]*", re.IGNORECASE)
_COLOUR = re.compile(r"(?:^|[^\w-])(?:rgb|rgba|hsl|hsla)\Z", re.IGNORECASE)
_UNSAFE_SIGNS = "<>&\"'\\\\$%{}\\t\\r\\n"
_FILLED = re.compile(rf"[{_UNSAFE_SIGNS}][<>=^]")
_ALIGNED = re.compile(rf"[^<>]*:[^{_UNSAFE_SIGNS}]?[<>][0-9][^<>]*")
_FILLED_WITHIN = re.compile(rf"[:|][{_UNSAFE_SIGNS}][<>=^]")
# Private parts of plotly: its functions, whose source a template would write out, tags of its own included.
_INTERNAL = re.compile(rb"%\{[^\s%{}:\"]*?(?:[.\[]_|__|constructor|prototype)")
_WRAPPED_LINK = re.compile(
    "<a_href=", re.IGNORECASE
)  # plotly makes "<a href=" of it where it wraps a cell of a table
_QUOTES_OF_SVG = "tobestripped"  # plotly takes this word, next to a quote, out of a picture that it writes as svg


class Unsafe(ValueError):
    """The figure is refused. The text says at which place, and why."""


def texts_of(value: JsonValue) -> Iterator[str]:
    """Every text and key below ``value``."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            yield from one
            waiting += one.values()
        elif isinstance(one, list) and not set(map(type, one)) <= _NUMBERS:
            waiting += one


_NUMBERS: frozenset[type] = frozenset((int, float, bool, type(None)))


def check_texts(given: Iterable[str], *, formulas: bool, short: bool) -> None:
    """Check the tags and templates of each text and, if there may be formulas, its TeX commands.

    Parameters
    ----------
    formulas : there may be formulas: check TeX commands.
    short : plotly cuts names to less than four characters, so that any ``<`` may come to begin a tag.
    """
    left = MOST_MARKS
    for text in given:
        if "_" in text:
            text = _WRAPPED_LINK.sub("<a href=", text)
        loose = _PLAIN_TAG.sub(" ", text) if "<" in text else ""
        tags = loose.count("<")
        templates = text.count("%{") if tags else 0
        commands = text.count("\\") if formulas else 0
        left -= tags + templates + commands
        if left < 0:
            raise Unsafe(
                f"The texts of the figure hold more than {MOST_MARKS} tags, templates and commands of formulas."
            )
        if tags:
            if templates:
                _check_templates(text)
            _check_tags(text)
            if short and "<" in _TAG.sub("", loose):
                raise Unsafe(
                    f"The text '{text[:60]}' has a '<', and a 'namelength' below 4 could cut the text behind it. "
                    "Write '&lt;', or take a 'namelength' of 4 or more."
                )
        if commands:
            _check_formula(text)
        if _QUOTES_OF_SVG in text.lower():
            raise Unsafe(f"The text '{text[:60]}' has the word 'TOBESTRIPPED', which plotly takes for a quote.")


def check_internals(written: bytes) -> None:
    """Refuse templates that read private parts of plotly, in the JSON of a figure."""
    if b"%{" in written and (found := _INTERNAL.search(written)):
        raise Unsafe(
            f"The template '{found.group()[:60].decode(errors='replace')}' reads a private part of plotly. Read what "
            "the trace has, such as %{x}, %{text} or %{customdata[0]}."
        )


def check_format(text: str, place: object) -> None:
    """Refuse a format of numbers whose fill character could begin or end a tag, a text in quotes or a command."""
    if _FILLED.match(text):
        raise Unsafe(
            f"'{place}' is '{text[:40]}', a format that fills with {text[0]!r}, of which plotly could make a tag. "
            "Fill with a space, '0', '_' or '-'."
        )


def check_separators(text: str, place: object) -> None:
    """Refuse separators of numbers that could begin or end a tag or an entity."""
    if any(sign in text for sign in '<>&"\\$%{}'):
        raise Unsafe(
            f"'{place}' is '{text[:40]}', and plotly could make a tag of these signs. "
            "Write a decimal and a thousands separator, such as '.,' or ', '."
        )


def _check_templates(text: str) -> None:
    """Check what a template reads and how it formats that: the page writes both between the parts of the template."""
    begun = text.find("%{")
    while begun >= 0 and (end := text.find("}", begun)) >= 0:
        whole = text[begun : end + 1]
        begun = text.find("%{", end)
        body = _PLAIN_TAG.sub("", whole[2:-1])
        signs = "<" in body or ">" in body
        if (signs and not _ALIGNED.fullmatch(body)) or _FILLED_WITHIN.search(body):
            raise Unsafe(
                f"The template '{text[:60]}' has a format of which plotly could make a tag: '{whole[:60]}'. "
                "Leave the '<' or '>' out."
            )


def _check_tags(text: str) -> None:
    """Check the tags of a text. The page takes over their styles; these may name colours and sizes, but not fetch.

    A page joins texts (a prefix, a value, a suffix; ``%{meta}`` in a template) and inserts times into them. So each
    tag must be complete within one text, and the page must not insert anything into it.
    """
    end = 0
    for tag in _TAG.finditer(text):
        _check_whole(text, end, tag.start())
        end = tag.end()
        if _PLAIN_TAG.fullmatch(tag.group()):
            continue
        if "%" in _PLAIN_PERCENT.sub("", tag.group()):
            raise Unsafe(
                f"The text '{text[:60]}' has a '%' in the tag '{tag.group()[:60]}', where plotly would insert a value. "
                "Leave the '%' out."
            )
        name = _TAG_NAME.match(tag.group(), 1)
        if name and name.group(1).lower() in _TAGS and name.group(2) and tag.group()[1] != "/":
            _check_attributes(text, tag.group(), name.end(1))
        elif "style" in tag.group().lower() and _fetches(tag.group()):
            raise Unsafe(
                f"The text '{text[:60]}' has a style that could fetch from the network: '{tag.group()[:60]}'."
            )
    _check_whole(text, end, len(text))


def _check_attributes(text: str, tag: str, place: int) -> None:
    while found := _ATTRIBUTE.match(tag, place):
        place = found.end()
        name = found.group(1).lower()
        value = next(value for value in found.groups()[1:] if value is not None)
        if name == "href":
            if not _LINK.fullmatch(value) or "&#" in value:
                raise Unsafe(
                    f"The text '{text[:60]}' links to '{value[:60]}'. A link begins with https:// or mailto: "
                    "and has no quotes and spaces."
                )
        elif name == "target":
            if value != "_blank":
                raise Unsafe(
                    f"The text '{text[:60]}' has a link that opens in '{value[:40]}', in place of a page of the "
                    "reader. Leave 'target' out: a link opens in a new tab."
                )
        elif name == "popup":
            raise Unsafe(f"The text '{text[:60]}' has a link that opens a window. Leave 'popup' out.")
        elif "=" in value or _fetches(value):
            raise Unsafe(f"The text '{text[:60]}' has a {name} that could fetch from the network: '{value[:60]}'.")
    if not _TAG_END.match(tag, place):
        raise Unsafe(
            f"The text '{text[:60]}' has the tag '{tag[:60]}', whose attributes cannot be read. Write each as "
            "name=\"value\", such as style=\"color:red\", or write '&lt;' for a plain '<'."
        )


def _check_whole(text: str, start: int, end: int) -> None:
    """Refuse a tag that begins between ``start`` and ``end`` and does not end: another text could complete it."""
    begun = text.rfind("<", start, end)
    if begun < 0:
        return
    found = _TAG_NAME.match(text, begun + 1, end)
    name, ended = (found.group(1).lower(), found.group(2)) if found else ("", "")
    if name in _TAGS if ended else any(tag.startswith(name) for tag in _TAGS):
        raise Unsafe(f"The text '{text[:60]}' begins a tag and does not end it. For a plain '<' write '&lt;'.")


def _check_formula(text: str) -> None:
    """Refuse TeX commands that link, fetch or style. A page may join several texts, so a cut command counts too."""
    cut = (found.group(1).lower() for found in _TEX_CUT.finditer(text))
    if _TEX.search(text) or any(command.startswith(begun) for begun in cut for command in _COMMANDS):
        raise Unsafe(f"The text '{text[:60]}' has a TeX command that can link, fetch or style. Leave it out.")


def _fetches(style: str) -> bool:
    """Whether a style may do more than name colours and sizes: it has a function other than a colour, or an escape
    that could hide one."""
    if any(mark in style for mark in ("\\", "@", "&", "/*")):
        return True
    place = style.find("(")
    while place >= 0:
        if not _COLOUR.search(style[max(0, place - 6) : place]):
            return True
        place = style.find("(", place + 1)
    return False
