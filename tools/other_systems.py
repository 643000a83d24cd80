"""Finds names of the standard library that macOS or Windows lack: ``python -m tools.other_systems``.

mypy reads the code as it is there. The modules of the lock use what only Linux has, and are imported only there.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator

SYSTEMS = ("win32", "darwin")
_LOCK = "workbench.transform.protected."
LINUX_ONLY = {
    f"{_LOCK}{name}"
    for name in (
        *("answer", "child", "lock", "lock_self_test", "memory_before_fork", "pool", "sealed_memory"),
        *("zygote", "zygote_process"),
    )
} | {
    *("workbench.lock.kernel", "workbench.lock.reader_lock", "workbench.lock.launcher"),
    *(f"workbench.readers.file.{name}" for name in ("locked_parent", "lock_self_test")),
}
"""Modules that no other system imports."""


def main() -> None:
    """Print what is wrong, and end with 1 if there is something."""
    found = [f"{system}: {line}" for system in SYSTEMS for line in found_in(_mypy(system))]
    print("\n".join(found) or f"Nothing is missing on {' and '.join(SYSTEMS)}.")
    sys.exit(1 if found else 0)


def found_in(lines: Iterable[str]) -> list[str]:
    """The lines of mypy about modules that other systems import."""
    return [line for line in lines if (module := _module_of(line)) is not None and module not in LINUX_ONLY]


def _module_of(line: str) -> str | None:
    path, separator, _ = line.partition(".py:")
    return path.replace("/", ".").replace("\\", ".") if separator and "error:" in line else None


def _mypy(system: str) -> Iterator[str]:
    command = [sys.executable, "-m", "mypy", "--platform", system, "--cache-dir", f".mypy_cache/{system}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode > 1:
        raise RuntimeError(done.stdout + done.stderr)
    yield from done.stdout.splitlines()


if __name__ == "__main__":
    main()
