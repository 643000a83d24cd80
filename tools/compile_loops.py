"""Compiles the loops of reading when the workbench is installed, or its wheel built; without a compiler all works too.

hatchling calls this (`pyproject.toml`). What is compiled works with every Python from 3.11 on. It reads doubles and
whole numbers as they lie in the memory of the processors that are named here.
"""

from __future__ import annotations

import platform
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = ("workbench/store/series/compiled_loops", "workbench/readers/table/compiled_rows")
PROCESSORS = {"x86_64", "AMD64", "aarch64", "arm64"}
FLAGS = ("-O3", "-fPIC", "-ffp-contract=off", "-std=c11", "-Wall", "-Wextra", "-Wno-unused-parameter")
SECONDS = 120


def compiled(source: Path, made: Path) -> str | None:
    """Compile ``source`` into ``made``; says why not, if that cannot be done here."""
    linker = shlex.split(sysconfig.get_config_var("LDSHARED") or "")
    if platform.machine() not in PROCESSORS or not linker:
        return f"not for {platform.system()} on {platform.machine()}"
    headers = sysconfig.get_paths()["include"]
    part = made.with_suffix(".part")
    command = [*linker, *FLAGS, f"-I{headers}", str(source), "-o", str(part)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["the compiler failed"])[0]
        part.replace(made)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"no compiler: {error}"
    finally:
        part.unlink(missing_ok=True)
    return None


class CompileLoops(BuildHookInterface[Any]):
    """Puts the compiled loops beside their source: an installation for developers uses them there, a wheel takes them
    along and is then for this system alone."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        for place in PLACES:
            source = Path(self.root, f"{place}.c")
            made = Path(self.root, f"{place}.abi3.so")
            made.unlink(missing_ok=True)
            why = compiled(source, made)
            if why is not None:
                print(f"{source.name} is not compiled ({why}); numpy and pandas do the same.", file=sys.stderr)
            elif version != "editable":
                system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
                build_data["pure_python"] = False
                build_data["tag"] = f"cp311-abi3-{system}"
                build_data["artifacts"].append(f"{place}.abi3.so")
