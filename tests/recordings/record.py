"""Record what the server answers.

``python -m tests.recordings.record`` records all, ``python -m tests.recordings.record lists people`` these alone. What
it changes in ``answers/`` is a difference that clients see: it is looked at, and accepted or a mistake.
"""

from __future__ import annotations

import sys

from tests.recordings import flows, flows_files, flows_plots, flows_refused  # noqa: F401  (they declare the recordings)
from tests.recordings.asking import ANSWERS, FLOWS, run, write


def main(names: list[str]) -> None:
    """Record these recordings, or all."""
    ANSWERS.mkdir(exist_ok=True)
    for name in names or FLOWS:
        steps, stopped, _ = run(name)
        if stopped is not None:
            raise SystemExit(f"{name} stopped after {len(steps)} requests: {stopped}\n{steps[-1]}")
        write(name, steps)
        print(f"{name}: {len(steps)} requests")


if __name__ == "__main__":
    main(sys.argv[1:])
