"""The flows of the public client, run by an interpreter that has it and nothing of ours: ``flows.py KEY ADDRESS``.

Each flow prints one JSON line: its name, and what went wrong, if anything did.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import requests
from ionworks import Ionworks

KEY, ADDRESS = sys.argv[1:3]
RATINGS = {
    "capacity": {"value": 5, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}
FLOWS: list[Callable[[], None]] = []
MADE: dict[str, Any] = {}


def flow(run: Callable[[], None]) -> Callable[[], None]:
    FLOWS.append(run)
    return run


def refused(status: int, act: Callable[[], Any]) -> Any:
    """The error of an action that the server must refuse with this status."""
    try:
        act()
    except Exception as error:
        found = getattr(error, "status_code", None) or str(error)
        if str(status) not in str(found):
            raise AssertionError(f"expected {status}: {error!r}") from error
        return error
    raise AssertionError(f"expected {status}")


def series(n: int = 100_000) -> pl.DataFrame:
    time = np.arange(n) * 1.0
    step = (time // 1000).astype(int)
    out = step % 2 == 0
    return pl.DataFrame(
        {
            "Time [s]": time,
            "Step count": step,
            "Current [A]": np.where(out, 1.0, -1.0),
            "Voltage [V]": np.where(out, 4.0 - (time % 1000) / 2000, 3.5 + (time % 1000) / 2000),
            "Cycle from cycler": step // 2,
            "note": [None if i % 7 else "a" for i in range(n)],
            "single": time.astype(np.float32),
            "flag": out,
        }
    )


@flow
def connection_and_projects() -> None:
    client = Ionworks(api_key=KEY, api_url=ADDRESS)
    assert client.health_check()
    project = client.project.create({"name": "From outside"})
    MADE.update(project=project.id, c=Ionworks(api_key=KEY, api_url=ADDRESS, project_id=project.id))
    assert client.project.get(project.id).name == "From outside"
    assert project.id in [one.id for one in client.project.list()]
    client.project.update(project.id, {"description": "d"})
    refused(409, lambda: client.project.create({"name": "From outside"}))
    refused(401, lambda: Ionworks(api_key="wb_nothing_of_ours", api_url=ADDRESS).project.list())


@flow
def specifications_batches_and_cells() -> None:
    c = MADE["c"]
    fields = {"name": "LGM50", "form_factor": "21700", "ratings": RATINGS}
    spec = c.cell_spec.create(fields)
    assert c.cell_spec.create_or_get(fields).id == spec.id
    assert [
        one.id for one in c.cell_spec.list(name="lg", include_components=True, project_id=MADE["project"])
    ] == [spec.id]
    c.cell_spec.update(spec.id, {"notes": "hi"})
    assert c.cell_spec.get(spec.id).notes == "hi"
    batch = c.cell_batch.create(spec.id, {"name": "B1"})
    cell = c.cell_instance.create(spec.id, {"name": "cell 1", "batch_id": batch.id})
    assert c.cell_instance.create_or_get(spec.id, {"name": "cell 1"}).id == cell.id
    assert [one.id for one in c.cell_instance.list(spec.id, batch_id=batch.id)] == [cell.id]
    assert c.cell_instance.detail(cell.id)
    refused(404, lambda: c.cell_spec.get("01900000-0000-7000-8000-000000000000"))
    MADE.update(spec=spec.id, cell=cell.id)


@flow
def a_time_series_comes_back_bit_for_bit() -> None:
    c, frame = MADE["c"], series()
    made = c.cell_measurement.create(
        MADE["cell"], {"measurement": {"name": "m1", "tags": ["b", "A"]}, "time_series": frame}
    )
    MADE["measurement"] = made.id
    back = c.cell_measurement.time_series(made.id)
    assert back.columns[: len(frame.columns)] == frame.columns
    assert back.select(frame.columns).equals(frame)
    assert back.select(frame.columns).dtypes == frame.dtypes
    part = c.cell_measurement.time_series(made.id, row_range=(50_000, 50_010), use_cache=False)
    assert part.select(frame.columns).equals(frame[50_000:50_010])
    again = c.cell_measurement.create_or_get(MADE["cell"], {"measurement": {"name": "m1"}, "time_series": frame})
    assert again.id == made.id


@flow
def steps_and_cycles() -> None:
    c, id = MADE["c"], MADE["measurement"]
    assert c.cell_measurement.steps(id).height == 100
    assert c.cell_measurement.cycles(id).height == 50
    assert c.cell_measurement.steps_and_cycles(id)
    assert c.cell_measurement.detail(id)


@flow
def an_extension() -> None:
    c, id = MADE["c"], MADE["measurement"]
    more = pl.DataFrame(
        {
            "Time [s]": [1e5, 1e5 + 1],
            "Step count": [99, 99],
            "Current [A]": [-1.0, -1.0],
            "Voltage [V]": [4.0, 4.0],
        }
    )
    c.cell_measurement.extend(id, more)
    assert c.cell_measurement.time_series(id, use_cache=False).height == 100_002


@flow
def given_steps_frames_of_pandas_and_refusals() -> None:
    c, frame = MADE["c"], series(3000)
    measurement = c.cell_measurement
    first = measurement.create(MADE["cell"], {"measurement": {"name": "s1"}, "time_series": frame})
    steps = measurement.steps(first.id)
    given = measurement.create(MADE["cell"], {"measurement": {"name": "s2"}, "time_series": frame, "steps": steps})
    assert measurement.steps(given.id).height == steps.height
    measurement.create(MADE["cell"], {"measurement": {"name": "s3"}, "time_series": frame.to_pandas()})
    begun = c.post(
        f"/cell_instances/{MADE['cell']}/cell_measurements/initiate-upload", {"measurement": {"name": "bad"}}
    )
    sink = io.BytesIO()
    frame.drop("Step count").write_parquet(sink)
    (url,) = [one["signed_url"] for one in begun["uploads"] if one["filename"] == "time_series.parquet"]
    assert requests.put(url, data=sink.getvalue(), timeout=30).status_code < 300
    body = {"cell_instance_id": MADE["cell"], "measurement": {"name": "bad"}, "measurement_type": "time_series"}
    refused(422, lambda: c.post(f"/cell_measurements/{begun['measurement_id']}/confirm-upload", body))


@flow
def files_properties_tags_and_lists() -> None:
    c = MADE["c"].cell_measurement
    folder = Path(tempfile.mkdtemp())
    sent = {name: os.urandom(1000) for name in ("a.txt", "b ö.csv")}
    for name, data in sent.items():
        (folder / name).write_bytes(data)
    files = c.create_file(MADE["cell"], "f1", [str(folder / name) for name in sent], tags=["q"])
    assert sorted(c.list_files(files.id)) == sorted(sent)
    assert c.get_file(files.id, "b ö.csv") == sent["b ö.csv"]
    assert len(c.download_files(files.id, use_cache=False)) == 2
    values = c.create_properties(MADE["cell"], "p1", {"mass": {"value": 1, "unit": "g"}})
    assert [one.id for one in c.list(MADE["cell"], measurement_type="properties", order_by="start_time")] == [
        values.id
    ]
    c.update(MADE["measurement"], {"notes": "new", "tags": ["x"]})
    c.add_tags([MADE["measurement"]], ["Zed"])
    c.remove_tags([MADE["measurement"]], ["x"])
    assert [one.id for one in c.list(MADE["cell"], tags_any=["zed"])] == [MADE["measurement"]]


@flow
def materials_and_property_sets() -> None:
    c = MADE["c"]
    material = c.post("/materials", {"name": "Graphite", "project_id": MADE["project"], "manufacturer": "X"})
    assert c.material.get(material["id"]).name == "Graphite"
    assert len(list(c.material.list(name="Graphite"))) == 1
    sets, frame = c.material_property_dataset, pl.DataFrame({"x": [0.0, 0.5, 1.0], "U": [1, None, 3]})
    columns = [
        {"name": "Stoich", "unit": "", "source_column_index": 0},
        {"name": "OCP", "unit": "V", "source_column_index": 1},
    ]
    made = sets.create(material_id=material["id"], name="ocp", data=frame, columns=columns)
    assert list(sets.get_data(made.id).columns) == ["Stoich", "OCP"]
    assert sets.get_units(made.id)
    sets.update(made.id, name="ocp2", columns=columns[:1])
    sets.replace_file(made.id, frame[:2], columns=columns[:1])
    assert len(sets.get_data(made.id)) == 2
    assert len(list(sets.list(material["id"]))) == 1
    assert requests.get(sets.get_download_url(made.id, "original"), timeout=30).content[:4] == b"PAR1"


@flow
def analyses() -> None:
    c, id = MADE["c"].analysis, MADE["measurement"]
    table = pl.DataFrame({"SOC": [0.1, 0.2], "R": [1.0, 2.0], "l": ["a", "b"]})
    made = c.create(id, "R", "dcir_from_hppc", table, metadata={"a": 1})
    assert len(c.get_data(made.id)) == 2
    assert [one.id for one in c.list(id)] == [made.id]
    assert c.find_one(id, name="R").id == made.id
    c.update(made.id, {"notes": "x"})


@flow
def studies() -> None:
    c, id = MADE["c"].study, MADE["measurement"]
    study = c.create({"name": "s"})
    MADE["study"] = study.id
    for _ in range(2):
        c.assign_measurement(study.id, id)
    assert c.list_measurements(study.id)
    c.remove_measurement(study.id, id)
    c.update(study.id, {"description": "d"})


@flow
def raw_data() -> None:
    c, measurement = MADE["c"].raw_data, MADE["c"].cell_measurement
    path = Path(tempfile.mkdtemp()) / "b ö.csv"
    path.write_bytes(os.urandom(5000))
    made = c.upload(MADE["project"], str(path), metadata={"a": 1}, source="x")
    assert c.download(made.id, use_cache=False) == path.read_bytes()
    c.update(made.id, source="")
    measurement.attach_raw_data(MADE["measurement"], [made.id])
    assert c.list_measurements(made.id)
    measurement.detach_raw_data(MADE["measurement"], made.id)
    c.delete(made.id)


@flow
def people() -> None:
    c, project = MADE["c"], MADE["project"]
    invited = c.organization.invite("new@lab.org")
    assert c.organization.get_member("new@lab.org")
    c.organization.set_role(invited.user_id, "Admin")
    c.organization.deactivate(invited.user_id)
    c.organization.reactivate(invited.user_id)
    c.organization.resend_invite(invited.user_id)
    assert c.organization.usage()
    assert c.project.roles()
    c.project.add_member(project, invited.user_id)
    c.project.update_member(project, invited.user_id, "Project Viewer")
    c.project.invite_member(project, "z@lab.org")
    c.project.remove_member(project, invited.user_id)
    c.organization.remove(invited.user_id)


@flow
def models_and_simulations() -> None:
    c = MADE["c"]
    model = c.model.create({"name": "SPM", "config": {"type": "SPM"}, "project_id": MADE["project"]})
    assert c.model.get(model.id).config == {"type": "SPM"}
    c.model.update(model.id, {"description": "x"})
    c.model.add_custom_variable(model.id, {"name": "v", "expression": "a+b"})
    c.model.upload_custom(io.BytesIO(b'{"a": 1}'), name="cust")
    sinks = io.BytesIO(), io.BytesIO()
    series(3000).write_parquet(sinks[0])
    c.cell_measurement.steps(MADE["measurement"]).write_parquet(sinks[1])
    made = requests.post(
        f"{ADDRESS}/simulations",
        headers={"X-API-Key": KEY},
        files={"time_series": ("t.parquet", sinks[0].getvalue()), "steps": ("s.parquet", sinks[1].getvalue())},
        data={"name": "sim", "model_id": model.id, "study_id": MADE["study"], "project_id": MADE["project"]},
        timeout=60,
    ).json()
    assert c.simulation.list(study_id=MADE["study"])
    assert c.simulation.get_result(made["id"]).time_series is not None
    assert c.simulation.get_statuses([made["id"], "nope"])
    c.simulation.wait_for_completion(made["id"])


@flow
def what_is_deleted_is_gone() -> None:
    c = MADE["c"]
    c.cell_spec.delete(MADE["spec"])
    refused(404, lambda: c.cell_spec.get(MADE["spec"]))
    c.project.delete(MADE["project"])


for run in FLOWS:
    try:
        run()
        print(json.dumps({"flow": run.__name__}), flush=True)
    except Exception as error:
        where = traceback.format_exc().splitlines()[-3:]
        print(
            json.dumps({"flow": run.__name__, "wrong": f"{type(error).__name__}: {error} {where}"[:2000]}),
            flush=True,
        )
