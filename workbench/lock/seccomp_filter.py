"""Writes the allow-list as a program for the kernel's packet filter, which seccomp runs before every system call."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from .system_calls import X86_64, Call, OneOf, Within

ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE = 0x00050000 | 1  # EPERM, which Python shows as PermissionError
UNKNOWN = 0x00050000 | 38  # ENOSYS
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_X32 = 0x40000000

Instruction = tuple[int, int, int, int]
"""(code, jump if true, jump if false, constant)"""


def program(architecture: int, calls: Iterable[Call]) -> list[Instruction]:
    """The filter for one architecture. It allows the calls within their rules. A call of another architecture kills the
    process. Every other call fails with EPERM."""
    made: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if architecture == X86_64:
        made += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, KILL)]
    for call in calls:
        number = call.number(architecture)
        if number is not None:
            block = _block(call)
            made += [(_EQUAL, 0, len(block), number), *block]
    return [*made, (_RETURN, 0, 0, REFUSE)]


def packed(instructions: Iterable[Instruction]) -> bytes:
    """The program as the kernel reads it: 8 bytes for each instruction."""
    return b"".join(struct.pack("=HBBI", *one) for one in instructions)


def _block(call: Call) -> list[Instruction]:
    """The instructions that check the arguments of one call. Every branch ends in a return."""
    if call.absent:
        return [(_RETURN, 0, 0, UNKNOWN)]
    block: list[Instruction] = []
    for rule in call.rules:
        block += _within(rule) if isinstance(rule, Within) else _one_of(rule)
    return [*block, (_RETURN, 0, 0, ALLOW)]


def _within(rule: Within) -> list[Instruction]:
    low, high = _halves(rule.argument)
    made: list[Instruction] = [
        (_LOAD, 0, 0, high),
        (_EQUAL, 1, 0, 0),
        (_RETURN, 0, 0, REFUSE),
        (_LOAD, 0, 0, low),
        (_ANY_BIT, 0, 1, ~rule.bits & 0xFFFFFFFF),
        (_RETURN, 0, 0, REFUSE),
    ]
    if rule.needed:
        made += [(_AND, 0, 0, rule.needed), (_EQUAL, 1, 0, rule.needed), (_RETURN, 0, 0, REFUSE)]
    return made


def _one_of(rule: OneOf) -> list[Instruction]:
    made: list[Instruction] = [(_LOAD, 0, 0, _halves(rule.argument)[0])]
    if rule.ignored:
        made.append((_AND, 0, 0, ~rule.ignored & 0xFFFFFFFF))
    for n, value in enumerate(rule.values):
        made.append((_EQUAL, len(rule.values) - n, 0, value))
    return [*made, (_RETURN, 0, 0, REFUSE)]


def _halves(argument: int) -> tuple[int, int]:
    """The offsets of the low and the high half of an argument. Both architectures are little-endian."""
    place = _ARGUMENTS + 8 * argument
    return place, place + 4
