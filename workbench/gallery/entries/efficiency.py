"""Which cells lose least in each cycle: what are their coulombic and energy efficiencies?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, choice, chosen_tests, drawable, summary, with_tests

TITLE = "Efficiency"
NEEDS = "Tests with several complete cycles."
LACKING = "No test repeats a cycle. Ingest an ageing, a rate or a formation test."


READS = Reads(
    "cycles", ("Cycle count", "Coulombic efficiency", "Energy efficiency", "Cycle duration [s]", "Complete")
)


def make(facts):
    ageing = facts.tests("ageing")
    tests = drawable(facts, ageing or facts.tests("formation", "rate"), LACKING, READS)
    steps, params = chosen_tests(facts, tests, "ageing" if ageing else "")
    steps["cycles"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "cycles", complete=True)
    shown = {"CE": "coulombic", "EE": "energy", "VE": "voltage", "CIE": "coulombic inefficiency per hour"}
    params["quantity"] = choice("Efficiency", "CE", shown)
    mean = {"label": "Running mean over", "description": "Cycles; 1 draws each cycle as it is."}
    params["mean"] = {"kind": "view", "default": 1, "control": {**mean, "min": 1, "max": 31, "step": 2}}
    params["zoom"] = {"kind": "view", "default": True, "control": {"label": "Show the middle 90 %"}}
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    rows = data["rows"].dropna(subset=["Coulombic efficiency"])
    rows = rows[rows["Coulombic efficiency"].between(0.2, 2)]
    if rows.empty:
        return battery.message("No complete cycle to draw. Choose other cells.")
    ce, ee = rows["Coulombic efficiency"], rows["Energy efficiency"]
    hours = rows["Cycle duration [s]"] / 3600
    value, title = {
        "CE": (100 * ce, "Coulombic efficiency / %"),
        "EE": (100 * ee, "Energy efficiency / %"),
        "VE": (100 * ee / ce, "Voltage efficiency / %"),
        "CIE": (1e6 * (1 - ce) / hours, "Coulombic inefficiency / ppm h⁻¹"),
    }[params["quantity"]]
    rows = rows.assign(value=value, degrees=degrees_of(rows).round(0)).dropna(subset=["value"])
    cells = sorted(rows["instance_name"].unique())
    batched = rows["batch_name"].notna().any() and len(cells) > 8
    rows["group"] = rows["batch_name"].fillna("no batch") if batched else rows["instance_name"]
    colors = palette(sorted(rows["group"].unique()))
    dashes = dict(zip(sorted(rows["degrees"].dropna().unique()), DASHES * 10))
    low, high = -np.inf, np.inf
    if params["zoom"] and len(rows) > 20:
        low, high = rows["value"].quantile([0.05, 0.95])
        spread = max(high - low, 1e-6)
        low, high = low - 0.5 * spread, high + 0.5 * spread
    rows["seen"] = rows["value"].where(rows["value"].between(low, high))
    out = int(rows["seen"].isna().sum())
    figure, named = go.Figure(), set()
    for (group, degrees, test), one in rows.groupby(["group", "degrees", "measurement_id"], dropna=False):
        one = one.sort_values("Cycle count")
        name = f"{group}, {degrees:g} °C" if degrees == degrees else str(group)
        style = {"x": one["Cycle count"], "name": name, "legendgroup": name}
        style["hovertemplate"] = f"{one['instance_name'].iloc[0]}, cycle %{{x}}: %{{y:.6g}}<extra></extra>"
        if params["mean"] > 1:
            dots = {"color": battery.pale(colors[group], 0.4), "size": 4}
            figure.add_scatter(y=one["seen"], mode="markers", marker=dots, showlegend=False, **style)
        figure.add_scatter(
            y=one["seen"].rolling(params["mean"], center=True, min_periods=1).mean().where(one["seen"].notna()),
            mode="lines" if len(one) > 40 else "lines+markers",
            line={"color": colors[group], "dash": dashes.get(degrees, "solid"), "width": 1.5},
            marker={"size": 5},
            showlegend=name not in named,
            **style,
        )
        named.add(name)
    if high < np.inf:
        figure.update_yaxes(range=[low, high])
    figure.update_xaxes(title_text="Cycle count")
    figure.update_yaxes(title_text=title)
    finished(figure)
    beyond = f"; {out} cycles are beyond the range" if out else ""
    mean = f"; running mean over {params['mean']} cycles, points: each cycle" if params["mean"] > 1 else ""
    middle = ce.groupby(rows["instance_name"]).median()
    far = [str(cell) for cell in middle.index[(middle > 1.01) | (middle < 0.95)]]
    half = f"; {', '.join(far[:3])}: far from 100 %, a half cell, or a charge of another cycle" if far else ""
    return note(figure, f"The last digits depend on the accuracy of the cycler{mean}{beyond}{half}.")
