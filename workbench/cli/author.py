"""The commands that write plots from wishes: author, and context, which says what a wish costs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..environment import MODEL
from ..errors import BadRequest
from .console import err, out, print_json
from .help import Commands
from .options import JsonOption, OrganizationOption, ProjectOption, StoreOption, existing, open_bench

if TYPE_CHECKING:
    from ..authoring import CheckedAnswer, Conversation
    from ..bench import Bench
    from ..language_models import LanguageModel
    from ..records import Dashboard, Plot

commands = Commands()
WishArgument = Annotated[
    str, typer.Argument(metavar="WISH", help="What the plot should show, in words.", show_default=False)
]


@commands.add('workbench author "capacity fade by batch" --board Ageing --save')
def author(
    wish: WishArgument,
    board: Annotated[
        str | None, typer.Option("--board", metavar="NAME", help="The dashboard. Without it: the only one.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="NAME", help="The saved plot of that dashboard to change.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="PROVIDER:NAME",
            help=f"The language model that answers. Without it: `${MODEL}`; without that, the built-in author.",
        ),
    ] = None,
    model_url: Annotated[
        str | None,
        typer.Option(
            "--model-url", metavar="URL", help="Address of an OpenAI-compatible server of your own network."
        ),
    ] = None,
    save: Annotated[bool, typer.Option("--save", help="Save the draft as a plot if it is sound.")] = False,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The name to save it by. Without it: the draft's.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", metavar="OUT", help="A file for the figure: `.html`, `.png`, `.svg`, `.pdf`, `.json`."),
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a plot from a sentence: a draft, checked and drawn, with its numbers, or words that say what is missing.

    Nothing is saved without `--save`. The key of a model is read from `$WORKBENCH_MODEL_KEY`, or from the variable of
    its provider. The exit code is 1 without a draft."""
    if output is not None:
        from ..bench.figure_files import writable_ending

        writable_ending(output)  # before a model is asked and a plot is saved
    with open_bench(existing(store), project, organization) as bench:
        held, changed = _meant(bench, board, plot)
        if save and changed is None and name in {one.name for one in bench.backend.plots(held)}:
            raise BadRequest(
                f"There is a plot '{name}' on '{held.name}' already. Give another --name, or change it with --plot."
            )
        by = _model(model, model_url)
        from ..authoring import Conversation

        conversation = Conversation(bench.backend, held, changed)
        checked = _asked(conversation, wish, by)
        saved = conversation.accept(name) if save and checked.is_sound else None
        if output is not None and checked.is_sound:
            _write(bench, checked, output)
    if as_json:
        print_json(_as_json(checked, conversation, saved, by))
    else:
        _print(checked, conversation, saved, by, save)
    if not checked.is_sound:
        raise typer.Exit(1)


def _meant(bench: Bench, board: str | None, plot: str | None) -> tuple[Dashboard, Plot | None]:
    """The dashboard of the plot, and the plot to change."""
    from ..bench.authoring import FIRST_BOARD
    from ..records import Dashboard

    if board is None:
        names = bench.backend.table(Dashboard, {}, ["name"], None)["name"].tolist()
        if len(names) > 1:
            listed = ", ".join(f"'{one}'" for one in names[:12])
            raise BadRequest(f"There are {len(names)} dashboards: {listed}. Choose one with --board.")
        board = str(names[0]) if names else None
    held = bench.dashboards.create(FIRST_BOARD) if board is None else bench.dashboards.get(board)
    return held.record, None if plot is None else bench.backend.plot(held.record, plot)


def _model(model: str | None, url: str | None) -> LanguageModel | None:
    """The language model that was chosen; None for the built-in author."""
    if model is None and url is None and not os.environ.get(MODEL):
        return None
    from ..language_models import open_model

    return open_model(model, url=url)


def _asked(conversation: Conversation, wish: str, by: LanguageModel | None) -> CheckedAnswer:
    """The checked answer to a wish. A terminal shows meanwhile how much the model has written."""
    if by is None:
        return conversation.ask(wish)
    written = 0
    with err.status(f"{by.title} is asked") as status:

        def heard(part: str) -> None:
            nonlocal written
            written += len(part)
            status.update(f"{by.title} has written {written} characters")

        by.heard = heard
        return conversation.ask(wish, by)


def _write(bench: Bench, checked: CheckedAnswer, path: Path) -> None:
    """The figure of a draft as a file; its script runs locked in."""
    from ..recipe.parse import parse_draft

    bench.export(parse_draft(checked.draft).config, path, protected=True)


def _as_json(
    checked: CheckedAnswer, conversation: Conversation, saved: Plot | None, by: LanguageModel | None
) -> dict[str, object]:
    said = checked.model_dump(mode="json", exclude={"figure"})
    plot = None if saved is None else {"id": saved.id, "name": saved.name, "revision": saved.revision}
    spent = None if by is None else by.budget.spent
    return {**said, "session_id": conversation.session_id, "plot": plot, "tokens": spent}


def _print(
    checked: CheckedAnswer,
    conversation: Conversation,
    saved: Plot | None,
    by: LanguageModel | None,
    save: bool,
) -> None:
    lines = [checked.say]
    if checked.numbers is not None:
        lines += ["", checked.numbers.as_text()]
    lines += [f"Look at this: {one['message']}" for one in (*checked.warnings, *checked.hints)]
    if saved is not None:
        lines += ["", f"Saved '{saved.name}' on '{conversation.board.name}', revision {saved.revision}."]
    elif checked.is_sound and not save:
        lines += ["", "Nothing is saved. With --save the draft becomes a plot."]
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
    if by is not None:
        err.print(f"{by.title}: {by.budget.spent} of {by.budget.most} tokens of this session.", markup=False)


@commands.add('workbench context "capacity fade by batch" --store lab.db')
def context(
    wish: WishArgument = "",
    texts: Annotated[bool, typer.Option("--texts", help="Print the two texts too.")] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print how long the texts are that a language model gets with a wish, in characters and tokens.

    Models cut texts in different ways: the number of tokens is about right for each. Nothing is changed."""
    with open_bench(existing(store), project, organization, read_only=True) as bench:
        found = bench.context_texts(wish)
    if as_json:
        shown = {"characters": found.characters, "tokens": found.tokens}
        print_json({**shown, "system": found.system, "prompt": found.prompt} if texts else shown)
        return
    if texts:
        out.print(f"{found.system}\n\n{found.prompt}\n", markup=False, soft_wrap=True)
    out.print(f"{found.characters} characters, about {found.tokens} tokens.", markup=False)
