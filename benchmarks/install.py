"""A new environment with the core alone beside those with extras: ``python benchmarks/install.py [--full]``.

Each is a new virtual environment into which pip installs this project, without its cache of downloads. Needs the
package registry.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "install.md"
WHAT = {"the core": "", "with `all`": "[all]", "with every extra, `full`": "[full]"}
MOST_SHARE = 0.5


LARGE = ("pyarrow", "scipy", "scipy.libs", "pandas", "numpy", "numpy.libs", "plotly")
"""The folders of the five libraries that everything here is made with."""


def installed(extras: str) -> tuple[float, float, float, int]:
    """Seconds, MB on the disk, those of the five large libraries, and packages of a new environment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = environment(folder)
        empty = size_of(folder)
        began = time.perf_counter()
        install(python, extras)
        took = time.perf_counter() - began
        listed = subprocess.run([python, "-m", "pip", "list", "--format=freeze"], check=True, capture_output=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        large = sum(size_of(packages / one) for one in LARGE)
        return took, (size_of(folder) - empty) / 1e6, large / 1e6, len(listed.stdout.splitlines())


def environment(folder: Path) -> Path:
    """The Python of a new virtual environment."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder / "bin" / "python"


def install(python: Path, extras: str = "") -> None:
    """Install this project and what it needs, all downloaded anew."""
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-cache-dir", f"{HERE.parent}{extras}"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def main(full: bool) -> int:
    """Install by turns and write the page; 1 if the gate was missed."""
    found: dict[str, list[tuple[float, float, float, int]]] = {what: [] for what in WHAT}
    for _ in range(3 if full else 1):
        for what, extras in WHAT.items():
            found[what].append(installed(extras))
            print(what, found[what][-1], flush=True)
    medians = {what: [statistics.median(part) for part in zip(*ones, strict=True)] for what, ones in found.items()}
    core, common, everything = medians.values()
    share = core[0] / everything[0]
    lines = [
        "# The installation",
        "",
        "A new virtual environment, pip without its cache of downloads. Medians, with what network and disk add.",
        "`python -m benchmarks install` makes this page.",
        "",
        "| what | seconds | MB on the disk | packages |",
        "|---|---|---|---|",
        *(
            f"| {what} | {took:.0f} | {size:.0f} | {count:.0f} |"
            for what, (took, size, _, count) in medians.items()
        ),
        "",
        f"Gate: the core in at most {MOST_SHARE:.0%} of the time of every extra; {share:.0%}, "
        f"{'kept' if share <= MOST_SHARE else 'MISSED'}. On the disk it is {core[1] / everything[1]:.0%}.",
        f"Beside `all`, which has what most people want, it is {core[0] / common[0]:.0%} and "
        f"{core[1] / common[1]:.0%}:",
        f"pyarrow, scipy, pandas, numpy and plotly are {core[2]:.0f} MB of it.",
        "",
    ]
    RESULT.write_text("\n".join(lines), "utf-8")
    print("\n".join(lines))
    return 0 if share <= MOST_SHARE else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="three rounds")
    sys.exit(main(parser.parse_args().full))
