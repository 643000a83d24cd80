"""What ages: the inventory of lithium, or the material of an electrode?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import stored_results

TITLE = "Degradation modes"
NEEDS = (
    "Check-ups with a slow cycle, both half cells of the design, and the stored results of 'degradation_modes'."
)
LACKING = "No test is a check-up with a slow cycle. An RPT at C/10 or slower would do."
ANALYSES = ("degradation_modes",)


def make(facts):
    columns = (
        "LLI [%]",
        "LAM anode [%]",
        "LAM cathode [%]",
        "LLI sd [%]",
        "LAM anode sd [%]",
        "LAM cathode sd [%]",
    )
    steps, params = stored_results(
        facts, "degradation_modes", "rpt", lacking=LACKING, x="Check-up", columns=(*columns, "rms [mV]")
    )
    return Made(steps, params)


# The script of the figure
from plotly.subplots import make_subplots

MODES = {"LLI": "Lithium inventory", "LAM anode": "Anode material", "LAM cathode": "Cathode material"}


def transform(data, params):
    params = with_defaults(params)
    cells = data["chosen"].sort_values(["batch_name", "instance_name"], na_position="last")
    figure = make_subplots(cols=3, subplot_titles=list(MODES.values()), shared_yaxes=True, horizontal_spacing=0.04)
    batched = len(cells) > 8 and cells["batch_name"].notna().any()
    names = cells["batch_name"].fillna("no batch") if batched else cells["instance_name"]
    colors, named = palette(sorted(set(names))), set()
    worst, unknown = 0.0, 0
    for number, (name, (_, cell)) in enumerate(zip(names, cells.iterrows())):
        table = data["values"][cell["id"]]
        worst = max(worst, float(table["rms [mV]"].max()))
        for place, mode in enumerate(MODES, start=1):
            one = table.dropna(subset=[f"{mode} [%]"])
            unknown += len(table) - len(one)
            figure.add_scatter(
                x=one["Check-up"],
                y=one[f"{mode} [%]"],
                error_y={"type": "data", "array": one[f"{mode} sd [%]"], "thickness": 1, "width": 2},
                mode="lines+markers",
                line={"color": colors[name], "width": 1.5},
                marker={"symbol": SYMBOLS[0 if batched else (number // 8) % len(SYMBOLS)], "size": 6},
                name=name,
                legendgroup=name,
                showlegend=name not in named,
                hovertext=f"Cell: {cell['instance_name']}",
                hovertemplate=f"{cell['instance_name']}, check-up %{{x}}: %{{y:.2f}} %<extra></extra>",
                row=1,
                col=place,
            )
            named.add(name)
    last = max((max(trace.x) for trace in figure.data if len(trace.x)), default=0)
    figure.update_xaxes(title_text="Check-up", dtick=max(1, round(last / 5)), range=[-0.3, last + 0.3])
    figure.update_yaxes(title_text="Loss / %", col=1)
    figure.update_annotations(font_size=14)
    finished(figure, margin={"t": 50})
    gaps = "; gaps: the fit does not know the loss of that electrode" if unknown else ""
    return note(figure, f"largest residual of a fit: {worst:.1f} mV{gaps}", data, params, over=22)
