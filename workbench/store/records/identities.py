"""Who signs in by an identity provider: which user of the store a subject of the provider is.

A subject is bound to a user once: by an e-mail address that the provider has verified, or as a new member. From then on
the subject counts and not the address, which may be given to somebody else one day.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from sqlite3 import Connection

import orjson

from ...errors import BadRequest, Forbidden, NotFound, Unauthorized, instead
from ...records import Organization, User
from ..db.facts import set_fact
from .people import KEY_ROLES, MEMBER, People


@dataclass(frozen=True)
class Claimed:
    """Who somebody is, by their provider: its ``issuer``, its ``subject`` for them, an address that it has verified."""

    issuer: str
    subject: str
    email: str | None


@dataclass(frozen=True)
class Entry:
    """Who may come in: ``organization`` by name or id where there are several; the ``new_people`` role of those who are
    not members yet, and the ``domains`` of their addresses (``any``: all)."""

    organization: str | None = None
    new_people: str | None = None
    domains: tuple[str, ...] = ()


class Identities:
    """The subjects of providers that are bound to users of a store."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._store = people.store

    def key_of(self, claimed: Claimed, entry: Entry) -> str:
        """The id of the key with whose rights somebody is signed in. Nobody knows the secret of that key.

        Raises
        ------
        Forbidden
            If they are nobody here, are suspended, or if their address belongs to another subject.
        """
        with self._store.transaction() as db:
            known = self._bound(db, claimed)
            user, organization = known if known is not None else self._found(db, claimed, entry)
            self._refuse_suspended(organization, user)
            kept = self._kept(db, _of_user(claimed.issuer, user))
            key = kept.get(f"key {organization}")
            if key is None or not self._is_in_force(key):
                key = self._people.issue(organization, user).id
                self._keep(db, _of_user(claimed.issuer, user), {**kept, f"key {organization}": key})
            if known is None:
                self._people.note(db, "identity.bound", organization, user, target=user)
        return key

    def _bound(self, db: Connection, claimed: Claimed) -> tuple[str, str] | None:
        """The user and the organization of a subject that was here before."""
        kept = self._kept(db, _of_subject(claimed))
        if not kept:
            return None
        user, organization = kept["user"], kept["organization"]
        if self._people.member(organization, user) is None:
            raise Forbidden("You are not a member here any more. Ask an administrator to invite you.")
        return user, organization

    def _found(self, db: Connection, claimed: Claimed, entry: Entry) -> tuple[str, str]:
        """The user of a subject that comes for the first time, bound to it from now on."""
        if claimed.email is None:
            raise Forbidden(
                "The provider has not verified an e-mail address of yours, so nobody knows who you are here."
            )
        user = None
        with suppress(NotFound):
            user = self._people.user(claimed.email)
        organization = self._organization(user, entry)
        if user is None or self._people.member(organization.id, user.id) is None:
            user = self._let_in(claimed.email, organization, entry)
        mine = self._kept(db, _of_user(claimed.issuer, user.id))
        if mine.get("subject", claimed.subject) != claimed.subject:
            raise Forbidden(
                f"'{claimed.email}' belongs to somebody else here, who signed in by this provider before. Ask an "
                "administrator."
            )
        self._keep(db, _of_user(claimed.issuer, user.id), {**mine, "subject": claimed.subject})
        self._keep(db, _of_subject(claimed), {"user": user.id, "organization": organization.id})
        return user.id, organization.id

    def _organization(self, user: User | None, entry: Entry) -> Organization:
        every = self._people.organizations()
        if entry.organization is not None:
            found = [one for one in every if entry.organization in (one.id, one.name)]
            if not found:
                names = [one.name for one in every]
                close = instead(entry.organization, names, "organizations")
                raise BadRequest(f"There is no organization '{entry.organization}'. {close}")
            return found[0]
        mine = (
            every if user is None else [one for one in every if self._people.member(one.id, user.id) is not None]
        )
        if len(mine or every) == 1:
            return (mine or every)[0]
        raise Forbidden("This server has several organizations. Its operator says which one with --organization.")

    def _let_in(self, email: str, organization: Organization, entry: Entry) -> User:
        domain = email.rpartition("@")[2]
        if entry.new_people is None or not {"any", domain} & {one.lower() for one in entry.domains}:
            raise Forbidden(f"Nobody has made '{email}' a member here. Ask an administrator to invite you.")
        role = KEY_ROLES[entry.new_people]
        everywhere = None if role is None else role.id
        return self._people.enrol(organization.id, email, role=MEMBER, everywhere=everywhere)[0]

    def _refuse_suspended(self, organization: str, user: str) -> None:
        member = self._people.member(organization, user)
        if member is None or not member["is_active"]:
            raise Forbidden("Your membership is suspended. Ask an administrator.")

    def _is_in_force(self, key_id: str) -> bool:
        try:
            self._people.holder(key_id)
        except Unauthorized:
            return False
        return True

    def _kept(self, db: Connection, name: str) -> dict[str, str]:
        row = db.execute("SELECT value FROM facts WHERE name = ?", [name]).fetchone()
        return {} if row is None else orjson.loads(row[0])

    def _keep(self, db: Connection, name: str, value: dict[str, str]) -> None:
        set_fact(db, name, orjson.dumps(value).decode())


def _of_subject(claimed: Claimed) -> str:
    return f"identity: {_hash(claimed.issuer)} {_hash(claimed.subject)}"


def _of_user(issuer: str, user: str) -> str:
    return f"identity of: {_hash(issuer)} {user}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
