"""``python -m tools.validation [NAME ...] [--shared FOLDER]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import COMMAND, NUMBERS, SHARED, Case, Check, __doc__, cases, text, written


def main() -> None:
    """Compute the cases and write their numbers. Exit with 1 if one is further from its reference than allowed."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases to compute; all without")
    parser.add_argument("--shared", type=Path, default=SHARED, help="the folder of the data of others")
    asked = parser.parse_args()
    known = cases()
    if unknown := [name for name in asked.names if name not in known]:
        sys.exit(f"There is no case '{unknown[0]}'. Cases: {', '.join(known)}.")
    held, found, wrong = written(), {}, 0
    for name, case in known.items():
        if not asked.names or name in asked.names:
            wrong += _compute(name, case, asked.shared, held)
        if name in held:
            found[name] = held[name]
    NUMBERS.write_text(text(found), "utf-8")
    if wrong:
        sys.exit(f"{wrong} numbers differ from their reference by more than is allowed.")


def _compute(name: str, case: Case, shared: Path, held: dict[str, list[Check]]) -> int:
    """Put the checks of one case into ``held``; how many do not hold."""
    if missing := case.missing(shared):
        print(f"{name}: {missing}; {'its numbers are kept' if name in held else 'it has no numbers yet'}")
        return 0
    held[name] = list(case.compute(shared))
    wrong = [check for check in held[name] if not check.holds]
    print(f"{name}: {len(held[name])} checks")
    for check in wrong:
        print(f"  {check.quantity}: {check.ours:.9g}, reference {check.its:.9g}, allowed {check.allowed:.3g}")
    return len(wrong)


if __name__ == "__main__":
    main()
