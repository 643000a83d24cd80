"""By which law does the fade depend on temperature?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import RATE, Reads, chosen_tests, drawable, summary, with_tests

TITLE = "Temperature law of fade"
NEEDS = "Ageing tests at three temperatures or more, with measured temperatures."
LACKING = "No test repeats a full cycle at least ten times. Ingest ageing tests at three temperatures."


READS = Reads(
    "cycles",
    ("Cycle count", "Discharge capacity [A.h]", "Complete", "Mean temperature [degC]"),
    (*RATE, "Cycle in life"),
    of_any=True,
)


def make(facts):
    tests = drawable(facts, facts.tests("ageing"), LACKING, READS)
    steps, params = chosen_tests(facts, tests, "ageing")
    steps["cycles"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "cycles", complete=True)
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    rows, partly = from_full(data["rows"].dropna(subset=["Discharge capacity [A.h]"]))
    rows, beside = of_course(rows)
    if rows["Mean temperature [degC]"].isna().all():
        return battery.message("No ageing test has a temperature. The law needs measured ones.", unmet=True)
    life, own = lives(rows)
    rows = along_life(rows.assign(life=life))
    found = []
    for _, one in rows.groupby("life"):
        one = one.sort_values("Cycle count")
        share = one["Discharge capacity [A.h]"] / one["Discharge capacity [A.h]"].iloc[0]
        slope = np.polyfit(one["Cycle count"], share, 1)[0] if len(one) >= 10 else np.nan
        heat = one["Mean temperature [degC]"].mean()
        why = "fewer than ten cycles" if slope != slope else "temperature unknown" if heat != heat else ""
        why = why or ("" if slope < 0 else "no fade")
        test = one[["instance_name", "batch_name", "name"]].iloc[0]
        rated = rated_of(one).iloc[0]
        size = rated if rated == rated else one["Discharge capacity [A.h]"].max()
        found.append({**test, "why": why, "Rate": -slope, "Temperature [degC]": heat, "size": size})
    points = pd.DataFrame(found)
    again = points["instance_name"].duplicated(keep=False)
    points["cell"] = points["instance_name"].mask(again, points["instance_name"] + ", " + points["name"])
    reasons = points.loc[points["why"] != "", "why"].unique()
    lost = "; ".join(without(points, points["why"].mask(points["why"] == why), why) for why in reasons)
    points = points[points["why"] == ""].copy()
    if points.empty:
        return battery.message("No chosen cell fades over ten complete cycles. Choose others.", unmet=True)
    points["batch"] = batches(points, points["size"])
    figure = go.Figure()
    colors = distinct(sorted(points["batch"].unique()))
    for batch, one in points.groupby("batch"):
        figure.add_scatter(
            x=1000 / (one["Temperature [degC]"] + 273.15),
            y=100 * one["Rate"],
            mode="markers",
            marker={"size": 9, "color": colors[batch]},
            text=one["cell"],
            customdata=one["Temperature [degC]"],
            name=str(batch),
            hovertemplate="Cell: %{text}<br>Temperature: %{customdata:.1f} °C<br>%{y:.3g} % per cycle<extra></extra>",
        )
    laws, refused = [], {}
    for batch, one in points.groupby("batch"):
        law = battery.arrhenius(one).iloc[0]
        bare = law["Ea [kJ/mol]"] != law["Ea [kJ/mol]"]
        if bare or not law["Valid"]:
            refused.setdefault(str(law["Warning"] or "no law").rstrip("."), []).append(str(batch))
        else:
            laws.append(f"{batch}: Ea = {law['Ea [kJ/mol]']:.1f} ± {law['sd']:.1f} kJ/mol")
    why = [f"{', '.join(of)}: {words[0].lower()}{words[1:]}" for words, of in refused.items()]
    told = "; ".join(laws or (why if len(colors) > 1 else refused))
    heat = points["Temperature [degC]"]
    apart = 5 if heat.max() - heat.min() < 45 else 10
    first, last = apart * np.floor((heat.min() - 0.5) / apart), apart * np.ceil((heat.max() + 0.5) / apart)
    degrees = np.arange(first, last + 1, apart)
    figure.update_xaxes(
        title_text="Temperature / °C (axis in 1/T)",
        tickvals=1000 / (degrees + 273.15),
        ticktext=[f"{value:g}" for value in degrees],
        range=[1000 / (degrees[0] + 273.15), 1000 / (degrees[-1] + 273.15)],
    )
    figure.update_yaxes(title_text="Fade / % per cycle", **log_ticks(100 * points["Rate"]))
    finished(figure, showlegend=True)
    few = incomplete(of_chosen(data, "cycles"), data["rows"])
    there = data["rows"].dropna(subset=["Discharge capacity [A.h]"])["measurement_id"]
    none = not_drawn(data["chosen"], there, "no complete cycle")
    said = (told, none, few, beside, partly, own, lost)
    return note(figure, "; ".join(text for text in said if text), data, params)
