"""What the server counts and times, as Prometheus reads it. No label holds an id, a name or an address of anybody.

One process keeps its counts in memory. Several keep theirs in small files of a folder, and whichever is asked adds them
up; ``$PROMETHEUS_MULTIPROC_DIR`` names that folder before prometheus-client is imported, as its own rules want.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import BadRequest
from workbench.living_process import is_alive

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Gauge
    from prometheus_client.core import GaugeMetricFamily

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable of prometheus-client."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OTHER = "other"
"""The operation of requests that belong to no route of the interface: files of the page, unknown paths."""
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper ends of the classes of the times of requests."""
COUNTED = {"figure": "figures", "dataset": "datasets"}
"""The kinds of entries of the cache that are counted."""
PARTS = {"store": "", "log": "-wal", "cache": ".cache", "cache_log": ".cache-wal"}
"""The files of a store, by what is added to its path."""
Reading = Mapping[str, float]
"""What a process has now: the name of a gauge in `GAUGES` -> its value."""
GAUGES = {
    "threads_running": "Requests that run in a thread, by the kind of thread.",
    "threads_waiting": "Requests that wait for a thread, by the kind of thread.",
    "scripts_running": "Figures that are being drawn by scripts.",
    "scripts_waiting": "Figures that wait for a process that draws scripts.",
    "script_processes_ready": "Whether the process that starts those of scripts runs: 1 or 0.",
    "ingests": "Ingests that run or wait.",
    "store_connections": "Connections to the store.",
}
"""The gauges of each process, added up over the processes; those of threads have the label ``kind``."""


def check_installed() -> None:
    """Refuse metrics where their package is not installed.

    Raises
    ------
    BadRequest
        If it is not; says what to install.
    """
    if find_spec("prometheus_client") is None:
        raise BadRequest("Metrics need prometheus-client: pip install 'battery-workbench[metrics]'.")


class Metrics:
    """The counts of one server process."""

    def __init__(self, store: Path, read: Callable[[], Reading]) -> None:
        """``store``: its path; ``read`` gives the gauges of this process at the moment."""
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self._store = store
        self._read = read
        self._lock = threading.Lock()
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "workbench_requests", "Requests that were answered.", ("operation", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "workbench_request_seconds",
            "Time until the whole answer was sent.",
            ("operation",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._entries = {
            kind: Counter(
                f"workbench_{name}",
                f"{name.capitalize()} that were answered: made now, or taken from the cache.",
                ("source",),
                registry=self._registry,
            )
            for kind, name in COUNTED.items()
        }
        self._files = Counter(
            "workbench_ingested_files", "Files that ingests read.", ("status",), registry=self._registry
        )
        self._gauges: dict[str, Gauge] = {
            name: Gauge(
                f"workbench_{name}",
                text,
                ("kind",) if name.startswith("threads") else (),
                registry=self._registry,
                multiprocess_mode="livesum",
            )
            for name, text in GAUGES.items()
        }

    def request(self, operation: str, status: int, seconds: float) -> None:
        """Count a request that was answered; ``operation`` is its method and the template of its path."""
        self._requests.labels(operation, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)
        if FOLDER in os.environ:  # another process may be asked, and knows of this one only what it wrote
            self.refresh()

    def entry(self, kind: str, hit: bool) -> None:
        """Count an entry that the cache gave (``hit``) or that was made."""
        counter = self._entries.get(kind)
        if counter is not None:
            counter.labels("cache" if hit else "made").inc()

    def file(self, status: str) -> None:
        """Count a file that an ingest read, by the status of its report."""
        self._files.labels(status).inc()

    def refresh(self) -> None:
        """Write down what this process has now."""
        with self._lock:
            for name, value in self._read().items():
                gauge, _, kind = name.partition(".")
                (self._gauges[gauge].labels(kind) if kind else self._gauges[gauge]).set(value)

    def text(self) -> bytes:
        """All counts, of all processes, in the text form of Prometheus."""
        self.refresh()
        return text(self._store, None if FOLDER in os.environ else self._registry)


def text(store: Path, registry: CollectorRegistry | None) -> bytes:
    """The counts of a registry, or without one of all processes that write into the folder, and the size of a store."""
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    if registry is None:
        _forget_the_dead(Path(os.environ[FOLDER]))
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library has no types
    sizes = CollectorRegistry()
    sizes.register(_Sizes(store))
    return bytes(generate_latest(registry) + generate_latest(sizes))


def listen(store: Path, port: int) -> Callable[[], None]:
    """Answer at a port of the loopback, without a key, for all processes; gives what ends that.

    Raises
    ------
    BadRequest
        If the port is taken.
    """
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            return

    def answer(environ: Mapping[str, object], start: Callable[..., object]) -> Iterable[bytes]:
        start("200 OK", [("Content-Type", CONTENT_TYPE)])
        return [text(store, None)]

    try:
        server = make_server("127.0.0.1", port, answer, handler_class=Quiet)
    except OSError as error:
        raise BadRequest(
            f"Metrics cannot be shown at port {port} ({error.strerror}). Choose another --metrics-port."
        ) from None
    threading.Thread(target=server.serve_forever, name="workbench-metrics", daemon=True).start()

    def end() -> None:
        server.shutdown()
        server.server_close()

    return end


def _forget_the_dead(folder: Path) -> None:
    """Remove the gauges of processes that have ended: what they ran is not running any more."""
    for path in folder.glob("gauge_live*.db"):
        pid = path.stem.rpartition("_")[2]
        if pid.isdigit() and not is_alive(int(pid)):
            with suppress(OSError):
                path.unlink()


class _Sizes:
    """How large the store and its side files are, read when somebody asks."""

    def __init__(self, store: Path) -> None:
        self._store = store

    def collect(self) -> Iterable[GaugeMetricFamily]:
        from prometheus_client.core import GaugeMetricFamily

        sizes = GaugeMetricFamily("workbench_store_bytes", "Bytes of the store's files.", labels=["part"])
        is_file = self._store.exists()  # one on PostgreSQL has its cache here alone
        for part, ending in PARTS.items():
            path = Path(f"{self._store}{ending}")
            if is_file or path.exists():
                sizes.add_metric([part], _size(path))
        yield sizes


def _size(path: Path) -> float:
    try:
        return float(path.stat().st_size)
    except OSError:
        return 0.0
