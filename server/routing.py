"""The route class: what happens to every request before and after its FastAPI endpoint.

A FastAPI route reads the body before its dependencies run, and runs plain functions on one pool of threads. Ours

1. checks key and rate before it reads a byte of the body,
2. bounds and unpacks the body,
3. finds the scope and checks the rights,
4. runs the endpoint on the threads for its kind of work, and what it says is slow on those for such work,
5. answers every error in one shape.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import request_params_to_args
from fastapi.exceptions import RequestValidationError
from fastapi.params import Form
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from workbench.errors import Cancelled, Invalid, Later, Problem, WorkbenchError, instead
from workbench.operations.operation import Argument

from . import auth, errors, kept_answers, log, responses
from .auth import POSITIONS, Access
from .context import RequestContext, Slow
from .kept_answers import FromStore
from .requests import BoundedRequest
from .schemas import Annotation, Json
from .state import State

if TYPE_CHECKING:
    from fastapi._compat import ModelField

Function: TypeAlias = Callable[..., Any]
"""A function that FastAPI calls with what its signature asks for."""
Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Endpoint = TypeVar("Endpoint", bound=Function)
Size = Literal["tiny", "small", "large", "upload"]
_MOST_QUERIES = 256
"""Query strings that a route remembers."""
_STATUSES: dict[int | str, Json] = {
    400: {"description": "A reference of the wrong kind, or a body that cannot be unpacked."},
    401: {"description": "No key, or one that is unknown, revoked or expired."},
    403: {"description": "The caller may read it, but not do this."},
    404: {"description": "It does not exist, or the caller cannot reach it."},
    409: {"description": "A name is taken, or the state does not allow the action."},
    413: {"description": "The body is too large."},
    422: {"description": "The request is wrong; detail says what and where."},
    429: {"description": "Too many requests with this key."},
    500: {"description": "The server failed."},
    503: {"description": "The server is busy."},
}


def heavy(endpoint: Endpoint) -> Endpoint:
    """Marks an endpoint that runs a plan, draws or reads files: it runs on the threads for such work."""
    endpoint.__dict__["heavy"] = True
    return endpoint


def takes(size: Size) -> Callable[[Endpoint], Endpoint]:
    """Says how large the body of an endpoint may be. Without it the limit is ``large``, that of records."""

    def marked(endpoint: Endpoint) -> Endpoint:
        endpoint.__dict__["takes"] = size
        return endpoint

    return marked


def checked_first(check: Callable[[RequestContext], None]) -> Callable[[Endpoint], Endpoint]:
    """Says what is checked before the body is read, if the path itself gives the right."""

    def marked(endpoint: Endpoint) -> Endpoint:
        endpoint.__dict__["checked_first"] = check
        return endpoint

    return marked


class Route(APIRoute):
    """A FastAPI route with our checks before and after it. See the module."""

    def __init__(self, path: str, endpoint: Function, **options: Annotation) -> None:
        self.access = _access(endpoint)
        self.heavy = bool(getattr(endpoint, "heavy", False))
        self.size: Size = getattr(endpoint, "takes", "large")
        self.checked_first: Callable[[RequestContext], None] | None = getattr(endpoint, "checked_first", None)
        method = next(iter(options["methods"]))
        self.operation = f"{method} {path}"
        # Such an endpoint may be called twice, see `Host.reading`. A sign-in, which has no credential yet, may not.
        self._kept: FromStore | None = getattr(endpoint, "from_store", None)
        if self._kept is not None and (self.heavy or self.access.credential != "key"):
            raise TypeError(f"{endpoint.__qualname__} is heavy or needs no key, so its answers cannot be kept.")
        self._only_reads = not self.heavy and (
            (method == "GET" and self.access.credential != "none") or self._kept is not None
        )
        if not options.get("summary"):
            options["summary"] = _first_sentence(endpoint)
            options.setdefault("description", inspect.getdoc(endpoint) or "")
        options["responses"] = {**_STATUSES, **(options.get("responses") or {})}
        options.setdefault("operation_id", None)
        options["operation_id"] = options["operation_id"] or _identifier(method, path)
        options["openapi_extra"] = _extra(self.access, path, options.get("openapi_extra"))
        if options.get("response_class") is None:
            options.pop("response_class", None)
        super().__init__(path, self._on_threads(endpoint), **options)
        self._begins = path.partition("{")[0]
        self._slashes = 0 if ":path}" in path else path.count("/")
        self._query = list(_query_fields(self.dependant))
        self._taken = {one.alias: "list[" in str(one.field_info.annotation) for one in self._query}
        """The query parameters, and whether each may be repeated."""
        # What a query string means never changes, and FastAPI takes longer to read one than SQLite to answer it.
        self._reads_query_alone = method == "GET" and self.body_field is None and _is_of_query(self.dependant)
        self._queries: dict[bytes, dict[str, Argument]] = {}
        self._known = errors.names_at(_body_model(self))
        info = None if self.body_field is None else self.body_field.field_info
        self._is_json = info is not None and not isinstance(info, Form)
        if isinstance(info, Form):
            info.media_type = "multipart/form-data"

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """As FastAPI's, but faster: the beginning of the path and its slashes exclude most routes."""
        if not scope.get("root_path"):
            path: str = scope["path"]
            if not path.startswith(self._begins) or (self._slashes and path.count("/") != self._slashes):
                return Match.NONE, {}
        return super().matches(scope)

    def _on_threads(self, endpoint: Function) -> Callable[..., Awaitable[Response]]:
        """The endpoint as FastAPI calls it: rights are checked, then it runs on the threads for its kind of work."""
        parameters = inspect.signature(endpoint, eval_str=True).parameters
        context_name = next(name for name, one in parameters.items() if _access_of(one) is not None)
        positions = [name for name in parameters if f"{{{name}}}" in self.operation]

        @functools.wraps(endpoint)
        async def called(**given: Argument) -> Response:
            context: RequestContext = given[context_name]
            if self._reads_query_alone and len(self._queries) < _MOST_QUERIES:
                query = {name: one for name, one in given.items() if name not in (context_name, *positions)}
                self._queries.setdefault(context.request.scope["query_string"], query)

            def work() -> Response | Slow:
                if self._only_reads:
                    return context.reading(answered)
                context.reading(lambda: self._arrive(context))
                return answered()

            def answered() -> Response | Slow:
                if self._kept is None:
                    return made()
                self._admit_again(context)
                return kept_answers.answered(context, self._kept, made)

            def made() -> Response | Slow:
                self._arrive(context)
                if context.cancel.is_set():
                    raise Cancelled("The client went away.")
                answer = endpoint(**given)
                return answer if isinstance(answer, Slow) else responses.response(answer)

            answer = await (context.heavily(work) if self.heavy else context.quickly(work))
            return await context.heavily(answer.work) if isinstance(answer, Slow) else answer

        async def again(context: RequestContext, query: dict[str, Any]) -> Response:
            path = {name: context.path[name] for name in positions}
            return await called(**{context_name: context}, **path, **query)

        self._again = again
        return called

    def _arrive(self, context: RequestContext) -> None:
        auth.admit(context, self.access)
        auth.arrive(context, self.access, context.request.parsed)

    def get_route_handler(self) -> Handler:
        """The handler of FastAPI, with our context, limits and errors."""
        handle = super().get_route_handler()

        async def serve(raw: Request) -> Response:
            state: State = raw.app.state.workbench
            request = BoundedRequest(raw, state.settings.most(self.size), state.files)
            if self._is_json:
                request.read_as_json()
            context = RequestContext(state, request, self.operation)
            raw.scope["workbench"] = context
            started = time.perf_counter()
            try:
                response = await self._handled(handle, request, context)
                if context.assistant and context.signed_in is not None and not context.noted:
                    # What an assistant reads is answered only if it is in the audit log.
                    await context.quickly(context.note_outcome)
            except WorkbenchError as error:
                response = await self._refused(context, error)
            except Exception as error:  # Whatever broke, the client gets an error without inner details.
                log.failed("request broke", request=context.id, operation=self.operation)
                response = errors.unforeseen(error, context.id)
            finally:
                request.dispose()
            if responses.packs(response, raw.headers.get("accept-encoding", "")):
                await kept_answers.pack(response)
            self._log(context, response.status_code, started)
            return response

        return serve

    async def _handled(
        self,
        handle: Handler,
        request: BoundedRequest,
        context: RequestContext,
    ) -> Response:
        # Of some uploads FastAPI knows no body: a dependency writes it to the disk.
        takes_body, known = self.body_field is not None or self.size == "upload", True
        if takes_body or self.heavy or self.checked_first is not None:
            # The body is read only from a caller who may send one.
            known = self._admitted_at_once(context)
            if not known:
                await context.quickly(lambda: self._admit(context))
            if (
                takes_body
                and self.size in ("large", "upload")
                and request.is_long(context.state.settings.small_body)
            ):
                # Nor is a long body read from one who may not do this, whatever is in it.
                await context.quickly(
                    lambda: context.reading(lambda: context.ahead(lambda: self._arrive(context)))
                )
        if self._kept is not None and known:  # for a key that is not remembered nothing else is
            if takes_body:
                await request.body()
            found = context.at_once(lambda: self._remembered(context))
            if found is not None:
                return kept_answers.KeptResponse(found)
        query = self._queries.get(request.scope["query_string"])
        if query is not None:
            return await self._again(context, query)
        try:
            self._refuse_unknown(request)
            return await handle(request)
        except RequestValidationError as error:
            in_body = all(found["loc"][:1] == ("body",) for found in error.errors())
            # A caller who may not do this at all gets that error first.
            await context.quickly(lambda: self._arrive(context) if in_body else self._admit(context))
            raise errors.invalid(error, self._known, request.parsed) from None
        except Invalid:
            await context.quickly(lambda: self._admit(context))
            raise
        except HTTPException as error:
            # FastAPI puts an error of its own around one that came up while it read the body.
            if isinstance(error.__cause__, WorkbenchError):
                raise error.__cause__ from None
            raise

    def _admit(self, context: RequestContext) -> None:
        context.reading(lambda: auth.admit(context, self.access))
        if self.checked_first is not None:
            self.checked_first(context)

    def _admitted_at_once(self, context: RequestContext) -> bool:
        """Check key and rate if the store need not be asked for that; whether it was done."""
        if self.access.credential != "key" or self.checked_first is not None:
            return False

        def admitted() -> bool:
            auth.admit(context, self.access)
            return True

        return bool(context.at_once(admitted))

    def _admit_again(self, context: RequestContext) -> None:
        """Who asks is found out again at the moment of the answer, which is kept for them."""
        context.signed_in = None
        auth.admit(context, self.access)

    def _remembered(self, context: RequestContext) -> kept_answers.KeptAnswer | None:
        self._admit_again(context)
        return None if self._kept is None else kept_answers.kept(context, self._kept)

    def _refuse_unknown(self, request: Request) -> None:
        """Refuse query parameters that the route does not have, and single ones that are given twice. Other problems of
        the query are reported with them."""
        sent = request.query_params
        problems = []
        for name in sent:
            if name not in self._taken:
                message = f"There is no parameter '{name[:80]}' here. {instead(name, self._taken, 'parameters')}"
                problems.append(Problem((name,), message, "extra_forbidden"))
            elif not self._taken[name] and len(sent.getlist(name)) > 1:
                message = f"'{name}' is given {len(sent.getlist(name))} times; give it once."
                problems.append(Problem((name,), message, "value_error"))
        if problems:
            _, wrong = request_params_to_args(self._query, sent)
            named = {problem.loc for problem in problems}
            others = errors.invalid(RequestValidationError(wrong), self._known).problems
            raise Invalid([*problems, *(one for one in others if one.type != "missing" and one.loc not in named)])

    async def _refused(self, context: RequestContext, error: WorkbenchError) -> Response:
        if error.status >= 500 and not isinstance(error, Later):
            log.failed("request failed", request=context.id, operation=self.operation)
        if error.status in (401, 403):
            # Anybody can cause a refusal, so the audit log takes only some of them per second.
            with suppress(WorkbenchError):
                context.state.refusals.take("")
                await context.quickly(lambda: context.note_outcome(error.status))
        elif context.assistant and context.signed_in is not None and not isinstance(error, Later):
            with suppress(WorkbenchError):
                await context.quickly(lambda: context.note_outcome(error.status))
        return errors.response(error, context.id)

    def _log(self, context: RequestContext, status: int, started: float) -> None:
        caller = context.signed_in
        log.event(
            "request",
            request=context.id,
            operation=self.operation,
            status=status,
            ms=round((time.perf_counter() - started) * 1000, 2),
            key=caller.key_id if caller else None,
            organization=caller.organization.id if caller else None,
        )


def _access(endpoint: Function) -> Access:
    """What an endpoint needs of its caller, from the type of its context."""
    for parameter in inspect.signature(endpoint, eval_str=True).parameters.values():
        found = _access_of(parameter)
        if found is not None:
            return found
    raise TypeError(
        f"{endpoint.__qualname__} has no argument of a type such as auth.RecordReader, so nothing says who may call it."
    )


def _access_of(parameter: inspect.Parameter) -> Access | None:
    for mark in getattr(parameter.annotation, "__metadata__", ()):
        dependency = getattr(mark, "dependency", None)
        if isinstance(dependency, Access):
            return dependency
    return None


def _query_fields(dependant: Dependant) -> Iterator[ModelField]:
    """The query parameters of an endpoint and of what it depends on."""
    yield from dependant.query_params
    for below in dependant.dependencies:
        yield from _query_fields(below)


def _is_of_query(dependant: Dependant) -> bool:
    """Whether all that a route takes is in its path and its query, read by our own readers of queries."""
    own = (
        isinstance(one.call, Access) or getattr(one.call, "reads_query", False) for one in dependant.dependencies
    )
    texts = all(one.field_info.annotation is str for one in dependant.path_params)
    return texts and not dependant.header_params and not dependant.cookie_params and all(own)


def _body_model(route: APIRoute) -> type[BaseModel] | None:
    field = route.body_field
    annotation = None if field is None else field.field_info.annotation
    choices = (annotation, *get_args(annotation))
    return next((one for one in choices if isinstance(one, type) and issubclass(one, BaseModel)), None)


def _first_sentence(endpoint: Function) -> str:
    words = " ".join((inspect.getdoc(endpoint) or endpoint.__name__).partition("\n\n")[0].split())
    return words.rstrip(".")


def _identifier(method: str, path: str) -> str:
    words = path.replace("{", "").replace("}", "").replace(":path", "")
    return f"{method.lower()}{words.replace('/', '_').replace('-', '_')}"


def _extra(access: Access, path: str, further: Json | None) -> Json:
    """The positions of the path and the keys of a route, for OpenAPI."""
    positions = [part[1:-1].partition(":")[0] for part in path.split("/") if part.startswith("{")]
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            **({"x-record": POSITIONS[name].table} if name in POSITIONS else {}),
        }
        for name in positions
    ]
    made: Json = {**({"parameters": parameters} if parameters else {}), **(further or {})}
    if access.credential == "key":
        made["security"] = [{"key": []}, {"token": []}]
    return made
