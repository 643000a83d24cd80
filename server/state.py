"""What one server process holds: the store, its caches, its threads, and how scripts are drawn."""

from __future__ import annotations

from pathlib import Path

from workbench.ingest.apart import Apart
from workbench.store.cache import Cache
from workbench.store.store import Store

from .ingests import Ingests
from .limits import Rates, Threads
from .settings import Settings
from .signing import Signer
from .uploading import Intake


class State:
    """Opened once per process; every request works with it."""

    def __init__(self, store: Store, settings: Settings, *, protected: bool) -> None:
        self.store = store
        self.cache = Cache(f"{store.path}.cache")
        self.settings = settings
        self.protected = protected
        self.signer = Signer(store.uploads.signing_secret())
        self.files = Path(f"{store.path}.files")
        self.rates = Rates(settings.requests_per_second, settings.burst)
        self.quick = Threads("quick", settings.quick, settings.waiting)
        self.plans = Threads("plans", settings.plans, settings.waiting, share=max(1, settings.plans // 2))
        self.refusals = Rates(5.0, 20)
        self.apart = Apart(self.files / "apart", settings.readers)
        self.intake = Intake(self)
        self.ingests = Ingests(self)

    def close(self) -> None:
        """Let what runs come to its end, then close the store."""
        self.plans.close()
        self.quick.close()
        self.intake.close()
        self.ingests.close()
        self.apart.close()
        self.cache.close()
        self.store.close()
