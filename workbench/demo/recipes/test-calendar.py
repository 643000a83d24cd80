import textwrap

from workbench import battery

KINDS = {"CCCV ageing": "ageing", "RPT": "capacity check", "HPPC": "pulses", "PEIS": "impedance"}
COLORS = {
    "ageing": "#8A94A0",
    "capacity check": "#D55E00",
    "pulses": "#009E73",
    "impedance": "#CC79A7",
    "other": "#0072B2",
}


def transform(data, params):
    tests = data["tests"].dropna(subset=["start_time", "end_time"])
    tests = tests[tests["end_time"] >= pd.Timestamp(params["since"], tz="UTC")]
    if tests.empty:
        return battery.message("No test to draw: none of this name has a start and an end after the chosen day.")
    tests = tests.assign(kind=tests["protocol.name"].map(KINDS).fillna("other"))
    cells = list(dict.fromkeys(tests.sort_values(["batch_name", "instance_name"])["instance_name"]))
    fig = go.Figure()
    for kind, color in COLORS.items():
        rows = tests[tests["kind"] == kind]
        if not len(rows):
            continue
        long = kind == "ageing"
        ends = [rows[time].dt.strftime("%d %b %H:%M") for time in ("start_time", "end_time")]
        fig.add_bar(
            base=rows["start_time"],
            x=(rows["end_time"] - rows["start_time"]).dt.total_seconds() * 1000,
            y=rows["instance_name"],
            orientation="h",
            name=kind,
            width=0.28 if long else 0.7,
            marker={"color": battery.pale(color, 0.6) if long else color, "line": {"width": 0}},
            customdata=np.column_stack([rows["name"], *ends, rows["sample_count"]]),
            hovertemplate="%{customdata[0]}<br>%{customdata[1]} to %{customdata[2]}<br>"
            "%{customdata[3]} samples<extra></extra>",
        )
    caption = "<br>".join(textwrap.wrap(params["caption"] or "", 76))
    font = {"size": 12, "color": "#555555"}
    rows = {"categoryorder": "array", "categoryarray": cells[::-1], "showgrid": False, "dtick": 1}
    fig.update_layout(
        template=battery.template(),
        barmode="overlay",
        showlegend=True,
        margin={"t": 24},
        xaxis={"type": "date", "title": {"text": caption, "font": font}},
        yaxis=rows | {"tickfont": {"size": 12}},
        legend=battery.legend(),
    )
    return fig
