"""The bill of materials of the server image in CycloneDX's form: ``python -m tools.bill_of_materials [FILE]``.

It is made from the lock alone, so that it is the same everywhere. https://cyclonedx.org/docs/1.6/json/
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import JsonValue

from workbench.version import __version__

from .lock_file import LOCK, ROOT, Locked, locked

DEFAULT = ROOT / "build" / "server.cdx.json"
OURS = "battery-workbench"


def bill(packages: list[Locked]) -> dict[str, JsonValue]:
    """The bill: each package with its version, condition and the checksums of its files, and who asks for whom."""
    references: dict[str, list[str]] = {}
    for one in packages:
        references.setdefault(one.name, []).append(_reference(one.name, one.version))
    asks: dict[str, list[str]] = {}
    for one in packages:
        for asker in one.via:
            for reference in references.get(asker, [_reference(OURS, __version__)] if asker == OURS else []):
                asks.setdefault(reference, []).append(_reference(one.name, one.version))
    every = [_reference(OURS, __version__), *(reference for found in references.values() for reference in found)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": OURS,
                "version": __version__,
                "bom-ref": _reference(OURS, __version__),
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": [_component(one) for one in packages],
        "dependencies": [{"ref": one, "dependsOn": [*sorted(set(asks.get(one, [])))]} for one in every],
    }


def _reference(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def _component(one: Locked) -> dict[str, JsonValue]:
    told: list[JsonValue] = [{"name": "lock:file:sha256", "value": digest} for digest in one.hashes]
    if one.where is not None:
        told.insert(0, {"name": "lock:marker", "value": one.where})
    reference = _reference(one.name, one.version)
    return {
        "type": "library",
        "name": one.name,
        "version": one.version,
        "purl": reference,
        "bom-ref": reference,
        "properties": told,
    }


def main(target: Path) -> None:
    """Write the bill to a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    packages = locked(LOCK.read_text("utf-8"))
    target.write_text(json.dumps(bill(packages), indent=2) + "\n", "utf-8")
    print(f"Wrote {target}: {len(packages)} packages.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
