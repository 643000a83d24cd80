"""Names, references by ``$name`` and references to a step's column."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, StringConstraints, Tag

from .marks import Binds, Earlier
from .strict import TAG, Raw, Scalar, ScalarOrNull, Strict

IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]*$"
MOST_NAME = 200
MOST_ITEMS = 10_000

REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")

Identifier: TypeAlias = Annotated[str, StringConstraints(pattern=IDENTIFIER, max_length=MOST_NAME)]
"""A step or param name, or a reference to a step."""
ColumnName: TypeAlias = Annotated[str, StringConstraints(max_length=MOST_NAME)]
MetricName: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=MOST_NAME)]


def reference(value: Raw) -> str | None:
    """The name of the param that a value stands for, None where it stands for itself.

    >>> reference("$cells"), reference("$$cells"), reference("$ 5"), reference("cells")
    ('cells', None, None, None)
    """
    if not isinstance(value, str) or not value.startswith("$"):  # most are ids, by the hundreds
        return None
    match = REFERENCE.fullmatch(value)
    return match[1] if match else None


def literal(text: str) -> str:
    """The text that a literal stands for: ``$$x`` is ``$x``, any other text is itself.

    >>> literal("$$x"), literal("$ 5")
    ('$x', '$ 5')
    """
    return text[1:] if text.startswith("$$") else text


class StepRef(Strict):
    """The distinct non-null values of a column of an earlier row-shaped step, in row order."""

    from_: Annotated[Identifier, Earlier()] = Field(
        alias="from", description="Name of an earlier row-shaped step."
    )
    column: ColumnName = Field(description="Column of that step whose distinct non-null values are taken.")


Values: TypeAlias = Annotated[list[ScalarOrNull], Field(max_length=MOST_ITEMS)]


def _shape_of_ids(value: Raw) -> str | None:
    if isinstance(value, list):
        return TAG + "list"
    if isinstance(value, str):
        return TAG + "text"
    return TAG + "ref" if isinstance(value, dict | StepRef) else None


Ids: TypeAlias = Annotated[
    Annotated[Values, Tag(TAG + "list")]
    | Annotated[str, Tag(TAG + "text")]
    | Annotated[StepRef, Tag(TAG + "ref")],
    Discriminator(
        _shape_of_ids,
        custom_error_type="wrong_type",
        custom_error_message="A list of values, one text or {'from': step, 'column': name} is needed here",
    ),
    Binds("ids"),
]
"""A list of values, one text (an id or ``$name``), or a step's column."""

BoundIds: TypeAlias = list[Scalar] | StepRef
"""What Ids are after binding."""
