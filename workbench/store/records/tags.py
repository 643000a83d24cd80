"""Tags: trimmed, one spelling each in a project, in alphabetical order, at most 50 of at most 50 characters."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from ...errors import BadRequest
from ...records import Measurement
from ...records.values import clean_text, composed
from ...table import Plain
from ..scope import Scope
from .tables import fold, reach

MOST = 50
LONGEST = 50


def tidy(
    db: sqlite3.Connection, given: Plain, scope: Scope, project: str | None, *, but: str | None = None
) -> list[str]:
    """The tags as they are stored. A tag that the project has already keeps its spelling.

    Raises
    ------
    BadRequest
        For a tag that is not a text, blank or too long, or for too many tags.
    """
    if not isinstance(given, list | tuple):
        raise BadRequest("Tags must be a list of texts.")
    wanted: dict[str, str] = {}
    for tag in given:
        text = _one(tag)
        wanted.setdefault(fold(text), text)
    if len(wanted) > MOST:
        raise BadRequest(f"A measurement has at most {MOST} tags; these are {len(wanted)}. Leave some out.")
    known = spellings(db, scope, project, but) if wanted else {}
    return sorted((known.get(key, text) for key, text in wanted.items()), key=lambda tag: (fold(tag), tag))


def _one(tag: Plain) -> str:
    if not isinstance(tag, str):
        raise BadRequest(f"A tag is a text, not {tag!r}.")
    text = tag.strip()
    if not text:
        raise BadRequest("A tag must not be blank.")
    if len(text) > LONGEST:
        raise BadRequest(f"A tag has at most {LONGEST} characters, '{text[:60]}' has {len(text)}.")
    try:
        return composed(clean_text(text))
    except ValueError as error:
        raise BadRequest(str(error)) from None


def spellings(
    db: sqlite3.Connection, scope: Scope, project: str | None, but: str | None = None
) -> Mapping[str, str]:
    """The tags of a project by their folded form; of several spellings that of the oldest measurement."""
    clause, params = reach(Measurement, scope)
    rows = db.execute(
        f"SELECT j.value FROM measurements AS t, json_each(t.tags) AS j WHERE {clause} "  # noqa: S608
        "AND t.project_id IS ? AND t.id IS NOT ? ORDER BY t.created_at DESC",
        [*params, project, but],
    )
    return {fold(composed(tag)): tag for (tag,) in rows}


def usage(db: sqlite3.Connection, scope: Scope) -> list[tuple[str, int]]:
    """Tags in reach and how many measurements have them, most used first."""
    clause, params = reach(Measurement, scope)
    rows = db.execute(
        f"SELECT j.value, count(*) FROM measurements AS t, json_each(t.tags) AS j WHERE {clause} "  # noqa: S608
        "GROUP BY j.value ORDER BY count(*) DESC, j.value",
        params,
    )
    return [(tag, count) for tag, count in rows]
