"""The command of the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from .console import print_json, print_rows
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing, open_store

if TYPE_CHECKING:
    from pydantic import JsonValue

commands = Commands()


@commands.add("workbench audit --organization Lab --limit 20")
def audit(
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="How many entries to show.")] = 100,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the audit log of an organization, the newest entries first: who did what, and what was refused."""
    from ..table import time_text
    from . import members

    with open_store(existing(store), create=False) as opened:
        chosen = members.organization_of(opened, organization, project)
        found = opened.people.audit_log(chosen.id, limit=limit)
    rows = [{**entry, "at": time_text(entry["at"])} for entry in found]
    if as_json:
        print_json(rows)
    else:
        shown = [{**row, "assistant": _assistant(row["detail"])} for row in rows]
        columns = ["at", "email", "key_id", "action", "target", "status"]
        print_rows(shown, [*columns, "assistant"] if any(row["assistant"] for row in shown) else columns)


def _assistant(detail: Mapping[str, JsonValue] | None) -> str:
    """The assistant that asked, and its tool."""
    said = detail or {}
    return ", ".join(str(said[name]) for name in ("assistant", "tool") if name in said)
