"""What the builders of a recipe give: steps, params and metrics that refer to each other as objects, not by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .strict import Raw


@dataclass(frozen=True, eq=False)
class ParamDraft:
    """A param of a recipe to be: it is in the plan where its value goes, and in the params of the recipe."""

    name: str
    fields: Mapping[str, Raw]

    def __repr__(self) -> str:
        return f"<param '{self.name}', default {self.fields['default']!r}>"

    def __mul__(self, other: object) -> Raw:
        return {"ratio_of": other.name, "factor": self} if isinstance(other, MetricDraft) else NotImplemented


@dataclass(frozen=True, eq=False)
class StepDraft:
    """A step of a plan to be: another step's ``ids``, filter or input; ``step["column"]`` is one of its columns."""

    op: str
    fields: Mapping[str, Raw]

    def __getitem__(self, column: str) -> ColumnDraft:
        return ColumnDraft(self, column)

    def __iter__(self) -> Iterator[Raw]:
        raise TypeError(f"A {self.op} step that is being built has no rows; bench.look(plan) shows them.")

    def __repr__(self) -> str:
        told = ", ".join(f"{key}={value!r}" for key, value in self.fields.items() if isinstance(value, str))
        return f"<{self.op} step{': ' if told else ''}{told}>"


@dataclass(frozen=True, eq=False)
class ColumnDraft:
    """A column of a step to be: its distinct values as ids or filter, or the choices of a param."""

    step: StepDraft
    name: str


@dataclass(frozen=True, eq=False)
class MetricDraft:
    """Another metric of the same aggregate step; ``0.8 * metric("first")`` is a share of it."""

    name: str

    def __mul__(self, factor: Raw) -> dict[str, Raw]:
        return {"ratio_of": self.name, "factor": factor}

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class Compared:
    """A column of an aggregate step's input; comparing it, ``column("Voltage [V]") < 3``, says which row is meant."""

    name: str

    def _where(self, op: str, value: Raw) -> dict[str, Raw]:
        return {"column": self.name, "op": op, "value": 1 * value if isinstance(value, MetricDraft) else value}

    def __lt__(self, value: Raw) -> dict[str, Raw]:
        return self._where("lt", value)

    def __le__(self, value: Raw) -> dict[str, Raw]:
        return self._where("lte", value)

    def __gt__(self, value: Raw) -> dict[str, Raw]:
        return self._where("gt", value)

    def __ge__(self, value: Raw) -> dict[str, Raw]:
        return self._where("gte", value)

    # A comparison makes a condition of a plan, as in pandas and polars; the result has no truth value and no hash.
    def __eq__(self, value: Raw) -> dict[str, Raw]:  # type: ignore[override]
        return self._where("eq", value)

    def __ne__(self, value: Raw) -> dict[str, Raw]:  # type: ignore[override]
        return self._where("neq", value)

    __hash__ = None  # type: ignore[assignment]  # as `__eq__`
