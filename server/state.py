"""What a server process holds: the store, caches, threads, uploads and ingests."""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import datetime
from pathlib import Path

from workbench.alerts.thread import AlertThread
from workbench.fan_out import FanOut
from workbench.ingest.read.parquet_subprocess import ParquetSubprocess
from workbench.recipe.check import sound
from workbench.recipe.plot import PlotConfig
from workbench.records import Plot
from workbench.store.cache.cache import Cache
from workbench.store.db.parallel import CORES
from workbench.store.store import Store
from workbench.transform.protected import shared

from .identity_provider import IdentityProvider
from .ingests import Ingests
from .intake import Intake
from .limits import Rates, Threads
from .metrics import Metrics, Reading
from .parties import Parties
from .settings import Settings
from .signing import Signer


class Recipes:
    """Checked recipes of saved plots. Each is checked once, since a revision never changes.

    Where an older copy of the store takes its place, numbers of revisions are given again, but no time is.
    """

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, int, datetime], PlotConfig] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, plot: Plot) -> PlotConfig:
        """The checked recipe of a plot at its newest revision.

        Raises
        ------
        Invalid
            If it is not sound: an older version may have saved it.
        """
        key = (plot.id, plot.revision, plot.updated_at)
        with self._lock:
            found = self._kept.get(key)
        if found is None:
            found = sound(plot.config)
        with self._lock:
            self._kept[key] = found
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found


class State:
    """Made once per process; every request uses it."""

    def __init__(self, store: Store, settings: Settings, *, protected: bool) -> None:
        self.store = store
        shared = store.shared
        self.cache = Cache(f"{store.path}.cache", shared=shared)
        self.settings = settings
        self.protected = protected
        self.recipes = Recipes()
        self._starting = threading.Lock()
        self._scripts: threading.Thread | None = None
        self.provider = None if settings.provider is None else IdentityProvider(settings.provider)
        self.signer = Signer(store.uploads.signing_secret())
        self.files = Path(f"{store.path}.files")
        self.rates = Rates(settings.requests_per_second, settings.burst, shared, "key")
        self.quick = Threads("quick", settings.quick, settings.waiting)
        self.plans = Threads("plans", settings.plans, settings.waiting)
        self.parties = Parties(settings.public_url)
        self.refusals = Rates(5.0, 20)
        self.outsiders = Rates(20.0, 100, shared, "outsider")
        self.apart = ParquetSubprocess(self.files / "apart", settings.readers)
        self.intake = Intake(store, self.files, self.apart)
        self.fan_out = FanOut.of(settings.executor, cores=CORES)
        self.ingests = Ingests(store, self.files, locked=settings.readers > 0, fan_out=self.fan_out)
        self.alerts = AlertThread(store, self.cache)
        self.metrics = Metrics(store.path, self.reading) if settings.metrics else None
        if self.metrics is not None:
            self.cache.told = self.metrics.entry
            self.ingests.told = self.metrics.file

    def start_scripts(self) -> None:
        """Start the process that draws scripts again, in a thread, unless that is under way."""
        with self._starting:
            if self._scripts is None or not self._scripts.is_alive():
                self._scripts = threading.Thread(target=shared().fence, name="workbench-scripts", daemon=True)
                self._scripts.start()

    def reading(self) -> Reading:
        """What this process does now, by the names of `metrics.GAUGES`."""
        scripts = shared() if self.protected else None
        running, waiting = (0, 0) if scripts is None else scripts.turns.load()
        made: dict[str, float] = {
            "scripts_running": running,
            "scripts_waiting": waiting,
            "script_processes_ready": 0 if scripts is None else int(scripts.is_running),
            "ingests": self.ingests.waiting(),
            "store_connections": self.store.connection_count(),
        }
        for kind, threads in (("quick", self.quick), ("plans", self.plans)):
            made[f"threads_running.{kind}"], made[f"threads_waiting.{kind}"] = threads.load()
        return made

    def close(self) -> None:
        """Wait for running work, then close the store."""
        self.alerts.stop()
        self.plans.close()
        self.quick.close()
        self.intake.close()
        self.ingests.close()
        self.apart.close()
        self.fan_out.close()
        self.cache.close()
        self.store.close()
