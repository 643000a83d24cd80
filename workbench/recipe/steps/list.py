"""``list``: its shape, its columns, and which conditions apply to which source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ...errors import Problem
from ..filters import APPLIES, Filters, ListSource
from ..strict import WHOLE, NotNull
from .step import Fields, Known, Step

MOST_LIMIT = 1000


class ListStep(Step):
    """Reads metadata rows from one source."""

    row_key: ClassVar[str | None] = "id"

    op: Literal["list"] = Field(description="Says that this is a list step.")
    source: ListSource = Field(description="What is listed.")
    where: Annotated[Filters | None, NotNull()] = Field(
        None, description="Conditions on the rows; without it all records in reach."
    )
    fields: Annotated[Fields | None, NotNull()] = Field(
        None, description="Columns to give, dotted for nested values; without it the source's own columns."
    )
    limit: Annotated[int, Field(ge=1, le=MOST_LIMIT), WHOLE] = Field(
        100, description="At most this many rows, the oldest first; more are left out with a warning."
    )

    def known_columns(self, earlier: Mapping[str, Known]) -> Known | None:
        if self.fields is None:
            return None
        return Known.of("id", *self.fields, exact=not self.fields, named_in="fields")

    def problems(self, earlier: Mapping[str, Known]) -> Iterator[Problem]:
        """Filters that do not apply to the source, whatever their value."""
        for key in self.where.keys() if self.where is not None else ():
            if self.source not in APPLIES[key]:
                message = f"'{key}' does not apply to {self.source}; it applies to {', '.join(APPLIES[key])}."
                yield Problem(("where", key), message, "filter_not_applicable")
