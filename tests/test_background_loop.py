"""A process has one event loop of each name, also where threads ask for it at once; a forked one has its own."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.local_and_remote import sides

from workbench.background_loop import background_loop


def test_threads_that_ask_at_once_get_the_same_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    make = asyncio.new_event_loop

    def slowly() -> asyncio.AbstractEventLoop:
        time.sleep(0.02)
        return make()

    monkeypatch.setattr(asyncio, "new_event_loop", slowly)
    name, together = secrets.token_hex(4), threading.Barrier(4)

    def ask(_: int) -> asyncio.AbstractEventLoop:
        together.wait(10)
        return background_loop(name)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_forked_process_asks_the_server_itself(tmp_path: Path) -> None:
    """It waited for ever for the loop of its parent."""
    with sides(tmp_path / "lab.db") as lab:
        names = list(lab.far.projects.list()["name"])
        child = os.fork()
        if not child:  # it must not return to pytest
            try:
                os._exit(0 if list(lab.far.projects.list()["name"]) == names else 1)
            finally:
                os._exit(2)
        ended = (0, 0)
        until = time.monotonic() + 20
        while ended == (0, 0) and time.monotonic() < until:
            time.sleep(0.02)
            ended = os.waitpid(child, os.WNOHANG)
        if ended == (0, 0):
            os.kill(child, 9)
            ended = os.waitpid(child, 0)
        assert ended == (child, 0)
        assert list(lab.far.projects.list()["name"]) == names
