"""The lock of the server image, `requirements/server.txt`: packages with versions, hashes, and who asks for them.

``python -m tools.lock_file`` writes it anew, with uv, from pyproject.toml.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "server.txt"
BUILD = ROOT / "requirements" / "build.txt"
EXTRAS = ("neware", "postgres", "object")
"""What the server image has beside the core: its readers, and stores that several machines use."""
_OPTIONS = (
    "--universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header"
)
_NAME = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^ ;\\]+)(?: ; ([^\\]+?))? \\$")
_HASH = re.compile(r"^ +--hash=sha256:([0-9a-f]{64})( \\)?$")
_VIA = re.compile(r"^ +# +(?:via )?([A-Za-z0-9][A-Za-z0-9._-]*)")


@dataclass
class Locked:
    """One package of the lock. ``where`` says where it is installed, ``via`` are those that ask for it."""

    name: str
    version: str
    where: str | None
    hashes: list[str]
    via: list[str]


def locked(text: str) -> list[Locked]:
    """The packages of a lock.

    Raises
    ------
    ValueError
        For a line that is not one of a lock, and for a package without a hash.
    """
    found: list[Locked] = []
    for line in text.splitlines():
        if name := _NAME.match(line):
            found.append(Locked(name[1], name[2], name[3], [], []))
        elif (digest := _HASH.match(line)) and found:
            found[-1].hashes.append(digest[1])
        elif (via := _VIA.match(line)) and found:
            if via[1] != "via":
                found[-1].via.append(via[1])
        elif line.strip() not in ("", "# via"):
            raise ValueError(f"This is not a line of a lock: {line}")
    if bare := [one.name for one in found if not one.hashes]:
        raise ValueError(f"These packages have no hash: {', '.join(bare)}")
    return found


def write() -> None:
    """Write the locks of the server image and of what builds the wheel."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        sys.exit("uv makes the lock: pip install uv")
    for source, target, more in (
        ("pyproject.toml", LOCK, [word for extra in EXTRAS for word in ("--extra", extra)]),
        ("requirements/build.in", BUILD, []),
    ):
        command = [uv, "pip", "compile", "-q", "--upgrade", source, *more, *_OPTIONS.split(), "-o", str(target)]
        subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603
        locked(target.read_text("utf-8"))


if __name__ == "__main__":
    write()
