"""A request as an endpoint sees it: its caller, its scope, and the records of its path."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from workbench.errors import Busy, Cancelled, WorkbenchError
from workbench.local import LocalBackend
from workbench.operations.operation import Detail
from workbench.records import Project, Record
from workbench.store import Transaction
from workbench.store.records.people import Caller
from workbench.store.records.shares import Share
from workbench.store.scope import Scope
from workbench.store.store import Store

from . import assistant_header
from .limits import Party, Rates
from .requests import BoundedRequest, SentFile, Upload
from .state import State

R = TypeVar("R", bound=Record)
T = TypeVar("T")


@dataclass(frozen=True)
class Slow:
    """What an endpoint returns in place of its response if ``work`` must first run on the threads for plans, drawings
    and files. An endpoint that finds its answer in the cache needs none of them."""

    work: Callable[[], Response]


class RequestContext:
    """A request whose caller may do what it asks: the route checked that.

    Attributes
    ----------
    state : the store, caches and threads of this server process.
    request : the request itself, for headers.
    id : the request id, in the log and in ``x-correlation-id``.
    operation : method and path template, for the log and the audit log.
    cancel : set when the client went away or the work took too long.
    scope : the records that the request can reach.
    project : the project of the request, if it has one.
    records : the records of the path, by the name of their position.
    assistant : what the request says of the assistant that asks, for the audit log; empty if nobody says so.
    counted : whether the request was taken from the rate of its caller.
    noted : whether the request has its entry in the audit log.
    """

    def __init__(self, state: State, request: BoundedRequest, operation: str) -> None:
        self.state = state
        self.request = request
        self.operation = operation
        self.id: str = request.scope["state"]["request_id"]
        self.cancel = threading.Event()
        self.signed_in: Caller | None = None
        self.scope = Scope("", None)
        self.project: Project | None = None
        self.records: dict[str, Record] = {}
        self.share: Share | None = None
        self.arrived = False
        self.counted = False
        self.assistant = assistant_header.read(request.headers)
        self.noted = False

    def open_share(self, token: str) -> None:
        """Bind the request to a link for outsiders: it can read what the link shows, as a reader of the project.

        Raises
        ------
        NotFound
            If there is no such link, or it is over.
        TooMany
            If it is asked too often.
        """
        share, maker, project = self.store.shares.opened(token)
        self.count(self.state.outsiders, share.id)
        self.share, self.signed_in, self.project = share, maker, project
        self.scope = Scope(maker.organization.id, project.id)

    def count(self, rates: Rates, key: str) -> None:
        """Take this request from a rate, once.

        Raises
        ------
        TooMany
            If nothing is left of it.
        """
        if not self.counted:
            rates.take(key)
            self.counted = True

    def reading(self, work: Callable[[], T]) -> T:
        """What ``work`` gives, which only reads; see `Host.reading`. Each time that it is called, this request is as it
        was before."""
        began = self.signed_in, self.scope, self.project, self.share, self.arrived, dict(self.records)

        def again() -> T:
            self.signed_in, self.scope, self.project, self.share, self.arrived, records = began
            self.records = dict(records)
            return work()

        return self.store.reading(again)

    def ahead(self, check: Callable[[], None]) -> None:
        """Run a check that is run again later, when more of the request is known: it leaves no trace."""
        began = self.signed_in, self.scope, self.project, self.arrived, dict(self.records)
        try:
            check()
        finally:
            self.signed_in, self.scope, self.project, self.arrived, self.records = began

    def at_once(self, work: Callable[[], T]) -> T | None:
        """What ``work`` gives if the store need not be asked for it, see `Host.at_once`; else None, and this request is
        as it was before."""
        began = self.signed_in
        found = self.store.at_once(work)
        if found is None:
            self.signed_in = began
        return found

    @property
    def shared(self) -> Share:
        """The link through which an outsider asks."""
        if self.share is None:
            raise TypeError(f"{self.operation} is not for outsiders.")
        return self.share

    @property
    def caller(self) -> Caller:
        """Who sent the request."""
        if self.signed_in is None:
            raise TypeError(f"{self.operation} needs no key, so it has no caller.")
        return self.signed_in

    @property
    def actor(self) -> str:
        """The id of the user who sent the request."""
        return self.caller.user.id

    @property
    def organization(self) -> str:
        """The id of the caller's organization; empty without a caller."""
        return "" if self.signed_in is None else self.signed_in.organization.id

    @property
    def party(self) -> Party:
        """Whose turn this request takes. Before its credential is checked that is a guess."""
        caller = self.signed_in
        if caller is None:
            return self.state.parties.of(self.request)
        return Party(caller.organization.id, caller.key_id or (self.share.id if self.share else caller.user.id))

    @property
    def path(self) -> dict[str, str]:
        """The positions of the path by name."""
        found: dict[str, str] = self.request.path_params
        return found

    @property
    def store(self) -> Store:
        return self.state.store

    @property
    def base_url(self) -> str:
        """The address of this server for its users."""
        url = self.state.settings.public_url or str(self.request.base_url)
        return url.rstrip("/")

    def record(self, kind: type[R]) -> R:
        """The record of this kind in the path."""
        return next(one for one in self.records.values() if isinstance(one, kind))

    def show_as_of(self, moment: int | None) -> None:
        """Show the data as they were at a time, from here on in this request; None leaves them as they are."""
        if moment is not None:
            self.scope = self.scope._replace(as_of=moment)

    @property
    def backend(self) -> LocalBackend:
        """What a bench can do with the store, for this caller and this project."""
        return LocalBackend(
            self.store,
            self.state.cache,
            self.caller.organization,
            self.project,
            self.actor,
            scope=self.scope,
            protected=self.state.protected,
            audited=self.writing,
            fan_out=self.state.fan_out,
        )

    @contextmanager
    def writing(self, target: str | None = None, **detail: Detail) -> Iterator[Transaction]:
        """One transaction for all that a request changes, with its entry in the audit log."""
        with self.store.transaction() as db:
            yield db
            self.store.people.note(
                db,
                self.operation,
                self.caller.organization.id,
                self.actor,
                key_id=self.caller.key_id,
                target=target or next(iter(self.path.values()), None),
                request=self.id,
                detail={**detail, **self.assistant} or None,
            )
        self.noted = True

    def note_outcome(self, status: int | None = None) -> None:
        """Note a request that changed nothing: what was refused with a ``status``, or what an assistant read."""
        caller = self.signed_in
        ids = list(self.path.values()) if caller else []
        with self.store.transaction() as db:
            self.store.people.note(
                db,
                self.operation,
                caller.organization.id if caller else None,
                caller.user.id if caller else None,
                key_id=caller.key_id if caller else None,
                target=None if not ids else ids[0] if status else ids[-1],
                status=status,
                request=self.id,
                detail=self.assistant or None,
            )
        self.noted = True

    def saved(self, upload: UploadFile) -> SentFile:
        """A file of a form, on disk until this request ends."""
        if not isinstance(upload, Upload):
            raise TypeError("The form was not read by BoundedRequest.")
        return upload.saved()

    def keep_until_end(self, sent: SentFile) -> SentFile:
        """Remove a file when this request ends, unless it was moved away before."""
        self.request.files.append(sent)
        return sent

    async def quickly(self, work: Callable[[], T]) -> T:
        """The result of short work on records, run on the threads for such work."""
        return await self.state.quick.run(self.party, work, self.cancel.set)

    async def heavily(self, work: Callable[[], T]) -> T:
        """The result of a plan, a drawing or a file, run on the threads for such work. It stops when the client goes
        away or when it takes too long.

        Raises
        ------
        Busy
            If it takes longer than the server allows.
        Cancelled
            If the client went away.
        """
        task = asyncio.ensure_future(self.state.plans.run(self.party, work, self.cancel.set))
        gone = asyncio.ensure_future(_disconnected(self.request))
        limit = self.state.settings.request_seconds
        try:
            await asyncio.wait({task, gone}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError, WorkbenchError):
                    await task
                if gone.done():
                    raise Cancelled("The client went away.")
                raise Busy(
                    f"This took longer than {limit:g} s and was stopped. Ask for less data, or try again later.",
                    retry_after=30,
                )
            return task.result()
        finally:
            gone.cancel()
            task.cancel()


async def _disconnected(request: Request) -> None:
    """Return when the client has gone away. The body was read before."""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return
