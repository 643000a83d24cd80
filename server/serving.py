"""Runs the server: one or several processes on one store, at one address, and a stop that waits for requests."""

from __future__ import annotations

import contextlib
import gc
import http.client
import ipaddress
import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson
import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from workbench import c_allocator
from workbench.errors import BadRequest, NotProtected
from workbench.ingest.read.locked_reader import NO_LOCK, why_not
from workbench.transform.protected import required, shared

from . import descriptors, log, metrics
from .app import create_app
from .connections import HttpConfig
from .identity_provider import LOOPBACK, ProviderSettings
from .settings import Settings

ENVIRONMENT = "WORKBENCH_SERVING"
_ANYWHERE = ("0.0.0.0", "::", "")  # noqa: S104


@dataclass(frozen=True)
class Serving:
    """The options of ``workbench serve``. With ``quiet`` the log has errors and warnings only."""

    store: str
    host: str = "127.0.0.1"
    port: int = 8765
    workers: int = 1
    trust_transforms: bool = False
    trust_files: bool = False
    public_url: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    embed_origins: tuple[str, ...] = ()
    billing_portal: str | None = None
    quiet: bool = False
    docs: bool = False
    executor: str | None = None
    metrics: bool = False
    metrics_port: int | None = None
    provider: ProviderSettings | None = None

    def settings(self) -> Settings:
        """The settings of the application. On another address than the loopback, any host name is allowed if none is
        named."""
        names: tuple[str, ...] | None = (*LOOPBACK, *self.hosts)
        if not _is_loopback(self.host) and not self.hosts:
            names = None
        readers = 0 if self.trust_files else Settings.readers
        return Settings(
            readers=readers,
            public_url=self.public_url,
            hosts=names,
            origins=self.origins,
            embed_origins=self.embed_origins,
            billing_portal=self.billing_portal,
            docs=self.docs,
            executor=self.executor,
            metrics=self.keeps_metrics,
            provider=self.provider,
        )

    @property
    def keeps_metrics(self) -> bool:
        """Whether there is somebody who asks for counts and times."""
        return self.metrics or self.metrics_port is not None

    def address(self, port: int) -> str:
        """The address for users, with this port."""
        return f"http://[{self.host}]:{port}" if ":" in self.host else f"http://{self.host}:{port}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def application() -> FastAPI:
    """The application of a worker process; its environment has the options."""
    c_allocator.keep_few_heaps()
    raw = orjson.loads(os.environ[ENVIRONMENT])
    lists = {name: tuple(raw[name]) for name in ("hosts", "origins", "embed_origins")}
    provider = raw["provider"] and ProviderSettings(
        **{**raw["provider"], "domains": tuple(raw["provider"]["domains"])}
    )
    serving = Serving(**{**raw, **lists, "provider": provider})
    log.to_stderr(logging.WARNING if serving.quiet else logging.INFO)
    _end_with_parent()
    made = create_app(serving.store, serving.settings(), protected=not serving.trust_transforms, create=False)
    # What the imports made stays. To look at all of it takes a tenth of a second, in which nobody is answered.
    gc.collect()
    gc.freeze()
    return made


def _end_with_parent() -> None:
    """Stop this worker when the process that started it is gone, also if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=wait, name="workbench-parent", daemon=True).start()


def run(serving: Serving, ready: Callable[[str], None]) -> None:
    """Serve until a signal stops it; ``ready`` is called with the address when the server answers.

    Raises
    ------
    BadRequest
        If the server cannot listen on the address.
    NotProtected
        If this machine cannot lock scripts in, and ``trust_transforms`` is not set; or the processes that parse files,
        and ``trust_files`` is not set.
    """
    if not serving.trust_transforms:
        required()
    if not serving.trust_files and (why := why_not()) is not None:
        raise NotProtected(NO_LOCK.format(why.rstrip(".")))
    listening = listen(serving.host, serving.port)
    port = int(listening.getsockname()[1])
    os.environ[ENVIRONMENT] = orjson.dumps(asdict(serving)).decode()
    with _metrics(serving):
        _serve(serving, listening, port, ready)


@contextlib.contextmanager
def _metrics(serving: Serving) -> Iterator[None]:
    """The folder in which the processes keep their counts, and the port at which they are shown."""
    if not serving.keeps_metrics:
        yield
        return
    metrics.check_installed()
    with tempfile.TemporaryDirectory(prefix="workbench-metrics-", ignore_cleanup_errors=True) as folder:
        os.environ[metrics.FOLDER] = folder  # before prometheus-client is imported
        try:
            end = (
                None if serving.metrics_port is None else metrics.listen(Path(serving.store), serving.metrics_port)
            )
            try:
                yield
            finally:
                if end is not None:
                    end()
        finally:
            del os.environ[metrics.FOLDER]


def _serve(serving: Serving, listening: socket.socket, port: int, ready: Callable[[str], None]) -> None:
    descriptors.raise_limit()
    config = HttpConfig("server.serving:application", factory=True, workers=serving.workers)
    threading.Thread(target=_announce, args=(serving, port, ready), daemon=True).start()
    if serving.workers > 1:
        shared().close()  # each worker starts its own; this process only watches them
        Multiprocess(config, sockets=[listening]).run()
    else:
        uvicorn.Server(config).run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises
    ------
    BadRequest
        If it cannot listen on the address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once only on sockets that are known to be TCP. Without IPPROTO_TCP each answer
    # waits 40 ms for the client to acknowledge its headers.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform == "win32":  # the other option would let a second server take the same port there
        made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(2048)
    except OSError as error:
        made.close()
        why = error.strerror or error
        message = f"The server cannot listen on '{host}', port {port}: {why}. Choose another --host or --port."
        raise BadRequest(message) from None
    made.set_inheritable(True)
    return made


def _announce(serving: Serving, port: int, ready: Callable[[str], None]) -> None:
    """Call ``ready`` as soon as the server answers."""
    host = "127.0.0.1" if serving.host in _ANYWHERE else serving.host
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection(host, port, timeout=5)
            connection.request("GET", "/healthz", headers={"Host": "localhost"})
            if connection.getresponse().status == 200:
                break
        time.sleep(0.05)
    ready(serving.address(port))
