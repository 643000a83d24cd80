"""``python -m tools.docs [--check]``."""

from __future__ import annotations

import argparse
import sys

from . import COMMAND, WRITTEN, __doc__, stale


def main() -> None:
    """Write what is stale, or with ``--check`` only name it."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    check = parser.parse_args().check
    found = stale()
    for path in found:
        if check:
            print(f"stale: {path.name}")
        elif path in WRITTEN:
            path.parent.mkdir(exist_ok=True)
            path.write_text(WRITTEN[path](), "utf-8")
            print(f"written: {path.name}")
        else:
            path.unlink()
            print(f"removed: {path.name}")
    if check and found:
        sys.exit(f"Run '{COMMAND}' and commit what it writes.")


if __name__ == "__main__":
    main()
