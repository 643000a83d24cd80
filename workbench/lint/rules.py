"""All rules of the linter: what each finds and how to fix it. The other modules of this folder find it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from . import appearance as looks
from . import axes, curves, cycles, groups, scale, tables, texts, thinned
from .figure_reader import Drawn
from .observation import Observation


class Rule(NamedTuple):
    """One rule: what it finds, how to fix it, and the function that finds it."""

    finds: str
    fix: str
    find: Callable[[Drawn], Iterator[Observation]]


RULES: dict[str, Rule] = {
    "nothing_drawn": Rule(
        "The figure has no points.",
        "Look at the steps with bench.look(recipe), or choose other values.",
        looks.nothing_drawn,
    ),
    "samples_left_out": Rule(
        "A curve has few points, since its series was read with fewer samples than there are. It is not reported "
        "again for a test that a warning `samples_left_out` of a helper names.",
        "Read fewer tests, a window of whole steps (docs/how-to/read-exactly.md) or more points (max_points).",
        thinned.samples_left_out,
    ),
    "partial_cycle": Rule(
        "A plot over cycles shows one that is not complete, as a last one that was cut short: it looks like a loss.",
        "Read 'Complete' with the cycles, and join them to their tests with where {'Complete': [true, null]}.",
        cycles.partial_cycle,
    ),
    "group_of_one": Rule(
        "A band, an error bar or a box shows the spread of a single value.",
        "Draw the single cell as a line or a point, and say n = 1.",
        groups.group_of_one,
    ),
    "mean_jumps": Rule(
        "The mean of a group jumps where one of its cells ends.",
        "Draw the rows with the n of the beginning (battery.mean_and_spread gives n), or say where cells end.",
        groups.mean_jumps,
    ),
    "joined_curves": Rule(
        "A line jumps back, because it joins separate curves: half cycles, cycles, loops or cells.",
        "Draw one trace for each (battery.half_cycles gives them), or put a row of NaN between them.",
        curves.joined_curves,
    ),
    "mixed_units": Rule(
        "Columns of different units share an axis.",
        "Give each unit an axis of its own: a second y axis, or a panel below (plotly.subplots.make_subplots).",
        axes.mixed_units,
    ),
    "wrong_unit": Rule(
        "An axis title names another unit than its values have.",
        "Convert the values or correct the title; battery.axis_title(column) writes it from the column.",
        axes.wrong_unit,
    ),
    "unit_missing": Rule(
        "An axis title does not name the unit of the column that is drawn.",
        "Write it behind the name; battery.axis_title(column) does so.",
        axes.unit_missing,
    ),
    "axis_untitled": Rule(
        "An axis of numbers has no title.",
        "Say what it shows and in which unit; battery.axis_titles(x, y) writes both.",
        axes.axis_untitled,
    ),
    "log_not_positive": Rule(
        "A logarithmic axis cannot show values that are zero or negative; they are missing from the figure.",
        "Take a linear axis, or leave these values out and say so.",
        axes.log_not_positive,
    ),
    "current_turned": Rule(
        "The current or the power is drawn with its sign turned: charge is positive, where the data have discharge "
        "positive.",
        "Say so in the axis title, as in 'Current (charge positive) / A', or leave the sign as it is.",
        curves.current_turned,
    ),
    "nyquist_turned": Rule(
        "A Nyquist plot shows Z_Im and not minus Z_Im: its arcs hang below the axis.",
        "Draw -Z_Im; battery.nyquist_trace and nyquist_layout do so.",
        curves.nyquist_turned,
    ),
    "same_look": Rule(
        "Two groups have the same colour, dash and symbol, so that nobody can distinguish them.",
        "Give each its own colour or dash; battery.coloring(values, title) takes a colour bar for many.",
        looks.same_look,
    ),
    "same_name": Rule(
        "Two entries of the legend have the same name.",
        "Name the difference, or put them into one legendgroup and show one of them.",
        looks.same_name,
    ),
    "empty_trace": Rule(
        "The legend names a trace without points.",
        "Leave the trace out, or say in its name that there are no data.",
        looks.empty_trace,
    ),
    "curve_is_a_dot": Rule(
        "A curve is a dot, since another in its panel is many times larger in both directions.",
        "Give cells of each design a panel of their own, or draw relative values.",
        scale.curve_is_a_dot,
    ),
    "curves_on_the_floor": Rule(
        "Curves that differ lie on each other at the foot of a panel, since another is many times larger.",
        "Give cells of each design a panel of their own (battery.panels), take a logarithmic axis, or relative values.",
        scale.curves_on_the_floor,
    ),
    "bars_on_the_floor": Rule(
        "One bar is so many times as long as the next that nothing is seen of the others.",
        "See whether its value is right; else leave it out with a note, or take a logarithmic axis or shares.",
        scale.bars_on_the_floor,
    ),
    "title_on_panel": Rule(
        "The title of an axis or of a panel is on the panel below it.",
        "Give the figure a larger height, or make_subplots a larger vertical_spacing.",
        texts.title_on_panel,
    ),
    "title_over_plot": Rule(
        "A title of several lines is over the plot.",
        "Give the figure a larger margin above (update_layout(margin_t=...)), or a shorter title.",
        texts.title_over_plot,
    ),
    "texts_overlap": Rule(
        "Names beside points, or notes, cover each other.",
        "Name fewer of them, use the legend, put their points apart, or take battery.end_labels for the ends of lines.",
        texts.texts_overlap,
    ),
    "text_cut": Rule(
        "The edge of a panel cuts names beside points.",
        "Give the trace cliponaxis=False, put names on the inner side of their points, or give the axis a wider range.",
        texts.text_cut,
    ),
    "table_cut": Rule(
        "A table has more rows than the height of the figure shows.",
        "Give the figure that height (figure.update_layout(height=...)), or draw fewer rows.",
        tables.table_cut,
    ),
}
"""Code -> rule, in the order in which findings are reported."""
