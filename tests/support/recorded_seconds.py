"""How long the tests of the everyday run took, as `everyday.py` asks. To record it anew, from the root of the project:

pytest -n 2 --durations=0 > run.txt
python -m tests.support.recorded_seconds run.txt
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

PLACE = Path(__file__).with_suffix(".json")
_LINE = re.compile(r"\s*([\d.]+)s (call|teardown)\s+tests/(\S+?)::([^\[\s]+)")
_LEAST = 0.5
"""A test whose cases that ran took less together, s, is not worth a line."""

Seconds = dict[str, dict[str, float]]
"""File -> test -> seconds of one of its cases, without fixtures, which other tests may need too."""


@cache
def recorded() -> Seconds:
    """What was recorded last."""
    found: Seconds = json.loads(PLACE.read_text("utf-8"))
    return found


def of_run(text: str) -> Seconds:
    """What the list of durations of a run says. Cases that take less than 5 ms are not in it, and not counted."""
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    cases: Counter[tuple[str, str]] = Counter()
    for seconds, when, file, test in _LINE.findall(text):
        sums[file, test] += float(seconds)
        cases[file, test] += when == "call"
    found: Seconds = {}
    for (file, test), seconds in sorted(sums.items()):
        if seconds >= _LEAST:
            found.setdefault(file, {})[test] = round(seconds / max(cases[file, test], 1), 3)
    return found


def main() -> None:
    """Record a run; what did not run today keeps its seconds."""
    run = of_run(Path(sys.argv[1]).read_text("utf-8"))
    old = recorded()
    new = {file: old.get(file, {}) | run.get(file, {}) for file in sorted(old.keys() | run.keys())}
    PLACE.write_text(json.dumps(new, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
