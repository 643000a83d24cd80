"""Keys, members and their roles, and the audit log: who may do what, and who did what."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import IntEnum
from typing import NamedTuple

import orjson

from ...errors import BadRequest, Conflict, Forbidden, NotFound, Unauthorized, instead
from ...records import Organization, User
from ...table import Plain, from_micros, to_micros
from ..db import row_checksums
from ..db.database_file import Host
from ..scope import Scope
from .rows import Rows
from .tables import Row, rows_as_dicts

ADMIN, MEMBER = "Admin", "Member"
USE_SECONDS = 3600
"""The use of a key is noted at most once in this time."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_BESIDE_A_KEY = frozenset(
    (
        *("role", "everywhere", "is_active", "joined_at", "email", "user_name", "user_created", "user_updated"),
        *("organization_name", "organization_created", "organization_updated"),
    )
)
"""What the query for a key also brings."""
_NOBODY = hashlib.sha256(b"no key").digest()


class Right(IntEnum):
    """A right in a project; each includes those before it."""

    NOTHING = 0
    READ = 1
    WRITE = 2
    MANAGE = 3


@dataclass(frozen=True)
class Role:
    """A role in a project, under its name in HTTP."""

    id: str
    name: str
    right: Right
    description: str


ROLES: dict[str, Role] = {
    role.id: role
    for role in (
        Role("project-admin", "Project Admin", Right.MANAGE, "Also members, invites and the project itself."),
        Role(
            "project-contributor", "Project Contributor", Right.WRITE, "Also makes, changes and deletes records."
        ),
        Role("project-viewer", "Project Viewer", Right.READ, "Reads, draws and chooses values."),
    )
}
KEY_ROLES = {"admin": None, "contributor": ROLES["project-contributor"], "viewer": ROLES["project-viewer"]}
"""The words of ``workbench keys create --role``; admin is an Admin of the organization."""

PERMISSIONS = {"read": Right.READ, "write": Right.WRITE, "admin": Right.MANAGE}
"""The words of ``workbench keys create --permission``: the highest right that a key gives, whatever its user's role."""


@dataclass(frozen=True)
class Issued:
    """A new key; ``key`` is shown here and never again."""

    key: str
    id: str
    organization_id: str
    user_id: str


@dataclass(frozen=True)
class Caller:
    """The user who calls, their organization, and their rights in its projects, as far as their key lets them.

    ``permission`` is that of the key, a name of ``PERMISSIONS``; None if it gives all that the role does."""

    user: User
    organization: Organization
    is_admin: bool
    key_id: str | None = None
    everywhere: Right = Right.NOTHING
    roles: Mapping[str, Right] = field(default_factory=dict)
    permission: str | None = None
    projects: tuple[str, ...] | None = None
    """The ids of all projects of the organization, where they were asked for with the key."""

    def right_in(self, project_id: str) -> Right:
        """The right in a project of the caller's organization."""
        return Right.MANAGE if self.is_admin else max(self.everywhere, self.roles.get(project_id, Right.NOTHING))

    @property
    def highest(self) -> Right:
        """The right that holds for the organization's records without a project: the highest in any project."""
        return Right.MANAGE if self.is_admin else max(self.everywhere, *self.roles.values(), Right.NOTHING)


class _Held(NamedTuple):
    """A key, with whether its user is an active member, and who they are while it is in force."""

    key: Row
    caller: Caller


class People:
    """Keys, members and roles of a store."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._store = rows.store

    @property
    def store(self) -> Host:
        """The store that holds them."""
        return self._store

    def user(self, email: str) -> User:
        """The user of an address, case ignored; NotFound if there is none."""
        return self._rows.user(email)

    def organizations(self) -> list[Organization]:
        """All organizations of the store."""
        return self._rows.organizations()

    # Keys

    def issue(
        self, organization_id: str, user_id: str, *, days: float | None = None, permission: str | None = None
    ) -> Issued:
        """A new key for a member; only the hash of its secret is kept. With a ``permission`` (see ``PERMISSIONS``) it
        gives at most that right, and never more than its user's role."""
        if permission is not None and permission not in PERMISSIONS:
            raise BadRequest(
                f"There is no permission '{permission}'. {instead(permission, PERMISSIONS, 'permissions')}"
            )
        secret = secrets.token_urlsafe(32)
        with self._store.transaction() as db:
            if self.member(organization_id, user_id) is None:
                raise NotFound("This user is not a member of this organization. Make them a member first.")
            id = "".join(secrets.choice(_LETTERS) for _ in range(8))
            now = self._store.clock(db)
            try:
                expires = None if days is None else to_micros(now + timedelta(days=days))
            except (OverflowError, ValueError):
                raise BadRequest(
                    f"No key lasts {days:g} days. Leave the days out for one that never expires."
                ) from None
            db.execute(
                "insert into keys (id, secret, organization_id, user_id, created_at, expires_at, permission) "
                "values (?, ?, ?, ?, ?, ?, ?)",
                [id, _hash(secret), organization_id, user_id, to_micros(now), expires, permission],
            )
            row_checksums.keep(db, "keys", "id = ?", [id])
            self.note(db, "key.created", organization_id, user_id, target=id)
        return Issued(f"wb_{id}_{secret}", id, organization_id, user_id)

    def keys(self, organization_id: str) -> list[Row]:
        """The keys of an organization, without their secrets, oldest first; times are ``datetime`` or None."""
        rows = self._store.execute(
            "select k.id, k.organization_id, k.user_id, u.email, k.permission, k.created_at, k.expires_at, k.used_at, "
            "k.revoked_at from keys as k join users as u on u.id = k.user_id where k.organization_id = ? "
            "order by k.created_at",
            [organization_id],
        )
        return [_with_times(row) for row in rows_as_dicts(rows)]

    def any_key(self) -> bool:
        """Whether a key was ever made on this store."""
        return self._store.execute("select 1 from keys limit 1").fetchone() is not None

    def revoke(self, organization_id: str, key_id: str) -> None:
        """Make a key invalid at once and for ever. Doing it twice changes nothing."""
        with self._store.transaction() as db:
            now = self._store.tick(db)
            done = db.execute(
                "update keys set revoked_at = coalesce(revoked_at, ?) where id = ? and organization_id = ?",
                [now, key_id, organization_id],
            )
            if not done.rowcount:
                known = [key["id"] for key in self.keys(organization_id)]
                raise NotFound(f"There is no key '{key_id}'. {instead(key_id, known, 'keys')}")
            row_checksums.keep(db, "keys", "id = ?", [key_id])
            self.note(db, "key.revoked", organization_id, target=key_id)

    def caller(self, key: str) -> Caller:
        """Who a key belongs to.

        Raises
        ------
        Unauthorized
            If it is malformed, unknown, revoked or expired, or its user is not an active member any more. The
            answer is the same for all of these.
        """
        prefix, _, rest = key.partition("_")
        id, _, secret = rest.partition("_")
        read: list[_Held | None] = []
        held = self._known(id, read.append) if prefix == "wb" else None
        kept = bytes(held.key["secret"]) if held is not None else _NOBODY
        same = hmac.compare_digest(kept, _hash(secret))
        if held is not None and not same and not read:
            self._held(id)  # so that it takes as long as an unknown id, which is never remembered
        return self._caller(held if same else None)

    def holder(self, key_id: str) -> Caller:
        """Who a key belongs to, by its id, for what was opened with the key before.

        Raises
        ------
        Unauthorized
            As ``caller``.
        """
        return self._caller(self._known(key_id))

    def _known(self, id: str, read: Callable[[_Held | None], None] = lambda held: None) -> _Held | None:
        """The key of an id; ``read`` is called with it if the store had to be asked."""

        def held() -> _Held | None:
            found = self._held(id)
            read(found)
            return found

        return self._store.remembered(("key", id), held)

    def _held(self, id: str) -> _Held | None:
        """All that a request needs of its key, asked at once."""
        of_key = "k.organization_id = m.organization_id and k.user_id = m.user_id"
        key = (
            "select k.*, m.role, m.everywhere, m.is_active, m.joined_at, u.email, u.name as user_name, "
            "u.created_at as user_created, u.updated_at as user_updated, o.name as organization_name, "
            "o.created_at as organization_created, o.updated_at as organization_updated from keys as k "
            "join members as m on m.organization_id = k.organization_id and m.user_id = k.user_id "
            "join users as u on u.id = k.user_id join organizations as o on o.id = k.organization_id where k.id = ?"
        )
        member = f"select m.* from keys as k join members as m on {of_key} where k.id = ?"  # noqa: S608
        roles = (
            "select r.project_id, r.role from keys as k join project_roles as r on r.user_id = k.user_id "
            "join projects as p on p.id = r.project_id and p.organization_id = k.organization_id "
            "where k.id = ? order by r.created_at"
        )
        projects = (
            "select p.id from keys as k join projects as p on p.organization_id = k.organization_id "
            "where k.id = ? order by p.id"
        )
        answers = self._store.execute_together([(query, [id]) for query in (key, member, roles, projects)])
        found, membership = (next(iter(rows_as_dicts(rows)), None) for rows in answers[:2])
        if found is None or membership is None:
            return None
        row_checksums.refuse_changed("keys", {name: found[name] for name in found if name not in _BESIDE_A_KEY})
        row_checksums.refuse_changed("members", membership)
        projects_of = tuple(id for (id,) in answers[3])
        return _Held(found, _as_caller(found, membership, dict(answers[2].fetchall()), projects_of))

    def _caller(self, held: _Held | None) -> Caller:
        if held is None or not _in_force(held.key):
            raise Unauthorized("This key is unknown, revoked or expired. Ask an administrator for a new one.")
        found = held.key
        if time.time() * 1e6 - (found["used_at"] or 0) > USE_SECONDS * 1e6:
            self._used(found)
        return held.caller

    def standing(self, user: User, organization: Organization) -> Caller:
        """A member as a caller, with their present rights."""
        member = self.member(organization.id, user.id)
        if member is None:
            raise NotFound(f"'{user.email}' is not a member of '{organization.name}'.")
        return _standing(user, organization, member, self.roles_of(organization.id, user.id))

    def _used(self, found: Mapping[str, Plain]) -> None:
        with self._store.transaction() as db:
            now = self._store.tick(db)
            db.execute("update keys set used_at = ? where id = ?", [now, found["id"]])
            db.execute(
                "update members set joined_at = coalesce(joined_at, ?) where organization_id = ? and user_id = ?",
                [now, found["organization_id"], found["user_id"]],
            )
            row_checksums.keep(db, "keys", "id = ?", [found["id"]])
            self._keep_member(db, found["organization_id"], found["user_id"])
            self.note(db, "key.used", found["organization_id"], found["user_id"], key_id=found["id"])

    # Members and roles

    def member(self, organization_id: str, user_id: str) -> Row | None:
        """The membership: ``role``, ``everywhere`` (a role on every project), ``is_active`` ...; None without one."""
        rows = self._store.execute(
            "select * from members where organization_id = ? and user_id = ?", [organization_id, user_id]
        )
        found = next(iter(rows_as_dicts(rows)), None)
        if found is not None:
            row_checksums.refuse_changed("members", found)
        return found

    def _keep_member(self, db: sqlite3.Connection, organization_id: str, user_id: str) -> None:
        row_checksums.keep(db, "members", "organization_id = ? and user_id = ?", [organization_id, user_id])

    def members(self, organization_id: str) -> list[Row]:
        """All members of an organization with their addresses, oldest first."""
        rows = self._store.execute(
            "select m.*, u.email, u.name from members as m join users as u on u.id = m.user_id "
            "where m.organization_id = ? order by m.created_at, m.user_id",
            [organization_id],
        )
        return rows_as_dicts(rows)

    def roles_of(self, organization_id: str, user_id: str) -> dict[str, str]:
        """The roles of a user in single projects: project id -> role id."""
        rows = self._store.execute(
            "select r.project_id, r.role from project_roles as r join projects as p on p.id = r.project_id "
            "where p.organization_id = ? and r.user_id = ? order by r.created_at",
            [organization_id, user_id],
        )
        return dict(rows.fetchall())

    def roles_in(self, project_ids: Sequence[str]) -> dict[str, list[Row]]:
        """The roles that were given in projects: project id -> rows of ``project_roles``."""
        rows = self._store.execute(
            "select * from project_roles where project_id in (select value from json_each(?)) order by created_at",
            [orjson.dumps(list(project_ids)).decode()],
        )
        found: dict[str, list[Row]] = {id: [] for id in project_ids}
        for row in rows_as_dicts(rows):
            found[row["project_id"]].append(row)
        return found

    def visible(self, caller: Caller) -> tuple[str, ...]:
        """The ids of all projects that the caller may read."""
        known = caller.projects
        if known is None:
            query = "select id from projects where organization_id = ? order by id"
            known = tuple(id for (id,) in self._store.execute(query, [caller.organization.id]))
        return tuple(id for id in known if caller.right_in(id) >= Right.READ)

    def enrol(
        self,
        organization_id: str,
        email: str,
        *,
        role: str | None = None,
        everywhere: str | None = None,
        invited: bool = False,
        readmit: bool = True,
    ) -> tuple[User, bool, bool]:
        """Make a user a member. Returns the user, whether they are new to the store, and whether they were an active
        member already. A member keeps their role, unless ``role`` is given.

        Raises
        ------
        Forbidden
            If they are suspended, and ``readmit`` is false.
        """
        if role not in (None, ADMIN, MEMBER):
            raise BadRequest(f"There is no role '{role}'. {instead(str(role), [ADMIN, MEMBER], 'roles')}")
        with self._store.transaction() as db:
            user, made = self._user(email)
            there = self.member(organization_id, user.id)
            now = self._store.tick(db)
            if there is None:
                db.execute(
                    "insert into members (organization_id, user_id, role, everywhere, invited_at, created_at) "
                    "values (?, ?, ?, ?, ?, ?)",
                    [organization_id, user.id, role or MEMBER, everywhere, now if invited else None, now],
                )
            elif not (there["is_active"] or readmit):
                raise Forbidden(
                    f"'{user.email}' is suspended. Only an Admin of the organization can end that; ask one for it."
                )
            elif not there["is_active"] or (role, everywhere) != (None, None):
                self._refuse_last_admin(organization_id, user.id, stays=(role or there["role"]) == ADMIN)
                db.execute(
                    "update members set role = coalesce(?, role), everywhere = coalesce(?, everywhere), is_active = 1 "
                    "where organization_id = ? and user_id = ?",
                    [role, everywhere, organization_id, user.id],
                )
            self._keep_member(db, organization_id, user.id)
        return user, made, there is not None and bool(there["is_active"])

    def _user(self, email: str) -> tuple[User, bool]:
        try:
            return self._rows.user(email), False
        except NotFound:
            data = {"name": email, "email": email}
            return self._rows.create(User, data, scope=Scope("", None)), True

    def change_member(
        self, organization_id: str, user_id: str, *, role: str | None = None, is_active: bool | None = None
    ) -> None:
        """Give a member another role in the organization, or suspend and readmit them.

        Raises
        ------
        NotFound
            If there is no such member.
        Conflict
            If the organization would be left without an active Admin.
        """
        if role not in (None, ADMIN, MEMBER):
            raise BadRequest(f"There is no role '{role}'. {instead(str(role), [ADMIN, MEMBER], 'roles')}")
        with self._store.transaction() as db:
            there = self._there(organization_id, user_id)
            stays = (role or there["role"]) == ADMIN and (there["is_active"] if is_active is None else is_active)
            self._refuse_last_admin(organization_id, user_id, stays=bool(stays))
            db.execute(
                "update members set role = coalesce(?, role), is_active = coalesce(?, is_active) "
                "where organization_id = ? and user_id = ?",
                [role, None if is_active is None else int(is_active), organization_id, user_id],
            )
            self._keep_member(db, organization_id, user_id)

    def remove_member(self, organization_id: str, user_id: str) -> None:
        """Remove a member: their roles are deleted, their keys are revoked, and their records stay."""
        with self._store.transaction() as db:
            self._there(organization_id, user_id)
            self._refuse_last_admin(organization_id, user_id, stays=False)
            now = self._store.tick(db)
            mine = "organization_id = ? and user_id = ?"
            db.execute(
                f"update keys set revoked_at = coalesce(revoked_at, ?) where {mine}",  # noqa: S608
                [now, organization_id, user_id],
            )
            row_checksums.keep(db, "keys", mine, [organization_id, user_id])
            db.execute(
                "delete from project_roles where user_id = ? and project_id in "
                "(select id from projects where organization_id = ?)",
                [user_id, organization_id],
            )
            db.execute(f"delete from members where {mine}", [organization_id, user_id])  # noqa: S608

    def _there(self, organization_id: str, user_id: str) -> Row:
        found = self.member(organization_id, user_id)
        if found is None:
            raise NotFound(f"There is no user '{user_id}'.")
        return found

    def _refuse_last_admin(self, organization_id: str, user_id: str, *, stays: bool) -> None:
        admins = {m["user_id"] for m in self.members(organization_id) if m["role"] == ADMIN and m["is_active"]}
        if not stays and admins == {user_id}:
            raise Conflict("This is the only active Admin of the organization; make another one first.")

    def give_role(self, organization_id: str, project_id: str, user_id: str, role_id: str) -> None:
        """Give a member a role in a project; it replaces the one they had there."""
        if role_id not in ROLES:
            raise BadRequest(f"There is no project role '{role_id}'. {instead(role_id, ROLES, 'project roles')}")
        with self._store.transaction() as db:
            self.refuse_everywhere(organization_id, user_id, ROLES[role_id].right)
            now = self._store.tick(db)
            db.execute(
                "insert into project_roles (project_id, user_id, role, created_at, updated_at) "
                "values (?, ?, ?, ?, ?) on conflict (project_id, user_id) "
                "do update set role = excluded.role, updated_at = excluded.updated_at",
                [project_id, user_id, role_id, now, now],
            )
            row_checksums.keep(db, "project_roles", "project_id = ? and user_id = ?", [project_id, user_id])

    def refuse_everywhere(self, organization_id: str, user_id: str, right: Right) -> None:
        """Refuse to give a member less in one project than they have in every one: it would change nothing.

        Raises
        ------
        NotFound, Conflict
        """
        everywhere = self._there(organization_id, user_id)["everywhere"]
        if everywhere and ROLES[everywhere].right > right:
            raise Conflict(
                f"This user is {ROLES[everywhere].name} of every project. The operator can change that: "
                "workbench users add EMAIL --role viewer."
            )

    def take_role(self, project_id: str, user_id: str) -> None:
        """Remove a user's role in a project."""
        with self._store.transaction() as db:
            done = db.execute(
                "delete from project_roles where project_id = ? and user_id = ?", [project_id, user_id]
            )
            if not done.rowcount:
                raise NotFound(f"There is no user '{user_id}' with a role in this project alone.")

    # The audit log

    def note(
        self,
        db: sqlite3.Connection,
        action: str,
        organization_id: str | None = None,
        user_id: str | None = None,
        *,
        key_id: str | None = None,
        target: str | None = None,
        status: int | None = None,
        request: str | None = None,
        detail: Mapping[str, Plain] | None = None,
    ) -> None:
        """Note in the audit log that something was done or refused, inside the transaction that does it."""
        text = None if detail is None else orjson.dumps(dict(detail)).decode()
        row = [self._store.tick(db), organization_id, user_id, key_id, action, target, status, request, text]
        made = db.execute(
            "insert into audit (at, organization_id, user_id, key_id, action, target, status, request, detail) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        row_checksums.keep(db, "audit", "rowid = ?", [made.lastrowid])

    def audit_log(self, organization_id: str, *, limit: int = 100, offset: int = 0) -> list[Row]:
        """The newest entries of the audit log of an organization, the newest first: ``at`` (microseconds), who
        (``user_id``, ``email``, ``key_id``), ``action``, ``target``, and of a refusal its ``status``."""
        rows = self._store.execute(
            "select a.at, a.user_id, u.email, a.key_id, a.action, a.target, a.status, a.request, a.detail from audit "
            "as a left join users as u on u.id = a.user_id where a.organization_id = ? "
            "order by a.at desc, a.rowid desc limit ? offset ?",
            [organization_id, limit, offset],
        )
        return [
            {**row, "detail": None if row["detail"] is None else orjson.loads(row["detail"])}
            for row in rows_as_dicts(rows)
        ]

    def audit_entries(self, organization_id: str) -> int:
        """How many entries the audit log of an organization has."""
        (found,) = (
            self._store.connection()
            .execute("select count(*) from audit where organization_id = ?", [organization_id])
            .fetchone()
        )
        return int(found)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _standing(
    user: User,
    organization: Organization,
    member: Mapping[str, Plain],
    roles: Mapping[str, str],
    key_id: str | None = None,
    permission: str | None = None,
) -> Caller:
    """A member as a caller, with at most the rights of the ``permission`` of their key."""
    everywhere = ROLES[member["everywhere"]].right if member["everywhere"] else Right.NOTHING
    rights = {project: ROLES[role].right for project, role in roles.items()}
    is_admin = member["role"] == ADMIN
    if permission is None:
        return Caller(user, organization, is_admin, key_id, everywhere, rights)
    # A permission of a newer version gives nothing.
    most = PERMISSIONS.get(permission, Right.NOTHING)
    everywhere = min(Right.MANAGE if is_admin else everywhere, most)
    rights = {project: min(right, most) for project, right in rights.items()}
    return Caller(user, organization, is_admin and most is Right.MANAGE, key_id, everywhere, rights, permission)


def _as_caller(
    found: Mapping[str, Plain], member: Row, roles: Mapping[str, str], projects: tuple[str, ...]
) -> Caller:
    """Who holds a key, from the row of the key with its user and organization, their membership and roles."""
    user = User.model_construct(
        id=found["user_id"],
        name=found["user_name"],
        email=found["email"],
        created_at=from_micros(found["user_created"]),
        updated_at=from_micros(found["user_updated"]),
    )
    organization = Organization.model_construct(
        id=found["organization_id"],
        name=found["organization_name"],
        created_at=from_micros(found["organization_created"]),
        updated_at=from_micros(found["organization_updated"]),
    )
    made = _standing(user, organization, member, roles, found["id"], found["permission"])
    return replace(made, projects=projects)


def _in_force(key: Mapping[str, Plain]) -> bool:
    now = time.time() * 1e6
    return key["revoked_at"] is None and bool(key["is_active"]) and (key["expires_at"] or now + 1) > now


def _with_times(row: Mapping[str, Plain]) -> Row:
    moments: dict[str, datetime | None] = {
        name: None if value is None else from_micros(value) for name, value in row.items() if name.endswith("_at")
    }
    return {**row, **moments}
