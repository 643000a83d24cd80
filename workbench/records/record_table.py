"""Records of one kind as a table, a column for each field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import BadRequest, Invalid, Problem, instead
from ..table import Column, Kind, Plain, Table
from .record import Record


def tabulated(kind: type[Record], items: Sequence[Record], fields: list[str] | None) -> Table:
    """Records as a table of their flat fields, or of those named.

    Raises
    ------
    BadRequest
        For a field that the kind does not have.
    """
    members = kind.members()
    flat = [name for name, member in members.items() if member.storage != "json" and not member.aside]
    chosen = flat if fields is None else fields
    if unknown := [name for name in chosen if name not in members]:
        raise BadRequest(
            f"'{unknown[0]}' is not a field of {kind.table}. {instead(unknown[0], members, 'fields')}"
        )
    return Table(
        {name: _column([getattr(i, name) for i in items], members[name].kind) for name in chosen}, len(items)
    )


def named(filters: Mapping[str, Plain]) -> dict[str, dict[str, Any]]:
    """The filters ``name`` and ``name_contains`` as the condition of a page. As in a plan, null says nothing, and
    what is not a text matches nothing.

    Raises
    ------
    Invalid
        For a list, since each takes one value.
    """
    given = {name: filters[name] for name in ("name", "name_contains") if filters.get(name) is not None}
    problems = [
        Problem(("where", name), f"'{name}' takes one value, not a list.")
        for name, value in given.items()
        if isinstance(value, Mapping | list | tuple)
    ]
    if problems:
        raise Invalid(problems)
    found: dict[str, Any] = {"in": [given["name"]]} if "name" in given else {}
    part = given.get("name_contains", "")
    if not isinstance(part, str):
        found["in"] = []
    elif part:
        found["contains"] = part
    return {"name": found} if found else {}


def _column(values: list[Any], kind: Kind) -> Column:
    """A column of this kind; other values than scalars (a date) are given as text."""
    if kind == "text":
        return Column.text([None if value is None else str(value) for value in values])
    return Column.from_python(values, kind)
