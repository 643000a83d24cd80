"""A plain proxy before several servers: each request goes to the next one that is up. A server that does not answer, or
ends in the middle, gives 502 and is left alone until it is said to be up."""

from __future__ import annotations

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.parse import urlsplit

_OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "content-length"}


class PlainProxy:
    """``address`` is what clients know; ``up`` are the servers that get requests."""

    def __init__(self, servers: list[str]) -> None:
        self.up = [urlsplit(one).netloc for one in servers]
        self._turn = count()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def _pass(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                status, headers, data = proxy.passed(self.command, self.path, dict(self.headers), body)
                self.send_response_only(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass  # noqa: N815 - http.server calls them so

            def log_message(self, *_: object) -> None:
                """Nothing: a test has no log."""

        class Listening(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: object) -> None:
                """A client that went away does not concern the proxy."""

        self._server = Listening(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def passed(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """The answer of a server, or 502."""
        up = list(self.up)
        where = up[next(self._turn) % len(up)]
        kept = {name: value for name, value in headers.items() if name.lower() not in _OF_THE_CONNECTION}
        connection = http.client.HTTPConnection(where, timeout=60)
        try:
            connection.request(method, path, body, kept)
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException):
            if where in self.up and len(self.up) > 1:
                self.up.remove(where)
            return 502, [("content-type", "text/plain")], b"the server does not answer"
        finally:
            connection.close()
        given = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OF_THE_CONNECTION]
        return answer.status, given, data

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
