"""A store of two cells with a test each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.passport_case import samples

import workbench as wb


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[wb.Bench]:
    with wb.open(tmp_path_factory.mktemp("passport") / "lab.db") as made:
        ratings = {
            name: {"value": value, "unit": unit}
            for name, value, unit in (
                ("capacity", 5.0, "A.h"),
                ("voltage_min", 2.5, "V"),
                ("voltage_max", 4.2, "V"),
            )
        }
        made.specifications.create(name="M50", ratings=ratings)
        for name in ("A", "B"):
            cell = made.instances.create(name=name, specification="M50")
            made.measurements.create(instance_id=cell.id, name=f"RPT {name}", time_series=samples(200))
        yield made
