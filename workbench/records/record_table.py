"""Records of one kind as a table, a column for each field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import BadRequest, instead
from ..table import Column, Kind, Table
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


def _column(values: list[Any], kind: Kind) -> Column:
    """A column of this kind; other values than scalars (a date) are given as text."""
    if kind == "text":
        return Column.text([None if value is None else str(value) for value in values])
    return Column.from_python(values, kind)
