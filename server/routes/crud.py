"""What all kinds of records share: list, read, make, change, delete; each a handler made from the kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from workbench.errors import BadRequest, Invalid, Problem
from workbench.records import Record
from workbench.store.rules import refuse_kept

from .. import query
from ..answers import Nothing
from ..call import Call
from ..operation import PLACES
from ..schemas import WITHHELD

R = TypeVar("R", bound=Record)
Handler = Callable[[Call], Any]
Shown = Callable[[Call, Sequence[Any]], list[dict[str, Any]]]


def wire(record: Record) -> dict[str, Any]:
    """A record as it stands on the wire."""
    withheld = WITHHELD.get(record.table, frozenset())
    return {name: value for name, value in record.wire().items() if name not in withheld}


def plain(call: Call, records: Sequence[Record]) -> list[dict[str, Any]]:
    return [wire(record) for record in records]


def position(kind: type[Record]) -> str:
    """The name of the path position that holds ids of a kind."""
    return next(name for name, found in PLACES.items() if found is kind)


def lists(
    kind: type[Record], shown: Shown = plain, narrowed: Callable[[Call], Mapping[str, Any]] | None = None
) -> Handler:
    """A page of records; ``narrowed`` gives conditions beside those of the query."""

    def handler(call: Call) -> dict[str, Any]:
        fixed = narrowed(call) if narrowed is not None else {}
        with call.store.snapshot():
            page = call.store.rows.page(kind, call.scope, **query.page(kind, call.query, **fixed))
            return {"items": shown(call, page.items), "count": page.count, "total": page.total}

    return handler


def reads(kind: type[Record], shown: Shown = plain) -> Handler:
    def handler(call: Call) -> dict[str, Any]:
        return shown(call, [call.record(kind, position(kind))])[0]

    return handler


def creates(kind: type[Record], shown: Shown = plain, under: Mapping[str, str] | None = None) -> Handler:
    """A new record of the body; ``under`` says which fields come from which positions of the path."""

    def handler(call: Call) -> dict[str, Any]:
        above = {field: call.path[name] for field, name in (under or {}).items()}
        return shown(call, [create(call, kind, placed(kind, call.body, above))])[0]

    return handler


def placed(kind: type[Record], body: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """A body with what its address says; ``above`` by our own names.

    Raises
    ------
    BadRequest
        If the body says something else.
    """
    wires = {name: kind.members()[name].wire for name in above}
    for name, wire in wires.items():
        if any(body.get(given, above[name]) != above[name] for given in (name, wire)):
            raise BadRequest(f"'{wire}' in the body is not what the address says; leave it out.")
    rest = {name: value for name, value in body.items() if name not in wires}
    return {**rest, **{wire: above[name] for name, wire in wires.items()}}


def from_wire(kind: type[Record], body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a body by our own names.

    Raises
    ------
    Invalid
        If it sets what only the server may.
    """
    values = kind.from_wire(body)
    refuse_kept(kind, values)
    return values


def create(call: Call, kind: type[R], body: Mapping[str, Any]) -> R:
    """Make a record, in one transaction with the account of it; problems are told by their wire names."""
    try:
        with call.writing() as db:
            made: R = call.store.rows.create(
                kind, from_wire(kind, body), scope=call.scope, actor=call.actor, connection=db
            )
            return made
    except Invalid as error:
        raise on_the_wire(kind, error, body) from None


def changes(kind: type[Record], shown: Shown = plain) -> Handler:
    def handler(call: Call) -> dict[str, Any]:
        return shown(call, [change(call, call.record(kind, position(kind)), call.body)])[0]

    return handler


def change(call: Call, record: R, body: Mapping[str, Any]) -> R:
    """Change what the body names, as ``create``."""
    kind = type(record)
    try:
        with call.writing(record.id) as db:
            changed: R = call.store.rows.update(
                kind, record.id, from_wire(kind, body), call.scope, call.actor, connection=db
            )
            return changed
    except Invalid as error:
        raise on_the_wire(kind, error, body) from None


def deletes(kind: type[Record]) -> Handler:
    def handler(call: Call) -> Nothing:
        delete(call, call.record(kind, position(kind)))
        return Nothing()

    return handler


def delete(call: Call, record: Record) -> None:
    """Delete a record and what goes along; chunks of series go afterwards, in small steps."""
    with call.writing(record.id) as db:
        call.store.rows.delete(type(record), record.id, call.scope, connection=db)
        call.store.uploads.detach(db, record.id)
    call.store.series.tidy()


def on_the_wire(kind: type[Record], error: Invalid, body: Mapping[str, Any]) -> Invalid:
    """The same problems with the names that the body uses."""
    members = kind.members()

    def told(problem: Problem) -> Problem:
        first, *rest = problem.loc or ("",)
        if first in members and first not in body:
            return Problem((members[str(first)].wire, *rest), problem.msg, problem.type, problem.ctx)
        return problem

    return Invalid([told(problem) for problem in error.problems])
