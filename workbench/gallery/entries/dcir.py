"""How large is the resistance at each state of charge, and how does it change with age?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, choice, chosen_tests, drawable, per_area, summary, with_tests

TITLE = "Resistance by state of charge"
NEEDS = "Tests with pulses after a rest of 5 min: HPPC, or check-ups with pulses."
LACKING = "No test has pulses after a rest of 5 min. HPPC or GITT would do."


READS = Reads(
    "steps",
    (
        "Step count",
        "Step type",
        "Duration [s]",
        "Mean current [A]",
        "Discharge capacity [A.h]",
        "Charge capacity [A.h]",
        "Resistance at 10 s [Ohm]",
    ),
    ("Onset gap [s]", "Cycle count", "Mean temperature [degC]"),
)


def make(facts):
    liked = facts.tests("hppc") or facts.tests("pulses", "rpt", "gitt")
    tests = drawable(facts, liked, LACKING, READS)
    steps, params = chosen_tests(facts, tests, by="name", most=8)
    steps["steps"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "steps")
    params["direction"] = choice("Pulses", "both", {"both": "both", "discharge": "discharge", "charge": "charge"})
    return Made(steps, {**params, **per_area(facts)})


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    rows = data["rows"]
    base = params.get("per", "cell")
    factor, unit = ohm_unit(base, rows["Resistance at 10 s [Ohm]"])
    figure = go.Figure()
    tests = data["chosen"].sort_values("start_time", na_position="last")
    tests = tests.assign(name=called(tests))
    colors = distinct(list(tests["id"]))
    late, lost, heats = [], "", []
    short, several, wholes = [], [], {}
    for _, test in tests.iterrows():
        steps = rows[rows["measurement_id"] == test["id"]].sort_values("Step count")
        passed = (steps["Discharge capacity [A.h]"] - steps["Charge capacity [A.h]"]).fillna(0)
        level = passed.cumsum()
        fullest = min(level.min(), 0)
        spread = level.max() - fullest
        rated = float(rated_of(steps).iloc[0]) if len(steps) else np.nan
        if spread < 0.5 * rated:
            spread, short = rated, [*short, test["name"]]
        else:
            wholes[test["name"]] = spread
        rest = steps["Step type"].eq("Rest") * steps["Duration [s]"]
        soaked = rest.shift(fill_value=0) >= 300
        pulses = steps["Duration [s]"].le(120) & steps["Resistance at 10 s [Ohm]"].notna()
        found = steps.assign(soc=100 * (1 - (level - passed - fullest) / spread), soaked=soaked)[pulses]
        found = not_excluded(found, test["id"])
        if found.empty:
            continue
        amount = amount_of(found, base)
        lost = lost or without_amount(found, amount)
        found = found.assign(value=factor * found["Resistance at 10 s [Ohm]"] * amount)
        late += [test["name"]] if "Onset gap [s]" in found and (found["Onset gap [s]"] > 1).any() else []
        heats += found["Mean temperature [degC]"].dropna().tolist() if "Mean temperature [degC]" in found else []
        out = found["Mean current [A]"] > 0
        for direction, group in (("discharge", found[out]), ("charge", found[~out])):
            if params["direction"] not in ("both", direction) or group.empty:
                continue
            # Resistance depends on the current: a line joins pulses of one current, each within 10 % of the next.
            size = group["Mean current [A]"].abs().sort_values()
            level = (size.diff() > 0.1 * size).cumsum()
            several += [test["name"]] if level.max() and test["name"] not in several else []
            for _, one in group.groupby(level):
                one = one.sort_values("soc")
                figure.add_scatter(
                    x=one["soc"],
                    y=one["value"],
                    mode="lines+markers",
                    name=test["name"],
                    legendgroup=test["id"],
                    showlegend=not any(trace.legendgroup == test["id"] for trace in figure.data),
                    line={"color": colors[test["id"]], "dash": "solid" if direction == "discharge" else "dot"},
                    marker={"size": 7, "symbol": "circle" if direction == "discharge" else "circle-open"},
                    customdata=[[current, direction, spread] for current in one["Mean current [A]"]],
                    hovertemplate="%{x:.0f} %: %{y:.4g}<br>Current: %{customdata[0]:.3g} A<br>Pulse: %{customdata[1]}"
                    "<br>Charge of 100 %: %{customdata[2]:.3g} A h<extra>%{fullData.name}</extra>",
                )
    if not figure.data:
        return battery.message("The chosen tests have no pulse of 10 s after a rest. Choose others.", unmet=True)
    charge_axis(figure)
    figure.update_yaxes(title_text=f"Resistance after 10 s / {unit}", rangemode="tozero")
    finished(figure)
    ends = name_ends(figure)
    gap = f"first sample of a pulse later than 1 s in {', '.join(late[:3])}" if late else ""
    drawn = {trace.customdata[0][1] for trace in figure.data}
    dashes = "solid: discharge, dotted: charge" if len(drawn) > 1 else f"pulses of {min(drawn)}"
    way = "" if params["direction"] == "both" else f"{params['direction']} "
    few = f"less than half of the rated charge passed, full before it: {', '.join(short[:3])}" if short else ""
    currents = f"a line for each current: {', '.join(several[:3])}" if several else ""
    # A slow cycle in the same test makes 100 % more than what a fast one passes.
    wholes = [wholes[trace.name] for trace in figure.data if trace.name in wholes]
    size, charge = capacity_unit("cell", wholes)
    between = " to ".join(dict.fromkeys(f"{size * one:.3g}" for one in sorted(wholes)[:: max(len(wholes) - 1, 1)]))
    whole = f"100 %: the fullest moment of a test, {between} {charge} above the emptiest" if wholes else ""
    none = not_drawn(tests, {trace.legendgroup for trace in figure.data}, f"no {way}pulse of 10 s after a rest")
    warm = f"pulses at {min(heats):.3g} to {max(heats):.3g} °C" if heats and max(heats) - min(heats) > 2 else ""
    said = (dashes, whole, currents, warm, few, gap, none, lost, ends)
    return note(figure, "; ".join(text for text in said if text), data, params)
