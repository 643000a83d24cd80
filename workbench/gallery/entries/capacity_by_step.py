"""How much of the charge comes at constant current, and how much at constant voltage?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, choice, chosen_tests, drawable, per, summary, with_tests

TITLE = "Capacity by step"
NEEDS = "Tests with several cycles."
LACKING = "No test has cycles. Ingest a cycler file."


READS = Reads(
    "steps", ("Step count", "Cycle count", "Step type", "Discharge capacity [A.h]", "Charge capacity [A.h]")
)


def make(facts):
    liked = facts.tests("ageing") or facts.tests("rate", "formation", "rpt") or facts.tests()
    tests = drawable(facts, liked, LACKING, READS)
    steps, params = chosen_tests(facts, tests, most=1, by="name")
    steps["steps"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "steps")
    params["direction"] = choice("Direction", "charge", {"charge": "charge", "discharge": "discharge"})
    params["share"] = {"kind": "view", "default": False, "control": {"label": "As a share of the cycle"}}
    return Made(steps, {**params, **per(facts)})


# The script of the figure
KINDS = {"Constant current": "constant current", "Constant voltage": "constant voltage"}


def part_of(word):
    return next((name for start, name in KINDS.items() if str(word).startswith(start)), "other")


def transform(data, params):
    params = with_defaults(params)
    direction = params["direction"]
    column = "Charge capacity [A.h]" if direction == "charge" else "Discharge capacity [A.h]"
    rows = not_excluded(data["rows"])
    rows = rows[rows[column] > 0]
    if rows.empty:
        return battery.message(f"The chosen tests have no {direction}. Choose others.")
    base = "cell" if params["share"] else params.get("per", "cell")
    amount = amount_of(rows, base)
    if unknown := no_amount(amount, base):
        return unknown
    lost = without_amount(rows, amount)
    none = not_drawn(data["chosen"], rows["measurement_id"], f"no {direction}")
    rows, amount = rows[amount.notna()], amount.dropna()
    factor, unit = capacity_unit(base, rows[column])
    names = dict(zip(data["chosen"]["id"], called(data["chosen"])))
    rows = rows.assign(part=rows["Step type"].map(part_of), value=factor * rows[column] / amount)
    rows["name"] = rows["measurement_id"].map(names)
    several = rows["measurement_id"].nunique() > 1
    sums = rows.groupby(["name", "Cycle count", "part"])["value"].sum().unstack(fill_value=0)
    title = f"{direction.capitalize()} capacity / {unit}"
    if params["share"]:
        sums, title = 100 * sums.div(sums.sum(axis=1), axis=0), f"Share of the {direction} / %"
    figure = go.Figure()
    colors = {"constant current": battery.PALETTE[0], "constant voltage": battery.PALETTE[1], "other": "#999999"}
    for part in [part for part in colors if part in sums]:
        names, cycles = (sums.index.get_level_values(level) for level in ("name", "Cycle count"))
        figure.add_bar(
            x=[names, cycles] if several else cycles,
            y=sums[part],
            name=part,
            marker={"color": colors[part], "line": {"width": 0}},
            hovertemplate="cycle %{x}: %{y:.4g}<extra>" + part + "</extra>",
        )
    figure.update_xaxes(title_text="Cycle count")
    figure.update_yaxes(title_text=title, rangemode="tozero")
    finished(figure, showlegend=True, barmode="stack", bargap=0 if len(sums) > 60 else 0.1)
    # A step that goes on at constant voltage after its constant current is neither.
    other = sums["other"].sum() / sums.to_numpy().sum() if "other" in sums else 0
    mixed = "other: steps that are not wholly at constant current or at constant voltage" if other > 0.02 else ""
    said = ("" if several else rows["name"].iloc[0], mixed, none, lost)
    return note(figure, "; ".join(text for text in said if text), data, params)
