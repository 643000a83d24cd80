"""The commands of alerts and webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .console import out, print_json, print_rows
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing, open_bench, open_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..store.records.alerts import Address
    from ..table import Plain

commands = Commands("List and acknowledge what alerts found.", "workbench alerts list --store lab.db")
webhooks = Commands("Say where alerts may send messages.", "workbench webhooks list --store lab.db")
_NAMES = ("Cell", "Test")
_MOST_VALUES = 2
_AddressArgument = Annotated[
    str,
    typer.Argument(metavar="URL", help="The beginning of the addresses, such as https://hooks.example.com/lab."),
]


@commands.add("workbench alerts list --all", "list")
def list_found(
    everything: Annotated[bool, typer.Option("--all", help="Also what somebody has acknowledged.")] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what alerts found and nobody has acknowledged, the newest first."""
    with open_bench(existing(store), project, organization, read_only=True) as bench:
        found = bench.alerts.occurrences(None if everything else False).to_dict("records")
        failed = [one for one in bench.alerts.list().to_dict("records") if one["problem"]]
    if as_json:
        print_json(found)
        return
    shown = [
        {
            "alert": one["alert"],
            "of": row_in_words(one["key"], one["found"]),
            "first true": one["first_true"][:19],
            "webhook": one["delivery"],
            "id": one["id"],
        }
        for one in found
    ]
    print_rows(shown, ["alert", "of", "first true", "webhook", "id"])
    for one in failed:
        message = f"The alert '{one['name']}' was not looked at: {one['problem']}"
        out.print(message, style="yellow", markup=False, soft_wrap=True)


def row_in_words(key: Mapping[str, Plain], found: Mapping[str, Plain]) -> str:
    """A row that an alert found, as people name it: cell and test, then its key and two more of its values. An id says
    nothing to a person, so it is written only where there is nothing else."""
    shown = [str(found[name]) for name in _NAMES if found.get(name) is not None]
    others = [name for name in found if name not in key and name not in _NAMES]
    for name in [*key, *[name for name in others if not _is_id(name)][:_MOST_VALUES]]:
        if not _is_id(name):
            value = key[name] if name in key else found[name]
            shown.append(f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}")
    return ", ".join(shown or map(str, key.values()))


def _is_id(name: str) -> bool:
    return name == "id" or name.endswith("_id")


@commands.add("workbench alerts acknowledge 3f2a...", "acknowledge")
def acknowledge(
    occurrence: Annotated[
        str, typer.Argument(metavar="ID", help="What was found, by its id.", show_default=False)
    ],
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Note that you have seen what an alert found. It is not listed as open any more."""
    with open_bench(existing(store), project, organization) as bench:
        seen = bench.alerts.acknowledge(occurrence)
    if as_json:
        print_json(seen)
    else:
        out.print(f"Acknowledged '{seen['alert']}' of {seen['first_true'][:19]}.", markup=False, soft_wrap=True)


@webhooks.add("workbench webhooks allow https://hooks.example.com/lab", "allow")
def allow(
    address: _AddressArgument,
    private: Annotated[
        bool, typer.Option("--private", help="Allow it also if the host is in the own network or on this machine.")
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Allow alerts to send messages to all addresses that begin so. Redirects are never followed.

    That holds for the whole store; the audit log of the organization has it."""
    from ..alerts.webhooks import target_of
    from ..store.records.rows import LOCAL_USER
    from .members import organization_of

    with open_store(existing(store), create=False) as opened, opened.transaction() as db:
        text, actor = target_of(address).text, opened.rows.user(LOCAL_USER).id
        made = opened.alerts.allow(db, text, actor, private=private)
        chosen = organization_of(opened, organization, project)
        opened.people.note(db, "webhooks allow", chosen.id, actor, target=text, detail={"private": private})
    if as_json:
        print_json(_row(made))
    else:
        where = ", also in the own network" if made.private else ""
        out.print(f"Alerts may send to {made.address}{where}.", markup=False, soft_wrap=True)


@webhooks.add("workbench webhooks remove https://hooks.example.com/lab", "remove")
def remove(
    address: _AddressArgument,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send no more messages to addresses that begin so, from the whole store."""
    from ..alerts.webhooks import target_of
    from ..store.records.rows import LOCAL_USER
    from .members import organization_of

    with open_store(existing(store), create=False) as opened, opened.transaction() as db:
        text, actor = target_of(address).text, opened.rows.user(LOCAL_USER).id
        opened.alerts.disallow(db, text)
        chosen = organization_of(opened, organization, project)
        opened.people.note(db, "webhooks remove", chosen.id, actor, target=text)
    if as_json:
        print_json({"address": text, "removed": True})
    else:
        out.print(f"Alerts send nothing to {text} any more.", markup=False, soft_wrap=True)


@webhooks.add("workbench webhooks list --json", "list")
def list_addresses(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """List where alerts of this store may send messages."""
    from .members import organization_of

    with open_store(existing(store), create=False, read_only=True) as opened:
        organization_of(opened, organization, project)
        rows = [_row(one) for one in opened.alerts.addresses()]
    if as_json:
        print_json(rows)
        return
    shown = [{**row, "own network": "yes" if row["private"] else "no"} for row in rows]
    print_rows(shown, ["address", "own network", "created_at"])


def _row(one: Address) -> dict[str, str | bool]:
    from ..table import time_text

    return {"address": one.address, "private": one.private, "created_at": time_text(one.created_at)}
