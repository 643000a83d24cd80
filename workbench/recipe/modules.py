"""Which modules a script may import, and which names it has without import: one list for checks and runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..errors import near

# The standard library without input and output: nothing here opens a file, a socket or a process.
STANDARD = frozenset(
    word
    for line in (
        "__future__ abc array base64 binascii bisect calendar cmath collections colorsys contextlib copy",
        "dataclasses datetime decimal difflib enum fractions functools graphlib hashlib heapq html itertools",
        "json keyword math numbers operator pprint random re statistics string struct textwrap time types",
        "typing unicodedata warnings zlib zoneinfo",
    )
    for word in line.split()
)
LIBRARIES = frozenset(["numpy", "pandas", "plotly", "scipy"])
HELPERS = "workbench.battery"
ALLOWED = (
    f"Scripts can import numpy, pandas, plotly, scipy, {HELPERS} and the standard library without input and output "
    "(math, re, datetime, itertools, statistics ...)."
)


def refusal(module: str, names: Sequence[str] = (), level: int = 0) -> str | None:
    """Why a script may not import ``module``, or None if it may; ``names`` are those of ``from ... import``."""
    if level:
        return f"A script is not part of a package, so it cannot import with leading dots. {ALLOWED}"
    top = module.partition(".")[0]
    if top in STANDARD or top in LIBRARIES:
        return None
    if module == HELPERS or module.startswith(HELPERS + "."):
        return None
    if module == "workbench":
        if names and set(names) == {"battery"}:
            return None
        return f"A script can import only {HELPERS} of workbench. {ALLOWED}"
    if top == HELPERS.partition(".")[0]:
        return f"A script cannot import '{module}'. Did you mean '{HELPERS}'? {ALLOWED}"
    close = [] if top in sys.stdlib_module_names else near(top, sorted(STANDARD | LIBRARIES), most=1)
    meant = f" Did you mean '{close[0]}'?" if close else ""
    return f"A script cannot import '{module}'.{meant} {ALLOWED}"


GIVEN = {"pd": "pandas", "np": "numpy", "go": "plotly.graph_objects", "px": "plotly.express"}
"""Name -> module, of what a script has without import."""
CLOSED = ("open", "input", "breakpoint", "help", "exit", "quit")
"""Built-in names that a script does not have: it gets its data in ``data`` and ``params`` alone."""
