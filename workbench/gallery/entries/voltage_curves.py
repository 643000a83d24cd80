"""How do the charge and discharge curves change with age?"""

from workbench.analyses.test_kinds import KINDS
from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, choice, chosen_tests, drawable, per
from workbench.recipe.steps.series import MOST_POINTS

TITLE = "Voltage curves"
NEEDS = "Tests with cycles."
LACKING = "No test with cycles. Ingest a cycler file."


READS = Reads("series", ("Cycle count", "Time [s]", "Voltage [V]", "Current [A]"))


def make(facts):
    liked = facts.tests("ageing") or facts.tests("rate", "formation", "rpt", "pocv") or facts.tests()
    # A test with spectra between its charges is of another kind too, and has voltage curves.
    others = {one.id for one in facts.tests(*(kind for kind in KINDS if kind != "eis"))}
    impedance = {one.id for one in facts.tests("eis")} - others
    liked = [one for one in liked if one.id not in impedance]
    tests = drawable(facts, liked, LACKING, READS)
    steps, params = chosen_tests(facts, tests, most=1, by="name")
    for step in ("early", "middle", "late"):
        steps[step] = {
            "op": "series",
            "source": "measurements",
            "ids": {"from": "chosen", "column": "id"},
            "x": "Cycle count",
            "columns": ["Time [s]", "Voltage [V]", "Current [A]"],
            "window": {"min": f"${step}", "max": f"${step}"},
            "max_points": MOST_POINTS,  # without all samples of a cycle the charge passed is only near to it
        }
    # The last cycle may not be whole.
    late = min(100, max(facts.cycles_in(tests[0]) - 2, 2)) if facts.tests("ageing") else 2
    for step, value in {"early": int(late > 2), "middle": late // 2, "late": late}.items():
        label = f"{step.capitalize()} cycle count"
        params[step] = {"kind": "data", "default": value, "control": {"label": label, "min": 0, "max": 1000000}}
    shown = {"both": "both", "charge": "charge", "discharge": "discharge"}
    params["direction"] = choice("Half cycles", "both", shown)
    return Made(steps, {**params, **per(facts)})


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    tests = data["chosen"]
    if tests.empty:
        return battery.message("Choose a test.")
    base = params.get("per", "cell")
    tests = tests.assign(amount=amount_of(tests, base))
    cycles = {step: params[step] for step in ("early", "middle", "late") if params[step] is not None}
    shades = dict(zip(cycles, battery.sequential(len(cycles))))
    figure, curves = go.Figure(), []
    for number, (_, test) in enumerate(tests.iterrows()):
        for step, cycle in cycles.items():
            frame = not_excluded(data[step][test["id"]], test["id"])
            for half in battery.half_cycles(frame) if len(frame) else []:
                if params["direction"] in ("both", half.direction):
                    label = f"cycle {cycle:g}" + (f", {test['instance_name']}" if len(tests) > 1 else "")
                    charge = battery.charge_passed(half.frame, half.direction)
                    line = {"color": shades[step], "dash": DASHES[number % 4]}
                    curves.append((label, half, charge, test["amount"], line))
    factor, unit = capacity_unit(base, [np.nanmax(charge) for _, _, charge, *_ in curves])
    for label, half, charge, amount, line in curves:
        figure.add_scatter(
            x=factor * charge / amount,
            y=half.frame["Voltage [V]"],
            mode="lines",
            name=label,
            legendgroup=label,
            showlegend=not any(trace.name == label for trace in figure.data),
            line=line,
            hovertemplate=f"{half.direction}, {label}: %{{x:.4g}}, %{{y:.3f}} V<extra></extra>",
        )
    if not figure.data:
        return battery.message("The chosen cycles are not in this test. Choose others: cycles count from 0.")
    figure.update_xaxes(title_text=f"Charge passed / {unit}", rangemode="tozero")
    figure.update_yaxes(title_text="Voltage / V")
    finished(figure)
    lost = without_amount(tests, tests["amount"])
    return note(figure, "; ".join(text for text in (", ".join(called(tests)[:4]), lost) if text), data, params)
