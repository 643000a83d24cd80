"""Opening a bench: on a store of this machine (``wb.open``) or on a server (``wb.connect``)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..environment import API_KEY, ORGANIZATION, PROJECT, meant_store
from ..errors import BadRequest
from ..fan_out import Given as Executor
from ..local import LocalBackend
from ..quick_import import later
from . import first_plot
from .bench import Bench

if TYPE_CHECKING:
    from ..store.objects import relocate
else:  # samples are moved to an object store by those who ask for it
    relocate = later("workbench.store.objects.relocate")


def open_bench(
    path: str | Path | None = None,
    project: str | None = None,
    organization: str | None = None,
    *,
    samples: str | None = None,
    executor: Executor = None,
) -> Bench:
    """A bench on a local store. The store is created if it does not exist.

    Parameters
    ----------
    path : the store, which is one file, or an address of PostgreSQL, ``postgresql://user@host/database``. Caches are in
        files next to the file, which may be deleted. Without a path, the bench opens the store that the commands use:
        ``$WORKBENCH_STORE``, else ``workbench.db``, with ``$WORKBENCH_PROJECT`` and ``$WORKBENCH_ORGANIZATION``.
        `workbench lab --store` sets these for its notebooks.
    project, organization : name or id; needed only where the store has several.
    samples : where a new store keeps its samples: ``"folder:PATH"``, ``"s3://BUCKET/PREFIX"``, ``"gs://..."``,
        ``"az://..."``; without it in its file. The store remembers it. A store that is there already is moved by
        `workbench samples move`.
    executor : where work over many tests runs (`ingest`, `analyse`, `recompute`, `verify`, `warm`): ``"threads"``,
        ``"serial"``, ``"processes"`` or ``"processes:4"``, the scheduler of a Dask cluster, ``"dask://host:8786"``, or
        an `Executor` of ``concurrent.futures``. By default ``$WORKBENCH_EXECUTOR``, else threads. The answers are the
        same.

    Raises
    ------
    BadRequest
        If there is no such project or organization, or if there are several and none is named; the message names those
        that are there. If the store keeps its samples elsewhere. Also
        for an executor that does not exist.
    """
    if path is None:
        path = meant_store(None)
        project = project or os.environ.get(PROJECT) or None
        organization = organization or os.environ.get(ORGANIZATION) or None
    backend = LocalBackend.open(path, project, organization, executor=executor)
    if samples is not None:
        try:
            relocate.keep_samples(backend.store, samples)
        except BaseException:  # whatever it is, the file must not stay open
            backend.close()
            raise
    first_plot.prepare()
    return Bench(backend)


def connect(url: str, api_key: str | None = None, project: str | None = None) -> Bench:
    """A bench on a server. It has the same methods as the bench of ``wb.open`` and gives the same answers.

    The server runs the plans. The transforms of your own recipes run on this machine, on data that is sent once.

    Parameters
    ----------
    url : the server's address, ``http://lab:8765``.
    api_key : the key that ``workbench keys create`` printed; without it ``$WORKBENCH_API_KEY``.
    project : name or id; without it ``$WORKBENCH_PROJECT``, else the only project that the key may use.

    Raises
    ------
    ServerAway
        If nothing answers at the address, or what answers is not a workbench server.
    OtherVersion
        If the server has another version and would give other answers.
    Unauthorized
        If the key is unknown, revoked or expired.
    BadRequest
        If there is no such project, or if there are several and none is named.
    """
    key = api_key or os.environ.get(API_KEY)
    if not key:
        raise BadRequest(f"A server is opened with a key: wb.connect(url, api_key='wb_...'), or set ${API_KEY}.")
    from ..remote import RemoteBackend  # its HTTP client is needed only here

    backend = RemoteBackend.connect(url, key, project or os.environ.get(PROJECT) or None)
    first_plot.prepare()
    return Bench(backend)
