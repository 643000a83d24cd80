"""How much charge was lost in the first cycles?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, chosen_tests, drawable, per, summary, with_tests

TITLE = "First-cycle loss"
NEEDS = "Formation tests, from the first charge of a new cell."
LACKING = "No test is a formation. Ingest the first cycles of new cells, or give their tests the tag 'formation'."


READS = Reads("cycles", ("Cycle count", "Discharge capacity [A.h]", "Charge capacity [A.h]", "Complete"))
FLOWS = ("Step count", "Cycle count", "Discharge capacity [A.h]", "Charge capacity [A.h]")


def make(facts):
    tests = drawable(facts, facts.tests("formation"), LACKING, READS)
    steps, params = chosen_tests(facts, tests, "formation")
    steps["cycles"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "cycles")
    stepped = [one for one in tests if len(facts.shared([one.id], "steps", FLOWS)) == len(FLOWS)]
    if stepped:
        steps["steps"] = summary(facts, stepped, Reads("steps", FLOWS))
    if stepped and len(stepped) < len(tests):  # a table of cycles has no steps, and takes none from the others
        same = {"op": "join", "left": "chosen", "right": "tests", "on": {"left": "id", "right": "id"}}
        read = steps.pop("steps")
        steps["stepped"] = {**same, "fields": ["name"], "where": {"id": [one.id for one in stepped]}}
        steps["steps"] = {**read, "ids": {"from": "stepped", "column": "id"}}
    return Made(steps, {**params, **per(facts)})


# The script of the figure
from plotly.subplots import make_subplots


def begun_with_discharge(steps, least):
    """The tests whose first half cycle that passes ``least`` A h is a discharge, as that of an electrode against
    lithium."""
    found = set()
    for test, rows in steps.sort_values("Step count").groupby("measurement_id"):
        flow = (rows["Discharge capacity [A.h]"] - rows["Charge capacity [A.h]"]).fillna(0)
        flow = flow[flow != 0]
        halves = flow.groupby((np.sign(flow).diff().fillna(0) != 0).cumsum()).sum()
        halves = halves[halves.abs() > least[test]]
        found |= {test} if len(halves) and halves.iloc[0] > 0 else set()
    return found


def first_cycles(rows, steps):
    """The first cycle of each test with the charge that went in and that came back, in A h, and why it gives no loss:
    an empty text where it does."""
    flows = ["Charge capacity [A.h]", "Discharge capacity [A.h]"]
    most = rows[flows].max(axis=1)
    largest = most.groupby(rows["measurement_id"]).max()
    # A short pulse or a rest before the first charge is not the first cycle.
    rows = rows[most > 0.05 * rows["measurement_id"].map(largest)].sort_values("Cycle count")
    first = rows.groupby("measurement_id", sort=False).head(1)
    out_first = first["measurement_id"].isin(begun_with_discharge(steps, 0.05 * largest))
    charge, discharge = (first[name].fillna(0) for name in flows)
    first = first.assign(into=charge.where(~out_first, discharge), back=discharge.where(~out_first, charge))
    why = pd.Series("", first.index)
    why[first["back"] > first["into"]] = "more came back than went in, as of a cell that came charged"
    why[~first["Complete"].fillna(True).astype(bool) | (first["back"] <= 0)] = "the first cycle is not complete"
    why[~first.index.isin(not_excluded(first).index)] = "the first cycle is excluded"
    return first.assign(why=why, out_first=out_first)


def transform(data, params):
    params = with_defaults(params)
    rows, base = data["rows"].dropna(subset=["Cycle count"]), params.get("per", "cell")
    if rows.empty:
        return battery.message("The chosen tests have no cycles. Choose others.", unmet=True)
    no_steps = pd.DataFrame(columns=["measurement_id", "Step count"])
    every = first_cycles(rows, data.get("steps", no_steps))
    of_tests = every["name"].where(every["instance_name"].duplicated(keep=False), every["instance_name"])
    said = []
    if none := not_drawn(data["chosen"], every["measurement_id"], "no cycles"):
        said.append(none)
    for why, names in of_tests.groupby(every["why"].mask(every["why"] == "")):
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        said.append(f"left out: {', '.join(names[:5])}{more} ({why})")
    first = every[every["why"] == ""]
    if first.empty:
        return battery.message(f"No chosen test shows a first-cycle loss; {'; '.join(said)}.", unmet=True)
    if first["out_first"].any():
        said.append(
            f"first the discharge, as of a half cell: {', '.join(of_tests[first.index][first['out_first']][:5])}"
        )
    amount = amount_of(first, base)
    factor, unit = capacity_unit(base, first["into"])
    said.append(without_amount(first, amount))
    first = first.assign(
        given=factor * first["into"] / amount,
        back=factor * first["back"] / amount,
        ice=100 * first["back"] / first["into"],
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
    finished(figure, barmode="stack").update_xaxes(bar_names(names, 40))
    return note(figure, "; ".join(text for text in said if text), data, params)
