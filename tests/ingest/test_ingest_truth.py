"""Real files end to end: what is stored of them is what the reference answers say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.cycler_file import ingest
from support.needs import mdbtools

from workbench.ingest import FileReport
from workbench.readers import recognise
from workbench.records import Project
from workbench.store.scope import EVERYTHING, Scope
from workbench.store.store import Store

FOLDERS = (
    "bdf_csv", "bdf_parquet", "neware_csv", "neware_nda", "neware_ndax", "maccor_txt", "maccor_csv", "biologic_mpt",
    "biologic_csv", "arbin_csv", "novonix_csv", "basytec_txt", "landt_csv", "pec_csv", "pyprobe_parquet",
    "batterydata_csv", "arbin_res", "arbin_xlsx", "arbin_sql_h5",
)  # fmt: skip


@pytest.fixture(scope="module")
def stored(
    tmp_path_factory: pytest.TempPathFactory, shared_data: Path
) -> Iterator[tuple[Store, dict[str, FileReport]]]:
    mdbtools()
    truth = json.loads((shared_data / "truth.json").read_text())["files"]
    names = [name for name in sorted(truth) if name.split("/")[0] in FOLDERS]
    with Store.open(tmp_path_factory.mktemp("truth") / "lab.db") as store:
        organization = store.rows.organizations()[0]
        project = store.rows.page(Project, Scope(organization.id, None), limit=1).items[0]
        paths = [shared_data / name for name in names]
        report = ingest(store, Scope(organization.id, project.id), paths, jobs=2)
        yield store, {str(Path(file.path).relative_to(shared_data)): file for file in report}


def reference(shared_data: Path) -> dict[str, dict[str, Any]]:
    truth = json.loads((shared_data / "truth.json").read_text())["files"]
    return {name: entry["reference"] for name, entry in truth.items()}


REFUSED = {"neware_ndax/empty.ndax": "has no rows"}
CYCLES_ONLY = {"batterydata_csv/p492-13-summary.csv"}
ROWS = {"arbin_xlsx/EIS_0.05A_Charge_part1.xlsx": 8339}
"""With the 21 impedance rows of its other sheet."""


def test_only_what_holds_no_series_is_refused(stored: tuple[Store, dict[str, FileReport]]) -> None:
    refused = {name: file.why for name, file in stored[1].items() if file.status != "stored"}
    assert refused.keys() == REFUSED.keys()
    for name, words in REFUSED.items():
        assert words in refused[name]


def test_rows_cycles_voltages_and_durations(
    stored: tuple[Store, dict[str, FileReport]], shared_data: Path
) -> None:
    store, reports = stored
    compared = 0
    for name, wanted in reference(shared_data).items():
        file = reports.get(name)
        if file is None or file.measurement_id is None or name in CYCLES_ONLY:
            continue
        samples = store.series.read(file.measurement_id, scope=EVERYTHING)
        assert samples.n == ROWS.get(name, wanted["rows"]), name
        if wanted.get("cycles") is not None and "Cycle from cycler" in samples:
            assert len(np.unique(samples["Cycle from cycler"].floats())) == wanted["cycles"], name
            assert file.cycles >= wanted["cycles"], name
        voltage = samples["Voltage [V]"].floats()
        assert np.nanmin(voltage) == pytest.approx(wanted["voltage_min_V"], rel=1e-6, abs=1e-9), name
        assert np.nanmax(voltage) == pytest.approx(wanted["voltage_max_V"], rel=1e-6, abs=1e-9), name
        time = samples["Time [s]"].floats()
        assert time[0] == 0, name
        if wanted.get("duration_s") is not None:
            duration = np.nanmax(time)
            assert abs(duration - wanted["duration_s"]) <= max(0.01, 1e-6 * wanted["duration_s"]), name
        compared += 1
    assert compared == len(reports) - len(REFUSED) - len(CYCLES_ONLY)


def test_capacities(stored: tuple[Store, dict[str, FileReport]], shared_data: Path) -> None:
    """By counter within 1e-4, also what was counted between two steps; and the steps have as much as the cycles."""
    store, reports = stored
    for name, wanted in reference(shared_data).items():
        file = reports.get(name)
        counters = wanted.get("by_counter") or {}
        if file is None or file.measurement_id is None or name in CYCLES_ONLY:
            continue
        cycles, steps = (
            store.series.read(file.measurement_id, dataset=dataset, scope=EVERYTHING)
            for dataset in ("cycles", "steps")
        )
        for way in ("charge", "discharge"):
            column = f"{way.capitalize()} capacity [A.h]"
            mine = float(np.nansum(cycles[column].floats()))
            assert mine == pytest.approx(float(np.nansum(steps[column].floats())), rel=1e-9), (name, way)
            told = counters.get(f"{way}_throughput_Ah")
            if told is not None:
                assert abs(mine - told) <= max(1e-4 * told, 1e-9), (name, way)


def test_every_stored_file_was_recognised_from_its_content(
    stored: tuple[Store, dict[str, FileReport]], shared_data: Path
) -> None:
    for name, file in stored[1].items():
        if file.status == "stored":
            assert recognise(shared_data / name) == file.format


def test_the_store_is_sound_afterwards(stored: tuple[Store, dict[str, FileReport]]) -> None:
    assert stored[0].verify() == []
