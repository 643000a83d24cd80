"""Search across all kinds of records in reach."""

from __future__ import annotations

from typing import Any

from workbench.records import Project
from workbench.store import search
from workbench.store.scope import Scope
from workbench.table import time_text, to_micros

from .. import query
from .. import schemas as s
from ..call import Call
from ..operation import Need, Operation, Parameter


def found(call: Call) -> dict[str, Any]:
    # Kinds that no project restricts are still those of projects that the caller may look into.
    scope = Scope(call.scope.organization_id, call.scope.project_id, call.store.people.visible(call.caller))
    asked = call.query
    answer = search.search(
        call.store,
        asked["q"],
        scope,
        limit=asked["limit"],
        offset=asked["offset"],
        per_type=asked["per_type"],
        entity_types=asked["entity_types"] or None,
    )
    results = [
        {
            "id": hit.id,
            "entity_type": hit.entity_type,
            "name": hit.name,
            "project_id": hit.project_id,
            "created_at": time_text(to_micros(hit.created_at)),
            "parent_id": hit.parent_id,
        }
        for hit in answer.results
    ]
    return {
        "results": results,
        "query": answer.query,
        "total": answer.total,
        "limit": answer.limit,
        "offset": answer.offset,
    }


_HIT = s.record(
    {"id": s.TEXT, "entity_type": s.TEXT, "name": s.TEXT},
    {"project_id": s.TEXT_OR_NULL, "created_at": s.TIME, "parent_id": s.TEXT_OR_NULL},
)

OPERATIONS = (
    Operation(
        "GET",
        "/search",
        found,
        Need.READ,
        "Search names by any part and free texts by the beginnings of words",
        project="query",
        query=(
            Parameter("q", {"type": "string", "minLength": 2}, "The text.", required=True),
            query.integer("limit", 1, 100, 25, "Results of this page."),
            query.integer("offset", 0, query.MOST_ROWS, 0, "Results to skip."),
            query.integer("per_type", 1, 20, 5, "Most results of a kind."),
            query.text("entity_types", "Only these kinds; may be repeated.", many=True),
            query.text("project_id", "What belongs to a project is restricted to this one.", kind=Project),
        ),
        answer=s.record(
            {"results": s.array(_HIT), "query": s.TEXT, "total": s.NUMBER, "limit": s.NUMBER, "offset": s.NUMBER}
        ),
    ),
)
