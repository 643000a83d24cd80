"""An S3 server of this machine for tests, and a proxy in front of it that fails as networks do."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

BUCKET = "bucket"
_LIMIT = 120.0


def environment(port: int) -> dict[str, str]:
    """The variables by which obstore finds the server on a port."""
    return {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        # Loopback only, whatever proxy this machine has.
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }


@contextmanager
def s3_server() -> Iterator[int]:
    """The port of a server of its own process, with an empty bucket."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    try:
        _make_bucket(port, process)
        yield port
    finally:
        process.kill()
        process.wait()


def _make_bucket(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _LIMIT
    while True:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/{BUCKET}", method="PUT")
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10):
                return
        except (urllib.error.URLError, OSError):
            assert process.poll() is None, "the S3 server ended"
            assert time.monotonic() < until, "the S3 server did not come up"
            time.sleep(0.05)


class Proxy:
    """Passes bytes to a server. ``fail`` decides for each request, by its first line, what happens to it:

    "" passes it; a status such as "500" answers so; "cut" passes half of the answer's bytes and closes; "hang" is
    silent.
    """

    def __init__(self, port: int) -> None:
        self.fail: Callable[[str], str] = lambda line: ""
        self.lines: list[str] = []
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.append(client)
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            while (message := _message(client)) is not None:
                head, body = message
                line = head.partition(b"\r\n")[0].decode()
                self.lines.append(line)
                how = self.fail(line)
                if how == "hang":
                    client.recv(1)  # until the other side gives up
                    return
                if how.isdigit():
                    client.sendall(f"HTTP/1.1 {how} Refused\r\ncontent-length: 0\r\n\r\n".encode())
                    continue
                with socket.create_connection(("127.0.0.1", self._target)) as server:
                    server.sendall(head.replace(b"\r\n", b"\r\nconnection: close\r\n", 1) + body)
                    answer = b"".join(iter(lambda server=server: server.recv(1 << 16), b""))  # type: ignore[misc]
                if how == "cut":
                    start = answer.index(b"\r\n\r\n") + 4
                    client.sendall(answer[: start + (len(answer) - start) // 2])
                else:
                    client.sendall(answer)
                return

    def close(self) -> None:
        self._listener.close()
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def _message(client: socket.socket) -> tuple[bytes, bytes] | None:
    """The head and the body of the next request."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = client.recv(1 << 16)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    found = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    length = int(found[1]) if found else 0
    while len(body) < length:
        part = client.recv(1 << 16)
        if not part:
            return None
        body += part
    return head + b"\r\n\r\n", body
