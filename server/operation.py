"""What an operation is: the one declaration that routing, rights, limits, OpenAPI and tests read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from workbench.records import (
    Analysis,
    Batch,
    Dashboard,
    DriveCycle,
    Instance,
    Material,
    MaterialProperty,
    Measurement,
    Model,
    Plot,
    Project,
    RawData,
    Record,
    Session,
    Simulation,
    Specification,
    Study,
)

if TYPE_CHECKING:
    from .call import Call

Schema = dict[str, Any]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

PLACES: dict[str, type[Record]] = {
    "project_id": Project,
    "specification_id": Specification,
    "instance_id": Instance,
    "batch_id": Batch,
    "measurement_id": Measurement,
    "material_id": Material,
    "property_set_id": MaterialProperty,
    "analysis_id": Analysis,
    "study_id": Study,
    "simulation_id": Simulation,
    "model_id": Model,
    "drive_cycle_id": DriveCycle,
    "dashboard_id": Dashboard,
    "plot_id": Plot,
    "raw_data_id": RawData,
    "session_id": Session,
}
"""The kind of record that an id in a path names."""


class Need(Enum):
    """What a caller must be to do something; READ to MANAGE hold in the project of what is asked for."""

    NOTHING = "nothing"
    SIGNED = "signed"
    MEMBER = "member"
    READ = "read"
    WRITE = "write"
    MANAGE = "manage"
    ADMIN = "admin"


@dataclass(frozen=True)
class Parameter:
    """A query parameter. ``kind`` says that it holds ids of such records; ``many`` that it may be repeated."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    meaning: str = ""
    required: bool = False
    many: bool = False
    default: Any = None
    kind: type[Record] | None = None


@dataclass(frozen=True)
class Body:
    """A request body: ``json``, a ``form`` with a file, or ``raw`` bytes; ``ids`` are the positions of ids in it."""

    schema: Schema
    most: Literal["small", "large", "upload"] = "large"
    form: Literal["json", "multipart", "raw"] = "json"
    optional: bool = False
    ids: Mapping[str, type[Record]] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """One method on one path.

    Parameters
    ----------
    need : the right it takes, checked before the handler runs.
    project : where the project stands that the right is needed in: in the path, in the query, in the body, or
        (``record``) it is that of the first record of the path; ``wide`` for all projects in reach at once.
    answer : the JSON Schema of the answer of status 200; None for no body (204); ``media`` for other bytes.
    before : looked at before the body is read, where the path itself carries the right.
    heavy : runs on the threads for plans, drawing and files; bounded by organization.
    """

    method: Method
    path: str
    handler: Callable[[Call], Any]
    need: Need
    summary: str
    project: Literal["path", "query", "body", "record", "wide"] = "wide"
    query: tuple[Parameter, ...] = ()
    body: Body | None = None
    answer: Schema | None = None
    status: int = 200
    media: tuple[str, ...] = ()
    heavy: bool = False
    before: Callable[[Call], None] | None = None

    @property
    def name(self) -> str:
        """The handler's name, for logs and the account: ``GET /projects/{project_id}``."""
        return f"{self.method} {self.path}"

    @property
    def path_names(self) -> list[str]:
        return [part[1:-1].partition(":")[0] for part in self.path.split("/") if part.startswith("{")]
