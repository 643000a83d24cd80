"""The one way of a request: limits, credential, parameters, body, scope, handler, answer."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from workbench.errors import Busy, Cancelled, Later, WorkbenchError
from workbench.store.people import Caller

from . import access, answers, faults, forms, log, query
from .call import Call
from .operation import Need, Operation
from .state import State


def endpoint(operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    """The ASGI endpoint of an operation."""

    async def serve(request: Request) -> Response:
        return await _Request(operation, request).answer()

    return serve


class _Request:
    def __init__(self, operation: Operation, request: Request) -> None:
        self.operation = operation
        self.request = request
        self.state: State = request.app.state.workbench
        self.id: str = request.state.request_id
        self.caller: Caller | None = None
        self.cancel = threading.Event()

    async def answer(self) -> Response:
        started = time.perf_counter()
        try:
            response = await self._answered()
        except WorkbenchError as error:
            if error.status >= 500 and not isinstance(error, Later):
                log.failed("request failed", request=self.id, operation=self.operation.name)
            response = faults.response(error, self.id)
            if error.status in (401, 403):
                await self._refused(error)
        except Exception:
            log.failed("request broke", request=self.id, operation=self.operation.name)
            response = Response(answers.dumps(faults.broken(self.id)), 500, media_type=answers.JSON)
        self._log(response.status_code, started)
        return response

    async def _answered(self) -> Response:
        operation, request = self.operation, self.request
        call = Call(
            state=self.state,
            operation=operation,
            request_id=self.id,
            base_url=self._base_url(),
            path=request.path_params,
            headers=request.headers,
            cancel=self.cancel,
        )
        if operation.body is None and not operation.heavy:
            return answers.response(await self._run(self.state.quick, lambda: self._at_once(call)))
        # A body is read only from those who may send one.
        await self._run(self.state.quick, lambda: self._admit(call))
        try:
            if operation.body is not None:
                call.body = await forms.received(request, operation.body, self.state)
            threads = self.state.plans if operation.heavy else self.state.quick
            answer = await self._watched(self._run(threads, lambda: _handled(call)))
            return answers.response(answer)
        finally:
            forms.dispose(call.body)

    def _at_once(self, call: Call) -> Any:
        self._admit(call)
        return _handled(call)

    def _admit(self, call: Call) -> None:
        """Credential, rate and parameters; what a path alone allows is looked at too."""
        operation, request = self.operation, self.request
        if operation.need not in (Need.NOTHING, Need.SIGNED):
            headers = {name.lower(): value for name, value in request.headers.items()}
            self.caller = call.caller_or_none = access.caller(self.state.store, headers)
            self.state.rates.take(self.caller.key_id or self.caller.user.id)
        call.query = query.read(operation, request.query_params.multi_items())
        if operation.before is not None:
            operation.before(call)

    async def _run(self, threads: Any, work: Callable[[], Any]) -> Any:
        organization = self.caller.organization.id if self.caller is not None else ""
        return await threads.run(organization, work, self.cancel.set)

    async def _watched(self, work: Awaitable[Any]) -> Any:
        """The answer of work, unless it takes too long or the client goes away before; then it is told to stop."""
        if not self.operation.heavy:
            return await work
        task = asyncio.ensure_future(work)
        gone = asyncio.ensure_future(_gone(self.request))
        try:
            limit = self.state.settings.request_seconds
            await asyncio.wait({task, gone}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError, WorkbenchError):
                    await task
                if gone.done():
                    raise Cancelled("The client went away.")
                raise Busy(f"This took longer than {limit:g} s and was stopped.", retry_after=30)
            return task.result()
        finally:
            gone.cancel()
            task.cancel()

    def _base_url(self) -> str:
        url = self.state.settings.public_url or str(self.request.base_url)
        return url.rstrip("/")

    async def _refused(self, error: WorkbenchError) -> None:
        """Write a refusal down; at most some per second, since anybody can cause one."""
        with suppress(WorkbenchError):
            self.state.refusals.take("")
            await self._run(self.state.quick, lambda: self._note(error))

    def _note(self, error: WorkbenchError) -> None:
        caller, store = self.caller, self.state.store
        with store.transaction() as db:
            store.people.note(
                db,
                self.operation.name,
                caller.organization.id if caller else None,
                caller.user.id if caller else None,
                key_id=caller.key_id if caller else None,
                target=next(iter(self.request.path_params.values()), None) if caller else None,
                status=error.status,
                request=self.id,
            )

    def _log(self, status: int, started: float) -> None:
        caller = self.caller
        log.told(
            "request",
            request=self.id,
            operation=self.operation.name,
            status=status,
            ms=round((time.perf_counter() - started) * 1000, 2),
            key=caller.key_id if caller else None,
            organization=caller.organization.id if caller else None,
        )


def _handled(call: Call) -> Any:
    """Scope, handler and, for JSON, the serialiser, all in one thread."""
    if call.cancel.is_set():
        raise Cancelled("The client went away.")
    if call.operation.need not in (Need.NOTHING, Need.SIGNED):
        access.arrive(call)
    answer = call.operation.handler(call)
    if isinstance(answer, dict | list):
        return answers.Bytes(answers.dumps(answer), answers.JSON)
    return answer


async def _gone(request: Request) -> None:
    """Returns when the client has gone away; its body has been read by then."""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return
