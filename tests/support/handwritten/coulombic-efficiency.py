import itertools

from workbench import battery

TEMPERATURE = "properties.ageing_temperature.value"
ELECTROLYTE = "properties.electrolyte"


def kept(cycles, low, high, check_every):
    """The rows in range that say something: no first cycle after a check."""
    number = cycles["Cycle count"]
    keep = number.between(low, high)
    if check_every:
        keep &= (number % check_every != 0) | (number == 0)
    return cycles[keep]


def label(cell):
    """Its name, and what is known of how it was aged."""
    parts = [cell["instance_name"]]
    parts += [f"{cell[TEMPERATURE]:g} °C"] if pd.notna(cell[TEMPERATURE]) else []
    return ", ".join(parts + ([cell[ELECTROLYTE]] if pd.notna(cell[ELECTROLYTE]) else []))


def transform(data, params):
    low, high = params["cycles"]
    rows = kept(data["efficiency"], low, high, params["check_every"])
    if rows.empty:
        return battery.message(
            "No complete cycles to draw. Choose cells that have a test with '_ageing' in its name."
        )
    fig = go.Figure()
    cells = rows.drop_duplicates("measurement_id")
    for color, (_, cell) in zip(itertools.cycle(battery.PALETTE), cells.iterrows()):
        mine = rows[rows["measurement_id"] == cell["measurement_id"]]
        percent = 100 * mine["Coulombic efficiency"]
        name = label(cell)
        smoothed = params["mean"] > 1
        fig.add_scatter(
            x=mine["Cycle count"],
            y=percent,
            mode="markers",
            name=name,
            legendgroup=name,
            showlegend=not smoothed,
            marker={"color": battery.pale(color, 0.4 if smoothed else 1), "size": 4},
            hovertemplate=f"{cell['instance_name']}, cycle count %{{x}}: %{{y:.3f}} %<extra></extra>",
        )
        if smoothed:
            fig.add_scatter(
                x=mine["Cycle count"],
                y=percent.rolling(params["mean"], center=True, min_periods=1).mean(),
                mode="lines",
                name=name,
                legendgroup=name,
                line={"color": color},
                hoverinfo="skip",
            )
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis={"title": {"text": "Cycle count"}},
        yaxis={"title": {"text": "Coulombic efficiency / %"}, "tickformat": ".2f"},
        legend=battery.legend(),
    )
    return fig
