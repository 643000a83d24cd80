"""Dashboards and plots on a server, and which recipes are saved there: a viewer may draw only those."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from ..errors import Conflict, Invalid, NotFound
from ..operations.operation import Arguments, Sent
from ..recipe.check import sound
from ..recipe.jsontext import canonical
from ..recipe.plot import PlotConfig
from ..records import Dashboard, Plot, Revision
from . import wire
from .records import Records

_REMEMBERED = 1000
_TRIES = 5


class Boards(Records):
    """The part of a remote backend that is about dashboards and plots."""

    def __init__(self) -> None:
        self._saved: OrderedDict[bytes, Plot] = OrderedDict()
        self._of_gallery: dict[bytes, str] = {}

    def plot_path(self, plot: Plot) -> str:
        """The path of a plot."""
        return self.path("dashboards", plot.dashboard_id, "plots", plot.id)

    def saved_as(self, config: PlotConfig) -> Plot | None:
        """The plot that has this plan and these params, as it was when it was read."""
        return self._saved.get(_data_of(config))

    def gallery_path(self, config: PlotConfig) -> str | None:
        """The path of the recipe of the gallery that a config is, as the server made it; None if it is none."""
        name = self._of_gallery.get(_data_of(config))
        return None if name is None else self.path("gallery", name)

    def gallery_recipe(self, name: str) -> dict[str, Sent]:
        made = super().gallery_recipe(name)
        self._of_gallery[_data_of(sound(made))] = name
        return made

    def _remembered(self, plot: Plot) -> Plot:
        try:
            config = sound(plot.config)
        except Invalid:
            return plot
        self._saved[_data_of(config)] = plot
        while len(self._saved) > _REMEMBERED:
            self._saved.popitem(last=False)
        return plot

    def _plot(self, sent: Mapping[str, Sent]) -> Plot:
        return self._remembered(wire.record(Plot, sent))

    def save_plot(
        self, board: Dashboard, name: str, config: PlotConfig, origin: str = "save", *, since: int | None = None
    ) -> Plot:
        if problems := self._drawer().check(config.transform):
            raise Invalid(problems)
        path = self.path("dashboards", board.id, "plots")
        new = {"name": name, "config": config.dump()}
        for _ in range(_TRIES):
            try:
                return self._plot(self.client.ask("POST", path, json=new, changes=True).json())
            except Conflict as taken:
                if taken.existing_id is None:
                    raise
                there = self.client.get(f"{path}/{taken.existing_id}").json()
            body = {"config": new["config"], "revision": there["revision"] if since is None else since}
            try:
                return self._plot(
                    self.client.ask("PATCH", f"{path}/{there['id']}", json=body, changes=True).json()
                )
            except (Conflict, NotFound) as moved:
                if since is not None and isinstance(moved, Conflict):
                    raise
                continue  # Another user was faster: there is a newer revision, or the plot is gone.
        raise Conflict(
            f"Others changed the plot '{name}' at the same time, {_TRIES} times in a row. Save it again."
        )

    def plots(self, board: Dashboard) -> list[Plot]:
        path = self.path("dashboards", board.id, "plots")
        return [self._plot(one) for one in wire.pages(self.client.get, path)]

    def noted(self, answer: Sent, arguments: Arguments) -> None:
        """Remember the recipes of plots in an answer: viewers may draw them."""
        if isinstance(answer, Plot):
            self._remembered(answer)
        plot = arguments.get("plot")
        if isinstance(answer, Revision) and isinstance(plot, Plot):
            self._remembered(plot.model_copy(update={"config": answer.config, "revision": answer.revision}))


def _data_of(config: PlotConfig) -> bytes:
    raw = config.dump()
    return canonical([raw["plan"], raw.get("params", {})])
