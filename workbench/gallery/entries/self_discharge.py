"""How much charge is lost in storage, and how much of it comes back?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, chosen_tests, drawable, summary, with_tests

TITLE = "Self-discharge"
NEEDS = "Tests with a rest of a day or more between two full discharges."
LACKING = "No test is a storage: none rests for a day or more. Ingest one, or give it the tag 'storage'."


READS = Reads(
    "steps",
    (
        "Step count",
        "Step type",
        "Duration [s]",
        "Mean current [A]",
        "Discharge capacity [A.h]",
        "Charge capacity [A.h]",
        "Start voltage [V]",
        "End voltage [V]",
    ),
    ("Mean temperature [degC]", "Start time [s]", "End time [s]", "Cycle count"),
)


def make(facts):
    tests = drawable(facts, facts.tests("storage"), LACKING, READS)
    steps, params = chosen_tests(facts, tests, "storage", by="name", most=20)
    steps["steps"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "steps")
    return Made(steps, params)


# The script of the figure
from plotly.subplots import make_subplots


def storages_of(steps):
    """The rests of a day or more, in order: one after the other without a step between them is one storage."""
    rest = steps["Step type"].eq("Rest")
    runs = ((rest != rest.shift()) | steps["Step count"].diff().ne(1)).cumsum()
    runs = [one for _, one in steps[rest].groupby(runs[rest]) if one["Duration [s]"].sum() >= 86400]
    return [
        {
            "days": one["Duration [s]"].sum() / 86400,
            "drop": 1000 * (one["Start voltage [V]"].iloc[0] - one["End voltage [V]"].iloc[-1]),
            "volts": one["End voltage [V]"].iloc[-1],
            "last": one["Step count"].iloc[-1],
        }
        for one in runs
    ]


def transform(data, params):
    params = with_defaults(params)
    rows, found, bars, said, rested = with_excluded(data["rows"]), [], [], {}, set()
    names = dict(zip(data["chosen"]["id"], called(data["chosen"])))
    for test, steps in rows.groupby("measurement_id", sort=False):
        steps = steps.sort_values("Step count")
        storages, table = storages_of(steps[~steps["Excluded"]]), battery.self_discharge(steps)
        rested |= {test} if storages else set()
        # Bars at one x would lie upon each other: each storage has its own.
        many = max(len(storages), len(table)) > 1
        stored = [f"{names[test]}, storage {k + 1}" if many else names[test] for k in range(len(steps))]
        found += [{"test": name, **one, "rate": one["drop"] / one["days"]} for name, one in zip(stored, storages)]
        for row in table.to_dict(
            "records"
        ):  # rests with a pulse between them are two storages, and one has a loss
            if row["Warning"] and storages:
                said.setdefault(row["Warning"].rstrip("."), []).append(names[test])
            place = sum(one["last"] < row.get("Next step", np.nan) for one in storages) - 1
            if row["Valid"] and place >= 0:
                bars.append({"test": stored[place], **row})
    if not found:
        return battery.message("No chosen test rests for a day or more. Choose others.", unmet=True)
    rests = pd.DataFrame(found)
    figure = make_subplots(
        cols=2, horizontal_spacing=0.14, subplot_titles=["Fall of the voltage at rest", "Loss of charge"]
    )
    figure.add_bar(
        x=rests["test"],
        y=rests["rate"],
        marker_color=battery.PALETTE[0],
        showlegend=False,
        customdata=np.column_stack([rests["days"], rests["volts"]]),
        hovertemplate="Test: %{x}<br>%{y:.3g} mV d⁻¹<br>Rest: %{customdata[0]:.2f} d"
        "<br>Voltage at its end: %{customdata[1]:.3f} V<extra></extra>",
        row=1,
        col=1,
    )
    for color, name in zip(battery.PALETTE[1:], ("Reversible [%]", "Irreversible [%]")):
        x, y = [bar["test"] for bar in bars], [bar[name] for bar in bars]
        figure.add_bar(x=x, y=y, name=name.removesuffix(" [%]").lower(), marker_color=color, row=1, col=2)
    figure.update_yaxes(title_text="Fall / mV d⁻¹", row=1, col=1)
    figure.update_yaxes(title_text="Loss / %", row=1, col=2)
    figure.update_annotations(font_size=14)
    finished(figure, barmode="stack", margin={"t": 60}).update_xaxes(bar_names(rests["test"], 20))
    if not bars:
        figure.add_annotation(
            text="no full discharge before and after",
            xref="x2 domain",
            yref="y2 domain",
            x=0.5,
            y=0.5,
            showarrow=False,
        )
    # Steps alone have no voltage a day after the load, where self-discharge begins to be all of the fall.
    whole = "the fall is that of the whole rest, with the relaxation after the load"
    none = not_drawn(data["chosen"], rested, "no rest of a day or more")
    words = (whole, none, *each_warned(said))
    return note(figure, "; ".join(text for text in words if text), data, params, over=22)
