"""The executor of a Dask cluster. Dask is imported when a scheduler is named, and is in the extra ``dask``."""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import suppress
from typing import Any

from ..errors import BadRequest, ExecutorAway

CONNECT_SECONDS = 10


def is_lost(executor: Executor) -> bool:
    """Whether an executor is that of a Dask client without a connection: what it was sent may never end.

    Dask cancels what was under way when a scheduler goes away, but not what was sent while the client still tried to
    reach it again.
    """
    client = getattr(executor, "_client", None)
    return client is not None and getattr(client, "status", "running") != "running"


def has_no_worker(executor: Executor) -> bool:
    """Whether an executor is that of a Dask client whose scheduler has no worker now: what was sent waits for one."""
    client = getattr(executor, "_client", None)
    with suppress(Exception):  # without an answer nothing is known
        return client is not None and client.nthreads() == {}
    return False


class Cluster:
    """A connection to a scheduler. Its workers need the same packages in the same versions."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler at ``tcp://host:port`` or ``tls://host:port``.

        Raises
        ------
        BadRequest
            If Dask is not installed.
        ExecutorAway
            If no scheduler answers there, or it has no worker.
        """
        try:
            from distributed import Client
        except ImportError:
            raise BadRequest(
                "A Dask cluster needs the package distributed: pip install 'battery-workbench[dask]'."
            ) from None
        self.address = address
        try:
            self._client: Any = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ExecutorAway(
                f"No Dask scheduler answers at '{address}' ({type(error).__name__}). Start one with `dask scheduler`, "
                "or name its address: dask://host:8786."
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError as error:
            self.close()
            raise ExecutorAway(
                f"The Dask scheduler at '{address}' has no worker. Start some: `dask worker {address}`."
            ) from error
        self.executor: Executor = self._client.get_executor(pure=False)

    def width(self) -> int:
        """How many tasks its workers do at the same time now."""
        with suppress(Exception):  # the scheduler says it, or a task soon says that it is gone
            threads: dict[str, int] = self._client.nthreads()
            return max(sum(threads.values()), 1)
        return 1

    def close(self) -> None:
        """Close the connection; the cluster goes on."""
        with suppress(Exception):  # it may be gone
            self._client.close(timeout=5)
