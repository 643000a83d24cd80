"""Search in all kinds of records."""

from __future__ import annotations

from typing import Annotated, NotRequired

from fastapi import APIRouter, Query
from pydantic import BeforeValidator, Field
from typing_extensions import TypedDict

from workbench.operations.arguments import whole
from workbench.records import Project
from workbench.store.records import search
from workbench.store.scope import Scope
from workbench.table import time_text, to_micros

from ..auth import QueryReader
from ..parameters import Paging, Text, ids_of, paging, without_nul
from ..routing import Route

router = APIRouter(route_class=Route, tags=["Search"])


class Hit(TypedDict):
    id: str
    entity_type: str
    name: str
    project_id: str | None
    created_at: str
    parent_id: str | None
    parent_name: NotRequired[str | None]


class Found(TypedDict):
    results: list[Hit]
    query: str
    total: int
    limit: int
    offset: int


@router.get("/search")
def find(
    context: QueryReader,
    q: Annotated[str, Field(min_length=2), BeforeValidator(without_nul), Query(description="The text.")],
    paged: Annotated[Paging, paging(25, 100)],
    entity_types: Annotated[
        list[Text], Query(description="Only these kinds; may be repeated.", default_factory=list)
    ],
    per_type: Annotated[
        int, Field(ge=1, le=20), BeforeValidator(whole), Query(description="Most results of a kind.")
    ] = 5,
    project_id: Annotated[
        Text | None, ids_of(Project, "What belongs to a project is restricted to this one.")
    ] = None,
    parent_names: Annotated[
        bool, Query(description="Also the name of the record one level up, as the cell of a test.")
    ] = False,
) -> Found:
    """Search names by any part and free texts by the beginnings of words."""
    # Kinds that the project does not restrict are searched in all projects that the caller can reach.
    visible = context.store.people.visible(context.caller)
    answer = search.search(
        context.store,
        q,
        Scope(context.scope.organization_id, context.scope.project_id, visible),
        limit=paged.limit,
        offset=paged.offset,
        per_type=per_type,
        entity_types=entity_types or None,
    )
    results: list[Hit] = [
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
    if parent_names:
        for shown, hit in zip(results, answer.results, strict=True):
            shown["parent_name"] = hit.parent_name
    return {
        "results": results,
        "query": answer.query,
        "total": answer.total,
        "limit": answer.limit,
        "offset": answer.offset,
    }
