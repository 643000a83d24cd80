"""What the analyses of ``workbench.battery`` give, beside the numbers of a reference: ``docs/reference/analyses.md``.

``python -m tools.validation`` computes every case whose data and packages are here and writes the numbers to
``docs/reference/analyses.json``; cases that lack theirs keep the numbers that were written before.
``python -m tools.docs`` makes the page of them. ``tests/battery/test_validation.py`` computes the cases again and
compares.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from shutil import which

ROOT = Path(__file__).parents[2]
NUMBERS = ROOT / "docs" / "reference" / "analyses.json"
SHARED = ROOT.parent / "shared"
"""Where the data of others are, beside the project: they are not part of it."""
COMMAND = "python -m tools.validation"


@dataclass(frozen=True)
class Check:
    """One number of ours beside one of a reference.

    ``quantity`` with its unit; ``case`` says which data; ``reference`` whose number it is: "closed form", a package
    with its version, a published table. ``allowed`` is the largest difference, in the unit of the quantity.
    """

    analysis: str
    quantity: str
    case: str
    reference: str
    its: float
    ours: float
    allowed: float

    @property
    def difference(self) -> float:
        """Ours less its; 0 where both are the same infinity."""
        return 0.0 if self.ours == self.its else self.ours - self.its

    @property
    def holds(self) -> bool:
        """Whether the difference is allowed. A number of ours that is missing is not."""
        return math.isfinite(self.difference) and abs(self.difference) <= self.allowed


@dataclass(frozen=True)
class Case:
    """A computation that gives some checks.

    ``compute`` is given the folder of shared data. ``files`` are the paths in it, ``packages`` the modules, and
    ``programs`` the programs beside Python, that it needs. ``long``: it takes more than about two seconds.
    """

    name: str
    compute: Callable[[Path], Iterable[Check]]
    files: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    long: bool = False

    def missing(self, shared: Path) -> str:
        """In words, what this case needs and is not here; empty if nothing."""
        absent = [name for name in self.files if not (shared / name).exists()]
        absent += [f"the package {name}" for name in self.packages if find_spec(name) is None]
        absent += [f"the program {name}" for name in self.programs if which(name) is None]
        return f"{' and '.join(absent)} not here" if absent else ""


def cases() -> dict[str, Case]:
    """All cases by name: the ``CASES`` of the modules in ``cases``, in the order of their names.

    Raises
    ------
    ValueError
        If two cases have the same name.
    """
    found: dict[str, Case] = {}
    for module in sorted(item.name for item in iter_modules([str(Path(__file__).parent / "cases")])):
        for case in import_module(f"{__name__}.cases.{module}").CASES:
            if case.name in found:
                raise ValueError(f"Two cases are named '{case.name}'.")
            found[case.name] = case
    return found


def written() -> dict[str, list[Check]]:
    """The checks that are written down, by the name of their case."""
    if not NUMBERS.exists():
        return {}
    held = json.loads(NUMBERS.read_text("utf-8"))
    return {name: [Check(**check) for check in checks] for name, checks in held.items()}


def text(found: Mapping[str, Iterable[Check]]) -> str:
    """The content of the file of numbers: ours with 9 digits, so that another processor writes the same."""
    rounded = {
        name: [{**asdict(check), "ours": float(f"{check.ours:.9g}")} for check in checks]
        for name, checks in found.items()
    }
    return json.dumps(rounded, indent=1, ensure_ascii=False) + "\n"
