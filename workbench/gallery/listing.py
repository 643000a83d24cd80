"""The recipes of the gallery for one store: what each answers, and whether the store has what it needs."""

from __future__ import annotations

from typing_extensions import TypedDict

from .catalog import entries
from .entry import Unmet
from .facts import Facts


class GalleryItem(TypedDict):
    """A recipe of the gallery: its question, what it needs, and whether the store has that."""

    name: str
    title: str
    question: str
    needs: str
    analyses: list[str]
    ready: bool
    lacking: str


def listed(facts: Facts) -> list[GalleryItem]:
    """All recipes, those first that the store has the data for."""
    found: list[GalleryItem] = []
    for entry in entries().values():
        lacking = ""
        try:
            entry.make(facts)
        except Unmet as unmet:
            lacking = str(unmet)
        item: GalleryItem = {
            "name": entry.name,
            "title": entry.title,
            "question": entry.question,
            "needs": entry.needs,
            "analyses": [*entry.analyses],
            "ready": not lacking,
            "lacking": lacking,
        }
        found.append(item)
    return sorted(found, key=lambda item: not item["ready"])
