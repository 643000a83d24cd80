"""Projects: what a bench, a dashboard and a plan belong to."""

from typing import Annotated

from pydantic import Field

from .record import Owned, Searched, Text, Unique


class Project(Owned):
    """A project inside an organization. A new store has one, 'Default'."""

    table = "projects"
    entity = "project"
    label = "project"
    scoping = "organization"
    everywhere = True
    unique = (Unique(("organization_id", "name")),)

    description: Annotated[Text | None, Searched("words")] = Field(None, description="What it is about.")
