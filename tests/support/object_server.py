"""An S3 server of this machine for tests, and a proxy in front of it that fails as networks do."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

BUCKET = "bucket"


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


_SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.disable(logging.CRITICAL)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
"""Ends with its input, so also when the tests are killed."""


@contextmanager
def s3_server() -> Iterator[int]:
    """The port of a server of its own process, with an empty bucket."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        said = process.stdout.readline()
        assert said, "the S3 server did not come up"
        port = int(said)
        request = urllib.request.Request(f"http://127.0.0.1:{port}/{BUCKET}", method="PUT")
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60).close()
        yield port
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


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
