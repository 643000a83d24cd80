"""How much charge was lost in the first cycles?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, chosen_tests, drawable, per, summary, with_tests

TITLE = "First-cycle loss"
NEEDS = "Formation tests, from the first charge of a new cell."
LACKING = "No test is a formation. Ingest the first cycles of new cells, or give their tests the tag 'formation'."


READS = Reads("cycles", ("Cycle count", "Discharge capacity [A.h]", "Charge capacity [A.h]", "Complete"))


def make(facts):
    tests = drawable(facts, facts.tests("formation"), LACKING, READS)
    steps, params = chosen_tests(facts, tests, "formation")
    steps["cycles"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "cycles")
    return Made(steps, {**params, **per(facts)})


# The script of the figure
from plotly.subplots import make_subplots


def transform(data, params):
    rows, base = not_excluded(data["rows"].dropna(subset=["Cycle count"])), params.get("per", "cell")
    if rows.empty:
        return battery.message("The chosen tests have no cycles. Choose others.", unmet=True)
    amount = amount_of(rows, base)
    factor, unit = capacity_unit(base, rows["Charge capacity [A.h]"])
    first = rows.assign(amount=amount).sort_values("Cycle count").groupby("measurement_id", sort=False).first()
    more = np.maximum(first["Charge capacity [A.h]"], first["Discharge capacity [A.h]"])
    less = np.minimum(first["Charge capacity [A.h]"], first["Discharge capacity [A.h]"])
    first = first.assign(
        given=factor * more / first["amount"], back=factor * less / first["amount"], ice=100 * less / more
    )
    first = first.sort_values(["batch_name", "instance_name"])
    names = first["instance_name"] + np.where(
        first["instance_name"].duplicated(keep=False), ", " + first["name"], ""
    )
    figure = make_subplots(specs=[[{"secondary_y": True}]])
    figure.add_bar(x=names, y=first["back"], name="given back", marker_color=battery.PALETTE[0])
    figure.add_bar(
        x=names, y=first["given"] - first["back"], name="lost in the first cycle", marker_color=battery.PALETTE[1]
    )
    figure.add_scatter(
        x=names,
        y=first["ice"],
        name="first-cycle efficiency",
        mode="markers",
        marker={"symbol": "diamond", "size": 10, "color": "#222222"},
        hovertemplate="Test: %{x}<br>%{y:.2f} %<extra></extra>",
        secondary_y=True,
    )
    figure.update_yaxes(title_text=f"Capacity of the first cycle / {unit}", rangemode="tozero", secondary_y=False)
    low = max(0, np.floor(first["ice"].min() / 10) * 10 - 10)
    figure.update_yaxes(
        title_text="First-cycle efficiency / %",
        range=[low, 101],
        showgrid=False,
        zeroline=False,
        tickmode="auto",
        secondary_y=True,
    )
    finished(figure, barmode="stack")
    return note(figure, without_amount(rows, amount), data, params)
