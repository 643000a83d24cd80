"""The recipe panel of a view: three texts to edit, the table of each step, saving, and the history."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeAlias, TypedDict

import anywidget
import traitlets
from pydantic import JsonValue

from ..backend import Backend
from ..dataset import Dataset, StepResult
from ..errors import BadRequest, Conflict, Invalid, NotFound, Problem, WorkbenchError
from ..export import step_table
from ..messages import spaced
from ..recipe.check import sound
from ..recipe.plot import PlotConfig
from ..recipe.recipe import Recipe
from ..records import Dashboard, Plot
from ..table import Table
from . import status_text as words
from .event_loop import at_home
from .recipe_text import MarkedProblem, Texts, marked, raw_of, texts_of
from .surface import Message, Synced

HERE = Path(__file__).parent
PAGE_ROWS = 50
Run: TypeAlias = Callable[[PlotConfig], None]
Cell: TypeAlias = JsonValue | datetime
"""A value of a column."""


class SavedRevision(TypedDict):
    """A revision in the history of the panel, with time and author as texts."""

    revision: int
    origin: str
    at: str
    by: str


class RecipePanel(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types
    """The panel on the page; ``RecipeDesk`` answers its messages."""

    _esm = (HERE / "recipe_panel.js").read_text("utf-8")
    _css = (HERE / "recipe_panel.css").read_text("utf-8")
    texts: traitlets.Dict[str, str] = traitlets.Dict({}).tag(sync=True)
    problems: traitlets.List[MarkedProblem] = traitlets.List([]).tag(sync=True)
    steps: traitlets.List[dict[str, str]] = traitlets.List([]).tag(sync=True)
    table: traitlets.Dict[str, Synced] = traitlets.Dict({}).tag(sync=True)
    saved: traitlets.Dict[str, Synced] = traitlets.Dict({}).tag(sync=True)
    said = traitlets.Unicode("").tag(sync=True)


class RecipeDesk:
    """Does the work of the recipe panel of a view.

    Parameters
    ----------
    backend : checks and saves recipes.
    run : called with a sound recipe for the view to show.
    state : returns the recipe to save, with the chosen values as defaults.
    home : the saved plot that the recipe comes from, if there is one.
    """

    def __init__(self, backend: Backend, run: Run, state: Callable[[], Recipe], home: Plot | None = None) -> None:
        self._backend = backend
        self._run = run
        self._state = state
        self._home = home
        self._dataset: Dataset | None = None
        self._tables: dict[str, Table] = {}
        self.widget = RecipePanel()
        self.widget.on_msg(at_home(self._heard))

    def show(self, config: PlotConfig) -> None:
        """Put a recipe into the editors."""
        self.widget.texts = texts_of(config)
        self.widget.problems = []
        self._show_saved()

    def show_data(self, dataset: Dataset | None) -> None:
        """Show the data of a recipe: its steps and the table of one."""
        self._dataset, self._tables = dataset, {}
        steps = {} if dataset is None else dataset.steps
        self.widget.steps = [{"name": name, "size": _size(result)} for name, result in steps.items()]
        shown = self.widget.table
        if shown:
            self._look(shown["step"], shown["start"]) if shown["step"] in steps else self._clear()

    def show_problems(self, error: BaseException | None) -> None:
        """Mark what is wrong with the recipe; with another error or None, remove all marks."""
        problems = error.problems if isinstance(error, Invalid) else []
        self.widget.problems = marked(problems, self.widget.texts)

    # Messages of the page

    def _heard(self, _: object, content: Message, buffers: object) -> None:
        acts: dict[str, Callable[[], None]] = {
            "typed": lambda: self._typed(content["texts"]),
            "run": lambda: self._run_texts(content["texts"]),
            "look": lambda: self._look(str(content["step"]), int(content["start"])),
            "save": lambda: self._save(str(content["board"]), str(content["name"]), content["texts"]),
            "restore": lambda: self._restore(int(content["revision"])),
            "saved": self._show_saved,
        }
        try:
            acts[str(content["kind"])]()
        except Invalid as error:
            self.widget.said = ""
            self.widget.problems = marked(error.problems, self.widget.texts)
        except WorkbenchError as error:
            self._say(str(error))

    def _say(self, text: str) -> None:
        self.widget.said = ""
        self.widget.said = text

    def _typed(self, texts: Texts) -> None:
        self.widget.texts = dict(texts)
        self.widget.problems = marked(self._wrong(texts), texts)

    def _wrong(self, texts: Texts) -> list[Problem]:
        try:
            return self._backend.check(raw_of(texts), {})
        except Invalid as error:
            return error.problems

    def _sound(self, texts: Texts) -> PlotConfig:
        self.widget.texts = dict(texts)
        if problems := self._wrong(texts):
            raise Invalid(problems)
        return sound(raw_of(texts))

    def _run_texts(self, texts: Texts) -> None:
        config = self._sound(texts)
        self.widget.problems = []
        self._run(config)

    def _save(self, board: str, name: str, texts: Texts) -> None:
        if not board.strip() or not name.strip():
            raise BadRequest("A plot needs a dashboard and a name. Type both, then save again.")
        config = self._sound(texts)
        if texts != texts_of(self._state().config):
            self._run(config)
        place = self._board(board.strip())
        try:
            recipe = self._state()
            kept = self._backend.save_plot(
                place, name.strip(), recipe.config, since=self._since(place, name.strip())
            )
        except Conflict as moved:
            self._met_another(place, name.strip(), moved)
            return
        if not recipe.foreign:
            self._backend.own(recipe.config)
        self._home = kept
        self._show_saved()
        self._say(
            f"Saved on '{board}' as revision {kept.revision} of '{kept.name}', with the chosen values as defaults."
        )

    def _since(self, board: Dashboard, name: str) -> int | None:
        """The revision that the change started from; None if the recipe is saved under another name."""
        home = self._home
        return home.revision if home and (home.dashboard_id, home.name) == (board.id, name) else None

    def _met_another(self, board: Dashboard, name: str, moved: Conflict) -> None:
        """Somebody else saved meanwhile: say so and show the history. The next save makes this recipe the newest."""
        if self._home is None:
            raise moved
        began, self._home = self._home.revision, self._backend.plot(board, name)
        self._show_saved()
        newest = self._home.revision
        self._say(
            f"Nothing was saved: somebody else saved '{name}' as revision {newest}, and your change started from "
            f"revision {began}. See the history below. Save again to make your recipe the newest revision."
        )

    def _board(self, name: str) -> Dashboard:
        try:
            return self._backend.get(Dashboard, name)
        except NotFound:
            try:
                return self._backend.create(Dashboard, {"name": name})
            except Conflict:  # somebody else has just created it
                return self._backend.get(Dashboard, name)

    def _restore(self, revision: int) -> None:
        if self._home is None:
            raise BadRequest("This recipe is not saved yet, so it has no revisions. Save it first.")
        self._home = self._backend.met(self._backend.restore(self._home, revision))
        self._run(sound(self._home.config))
        self._show_saved()
        self._say(f"Revision {revision} is now the newest, as revision {self._home.revision}.")

    def _show_saved(self) -> None:
        boards = self._backend.table(Dashboard, {}, ["id", "name"], None).records()
        home = self._home
        self.widget.saved = {
            "boards": [board["name"] for board in boards],
            "board": next((str(one["name"]) for one in boards if home and one["id"] == home.dashboard_id), ""),
            "name": home.name if home else "",
            "history": self._history(home) if home else [],
        }

    def _history(self, plot: Plot) -> list[SavedRevision]:
        return [
            {
                "revision": one.revision,
                "origin": one.origin,
                "at": one.created_at.strftime("%Y-%m-%d %H:%M"),
                "by": one.created_by_email or "",
            }
            for one in reversed(self._backend.history(plot))
        ]

    # The table of a step

    def _clear(self) -> None:
        self.widget.table = {}

    def _look(self, step: str, start: int) -> None:
        if self._dataset is None or step not in self._dataset.steps:
            self._clear()
            return
        if step not in self._tables:
            self._tables[step] = step_table(self._dataset.steps[step], self._dataset.columns.get(step))
        table = self._tables[step]
        start = max(0, min(start, (table.n - 1) // PAGE_ROWS * PAGE_ROWS))
        page = table.slice(start, min(start + PAGE_ROWS, table.n))
        columns = [{"name": name, "kind": column.kind} for name, column in page.items()]
        rows = [[_cell(value) for value in record.values()] for record in page.records()]
        place = f"rows {spaced(start)}–{spaced(start + page.n - 1)} of {spaced(table.n)}" if table.n else "no rows"
        self.widget.table = {
            "step": step,
            "start": start,
            "total": table.n,
            "told": place,
            "columns": columns,
            "rows": rows,
        }


def _size(result: StepResult) -> str:
    if isinstance(result, Table):
        return words.many(result.n, "row")
    return words.many(len(result), "source")


def _cell(value: Cell) -> JsonValue:
    """A value as the table shows it: numbers with seven digits, times as text."""
    if isinstance(value, float):
        return f"{value:.7g}"
    return value if value is None or isinstance(value, str | int | bool) else str(value)
