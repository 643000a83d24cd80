"""An application of the server in a thread of this process, on a real socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from support.waiting import until


@contextmanager
def listening(app: Any, lifespan: str = "on") -> Iterator[tuple[uvicorn.Server, str]]:
    """The server and its address; at the end it stops, by a graceful stop, and its thread ends."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan=lifespan))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    until(lambda: server.started, "the start of the server")
    try:
        yield server, f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:  # a test that failed must not leave the server running: Python would wait for its thread
        server.should_exit = True
        thread.join(20)
    assert not thread.is_alive()
