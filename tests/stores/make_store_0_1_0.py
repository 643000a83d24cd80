"""The store ``store-0.1.0.db``: run once with 0.1.0; kept to show what the store holds.

It makes at least one record of every kind, with all that hangs on them, by the public ways of 0.1.0: a bench, and the
server for what only an upload makes. A later version does not run it again: it opens the file as it is.

``python tests/stores/make_store_0_1_0.py FOLDER`` writes the store and its test keys into a new folder.
"""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from starlette.testclient import TestClient

import workbench as wb
from server import Settings, create_app
from workbench.records import Organization, Project
from workbench.store.scope import Scope

RATINGS = {
    "capacity": {"value": 0.5, "unit": "A.h"},
    "voltage_min": {"value": 3.0, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}
PEOPLE: dict[str, dict[str, Any]] = {
    "viewer": {"everywhere": "project-viewer"},
    "contributor": {"everywhere": "project-contributor"},
    "manager": {"everywhere": "project-admin"},
    "nobody": {},
    "revoked": {"everywhere": "project-admin"},
    "expired": {"everywhere": "project-admin"},
    "suspended": {"everywhere": "project-admin"},
}
"""Who has a key, and what of: ``nobody`` is a member without a role in any project."""


EVERY = 90.0
"""Seconds between two samples."""


class Clock:
    """A time of its own, a millisecond later at each look, so that the store is from the past everywhere."""

    def __init__(self, start: datetime) -> None:
        self._now = int(start.timestamp() * 1e9)

    def time_ns(self) -> int:
        self._now += 1_000_000
        return self._now

    def time(self) -> float:
        return self.time_ns() / 1e9


# Simulated tests


def cycled(
    cycles: int, *, start: float = 0.0, first: int = 0, counters: bool = True, rate: float = 1.0
) -> pd.DataFrame:
    """Discharge, rest and charge, a sample every 90 s; the capacity fades by 4 % a cycle."""
    parts = []
    clock = start
    for cycle in range(first, first + cycles):
        hours = (1 - 0.04 * cycle) / rate
        for place, (sign, length) in enumerate(((1.0, hours), (0.0, 0.1), (-1.0, hours))):
            seconds = np.arange(0, length * 3600, EVERY)
            done = seconds / (length * 3600)
            voltage = {1.0: 4.1 - 0.9 * done**1.5, 0.0: 3.3 + 0.05 * done, -1.0: 3.35 + 0.8 * done**0.7}[sign]
            parts.append(
                pd.DataFrame(
                    {
                        "Time [s]": clock + seconds,
                        "Current [A]": sign * 0.5 * rate,
                        "Voltage [V]": voltage,
                        "Temperature [degC]": 25 + 2 * abs(sign) * done + 0.1 * cycle,
                        "Step count": 3 * cycle + place,
                        "Cycle count": cycle,
                        "Step from cycler": place + 1,
                        "Cycle from cycler": cycle + 1,
                    }
                )
            )
            clock += seconds[-1] + EVERY
    made = pd.concat(parts, ignore_index=True)
    made.loc[3, "Temperature [degC]"] = np.nan
    return made if counters else made[["Time [s]", "Current [A]", "Voltage [V]"]]


def spectrum() -> pd.DataFrame:
    """An impedance spectrum of a resistance and one arc."""
    frequency = np.logspace(4, -1, 31)
    impedance = 0.02 + 0.03 / (1 + 2j * np.pi * frequency * 0.03 * 0.5)
    return pd.DataFrame(
        {
            "Time [s]": np.arange(31) * 10.0,
            "Current [A]": 0.0,
            "Voltage [V]": 3.7,
            "Frequency [Hz]": frequency,
            "Z_Re [Ohm]": impedance.real,
            "Z_Im [Ohm]": impedance.imag,
        }
    )


def parquet(table: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.Table.from_pandas(table), sink)
    return sink.getvalue()


# Recipes

BAR = "def transform(data, params):\n    return px.bar(data['cells'], x='name', y='properties.mass.value')\n"
CURVES = """def transform(data, params):
    figure = go.Figure()
    for id, frame in data["curves"].items():
        figure.add_scatter(x=frame["Time [s]"], y=frame["Voltage [V]"] * params["scale"], name=id[-4:])
    figure.update_layout(title=params["title"])
    return figure
"""
FADE = """def transform(data, params):
    rows = data["named"]
    print(len(rows), "rows")
    return px.scatter(rows, x="Cycle count", y="Discharge capacity [A.h]", color="instance_name")
"""
CELLS = {"op": "list", "source": "instances", "fields": ["id", "name", "batch_name", "properties.mass.value"]}
TESTS = {
    "op": "list",
    "source": "measurements",
    "where": {"nameContains": "life"},
    "fields": ["id", "name", "instance_name"],
}
OF_TESTS = {"from": "tests", "column": "id"}
RECIPES: dict[str, dict[str, Any]] = {
    "Masses": {"plan": {"steps": {"cells": CELLS}}, "transform": BAR},
    "Curves": {
        "plan": {
            "steps": {
                "all": TESTS,
                "tests": {**TESTS, "where": {"ids": "$tests"}},
                "curves": {
                    "op": "series",
                    "source": "measurements",
                    "ids": OF_TESTS,
                    "x": "Time [s]",
                    "columns": ["Voltage [V]", "Current [A]"],
                    "window": {"min": "$from"},
                    "max_points": 120,
                },
            }
        },
        "transform": CURVES,
        "params": {
            "tests": {
                "kind": "data",
                "default": [],
                "control": {"label": "Tests", "optionsFrom": {"step": "all", "value": "id", "label": "name"}},
            },
            "from": {"kind": "data", "default": None, "control": {"min": 0}},
            "scale": {"kind": "view", "default": 1, "control": {"options": [1, {"value": 1000, "label": "mV"}]}},
            "title": {"kind": "view", "default": "Curves"},
        },
    },
    "Fade": {
        "plan": {
            "steps": {
                "tests": TESTS,
                "cycles": {
                    "op": "summary",
                    "dataset": "cycles",
                    "ids": OF_TESTS,
                    "columns": ["Cycle count", "Discharge capacity [A.h]", "Cycle in life"],
                },
                "named": {
                    "op": "join",
                    "left": "cycles",
                    "right": "tests",
                    "on": {"left": "measurement_id", "right": "id"},
                    "fields": ["instance_name"],
                },
            }
        },
        "transform": FADE,
    },
}


# The store


def fill(bench: wb.Bench) -> None:
    """Records of every kind that a bench makes, in one project."""
    materials(bench)
    cells(bench)
    tests(bench)
    further(bench)
    boards(bench)


def materials(bench: wb.Bench) -> None:
    for name, more in (
        ("NMC 811", {"manufacturer": "Elements", "product_id": "N-811", "source": {"doi": "10.1/nmc"}}),
        ("Graphite ü", {"notes": "a text with ü and 电池"}),
        ("LP57", {}),
    ):
        bench.materials.create(name=name, **more)
    table = {
        "Stoichiometry": [0.1, 0.5, None, 0.9],
        "Potential [V]": [4.3, 3.9, 3.7, 3.4],
        "note": ["a", None, "b", "ü"],
    }
    bench.material_properties.create(name="OCP", material="NMC 811", table=table, notes="measured at C/50")
    bench.material_properties.create(name="no table", material="Graphite ü")


def cells(bench: wb.Bench) -> None:
    bench.specifications.create(
        name="Pouch 500",
        ratings=RATINGS,
        manufacturer="Cells Ltd",
        form_factor="pouch",
        cathode="NMC 811",
        anode="Graphite ü",
        electrolyte="LP57",
        properties={"area": {"value": 25.0, "unit": "cm2"}},
        source={"sheet": "v3"},
    )
    bench.specifications.create(
        name="Coin", ratings={**RATINGS, "capacity": {"value": 5, "unit": "mA.h"}}, notes="half cells"
    )
    bench.batches.create(name="A", specification="Pouch 500", notes="first")
    bench.batches.create(name="B", specification="Pouch 500")
    for number in range(1, 4):
        bench.instances.create(
            name=f"P-A-{number}",
            specification="Pouch 500",
            batch="A",
            date_manufactured="2025-04-01",
            properties={
                "mass": {"value": 11.5 + number / 4, "unit": "g"},
                "electrolyte": "LP57" if number < 3 else "LP57 + VC",
                "tab.width": number,
                "checked": number == 2,
            },
        )
    bench.instances.create(
        name="P-B-1", specification="Pouch 500", batch="B", properties={"mass": {"value": 12, "unit": "g"}}
    )
    bench.instances.create(name="C-1", specification="Coin", properties={"electrolyte": None, "free": [1, 2]})


def tests(bench: wb.Bench) -> None:
    def made(cell: str, name: str, frame: pd.DataFrame, **fields: Any) -> Any:
        return bench.measurements.create(instance=cell, name=name, time_series=frame, sign="discharge", **fields)

    day = "2025-04-{:02}T08:00:00Z".format
    made(
        "P-A-1", "life 1", cycled(4), start_time=day(2), tags=["ageing", "RPT"], protocol={"name": "1C", "rate": 1}
    )
    made("P-A-1", "life 2", cycled(3, rate=0.5), start_time=day(5), tags=["ageing"], test_setup={"channel": 4})
    made("P-A-2", "life 1", cycled(3), start_time=day(2), properties={"chamber": {"value": 25, "unit": "degC"}})
    made("P-B-1", "life 1", cycled(2), tags=["Ageing"], protocol={"name": "1C"})
    made("P-A-3", "without counters", cycled(1, counters=False), notes="time, current and voltage alone")
    made("P-A-2", "impedance", spectrum(), start_time=day(9), tags=["EIS"])
    running = made("P-A-3", "running", cycled(1), start_time=day(3))
    last = float(bench.measurements.time_series(running)["Time [s]"].max())
    bench.measurements.extend(running, cycled(1, start=last + EVERY, first=1))
    weighed = {"mass": {"value": 12.25, "unit": "g"}, "by": "Ada", "steps": {"deep": {"er": 1.5}}}
    bench.measurements.create(instance="P-A-1", name="weighing", properties=weighed)


def read_from_a_file(bench: wb.Bench, folder: Path) -> None:
    """A measurement as an ingest makes it, with its provenance and the bytes of its file."""
    folder.mkdir()
    cycled(2)[["Time [s]", "Current [A]", "Voltage [V]", "Step count"]].to_csv(
        folder / "P-A-2_check.csv", index=False
    )
    report = bench.ingest(folder, instance="P-A-2", sign="discharge", keep_file=True)
    assert [file.status for file in report.files] == ["stored"], report
    shutil.rmtree(folder)


def further(bench: wb.Bench) -> None:
    life = bench.measurements.list(name="life 1", fields=["id"])["id"][0]
    resistance = {
        "SOC": [0.1, 0.5, None, 0.9],
        "R [Ohm]": [0.03, -0.0, 5e-324, 0.021],
        "word": ["a", None, "ü", ""],
    }
    bench.analyses.create(
        name="resistance",
        measurement=life,
        analysis_type="dcir_from_hppc",
        table=resistance,
        metadata={"fit": {"r2": 0.99}, "limits": [1, 2.5, None]},
    )
    bench.analyses.create(name="no table", measurement=life, analysis_type="note", notes="only words")
    bench.models.create(
        name="Single particle", config={"type": "SPM", "n": 3, "x": 1.0}, description="as in the paper"
    )
    bench.models.create(name="Circuit", config={}, chemistry="ecm", source_model="Single particle")
    frame = cycled(1)[["Time [s]", "Current [A]", "Voltage [V]"]]
    steps = {"Step count": [0, 1, 2], "Duration [s]": [3600.0, 360.0, 3600.0]}
    bench.simulations.create(
        name="1C",
        model="Single particle",
        specification="Pouch 500",
        time_series=frame,
        steps=steps,
        metrics={"rmse": 0.0125},
    )
    bench.simulations.create(name="C/2", model="Circuit", time_series=frame.head(40), source={"tool": "by hand"})
    bench.drive_cycles.create(name="Town", data=[[0, 0.5], [10, -0.25], [20, 1]])
    bench.drive_cycles.create(name="Road", data=[[0, 1], [1, 2.5]])
    study = bench.studies.create(name="Fade of pouches", description="which batch lasts")
    bench.studies.create(name="Empty study")
    ids = list(bench.measurements.list(name_contains="life", fields=["id"])["id"])
    bench.studies.assign(study, measurements=ids[:3], simulations=["1C"])


def boards(bench: wb.Bench) -> None:
    board = bench.dashboards.create("Ageing", description="how cells fade")
    for name, recipe in RECIPES.items():
        board.save(name, recipe)
    for more in ("# a second thought\n", "# a third one\n"):
        board.save("Masses", {**RECIPES["Masses"], "transform": BAR + more})
    board.plot("Masses").restore(1)
    bench.dashboards.create("Empty board")
    changed = {**RECIPES["Fade"], "transform": FADE.replace("scatter", "line")}
    begun = bench.authoring_context(board, "Draw lines instead", plot=board.plot("Fade"))
    said = {
        "parts": [
            {"type": "text", "text": "Here it is."},
            {"type": "draft", "draft": {"name": "Fade", "config": changed}},
        ]
    }
    bench.sessions.say(begun.session_id, "user", {"text": "Draw lines instead"})
    bench.sessions.say(begun.session_id, "assistant", said)
    bench.authoring_decision(board, plot=board.plot("Fade"), session=begun.session_id)
    fresh = bench.authoring_context(
        board, "A bar for each batch", draft={"name": "Batches", "config": RECIPES["Masses"]}
    )
    bench.authoring_decision(board, new_plot_id="0196f000-0000-7000-8000-000000000001", session=fresh.session_id)
    bench.sessions.create("A conversation about nothing")
    waiting = bench.authoring_context(board, "Another", draft={"name": "Waiting", "config": RECIPES["Fade"]})
    bench.sessions.say(waiting.session_id, "user", {"text": "not decided yet", "n": [1, None, {"a": 1.0}]})


def people(bench: wb.Bench) -> dict[str, dict[str, str]]:
    """Keys of users with every role, and a second organization with an administrator of its own."""
    store, ours = bench.backend.store, bench.backend.organization
    keys: dict[str, dict[str, str]] = {}

    def key(name: str, organization: Any, email: str, days: float | None = None) -> None:
        issued = store.people.issue(organization.id, store.rows.user(email).id, days=days)
        keys[name] = {"key": issued.key, "id": issued.id, "user_id": issued.user_id, "email": email}

    key("admin", ours, "local@localhost")
    for name, standing in PEOPLE.items():
        email = f"{name}@lab.example"
        store.people.enrol(ours.id, email, **standing)
        key(name, ours, email, 0.001 if name == "expired" else None)
    store.people.revoke(ours.id, keys["revoked"]["id"])
    store.people.change_member(ours.id, keys["suspended"]["user_id"], is_active=False)
    store.people.give_role(
        ours.id, bench.backend.project.id, keys["contributor"]["user_id"], "project-contributor"
    )
    store.people.give_role(ours.id, bench.backend.project.id, keys["viewer"]["user_id"], "project-viewer")
    theirs = store.rows.create(Organization, {"name": "Other laboratory"}, scope=Scope("", None))
    store.people.enrol(theirs.id, "stranger@elsewhere.example", role="Admin")
    key("stranger", theirs, "stranger@elsewhere.example")
    project = {"name": "Theirs"}
    store.rows.create(Project, project, scope=Scope(theirs.id, None), actor=keys["stranger"]["user_id"])
    return keys


def upload(client: Any, bench: wb.Bench) -> None:
    """What only an upload makes: raw data, a measurement of files, one sent as parquet; and uploads that stay open."""
    cell = bench.instances.get("P-A-2").id
    place = f"/cell_instances/{cell}/cell_measurements/initiate-upload"

    def asked(method: str, path: str, body: Any) -> Any:
        answer = client.request(method, path, json=body)
        assert answer.status_code == 200, (path, answer.text)
        return answer.json()

    def sent(entry: Any, data: bytes) -> None:
        answer = client.put(
            urlsplit(entry["signed_url"]).path, content=data, headers={"content-type": "text/plain"}
        )
        assert answer.status_code == 200, answer.text

    photo = {
        "measurement": {"name": "photos"},
        "measurement_type": "file",
        "filenames": ["photo ü.txt", "list.csv"],
    }
    begun = asked("POST", place, photo)
    for entry, data in zip(begun["uploads"], (b"no photo, but bytes\n", b"a,b\n1,2\n"), strict=True):
        sent(entry, data)
    asked("POST", f"/cell_measurements/{begun['measurement_id']}/confirm-upload", photo)
    series = {"measurement": {"name": "sent", "tags": ["sent"]}, "measurement_type": "time_series"}
    begun = asked("POST", place, series)
    sent(begun["uploads"][0], parquet(pa.Table.from_pandas(cycled(1), preserve_index=False)))
    asked("POST", f"/cell_measurements/{begun['measurement_id']}/confirm-upload", series)
    measurement = begun["measurement_id"]
    asked("POST", place, {"measurement": {"name": "begun"}})
    for name, goes_on in (("export.txt", True), ("export 2.txt", True), ("open.txt", False)):
        raw = {
            "project_id": bench.backend.project.id,
            "name": name,
            "filename": name,
            "content_type": "text/plain",
        }
        begun = asked("POST", "/raw_data/initiate-upload", raw)
        sent(begun["uploads"][0], f"raw bytes of {name}\n".encode() * 20)
        if goes_on:
            asked(
                "POST",
                f"/raw_data/{begun['raw_data_id']}/confirm-upload",
                {**raw, "source": "channel 4", "metadata": {"n": 1}},
            )
    everywhere = client.post("/materials", json={"name": "Lithium of all projects", "project_id": None}).json()
    fields = {
        "name": "sent with its file",
        "material_id": everywhere["id"],
        "project_id": bench.backend.project.id,
    }
    files = {"file": ("properties.parquet", parquet(pa.table({"x [1]": [0.0, 0.5], "y [V]": [1.0, None]})))}
    assert client.post("/material_property_datasets", data=fields, files=files).status_code == 200
    listed = client.get("/raw_data", params={"project_id": bench.backend.project.id}).json()["items"]
    linked = {"raw_data_ids": [listed[0]["id"]]}
    assert client.post(f"/cell_measurements/{measurement}/raw_data", json=linked).status_code == 204


def make(folder: Path) -> None:
    """The store and its keys, in a new folder."""
    folder.mkdir(parents=True)
    clock = Clock(datetime(2025, 5, 1, 8, tzinfo=UTC))
    time.time_ns, time.time = clock.time_ns, clock.time
    path = folder / "store-0.1.0.db"
    with wb.open(path) as bench:
        bench.projects.update(bench.backend.project.id, name="Pouch cells", description="the first project")
        fill(bench.project("Pouch cells"))
        read_from_a_file(bench.project("Pouch cells"), folder / "files")
        other = bench.project(bench.projects.create(name="Second project").id)
        other.specifications.create(name="Prismatic", ratings=RATINGS)
        other.instances.create(name="Q-1", specification="Prismatic")
        other.measurements.create(instance="Q-1", name="life 1", time_series=cycled(1), sign="discharge")
        other.dashboards.create("Of the second").save("Masses", RECIPES["Masses"])
        keys = people(bench.project("Pouch cells"))
        with TestClient(create_app(path, Settings(readers=0)), base_url="http://localhost") as client:
            client.headers["X-API-Key"] = keys["admin"]["key"]
            upload(client, bench.project("Pouch cells"))
        assert bench.verify() == []
    kept = sqlite3.connect(path)
    kept.execute("pragma wal_checkpoint(truncate)")
    kept.execute("pragma journal_mode = delete")
    kept.execute("pragma page_size = 1024")  # a small file for the repository
    kept.execute("vacuum")
    kept.close()
    told = {"what": "Test keys of store-0.1.0.db. They open nothing else.", "keys": keys}
    (folder / "test-keys-0.1.0.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
