"""The half cells of a test: the curves of voltage over stoichiometry of the electrodes that its specification names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from ..records import MaterialProperty, Specification
from ..store import Scope, Store
from ..transform.frames import frame_of

STOICHIOMETRY, VOLTAGE = "Stoichiometry", "Voltage [V]"
Electrode = Literal["anode", "cathode"]
ELECTRODES: dict[str, Electrode] = {"anode": "anode", "cathode": "cathode"}


@dataclass(frozen=True)
class HalfCellCurve:
    """A stored curve of an electrode: the id of its record, its name, and the revision of its samples."""

    id: str
    name: str
    revision: int


def curve_of(
    store: Store, scope: Scope, specification: Specification | None, electrode: Electrode
) -> HalfCellCurve | None:
    """The newest curve of an electrode with the columns that a half cell needs; None if there is none."""
    if specification is None:
        return None
    material = specification.anode_id if electrode == "anode" else specification.cathode_id
    if material is None:
        return None
    listed = store.rows.page(MaterialProperty, scope, where={"material_id": material}, limit=None).items
    infos = store.series.infos([one.id for one in listed], "series", scope=scope)
    for one in reversed(listed):
        if one.id in infos and {STOICHIOMETRY, VOLTAGE} <= set(infos[one.id].names):
            (revision,) = store.series.revisions([(one.id, "series")]).values()
            return HalfCellCurve(one.id, one.name, revision)
    return None


def table_of(store: Store, scope: Scope, curve: HalfCellCurve) -> pd.DataFrame:
    """The samples of a curve: ``Stoichiometry`` and ``Voltage [V]``."""
    return frame_of(store.series.read(curve.id, [STOICHIOMETRY, VOLTAGE], scope=scope))


def lacking(specification: Specification | None, electrode: Electrode) -> str:
    """The sentence about a half cell that is not there."""
    name = "of this cell" if specification is None else f"'{specification.name}'"
    return (
        f"The specification {name} has no {electrode} with a table of '{STOICHIOMETRY}' and '{VOLTAGE}'. Keep one with "
        f"bench.material_properties.create, and name its material in the specification ({electrode}=...)."
    )
