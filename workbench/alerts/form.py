"""What a new alert is asked for: a field for each argument of the operation, and what each of them can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from ..dataset import StepResult
from ..quick_import import later
from ..store.records.alerts import Address
from ..table import Kind, Table

if TYPE_CHECKING:
    from ..recipe.plot import PlotConfig
    from . import looking
else:  # to declare a form needs no plan that runs
    looking = later("workbench.alerts.looking")


FieldKind = Literal["text", "plot", "step", "column", "number", "value", "key", "values", "webhook"]


@dataclass(frozen=True)
class Asked:
    """Marks an argument of ``create_alert`` with the words for people who fill in a form.

    Parameters
    ----------
    kind : what it is, which decides how it is chosen: ``step`` and ``column`` name parts of the plan's rows, ``value``
        is one of the column's kind, ``key`` several columns, ``values`` those of the plot's params.
    """

    kind: FieldKind
    label: str
    hint: str = ""


class FieldShown(TypedDict):
    """A field of the form, by the name of its argument."""

    name: str
    kind: FieldKind
    label: str
    hint: str
    needed: bool


class ColumnShown(TypedDict):
    """A column of a step's rows."""

    name: str
    kind: Kind


class StepShown(TypedDict):
    """A step that gives rows. ``key`` has the columns that tell its occurrences apart unless others are chosen."""

    name: str
    columns: list[ColumnShown]
    key: list[str]


class AlertChoices(TypedDict):
    """The fields of a new alert, the steps of the plot that it can be about, and where its messages may go."""

    fields: Annotated[list[FieldShown], Field(description="In the order in which they are asked.")]
    steps: Annotated[list[StepShown], Field(description="In the order of the plan.")]
    webhooks: Annotated[list[str], Field(description="Beginnings of the addresses that an Admin has allowed.")]


def choices(
    asked: Mapping[str, tuple[Asked, bool]],
    config: PlotConfig,
    result: Mapping[str, StepResult],
    addresses: Iterable[Address],
) -> AlertChoices:
    """What a new alert on a plot can be about.

    Parameters
    ----------
    asked : the mark of each argument by name, and whether it has no default.
    result : what the steps of the plot's plan gave.
    """
    return {
        "fields": [
            {"name": name, "kind": mark.kind, "label": mark.label, "hint": mark.hint, "needed": needed}
            for name, (mark, needed) in asked.items()
        ],
        "steps": [
            {
                "name": name,
                "columns": [{"name": column, "kind": one.kind} for column, one in table.items()],
                "key": looking.key_columns(None, name, config, table),
            }
            for name, table in result.items()
            if isinstance(table, Table)
        ],
        "webhooks": [one.address for one in addresses],
    }
