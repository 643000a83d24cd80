"""The header with which a program says that an assistant asks through it: its client, its tool and its session.

Whoever has a key may leave the header out, so it gives no right and takes none away. With it, every request is in the
audit log, also one that only reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

HEADER = "x-assistant"
NAMES = ("client", "tool", "session")
_LONGEST = 80


def written(client: str, tool: str, session: str | None = None) -> str:
    """The value of the header."""
    said = {"client": client, "tool": tool, **({} if session is None else {"session": session})}
    return urlencode({name: text[:_LONGEST] for name, text in said.items()})


def read(headers: Mapping[str, str]) -> dict[str, str]:
    """What the headers of a request say of an assistant, as details for the audit log; empty without the header."""
    text = headers.get(HEADER)
    if text is None:
        return {}
    # A header of another form still says that it was an assistant.
    said = dict(parse_qsl(text[: 8 * _LONGEST])) or {"client": text[:_LONGEST]}
    found = {name: _printable(said[name]) for name in NAMES if name in said}
    return {"assistant": found.pop("client", "unknown"), **found}


def _printable(text: str) -> str:
    return "".join(letter for letter in text[:_LONGEST] if letter.isprintable())
