"""Can the impedance spectra be trusted?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import stored_results
from workbench.gallery.tests_plan import NO_SPECTRUM

TITLE = "Kramers-Kronig test"
NEEDS = "Impedance spectra, and the stored results of 'kk'."
ANALYSES = ("kk",)


def make(facts):
    columns = ("Residual real", "Residual imaginary", "Spectrum", "Voltage [V]")
    steps, params = stored_results(
        facts, "kk", "eis", lacking=NO_SPECTRUM, x="Frequency [Hz]", columns=columns, by="measurement_name", most=3
    )
    return Made(steps, params)


# The script of the figure
from plotly.subplots import make_subplots


def transform(data, params):
    params = with_defaults(params)
    figure = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.06)
    curves = []
    chosen = data["chosen"].sort_values("start_time", na_position="last")
    tests = chosen.assign(measurement_name=called(chosen, "measurement_name"))
    for _, test in tests.iterrows():
        spectra = data["values"][test["id"]].groupby("Spectrum")
        for _, one in spectra:
            name = of_spectrum(test["measurement_name"], one, len(spectra))
            curves.append((name, one.sort_values("Frequency [Hz]")))
    if not curves:
        return battery.message("The chosen tests have no spectrum. Choose others.", unmet=True)
    shown = battery.coloring([float(place) for place in range(1, len(curves) + 1)], "Number of the spectrum")
    most = 1.2
    for color, (name, one) in zip(shown.colors, curves):
        for row, column in ((1, "Residual real"), (2, "Residual imaginary")):
            most = max(most, 120 * float(one[column].abs().max()))
            figure.add_scatter(
                x=one["Frequency [Hz]"],
                y=100 * one[column],
                mode="lines+markers",
                line={"color": color, "width": 1},
                marker={"size": 4},
                name=name,
                legendgroup=name,
                showlegend=row == 1 and shown.legend,
                hovertemplate="%{x:.3~s}Hz: %{y:.2f} %<extra>%{fullData.name}</extra>",
                row=row,
                col=1,
            )
    figure.add_traces(shown.bar)
    for row, word in ((1, "Real"), (2, "Imaginary")):
        figure.add_hrect(y0=-1, y1=1, fillcolor="#000000", opacity=0.06, line_width=0, row=row, col=1)
        figure.update_yaxes(title_text=f"{word} residual / %", range=[-most, most], row=row, col=1)
    figure.update_xaxes(**log_ticks(np.concatenate([one["Frequency [Hz]"] for _, one in curves])))
    figure.update_xaxes(title_text="Frequency / Hz", row=2, col=1)
    finished(figure)
    return note(figure, "grey: 1 %. A passed test does not prove that the cell stood still.", data, params)
