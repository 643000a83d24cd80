"""The part of a plan that entries on stored analyses share: the records, and what is known of their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from .entry import Params, Steps, Unmet
from .facts import MOST_LISTED, Facts
from .tests_plan import MOST_ROWS, MOST_TESTS, RATED, RATED_UNIT, cells_beside, of_source, of_tests

LONGEST_REASON = 200
"""Letters of a reason in a figure at most, if it has more than one sentence."""
VALID, REASON = "metadata.workbench.valid", "metadata.workbench.reason"


def stored_results(
    facts: Facts,
    analysis: str,
    *kinds: str,
    lacking: str,
    x: str = "",
    columns: Sequence[str] = (),
    results: Sequence[str] = (),
    by: str = "instance_name",
    most: int = 40,
    of_any: bool = False,
) -> tuple[Steps, Params]:
    """The steps ``records`` (of the analysis), ``chosen`` (the valid ones with their tests and cells) and, with
    columns, ``values`` (their tables), and the control of the tests or cells.

    Parameters
    ----------
    kinds : of the tests that the analysis reads.
    lacking : the sentence for a store without such tests.
    x, columns : of the tables of the analysis. Columns that not all of them have are left out.
    of_any : for tables of few rows: columns that only some of them have are read too, null for the others. Since a plan
        fails where all the sources of a step lack a column, ``values`` then has all tables, not only the chosen ones.
    results : names of results, which become columns ``metadata.results.<name>``.
    by : what the control chooses: ``instance_name`` or ``measurement_name``.

    Raises
    ------
    Unmet
        If there is no such test, or no result: names the command that computes it.
    """
    if not facts.tests(*kinds):
        raise Unmet(lacking)
    rows = facts.results(analysis)
    if not rows:
        commands = f"bench.analyse('{analysis}') in Python, or workbench analyse {analysis}"
        raise Unmet(f"The results of '{analysis}' are not computed yet. Run {commands}")
    valid = [row for row in rows if row[VALID]]
    if not valid:
        raise Unmet(f"No test gave a result of '{analysis}'. {_reasons(rows)}")
    given = [f"metadata.results.{name}" for name in results]
    fields = ["id", "name", "measurement_id", "measurement_name", "instance_id", "instance_name", "batch_name"]
    steps: Steps = {
        "records": {
            "op": "list",
            "source": "analyses",
            "where": {"analysisType": analysis, **facts.of_chosen},
            "fields": [*fields, "specification_id", VALID, REASON, *given],
            "limit": MOST_LISTED,
        },
        "tests": {
            "op": "list",
            "source": "measurements",
            "where": {"ids": {"from": "records", "column": "measurement_id"}},
            "fields": ["id", *(name for name in of_tests(facts) if name == "start_time" or "." in name)],
            "limit": MOST_LISTED,
        },
        "cells": {"op": "list", "source": "instances", "fields": ["id", *of_source(facts, "instances")]},
        "designs": {"op": "list", "source": "cellSpecifications"},
    }
    steps["cells"]["limit"] = steps["designs"]["limit"] = MOST_LISTED
    steps["designs"]["fields"] = ["id", RATED, RATED_UNIT, *of_source(facts, "cellSpecifications")]
    steps["timed"] = _joined("records", "tests", "measurement_id", steps["tests"]["fields"])
    steps["described"] = _joined("timed", "cells", "instance_id", steps["cells"]["fields"])
    steps["chosen"] = _joined("described", "designs", "specification_id", steps["designs"]["fields"])
    param = "cells" if by == "instance_name" else "tests"
    places = [(str(row["instance_name"]), str(row[by])) for row in valid]
    beside = cells_beside(places, "records", most) if by == "measurement_name" else {}
    of_cells = {"instance_name": "$cells"} if beside else {}
    steps["chosen"]["where"] = {VALID: [True], by: f"${param}", **of_cells}
    if columns:
        ids = [str(row["id"]) for row in valid]
        shared, some = facts.shared(ids, "series", columns), facts.of_any(ids, "series", columns)
        source = "chosen"
        if of_any and some != shared and len(valid) <= MOST_TESTS:
            shared, source = some, "every"
            steps["every"] = {**steps["chosen"], "where": {VALID: [True]}}
        wanted: list[JsonValue] = [*shared]
        steps["values"] = {
            "op": "series",
            "source": "analyses",
            "ids": {"from": source, "column": "id"},
            "x": x,
            "columns": wanted,
            "max_points": 5000,
        }
    names = list(dict.fromkeys(str(row[by]) for row in valid))
    control: dict[str, JsonValue] = {"label": param.capitalize(), "optionsFrom": {"step": "records", "value": by}}
    return steps, {**beside, param: {"kind": "data", "default": [*names[:most]], "control": control}}


def cycles_of_records(
    facts: Facts, analysis: str, needs: Sequence[str], also: Sequence[str]
) -> dict[str, JsonValue]:
    """The step that reads the cycles of the tests of ``stored_results``.

    Columns of ``also`` are read if any of these tests has them, null for the others: a test without currents may not
    change which cycles of another one are of its course. Since a plan fails where all that are chosen lack a column,
    the step then has the cycles of all these tests; a script takes the chosen ones.
    """
    ids = [str(row["measurement_id"]) for row in facts.results(analysis) if row[VALID]]
    shared, some = facts.shared(ids, "cycles", also), facts.of_any(ids, "cycles", also)
    rows = sum(facts.summary_rows_in(one) for one in facts.tests("ageing") if one.id in ids)
    every = some != shared and len(ids) <= MOST_TESTS and rows <= MOST_ROWS
    return {
        "op": "summary",
        "dataset": "cycles",
        "ids": {"from": "described" if every else "chosen", "column": "measurement_id"},
        "columns": [*needs, *(some if every else shared)],
    }


def _reasons(rows: Sequence[Mapping[str, object]]) -> str:
    """Why no test gave a result, the reason of most tests first, with the cells that it holds for."""
    cells: dict[str, list[str]] = {}
    for row in rows:
        if row[REASON]:
            cells.setdefault(_beginning(str(row[REASON])), []).append(str(row["instance_name"]))
    found = sorted(cells.items(), key=lambda item: -len(item[1]))
    said = [
        f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}: {why}."
        for why, names in found[:3]
    ]
    left = sum(len(names) for _, names in found[3:])
    return " ".join([*said, f"And {left} more." if left else ""]).strip()


def _beginning(reason: str) -> str:
    """A reason, or those of its sentences that are not too much for a figure; without the last full stop."""
    sentences = reason.rstrip(".").split(". ")
    kept = sentences[:1]
    for sentence in sentences[1:]:
        if len(". ".join([*kept, sentence])) > LONGEST_REASON:
            break
        kept.append(sentence)
    return ". ".join(kept)


def _joined(left: str, right: str, key: str, fields: JsonValue) -> dict[str, JsonValue]:
    listed = [name for name in fields if name != "id"] if isinstance(fields, list) else []
    on: dict[str, JsonValue] = {"left": key, "right": "id"}
    return {"op": "join", "left": left, "right": right, "on": on, "fields": listed, "how": "left"}
