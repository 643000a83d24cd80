"""How a profile names the system calls that it allows, with their numbers on both architectures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

X86_64, ARM64 = 0xC000003E, 0xC00000B7
ARCHITECTURES = {"x86_64": X86_64, "amd64": X86_64, "aarch64": ARM64, "arm64": ARM64}
"""Machine as ``platform.machine()`` names it -> audit architecture of the kernel."""

LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446  # the same on both
CAPSET = {X86_64: 126, ARM64: 91}

CLOCKS = (0, 1, 2, 3, 4, 5, 6, 7, 11)
"""Clocks of the time and of this process. Negative numbers, clocks of any other process, are left out."""
SLEPT_BY = (0, 1)


class Within(NamedTuple):
    """An argument has no bit outside ``bits``, and all those of ``needed``."""

    argument: int
    bits: int
    needed: int = 0


class OneOf(NamedTuple):
    """The low half of an argument, without the bits ``ignored``, is one of ``values``."""

    argument: int
    values: tuple[int, ...]
    ignored: int = 0


@dataclass(frozen=True)
class Call:
    """A system call: its numbers (None where the machine has none) and what its arguments must be.

    With ``absent`` the kernel answers that it does not know the call, so that a library takes an older one.
    """

    name: str
    x86_64: int | None
    arm64: int | None
    rules: tuple[Within | OneOf, ...] = ()
    absent: bool = False

    def number(self, architecture: int) -> int | None:
        return self.x86_64 if architecture == X86_64 else self.arm64
