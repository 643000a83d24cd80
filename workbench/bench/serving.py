"""``bench.serve``: a server in a thread of this process, so that others can use the store meanwhile."""

from __future__ import annotations

import atexit
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import NotFound, StoreError
from ..local import LocalBackend
from ..server_package import check_server_package

if TYPE_CHECKING:
    import uvicorn

_START_S = 60.0
_STOP_S = 40.0


class Served:
    """A server in a thread of this process: ``url``, ``api_key``, ``stop()``. It works in a ``with`` block.

    The server opens the store itself: you can continue to use the bench, or close it. The key has the rights of an
    administrator, as the user of the bench has, and is revoked when the server stops.
    """

    def __init__(
        self, backend: LocalBackend, *, host: str, port: int, trust_transforms: bool, trust_files: bool
    ) -> None:
        check_server_package()
        import uvicorn

        from server.app import create_app
        from server.connections import HttpConfig
        from server.serving import Serving, listen

        store = backend.store
        serving = Serving(
            str(store.location), host, port, trust_transforms=trust_transforms, trust_files=trust_files
        )
        listening = listen(host, port)
        try:
            app = create_app(store.location, serving.settings(), protected=not trust_transforms, create=False)
        except BaseException:  # also on Ctrl-C: the port must be free again
            listening.close()
            raise
        self._location = store.location
        self._organization = backend.organization.id
        issued = store.people.issue(self._organization, backend.actor)
        self.api_key, self._key_id = issued.key, issued.id
        self.url = serving.address(int(listening.getsockname()[1]))
        self._server: uvicorn.Server = uvicorn.Server(HttpConfig(app))
        self._app = app
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listening]}, name="workbench-serve", daemon=True
        )
        self._thread.start()
        atexit.register(self.stop)
        self._wait_for_start()

    def _wait_for_start(self) -> None:
        until = time.monotonic() + _START_S
        while not self._server.started and self._thread.is_alive() and time.monotonic() < until:
            time.sleep(0.005)
        if not self._server.started:
            self.stop()
            raise RuntimeError("The server did not start within 60 s. Its log has the reason.")

    @property
    def running(self) -> bool:
        """Whether the server answers."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Accept no more requests, finish those that run, and close. A second call does nothing."""
        atexit.unregister(self.stop)
        if self._thread.is_alive():
            self._server.should_exit = True
            self._thread.join(_STOP_S)
        self._revoke()

    def _revoke(self) -> None:
        from ..store.store import Store

        id, self._key_id = self._key_id, ""
        if id:
            with (
                suppress(StoreError, NotFound),
                Store.open(self._location, create=False) as store,
            ):  # the file may be gone
                store.people.revoke(self._organization, id)

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<server at {self.url}>" if self.running else f"<server at {self.url}, stopped>"
