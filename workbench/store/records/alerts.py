"""Alerts of plots, what they found, and the messages to webhooks that follow.

An occurrence is an alert, a key and the first time that it was true. It is written once, in the transaction that also
queues its message, so whoever is killed has either written both or nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Literal

import orjson

from ...errors import BadRequest, NotFound
from ...recipe.jsontext import canonical
from ...records import Plot
from ...table import Plain
from ..db import checksums
from ..db.database_file import Host
from ..scope import Scope
from .rows import Rows, new_id
from .tables import Row, rows_as_dicts

State = Literal["waiting", "delivered", "failed"]
_FOUND = (
    "select o.*, a.name as alert_name, a.project_id, a.plot_id, p.dashboard_id, d.tries, d.next_at, d.delivered_at, "
    "d.problem from alert_occurrences as o join alerts as a on a.id = o.alert_id join plots as p on p.id = a.plot_id "
    "left join alert_deliveries as d on d.id = o.id"
)


@dataclass(frozen=True)
class Alert:
    """What is watched in the data of a plot. Times are microseconds since 1970.

    Attributes
    ----------
    step : the step of its plan whose rows are looked at.
    column : the column that decides; without it each row counts. Without bounds a row counts where the column is true,
        or holds anything.
    above, below, equals : bounds of the column.
    key : columns that tell one occurrence from another; None for those that name the rows of the step.
    values : chosen values of the plot.
    webhook : an address that an Admin allowed.
    problem : why the last look failed.
    seen_at : up to which time of the store it was looked at.
    """

    id: str
    project_id: str
    plot_id: str
    name: str
    step: str
    column: str | None
    above: float | None
    below: float | None
    equals: Plain
    key: tuple[str, ...] | None
    values: dict[str, Plain]
    webhook: str | None
    problem: str | None
    created_by: str
    created_at: int
    seen_at: int | None


@dataclass(frozen=True)
class Occurrence:
    """What an alert found: ``key`` and ``found`` are values of the row by column; ``id`` is also that of its message.

    ``known``: it was true when the alert was made, so it is not announced.
    """

    id: str
    alert_id: str
    alert_name: str
    project_id: str
    plot_id: str
    dashboard_id: str
    key: dict[str, Plain]
    found: dict[str, Plain]
    first_true: int
    known: bool
    acknowledged_at: int | None
    acknowledged_by: str | None
    delivery: State | None
    tries: int
    problem: str | None


@dataclass(frozen=True)
class Seen:
    """A row for which an alert is true."""

    key: Mapping[str, Plain]
    found: Mapping[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True)
class Due:
    """A message that is to be sent now."""

    occurrence: Occurrence
    address: str


@dataclass(frozen=True)
class Address:
    """Where webhooks may go: the beginning of addresses; ``private`` allows addresses of the own network."""

    address: str
    private: bool
    created_by: str
    created_at: int


class Alerts:
    """The alerts of a store."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._store: Host = rows.store

    def drafted(self, fields: Mapping[str, Plain], scope: Scope, actor: str) -> Alert:
        """An alert on a plot of the scope that is not kept yet; the names of fields are those of `Alert`.

        Raises
        ------
        NotFound
            If there is no such plot.
        """
        plot = self._rows.get(Plot, fields["plot_id"], scope)
        key = fields["key"]
        return Alert(
            id="",
            project_id=str(plot.project_id),
            plot_id=plot.id,
            name=fields["name"],
            step=fields["step"],
            column=fields["column"],
            above=fields["above"],
            below=fields["below"],
            equals=fields["equals"],
            key=None if key is None else tuple(key),
            values=fields["values"],
            webhook=fields["webhook"],
            problem=None,
            created_by=actor,
            created_at=0,
            seen_at=None,
        )

    def create(self, db: Connection, alert: Alert, scope: Scope) -> Alert:
        """Keep a drafted alert, under a new id."""
        self._rows.get(Plot, alert.plot_id, scope)
        now = self._store.clock(db)
        about = {
            name: getattr(alert, name) for name in ("step", "column", "above", "below", "equals", "key", "values")
        }
        id = new_id(now)
        row = [id, alert.project_id, alert.plot_id, alert.name, orjson.dumps(about).decode(), alert.webhook]
        db.execute(
            "insert into alerts values (?, ?, ?, ?, ?, ?, null, ?, ?, null)",
            [*row, alert.created_by, self._store.tick(db)],
        )
        checksums.update(db, "alerts", [id])
        return self.get(id, scope)

    def get(self, id: str, scope: Scope) -> Alert:
        """The alert of an id in a project; NotFound if it has none."""
        found = [one for one in self.of_project(scope) if one.id == id]
        if not found:
            raise NotFound(f"There is no alert '{id}'.")
        return found[0]

    def of_project(self, scope: Scope) -> list[Alert]:
        """The alerts of the project of a scope, the oldest first."""
        query = "select * from alerts where project_id = ? order by created_at"
        return [_alert(row) for row in rows_as_dicts(self._store.execute(query, [scope.project_id]))]

    def stale(self) -> list[tuple[Alert, Scope]]:
        """The alerts of all projects since whose last look something in the store changed, each with its scope."""
        query = (
            "select a.*, p.organization_id from alerts as a join projects as p on p.id = a.project_id "
            "where coalesce(a.seen_at, 0) < (select coalesce(max(revision), 0) from revisions) order by a.created_at"
        )
        found = rows_as_dicts(self._store.execute(query))
        return [(_alert(row), Scope(row["organization_id"], row["project_id"])) for row in found]

    def delete(self, db: Connection, id: str, scope: Scope) -> None:
        """Delete an alert with what it found."""
        self.get(id, scope)
        db.execute("delete from alerts where id = ?", [id])

    def note(
        self, db: Connection, alert: Alert, rows: Sequence[Seen], seen_at: int, *, known: bool = False
    ) -> list[Occurrence]:
        """Write those of these rows that are true for the first time, queue their messages, and note the look.

        Gives the new ones, in the order of the rows. An alert that was deleted meanwhile finds nothing.
        """
        held = db.execute("select 1 from alerts where id = ?", [alert.id]).fetchone()
        if held is None:
            return []
        made: list[str] = []
        written: list[str] = []
        for row in rows:
            id = occurrence_id(alert.id, row.key)
            entry = [id, alert.id, canonical(dict(row.key)).decode(), self._store.tick(db)]
            entry += [orjson.dumps([dict(row.key), dict(row.found)]).decode(), int(known)]
            done = db.execute(
                "insert or ignore into alert_occurrences values (?, ?, ?, ?, ?, ?, null, null)", entry
            ).rowcount
            if done:
                written.append(id)
            if done and not known:
                made.append(id)
        checksums.update(db, "alert_occurrences", written)
        if made:
            board = "(select dashboard_id from plots where id = ?)"
            db.executemany(f"insert into open_alerts values (?, {board})", [(id, alert.plot_id) for id in made])  # noqa: S608
        if alert.webhook is not None:
            now = self._store.tick(db)
            queued = [(id, alert.webhook, now) for id in made]
            db.executemany("insert into alert_deliveries values (?, ?, 0, ?, null, null)", queued)
        db.execute("update alerts set seen_at = ?, problem = null where id = ?", [seen_at, alert.id])
        checksums.update(db, "alerts", [alert.id])
        return self._found(
            "where o.id in (select value from json_each(?)) order by o.first_true", [orjson.dumps(made).decode()]
        )

    def failed(self, alert: Alert, problem: str, seen_at: int) -> None:
        """Note why a look failed; the next one comes with the next change."""
        with self._store.transaction() as db:
            db.execute("update alerts set seen_at = ?, problem = ? where id = ?", [seen_at, problem, alert.id])
            checksums.update(db, "alerts", [alert.id])

    def occurrences(
        self, scope: Scope, *, open: bool | None = None, dashboard: str | None = None
    ) -> list[Occurrence]:
        """What the alerts of a project found, the newest first; ``open``: only what nobody has acknowledged, or only
        what somebody has."""
        clause, params = "where a.project_id = ? and o.known = 0", [scope.project_id]
        if open is not None:
            clause += f" and o.acknowledged_at is {'null' if open else 'not null'}"
        if dashboard is not None:
            clause, params = f"{clause} and p.dashboard_id = ?", [*params, dashboard]
        return self._found(f"{clause} order by o.first_true desc", params)

    def acknowledge(self, db: Connection, id: str, scope: Scope, actor: str) -> Occurrence:
        """Note who has seen an occurrence; the first one counts. NotFound if the project has none of this id."""
        known = "select a.id from alerts as a where a.project_id = ?"
        done = db.execute(
            "update alert_occurrences set acknowledged_at = coalesce(acknowledged_at, ?), "  # noqa: S608
            f"acknowledged_by = coalesce(acknowledged_by, ?) where id = ? and known = 0 and alert_id in ({known})",
            [self._store.tick(db), actor, id, scope.project_id],
        ).rowcount
        if not done:
            raise NotFound(f"No alert has found '{id}' here.")
        checksums.update(db, "alert_occurrences", [id])
        db.execute("delete from open_alerts where id = ?", [id])
        return self._found("where o.id = ?", [id])[0]

    def _found(self, tail: str, params: Iterable[Plain]) -> list[Occurrence]:
        return [_occurrence(row) for row in rows_as_dicts(self._store.execute(f"{_FOUND} {tail}", list(params)))]

    # Messages

    def take_due(self, now: int, again: int) -> Due | None:
        """A message that is due, taken by this process: it is due again at ``again``, should this one not come back."""
        with self._store.snapshot() as db:
            if db.execute("select 1 from alert_deliveries where next_at <= ? limit 1", [now]).fetchone() is None:
                return None
        with self._store.transaction() as db:
            query = "select id, address from alert_deliveries where next_at <= ? order by next_at limit 1"
            row = db.execute(query, [now]).fetchone()
            if row is None:
                return None
            db.execute("update alert_deliveries set next_at = ?, tries = tries + 1 where id = ?", [again, row[0]])
            (found,) = self._found("where o.id = ?", [row[0]])
        return Due(found, row[1])

    def settle(
        self, db: Connection, id: str, *, delivered: bool, next_at: int | None, problem: str | None
    ) -> None:
        """Note how sending a message went: it arrived, it is tried again at ``next_at``, or, with None, never again."""
        db.execute(
            "update alert_deliveries set delivered_at = ?, next_at = ?, problem = ? where id = ?",
            [self._store.tick(db) if delivered else None, next_at, problem, id],
        )

    def addresses(self) -> list[Address]:
        """Where webhooks may go."""
        found = self._store.execute("select * from webhook_addresses order by created_at")
        return [Address(**{**row, "private": bool(row["private"])}) for row in rows_as_dicts(found)]

    def allow(self, db: Connection, address: str, actor: str, *, private: bool) -> Address:
        """Allow webhooks to go to all addresses that begin so; again with another ``private`` changes that."""
        db.execute(
            "insert into webhook_addresses values (?, ?, ?, ?) on conflict do update set private = excluded.private",
            [address, int(private), actor, self._store.tick(db)],
        )
        checksums.update(db, "webhook_addresses", [address])
        return next(one for one in self.addresses() if one.address == address)

    def disallow(self, db: Connection, address: str) -> None:
        """Webhooks that go there are not sent any more."""
        if not db.execute("delete from webhook_addresses where address = ?", [address]).rowcount:
            there = ", ".join(f"'{one.address}'" for one in self.addresses()) or "none"
            raise BadRequest(f"'{address}' is not among the allowed addresses: {there}.")


def occurrence_id(alert: str, key: Mapping[str, Plain]) -> str:
    """The id of an occurrence and of its message: the same whenever and by whomever it is found."""
    return hashlib.sha256(b"%b %b" % (alert.encode(), canonical(dict(key)))).hexdigest()[:32]


def _alert(row: Row) -> Alert:
    about = orjson.loads(row["about"])
    key = about.pop("key", None)
    names = ("id", "project_id", "plot_id", "name", "webhook", "problem", "created_by", "created_at", "seen_at")
    return Alert(**{name: row[name] for name in names}, **about, key=None if key is None else tuple(key))


def _occurrence(row: Row) -> Occurrence:
    key, found = orjson.loads(row["found"])
    state: State | None = None
    if row["tries"] is not None:
        state = (
            "delivered" if row["delivered_at"] is not None else "failed" if row["next_at"] is None else "waiting"
        )
    names = ("id", "alert_id", "alert_name", "project_id", "plot_id", "dashboard_id", "first_true")
    later = ("acknowledged_at", "acknowledged_by", "problem")
    return Occurrence(
        **{name: row[name] for name in (*names, *later)},
        key=key,
        found=found,
        known=bool(row["known"]),
        delivery=state,
        tries=row["tries"] or 0,
    )
