"""The recipe beside its picture: three texts to edit, each step's table, saving with history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ..backend import Backend
from ..dataset import Dataset, StepResult
from ..errors import BadRequest, Conflict, Invalid, NotFound, Problem, WorkbenchError
from ..export import step_table
from ..messages import spaced
from ..recipe.check import sound
from ..recipe.plot import PlotConfig
from ..records import Dashboard, Plot
from ..table import Table
from . import status_text as words
from .event_loop import at_home
from .recipe_text import Texts, raw_of, texts_of, told

HERE = Path(__file__).parent
PAGE_ROWS = 50
Run = Callable[[PlotConfig], None]


class RecipePanel(anywidget.AnyWidget):  # type: ignore[misc]
    """The panel on the page; ``RecipeDesk`` answers what is asked of it."""

    _esm = HERE / "recipe_panel.js"
    _css = HERE / "recipe_panel.css"
    texts: Any = traitlets.Dict({}).tag(sync=True)
    problems: Any = traitlets.List([]).tag(sync=True)
    steps: Any = traitlets.List([]).tag(sync=True)
    table: Any = traitlets.Dict({}).tag(sync=True)
    saved: Any = traitlets.Dict({}).tag(sync=True)
    said = traitlets.Unicode("").tag(sync=True)


class RecipeDesk:
    """Works the recipe panel of a view.

    Parameters
    ----------
    work : where recipes are checked and saved.
    run : called with a sound recipe that the view is to show.
    state : gives the recipe that a save keeps, with the chosen values as defaults.
    home : the plot that the recipe comes from, if it was saved.
    """

    def __init__(
        self, backend: Backend, run: Run, state: Callable[[], PlotConfig], home: Plot | None = None
    ) -> None:
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
        self._tell_saved()

    def show_data(self, dataset: Dataset | None) -> None:
        """The data whose steps can be looked at."""
        self._dataset, self._tables = dataset, {}
        steps = {} if dataset is None else dataset.steps
        self.widget.steps = [{"name": name, "size": _size(result)} for name, result in steps.items()]
        shown = self.widget.table
        if shown:
            self._look(shown["step"], shown["start"]) if shown["step"] in steps else self._clear()

    def show_problems(self, error: BaseException | None) -> None:
        """Mark what went wrong when the recipe ran, or nothing."""
        problems = error.problems if isinstance(error, Invalid) else []
        self.widget.problems = told(problems, self.widget.texts)

    # What the page asks

    def _heard(self, _: Any, content: Mapping[str, Any], buffers: Any) -> None:
        acts: dict[str, Callable[[], None]] = {
            "typed": lambda: self._typed(content["texts"]),
            "run": lambda: self._run_texts(content["texts"]),
            "look": lambda: self._look(str(content["step"]), int(content["start"])),
            "save": lambda: self._save(str(content["board"]), str(content["name"]), content["texts"]),
            "restore": lambda: self._restore(int(content["revision"])),
            "saved": self._tell_saved,
        }
        try:
            acts[str(content["kind"])]()
        except Invalid as error:
            self.widget.said = ""
            self.widget.problems = told(error.problems, self.widget.texts)
        except WorkbenchError as error:
            self._say(str(error))

    def _say(self, text: str) -> None:
        self.widget.said = ""
        self.widget.said = text

    def _typed(self, texts: Texts) -> None:
        self.widget.texts = dict(texts)
        self.widget.problems = told(self._wrong(texts), texts)

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
            raise BadRequest("A plot needs a dashboard and a name.")
        config = self._sound(texts)
        if texts != texts_of(self._state()):
            self._run(config)
        place = self._board(board.strip())
        try:
            kept = self._backend.save_plot(
                place, name.strip(), self._state(), since=self._since(place, name.strip())
            )
        except Conflict as moved:
            self._met_another(place, name.strip(), moved)
            return
        self._home = kept
        self._tell_saved()
        self._say(
            f"Saved on '{board}' as revision {kept.revision} of '{kept.name}', with the chosen values as defaults."
        )

    def _since(self, board: Dashboard, name: str) -> int | None:
        """The revision that is being changed; None where the recipe is saved under another name."""
        home = self._home
        return home.revision if home and (home.dashboard_id, home.name) == (board.id, name) else None

    def _met_another(self, board: Dashboard, name: str, moved: Conflict) -> None:
        """Somebody saved meanwhile: say so, show the history, and let the next save put this one on top."""
        if self._home is None:
            raise moved
        began, self._home = self._home.revision, self._backend.plot(board, name)
        self._tell_saved()
        newest = self._home.revision
        self._say(
            f"'{name}' was saved by somebody else meanwhile: revision {newest}, where this began with {began}. Nothing "
            "was saved. The history below holds it; save again to put yours on top."
        )

    def _board(self, name: str) -> Dashboard:
        try:
            return self._backend.get(Dashboard, name)
        except NotFound:
            try:
                return self._backend.create(Dashboard, {"name": name})
            except Conflict:  # somebody else made it in this moment
                return self._backend.get(Dashboard, name)

    def _restore(self, revision: int) -> None:
        if self._home is None:
            raise BadRequest("This recipe is not saved yet.")
        self._home = self._backend.restore(self._home, revision)
        self._run(sound(self._home.config))
        self._tell_saved()
        self._say(f"Revision {revision} is now the newest, as revision {self._home.revision}.")

    def _tell_saved(self) -> None:
        boards = self._backend.table(Dashboard, {}, ["id", "name"], None).records()
        saved: dict[str, Any] = {
            "boards": [board["name"] for board in boards],
            "board": "",
            "name": "",
            "history": [],
        }
        home = self._home
        if home is not None:
            saved["board"] = next((str(one["name"]) for one in boards if one["id"] == home.dashboard_id), "")
            saved["name"] = home.name
            saved["history"] = [
                {
                    "revision": one.revision,
                    "origin": one.origin,
                    "at": one.created_at.strftime("%Y-%m-%d %H:%M"),
                    "by": one.created_by_email or "",
                }
                for one in reversed(self._backend.history(home))
            ]
        self.widget.saved = saved

    # Each step's table

    def _clear(self) -> None:
        self.widget.table = {}

    def _look(self, step: str, start: int) -> None:
        if self._dataset is None or step not in self._dataset.steps:
            self._clear()
            return
        if step not in self._tables:
            self._tables[step] = step_table(self._dataset.steps[step])
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


def _cell(value: Any) -> Any:
    """A value as a table shows it: numbers short enough to read."""
    if isinstance(value, float):
        return f"{value:.7g}"
    return value if value is None or isinstance(value, str | int | bool) else str(value)
