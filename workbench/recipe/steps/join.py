"""``join``: its shape, its columns, and names that would be taken twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Literal, Self, TypeAlias

from pydantic import Discriminator, Field, PrivateAttr, Tag

from ...errors import Problem
from ..marks import Binds
from ..names import ColumnName, Values
from ..strict import TAG, NotNull, Raw, ScalarOrNull, Strict
from .step import EarlierStep, Fields, Known, Step, Taken, Visit


class On(Strict):
    """The key columns of a join."""

    left: ColumnName = Field(description="Key column of the left step.")
    right: ColumnName = Field(description="Key column of the right step.")


def _shape_of_join_value(value: Raw) -> str:
    return TAG + ("list" if isinstance(value, list) else "plain")


JoinValue: TypeAlias = Annotated[
    Annotated[ScalarOrNull, Tag(TAG + "plain")] | Annotated[Values, Tag(TAG + "list")],
    Discriminator(_shape_of_join_value),
    Binds("join"),
]


class JoinStep(Step):
    """Attaches columns of one row-shaped step to another by equality of a key."""

    rows_from: ClassVar[str | None] = "left"

    op: Literal["join"] = Field(description="Says that this is a join step.")
    left: EarlierStep = Field(description="Name of the earlier step whose rows are kept.")
    right: EarlierStep = Field(description="Name of the earlier step whose columns are attached.")
    on: On = Field(description="The key columns on both sides; a null key matches nothing.")
    fields: Annotated[Fields | None, NotNull()] = Field(
        None, description="Right columns to attach; without it all but the key."
    )
    where: dict[ColumnName, JoinValue] | None = Field(
        None, description="Column of the result -> value or list of values that a joined row must have."
    )
    how: Literal["inner", "left"] = Field(
        "inner", description="inner drops left rows without a match, left keeps them with nulls."
    )

    _absent: tuple[str, ...] = PrivateAttr(())

    @property
    def filtered(self) -> list[str]:
        """The columns that ``where`` names, also those whose condition is absent, since their param is null."""
        return [*(self.where or ()), *self._absent]

    def rebuilt(self, visit: Visit) -> Self:
        made = super().rebuilt(visit)
        made._absent = tuple(name for name in self.filtered if name not in (made.where or ()))
        return made

    def known_columns(self, earlier: Mapping[str, Known]) -> Known | None:
        left, attached = earlier.get(self.left), self._attached(earlier)
        if left is None or attached is None:
            return None
        names, unlikely = list(left.names), {*left.unlikely, *attached.unlikely}
        for column in attached.names:
            if column in names or not left.exact:
                names.append(f"{column}_right")
            if column not in left.names:
                names.append(column)
                unlikely.add(f"{column}_right")
        return replace(
            Known.of(*names, exact=left.exact and attached.exact), unlikely=frozenset(unlikely - {*left.likely})
        )

    def _attached(self, earlier: Mapping[str, Known]) -> Known | None:
        """The right columns that are attached, None where only the store knows them."""
        if self.fields is not None:
            return Known.of(*self.fields)
        right = earlier.get(self.right)
        if right is None:
            return None
        names = tuple(name for name in right.names if name != self.on.right)
        return Known(names, right.exact, unlikely=right.unlikely)

    def taken(self) -> Iterator[Taken]:
        yield Taken(self.left, self.on.left, ("on", "left"))
        yield Taken(self.right, self.on.right, ("on", "right"))
        for place, column in enumerate(self.fields or ()):
            yield Taken(self.right, column, ("fields", place))
        for column in self.where or ():
            yield Taken(None, column, ("where", column))

    def problems(self, earlier: Mapping[str, Known]) -> Iterator[Problem]:
        """Columns whose name with the suffix ``_right`` is taken too."""
        left, attached = earlier.get(self.left), self._attached(earlier)
        if left is None or attached is None or not (left.exact and attached.exact):
            return
        names = set(left.names)
        for column in attached.names:
            target = f"{column}_right" if column in left.names else column
            if target in names:
                message = (
                    f"'{column}' would be attached as '{target}', and both '{column}' and '{target}' are taken: "
                    "name other columns in 'fields'."
                )
                yield Problem(("fields",), message, "name_taken")
            names.add(target)
