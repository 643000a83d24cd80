"""How an operation is declared: a capability that a local bench, a remote bench and HTTP share.

    class PlotOperations:
        @operation("GET", "/projects/{project_id}/.../plots/{plot_id}/revisions/{number}", Right.READ)
        def revision(self: Local, plot: Plot, number: int) -> Revision:
            \"""One revision of a plot.\"""
            return self.store.plots.revision(plot.id, number, self.scope)

The signature is the contract on both sides. A position ``{plot_id}`` of the path takes its value from the argument
``plot``, a record, or from an argument ``plot_id``, or from the field ``plot_id`` of another record.
``{project_id}`` is the project of the bench. All other arguments are query parameters of GET and DELETE, and fields of
the JSON body of POST, PATCH and PUT. The function returns the answer; pydantic turns it into JSON and back.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    runtime_checkable,
)
from typing import get_type_hints as hints_of

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, create_model

from ..cached_property import cached_property
from ..errors import Invalid, NotFound, Problem
from ..records import Project, Record
from ..records.values import is_whole
from ..store.records.people import Right

if TYPE_CHECKING:
    from ..fan_out import FanOut
    from ..store import Scope, Store, Transaction
    from ..store.cache.cache import Cache

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
L = TypeVar("L")
Detail = str | int | float | bool | None
"""A detail of an entry in the audit log."""
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
MOST_ROWS = 10_000_000
Limit = Annotated[int, Field(ge=1, le=1000, description="Rows of a page.")]
Offset = Annotated[int, Field(ge=0, le=MOST_ROWS, description="Rows to skip.")]
Annotation: TypeAlias = Any
"""A type as pydantic takes it, with its marks. Python has no type for these."""
Argument: TypeAlias = Any
"""An argument of an operation. Its signature says the type."""
Arguments = Mapping[str, Argument]
"""The arguments of an operation by name."""
Sent: TypeAlias = Any
"""JSON values as they arrive; what reads them checks them."""
LOCAL_ONLY = frozenset({"cancel"})
"""Arguments that are not sent: the server has its own."""


@dataclass(frozen=True)
class WholeBody:
    """Marks an argument that is the whole JSON body. The model describes it; the function checks it."""

    model: type[BaseModel]


@runtime_checkable
class _Coded(Protocol):
    """An answer that turns itself into JSON values."""

    def as_dict(self) -> dict[str, JsonValue]: ...


class Local(Protocol):
    """What the function of an operation can use: a store as one user sees it."""

    @property
    def store(self) -> Store: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def cache(self) -> Cache: ...
    @property
    def actor(self) -> str: ...
    @property
    def fan_out(self) -> FanOut: ...
    def writing(self, target: str | None = None, **detail: Detail) -> AbstractContextManager[Transaction]:
        """One transaction for what an operation changes; a server adds an entry to its audit log."""
        ...


class Carrier(ABC):
    """Carries operations out: on a store here, or on a server."""

    @property
    @abstractmethod
    def project(self) -> Project:
        """The project of the bench."""

    @abstractmethod
    def carry_out(self, operation: Operation[..., R], arguments: Arguments) -> R:
        """The answer of an operation for these arguments, which include the defaults."""


@dataclass
class Page(Generic[T]):
    """A page of a list: its items, their number, and how many items match in all."""

    items: Sequence[T]
    count: int
    total: int


def pages(ask: Callable[[int, int], Page[T]], size: int = 1000) -> Iterator[T]:
    """All rows of a list, page by page; ``ask(limit, offset)`` gives one."""
    offset = 0
    while True:
        page = ask(size, offset)
        yield from page.items
        offset += page.count
        if not page.count or offset >= page.total:
            return


def rows_of(
    ask: Callable[[int, int], list[T]], limit: int | None = None, offset: int = 0, size: int = 1000
) -> list[T]:
    """Rows of a list whose answers are plain arrays, page by page; without a ``limit`` all of them."""
    found: list[T] = []
    while limit is None or len(found) < limit:
        most = size if limit is None else min(size, limit - len(found))
        page = ask(most, offset + len(found))
        found += page
        if len(page) < most:
            break
    return found


@dataclass(frozen=True)
class Operation(Generic[P, R]):
    """The declaration of a capability. As an attribute of a backend it is a method.

    Parameters
    ----------
    right : the right that the caller needs in the project; None: only for Admins.
    project : where a request names the project: in the path, the query or the body. ``record``: the project of the
        first record of the path. ``none``: the operation is about the whole store.
    heavy : it reads files, draws or runs a plan; a server bounds how many of these run at the same time.
    reads : it changes nothing, so that a request may be sent again; GET always does.
    since : the first version of a server that has it.
    status : the status of an answer; 202 where the work goes on after it.
    """

    method: Method
    path: str
    right: Right | None
    function: Callable[..., R]
    project: Literal["path", "query", "body", "record", "none"] = "path"
    heavy: bool = False
    reads: bool = False
    since: str = "0.1.0"
    status: int = 200

    @property
    def name(self) -> str:
        return self.function.__name__

    def __get__(self, carrier: Carrier, owner: type[object]) -> Callable[P, R]:
        if carrier is None:
            return self

        @functools.wraps(self.function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = self.signature.bind(carrier, *args, **kwargs)
            bound.apply_defaults()
            _, *names = self.signature.parameters
            return carrier.carry_out(self, {name: bound.arguments[name] for name in names})

        return called

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @cached_property
    def types(self) -> dict[str, Annotation]:
        """The type of each argument, and of the answer under ``return``."""
        return hints_of(self.function, include_extras=True)

    @cached_property
    def positions(self) -> tuple[str, ...]:
        """The names of the positions of the path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))

    @cached_property
    def sent(self) -> dict[str, inspect.Parameter]:
        """The arguments that are sent in the query or the body."""
        _, *parameters = self.signature.parameters.values()
        return {
            one.name: one
            for one in parameters
            if one.name not in LOCAL_ONLY
            and one.name not in self.positions
            and f"{one.name}_id" not in self.positions
        }

    @cached_property
    def whole_body(self) -> tuple[str, type[BaseModel]] | None:
        """The argument that is the whole body, and the model that describes it."""
        for name in self.sent:
            for mark in getattr(self.types[name], "__metadata__", ()):
                if isinstance(mark, WholeBody):
                    return name, mark.model
        return None

    @cached_property
    def body(self) -> type[BaseModel] | None:
        """The model of the JSON body; None if there is no body."""
        if self.method in ("GET", "DELETE"):
            return None
        fields: dict[str, Annotation] = {}
        if self.project == "body":
            fields["project_id"] = (Annotated[str, Field(json_schema_extra={"x-record": "projects"})], ...)
        for name, one in self.sent.items():
            fields[name] = (self.types[name], ... if one.default is inspect.Parameter.empty else one.default)
        if not fields:
            return None
        title = "".join(part.capitalize() for part in self.name.split("_"))
        return create_model(f"{title}Body", __config__=ConfigDict(extra="forbid", strict=True), **fields)

    @cached_property
    def answer(self) -> TypeAdapter[R]:
        """Turns the answer into JSON values and back."""
        return TypeAdapter(self.types["return"])

    # The remote side

    def address(self, carrier: Carrier, arguments: Arguments) -> str:
        """The path of a request with these arguments."""
        made = self.path
        for position in self.positions:
            made = made.replace(f"{{{position}}}", self.position(position, carrier, arguments), 1)
        return made

    def position(self, name: str, carrier: Carrier, arguments: Arguments) -> str:
        """The text for a position of the path; NotFound if no record can be meant."""
        return _segment(name, carrier, arguments)

    def query(self, carrier: Carrier, arguments: Arguments) -> dict[str, Argument]:
        """The query parameters of a request with these arguments."""
        made: dict[str, Argument] = {"project_id": carrier.project.id} if self.project == "query" else {}
        if self.body is None:
            made |= {name: _text_of(name, arguments[name]) for name in self.sent if arguments[name] is not None}
        return made

    def content(self, carrier: Carrier, arguments: Arguments) -> dict[str, JsonValue] | None:
        """The JSON body of a request with these arguments."""
        if self.whole_body is not None:
            return dict(arguments[self.whole_body[0]])
        if self.body is None:
            return None
        own: dict[str, JsonValue] = {"project_id": carrier.project.id} if self.project == "body" else {}
        return own | {name: arguments[name] for name in self.sent if _is_said(self.sent[name], arguments[name])}

    def encoded(self, answer: R) -> JsonValue:
        """An answer as JSON values."""
        if isinstance(answer, _Coded):
            return answer.as_dict()
        made: JsonValue = self.answer.dump_python(answer, mode="json", by_alias=True)
        return made

    def decoded(self, sent: Sent) -> R:
        """An answer from JSON values."""
        made: R = self._decode(sent)
        return made

    @cached_property
    def _decode(self) -> Callable[[Sent], Annotation]:
        """Makes an answer from JSON values."""
        kind = self.types["return"]
        if hasattr(kind, "as_dict"):
            made: Callable[[Sent], Annotation] = kind.of
            return made
        origin: Annotation = get_origin(kind)
        (of,) = get_args(kind) if origin is list else (kind,)
        if not (isinstance(of, type) and issubclass(of, Record)):
            return self.answer.validate_python

        def record(sent: Sent) -> Record:
            return of.checked(of.from_wire(sent))

        return record if of is kind else lambda sent: [record(one) for one in sent]


def _is_said(parameter: inspect.Parameter, value: Argument) -> bool:
    return value is not None or parameter.default is inspect.Parameter.empty


def _text_of(name: str, value: Argument) -> str:
    """A query parameter as it is sent.

    Raises
    ------
    Invalid
        For what is neither a text nor a number, and for a text that cannot be sent.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise Invalid(Problem((name,), f"'{name}' must be a text, a number, or true or false.", "value_error"))
    if not is_whole(str(value)):
        raise Invalid(Problem((name,), "Text must be whole Unicode characters without NUL.", "value_error"))
    return str(value)


def _segment(position: str, carrier: Carrier, arguments: Arguments) -> str:
    """The text for a position of a path."""
    found = arguments.get(position, arguments.get(position.removesuffix("_id")))
    if isinstance(found, Record):
        found = found.id
    if found is None:
        records = (one for one in arguments.values() if isinstance(one, Record))
        found = next((getattr(one, position) for one in records if hasattr(one, position)), None)
    if found is None and position == "project_id":
        found = carrier.project.id
    text = "" if found is None else str(found)
    if not text or "/" in text or not is_whole(text) or not text.isprintable():
        # The same words as the store's: no id is empty, and one with a slash is not one position of a path.
        raise NotFound(f"There is no {position.removesuffix('_id').replace('_', ' ')} '{text}'.")
    return text


def operation(
    method: Method,
    path: str,
    right: Right | None,
    *,
    project: Literal["path", "query", "body", "record", "none"] = "path",
    heavy: bool = False,
    reads: bool = False,
    since: str = "0.1.0",
    status: int = 200,
) -> Callable[[Callable[Concatenate[L, P], R]], Operation[P, R]]:
    """Declares a method as an operation. See `Operation` for the parameters, and the module for the meaning."""

    def declared(function: Callable[Concatenate[L, P], R]) -> Operation[P, R]:
        return Operation(method, path, right, function, project, heavy, reads or method == "GET", since, status)

    return declared
