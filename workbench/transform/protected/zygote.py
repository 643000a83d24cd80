"""The zygote: the process from which every figure is forked. It has all modules imported, one thread, one socket and
no secrets.

It starts as a fresh program with an empty environment. It only forks on demand and reports the end of each child.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import struct
import traceback
from typing import NoReturn, TypedDict

from ...quick_import import not_collected
from . import child, memory_before_fork, preload
from . import lock_self_test as probe
from . import warm_up as warm
from .lock import Bounds, Lock

FORK, FORKED, ENDED = b"F", b"F", b"E"
FORKED_AS = struct.Struct("<cQi")  # what, number of the process, process id
ENDED_AS = struct.Struct("<cQiqi")  # what, number, wait status, most memory resident in kB, orphans it left
NUMBERED = struct.Struct("<cQ")
HELLO, FAILURE = b"H", b"X"


class Hello(TypedDict):
    """The first message of a zygote: its version of Landlock (below 1: none), whether it runs as root, what the
    self-test could do, and its number of threads."""

    landlock: int
    root: bool
    open: list[str]
    threads: int


def main(control: int, bounds: dict[str, int]) -> NoReturn:
    """Test the lock, warm up, then serve ``control`` until it or its other end closes."""
    server = os.getppid()
    watched = os.pidfd_open(server)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, control)
    try:
        lock = Lock(Bounds(**bounds))
        lock.adopt()
        found = probe.in_child(lock)
        if not found:  # otherwise report it at once
            with not_collected():
                preload.everything()
            preload.forget()  # only now, because libraries read their settings when they are imported
            warm.touch()
            gc.collect()
            gc.freeze()
            memory_before_fork.fill_gaps(lock.libc)
            memory_before_fork.into_huge_pages(lock.libc)
        threads = len(os.listdir("/proc/self/task"))
        hello: Hello = {"landlock": lock.landlock, "root": os.geteuid() == 0, "open": found, "threads": threads}
        connection.send(HELLO + json.dumps(hello).encode())
    except BaseException:  # the pool must learn of every failure, and this process must end
        connection.send(FAILURE + traceback.format_exc().encode()[-4000:])
        os._exit(1)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    _Zygote(connection, lock, watched).serve()
    os._exit(0)


class _Zygote:
    def __init__(self, connection: socket.socket, lock: Lock, watched: int) -> None:
        self.connection, self.lock, self.watched = connection, lock, watched
        self.numbers: dict[int, int] = {}
        self.me = os.getpid()
        self.woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)

    def serve(self) -> None:
        poll = select.poll()
        for descriptor in (self.connection.fileno(), self.woken, self.watched):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if self.watched in ready:
                return
            if self.woken in ready:
                os.read(self.woken, 4096)
                self.reap()
            if self.connection.fileno() in ready and not self.take():
                return

    def take(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self.connection, NUMBERED.size, 2)
        if not message:
            return False
        _, number = NUMBERED.unpack(message)
        self.fork(number, *descriptors)
        return True

    def fork(self, number: int, answers: int, trace: int) -> None:
        process = os.fork()
        if process == 0:
            child.main(answers, trace, self.lock, self.me)
        os.close(answers)
        os.close(trace)
        self.numbers[process] = number
        handle = os.pidfd_open(process)
        socket.send_fds(self.connection, [FORKED_AS.pack(FORKED, number, process)], [handle])
        os.close(handle)

    def reap(self) -> None:
        while True:
            try:
                process, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            number = self.numbers.pop(process, None)
            if number is not None:
                left = self.end_orphans()
                self.connection.send(ENDED_AS.pack(ENDED, number, status, usage.ru_maxrss, left))

    def end_orphans(self) -> int:
        """Kill the children that an ended child has left behind. Returns how many there were."""
        with open(f"/proc/self/task/{self.me}/children") as file:
            strange = [int(word) for word in file.read().split() if int(word) not in self.numbers]
        for process in strange:
            os.kill(process, signal.SIGKILL)
        return len(strange)
