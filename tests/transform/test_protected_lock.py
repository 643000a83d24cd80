"""The allow-list as the kernel would run it, for both machines; sealed memory; and whose turn it is."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import sys
import threading

import pytest
from support.waiting import until

from workbench.errors import Busy, Cancelled
from workbench.lock import seccomp_filter as bpf
from workbench.lock import system_calls
from workbench.transform.protected import allowed_calls as calls
from workbench.transform.protected.queue import Turns

ARGUMENTS = (0,) * 6


def kernel(
    architecture: int, number: int, arguments: tuple[int, ...] = ARGUMENTS, *, of: int | None = None
) -> int:
    """What the filter of one machine answers to a call: the kernel's interpreter, in Python."""
    code = bpf.packed(bpf.program(architecture, calls.ALLOWED))
    program = [struct.unpack_from("=HBBI", code, place) for place in range(0, len(code), 8)]
    data = struct.pack("=iIQ6Q", number, of or architecture, 0, *(one & (2**64 - 1) for one in arguments))
    value, place = 0, 0
    while True:
        what, yes, no, constant = program[place]
        place += 1
        if what == 0x20:
            (value,) = struct.unpack_from("=I", data, constant)
        elif what == 0x54:
            value &= constant
        elif what == 0x06:
            return constant
        else:
            holds = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[what]
            place += yes if holds else no


BOTH = pytest.mark.parametrize("machine", [system_calls.X86_64, system_calls.ARM64])
NAMES = {call.name: call for call in calls.ALLOWED}


def number(name: str, machine: int) -> int:
    found = NAMES[name].number(machine)
    assert found is not None
    return found


GOOD = [
    ("read", (3,)),
    ("write", (3,)),
    ("write", (4,)),
    ("mmap", (0, 4096, 3, 0x22)),
    ("mmap", (0, 4096, 1, 0x02, 5)),
    ("mprotect", (0, 4096, 0)),
    ("madvise", (0, 4096, 4)),
    ("futex", (0, 0 | 128)),
    ("futex", (0, 9 | 128 | 256)),
    ("setitimer", (0,)),
    ("clock_gettime", (1,)),
    ("clock_gettime", (3,)),
    ("clock_nanosleep", (1,)),
    ("exit_group", (0,)),
    ("getrandom", (0, 16, 0)),
]
BAD = [
    ("read", (0,)),
    ("write", (1,)),
    ("write", (5,)),
    ("recvmsg", (4,)),
    ("mmap", (0, 4096, 7, 0x22)),
    ("mmap", (0, 4096, 4, 0x22)),
    ("mmap", (0, 4096, 3, 0x21)),
    ("mmap", (0, 4096, 3, 0x23)),
    ("mmap", (0, 4096, 3, 0x40022)),
    ("mmap", (0, 4096, 3 | 2**32, 0x22)),
    ("mmap", (0, 4096, 3, 0x22 | 2**40)),
    ("mprotect", (0, 4096, 5)),
    ("mprotect", (0, 4096, 0x01000001)),
    ("madvise", (0, 4096, 12)),
    ("futex", (0, 0)),
    ("futex", (0, 1)),
    ("futex", (0, 11)),
    ("futex", (0, 4)),
    ("setitimer", (1,)),
    ("clock_gettime", ((~1 << 3) | 2,)),
    ("clock_getres", ((~1 << 3) | 2,)),
    ("clock_nanosleep", ((~1 << 3) | 2,)),
    ("clock_nanosleep", (2,)),
]


@BOTH
@pytest.mark.parametrize(("name", "arguments"), GOOD)
def test_what_is_allowed(machine: int, name: str, arguments: tuple[int, ...]) -> None:
    assert kernel(machine, number(name, machine), (*arguments, *ARGUMENTS)[:6]) == bpf.ALLOW


@BOTH
@pytest.mark.parametrize(("name", "arguments"), BAD)
def test_what_is_refused_for_its_arguments(machine: int, name: str, arguments: tuple[int, ...]) -> None:
    assert kernel(machine, number(name, machine), (*arguments, *ARGUMENTS)[:6]) == bpf.REFUSE


@BOTH
def test_every_other_call_is_refused(machine: int) -> None:
    allowed = {call.number(machine) for call in calls.ALLOWED}
    for other in range(600):
        answer = kernel(machine, other, (3, 0, 0, 2, 0, 0) if other in allowed else ARGUMENTS)
        assert answer == (bpf.REFUSE if other not in allowed else answer)
        assert answer in (bpf.ALLOW, bpf.REFUSE)
    assert len(allowed) < 40


@BOTH
def test_calls_of_another_machine_kill(machine: int) -> None:
    for other in (0x40000003, system_calls.X86_64, system_calls.ARM64, 0):
        if other != machine:
            assert kernel(machine, number("read", machine), (3, 0, 0, 0, 0, 0), of=other or 1) == bpf.KILL
    if machine == system_calls.X86_64:
        assert kernel(machine, 0x40000000) == kernel(machine, 0x40000000 + 2) == kernel(machine, -1) == bpf.KILL


DANGEROUS = {
    system_calls.X86_64: [
        2,
        4,
        41,
        42,
        49,
        56,
        57,
        58,
        59,
        62,
        101,
        157,
        200,
        234,
        257,
        262,
        298,
        302,
        317,
        319,
        323,
        425,
    ],
    system_calls.ARM64: [
        56,
        79,
        198,
        203,
        200,
        220,
        221,
        129,
        117,
        167,
        130,
        131,
        241,
        261,
        277,
        279,
        282,
        425,
        435,
        437,
    ],
}


@BOTH
def test_no_dangerous_call_is_on_the_list(machine: int) -> None:
    """By number, from the kernel's own tables: open, stat, socket, connect, clone, fork, execve, kill, ptrace ..."""
    for one in DANGEROUS[machine]:
        assert kernel(machine, one, (3, 0, 0, 0, 0, 0)) == bpf.REFUSE, one


def test_a_jump_is_never_longer_than_a_byte() -> None:
    for machine in (system_calls.X86_64, system_calls.ARM64):
        assert all(0 <= jump <= 255 for _, yes, no, _ in bpf.program(machine, calls.ALLOWED) for jump in (yes, no))


@pytest.mark.skipif(sys.platform != "linux", reason="sealed memory is Linux's")
class TestSealed:
    def test_nobody_can_change_it(self) -> None:
        from workbench.transform.protected.sealed_memory import seal

        made = seal(b"x" * 5000)
        try:
            assert made.size == 5000
            for attempt in (
                lambda: os.pwrite(made.descriptor, b"y", 0),
                lambda: os.ftruncate(made.descriptor, 10),
                lambda: os.ftruncate(made.descriptor, 10_000),
                lambda: fcntl.fcntl(made.descriptor, 1033, 0),
                lambda: mmap.mmap(made.descriptor, 5000),
            ):
                with pytest.raises(OSError):
                    attempt()
            assert os.pread(made.descriptor, 6000, 0) == b"x" * 5000
        finally:
            os.close(made.descriptor)

    def test_one_copy_serves_all_figures_of_a_dataset(self) -> None:
        from workbench.transform.protected.sealed_memory import Shelf

        shelf = Shelf(most_bytes=100, most_files=10)
        with shelf.lend("a", b"1" * 40) as first, shelf.lend("a", b"never read") as second:
            assert first == second
        with shelf.lend(None, b"2" * 40) as other:
            assert other.descriptor != first.descriptor
        with shelf.lend("a", b"") as again:
            assert again == first
            with shelf.lend("b", b"3" * 90):
                assert len(shelf) == 1
            assert os.pread(again.descriptor, 50, 0) == b"1" * 40, "lent, so still open"
        with pytest.raises(OSError):
            os.fstat(first.descriptor)
        shelf.close()
        assert len(shelf) == 0


class Queue:
    """Figures that take their turns: each is in work, or waits, once it was begun, and ends when it is let go."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self._begun: list[threading.Thread] = []
        self._in_work: list[tuple[str | None, threading.Event, threading.Thread]] = []

    @property
    def order(self) -> list[str | None]:
        """Whose turn it was, from the first."""
        return [organization for organization, _, _ in self._in_work]

    def begin(self, organization: str | None) -> None:
        def work() -> None:
            with self.turns.turn(organization):
                go = threading.Event()
                self._in_work.append((organization, go, threading.current_thread()))
                assert go.wait(60)

        self._begun.append(threading.Thread(target=work))
        self._begun[-1].start()
        self._settle()

    def let_go(self, number: int) -> None:
        """End the one whose turn was the ``number``-th; who is next has its turn then."""
        _, go, thread = self._in_work[number]
        go.set()
        thread.join(60)
        self._settle()

    def end(self, first: int = 0) -> None:
        for number in range(first, len(self._begun)):
            self.let_go(number)

    def _settle(self) -> None:
        until(lambda: len(self._in_work) + len(self.turns._waiting) == len(self._begun), "a turn or a wait")


def test_an_organization_has_at_most_half_of_the_workers() -> None:
    queue = Queue(Turns(4))
    for _ in range(4):
        queue.begin("a")
    assert queue.order == ["a", "a"]
    for _ in range(2):
        queue.begin("b")
    assert queue.order == ["a", "a", "b", "b"]
    queue.end()
    assert len(queue.order) == 6


def test_ones_own_work_may_have_all() -> None:
    queue = Queue(Turns(3))
    for _ in range(3):
        queue.begin(None)
    assert len(queue.order) == 3
    queue.end()


def test_who_has_least_goes_first_and_order_is_kept_else() -> None:
    queue = Queue(Turns(2, queue=50, queue_each=20))
    for name in ("a", "a", "a", "a", "b", "c", "b"):
        queue.begin(name)
    queue.let_go(0)
    queue.let_go(1)
    assert queue.order == ["a", "b", "a", "c"]
    queue.end(first=2)


def test_a_full_queue_says_so_at_once_and_each_has_its_own() -> None:
    queue = Queue(Turns(2, queue=3, queue_each=2))
    for _ in range(3):
        queue.begin("a")
    # Nothing ends meanwhile: whoever waited for a turn would wait for ever.
    with (
        pytest.raises(Busy, match=r"2 figures of this organization already wait .* Try again"),
        queue.turns.turn("a"),
    ):
        pass
    queue.begin("b")
    queue.begin("b")
    with pytest.raises(Busy, match="3 figures already wait"), queue.turns.turn("c"):
        pass
    queue.end()
    assert len(queue.order) == 5


def test_waiting_ends_by_time_or_by_withdrawal_and_leaves_no_trace() -> None:
    queue = Queue(Turns(1, seconds=0.2))
    queue.begin("a")
    with pytest.raises(Busy, match=r"within 0\.2 s"), queue.turns.turn("b"):
        pass
    with pytest.raises(Cancelled), queue.turns.turn("b", lambda: True):
        pass
    queue.end()
    with queue.turns.turn("b"):
        assert queue.order == ["a"]


def test_an_error_in_a_turn_gives_the_place_back() -> None:
    turns = Turns(1)
    for _ in range(3):
        with pytest.raises(ValueError), turns.turn("a"):
            raise ValueError
    with turns.turn("a"):
        return
