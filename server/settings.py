"""The settings of an operator; each has a safe default."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from workbench.version import __version__

from .identity_provider import LOOPBACK, ProviderSettings

VERSION = __version__
TINY = 4096
"""Most bytes of a body that is read from somebody without a credential: a key to sign in with."""


def _cores() -> int:
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """How the server runs.

    Parameters
    ----------
    public_url : the address that people use if there is a proxy before the server; signed addresses begin with it. By
        default they begin with the address of the request.
    hosts : allowed host names of requests; None for any. By default only the names of this machine, so that a page of
        another site cannot reach a server on the loopback under a name of its own.
    origins : origins whose pages may call the server from a browser; none by default.
    embed_origins : sites that may show links made for it in a frame, such as ``https://wiki.lab.example``.
    billing_portal : where ``GET /user/billing-portal`` leads.
    requests_per_second, burst : the rate of requests of one key to one worker process, or to all servers of a store on
        PostgreSQL, and how many may come at once.
    quick, plans : threads for requests about records, and for those that run plans, draw or read files.
    waiting : how many requests may wait for a thread of each kind; more are refused.
    small_body, large_body : most bytes, unpacked, of a body with a recipe, values or a prompt; and of one with records.
    upload : most bytes of an uploaded file.
    request_seconds : how long a plan, a figure or a file may take before it is stopped.
    url_seconds : how long a signed address is valid.
    downloads : most bytes of prepared downloads that are kept.
    readers : how many processes of little memory read the parquet files of uploads, for each worker process. They, and
        those of an ingest, are locked in. With 0 whoever sends files is trusted: the worker process reads parquet files
        itself, and an ingest goes on where the machine has no lock.
    provider : the identity provider by which people may sign in on the page; None for keys alone.
    metrics : keep counts and times for Prometheus, at ``/metrics``.
    executor : where work over many tests runs, as ``--executor`` names it; None for threads of the worker process.
    docs : show the API at ``/docs``, where it can be tried out.
    """

    public_url: str | None = None
    hosts: tuple[str, ...] | None = LOOPBACK
    origins: tuple[str, ...] = ()
    embed_origins: tuple[str, ...] = ()
    billing_portal: str | None = None
    requests_per_second: float = 500.0
    burst: int = 1000
    quick: int = 8
    plans: int = field(default_factory=lambda: max(4, 2 * _cores()))
    waiting: int = 256
    small_body: int = 1 << 20
    large_body: int = 32 << 20
    upload: int = 4 << 30
    request_seconds: float = 300.0
    url_seconds: int = 3600
    downloads: int = 4 << 30
    readers: int = 2
    docs: bool = False
    executor: str | None = None
    metrics: bool = False
    provider: ProviderSettings | None = None

    def most(self, size: str) -> int:
        """The most bytes of a body of this kind: ``tiny``, ``small``, ``large`` or ``upload``."""
        return {"tiny": TINY, "small": self.small_body, "large": self.large_body, "upload": self.upload}[size]
