"""Runs the benchmarks, each in a process of its own, so that none measures the memory or the caches of another."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = (
    "store",
    "engine",
    "figure",
    "bench",
    "analyses",
    "protected",
    "drawings",
    "drafts",
    "notebook",
    "page",
    "folder",
    "locked",
    "server",
    "files",
    "waits",
    "starts",
    "summaries",
    "parts",
    "objects",
    "sizes",
    "two_servers",
    "lab",
    "install",
)


def main() -> int:
    """Run those that are named, else all; 1 if one failed or missed a gate."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--full", action="store_true", help="at full size: some tens of minutes")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all by default")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    failed = []
    for name in asked.names or NAMES:
        print(f"== {name}", flush=True)
        size = ["--full"] if asked.full else []
        if subprocess.run([sys.executable, HERE / f"{name}.py", *size], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"Failed: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
