"""Operations on alerts: what is watched, what was found, and where webhooks may go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

from pydantic import AfterValidator, BaseModel, Field, JsonValue, ValidationError
from typing_extensions import TypedDict

from ..alerts import form
from ..alerts.form import AlertChoices, Asked
from ..errors import Invalid, Problem
from ..messages import refused
from ..quick_import import later
from ..recipe.jsontext import plain
from ..recipe.strict import NotNull, Scalar
from ..records import Plot
from ..records.values import plain_name
from ..store.records.alerts import Address, Alert, Occurrence
from ..store.records.people import Right
from ..table import time_text
from .operation import Limit, Local, Offset, Operation, Page, Sent, operation

if TYPE_CHECKING:
    from ..alerts import looking, webhooks
    from ..engine import answer
    from ..recipe import check as recipe_check
else:  # an operation is declared without what carries it out
    looking = later("workbench.alerts.looking")
    webhooks = later("workbench.alerts.webhooks")
    answer = later("workbench.engine.answer")
    recipe_check = later("workbench.recipe.check")


ALERTS = "/projects/{project_id}/alerts"
FOUND = f"{ALERTS}/occurrences"
ADDRESSES = "/webhook-addresses"
Json = dict[str, Sent]
Title = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(plain_name)]
ColumnText = Annotated[str, Field(min_length=1, max_length=500)]
Acknowledged = Annotated[
    bool | None, Field(description="Only what somebody has acknowledged, or with false only what nobody has.")
]


class AlertShown(TypedDict):
    """An alert. ``problem`` says why the last look at it failed."""

    id: str
    name: str
    plot_id: str
    step: str
    column: str | None
    above: float | None
    below: float | None
    equals: JsonValue
    key: list[str] | None
    values: Json
    webhook: str | None
    problem: str | None
    created_by: str
    created_at: str


class OccurrenceShown(TypedDict):
    """What an alert found: values of the row by column, and when it was true for the first time.

    ``delivery`` is null without a webhook, else ``waiting``, ``delivered`` or ``failed``, with the number of ``tries``
    and the ``problem`` of the last one.
    """

    id: str
    alert_id: str
    alert: str
    dashboard_id: str
    plot_id: str
    key: Json
    found: Json
    first_true: str
    acknowledged_at: str | None
    acknowledged_by: str | None
    delivery: str | None
    tries: int
    problem: str | None


class AddressShown(TypedDict):
    """Where webhooks may go: all addresses that begin so."""

    address: str
    private: bool
    created_at: str


class AlertOperations:
    """What users can do with alerts."""

    group = "Alerts"

    @operation("GET", ALERTS, Right.READ, since="0.1.1")
    def list_alerts(self: Local) -> list[AlertShown]:
        """The alerts of the project, the oldest first."""
        return [_shown(one) for one in self.store.alerts.of_project(self.scope)]

    @operation("POST", ALERTS, Right.WRITE, heavy=True, since="0.1.1")
    def create_alert(
        self: Local,
        plot_id: Annotated[str, Field(json_schema_extra={"x-record": "plots"}), Asked("plot", "Plot")],
        name: Annotated[Title, Asked("text", "Name")],
        step: Annotated[ColumnText, Asked("step", "Rows of the step")],
        column: Annotated[
            ColumnText | None, Asked("column", "Column", "A row counts where it is true, or holds anything.")
        ] = None,
        above: Annotated[float | None, Asked("number", "Above")] = None,
        below: Annotated[float | None, Asked("number", "Below")] = None,
        equals: Annotated[Scalar | None, Asked("value", "Equals", "Instead of above and below.")] = None,
        key: Annotated[
            Annotated[list[ColumnText], Field(max_length=10)] | None,
            Asked("key", "Once for each", "Columns that tell one occurrence from another."),
        ] = None,
        values: Annotated[Json | None, NotNull(), Asked("values", "Values of the plot")] = None,
        webhook: Annotated[
            Annotated[str, Field(max_length=2000)] | None,
            Asked("webhook", "Also send it to", "An Admin allows where messages may go."),
        ] = None,
    ) -> AlertShown:
        """Watch a plot: say when a row of a step, or a column of it, becomes true after data came in.

        Without ``column`` each row of the step counts. With it a row counts where the column is true, or holds
        anything (as ``first_where`` does); with ``above``, ``below`` or ``equals`` where it fulfils these. ``key`` has
        the columns that tell one occurrence from another; by default those that name the rows. What is true already is
        not announced.
        """
        bounds: Json = {"column": column, "above": above, "below": below, "equals": equals}
        more: Json = {"key": key, "values": values or {}, "webhook": webhook}
        fields, problems = plain({"plot_id": plot_id, "name": name, "step": step, **bounds, **more})
        if problems or not isinstance(fields, dict):  # an integer beyond 64 bits, or an infinity
            raise Invalid(problems)
        _refuse_misread(fields)
        if webhook is not None:
            webhook = fields["webhook"] = webhooks.target_of(webhook).text
            webhooks.allowed(webhook, self.store.alerts.addresses())
        if equals is not None and (above is not None or below is not None):
            raise Invalid(Problem(("equals",), "'equals' goes with neither 'above' nor 'below'.", "value_error"))
        if column is None and not all(one is None for one in (above, below, equals)):
            raise Invalid(Problem(("column",), "A bound needs the 'column' that it is about.", "missing"))
        if above is not None and below is not None and not above < below:
            raise Invalid(Problem(("below",), f"No number is above {above:g} and below {below:g}.", "value_error"))
        draft = self.store.alerts.drafted(fields, self.scope, self.actor)
        with self.store.snapshot():  # what comes in while the plan runs is found at the next look
            seen_at = self.store.latest()
            rows = looking.true_rows(self.store, self.cache, draft, self.scope)
        with self.writing(name=name, plot=plot_id) as db:
            made = self.store.alerts.create(db, draft, self.scope)
            self.store.alerts.note(db, made, rows, seen_at, known=True)
        return _shown(self.store.alerts.get(made.id, self.scope))

    @operation("GET", f"{ALERTS}/choices", Right.WRITE, heavy=True, since="0.1.1")
    def alert_choices(
        self: Local, plot_id: Annotated[str, Field(json_schema_extra={"x-record": "plots"})]
    ) -> AlertChoices:
        """What a new alert is asked for, and what each answer can be: steps of the plot's plan, their columns, allowed
        addresses. The plan runs with the values that are saved."""
        config = recipe_check.sound(self.store.rows.get(Plot, plot_id, self.scope).config)
        with self.store.snapshot():
            result = answer.dataset(config, {}, self.store, self.scope, self.cache).dataset.steps
        return form.choices(_asked(), config, result, self.store.alerts.addresses())

    @operation("DELETE", f"{ALERTS}/{{alert_id}}", Right.WRITE, since="0.1.1")
    def delete_alert(self: Local, alert_id: str) -> AlertShown:
        """Delete an alert with what it found."""
        with self.writing(alert_id) as db:
            gone = self.store.alerts.get(alert_id, self.scope)
            self.store.alerts.delete(db, alert_id, self.scope)
        return _shown(gone)

    @operation("GET", FOUND, Right.READ, since="0.1.1")
    def alert_occurrences(
        self: Local,
        acknowledged: Acknowledged = None,
        on_dashboard: Annotated[str | None, Field(description="Only of the plots of this dashboard.")] = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Page[OccurrenceShown]:
        """What the alerts of the project found, the newest first."""
        wanted = None if acknowledged is None else not acknowledged
        found = self.store.alerts.occurrences(self.scope, open=wanted, dashboard=on_dashboard)
        items = [_found(one) for one in found[offset : offset + limit]]
        return Page(items, len(items), len(found))

    @operation("POST", f"{FOUND}/{{occurrence_id}}/acknowledge", Right.WRITE, since="0.1.1")
    def acknowledge_alert(self: Local, occurrence_id: str) -> OccurrenceShown:
        """Note that the caller has seen what an alert found."""
        with self.writing(occurrence_id) as db:
            return _found(self.store.alerts.acknowledge(db, occurrence_id, self.scope, self.actor))

    @operation("GET", ADDRESSES, None, project="none", since="0.1.1")
    def webhook_addresses(self: Local) -> list[AddressShown]:
        """Where webhooks of alerts may go. Only for Admins of every organization."""
        return [_address(one) for one in self.store.alerts.addresses()]

    @operation("POST", ADDRESSES, None, project="none", since="0.1.1")
    def allow_webhooks(
        self: Local, address: Annotated[str, Field(min_length=1, max_length=2000)], private: bool = False
    ) -> AddressShown:
        """Allow webhooks to go to all addresses that begin so; ``private``: also if they are in the own network."""
        text = webhooks.target_of(address).text
        with self.writing(text, private=private) as db:
            return _address(self.store.alerts.allow(db, text, self.actor, private=private))

    @operation("DELETE", ADDRESSES, None, project="none", since="0.1.1")
    def disallow_webhooks(self: Local, address: str) -> list[AddressShown]:
        """Webhooks that go to addresses that begin so are not sent any more; gives those that are left."""
        with self.writing(address) as db:
            self.store.alerts.disallow(db, address)
        return [_address(one) for one in self.store.alerts.addresses()]


def _refuse_misread(fields: Json) -> None:
    """Refuse arguments of other types than those that are declared: a local caller passes whatever it has."""
    create: Operation[..., AlertShown] = vars(AlertOperations)["create_alert"]
    try:
        # An operation whose arguments are not all in its path has a body.
        cast(type[BaseModel], create.body).model_validate(fields)
    except ValidationError as error:
        found: dict[str, Problem] = {}
        for item in error.errors(include_url=False, include_input=False):
            name = str(item["loc"][0])
            message = refused(f"'{name}'", item["type"], item["msg"], item.get("ctx"))
            if name == "equals":
                message = "'equals' must be a text, a number, or true or false."
            found.setdefault(name, Problem(tuple(item["loc"][:1]), message, item["type"]))
        raise Invalid([*found.values()]) from None


def _asked() -> dict[str, tuple[Asked, bool]]:
    """The words for each argument of a new alert, and whether it must be given."""
    create: Operation[..., AlertShown] = vars(AlertOperations)["create_alert"]
    found: dict[str, tuple[Asked, bool]] = {}
    for name, one in create.sent.items():
        (mark,) = [mark for mark in create.types[name].__metadata__ if isinstance(mark, Asked)]
        found[name] = (mark, one.default is one.empty)
    return found


def _shown(one: Alert) -> AlertShown:
    return {
        "id": one.id,
        "name": one.name,
        "plot_id": one.plot_id,
        "step": one.step,
        "column": one.column,
        "above": one.above,
        "below": one.below,
        "equals": one.equals,
        "key": None if one.key is None else list(one.key),
        "values": one.values,
        "webhook": one.webhook,
        "problem": one.problem,
        "created_by": one.created_by,
        "created_at": time_text(one.created_at),
    }


def _found(one: Occurrence) -> OccurrenceShown:
    seen = one.acknowledged_at
    return {
        "id": one.id,
        "alert_id": one.alert_id,
        "alert": one.alert_name,
        "dashboard_id": one.dashboard_id,
        "plot_id": one.plot_id,
        "key": one.key,
        "found": one.found,
        "first_true": time_text(one.first_true),
        "acknowledged_at": None if seen is None else time_text(seen),
        "acknowledged_by": one.acknowledged_by,
        "delivery": one.delivery,
        "tries": one.tries,
        "problem": one.problem,
    }


def _address(one: Address) -> AddressShown:
    return {"address": one.address, "private": one.private, "created_at": time_text(one.created_at)}
