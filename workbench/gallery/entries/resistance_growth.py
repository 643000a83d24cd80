"""How did the resistance grow with use?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, choice, chosen_tests, drawable, per_area, summary, with_tests

TITLE = "Growth of resistance"
NEEDS = "Pulses at several ages of a cell: repeated HPPC, or check-ups with pulses."
LACKING = "No test has pulses after a rest of 5 min. Check-ups (RPT) with a pulse, or HPPC, would do."


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
    ("Time in life [d]", "Capacity throughput in life [A.h]", "Cycle count", "Mean temperature [degC]"),
    of_any=True,
)


def make(facts):
    tests = drawable(facts, facts.tests("hppc", "pulses", "rpt"), LACKING, READS)
    steps, params = chosen_tests(facts, tests)
    steps["steps"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "steps")
    label = {"label": "State of charge / %", "min": 5, "max": 95, "step": 5}
    params["soc"] = {"kind": "view", "default": 50, "control": label}
    params["over"] = choice("Over", "time", {"time": "time", "throughput": "charge throughput"})
    options = [{"value": "growth", "label": "over the first / %"}, {"value": "value", "label": "its value"}]
    params["relative"] = {
        "kind": "view",
        "default": "growth",
        "control": {"label": "Resistance", "options": options},
    }
    return Made(steps, {**params, **per_area(facts)})


# The script of the figure
def of_test(steps, soc):
    """The discharge resistance of a test nearest to a state of charge, in % of the charge in the test."""
    pulses = steps["Duration [s]"].le(120) & steps["Resistance at 10 s [Ohm]"].notna() & steps["counted"]
    pulses &= steps["Mean current [A]"] > 0
    if not pulses.any():
        return None
    passed = (steps["Discharge capacity [A.h]"] - steps["Charge capacity [A.h]"]).fillna(0)
    level = passed.cumsum()
    spread = level.max() - min(level.min(), 0)
    state = 100 * (1 - (level - passed - min(level.min(), 0)) / spread) if spread > 0 else level * np.nan
    at = (state[pulses] - soc).abs().idxmin()
    return steps.loc[at], float(state[at])


def unlike_warmth(found):
    """Words for a note on cells whose pulses are more than 2 K apart: a resistance halves in some 20 K."""
    if "Mean temperature [degC]" not in found:
        return ""
    apart = found.groupby("instance_name")["Mean temperature [degC]"].agg(np.ptp)
    apart = apart[apart > 2].sort_values(ascending=False)
    more = " ..." if len(apart) > 5 else ""
    names = f"{', '.join(apart.index[:5])}{more}"
    return f"pulses at temperatures up to {apart.max():.0f} K apart: {names}" if len(apart) else ""


def transform(data, params):
    params = with_defaults(params)
    rows = data["rows"].sort_values("Step count", kind="stable")
    rows = rows.assign(counted=rows.index.isin(not_excluded(rows).index))
    found, far = [], []
    for _, steps in rows.groupby("measurement_id", sort=False):
        one = of_test(steps, params["soc"])
        if one is not None and abs(one[1] - params["soc"]) <= 15:
            found.append({**one[0].to_dict(), "soc": one[1]})
        else:
            far.append(str(steps["name"].iloc[0]))
    if not found:
        return battery.message(
            f"No discharge pulse within 15 % of {params['soc']:g} % state of charge. Choose another one.",
            unmet=True,
        )
    found = pd.DataFrame(found)
    found["degrees"] = degrees_of(found).round(0)
    axes = {"Time in life [d]": "Time since the first test of the cell / d"} if params["over"] == "time" else {}
    axes["Capacity throughput in life [A.h]"] = "Charge throughput / A h"
    found, x_title, undated = along_ages(found, axes)
    several = found.groupby("instance_name").size()
    grown = params["relative"] == "growth"
    first = found.groupby("instance_name")["Resistance at 10 s [Ohm]"].transform("first")
    base, lost, why = params.get("per", "cell"), "", f"no discharge pulse within 15 % of {params['soc']:g} %"
    left = (
        f"left out: {', '.join(far[:4])}{f' and {len(far) - 4} more' if len(far) > 4 else ''} ({why})"
        if far
        else ""
    )
    factor, unit = ohm_unit(base, found["Resistance at 10 s [Ohm]"])
    if not grown:
        amount = amount_of(found, base)
        lost = without_amount(found, amount)
        found["value"] = factor * found["Resistance at 10 s [Ohm]"] * amount
    else:
        found["value"] = 100 * (found["Resistance at 10 s [Ohm]"] / first - 1)
        once = found["instance_name"].isin(several[several == 1].index)
        lost = without(found, found["value"].mask(once), "pulses at one age only")
        found = found[~once]
        if found.empty:
            return battery.message("Each cell has pulses at one age only. Growth needs two.", unmet=True)
    warm = unlike_warmth(found)
    found["batch"] = names_or(found["batch_name"], "no batch")
    colors = distinct(sorted(found["batch"].unique()))
    dashes = dict(zip(sorted(found["degrees"].dropna().unique()), DASHES * 10))
    figure, named = go.Figure(), set()
    for (_, _, cell), one in found.groupby(["batch", "degrees", "instance_name"], dropna=False):
        batch, degrees = one["batch"].iloc[0], one["degrees"].iloc[0]
        name = f"{batch}, {degrees:g} °C" if degrees == degrees else str(batch)
        figure.add_scatter(
            x=one["x"],
            y=one["value"],
            mode="lines+markers",
            line={"color": colors[batch], "dash": dashes.get(degrees, "solid"), "width": 1.6},
            marker={"size": 6},
            name=name,
            legendgroup=name,
            showlegend=name not in named,
            hovertext=f"Cell: {cell}",
            hovertemplate=f"{cell}: %{{y:.4g}} at %{{x:.4g}}<extra></extra>",
        )
        named.add(name)
    figure.update_xaxes(title_text=x_title, rangemode="tozero")
    figure.update_yaxes(title_text="Growth of resistance / %" if grown else f"Resistance after 10 s / {unit}")
    finished(figure)
    said = f"discharge pulses nearest to {params['soc']:g} % of the charge in the test"
    words = (said, warm, undated, left, lost, odd_degrees(found))
    return note(figure, "; ".join(text for text in words if text), data, params)
