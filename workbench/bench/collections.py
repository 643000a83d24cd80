"""The collections of a bench: records by kind, listed as frames, made and changed by name."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pandas as pd

from ..errors import BadRequest, instead
from ..recipe.filters import APPLIES
from ..records import KINDS, Record
from ..transform.frames import frame_of

if TYPE_CHECKING:
    from ..backend import Backend

R = TypeVar("R", bound=Record)
Ref = str | Record


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _for_people(frame: pd.DataFrame) -> pd.DataFrame:
    """Its columns as one looks for them: names, what is known, who made it and when, ids."""

    def place(column: object) -> int:
        name = str(column)
        if name == "id" or name.endswith(("_id", "_ids")):
            return 3
        if name.startswith(("created_", "updated_")):
            return 2
        return 0 if name == "name" or name.endswith("_name") else 1

    return frame[sorted(frame.columns, key=place)]


class Collection(Generic[R]):
    """All records of one kind in reach of the bench."""

    def __init__(self, backend: Backend, kind: type[R]) -> None:
        self._backend = backend
        self.kind = kind

    def __repr__(self) -> str:
        return f"<{self.kind.table}: {self._backend.count(self.kind)} records>"

    def list(
        self, *, fields: Iterable[str] | None = None, limit: int | None = None, **filters: Any
    ) -> pd.DataFrame:
        """The records as a frame, oldest first; all of them unless ``limit`` is given.

        ``filters`` are the keys of a recipe's Filters in snake case (``name_contains="RPT"``, ``batch="A"``);
        ``fields`` names columns, dotted ones too (``ratings.capacity.value``); without it names come first and
        ids last.

        Raises
        ------
        BadRequest, Invalid
            For a filter or field that this kind does not have, with those it has.
        """
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
            raise BadRequest(f"'limit' is how many records there may be, a whole number from 0, not {limit!r}.")
        source = self.kind.listed_as
        if source is None:
            if filters.keys() - {"name", "name_contains"}:
                unknown = sorted(filters.keys() - {"name", "name_contains"})[0]
                raise BadRequest(
                    f"'{unknown}' is no filter of {self.kind.table}. {instead(unknown, ['name', 'name_contains'])}"
                )
            found = frame_of(self._backend.table(self.kind, filters, fields=_listed(fields), limit=limit))
            return found if fields is not None else _for_people(found)
        known = {_snake(key): key for key, sources in APPLIES.items() if source in sources}
        where = {}
        for name, value in filters.items():
            if name not in known:
                raise BadRequest(f"'{name}' is no filter of {self.kind.table}. {instead(name, known, 'filters')}")
            where[known[name]] = _ids(value)
        found = frame_of(self._backend.listing(source, where, _listed(fields), limit))
        return found if fields is not None else _for_people(found)

    def get(self, ref: Ref) -> R:
        """The record of an id or a name.

        Raises
        ------
        NotFound
            If there is none in reach; the text offers the nearest names.
        """
        return self._backend.get(self.kind, ref)

    def create(self, **fields: Any) -> R:
        """Make a record and answer it. A link takes an id, a name or a record (``instance="M50-A-01"``).

        Raises
        ------
        Conflict
            If the name is taken; ``existing_id`` tells by whom.
        Invalid
            With all that is wrong in the fields.
        """
        return self._backend.create(self.kind, self._linked(fields))

    def update(self, ref: Ref, **changes: Any) -> R:
        """Change the named fields of a record and answer it; nothing else changes."""
        return self._backend.update(self.kind, ref, self._linked(changes))

    def delete(self, ref: Ref) -> None:
        """Delete a record and what belongs to it alone (its measurements, series, plots)."""
        self._backend.delete(self.kind, ref)

    def _linked(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        resolved = {}
        members = self.kind.members()
        for name, value in fields.items():
            field = name if name in members else f"{name}_id"
            member = members.get(field)
            own = field in self.kind.by_store  # refused by the store itself, in its words
            if member is not None and member.link is not None and value is not None and not own:
                resolved[field] = self._backend.get(KINDS[member.link.table], value).id
            else:
                resolved[name] = value
        return resolved


def _listed(fields: Iterable[str] | None) -> builtins.list[str] | None:
    if isinstance(fields, str):
        return [fields]
    return None if fields is None else [*fields]


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _ids(value: Any) -> Any:
    if isinstance(value, Record):
        return value.id
    if isinstance(value, pd.Series | pd.Index):
        return value.tolist()
    if isinstance(value, tuple | set | builtins.list):
        return [item.id if isinstance(item, Record) else item for item in value]
    return value
