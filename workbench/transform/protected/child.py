"""What a forked process does: lock itself, wait for its job, draw one figure, answer, end.

The server does not trust this process: once a hostile script runs, it controls the process.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import socket

from .allowed_calls import READ, REPLY, TRACE
from .answer import answer
from .lock import Lock, LockFailed
from .messages import FAILED, JOB, JOB_MAGIC, READY, Job, read_exactly, write_all
from .warm_up import touch

_PRIVATE = 2


def main(answers: int, trace: int, lock: Lock, parent: int) -> None:
    """Serve one job on the descriptor ``answers`` and end the process. Never returns."""
    try:
        _settle(answers, trace)
        try:
            lock.apply(parent)
        except (LockFailed, OSError) as error:
            write_all(REPLY, FAILED + str(error).encode()[:500])
            os._exit(1)
        write_all(REPLY, READY)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, REPLY)
        if not _wanted(connection):
            touch()
        _serve(connection, lock)
    finally:
        os._exit(0)


def _settle(answers: int, trace: int) -> None:
    """Keep only the two descriptors, at their fixed numbers. Standard input and output go to the null device."""
    above = max(answers, trace, TRACE) + 1
    os.dup2(answers, above)
    os.dup2(trace, above + 1)
    os.dup2(above, REPLY)
    os.dup2(above + 1, TRACE)
    os.closerange(TRACE + 1, 2**20)
    signal.set_wakeup_fd(-1)
    for one in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
        signal.signal(one, signal.SIG_DFL)
    faulthandler.register(signal.SIGUSR1, file=TRACE, all_threads=False, chain=False)


def _wanted(connection: socket.socket) -> bool:
    """Whether the job has already arrived."""
    try:
        connection.recvmsg(1, 0, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    return True


def _serve(connection: socket.socket, lock: Lock) -> None:
    head, descriptors, _, _ = socket.recv_fds(connection, JOB.size, 1)
    if len(head) < JOB.size:
        head += read_exactly(lambda size: os.read(REPLY, size), JOB.size - len(head))
    magic, length, size = JOB.unpack(head)
    if magic != JOB_MAGIC:
        return
    job = Job.load(read_exactly(lambda size: os.read(REPLY, size), length))
    data = _mapped(lock, descriptors[0], size) if descriptors else memoryview(b"")
    write_all(REPLY, *answer(job, data))


def _mapped(lock: Lock, descriptor: int, size: int) -> memoryview:
    """The sealed memory behind a descriptor, as read-only bytes."""
    lock.libc.mmap.restype = ctypes.c_void_p
    address = lock.libc.mmap(None, ctypes.c_size_t(size), READ, _PRIVATE, descriptor, ctypes.c_long(0))
    if address in (None, ctypes.c_void_p(-1).value):
        raise MemoryError("the dataset could not be mapped")
    os.close(descriptor)
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B").toreadonly()
