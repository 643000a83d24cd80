"""Records in the store: create, read, change and delete them, each in one scope and one transaction.

The class of a kind (`workbench.records`) says what it is. This module has what all kinds share: links must lead to
a record, names must be unique, and a deletion takes with it what cannot exist without the record.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, overload

from pydantic import ValidationError

from ...errors import BadRequest, Conflict, Damaged, NotFound, instead
from ...messages import as_given, with_article
from ...records import KINDS, Batch, Instance, Measurement, Organization, Plot, Record, Study, User, kind
from ...records.record import InProject
from ...table import Kind, Plain, from_micros, to_micros
from ..db import checksums
from ..db.database_file import Host
from ..scope import Scope
from ..series.series import Series
from . import edits, revisions, search
from .conditions import conditions, equal, sound
from .constraints import (
    apart,
    check_batch,
    check_company,
    check_new_id,
    check_page,
    holder,
    refuse_fixed,
    refuse_past,
    refuse_read_only,
)
from .deletion import remove
from .insertion_order import first_rows
from .listing import Listed, Listing, Narrowed
from .tables import (
    ASSIGNMENTS,
    Reading,
    Row,
    SqlValue,
    compose,
    decode,
    encode,
    json_of,
    reach,
    rows_as_dicts,
    select,
    stored,
    tables_of,
    values_of,
)
from .tags import tidy

R = TypeVar("R", bound=Record)
LOCAL_USER = "local@localhost"


@dataclass(frozen=True)
class Page(Generic[R]):
    """A page of a list: its ``items``, their ``count``, and the ``total`` number of records that match."""

    items: list[R]
    count: int
    total: int


def new_id(moment: datetime) -> str:
    """A version 7 UUID of this moment, to the microsecond: ids have the order of ``created_at``."""
    millis, micros = divmod(to_micros(moment), 1000)
    fraction = micros * 4096 // 1000
    number = (millis & (1 << 48) - 1) << 80 | 7 << 76 | fraction << 64 | 2 << 62 | secrets.randbits(62)
    text = f"{number:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


class Rows:
    """All records of a store. Every method takes the scope of its caller and uses only records in it."""

    def __init__(self, store: Host, series: Series) -> None:
        self.store = store
        self.series = series
        self._listing = Listing(store)

    def reserved_ids(self, count: int = 1) -> list[str]:
        """Ids of records that are made soon, in their order, later than those of all records that are there.

        Nothing is written for them: each commit waits for the disk.
        """
        first = max(self.store.latest() + 1, time.time_ns() // 1000)
        return [new_id(from_micros(first + place)) for place in range(count)]

    def create(
        self,
        kind: type[R] | str,
        data: Mapping[str, Plain],
        *,
        scope: Scope,
        actor: str | None = None,
        id: str | None = None,
        connection: sqlite3.Connection | None = None,
        origin: str = "save",
    ) -> R:
        """A new record of this kind.

        A record of a project goes into that of its parent, else, unless ``data`` says otherwise, into the one
        of the scope; a model or a material without a ``project_id`` belongs to the whole organization.

        Parameters
        ----------
        kind : the class, or its table, source or entity name.
        data : the fields a caller may give (`Record.given`), as Python or JSON values.
        actor : id of the user who does it.
        id : the id to use; by default a new one. One that is taken is a `Conflict`.
        connection : of a transaction that the caller holds open.
        origin : how a plot came about, kept with its revision.

        Raises
        ------
        Invalid
            With every problem of ``data``.
        NotFound
            If a link does not lead to a record in scope.
        BadRequest
            If links do not fit together, or for a bad tag.
        Conflict
            If the name is taken; ``existing_id`` is the record that has it.
        """
        cls = _class(kind)
        refuse_past(cls, scope)
        refuse_read_only(cls, data)
        with self._writing(connection) as db:
            if id is not None:
                check_new_id(db, id)
            now = self.store.clock(db)
            values = {**compose(data), "id": id or new_id(now), "created_at": now, "updated_at": now}
            if "organization_id" in cls.members():
                values |= {"organization_id": scope.organization_id, "created_by": actor}
            self._place(db, cls, values, scope)
            if "tags" in values:
                values["tags"] = tidy(db, values["tags"], scope, values.get("project_id"))
            record = cls.entered(values)
            self._check_links(db, record, scope)
            held = holder(db, record)
            if held is not None and held.reuse:
                return self._get(db, cls, held.id, scope)
            if held is not None:
                raise Conflict(held.message, held.id)
            insert(db, record)
            checksums.update(db, cls.table, [record.id])
            if isinstance(record, Plot):
                revisions.keep(db, record, origin, actor)
            self.store.bump(db, cls.table)
            seen = scope._replace(organization_id=record.id) if cls.scoping == "itself" else scope
            return self._get(db, cls, record.id, seen)

    def get(self, kind: type[R] | str, id: str, scope: Scope) -> R:
        """The record of this id. A record outside the scope is `NotFound`, as one that does not exist."""
        with self.store.snapshot() as db:
            return self._get(db, _class(kind), id, scope)

    def find(
        self, kind: type[R] | str, ref: Record | str, scope: Scope, *, where: Mapping[str, Plain] | None = None
    ) -> R:
        """The record that ``ref`` means: a record, an id or an exact name.

        Raises
        ------
        NotFound
            If no record in scope has that id or name; the message says which names are similar.
        BadRequest
            If several records have that name; the message lists their ids. ``where`` is as in `page`.
        """
        cls = _class(kind)
        wanted = ref.id if isinstance(ref, Record) else ref
        if not isinstance(wanted, str):
            label = with_article(cls.label).capitalize()
            raise BadRequest(f"{label} is named by its id, its name or the record, not by {as_given(wanted)}.")
        with self.store.snapshot() as db:
            found = self._found(db, cls, wanted, scope, where)
            if found is not None:
                return found
            clause, params = reach(cls, scope)
            names = db.execute(f'SELECT DISTINCT name FROM "{cls.table}" AS t WHERE {clause}', params)  # noqa: S608
            raise NotFound(f"There is no {cls.label} '{wanted}'. {instead(wanted, (name for (name,) in names))}")

    def existing(self, kind: type[R], wanted: str, scope: Scope, where: Mapping[str, Plain]) -> R | None:
        """The record of an id or an exact name, or None; quicker than `find` if there is none."""
        with self.store.snapshot() as db:
            return self._found(db, kind, wanted, scope, where)

    def _found(
        self, db: sqlite3.Connection, cls: type[R], wanted: str, scope: Scope, where: Mapping[str, Plain] | None
    ) -> R | None:
        if not sound(wanted):
            return None
        rows = self._select(db, cls, scope, where or {}, "AND t.id = ?", [wanted])
        for name in dict.fromkeys((wanted, wanted.strip())):  # older versions kept blanks around a name
            named, spelt = equal("t.name", name)
            rows = rows or self._select(db, cls, scope, where or {}, f"AND {named} ORDER BY t.id", spelt)
        if len(rows) == 1:
            return self._record(cls, rows[0])
        if rows:
            ids = ", ".join(apart(self._record(cls, row)) for row in rows[:10])
            raise BadRequest(f"{len(rows)} records of kind {cls.label} are called '{wanted}'; give an id: {ids}.")
        return None

    def update(
        self,
        kind: type[R] | str,
        id: str,
        changes: Mapping[str, Plain],
        scope: Scope,
        actor: str | None = None,
        *,
        connection: sqlite3.Connection | None = None,
        grew: bool = False,
    ) -> R:
        """Change the fields in ``changes`` and leave the others. An object replaces the old one whole.

        ``grew`` says that the record changes because its test goes on, not because somebody corrects it.
        A plot gets a new revision. ``changes`` of a plot may hold the ``revision`` it started from; if that is
        not the newest one, nothing changes.

        Raises
        ------
        As `create`; Conflict also for a stale revision, with both numbers in its text.
        """
        cls = _class(kind)
        changes = dict(changes)
        with self._writing(connection) as db:
            present = self._own(db, cls, id, scope)
            if isinstance(present, Plot):
                revisions.check_revision(present, changes)
            refuse_read_only(cls, changes)
            refuse_fixed(present, changes)
            return self.change(db, present, changes, scope, actor, "save", grew=grew)

    def change(
        self,
        db: sqlite3.Connection,
        present: R,
        changes: Mapping[str, Plain],
        scope: Scope,
        actor: str | None,
        origin: str,
        *,
        grew: bool = False,
    ) -> R:
        """Write a changed record, inside a transaction; ``origin`` is kept with the revision of a plot."""
        cls = type(present)
        changes = compose(changes, present.name)
        values = {member.name: getattr(present, member.name) for member in stored(cls)} | changes
        if "project_id" in changes and changes["project_id"] != _project_of(present):
            raise BadRequest(
                f"{with_article(cls.label).capitalize()} cannot move to another project; make a new one there."
            )
        if "tags" in changes:
            values["tags"] = tidy(db, changes["tags"], scope, values["project_id"], but=present.id)
        if isinstance(present, Plot):
            values["revision"] = present.revision + 1
        record = cls.entered(values, present)
        if encode(record) == encode(present):
            return present
        self._check_links(db, record, scope)
        held = holder(db, record, present)
        if held is not None:
            raise Conflict(held.message, held.id)
        record.updated_at = self.store.clock(db)
        edits.note(db, present, to_micros(record.updated_at), grew=grew)
        _replace(db, record)
        checksums.update(db, cls.table, [record.id])
        if isinstance(record, Plot):
            revisions.keep(db, record, origin, actor)
        self.store.bump(db, cls.table)
        return self._get(db, cls, present.id, scope)

    def delete(
        self,
        kind: type[Record] | str,
        id: str,
        scope: Scope,
        *,
        connection: sqlite3.Connection | None = None,
    ) -> dict[str, int]:
        """Delete a record and what cannot exist without it. Returns how many records were deleted, by table.

        A specification takes its batches and cells with it, a cell its measurements, a measurement its series
        and analyses, a material its property sets, a dashboard its plots, a project all it holds. What is only
        linked stays, without the link: the cells of a batch, the simulations of a model or specification, the
        specifications made of a material, the drive cycles cut from a measurement, what a study holds.
        """
        cls = _class(kind)
        if cls in (Organization, User):
            raise BadRequest(
                f"{with_article(cls.label).capitalize()} cannot be deleted, because its records need it."
            )
        gone: dict[str, list[str]] = {}
        touched: set[str] = set()
        with self._writing(connection) as db:
            self._own(db, cls, id, scope)
            remove(db, self.series, cls, [id], gone, touched, self.store.tick(db))
            self.store.bump(db, *sorted(touched | set(gone)))
        if connection is None:
            self.series.tidy()
        return {table: len(ids) for table, ids in gone.items()}

    def page(
        self,
        kind: type[R] | str,
        scope: Scope,
        *,
        where: Mapping[str, Plain] | None = None,
        order_by: str = "created_at",
        order: str = "asc",
        limit: int | None = 100,
        offset: int = 0,
    ) -> Page[R]:
        """A page of records of a kind. Records with equal sort values have the order of ids, so pages never overlap.

        Parameters
        ----------
        where : field -> value (equal; None for null) or a mapping of comparisons: ``contains`` (case ignored),
            ``in``, ``gt``, ``gte``, ``lt``, ``lte``; for ``tags`` ``all`` and ``any``. ``study_id`` keeps what
            is assigned to that study.
        order_by : one of the kind's `sorts`. order : ``asc`` or ``desc``.
        limit : at most so many; None for all. offset : so many are skipped.

        Raises
        ------
        Invalid
            For an unknown field, comparison, sort column or direction, or a value of the wrong type.
        """
        cls = _class(kind)
        check_page(cls, order_by, order, limit, offset)
        shown, reading = Reading(cls, scope.as_of), Reading(cls, scope.as_of)
        columns = select(shown, list(cls.members()))  # among them those that can be sorted by
        filters = conditions(reading, scope, where or {})
        direction = order.upper()
        sort = "t.name_folded" if order_by == "name" else reading.field(order_by)
        sorted_by = f"ORDER BY {sort} {direction}, t.id {direction}"
        with self.store.snapshot() as db:
            narrowed = Narrowed(reading.source(), cls, scope, [filters])
            # They are chosen first, so that joins and counts are made only for them.
            if (
                limit is not None
                and order_by == "created_at"
                and not where
                and self._listing.order.holds(db, cls.table)
            ):
                chosen, bound = first_rows(
                    narrowed.source, narrowed.parts, narrowed.rest, direction, limit, offset
                )
            else:
                chosen = (
                    f"SELECT t.rowid FROM {narrowed.source} WHERE {narrowed.clause} {sorted_by} LIMIT ? OFFSET ?"  # noqa: S608
                )
                bound = [*narrowed.params, -1 if limit is None else limit, offset]
            statement = f"SELECT {columns} FROM {shown.source()} WHERE t.rowid IN ({chosen}) {sorted_by}"  # noqa: S608
            found = rows_as_dicts(db.execute(statement, bound))
            self._check_used(db, cls, found)
            total = len(found) + offset
            if (offset and not found) or (limit is not None and len(found) == limit):
                total = self._listing.total(narrowed, _tables_of(cls, where or {}))
        items = [self._record(cls, row) for row in found]
        return Page(items, len(items), total)

    def parts(
        self,
        kind: type[Record],
        scope: Scope,
        fields: Sequence[str],
        within: str,
        paths: Sequence[str],
        **where: Plain,
    ) -> list[tuple[Plain, ...]]:
        """Fields of records, and parts of one JSON value of theirs, without reading the rest of it; the oldest first.

        Parameters
        ----------
        within : the field that holds JSON.
        paths : two or more, dotted, such as ``workbench.state``. What is not there is None.
        where : as for `page`.
        """
        cls = _class(kind)
        reading = Reading(cls, scope.as_of)
        columns = select(reading, fields)
        asked = ", ".join(f"'$.{path}'" for path in paths)
        clause, params = conditions(reading, scope, where)
        taken = f"json_extract({reading.field(within)}, {asked})"
        with self.store.snapshot() as db:
            chosen = f"SELECT t.rowid FROM {reading.source()} WHERE {clause}"  # noqa: S608
            self.store.check_used(db, cls.table, chosen, params)
            statement = f"SELECT {columns}, {taken} FROM {reading.source()} WHERE {clause}"  # noqa: S608
            found = db.execute(f"{statement} ORDER BY t.created_at, t.id", params).fetchall()
        return [(*row[:-1], *json_of(row[-1])) for row in found]

    def assign(self, study: str, kind: type[Record] | str, id: str, scope: Scope) -> None:
        """Put a measurement or a simulation into a study. Doing it twice changes nothing."""
        self._assign(study, _class(kind), id, scope, "INSERT OR IGNORE INTO {table} VALUES (?, ?)")

    def unassign(self, study: str, kind: type[Record] | str, id: str, scope: Scope) -> None:
        """Take a measurement or a simulation out of a study; the record itself stays."""
        self._assign(study, _class(kind), id, scope, 'DELETE FROM {table} WHERE "study_id" = ? AND {column} = ?')

    def _assign(self, study: str, cls: type[Record], id: str, scope: Scope, statement: str) -> None:
        table = f"study_{cls.table}"
        if table not in ASSIGNMENTS:
            raise BadRequest(f"A study holds measurements and simulations, not {with_article(cls.label)}.")
        _, _, column = ASSIGNMENTS[table]
        with self.store.transaction() as db:
            owner = self._get(db, Study, study, scope)
            record = self._get(db, cls, id, scope)
            if _project_of(record) not in (None, owner.project_id):
                raise BadRequest(f"This {cls.label} belongs to another project than the study.")
            changed = db.execute(statement.format(table=table, column=f'"{column}"'), [study, id]).rowcount
            if changed:
                self.store.bump(db, "studies", table)

    def organizations(self) -> list[Organization]:
        """All organizations of the store, the oldest first. From them a caller gets the scopes that exist."""
        with self.store.snapshot() as db:
            rows = db.execute('SELECT * FROM "organizations" ORDER BY id')
            return [self._record(Organization, row) for row in rows_as_dicts(rows)]

    def user(self, email: str) -> User:
        """The user of this address, case ignored."""
        with self.store.snapshot() as db:
            rows = rows_as_dicts(db.execute("SELECT * FROM users WHERE email = ?", [email.lower()]))
        for row in rows:
            return self._record(User, row)
        raise NotFound(f"There is no user '{email}'.")

    def plan_list(
        self,
        source: str,
        scope: Scope,
        where: Mapping[str, Plain],
        fields: Sequence[str] | None,
        limit: int | None,
    ) -> Listed:
        """The rows of a list step; see `Listing.plan_list`."""
        return self._listing.plan_list(source, scope, where, fields, limit)

    def columns(self, source: str, scope: Scope) -> dict[str, Kind]:
        """The columns of a list source, without open names; see `Listing.columns`."""
        return self._listing.columns(source)

    def dependencies(
        self, source: str, fields: Iterable[str] | None = None, where: Iterable[str] | None = None
    ) -> tuple[str, ...]:
        """The tables that a list of this source is read from; see `Listing.dependencies`."""
        return self._listing.dependencies(source, fields, where)

    def of_content(self, content_hash: str, scope: Scope) -> Measurement | None:
        """The measurement of the scope's project that was read from this content, if there is one."""
        found = self.page(Measurement, scope, where={"content_hash": content_hash}, limit=None).items
        return next((item for item in found if item.project_id == scope.project_id), None)

    def blobs(self) -> set[str]:
        """The hashes of all stored bytes that a record refers to."""
        with self.store.snapshot() as db:
            rows = db.execute(
                "SELECT json_extract(value, '$.piece') FROM measurements, json_each(files) "
                "UNION SELECT piece FROM raw_data UNION SELECT piece FROM attachments WHERE owner IN "
                "(SELECT id FROM material_properties UNION SELECT id FROM models) "
                "UNION SELECT piece FROM upload_objects WHERE piece IS NOT NULL"
            )
            return {blob for (blob,) in rows}

    @contextmanager
    def _writing(self, connection: sqlite3.Connection | None) -> Iterator[sqlite3.Connection]:
        if connection is not None:
            yield connection
            return
        with self.store.transaction() as db:
            yield db

    def _select(
        self,
        db: sqlite3.Connection,
        cls: type[Record],
        scope: Scope,
        where: Mapping[str, Plain],
        tail: str,
        params: Sequence[SqlValue],
    ) -> list[Row]:
        reading = Reading(cls, scope.as_of)
        columns = select(reading, list(cls.members()))
        clause, bound = conditions(reading, scope, where)
        statement = f"SELECT {columns} FROM {reading.source()} WHERE {clause} {tail}"  # noqa: S608
        found = rows_as_dicts(db.execute(statement, [*bound, *params]))
        self._check_used(db, cls, found)
        return found

    def _check_used(self, db: sqlite3.Connection, cls: type[Record], rows: Sequence[Row]) -> None:
        if self.store.unverified:
            chosen = f'SELECT rowid FROM "{cls.table}" WHERE id IN (SELECT value FROM json_each(?))'  # noqa: S608
            self.store.check_used(db, cls.table, chosen, [values_of(row["id"] for row in rows)])

    def _get(self, db: sqlite3.Connection, cls: type[R], id: str, scope: Scope) -> R:
        rows = self._select(db, cls, scope, {}, "AND t.id = ?", [id]) if isinstance(id, str) and sound(id) else []
        if not rows:
            raise NotFound(f"There is no {cls.label} '{id}'.")
        return self._record(cls, rows[0])

    def _own(self, db: sqlite3.Connection, cls: type[R], id: str, scope: Scope) -> R:
        """A record that the scope's organization may also change."""
        refuse_past(cls, scope)
        record = self._get(db, cls, id, scope)
        if cls.shared and getattr(record, "organization_id", None) is None:
            raise BadRequest(
                f"The {cls.label} '{record.name}' belongs to the system and cannot be changed; make your own from it."
            )
        return record

    def _record(self, cls: type[R], row: Row) -> R:
        try:
            return cls.model_validate(decode(cls, row))
        except (ValidationError, ValueError, TypeError, Damaged) as error:
            raise Damaged(f"The {cls.label} '{row['id']}' is damaged: {error}") from None

    def _place(self, db: sqlite3.Connection, cls: type[Record], values: dict[str, Plain], scope: Scope) -> None:
        """Set the project of a new record."""
        if cls.scoping != "project":
            return
        parent = cls.parent()
        owner: Record | None = None
        if parent is not None and parent.link is not None and isinstance(values.get(parent.name), str):
            owner = self._get(db, KINDS[parent.link.table], values[parent.name], scope)
        inherited = None if owner is None else _project_of(owner)
        default = inherited or (None if cls.everywhere else scope.project_id)
        wanted = values.setdefault("project_id", default)
        if inherited is not None and wanted != inherited:
            raise BadRequest(
                f"This {cls.label} must be in the same project as its parent; leave out 'project_id'."
            )
        if wanted is not None and wanted != scope.project_id:
            raise NotFound(f"There is no project '{wanted}'.")

    def _check_links(self, db: sqlite3.Connection, record: Record, scope: Scope) -> None:
        project = _project_of(record)
        for member in stored(type(record)):
            target = getattr(record, member.name)
            if member.link is None or target is None or member.name in ("organization_id", "created_by"):
                continue
            linked = self._get(db, KINDS[member.link.table], target, scope)
            if type(record).scoping == "project" and _project_of(linked) not in (None, project):
                raise BadRequest(
                    f"'{member.name}' is {with_article(linked.label)} of one project, which "
                    f"{with_article(record.label)} that all projects share cannot point to."
                )
            if isinstance(record, Instance) and isinstance(linked, Batch):
                check_batch(record, linked)
        check_company(db, record)


def _tables_of(cls: type[Record], where: Mapping[str, Plain]) -> Iterator[str]:
    """The tables that filters of a page look at."""
    members = cls.members()
    yield from (cls.table, "studies", *tables_of(cls, [members[name] for name in where if name in members]))


def insert(db: sqlite3.Connection, record: Record) -> None:
    """Write a new record and its entry in the search."""
    row = encode(record)
    names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
    db.execute(f'INSERT INTO "{record.table}" ({names}) VALUES ({marks})', list(row.values()))  # noqa: S608
    search.index(db, record)


def _replace(db: sqlite3.Connection, record: Record) -> None:
    row = encode(record)
    changes = ", ".join(f'"{name}" = ?' for name in row)
    db.execute(f'UPDATE "{record.table}" SET {changes} WHERE id = ?', [*row.values(), record.id])  # noqa: S608
    search.index(db, record)


def _project_of(record: Record) -> str | None:
    return record.project_id if isinstance(record, InProject) else None


@overload
def _class(name: type[R]) -> type[R]: ...
@overload
def _class(name: str) -> type[Any]: ...
def _class(name: type[Record] | str) -> type[Record]:
    """A kind by its class or by one of its names. A name says nothing about its type."""
    return kind(name) if isinstance(name, str) else name
