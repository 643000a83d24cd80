"""What the store of 0.1.0 holds and answers: records, plans, figures and samples, kept in ``golden/``.

``python -m tests.stores.record`` writes the answers of this version. What it changes is looked at and accepted, or a
mistake: the files are what every later version is held to.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.recordings.plain import Plain
from tests.stores.golden_plans import PLANS
from tests.stores.old_store import HERE, KEYS, PROJECT, SECOND, current, headers, id_of, own_ids, served

GOLDEN = HERE / "golden"
KINDS = (
    *("materials", "material_properties", "specifications", "batches", "instances", "measurements", "analyses"),
    *("models", "simulations", "studies", "drive_cycles", "dashboards", "sessions"),
)
"""Kinds that are listed in a project under their own names."""
SAMPLED = {
    "measurements": ("series", "steps", "cycles"),
    "simulations": ("series", "steps"),
    "analyses": ("series",),
}
SAMPLED["material_properties"] = ("series",)
TWO = [id_of("measurements", "P-A-1", "life 1"), id_of("measurements", "P-A-2", "life 1")]
DRAWN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("Masses", "Masses", {}),
    ("Curves of nothing", "Curves", {}),
    ("Curves of two tests", "Curves", {"tests": TWO}),
    ("Curves of one test", "Curves", {"tests": [id_of("measurements", "P-A-1", "life 2")], "scale": 1000}),
    ("Curves from a time on", "Curves", {"tests": TWO, "from": 5000, "title": "Late"}),
    ("Fade", "Fade", {}),
    ("Batches", "Batches", {}),
)


class Ask:
    """The plain answers of a server on a copy of the store."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._plain = Plain(own_ids())

    def __call__(self, method: str, path: str, who: str = "admin", **more: Any) -> Any:
        answer = self._client.request(method, path, headers={**headers(who), **more.pop("headers", {})}, **more)
        body = self._plain.body(answer.content, answer.headers.get("content-type", ""))
        return body if answer.status_code == 200 else {"status": answer.status_code, "body": body}


def records(ask: Ask) -> dict[str, Any]:
    """Every record as it is public, by kind and project."""
    found: dict[str, Any] = {"projects": ask("GET", "/projects"), "theirs": ask("GET", "/projects", "stranger")}
    found["me"] = {name: ask("GET", "/users/me", name) for name in sorted(KEYS)}
    for name in ("admin", "stranger"):
        organization = found["me"][name]["authorized_organization"]["id"]
        found[f"users of {name}"] = ask("GET", f"/organizations/{organization}/users", name)
    for project in (PROJECT, SECOND):
        place = f"/projects/{id_of('projects', project)}"
        for kind in KINDS:
            found[f"{kind} of {project}"] = ask("GET", f"{place}/records/{kind}", params={"limit": 1000})
    place = f"/projects/{id_of('projects', PROJECT)}"
    found["raw_data"] = ask("GET", "/raw_data", params={"project_id": id_of("projects", PROJECT)})
    found["tags"] = ask("GET", "/cell_measurements/tags", params={"project_id": id_of("projects", PROJECT)})
    for board in found[f"dashboards of {PROJECT}"]["items"]:
        plots = ask("GET", f"{place}/dashboards/{board['id']}/plots")
        found[f"plots of {board['name']}"] = plots
        for plot in plots["items"]:
            history = ask("GET", f"{place}/dashboards/{board['id']}/plots/{plot['id']}/revisions")
            found[f"revisions of {plot['name']}"] = history
    for session in found[f"sessions of {PROJECT}"]["items"]:
        found[f"messages of {session['name']}"] = ask("GET", f"/agent/sessions/{session['id']}/messages")
    for one in found[f"measurements of {PROJECT}"]["items"]:
        for what in ("files", "raw_data"):
            found[f"{what} of {one['instance_name']} {one['name']}"] = ask(
                "GET", f"/cell_measurements/{one['id']}/{what}"
            )
    for study in found[f"studies of {PROJECT}"]["items"]:
        for what in ("measurements", "simulations"):
            found[f"{what} of {study['name']}"] = ask("GET", f"{place}/studies/{study['id']}/{what}")
    found["catalog"] = ask("GET", f"{place}/catalog")
    return found


def plans(ask: Ask) -> dict[str, Any]:
    """The answer to every plan, as JSON."""
    place = f"/projects/{id_of('projects', PROJECT)}/datasets"
    return {
        name: ask("POST", place, json={"config": config, "values": values})
        for name, (config, values) in PLANS.items()
    }


def figures(ask: Ask) -> dict[str, Any]:
    """Figures of saved plots, and the finer detail of one."""
    place = f"/projects/{id_of('projects', PROJECT)}/dashboards/{id_of('dashboards', 'Ageing')}/plots"
    found = {}
    for name, plot, values in DRAWN:
        found[name] = ask("POST", f"{place}/{id_of('plots', plot)}/figure", json={"values": values})
    part = {"values": {"tests": TWO}, "traces": [0, 1], "x": [0, 9000], "width": 400}
    found["detail"] = ask("POST", f"{place}/{id_of('plots', 'Curves')}/figure/detail", json=part)
    return found


def samples(ask: Ask) -> dict[str, Any]:
    """Every table of sampled data, bit for bit, and the bytes of every kept file."""
    found: dict[str, Any] = {}
    place = f"/projects/{id_of('projects', PROJECT)}/records"
    for kind, datasets in SAMPLED.items():
        for one in ask("GET", f"{place}/{kind}", params={"limit": 1000})["items"]:
            for dataset in datasets:
                path = f"{place}/{kind}/{one['id']}/table"
                found[f"{kind} {one['name']} {one['id']} {dataset}"] = ask(
                    "GET", path, params={"dataset": dataset}
                )
    photos = id_of("measurements", "P-A-2", "photos")
    for measurement, name in (
        (photos, "photo ü.txt"),
        (photos, "list.csv"),
        (id_of("measurements", "P-A-2_check"), "P-A-2_check.csv"),
    ):
        found[name] = _downloaded(ask, f"/cell_measurements/{measurement}/files/{name}")
    for raw in ("export.txt", "export 2.txt"):
        found[raw] = _downloaded(ask, f"/raw_data/{id_of('raw_data', raw)}/download-url")
    return found


def _downloaded(ask: Ask, path: str) -> Any:
    answer = ask._client.get(path, headers=headers("admin"))
    address = answer.headers.get("location") or answer.json()["url"].removeprefix("http://localhost")
    content = ask._client.get(address).content
    return {"bytes": content.hex() if len(content) < 100 else Plain(()).body(content, "text/plain")}


PARTS: dict[str, Callable[[Ask], dict[str, Any]]] = {
    "records": records,
    "plans": plans,
    "figures": figures,
    "samples": samples,
}


def answered(part: str, path: Path) -> dict[str, Any]:
    """What the store at a path answers to one part of the questions, by their names in order."""
    with served(path) as client:
        return dict(sorted(PARTS[part](Ask(client)).items()))


def golden(part: str) -> dict[str, Any]:
    """What 0.1.0 answered."""
    found: dict[str, Any] = json.loads((GOLDEN / f"{part}.json").read_text(encoding="utf-8"))
    return found


def written(answers: dict[str, Any]) -> str:
    """Answers as text: a line for each question, in the order of their names."""
    lines = (
        f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(answers[name], ensure_ascii=False, separators=(',', ':'))}"
        for name in sorted(answers)
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> None:
    """Write the answers of this version."""
    GOLDEN.mkdir(exist_ok=True)
    for part in PARTS:
        with tempfile.TemporaryDirectory() as folder:
            answers = answered(part, current(Path(folder)))
        (GOLDEN / f"{part}.json").write_text(written(answers), encoding="utf-8")
        print(f"{part}: {len(answers)}")


if __name__ == "__main__":
    main()
