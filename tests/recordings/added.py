"""What answers have gained since 0.1.0. It is taken out of an answer before that is compared with a recording, so that
everything else must be as it was. Nothing that 0.1.0 answered may be in here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

import pyarrow as pa

Stream: TypeAlias = tuple[dict[str, str], pa.Table]
"""An Arrow stream: its metadata and its table."""

COLUMNS = {
    "cycles": ("Cycle count", ("Complete",)),
    "steps": (
        "Step count",
        ("Step type from cycler", "Resistance at 10 s [Ohm]", "Onset gap [s]", "Own time [s]"),
    ),
}
"""Columns of a table by its name, in its JSON, its Arrow, its parquet and the catalog; and by which column the table is
known."""
OF_LISTS = {"kinds": "cycle_count", "alert_count": "plot_count"}
"""Columns of lists of measurements and dashboards, and the column after which each stands: in rows, in columns and in
the catalog."""
OF_STREAMS = ("id", "complete")
"""In the metadata of an Arrow stream: whose series it is, and whether that is all of it."""
OF_HEADERS = ("x-workbench-data-at",)
"""Headers: a time at which the data were just so."""
OF_FIGURES = ("traces", "controls", "content", "hints")
"""In the answer of a figure: what zoom finds in each trace, the table of controls, the hash of what is seen, what lint
finds."""
OF_ME = "organization_can"
"""What a key may do in its organization, in ``GET /users/me``."""
OF_MEMBERS = "every_project_role_id"
"""The role of a member in every project, in the list of members."""
OF_PROJECTS = "can"
"""What the caller can do in a project."""
OF_REVISIONS = "note"
"""What changed in a revision of a plot, in words of who saved it."""
OF_CATALOG = ("notes", "tests", "kinds")
"""Steps and cycles that older rules made, since the recorded store was made by those of 0.1.0; kinds of tests; which
kinds of records have a sampled column."""

OF_REPORTS = "integrated"
"""The remark of an ingest that capacities were integrated, and what settles it."""
_SETTLED_BY = "where the file has a counter"


def without_added(value: Any) -> Any:
    """The JSON value of an answer as it was before."""
    return _of_tables(_without_list_columns(value))


def _without_list_columns(value: Any) -> Any:
    """A value without the columns that lists have gained, wherever the column before them is beside them."""
    if isinstance(value, list):
        columns = {one["name"] for one in value if isinstance(one, dict) and {"name", "type"} <= one.keys()}
        added = {name for name, before in OF_LISTS.items() if {name, before} <= columns}
        kept = [one for one in value if not (isinstance(one, dict) and one.get("name") in added)]
        return [_without_list_columns(one) for one in kept]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_list_columns(part)
        for name, part in value.items()
        if name not in OF_LISTS or OF_LISTS[name] not in value
    }


def _of_tables(value: Any) -> Any:
    if isinstance(value, list):
        return [_of_tables(one) if isinstance(one, dict) and OF_MEMBERS in one else one for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("items"), list):
        value = {**value, "items": [_of_tables(one) for one in value["items"]]}
    if {"figure", "cache"} <= value.keys():
        value = {name: part for name, part in value.items() if name not in OF_FIGURES}
    value = {name: part for name, part in value.items() if name != OF_MEMBERS}
    if "user_project_roles" in value and "organization_role" not in value:
        value = {name: part for name, part in value.items() if name != OF_PROJECTS}
    if {"revision", "origin", "config"} <= value.keys():
        value = {name: part for name, part in value.items() if name != OF_REVISIONS}
    if "authorized_organization" in value:
        value = {name: part for name, part in value.items() if name != OF_ME}
    if isinstance(value.get("report"), dict) and "files" in value["report"]:
        value = {**value, "report": _without_remark(value["report"])}
    is_catalog = {"sources", "steps", "cycles"} <= value.keys()
    if is_catalog:
        value = {name: part for name, part in value.items() if name not in OF_CATALOG}
    for table, (known_by, added) in COLUMNS.items():
        held = value.get(table)
        if isinstance(held, dict) and known_by in held:
            value = {**value, table: {name: column for name, column in held.items() if name not in added}}
        elif isinstance(held, list) and is_catalog:
            value = {**value, table: [column for column in held if column["name"] not in added]}
    return value


def without_added_streams(streams: Iterable[Stream]) -> list[Stream]:
    """The Arrow streams of an answer as they were before: sources of a series step that stand next to each other and
    have columns of the same types were one stream."""
    made: list[Stream] = []
    for about, table in streams:
        kept = {name: text for name, text in about.items() if name not in OF_STREAMS}
        before, above = made[-1] if made else ({}, table)
        if "sources" in kept and before.get("step") == kept["step"] and above.schema.equals(table.schema):
            sources = [*json.loads(before["sources"]), *json.loads(kept["sources"])]
            kept, table = {**kept, "sources": json.dumps(sources)}, pa.concat_tables([above, table])
            made.pop()
        made.append((kept, table))
    return made


def _without_remark(report: dict[str, Any]) -> dict[str, Any]:
    files = []
    for file in report["files"]:
        said = [pair for pair in zip(file["codes"], file["assumed"], strict=True) if pair[0] != OF_REPORTS]
        files.append({**file, "codes": [code for code, _ in said], "assumed": [text for _, text in said]})
    assumptions = [one for one in report["assumptions"] if _SETTLED_BY not in one["settled by"]]
    return {**report, "files": files, "assumptions": assumptions}


def without_added_columns(table: pa.Table) -> pa.Table:
    """A table of an answer as it was before: the steps or cycles of a test, or another one, which stays as it is."""
    for known_by, added in COLUMNS.values():
        if table.column_names[:1] == [known_by]:
            return table.select([name for name in table.column_names if name not in added])
    names = table.column_names
    return table.select([name for name in names if name not in OF_LISTS or OF_LISTS[name] not in names])
