"""Answers that are remembered while the store is as it was, so that who asks again costs next to nothing.

Such an answer follows from the store, from the caller, and from what the request says. It is remembered for one key,
and only until the store changes. Whose key it is, and whether it is in force, is found out before it is given, from the
same moment of the store. So somebody whose key, role or account changed never gets what was remembered before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from starlette.responses import Response, StreamingResponse

from . import responses
from .context import RequestContext

Endpoint = TypeVar("Endpoint", bound=Callable[..., object])
Made = TypeVar("Made")
_LARGEST_BODY = 4 << 10
"""A request with a larger body is always answered anew: its answer is hardly asked for twice."""


@dataclass(frozen=True)
class FromStore:
    """What is known of an endpoint whose answers are remembered.

    Parameters
    ----------
    headers : those of the request that its answer depends on.
    counts : the kinds of entries of the cache that each of its answers is made of.
    """

    headers: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()


def from_store(*headers: str, counts: Sequence[str] = ()) -> Callable[[Endpoint], Endpoint]:
    """Marks an endpoint that only reads, and whose answer follows from the store, from its caller, and from the path,
    the query, the body and these ``headers`` of the request: not from the time, from what this process does, or from
    the address of the server. It changes nothing, up to the `Slow` that it may give."""

    def marked(endpoint: Endpoint) -> Endpoint:
        endpoint.__dict__["from_store"] = FromStore(headers, tuple(counts))
        return endpoint

    return marked


@dataclass
class KeptAnswer:
    """A response without what belongs to one request: its id, and whether its client unpacks gzip."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    packed: bytes | None = None

    @classmethod
    def of(cls, answer: object) -> KeptAnswer | None:
        """What is kept of an answer; None for one that is not ready, or is sent in parts."""
        if not isinstance(answer, Response) or isinstance(answer, StreamingResponse):
            return None
        return cls(answer.status_code, tuple(answer.raw_headers), bytes(answer.body))

    @property
    def size(self) -> int:
        """Its bytes, with a packed form, which is hardly ever the larger one."""
        return 2 * len(self.body) + 1024


class KeptResponse(Response):
    """A kept answer, for one request."""

    def __init__(self, kept: KeptAnswer) -> None:
        self.kept = kept
        self.status_code, self.body, self.background = kept.status, kept.body, None
        self.raw_headers = [*kept.headers]  # what sends it adds some


def name_of(context: RequestContext, marked: FromStore) -> Hashable:
    """What a request asks for and who asks; None if its answer is not kept."""
    request, caller = context.request, context.caller
    body = request.read
    if len(body) > _LARGEST_BODY or context.store.unverified:
        return None
    given = tuple(request.headers.get(name) for name in marked.headers)
    who = caller.organization.id, caller.user.id, caller.key_id
    return "answer", context.operation, request.scope["path"], request.scope["query_string"], body, given, who


def kept(context: RequestContext, marked: FromStore) -> KeptAnswer | None:
    """The answer to this request, if it was remembered."""
    name = name_of(context, marked)
    found = None if name is None else context.store.remembered(name, _nothing)
    if found is not None:
        _count(context, marked)
    return found


def _count(context: RequestContext, marked: FromStore) -> None:
    for kind in marked.counts:
        context.state.cache.count_hit(kind)


def _nothing() -> KeptAnswer | None:
    return None


def answered(context: RequestContext, marked: FromStore, make: Callable[[], Made]) -> Made | Response:
    """The answer that ``make`` gives to this request, or one that was remembered."""
    name = name_of(context, marked)
    if name is None:
        return make()
    made: list[Made] = []

    def keep() -> KeptAnswer | None:
        made.append(make())
        return KeptAnswer.of(made[-1])

    found = context.store.remembered(name, keep, lambda one: 0 if one is None else one.size)
    if found is None:
        return made[-1]
    if not made:
        _count(context, marked)
    return KeptResponse(found)


async def pack(found: Response) -> None:
    """Pack an answer with gzip, in a thread; one that is remembered only once."""
    kept = found.kept if isinstance(found, KeptResponse) else None
    packed = None if kept is None else kept.packed
    if packed is None:
        packed = await asyncio.to_thread(responses.packed, bytes(found.body))
        if kept is not None:
            kept.packed = packed
    responses.use_packed(found, packed)
