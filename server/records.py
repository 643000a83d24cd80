"""What the endpoints of all kinds of records share: list, make, change, delete."""

from __future__ import annotations

from typing import TypeVar

from workbench.backend import Fields
from workbench.errors import BadRequest, Invalid, Problem
from workbench.records import Record
from workbench.store.records.constraints import refuse_kept

from . import auth
from .context import RequestContext
from .parameters import Asked, Condition
from .schemas import Json, Page, Shown, page, wire

R = TypeVar("R", bound=Record)


def listed(context: RequestContext, kind: type[R], asked: Asked, **fixed: Condition) -> Page[Shown[R]]:
    """A page of records that the caller can reach; ``fixed`` are further conditions."""
    with context.store.snapshot():
        found = asked.page(context.store.rows, kind, context.scope, **fixed)
        return page([wire(one) for one in found.items], found.total)


def under_path(kind: type[Record], body: Fields, **above: str) -> Json:
    """A body with the ids of the records ``above`` it, which the path names.

    Raises
    ------
    BadRequest
        If the body has other ids.
    """
    wires = {name: kind.members()[name].wire for name in above}
    for name, on_wire in wires.items():
        if any(body.get(given, above[name]) != above[name] for given in (name, on_wire)):
            raise BadRequest(f"'{on_wire}' in the body is not what the path says. Leave it out.")
    rest = {name: value for name, value in body.items() if name not in wires}
    return {**rest, **{on_wire: above[name] for name, on_wire in wires.items()}}


def from_wire(kind: type[Record], body: Fields) -> Json:
    """The fields of a body by our own names.

    Raises
    ------
    Invalid
        If it sets a field that only the server sets.
    """
    values = kind.from_wire(body)
    refuse_kept(kind, values)
    return values


def create(context: RequestContext, kind: type[R], body: Fields) -> R:
    """Make a record, in one transaction with its entry in the audit log. Problems name the fields of the body."""
    try:
        with context.writing() as db:
            made: R = context.store.rows.create(
                kind, from_wire(kind, body), scope=context.scope, actor=context.actor, connection=db
            )
            return made
    except Invalid as error:
        raise on_the_wire(kind, error, body) from None


def change(context: RequestContext, record: R, body: Fields) -> R:
    """Change the fields that the body names; otherwise as ``create``."""
    kind = type(record)
    try:
        with context.writing(record.id) as db:
            changed: R = context.store.rows.update(
                kind, record.id, from_wire(kind, body), context.scope, context.actor, connection=db
            )
            return changed
    except Invalid as error:
        raise on_the_wire(kind, error, body) from None


def delete(context: RequestContext, record: Record) -> None:
    """Delete a record and what belongs to it alone. Chunks of its series are deleted afterwards, in small steps."""
    with context.writing(record.id) as db:
        auth.refuse_loss(context, record, db)
        context.store.rows.delete(type(record), record.id, context.scope, connection=db)
        context.store.uploads.detach(db, record.id)
    context.store.series.tidy()


def on_the_wire(kind: type[Record], error: Invalid, body: Fields) -> Invalid:
    """The same problems with the names that the body uses."""
    members = kind.members()

    def renamed(problem: Problem) -> Problem:
        first, *rest = problem.loc or ("",)
        if first in members and first not in body:
            return Problem((members[str(first)].wire, *rest), problem.msg, problem.type, problem.ctx)
        return problem

    return Invalid([renamed(problem) for problem in error.problems])
