"""Rules between records: unique names, links that fit together, and fields that only the store sets."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...errors import BadRequest, Conflict, Invalid, Problem, instead
from ...messages import with_article
from ...records import KINDS, Batch, Dashboard, Instance, Member, Plot, Record
from ...table import Plain
from ..scope import Scope
from .conditions import equal
from .edits import was_deleted
from .tables import encode, stored, unique_terms


@dataclass(frozen=True)
class Holder:
    """The record that already has the unique values. With ``reuse`` it is the answer in place of a new one."""

    id: str
    message: str
    reuse: bool


def holder(db: sqlite3.Connection, record: Record, before: Record | None = None) -> Holder | None:
    """The other record with the same unique values, if there is one. Two spellings of a name are the same, unless older
    versions wrote both: what the record had ``before`` it may keep."""
    cls = type(record)
    row = encode(record)
    had = {} if before is None else encode(before)
    for rule in cls.unique:
        terms = unique_terms(cls, rule)
        given = [row[column] for _, column in terms]
        if any(row[column] is None and "COALESCE" not in term for term, column in terms):
            continue
        if had and given == [had[column] for _, column in terms]:
            continue
        tests = [equal(term, "" if row[column] is None else row[column]) for term, column in terms]
        test = " AND ".join(text for text, _ in tests)
        found = db.execute(
            f'SELECT id, name FROM "{cls.table}" WHERE {test} AND id <> ?',  # noqa: S608
            [*(value for _, values in tests for value in values), record.id],
        ).fetchone()
        if found is not None:
            return Holder(found[0], _taken(cls, rule.fields, found[1]), rule.reuse)
    return None


def check_new_id(db: sqlite3.Connection, id: str) -> None:
    """Refuse an id that is not a UUID, or that any record has or a plot had: sessions, stars and passports of figures
    may still name that plot. Samples know their owner by its id alone. The answer is the same for all of them, so it
    does not say which it is.

    Raises
    ------
    Invalid, Conflict
    """
    try:
        plain = str(uuid.UUID(id)) == id
    except ValueError:
        plain = False
    if not plain:
        raise Invalid(Problem(("id",), f"'{id}' is not a UUID in its usual form.", "uuid_parsing"))
    each = " UNION ALL ".join(f'SELECT 1 FROM "{cls.table}" WHERE id = ?' for cls in KINDS.values())  # noqa: S608
    if db.execute(each, [id] * len(KINDS)).fetchone() or was_deleted(db, Plot, id):
        raise Conflict(f"The id '{id}' is taken, or was once. Give another one.", id)


def apart(record: Record) -> str:
    """The id of a record beside others of its name, with what it belongs to."""
    for word, field in (
        ("cell", "instance_name"),
        ("batch", "batch_name"),
        ("specification", "specification_name"),
    ):
        if name := getattr(record, field, None):
            return f"{record.id} ({word} '{name}')"
    return record.id


def _taken(cls: type[Record], fields: tuple[str, ...], name: str) -> str:
    if "content_hash" in fields:
        return f"The {cls.label} '{name}' holds the same content."
    if "name" not in fields:
        return f"The {cls.label} '{name}' has the same {fields[-1]}."
    parent = cls.parent()
    place = f" in its {KINDS[parent.link.table].label}" if parent is not None and parent.link else ""
    return f"There is {with_article(cls.label)} '{name}'{place} already."


def check_company(db: sqlite3.Connection, record: Record) -> None:
    """Refuse a record that does not fit: a batch and its cells have one specification, and a layout places only plots
    of its own dashboard.

    Raises
    ------
    BadRequest
    """
    if isinstance(record, Batch):
        _check_cells(db, record)
    if isinstance(record, Dashboard):
        _check_layout(db, record)


def check_batch(record: Instance, batch: Record) -> None:
    if getattr(batch, "specification_id", None) != record.specification_id:
        raise BadRequest(f"The batch '{batch.name}' belongs to another cell specification.")


def _check_cells(db: sqlite3.Connection, batch: Batch) -> None:
    held = "SELECT count(*) FROM instances WHERE batch_id = ? AND specification_id <> ?"
    (strangers,) = db.execute(held, [batch.id, batch.specification_id]).fetchone()
    if strangers:
        raise BadRequest(f"{strangers} cells of the batch '{batch.name}' belong to another cell specification.")


def _check_layout(db: sqlite3.Connection, board: Dashboard) -> None:
    on_board = {id for (id,) in db.execute("SELECT id FROM plots WHERE dashboard_id = ?", [board.id])}
    strangers = [tile.plot_id for tile in board.layout if tile.plot_id not in on_board]
    if strangers:
        raise BadRequest(f"The layout places '{strangers[0]}', which is not a plot of this dashboard.")


def refuse_read_only(cls: type[Record], data: Mapping[str, Plain]) -> None:
    found = [name for name in data if name in cls.members() and name not in cls.given()]
    if found:
        raise Invalid([Problem((name,), _read_only(cls, name), "read_only") for name in found])


def refuse_kept(cls: type[Record], data: Mapping[str, Plain]) -> None:
    """Refuse values for fields that come with the bytes of a record.

    Raises
    ------
    Invalid
    """
    if found := [name for name in data if name in cls.kept]:
        raise Invalid([Problem((name,), _read_only(cls, name), "read_only") for name in found])


def refuse_fixed(present: Record, changes: Mapping[str, Plain]) -> None:
    """Refuse a new value for a field that cannot change.

    Raises
    ------
    BadRequest
    """
    for name in sorted(present.fixed & changes.keys()):
        if changes[name] != getattr(present, name):
            raise BadRequest(
                f"The '{name}' of {with_article(present.label)} cannot change; make a new {present.label}."
            )


def _read_only(cls: type[Record], name: str) -> str:
    member = cls.members()[name]
    if member.through is not None:
        return f"'{name}' is read only; it comes with '{member.through.link}'."
    return f"'{name}' is read only; the store keeps it."


def check_page(cls: type[Record], order_by: str, order: str, limit: int | None, offset: int) -> None:
    if order_by not in cls.sorts:
        label = with_article(cls.label).capitalize()
        message = f"{label} is not sorted by '{order_by}'. {instead(order_by, cls.sorts, 'sort columns')}"
        raise Invalid(Problem(("order_by",), message))
    if order not in ("asc", "desc"):
        raise Invalid(Problem(("order",), f"The order is 'asc' or 'desc', not '{order}'."))
    if limit is not None and limit < 0:
        raise Invalid(Problem(("limit",), f"A page cannot have {limit} rows."))
    if offset < 0:
        raise Invalid(Problem(("offset",), f"{offset} rows cannot be skipped."))


def pointing_at(cls: type[Record]) -> Iterable[tuple[type[Record], Member]]:
    """The kinds and fields that link to this kind."""
    for other in KINDS.values():
        for member in stored(other):
            if member.link is not None and member.link.table == cls.table:
                yield other, member


def refuse_past(cls: type[Record], scope: Scope) -> None:
    """Refuse to change data through a scope that shows an earlier time."""
    if scope.as_of is not None and cls.listed_as is not None:
        raise BadRequest(
            f"The data are shown as they were; {with_article(cls.label)} can only be changed as it is now."
        )
