"""What a user has starred, and what they opened last: dashboards and plots, by id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...errors import NotFound
from ...records import Dashboard, Plot
from ..scope import Scope
from .rows import Rows

Kind = Literal["dashboard", "plot"]
KINDS: dict[Kind, type[Dashboard] | type[Plot]] = {"dashboard": Dashboard, "plot": Plot}
MOST_OPENED = 50
"""So many are remembered as opened, of each user."""


@dataclass(frozen=True)
class Bookmark:
    """A record that a user has starred or opened; times are microseconds since 1970."""

    kind: Kind
    record: Dashboard | Plot
    starred_at: int | None
    opened_at: int | None


class Bookmarks:
    """The bookmarks of the users of a store."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._store = rows.store

    def mark(self, actor: str, kind: Kind, id: str, scope: Scope, *, starred: bool | None = None) -> None:
        """Note that a user opened a record, or with ``starred`` that they put a star on it or took it away.

        Raises
        ------
        NotFound
            If the user cannot reach it.
        """
        self._rows.get(KINDS[kind], id, scope)
        column = "opened_at" if starred is None else "starred_at"
        with self._store.transaction() as db:
            now = None if starred is False else self._store.tick(db)
            db.execute(
                f"insert into user_items (user_id, kind, id, {column}) values (?, ?, ?, ?) "  # noqa: S608
                f"on conflict (user_id, kind, id) do update set {column} = excluded.{column}",
                [actor, kind, id, now],
            )
            db.execute(
                "update user_items set opened_at = null where user_id = ? and opened_at < "
                "(select opened_at from user_items where user_id = ? and opened_at is not null "
                "order by opened_at desc limit 1 offset ?)",
                [actor, actor, MOST_OPENED - 1],
            )
            db.execute(
                "delete from user_items where user_id = ? and starred_at is null and opened_at is null", [actor]
            )

    def of(self, actor: str, scope: Scope) -> list[Bookmark]:
        """The bookmarks of a user that are in reach and still there; the one that was opened last is first."""
        rows = self._store.execute(
            "select kind, id, starred_at, opened_at from user_items where user_id = ? "
            "order by opened_at is null, opened_at desc, starred_at desc",
            [actor],
        )
        found = []
        for kind, id, starred_at, opened_at in rows.fetchall():
            record = self._there(kind, id, scope)
            if record is not None:
                found.append(Bookmark(kind, record, starred_at, opened_at))
        return found

    def _there(self, kind: Kind, id: str, scope: Scope) -> Dashboard | Plot | None:
        try:
            return self._rows.get(Plot, id, scope) if kind == "plot" else self._rows.get(Dashboard, id, scope)
        except NotFound:
            return None
