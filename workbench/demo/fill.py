"""Fills a bench with the sample data: records from the manifest, samples through the ordinary ingest."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from ..bench import Bench
from ..errors import BadRequest
from .source import Described, Manifest, Samples

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called as ``progress(done, of, what)``."""


def fill(bench: Bench, samples: Samples, progress: Progress) -> None:
    """Put all sample data into the bench's project.

    Parameters
    ----------
    progress : called while the files are read.

    Raises
    ------
    BadRequest
        If a file of the sample data was refused, with the reason.
    """
    manifest = samples.manifest
    _materials(bench, samples)
    _cells(bench, manifest)
    _measurements(bench, samples, progress)
    _simulations(bench, samples)
    for one in manifest["analyses"]:
        fields = _only(one, "name", "measurement", "analysis_type", "columns", "metadata")
        bench.analyses.create(table=samples.table(one["file"]), **fields)
    for one in manifest["drive_cycles"]:
        bench.drive_cycles.create(name=one["name"], data=samples.table(one["file"]).to_numpy(float).tolist())
    _studies(bench, manifest)


def _only(fields: Described, *names: str) -> Described:
    """The named fields that have a value."""
    return {name: fields[name] for name in names if fields.get(name) not in (None, "")}


def _materials(bench: Bench, samples: Samples) -> None:
    for one in samples.manifest["materials"]:
        bench.materials.create(**one)
    for one in samples.manifest["material_properties"]:
        columns = [{**column, "source_column_index": place} for place, column in enumerate(one["columns"])]
        table = samples.table(one["file"])
        bench.material_properties.create(table=table, name=one["name"], material=one["material"], columns=columns)


def _cells(bench: Bench, manifest: Manifest) -> None:
    for one in manifest["specifications"]:
        fields = {key: value for key, value in one.items() if key != "components"}
        bench.specifications.create(**fields, **one.get("components", {}))
    for one in manifest["batches"]:
        bench.batches.create(**one)
    for one in manifest["instances"]:
        bench.instances.create(**{key: value for key, value in one.items() if value not in (None, "")})


def _measurements(bench: Bench, samples: Samples, progress: Progress) -> None:
    """Read the files of each cell in one ingest, then add what the files do not contain.

    The ingest uses one process: the files are small, and starting a second process takes longer than reading them.
    """
    listed = sorted(samples.manifest["measurements"], key=lambda one: str(one["instance"]))
    cells = {one["name"]: one for one in samples.manifest["instances"]}
    done = 0
    for name, group in groupby(listed, key=lambda one: one["instance"]):
        tests = {samples.path(one["file"]): one for one in group}
        progress(done, len(listed), f"cell {name}")
        report = bench.ingest(list(tests), specification=cells[name]["specification"], instance=name)
        if not report.ok:
            raise BadRequest(f"The sample data of {name} could not be read.\n{report!r}")
        for file in report:
            _describe(bench, file.measurement_id, tests[Path(file.path)])
        done += len(tests)
        progress(done, len(listed), f"cell {name}")


def _describe(bench: Bench, measurement: str | None, one: Described) -> None:
    if measurement is None:
        raise BadRequest(
            f"The sample file {one['file']} is twice in the manifest. Install battery-workbench again."
        )
    fields = _only(one, "name", "tags", "protocol", "start_time", "end_time", "notes")
    set_up = {**bench.measurements.get(measurement).test_setup, **one.get("test_setup", {})}
    bench.measurements.update(measurement, test_setup=set_up, **fields)


def _simulations(bench: Bench, samples: Samples) -> None:
    for one in samples.manifest["models"]:
        bench.models.create(**one)
    for one in samples.manifest["simulations"]:
        bench.simulations.create(
            time_series=samples.table(one["file"]),
            steps=samples.table(one["steps"]),
            notes=f"{one['protocol']}; beside the measurement {one['of_measurement']}",
            source={"protocol": one["protocol"], "of_measurement": one["of_measurement"]},
            **_only(one, "name", "model", "specification"),
        )


def _studies(bench: Bench, manifest: Manifest) -> None:
    simulations = manifest["simulations"]
    for one in manifest["studies"]:
        study = bench.studies.create(name=one["name"], description=one["description"])
        members = [other["name"] for other in simulations if other["study"] == one["name"]]
        bench.studies.assign(study, measurements=list(one["measurements"]), simulations=members)
