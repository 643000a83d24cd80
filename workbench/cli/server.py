"""The command of the shared server: serve."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from ..environment import meant_store
from ..errors import BadRequest, NotFound, NotProtected
from ..fan_out.setting import setting_of
from ..server_package import check_server_package
from .console import out
from .help import Commands
from .options import (
    ExecutorOption,
    JsonOption,
    OrganizationOption,
    ProjectOption,
    StoreOption,
    at_the_start,
    open_store,
)

if TYPE_CHECKING:
    from ..store.store import Store

commands = Commands()

PORT = 8765


@commands.add("workbench serve --store lab.db --port 8765")
def serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port to listen on. `0` takes a free one.")
    ] = PORT,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="How many processes serve the store.")] = 1,
    trust_transforms: Annotated[
        bool,
        typer.Option(
            "--trust-transforms", help="Run the scripts of plots without a sandbox, with all rights of the server."
        ),
    ] = False,
    trust_files: Annotated[
        bool,
        typer.Option(
            "--trust-files",
            help="Read the files that people send without a sandbox, with all rights of the server.",
        ),
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address that people use, if there is a proxy in front of the server."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name to accept besides those of this machine."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="An origin whose web pages may call the server."),
    ] = None,
    embed_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="A site that may show links made for it in a frame."),
    ] = None,
    billing_portal: Annotated[
        str | None, typer.Option(metavar="URL", help="Address that the billing portal redirects to.")
    ] = None,
    docs: Annotated[
        bool, typer.Option("--docs", help="Show the HTTP interface at `/docs`, where it can be tried out.")
    ] = False,
    metrics: Annotated[
        bool,
        typer.Option("--metrics", help="Keep counts and times for Prometheus, at `/metrics` for an admin's key."),
    ] = False,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=65535, help="Show them at this port of the loopback too, without a key."
        ),
    ] = None,
    oidc_issuer: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Address of an identity provider (OpenID Connect): people sign in by it too."
        ),
    ] = None,
    oidc_client: Annotated[
        str,
        typer.Option(metavar="ID", help="Id of this server there. Its secret is in `$WORKBENCH_OIDC_SECRET`."),
    ] = "",
    oidc_name: Annotated[str, typer.Option(metavar="TEXT", help="What the page calls the provider.")] = "",
    oidc_new_people: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE", help="Make people members who are not: as `viewer` or `contributor` of every project."
        ),
    ] = None,
    oidc_domain: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Domain of the addresses of such people; `any` for all."),
    ] = None,
    executor: ExecutorOption = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Serve a store to a team, until Ctrl-C.

    The first start makes the key of an administrator and prints it. It cannot be shown again."""
    check_server_package()
    from server.identity_provider import ProviderSettings, check
    from server.metrics import check_installed
    from server.serving import Serving, listen, run

    # What is wrong with these is said before a key is made.
    _check_addresses(public_url, billing_portal, allow_origin or [])
    if executor is not None:
        setting_of(executor)
    if metrics or metrics_port is not None:
        check_installed()
    provider = None
    if oidc_issuer is not None:
        provider = ProviderSettings(
            oidc_issuer, oidc_client, oidc_name, oidc_new_people, tuple(oidc_domain or ()), organization
        )
        check(provider)
    elif oidc_client or oidc_new_people is not None or oidc_domain:
        raise BadRequest("These options of a provider need its address: --oidc-issuer URL.")
    path = meant_store(store)
    listen(host, port).close()
    with at_the_start(path):
        _first_key(path, project, organization, as_json=as_json)
    run(
        Serving(
            store=str(path.resolve()),
            host=host,
            port=port,
            workers=workers,
            trust_transforms=trust_transforms,
            trust_files=trust_files,
            public_url=public_url,
            hosts=tuple(allow_host or ()),
            origins=tuple(allow_origin or ()),
            embed_origins=tuple(embed_origin or ()),
            billing_portal=billing_portal,
            docs=docs,
            executor=executor,
            metrics=metrics,
            metrics_port=metrics_port,
            provider=provider,
        ),
        lambda address: _listening(address, as_json=as_json),
    )


def _check_addresses(public_url: str | None, billing_portal: str | None, origins: list[str]) -> None:
    """Refuse an address that links would begin with in vain, and an origin that no browser sends."""
    for option, address in (("--public-url", public_url), ("--billing-portal", billing_portal)):
        if address is not None and re.fullmatch(r"https?://[^/\s?#]+(/\S*)?", address) is None:
            raise BadRequest(f"{option} takes a whole address such as 'https://lab.example', not '{address}'.")
    for origin in origins:
        if re.fullmatch(r"[a-z][\w+.-]*://[^/\s]+|null|\*", origin) is None:
            raise BadRequest(
                f"--allow-origin takes an origin, which has no path, such as 'https://lab.example', not '{origin}'."
            )


def serve_demo(
    store: Path, port: int | None, project: str | None, organization: str | None, *, as_json: bool
) -> None:
    """Serve a demo on this machine. If there is no sandbox for scripts, say so and stop."""
    check_server_package()
    from server.serving import Serving, listen, run

    if port is None:
        try:
            listen("127.0.0.1", PORT).close()
            port = PORT
        except BadRequest:
            port = 0
    key_id = _first_key(store, project, organization, as_json=as_json)

    def ready(address: str) -> None:
        _listening(address, as_json=as_json)
        if as_json:
            return
        _offer_page(store, address, key_id)
        key = "the key above" if key_id is not None else "your key"
        out.print(
            f"In Python: wb.connect('{address}', api_key='wb_...') with {key}. Stop with Ctrl-C.", markup=False
        )
        if key_id is None:
            made = f"workbench keys create --store {store} --user local@localhost --role admin"
            out.print(
                f"The key was shown at the first start. To make another one: {made}", markup=False, soft_wrap=True
            )

    try:
        run(Serving(store=str(store.resolve()), port=port, quiet=True, docs=True), ready)
    except NotProtected as error:
        out.print(f"No server was started. {error}", markup=False, soft_wrap=True)


def _offer_page(path: Path, address: str, key_id: str | None) -> None:
    """Print the address of the page, which signs in once. In a terminal, open it in the browser too.

    The code in it takes the place of the key, which would stay in the browser's history. It needs a key of the local
    user: that of ``key_id``, else one that is made for this and ends with the day.
    """
    with open_store(path, create=False) as opened:
        try:
            key = key_id or _day_key(opened)
        except NotFound:
            typer.echo(f"The page: {address}")
            return
        page = f"{address}/#code={opened.sign_ins.code(key)}"
    typer.echo(f"The page: {page}")
    out.print("The address signs you in once, within a minute. Later, sign in with a key.", markup=False)
    if out.is_terminal:
        webbrowser.open(page)


def _day_key(store: Store) -> str:
    """A new key of the local user for a day; its id."""
    user = store.rows.user("local@localhost")
    organization = next(
        (one for one in store.rows.organizations() if store.people.member(one.id, user.id) is not None), None
    )
    if organization is None:
        raise NotFound("The local user is not a member of an organization of this store.")
    return store.people.issue(organization.id, user.id, days=1).id


def _first_key(path: Path, project: str | None, organization: str | None, *, as_json: bool) -> str | None:
    """Make and print the first key of a store; its id, None if the store has a key already."""
    from .members import organization_of

    # One transaction: two servers may start on a new store at once.
    with open_store(path, create=True) as opened, opened.transaction():
        there = opened.people.any_key()
        # A store of several organizations must be served without naming one of them.
        if there and organization is None and project is None:
            return None
        chosen = organization_of(opened, organization, project)
        if there:
            return None
        user = opened.rows.user("local@localhost")
        issued = opened.people.issue(chosen.id, user.id)
    if as_json:
        _line({"key": issued.key, "id": issued.id, "organization_id": chosen.id, "user_id": user.id})
    else:
        out.print(f"Key of {user.email}, Admin of '{chosen.name}'. Keep it, it is not shown again:", markup=False)
        out.print(issued.key, markup=False, soft_wrap=True)
    return issued.id


def _listening(address: str, *, as_json: bool) -> None:
    if as_json:
        _line({"listening": address})
    else:
        typer.echo(f"Listening on {address}")


def _line(value: dict[str, str]) -> None:
    typer.echo(orjson.dumps(value).decode())
