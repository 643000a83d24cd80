"""The records of one kind: ``bench.batches.list()``, ``.get()``, ``.create()``, ``.update()``, ``.delete()``."""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, time
from operator import index
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from pydantic import JsonValue

from ..errors import BadRequest, Invalid, Problem, instead
from ..messages import counted
from ..moments import python_time
from ..quick_import import later
from ..recipe.jsontext import plain
from ..records import KINDS, Record
from .recipe_input import ParamValue, Unchecked

if TYPE_CHECKING:
    import pandas as pd

    from ..backend import Backend
    from ..transform import frames
else:  # pandas waits for the first frame
    pd = later("pandas")
    frames = later("workbench.transform.frames")

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)

_MOST_ROWS = 2**63 - 1
"""No store has more, and none takes a larger number."""
R = TypeVar("R", bound=Record)
Ref = str | Record
FilterValue: TypeAlias = ParamValue | Record | Sequence[Record]
"""What a filter takes: a value or a list of them; in place of an id also a record."""


def _for_people(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its columns in this order: names, properties, times and authors, ids."""

    def place(column: object) -> int:
        name = str(column)
        if name == "id" or name.endswith(("_id", "_ids")):
            return 3
        if name.startswith(("created_", "updated_")):
            return 2
        return 0 if name == "name" or name.endswith("_name") else 1

    return frame[sorted(frame.columns, key=place)]


class Collection(Generic[R]):
    """All records of one kind that the bench can reach."""

    def __init__(self, backend: Backend, kind: type[R]) -> None:
        self._backend = backend
        self.kind = kind

    def __repr__(self) -> str:
        return f"<{self.kind.table}: {counted(self._backend.count(self.kind), 'record')}>"

    def list(
        self, *, fields: Iterable[str] | None = None, limit: int | None = None, **filters: FilterValue
    ) -> pd.DataFrame:
        """The records as a frame, the oldest first.

        Parameters
        ----------
        fields : the columns, also dotted ones (``ratings.capacity.value``). By default all plain fields, names first
            and ids last.
        limit : the most records; by default all of them.
        filters : the keys of a recipe's Filters in snake case (``name_contains="RPT"``, ``batch="A"``). Those of ids
            take names and records too (``instance_ids="M50-A-01"``).

        Raises
        ------
        BadRequest, Invalid
            For a filter or a field that this kind does not have; the message names those that it has.
        NotFound
            For a name in a filter of ids that no record has.
        """
        limit = None if limit is None else _most(limit)
        source = self.kind.listed_as
        if source is None:
            self._refuse_unknown(filters, ["name", "name_contains"])
            where = filters_of(filters)
            found = frames.frame_of(self._backend.table(self.kind, where, fields=listed(fields), limit=limit))
        else:
            known = {_snake(key): key for key in self.kind.filters}
            self._refuse_unknown(filters, known)
            where = self._by_id(filters_of({known[name]: value for name, value in filters.items()}))
            found = frames.frame_of(self._backend.listing(source, where, listed(fields), limit))
        return found if fields is not None else _for_people(found)

    def _by_id(self, where: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """The filters with an id in place of each name: a plan takes ids, and a name would match nothing."""
        found = dict(where)
        for key, value in where.items():
            field, match = self.kind.filters[key].field, self.kind.filters[key].match
            if not field.endswith("id") or match not in ("in", "equal", "study"):
                continue
            kind = self.kind if field == "id" else KINDS[f"{field.removesuffix('_id')}s"]
            kind = KINDS["studies"] if match == "study" else kind
            found[key] = (
                [self._id(kind, one) for one in value] if isinstance(value, list) else self._id(kind, value)
            )
        return found

    def _id(self, kind: type[Record], value: JsonValue) -> JsonValue:
        return self._backend.get(kind, value).id if isinstance(value, str) and not _UUID.match(value) else value

    def _refuse_unknown(self, filters: Iterable[str], known: Iterable[str]) -> None:
        if unknown := [name for name in filters if name not in known]:
            raise BadRequest(
                f"'{unknown[0]}' is not a filter of {self.kind.table}. {instead(unknown[0], known, 'filters')}"
            )

    def get(self, ref: Ref) -> R:
        """The record of an id or a name.

        Raises
        ------
        NotFound
            If there is none; the message names the nearest.
        """
        return self._backend.get(self.kind, ref)

    def create(self, **fields: Unchecked) -> R:
        """Create a record and return it. A link takes an id, a name or a record (``instance="M50-A-01"``).

        Raises
        ------
        Conflict
            If the name is taken; ``existing_id`` is the id of the record that has it.
        Invalid
            With everything that is wrong with the fields.
        """
        with self._links_by_name():
            return self._backend.create(self.kind, self._linked(fields))

    def update(self, ref: Ref, **changes: Unchecked) -> R:
        """Change the named fields of a record and return it. All other fields stay as they are."""
        return self._backend.update(self.kind, ref, self._linked(changes))

    def delete(self, ref: Ref) -> None:
        """Delete a record and everything that belongs only to it, such as its measurements, samples and plots."""
        self._backend.delete(self.kind, ref)

    @contextmanager
    def _links_by_name(self) -> Iterator[None]:
        """An error about a link that is missing names it as it is given here: ``instance``, not ``instance_id``."""
        try:
            yield
        except Invalid as error:
            raise Invalid([self._by_name_of_link(problem) for problem in error.problems]) from None

    def _by_name_of_link(self, problem: Problem) -> Problem:
        field = problem.loc[0] if len(problem.loc) == 1 else None
        member = self.kind.members().get(str(field))
        if problem.type != "missing" or member is None or member.link is None:
            return problem
        name, label = str(field).removesuffix("_id"), KINDS[member.link.table].label
        return replace(problem, loc=(name,), msg=f"'{name}' is missing: the name or the id of the {label}.")

    def _linked(self, fields: Mapping[str, Unchecked]) -> dict[str, Unchecked]:
        resolved: dict[str, Unchecked] = {}
        members = self.kind.members()
        for name, value in fields.items():
            field = name if name in members else f"{name}_id"
            member = members.get(field)
            own = field in self.kind.by_store  # the store itself refuses it
            if member is not None and member.link is not None and value is not None and not own:
                resolved[field] = self._backend.get(KINDS[member.link.table], value).id
            else:
                resolved[name] = _as_python(value, is_day=member is not None and member.storage == "date")
        return resolved


def _as_python(value: Unchecked, *, is_day: bool) -> Unchecked:
    """A value of numpy or pandas as Python has it: an array or a column is a list, midnight a day where one is due."""
    value = python_time(value)
    if is_day and isinstance(value, datetime) and value.time() == time.min:
        return value.date()
    return value.tolist() if hasattr(value, "tolist") else value


def _most(limit: int) -> int:
    """The most records to list. A number out of a frame is numpy's."""
    try:
        most = -1 if isinstance(limit, bool) else index(limit)
    except TypeError:
        most = -1
    if most < 0:
        raise BadRequest(f"'limit' is the most records to list: a whole number from 0, not {limit!r}.")
    return min(most, _MOST_ROWS)


def listed(fields: Iterable[str] | None, what: str = "fields") -> builtins.list[str] | None:
    """Names as a list; one name is a list of one. ``what`` is what the caller calls them."""
    if isinstance(fields, str):
        return [fields]
    if fields is not None and not isinstance(fields, Iterable):
        raise BadRequest(f"'{what}' is a list of names of columns, not {fields!r:.40}.")
    names = None if fields is None else [*fields]
    if names is not None and (wrong := [name for name in names if not isinstance(name, str)]):
        raise BadRequest(f"'{what}' is a list of names of columns, and {wrong[0]!r:.40} is not a name.")
    return names


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def filters_of(given: Mapping[str, FilterValue]) -> dict[str, JsonValue]:
    """Filters as JSON values, near as far: arrays and pandas columns become lists, records their ids.

    Raises
    ------
    Invalid
        For a value that no record can have: it would match nothing, without a word.
    """
    if not isinstance(given, Mapping):
        raise BadRequest(f"Filters are given by name, such as {{'batch': 'A'}}, not as {given!r:.40}.")
    where, problems = plain({name: _ids(value) for name, value in given.items()}, ("where",))
    if problems:
        raise Invalid(problems)
    return dict(where) if isinstance(where, dict) else {}


def _ids(value: Unchecked) -> Unchecked:
    if isinstance(value, Record):
        return value.id
    if isinstance(value, str | bytes | Mapping):
        return value
    if hasattr(value, "tolist"):  # an array, a pandas column or one of their scalars
        value = value.tolist()
    if isinstance(value, Sequence | Set | ValuesView) and not isinstance(value, str | bytes):
        return [None if _is_missing(item) else item.id if isinstance(item, Record) else item for item in value]
    return value


def _is_missing(item: Unchecked) -> bool:
    """Whether pandas put it where a column has nothing."""
    return item is pd.NA or item is pd.NaT or (isinstance(item, float) and math.isnan(item))
