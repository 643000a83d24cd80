"""Files without a series end to end: specifications, drive cycles and measurements that have only cycles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cycler_file import ingest

from workbench.records import DriveCycle, Instance, Measurement, Project, Specification
from workbench.store.scope import EVERYTHING, Scope
from workbench.store.store import Store


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[tuple[Store, Scope]]:
    with Store.open(tmp_path / "lab.db") as store:
        organization = store.rows.organizations()[0]
        project = store.rows.page(Project, Scope(organization.id, None), limit=1).items[0]
        yield store, Scope(organization.id, project.id)


def test_capacities_become_cycles_that_plans_can_use(lab: tuple[Store, Scope], tmp_path: Path) -> None:
    store, scope = lab
    path = tmp_path / "fade.csv"
    path.write_text(
        "cell,cycle,charge capacity (Ah),discharge capacity (Ah)\nA,1,2.0,1.9\nA,2,1.9,1.71\nB,1,2.0,2.0\n"
    )
    (file,) = ingest(store, scope, [path], specification="Design", rating="2Ah,2.5V,4.2V")
    assert (file.status, file.rows, file.format) == ("stored", 3, "capacity-table")
    made = {m.instance_name: m for m in store.rows.page(Measurement, scope, limit=None).items}
    assert set(made) == {"A", "B"}
    assert made["A"].measurement_type == "properties"
    assert made["A"].properties["last_discharge_capacity"] == {"value": 1.71, "unit": "A.h"}
    cycles = store.series.many(
        [m.id for m in made.values()], ["Capacity retention", "Coulombic efficiency"], "cycles", scope=EVERYTHING
    )
    assert cycles[made["A"].id]["Capacity retention"].tolist() == pytest.approx([1.0, 0.9])
    assert cycles[made["A"].id]["Coulombic efficiency"].tolist() == pytest.approx([0.95, 0.9])
    assert store.verify() == []
    (again,) = ingest(store, scope, [path])
    assert again.status == "duplicate"
    assert store.rows.page(Measurement, scope).total == 2


def test_cells_of_many_tables_are_the_same_cells(lab: tuple[Store, Scope], tmp_path: Path) -> None:
    store, scope = lab
    for name, capacity in (("spring", 2.0), ("autumn", 1.8)):
        (tmp_path / f"{name}.csv").write_text(f"cell,cycle,capacity (Ah)\nA,1,{capacity}\nB,1,{capacity}\n")
    report = ingest(store, scope, tmp_path, batch="first")
    assert [file.status for file in report] == ["stored", "stored"]
    assert sorted(i.name for i in store.rows.page(Instance, scope, limit=None).items) == ["A", "B"]
    assert {i.batch_name for i in store.rows.page(Instance, scope, limit=None).items} == {"first"}


def test_drive_cycles_in_a_folder(lab: tuple[Store, Scope], tmp_path: Path) -> None:
    store, scope = lab
    (tmp_path / "city.csv").write_text("# time [s],current [A]\n0,1\n1,2\n")
    (tmp_path / "power.csv").write_text("time [s],power [W]\n0,1\n1,2\n")
    report = {Path(file.path).name: file for file in ingest(store, scope, tmp_path)}
    assert report["city.csv"].status == "stored"
    assert report["power.csv"].status == "refused"
    (cycle,) = store.rows.page(DriveCycle, scope).items
    assert (cycle.name, cycle.data) == ("city", [[0.0, 1.0], [1.0, 2.0]])
    assert [file.status for file in ingest(store, scope, [tmp_path / "city.csv"])] == ["duplicate"]


def test_parameter_sets_of_the_shared_data(lab: tuple[Store, Scope], shared_data: Path) -> None:
    store, scope = lab
    files = [shared_data / "bpx_json" / f"{name}_cell_BPX.json" for name in ("lfp_18650", "nmc_pouch")]
    report = ingest(store, scope, files)
    assert [file.status for file in report] == ["stored", "stored"]
    designs = store.rows.page(Specification, scope, limit=None).items
    assert sorted(design.ratings.capacity.value for design in designs) == [2.0, 12.5]
    assert [file.status for file in ingest(store, scope, files)] == ["duplicate", "duplicate"]
    one = files[0]
    (file,) = ingest(store, scope, [one], specification=designs[0].name)
    (other,) = ingest(store, scope, [one], specification=designs[1].name)
    assert {file.status, other.status} == {"duplicate", "refused"}
    assert store.verify() == []
