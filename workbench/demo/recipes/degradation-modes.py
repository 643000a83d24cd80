import itertools

from plotly.subplots import make_subplots

from workbench import battery

TEMPERATURE = "properties.ageing_temperature.value"
MODES = {
    "LLI [%]": "Lithium<br>inventory",
    "LAM anode [%]": "Anode<br>material",
    "LAM cathode [%]": "Cathode<br>material",
}


def transform(data, params):
    fig = make_subplots(
        cols=3, subplot_titles=list(MODES.values()), shared_yaxes=params["same_scale"], horizontal_spacing=0.06
    )
    cells = data["chosen"].sort_values("instance_name")
    if cells.empty:
        return battery.message("No losses to draw. Choose cells with an analysis of the type 'lam_lli_from_rpt'.")
    for color, (_, cell) in zip(itertools.cycle(battery.PALETTE), cells.iterrows()):
        table = data["modes"][cell["id"]]
        name = cell["instance_name"] + (f", {cell[TEMPERATURE]:g} °C" if pd.notna(cell[TEMPERATURE]) else "")
        for place, mode in enumerate(MODES, start=1):
            fig.add_scatter(
                x=table["Ageing cycles"],
                y=table[mode],
                mode="lines+markers",
                name=name,
                legendgroup=name,
                showlegend=place == 1,
                line={"color": color},
                hovertemplate=f"{name}, after %{{x}} cycles: %{{y:.2f}} %<extra></extra>",
                row=1,
                col=place,
            )
    fig.update_xaxes(title={"text": "Ageing cycles", "font": {"size": 13}}, dtick=40)
    fig.update_yaxes(rangemode="tozero")
    fig.update_yaxes(title_text="Loss / %", col=1)
    fig.update_annotations(font_size=13)  # on two lines: beside each other on a telephone
    fig.update_layout(
        template=battery.template(),
        margin={"t": 48},
        legend=battery.legend(),
    )
    return fig
