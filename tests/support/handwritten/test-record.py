from plotly.subplots import make_subplots

from workbench import battery

SHADES = {"discharge": "#D55E00", "charge": "#0072B2"}
MOST_SHADES = 300


def stretches(steps):
    """Runs of steps of one direction: start and end in s, and the direction; of rests it is empty."""
    out, into = steps["Discharge capacity [A.h]"], steps["Charge capacity [A.h]"]
    direction = np.where(out > into, "discharge", np.where(into > out, "charge", ""))
    direction = np.where(steps["Step type"] == "Rest", "", direction)
    run = (pd.Series(direction) != pd.Series(direction).shift()).cumsum().to_numpy()
    runs = steps.assign(direction=direction, run=run).groupby("run")
    return runs.agg(start=("Start time [s]", "min"), end=("End time [s]", "max"), direction=("direction", "first"))


def transform(data, params):
    fig = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.62, 0.38])
    if data["test"].empty or not data["samples"]:
        return battery.message("No test to draw. Choose one that has samples.")
    test = data["test"].iloc[0]
    samples = data["samples"][test["id"]]
    hours = samples["Time [s]"] / 3600
    for row, column, color in ((1, "Voltage [V]", "#222222"), (2, "Current [A]", "#222222")):
        fig.add_scatter(
            x=hours,
            y=samples[column],
            mode="lines",
            line={"color": color, "width": 1.2},
            name=column,
            showlegend=False,
            hovertemplate="%{x:.3f} h: %{y:.4g}<extra></extra>",
            row=row,
            col=1,
        )
        fig.update_yaxes(title_text=battery.axis_title(column), row=row)
    if params["shade"]:
        shown = stretches(data["steps"])
        shown = shown[(shown["end"] >= samples["Time [s]"].min()) & (shown["start"] <= samples["Time [s]"].max())]
        shown = shown[shown["direction"] != ""]
        drawn = shown if len(shown) <= MOST_SHADES else shown.head(0)
        shapes = []  # given to the figure at once: plotly copies all shapes for each that is added
        for direction, color in SHADES.items():
            rows = drawn[drawn["direction"] == direction]
            for _, one in rows.iterrows():
                place = {"type": "rect", "xref": "x", "yref": "paper", "y0": 0, "y1": 1}
                ends = {"x0": one["start"] / 3600, "x1": one["end"] / 3600}
                fill = {"fillcolor": battery.pale(color, 0.14), "line": {"width": 0}, "layer": "below"}
                shapes.append({**place, **ends, **fill})
            swatch = {"symbol": "square", "size": 12, "color": battery.pale(color, 0.35)}
            if len(rows):
                fig.add_scatter(x=[None], y=[None], mode="markers", marker=swatch, name=direction, row=1, col=1)
        fig.update_layout(shapes=shapes)
        if len(shown) > MOST_SHADES:
            said = f"{len(shown)} charges and discharges: shaded when at most {MOST_SHADES} are shown"
            grey = {"symbol": "square", "size": 12, "color": "#BBBBBB"}
            fig.add_scatter(x=[None], y=[None], mode="markers", marker=grey, name=said, row=1, col=1)
    fig.update_xaxes(title_text="Time / h", row=2)
    began = "" if pd.isna(test["start_time"]) else f", began {test['start_time']:%Y-%m-%d}"
    title = {"text": test["name"] + began, "xref": "paper", "x": 0, "xanchor": "left", "y": 1, "yref": "paper"}
    fig.add_annotation(title | {"yanchor": "bottom", "yshift": 4, "showarrow": False})
    fig.update_layout(
        template=battery.template(),
        margin={"t": 30},
        legend=battery.legend(),
    )
    return fig
