"""`RemoteBackend`: the same methods and answers as on a local store, over HTTP.

The server runs plans and sends the data as Arrow, once. Scripts run here, so that another colour or smoothing needs no
request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, Unpack
from urllib.parse import urlsplit

import httpx2 as httpx
from pydantic import JsonValue

from ..analyses.run import Analysed
from ..backend import Fields, FigureAnswer, Ref, SearchOptions, Span, Values, Where, drawable, only
from ..engine.answer import Answered
from ..engine.reader import Cancel, Progress
from ..engine.zoom import Detail
from ..errors import BadRequest, Forbidden, Invalid, NotFound, NotProtected, OtherVersion, Problem, ServerAway
from ..ingest import Growing, IngestOptions, Report
from ..ingest.options import FileProgress
from ..ingest.plan.paths import Paths
from ..ingest.recompute import Recomputed
from ..operations import Operation
from ..operations.operation import Arguments, Sent
from ..own_scripts import OwnScripts, own_scripts
from ..recipe.plot import PlotConfig
from ..recipe.strict import Raw
from ..recipe.values import effective
from ..records import Project, Record
from ..store.cache.cache import Cache
from ..store.records import search as searches
from ..store.records.search import Found
from ..transform import figure_check
from ..transform.drawers import Drawer
from ..version import __version__
from . import older_servers as older
from . import send_files as sending
from . import wire
from .boards import Boards
from .client import Client, Params
from .errors import problems_of
from .fetched_data import Fetched, Fetching
from .follow_runs import followed

R = TypeVar("R", bound=Record)
T = TypeVar("T")
_AS_OF_SINCE = "0.1.1"
"""The first version of a server that shows data as they were."""
_BACKUP_SINCE = "0.1.1"
"""The first version of a server that sends a copy of its store."""


class RemoteBackend(Boards):
    """What a bench can do on a server, within one project, as the user of a key."""

    def __init__(
        self,
        client: Client,
        project: Project,
        actor: str,
        cache: Cache | None = None,
        own_scripts: OwnScripts | None = None,
    ) -> None:
        self.own_scripts = own_scripts
        self.client = client
        self._project = project
        self.actor = actor
        self.cache = cache or Cache(None)
        self._fetched = Fetching(client)
        self._only_reads = False
        self._as_of: int | None = None
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
            return cls(client, only(projects, project, "project", "projects"), actor, own_scripts=own_scripts())
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
        made = RemoteBackend(self.client, self.get(Project, ref), self.actor, self.cache, self.own_scripts)
        return made if self._as_of is None else made.as_of(self._as_of)

    @property
    def moment(self) -> int | None:
        return self._as_of

    def as_of(self, moment: int) -> RemoteBackend:
        if self._is_older_than(_AS_OF_SINCE):
            raise self._too_old(_AS_OF_SINCE)
        then = copy(self)
        then._as_of = moment
        return then

    def _then(self, path: str) -> str:
        """The path of a request for data, with the time as of which they are shown."""
        return path if self._as_of is None else f"{path}?as_of={self._as_of}"

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
            json=wire.body(operation.content(self, arguments)),
            changes=not operation.reads,
            cancel=arguments.get("cancel"),
        )
        answer = operation.decoded(reply.json())
        self.noted(answer, arguments)
        return answer

    def _is_older_than(self, since: str) -> bool:
        return self.client.is_before(since)

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
        taken = effective(config, values)
        return self._allowed(config, lambda: self._fetched.ask(*self._asked_as(config, taken), cancel))

    def _allowed(self, config: PlotConfig, ask: Callable[[], T]) -> T:
        """What a request gives. Whoever may only read asks for recipes of the gallery by their names, which they may:
        the server makes those itself, and takes no recipe of theirs."""
        try:
            return ask()
        except Forbidden:
            if self._only_reads or self.gallery_path(config) is None:
                raise
            self._only_reads = True
            return ask()

    def _asked_as(self, config: PlotConfig, values: Values) -> tuple[str, dict[str, Sent]]:
        """Path and body of a request for the data of a recipe: of its plot, which viewers may see, or of any recipe."""
        plot = self.saved_as(config)
        if plot is not None:
            return self._then(f"{self.plot_path(plot)}/dataset"), {"values": values, "revision": plot.revision}
        if self._only_reads and (place := self.gallery_path(config)) is not None:
            return self._then(f"{place}/dataset"), {"values": values}
        return self._then(self.path("datasets")), {"config": _data_of(config), "values": values}

    def figure(
        self,
        config: Raw,
        values: Values,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        *,
        protected: bool | None = None,
        own: Drawer | None = None,
        strict: bool = False,
    ) -> FigureAnswer:
        """As on a local store. The server draws the script of somebody else if this machine cannot lock it in."""
        try:
            return super().figure(config, values, progress, cancel, protected=protected, own=own, strict=strict)
        except NotProtected:
            return self._drawn_there(config, values, cancel)

    def _drawn_there(self, config: Raw, values: Values, cancel: Cancel | None) -> FigureAnswer:
        checked = drawable(config, self._drawer(True))
        taken = effective(checked, values)

        def ask() -> bytes:
            path, body = self._drawn_as(checked, taken, "figure", "figures")
            return self.client.ask("POST", path, json=body, cancel=cancel).content

        answer = wire.figure(self._allowed(checked, ask))
        try:
            return replace(answer, figure=figure_check.checked(answer.figure))
        except figure_check.Unsafe as error:
            message = f"The server sent a figure that is not safe to show. {error}"
            raise Invalid([Problem(("config", "transform"), message, "script_result")]) from None

    def _drawn_as(self, config: PlotConfig, values: Values, saved: str, other: str) -> tuple[str, dict[str, Sent]]:
        plot = self.saved_as(config)
        if plot is not None and plot.config.get("transform") == config.transform:
            return self._then(f"{self.plot_path(plot)}/{saved}"), {"values": values, "revision": plot.revision}
        if self._only_reads and (place := self.gallery_path(config)) is not None:
            return self._then(f"{place}/{saved}"), {"values": values}
        return self._then(self.path(other)), {"config": config.dump(), "values": values}

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
        own: Drawer | None = None,
    ) -> dict[int, Detail]:
        checked = drawable(config, self._drawer(protected, own, config))
        taken = effective(checked, values)
        part = {"traces": list(traces), "x": wire.plain(list(x)), "width": width}
        if y is not None:
            part["y"] = wire.plain(list(y))

        def ask() -> Sent:
            path, body = self._drawn_as(checked, taken, "figure/detail", "figures/detail")
            return self.client.ask("POST", path, json={**body, **part}, cancel=cancel).json()

        found = self._allowed(checked, ask)
        return {int(number): wire.detail(one) for number, one in found["traces"].items()}

    # What there is

    def search(self, text: str, **options: Unpack[SearchOptions]) -> Found:
        kinds = searches.kinds_of(options.get("entity_types"))
        asked: dict[str, int] = {
            name: options[name] for name in ("limit", "offset", "per_type") if name in options
        }
        nothing = searches.at_once(text, **asked, entity_types=kinds)
        if nothing is not None:
            return nothing
        named = {} if kinds is None else {"entity_types": kinds}
        params: Params = {"q": text, "project_id": self._project.id, **asked, **named}
        if not self.client.is_before("0.1.1"):
            params = {**params, "parent_names": True}
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

    def analyse(
        self,
        type: str,
        where: Where | None = None,
        parameters: Fields | None = None,
        *,
        check: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
        cancel: Cancel | None = None,
    ) -> Analysed:
        begun = self.begin_run(type, None if where is None else dict(where), dict(parameters or {}), check)
        return followed(self, begun, progress, cancel)

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
