"""A server on this machine that takes the messages of webhooks and answers with the statuses that a test chose."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Hook:
    """What came in, in its order; ``answers`` are the statuses of the next ones, then ``status``."""

    url: str = ""
    got: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    status: int = 204

    @property
    def ids(self) -> list[str]:
        return [one["id"] for one in self.got]


@contextmanager
def hook_server() -> Iterator[Hook]:
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.paths.append(self.path)
            hook.headers.append(dict(self.headers))
            hook.got.append(json.loads(body))
            status = hook.answers.pop(0) if hook.answers else hook.status
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hook.url = f"http://127.0.0.1:{server.server_address[1]}/lab"
    try:
        yield hook
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
