"""Whether all that a plan reads was made by one rule: it compares the steps and cycles of several tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..dataset import Warn
from ..messages import counted
from ..store.series import derived
from ..store.store import Store
from .reader import Dependency

DATASETS = ("steps", "cycles")


class Mixing:
    """Steps and cycles that a plan has read so far, by the rules that made them.

    ``before`` are dependencies of steps whose result was known already.
    """

    def __init__(self, store: Store, before: Iterable[Dependency]) -> None:
        self._store = store
        self._owners: dict[str, set[str]] = {dataset: set() for dataset in DATASETS}
        self._rules: dict[str, set[int]] = {dataset: set() for dataset in DATASETS}
        self._take(before)

    def warnings(self, dependencies: Iterable[Dependency]) -> list[Warn]:
        """A warning for each of steps and cycles where what the last step read differs in its rule, in itself or from
        what was read before; ``dependencies`` are those of all steps so far."""
        found = []
        for dataset in self._take(dependencies):
            if len(self._rules[dataset]) > 1:
                rules = derived.rules_of(self._store, dataset, self._owners[dataset], derived=True)
                if len(rules) > 1:
                    found.append(Warn("mixed_rules", _message(dataset, rules)))
        return found

    def _take(self, dependencies: Iterable[Dependency]) -> list[str]:
        """Note what is new, and answer of which summaries there is anything."""
        new: dict[str, set[str]] = {dataset: set() for dataset in DATASETS}
        for key in dependencies:
            if key[0] == "series" and key[2] in DATASETS and key[1] not in self._owners[key[2]]:
                new[key[2]].add(key[1])
        for dataset, owners in new.items():
            if owners:
                self._owners[dataset] |= owners
                self._rules[dataset].update(derived.rules_of(self._store, dataset, owners))
        return [dataset for dataset, owners in new.items() if owners]


def _message(dataset: str, found: Mapping[int, int]) -> str:
    each = " and ".join(f"{counted(count, 'measurement')} by rule {rule}" for rule, count in sorted(found.items()))
    return (
        f"The {dataset} of {each} are compared here, so differences may come from the rules. Bring all to rule "
        f"{derived.today(dataset)} with 'workbench recompute', or bench.recompute()."
    )
