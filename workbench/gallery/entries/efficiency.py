"""Which cells lose least in each cycle: what are their coulombic and energy efficiencies?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import RATE, Reads, choice, chosen_tests, drawable, summary, with_tests

TITLE = "Efficiency"
NEEDS = "Tests with several complete cycles."
LACKING = "No test repeats a cycle. Ingest an ageing, a rate or a formation test."


READS = Reads(
    "cycles",
    ("Cycle count", "Coulombic efficiency", "Energy efficiency", "Complete"),
    ("Cycle duration [s]", "Discharge capacity [A.h]", "Cycle in life", *RATE),
    of_any=True,
)


def make(facts):
    ageing = facts.tests("ageing")
    liked = ageing or facts.tests("formation", "rate") or facts.cycled
    tests = drawable(facts, liked, LACKING, READS)
    steps, params = chosen_tests(facts, tests, "ageing" if ageing else "")
    steps["cycles"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "cycles", complete=True)
    shown = {"CE": "coulombic", "EE": "energy", "VE": "voltage"}
    if "Cycle duration [s]" in READS.columns(facts, tests):
        shown["CIE"] = "coulombic inefficiency per hour"
    params["quantity"] = choice("Efficiency", "CE", shown)
    mean = {"label": "Running mean over", "description": "Cycles; 1 draws each cycle as it is."}
    params["mean"] = {"kind": "view", "default": 1, "control": {**mean, "min": 1, "max": 31, "step": 2}}
    params["zoom"] = {"kind": "view", "default": True, "control": {"label": "Show the middle 90 %"}}
    return Made(steps, params)


# The script of the figure
FIRST, APART = "first of a test", "apart from both neighbours"


def reasons(rows):
    """Of each cycle why no curve goes through it; an empty text for most."""
    why = off_course(rows)
    for _, one in rows.groupby("measurement_id"):
        one = one.sort_values("Cycle count")
        apart = battery.stands_apart(one["Coulombic efficiency"], least=0.0001)
        why.loc[one.index[apart & (why.loc[one.index] == "").to_numpy()]] = APART
        if why[one.index[0]] == "":  # it began in the state in which the cell came
            why[one.index[0]] = FIRST
    return why


def transform(data, params):
    params = with_defaults(params)
    rows = data["rows"].dropna(subset=["Coulombic efficiency"])
    known = len(rows)
    rows = rows[rows["Coulombic efficiency"].between(0.2, 2)]
    none = not_drawn(data["chosen"], rows["measurement_id"], "no complete cycle with an efficiency")
    if rows.empty:
        return battery.message("No complete cycle to draw. Choose other cells.")
    ce, ee = rows["Coulombic efficiency"], rows["Energy efficiency"]
    hours = rows["Cycle duration [s]"] / 3600 if "Cycle duration [s]" in rows else np.nan
    value, title = {
        "CE": (100 * ce, "Coulombic efficiency / %"),
        "EE": (100 * ee, "Energy efficiency / %"),
        "VE": (100 * ee / ce, "Voltage efficiency / %"),
        "CIE": (1e6 * (1 - ce) / hours, "Coulombic inefficiency / ppm h⁻¹"),
    }[params["quantity"]]
    x_title = "Cycle count"
    along = along_life(rows)
    if along is not rows:
        x_title = "Cycle in the life of the cell"
    rows = rows.assign(value=value, degrees=degrees_of(rows).round(0), x=along["Cycle count"])
    unknown = without(rows, rows["value"], f"no {title.split(' /')[0].lower()}")
    rows = rows.dropna(subset=["value"])
    if rows.empty:
        return battery.message(f"No chosen cell has a {title.split(' /')[0].lower()}. Choose others.", unmet=True)
    rows["why"] = reasons(rows)
    cells = sorted(rows["instance_name"].unique())
    batched = rows["batch_name"].notna().any() and len(cells) > 8
    rows["group"] = rows["batch_name"].fillna("no batch") if batched else rows["instance_name"]
    groups = sorted(rows["group"].unique())
    colors, heats = palette(groups), sorted(rows["degrees"].dropna().unique())
    # Of more groups than colours the dash distinguishes those of one colour; their temperature is in their names.
    dashes = dict(zip(heats, DASHES * 10)) if len(groups) <= len(battery.PALETTE) else {}
    turns = {group: DASHES[number // len(battery.PALETTE) % 4] for number, group in enumerate(groups)}
    apart, course = rows[rows["why"] != ""], rows[rows["why"] == ""]
    figure, named = go.Figure(), set()
    for (group, degrees, test), one in course.groupby(["group", "degrees", "measurement_id"], dropna=False):
        one = one.sort_values("Cycle count")
        name = f"{group}, {degrees:g} °C" if degrees == degrees else str(group)
        style = {"x": one["x"], "name": name, "legendgroup": name}
        style["hovertext"] = f"Cell: {one['instance_name'].iloc[0]}"
        style["hovertemplate"] = f"{one['instance_name'].iloc[0]}, cycle %{{x}}: %{{y:.6g}}<extra></extra>"
        if params["mean"] > 1:
            dots = {"color": battery.pale(colors[group], 0.4), "size": 4}
            figure.add_scatter(y=one["value"], mode="markers", marker=dots, showlegend=False, **style)
        figure.add_scatter(
            y=one["value"].rolling(params["mean"], center=True, min_periods=1).mean(),
            mode="lines" if len(one) > 40 else "lines+markers",
            line={"color": colors[group], "dash": dashes.get(degrees, turns[group]), "width": 1.5},
            marker={"size": 5},
            showlegend=name not in named,
            **style,
        )
        named.add(name)
    for group, one in apart.groupby("group"):
        open_marks(figure, one, colors[group], str(group), "cycle")
    out = rows.iloc[:0]
    if params["zoom"] and len(course) > 20:
        low, high = course["value"].quantile([0.05, 0.95])
        spread = max(high - low, 1e-4 * abs(high), 1e-6)
        low, high = low - 0.5 * spread, high + 0.5 * spread
        figure.update_yaxes(range=[low, high])
        out = rows[~rows["value"].between(low, high)]
    figure.update_xaxes(title_text=x_title)
    figure.update_yaxes(title_text=title)
    finished(figure)
    ends = name_ends(figure)
    every = (of_chosen(data, "cycles"), data["rows"])
    lost = incomplete(*(one.dropna(subset=["Coulombic efficiency"]) for one in every))
    marks = f"open marks: {whys(apart['why'])}" if len(apart) else ""
    most = out["instance_name"].value_counts()
    beyond = f"{len(out)} cycles are beyond the range, {most.iloc[0]} of {most.index[0]}" if len(out) else ""
    mean = f"running mean over {params['mean']} cycles, points: each cycle" if params["mean"] > 1 else ""
    middle = rows["Coulombic efficiency"].groupby(rows["instance_name"]).median()
    far = [str(cell) for cell in middle.index[(middle > 1.001) | (middle < 0.95)]]
    more = f" and {len(far) - 3} more" if len(far) > 3 else ""
    half = "above 100 %, or far below: a half cell, whose efficiency is the inverse, or a charge of another cycle"
    half = f"{', '.join(far[:3])}{more}: {half}" if far else ""
    few = f"{known - len(ce)} cycles are not between 20 and 200 %" if known > len(ce) else ""
    said = (
        "the last digits depend on the accuracy of the cycler",
        mean,
        marks,
        beyond,
        few,
        half,
        none,
        lost,
        unknown,
        odd_degrees(rows),
        ends,
    )
    return note(figure, "; ".join(text for text in said if text), data, params)
