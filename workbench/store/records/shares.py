"""Links for outsiders: who has one sees a dashboard or a plot, with the values that it was made with, and no more."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from sqlite3 import Connection

import orjson

from ...errors import Invalid, NotFound, Problem, StoreError
from ...records import Dashboard, Organization, Plot, Project, User
from ...table import Plain, to_micros
from ..db import checksums
from ..scope import Scope
from .people import Caller, People, Right
from .rows import Rows, new_id
from .tables import Row, rows_as_dicts

LONGEST_DAYS = 90
_GONE = "This link does not exist, has expired or was revoked. Ask the person who sent it for a new one."


@dataclass(frozen=True)
class Share:
    """A link. Times are microseconds since 1970.

    Attributes
    ----------
    plot_id : the one plot that it shows; None for all of the dashboard.
    revision : of that plot; None for the newest.
    values : fixed values by plot id and param name.
    view_params : whether params of kind view may be changed.
    downloads : whether the plotted values may be downloaded.
    embed : whether it may be shown in a frame of the sites that the operator names.
    uses : how often it was opened.
    """

    id: str
    project_id: str
    dashboard_id: str
    plot_id: str | None
    revision: int | None
    values: dict[str, dict[str, Plain]]
    view_params: bool
    downloads: bool
    embed: bool
    created_by: str
    created_at: int
    expires_at: int
    revoked_at: int | None
    used_at: int | None
    uses: int


@dataclass(frozen=True)
class Wanted:
    """What a new link shows, as in `Share`."""

    dashboard_id: str
    plot_id: str | None = None
    revision: int | None = None
    values: Mapping[str, Mapping[str, Plain]] | None = None
    view_params: bool = True
    downloads: bool = False
    embed: bool = False


class Shares:
    """The links of a store. The store keeps hashes of their tokens."""

    def __init__(self, rows: Rows, people: People) -> None:
        self._rows = rows
        self._people = people
        self._store = rows.store

    def create(self, db: Connection, wanted: Wanted, days: float, scope: Scope, actor: str) -> tuple[Share, str]:
        """A new link and its token, which is here and never again.

        Raises
        ------
        NotFound
            If the project has no such dashboard, or the dashboard no such plot.
        Invalid
            If it would last longer than ``LONGEST_DAYS``, or names a revision without a plot.
        """
        if not 0 < days <= LONGEST_DAYS:
            raise Invalid(Problem(("days",), f"A link lasts at most {LONGEST_DAYS} days.", "out_of_range"))
        board = self._rows.get(Dashboard, wanted.dashboard_id, scope)
        if wanted.plot_id is not None and self._rows.get(Plot, wanted.plot_id, scope).dashboard_id != board.id:
            raise NotFound(f"There is no plot '{wanted.plot_id}'.")
        if wanted.plot_id is None and wanted.revision is not None:
            raise Invalid(Problem(("revision",), "A revision needs a plot_id.", "value_error"))
        token = secrets.token_urlsafe(24)
        now = self._store.clock(db)
        about = {
            "values": {plot: dict(values) for plot, values in (wanted.values or {}).items()},
            "view_params": wanted.view_params,
            "downloads": wanted.downloads,
            "embed": wanted.embed,
        }
        id = new_id(now)
        row = [id, _hash(token), board.project_id, board.id, wanted.plot_id, wanted.revision]
        row += [orjson.dumps(about).decode(), actor, to_micros(now), to_micros(now + timedelta(days=days))]
        db.execute("insert into shares values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, null, null, 0)", row)
        checksums.update(db, "shares", [id])
        (made,) = rows_as_dicts(db.execute("select * from shares where id = ?", [id]))
        return _share(made), token

    def of_project(self, project_id: str) -> list[Share]:
        """The links of a project, also those that are over, the newest first."""
        found = self._store.execute(
            "select * from shares where project_id = ? order by created_at desc", [project_id]
        )
        return [_share(row) for row in rows_as_dicts(found)]

    def revoke(self, db: Connection, project_id: str, id: str) -> None:
        """End a link at once. Doing it twice changes nothing; NotFound if the project has none of this id."""
        done = db.execute(
            "update shares set revoked_at = coalesce(revoked_at, ?) where id = ? and project_id = ?",
            [self._store.tick(db), id, project_id],
        )
        if not done.rowcount:
            raise NotFound(f"There is no link '{id}'.")
        checksums.update(db, "shares", [id])

    def opened(self, token: str) -> tuple[Share, Caller, Project]:
        """The link of a token, with who made it: as a caller who may only read its project.

        Raises
        ------
        NotFound
            If there is none, it is over, or who made it may not read the project any more: one answer for all.
        """
        rows = rows_as_dicts(self._store.execute("select * from shares where token = ?", [_hash(token)]))
        now = time.time() * 1e6
        if not rows or rows[0]["revoked_at"] is not None or rows[0]["expires_at"] <= now:
            raise NotFound(_GONE)
        share = _share(rows[0])
        found = self._maker(share)
        if found is None:
            raise NotFound(_GONE)
        return share, *found

    def _maker(self, share: Share) -> tuple[Caller, Project] | None:
        for organization in self._rows.organizations():
            member = self._people.member(organization.id, share.created_by)
            if member is None or not member["is_active"]:
                continue
            try:
                project = self._rows.get(Project, share.project_id, Scope(organization.id, None))
            except NotFound:
                continue
            user = self._user(organization, share.created_by)
            if user is None or self._people.standing(user, organization).right_in(project.id) < Right.READ:
                return None
            return Caller(user, organization, False, roles={project.id: Right.READ}), project
        return None

    def _user(self, organization: Organization, id: str) -> User | None:
        members = (one for one in self._people.members(organization.id) if one["user_id"] == id)
        found = next(members, None)
        return None if found is None else self._rows.user(found["email"])

    def refuses_frames(self, token: str) -> bool:
        """Whether there is a link of a token that was not made to be shown in the frames of other sites."""
        rows = rows_as_dicts(self._store.execute("select * from shares where token = ?", [_hash(token)]))
        return any(not _share(row).embed for row in rows)

    def used(self, share: Share) -> None:
        """Count that a link was opened. It is shown also where that cannot be counted, as on a full disk."""
        with suppress(StoreError), self._store.transaction() as db:
            db.execute(
                "update shares set uses = uses + 1, used_at = ? where id = ?", [self._store.tick(db), share.id]
            )
            checksums.update(db, "shares", [share.id])


def _share(row: Row) -> Share:
    about = orjson.loads(row["about"])
    names = ("id", "project_id", "dashboard_id", "plot_id", "revision", "created_by", "created_at")
    later = ("expires_at", "revoked_at", "used_at", "uses")
    return Share(**{name: row[name] for name in (*names, *later)}, **about)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
