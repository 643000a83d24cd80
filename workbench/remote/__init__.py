"""`RemoteBackend`: the same methods and answers as on a local store, over HTTP.

The server runs plans and sends the data as Arrow, once. Scripts run here, so that another colour or smoothing needs no
request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar, Unpack
from urllib.parse import urlsplit

import httpx2 as httpx
from pydantic import JsonValue

from ..backend import FigureAnswer, Ref, SearchOptions, Span, Values, Where, drawable, only
from ..engine.answer import Answered
from ..engine.reader import Cancel, Progress
from ..engine.zoom import Detail
from ..errors import BadRequest, Invalid, NotFound, NotProtected, OtherVersion, Problem, ServerAway
from ..ingest import Growing, IngestOptions, Report
from ..ingest.options import FileProgress
from ..ingest.plan.paths import Paths
from ..ingest.recompute import Recomputed
from ..operations import Operation
from ..operations.operation import Arguments, Sent
from ..recipe.plot import PlotConfig
from ..recipe.strict import Raw
from ..recipe.values import effective
from ..records import Project, Record
from ..store.cache.cache import Cache
from ..store.records import search as searches
from ..store.records.search import Found
from ..version import __version__
from . import older_servers as older
from . import send_files as sending
from . import wire
from .boards import Boards
from .client import Client, Params
from .errors import problems_of
from .fetched_data import Fetched, Fetching

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_BACKUP_SINCE = "0.1.1"
"""The first version of a server that sends a copy of its store."""


class RemoteBackend(Boards):
    """What a bench can do on a server, within one project, as the user of a key."""

    def __init__(self, client: Client, project: Project, actor: str, cache: Cache | None = None) -> None:
        self.client = client
        self._project = project
        self.actor = actor
        self.cache = cache or Cache(None)
        self._fetched = Fetching(client)
        super().__init__()

    @classmethod
    def connect(
        cls, url: str, api_key: str, project: str | None = None, transport: httpx.AsyncBaseTransport | None = None
    ) -> RemoteBackend:
        """The backend of the server at an address, bound to the named project or to the only one.

        Raises
        ------
        ServerAway, OtherVersion, Unauthorized
            If there is no server, it has another version, or it does not know the key.
        NotFound, BadRequest
            If there is no such project, or none is named and there are several.
        """
        client = Client(url, api_key, transport)
        try:
            _same_version(client)
            actor = client.get("/users/me").json()["id"]
            projects = [wire.project(Project, one) for one in wire.pages(client.get, "/projects", size=100)]
            if not projects:
                raise NotFound("Your key opens no project. Ask an admin of a project to make you a member.")
            return cls(client, only(projects, project, "project", "projects"), actor)
        except BaseException:  # whatever stops it, the connections must not stay open
            client.close()
            raise

    @property
    def project(self) -> Project:
        return self._project

    @property
    def place(self) -> str:
        return self.client.url

    @property
    def opening(self) -> str:
        key = "os.environ['WORKBENCH_API_KEY']"
        return f"wb.connect({self.client.url!r}, api_key={key}, project={self._project.name!r})"

    def of_project(self, ref: Ref) -> RemoteBackend:
        return RemoteBackend(self.client, self.get(Project, ref), self.actor, self.cache)

    def close(self) -> None:
        self.client.close()

    def carry_out(self, operation: Operation[..., T], arguments: Arguments) -> T:
        if self._is_older_than(operation.since):
            if operation.name in older.INSTEAD:
                answer: T = older.INSTEAD[operation.name](self, **arguments)
                self.noted(answer, arguments)
                return answer
            raise self._too_old(operation.since)
        reply = self.client.ask(
            operation.method,
            operation.address(self, arguments),
            params=operation.query(self, arguments) or None,
            json=operation.content(self, arguments),
            changes=not operation.reads,
            cancel=arguments.get("cancel"),
        )
        answer = operation.decoded(reply.json())
        self.noted(answer, arguments)
        return answer

    def _is_older_than(self, since: str) -> bool:
        return _numbers(since) > _numbers(self.client.version)

    def _too_old(self, since: str) -> OtherVersion:
        return OtherVersion(
            f"The server at {self.client.url} runs battery-workbench {self.client.version}, which cannot do this. "
            f"Ask its operator to install {since} or newer."
        )

    # Recipes

    def answered(
        self,
        config: PlotConfig,
        values: Values,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> Answered:
        path, body = self._asked_as(config, effective(config, values))
        return self._fetched.ask(path, body, cancel)

    def _asked_as(self, config: PlotConfig, values: Values) -> tuple[str, dict[str, Sent]]:
        """Path and body of a request for the data of a recipe: of its plot, which viewers may see, or of any recipe."""
        plot = self.saved_as(config)
        if plot is not None:
            return f"{self.plot_path(plot)}/dataset", {"values": values, "revision": plot.revision}
        return self.path("datasets"), {"config": _data_of(config), "values": values}

    def figure(
        self,
        config: Raw,
        values: Values,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        *,
        protected: bool | None = None,
    ) -> FigureAnswer:
        """As on a local store. The server draws the script of somebody else if this machine cannot lock it in."""
        try:
            return super().figure(config, values, progress, cancel, protected=protected)
        except NotProtected:
            return self._drawn_there(config, values, cancel)

    def _drawn_there(self, config: Raw, values: Values, cancel: Cancel | None) -> FigureAnswer:
        checked = drawable(config, self._drawer(True))
        path, body = self._drawn_as(checked, effective(checked, values), "figure", "figures")
        return wire.figure(self.client.ask("POST", path, json=body, cancel=cancel).content)

    def _drawn_as(self, config: PlotConfig, values: Values, saved: str, other: str) -> tuple[str, dict[str, Sent]]:
        plot = self.saved_as(config)
        if plot is not None and plot.config.get("transform") == config.transform:
            return f"{self.plot_path(plot)}/{saved}", {"values": values, "revision": plot.revision}
        return self.path(other), {"config": config.dump(), "values": values}

    def against_store(self, config: PlotConfig, values: Values) -> list[Problem]:
        try:
            taken = effective(config, values)
        except Invalid as error:
            return error.problems
        return problems_of(self.problems_of(_data_of(config), taken)["problems"])

    def live_choices(self, config: PlotConfig, values: Values) -> dict[str, list[dict[str, JsonValue]]]:
        taken = effective(config, values)
        return self.options_of(_data_of(config), {name: taken[name] for name in values})["options"]

    def units(self, sources: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for source in self.catalog().sources:
            for column in source.series:
                if column.unit is not None:
                    found.setdefault(column.name, column.unit)
        return found

    def is_current(self, shown: FigureAnswer) -> bool:
        """Whether the server still gives the data of a figure; one small request if it does."""
        return not isinstance(shown.at_hand, Fetched) or self._fetched.is_current(shown.at_hand)

    def detail(
        self,
        config: Raw,
        values: Values,
        *,
        traces: Iterable[int],
        x: Span,
        y: Span | None = None,
        width: int = 1000,
        shown: FigureAnswer | None = None,
        cancel: Cancel | None = None,
        protected: bool | None = None,
    ) -> dict[int, Detail]:
        checked = drawable(config, self._drawer(protected))
        path, body = self._drawn_as(checked, effective(checked, values), "figure/detail", "figures/detail")
        part = {"traces": list(traces), "x": wire.plain(list(x)), "width": width}
        if y is not None:
            part["y"] = wire.plain(list(y))
        found = self.client.ask("POST", path, json={**body, **part}, cancel=cancel).json()
        return {int(number): wire.detail(one) for number, one in found["traces"].items()}

    # What there is

    def search(self, text: str, **options: Unpack[SearchOptions]) -> Found:
        types = options.get("entity_types")
        kinds = None if types is None else list(types)
        asked: dict[str, int] = {
            name: options[name] for name in ("limit", "offset", "per_type") if name in options
        }
        nothing = searches.at_once(text, **asked, entity_types=kinds)
        if nothing is not None:
            return nothing
        named = {} if kinds is None else {"entity_types": kinds}
        params: Params = {"q": text, "project_id": self._project.id, **asked, **named}
        return wire.found(self.client.get("/search", params).json())

    def ingest(
        self,
        paths: Paths,
        options: IngestOptions,
        *,
        growing: Growing | None = None,
        progress: FileProgress | None = None,
    ) -> Report:
        """Send files to the server, which reads them as ``workbench ingest`` does."""
        return sending.ingest(
            self.client, self.path("ingests"), paths, options, growing=growing, progress=progress
        )

    # The store as a whole

    def backup(self, destination: str | Path) -> None:
        if self._is_older_than(_BACKUP_SINCE):
            raise self._too_old(_BACKUP_SINCE)
        target = Path(destination)
        if not target.parent.is_dir():
            raise BadRequest(f"There is no folder '{target.parent}' to write '{target.name}' in.")
        self.client.download("/store/backup", target)

    def recompute(
        self,
        where: Where | None = None,
        *,
        check: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> Recomputed:
        raise BadRequest(
            "Steps and cycles are recomputed on the server's machine. Run `workbench recompute` there."
        )


def _data_of(config: PlotConfig) -> dict[str, Sent]:
    """The parts of a recipe that decide about its data."""
    return {key: part for key, part in config.dump().items() if key != "transform"}


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")[:3] if part.isdigit()]


def _same_version(client: Client) -> None:
    """Refuse a server of another major or minor version, which may give other answers."""
    try:
        theirs = client.version = str(client.get("/healthz").json()["version"])
    except (ValueError, KeyError, TypeError, NotFound):
        message = f"What answers at {client.url} is not a workbench server."
        if urlsplit(client.url).path.strip("/"):
            message += " The address of a server mostly ends with its host name and port, as in http://lab:8765."
        raise ServerAway(message) from None
    ours = __version__
    if theirs.split(".")[:2] != ours.split(".")[:2]:
        raise OtherVersion(
            f"The server at {client.url} runs battery-workbench {theirs}. This is {ours}, which may answer otherwise. "
            f"Install the server's version here: pip install 'battery-workbench=={theirs}'."
        )
