"""``list``: metadata rows of one source."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from ...dataset import Warn
from ...messages import counted, spaced
from ...recipe.plot import Caps
from ...recipe.steps import MOST_LIMIT, ListStep
from ...records import SOURCES
from ...store.records.listing import list_columns
from ...table import Table
from ..plan import Part, Plan, run_step
from ..reader import Reader
from ..warnings import names_of


def list_rows(
    step: ListStep, where: Mapping[str, JsonValue], reader: Reader, caps: Caps
) -> tuple[Table, list[Warn]]:
    """The records in reach that meet ``where``, by ``created_at`` then ``id``.

    Parameters
    ----------
    where : JSON key -> bound condition; references to other steps are resolved.

    Raises
    ------
    Invalid
        A field that the source does not have; places are relative to the step.
    """
    limit = min(step.limit, caps.max_list_rows)
    listed = reader.rows(step.source, where, step.fields, limit)
    warnings = []
    if listed.total > listed.table.n:
        more = _more(limit, caps)
        held = f"{spaced(listed.table.n)} of {counted(listed.total, 'row')}"
        message = f"Only the first {held} are here. Narrow 'where'{more}."
        warnings.append(Warn("list_truncated", message, shown=listed.table.n, total=listed.total))
    if listed.unfilled:
        message = f"No record in reach fills {names_of([*listed.unfilled], 10)}: null in every row."
        meant = dict.fromkeys(name for close in listed.unfilled.values() for name in close[:1])
        message += f" Did you mean {names_of([*meant], 10)}?" if meant else ""
        warnings.append(Warn("field_unfilled", message))
    return listed.table, warnings


def _more(limit: int, caps: Caps) -> str:
    """What would let more rows through, besides a narrower ``where``."""
    if limit == caps.max_list_rows < MOST_LIMIT:
        return " or raise 'caps.max_list_rows'"
    return " or raise 'limit'" if limit < MOST_LIMIT else f"; 'limit' is at most {MOST_LIMIT}"


@run_step.register
def _run(step: ListStep, plan: Plan) -> Part:
    table, warnings = list_rows(step, plan.where(step.where), plan.reader, plan.caps)
    return Part.of_rows(table, warnings, open=table.keys() - list_columns(SOURCES[step.source]).keys())
