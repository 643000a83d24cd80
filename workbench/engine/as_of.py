"""What is not as it was, where a plan shows the data of an earlier time: the store keeps growth, not every change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC

from pydantic import JsonValue

from ..dataset import Warn
from ..errors import Invalid, Problem
from ..messages import counted
from ..records import KINDS, SOURCES, Record
from ..store.records import edits
from ..store.scope import Scope
from ..store.series.past import Replaced
from ..store.store import Store
from ..table import from_micros
from .warnings import names_of

_SHOWN = 3


def moment_text(as_of: int) -> str:
    """A time as messages say it."""
    return from_micros(as_of).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


class Then:
    """Looks at what a plan reads at an earlier time; with a scope of the present it finds nothing."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self._store, self._scope = store, scope
        self._found: list[Warn] = []
        self._seen: set[tuple[str, str]] = set()

    def listed(
        self, source: str, where: Mapping[str, JsonValue], limit: int | None, tables: Iterable[str]
    ) -> None:
        """Records of a list, and the other tables that it shows fields of."""
        moment = self._scope.as_of
        if moment is None:
            return
        cls = SOURCES[source]
        ids = self._store.rows.plan_list(source, self._scope, where, ["id"], limit).table["id"].tolist()
        with self._store.snapshot() as db:
            self._missing(cls, edits.deleted_since(db, cls, self._scope, moment, where), moment)
            self._warn(cls.label, edits.changed_since(db, cls, self._scope, moment, ids), moment)
            for table in tables:
                other = KINDS.get(table)
                if other is not None and other is not cls and other.listed_as is not None:
                    self._warn(other.label, edits.changed_since(db, other, self._scope, moment), moment)

    def sampled(self, names: Mapping[str, str], dataset: str) -> None:
        """The series, steps or cycles of records, whose names these are by id."""
        moment = self._scope.as_of
        if moment is None:
            return
        datasets = ["series"] if dataset == "series" else ["steps", "cycles"]
        unproven = self._store.series.unproven(names, datasets, self._scope)
        fresh = [names[id] for id in unproven if ("sampled", id) not in self._seen]
        self._seen |= {("sampled", id) for id in unproven}
        if fresh:
            self._found.append(
                Warn(
                    "changed_since",
                    f"It is not certain that the data of {names_of(fresh, _SHOWN)} are, to the bit, what they were as "
                    f"of {moment_text(moment)}: an older version stored them, or their steps were made anew since.",
                )
            )

    def _warn(self, label: str, names: Sequence[str], moment: int) -> None:
        fresh = [name for name in names if (label, name) not in self._seen]
        self._seen |= {(label, name) for name in fresh}
        if fresh:
            were = "was" if len(fresh) == 1 else "were"
            self._found.append(
                Warn(
                    "changed_since",
                    f"The {label} {names_of(fresh, _SHOWN)} {were} changed after {moment_text(moment)}; what is shown "
                    "of it is what is known today.",
                )
            )

    def _missing(self, cls: type[Record], gone: Mapping[str | None, int], moment: int) -> None:
        for type, number in gone.items():
            what = counted(number, cls.label) + ("" if type is None else f" of type '{type}'")
            if ("deleted", what) not in self._seen:
                self._seen.add(("deleted", what))
                self._found.append(
                    Warn(
                        "changed_since",
                        f"{what}, there at {moment_text(moment)}, {'was' if number == 1 else 'were'} deleted since and "
                        "cannot come back. What is shown may have had more then, or other values that follow from it.",
                    )
                )

    def take(self) -> list[Warn]:
        """The warnings since the last call."""
        found, self._found = self._found, []
        return found


def not_kept(error: Replaced, names: Mapping[str, str]) -> Invalid:
    """The problem of a step whose samples of then are not kept."""
    named = Replaced(error.owner, error.as_of, names.get(error.owner))
    return Invalid(Problem(("ids",), str(named), "not_kept", ctx={"id": error.owner}))
