"""The records of an organization: one class for each kind, and how a kind is found by name."""

from __future__ import annotations

from ..errors import BadRequest, instead
from .analysis import Analysis
from .dashboard import Dashboard, Plot, Revision
from .drive_cycle import DriveCycle
from .instance import Batch, Instance
from .material import Material, MaterialProperty
from .measurement import Measurement, StoredFile
from .people import Organization, User
from .project import Project
from .quantity import Quantity, Ratings
from .raw_data import RawData
from .record import Member, Record
from .session import Draft, Message, Session
from .simulation import Model, Simulation
from .specification import Specification
from .study import Study

__all__ = [
    "ENTITIES",
    "KINDS",
    "SOURCES",
    "Analysis",
    "Batch",
    "Dashboard",
    "Draft",
    "DriveCycle",
    "Instance",
    "Material",
    "MaterialProperty",
    "Measurement",
    "Member",
    "Message",
    "Model",
    "Organization",
    "Plot",
    "Project",
    "Quantity",
    "Ratings",
    "RawData",
    "Record",
    "Revision",
    "Session",
    "Simulation",
    "Specification",
    "StoredFile",
    "Study",
    "User",
    "kind",
]

# Parents come before their children, because a link needs the table that it leads to.
KINDS: dict[str, type[Record]] = {
    cls.table: cls
    for cls in (
        Organization,
        User,
        Project,
        Material,
        MaterialProperty,
        Specification,
        Batch,
        Instance,
        Measurement,
        Analysis,
        Model,
        Simulation,
        Study,
        DriveCycle,
        Dashboard,
        Plot,
        RawData,
        Session,
    )
}
SOURCES: dict[str, type[Record]] = {cls.listed_as: cls for cls in KINDS.values() if cls.listed_as is not None}
ENTITIES: dict[str, type[Record]] = {cls.entity: cls for cls in KINDS.values() if cls.entity is not None}


def kind(name: str) -> type[Record]:
    """The class of a kind by its table, its source or its entity name."""
    found = KINDS.get(name) or SOURCES.get(name) or ENTITIES.get(name)
    if found is None:
        raise BadRequest(f"There is no kind of record '{name}'. {instead(name, KINDS, 'kinds')}")
    return found
