"""What the first page shows: dashboards of all projects, and what the caller has starred and opened."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from typing_extensions import TypedDict

from workbench.records import Dashboard, Plot
from workbench.store.records.bookmarks import Bookmark, Kind
from workbench.table import time_text, to_micros

from .. import records
from ..auth import AnyReader
from ..kept_answers import from_store
from ..parameters import Asked, listing
from ..routing import Route
from ..schemas import Page, Shown

router = APIRouter(route_class=Route, tags=["Home"])


class Item(TypedDict):
    """A dashboard or a plot that the caller has starred or opened. ``dashboard_id`` is that of a plot."""

    kind: Kind
    id: str
    name: str
    project_id: str | None
    dashboard_id: str | None
    updated_at: str
    starred_at: str | None
    opened_at: str | None


@router.get("/dashboards")
@from_store()
def list_all_dashboards(
    context: AnyReader, asked: Annotated[Asked, listing(Dashboard, sort="updated_at", order="desc")]
) -> Page[Shown[Dashboard]]:
    """The dashboards of all projects that the caller can read, the one that changed last first."""
    return records.listed(context, Dashboard, asked)


@router.get("/users/me/recent")
def list_recent(context: AnyReader) -> list[Item]:
    """What the caller has starred and what they opened last, of what is in reach."""
    return [_shown(one) for one in context.store.bookmarks.of(context.actor, context.scope)]


@router.put("/users/me/recent/{bookmark_kind}/{bookmark_id}", status_code=204)
def open_item(context: AnyReader, bookmark_kind: Kind, bookmark_id: str) -> None:
    """Note that the caller opened a dashboard or a plot."""
    context.store.bookmarks.mark(context.actor, bookmark_kind, bookmark_id, context.scope)


@router.put("/users/me/stars/{bookmark_kind}/{bookmark_id}", status_code=204)
def star_item(context: AnyReader, bookmark_kind: Kind, bookmark_id: str) -> None:
    """Put a star on a dashboard or a plot."""
    context.store.bookmarks.mark(context.actor, bookmark_kind, bookmark_id, context.scope, starred=True)


@router.delete("/users/me/stars/{bookmark_kind}/{bookmark_id}", status_code=204)
def unstar_item(context: AnyReader, bookmark_kind: Kind, bookmark_id: str) -> None:
    """Take the star away."""
    context.store.bookmarks.mark(context.actor, bookmark_kind, bookmark_id, context.scope, starred=False)


def _shown(one: Bookmark) -> Item:
    return {
        "kind": one.kind,
        "id": one.record.id,
        "name": one.record.name,
        "project_id": one.record.project_id,
        "dashboard_id": one.record.dashboard_id if isinstance(one.record, Plot) else None,
        "updated_at": time_text(to_micros(one.record.updated_at)),
        "starred_at": None if one.starred_at is None else time_text(one.starred_at),
        "opened_at": None if one.opened_at is None else time_text(one.opened_at),
    }
