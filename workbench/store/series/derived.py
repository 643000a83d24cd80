"""The rules that made derived tables: which rule made steps, cycles and search, and which rules are older than today's.

A rule is a number beside the code that it is about. Counts have no rule: they are computed when they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from ...quick_import import later
from ...records import Measurement
from ..db.connections import Transaction
from ..db.database_file import Host
from ..db.facts import set_fact
from ..records import search
from ..records.tables import reach, values_of
from ..scope import Scope

if TYPE_CHECKING:
    from ...cycling import cycles, steps
else:  # the rules of steps are compared when something was computed by one
    cycles = later("workbench.cycling.cycles")
    steps = later("workbench.cycling.steps")


BEFORE = 1
"""The rule of all that was made before rules were kept."""
_MADE = f"coalesce(l.rule, {BEFORE})"
_OWNING = (
    "(case coalesce(m.source ->> '$.format', '') when '' then exists (select 1 "
    "from json_each(m.source, '$.findings') as f where f.value ->> '$.code' = 'steps_by_state') "
    "when 'exported' then m.source ->> '$.exported_from.format' is not null else true end)"
)
"""Whether the steps of a measurement own every interval: a reader read it, or its steps were numbered here."""
_OF_SERIES = "join series_log as l using (owner, dataset, revision)"
_DERIVED = (
    "m.measurement_type = 'time_series' "
    "and (dataset <> 'steps' or coalesce(m.source ->> '$.steps', '') <> 'given')"
)
"""Tables of steps that were given are used as they are, whatever the rule."""


def today(dataset: str) -> int:
    """The rule by which steps or cycles are made now."""
    return {"steps": steps.RULE, "cycles": cycles.RULE}[dataset]


def rules(*, given: bool = False, reader: int | None = None) -> dict[str, int | None]:
    """What is kept with a measurement that is stored now: the rule of its reader, and those of steps, unless they are
    ``given``, and cycles."""
    return {"series": reader, "steps": None if given else today("steps"), "cycles": today("cycles")}


def rules_of(store: Host, dataset: str, owners: Iterable[str], *, derived: bool = False) -> dict[int, int]:
    """By rule, how many of these measurements have steps or cycles made by it. With ``derived`` given tables do not
    count; then each record is looked at."""
    made = (
        f"select {_MADE}, count(*) from json_each(?) as w "  # noqa: S608
        f"join series as s on s.owner = w.value and s.dataset = ? {_OF_SERIES}"
    )
    only = f"join measurements as m on m.id = owner where {_DERIVED}" if derived else ""
    with store.snapshot() as db:
        return dict(db.execute(f"{made} {only} group by 1 order by 1", (values_of(owners), dataset)))


def in_reach(store: Host, scope: Scope) -> list[str]:
    """The ids of the measurements in scope."""
    clause, params = reach(Measurement, scope)
    with store.snapshot() as db:
        return [id for (id,) in db.execute(f"select id from measurements as t where {clause}", params)]  # noqa: S608


@dataclass(frozen=True)
class Outdated:
    """A measurement with steps or cycles by an older rule than today's; ``datasets`` says which, with their rules.
    ``owning``: its steps own every interval."""

    id: str
    name: str
    datasets: dict[str, int]
    owning: bool = False


def outdated(store: Host, ids: Iterable[str] | None = None) -> list[Outdated]:
    """The measurements, of these or of all, whose steps or cycles an older rule made, the oldest first."""
    chosen = "" if ids is None else "and m.id in (select value from json_each(?))"
    query = (
        f"select m.id, m.name, dataset, {_MADE}, {_OWNING} from series as s {_OF_SERIES} "  # noqa: S608
        f"join measurements as m on m.id = owner where {_DERIVED} {chosen} and dataset in ('steps', 'cycles') "
        f"and {_MADE} < case dataset when 'steps' then ? else ? end "  # the cheap question first
        f"and {_MADE} < case dataset when 'steps' then ? else ? end order by m.id, dataset desc"
    )
    bound = [*([] if ids is None else [values_of(ids)]), *2 * [today("steps"), today("cycles")]]
    found: dict[str, Outdated] = {}
    with store.snapshot() as db:
        for id, name, dataset, made, owning in db.execute(query, bound):
            found.setdefault(id, Outdated(id, name, {}, bool(owning))).datasets[dataset] = made
    return list(found.values())


@dataclass(frozen=True)
class ReadBefore:
    """A measurement that an older rule of its reader read."""

    id: str
    name: str
    format: str
    rule: int


def has_read(store: Host, ids: Iterable[str] | None = None) -> bool:
    """Whether a reader of files read one of these measurements, or any."""
    chosen = "" if ids is None else "and m.id in (select value from json_each(?))"
    query = (
        "select exists (select 1 from measurements as m join series as s on s.owner = m.id "  # noqa: S608
        f"where s.dataset = 'series' and m.source ->> '$.format' <> '' {chosen})"
    )
    with store.snapshot() as db:
        (found,) = db.execute(query, [] if ids is None else [values_of(ids)]).fetchone()
    return bool(found)


def read_before(store: Host, today: Mapping[str, int], ids: Iterable[str] | None = None) -> list[ReadBefore]:
    """The measurements, of these or of all, whose format has a later rule ``today``, the oldest first."""
    chosen = "" if ids is None else "and m.id in (select value from json_each(?))"
    query = (
        f"select m.id, m.name, r.key, {_MADE} from series as s {_OF_SERIES} "  # noqa: S608
        "join measurements as m on m.id = owner join json_each(?) as r on r.key = m.source ->> '$.format' "
        f"where dataset = 'series' and {_MADE} < cast(r.value as integer) {chosen} order by m.id"
    )
    bound = [orjson.dumps(dict(today)).decode(), *([] if ids is None else [values_of(ids)])]
    with store.snapshot() as db:
        return [ReadBefore(*row) for row in db.execute(query, bound)]


def search_rule(store: Host) -> int:
    """The rule by which the search knows the records."""
    with store.snapshot() as db:
        row = db.execute("select value from facts where name = 'search_rule'").fetchone()
    return row[0] if row is not None and isinstance(row[0], int) else BEFORE


def keep_search_rule(db: Transaction) -> None:
    """Note that the search knows all records by today's rule."""
    set_fact(db, "search_rule", search.RULE)
