"""``bench.alerts``: what plots are watched for, what was found, and where webhooks may go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..backend import Backend
from ..errors import BadRequest
from ..messages import counted
from ..operations.alerts import AddressShown, AlertShown, OccurrenceShown
from ..operations.operation import pages
from ..quick_import import later
from ..recipe.strict import Scalar
from .recipe_input import Values, merged

if TYPE_CHECKING:
    import pandas as pd

    from ..alerts.form import AlertChoices
    from .boards import SavedPlot
else:  # frames bring pandas, which opening a store does not need
    pd = later("pandas")


class Alerts:
    """The alerts of the bench's project. They are looked at when data came in; by a server after any change."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __repr__(self) -> str:
        return f"<alerts: {counted(len(self._backend.list_alerts()), 'record')}>"

    def create(
        self,
        plot: SavedPlot,
        name: str,
        step: str,
        column: str | None = None,
        *,
        above: float | None = None,
        below: float | None = None,
        equals: Scalar | None = None,
        key: Sequence[str] | None = None,
        values: Values | None = None,
        webhook: str | None = None,
    ) -> AlertShown:
        """Watch a saved plot: say when something becomes true after data came in. What is true already is not said.

        Parameters
        ----------
        plot : the plot whose plan is run, always in its newest revision.
        name : what the alert is called where it is shown.
        step : the step whose rows are looked at; it gives rows, not samples.
        column : a row counts where this column is true or, if it holds no booleans, where it holds anything, such as a
            metric ``first_where``. Without it each row counts.
        above, below, equals : a row counts only where the column is so.
        key : columns that tell one occurrence from another, each of which is said once; by default those that name the
            rows: the groups of an aggregate, or ids with the number of the step or cycle.
        values : values of the plot's params.
        webhook : an allowed address, which a server or a watch sends what was found.

        Raises
        ------
        Invalid
            If the plan does not run, or has no such step or column.
        BadRequest
            If no Admin has allowed the address.
        """
        chosen = merged(values, {})
        return self._backend.create_alert(
            _id_of(plot),
            name,
            step,
            column,
            above,
            below,
            equals,
            None if key is None else list(key),
            chosen,
            webhook,
        )

    def choices(self, plot: SavedPlot) -> AlertChoices:
        """What ``create`` can be given for a plot, with words for a form.

        It has the ``fields``, the ``steps`` of the plan that give rows, with their columns, and the ``webhooks`` that
        are allowed. The plan runs with the saved values; Invalid says why it does not.
        """
        return self._backend.alert_choices(_id_of(plot))

    def list(self) -> pd.DataFrame:
        """The alerts as a frame, the oldest first; ``problem`` says why the last look at one failed."""
        return pd.DataFrame(self._backend.list_alerts(), columns=list(AlertShown.__annotations__))

    def delete(self, alert: str | AlertShown) -> None:
        """Delete an alert, by its id, with what it found."""
        # What is neither an id nor an alert leads to no alert, and the backend says so.
        self._backend.delete_alert(str(alert["id"]) if isinstance(alert, dict) and "id" in alert else str(alert))

    def occurrences(self, acknowledged: bool | None = None) -> pd.DataFrame:
        """What was found, the newest first: all, or with False only what nobody has acknowledged."""
        found = pages(lambda limit, offset: self._backend.alert_occurrences(acknowledged, None, limit, offset))
        return pd.DataFrame(list(found), columns=list(OccurrenceShown.__annotations__))

    def acknowledge(self, occurrence: str) -> OccurrenceShown:
        """Note that you have seen what was found, by its id; it is not shown as open any more."""
        return self._backend.acknowledge_alert(occurrence)

    def addresses(self) -> list[AddressShown]:  # type: ignore[valid-type]  # `list` is a method here
        """Where webhooks may go. On a server only for Admins of every organization."""
        return self._backend.webhook_addresses()

    def allow(self, address: str, *, private: bool = False) -> AddressShown:
        """Allow webhooks to go to all addresses that begin so, as only an Admin may on a server.

        ``private`` allows it also where the host is in the own network.
        """
        return self._backend.allow_webhooks(address, private)

    def disallow(self, address: str) -> None:
        """Webhooks that go to addresses that begin so are not sent any more."""
        self._backend.disallow_webhooks(address)


def _id_of(plot: SavedPlot) -> str:
    if not isinstance(getattr(plot, "id", None), str):
        raise BadRequest(f"An alert is about a saved plot, such as board.plot('Fade'), not about {plot!r:.40}.")
    return plot.id
