"""Aggregate and join against the row-by-row reference, on random tables of every type."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from support.plain_rows import NAMES, assert_same, tables
from support.reference_plans import Interpreter, Records, Refused

from workbench.engine.ops.aggregate import aggregate
from workbench.engine.ops.join import join
from workbench.engine.plan import run_step
from workbench.errors import Invalid
from workbench.messages import spaced
from workbench.recipe.steps import STEPS, AggregateStep, JoinStep
from workbench.table import Table

COLUMNS = st.sampled_from([*NAMES, "k", "a", "b"])
CAPS = {"max_sources": 500, "max_summary_rows": 60, "max_series_points": 200000, "max_list_rows": 5000}
COMPARED = st.integers(-2, 2) | st.sampled_from([0.25, 0.5, 2**53 + 1, 1e300, "a", "b", "2026-01-31"])


@st.composite
def metrics(draw: st.DrawFn) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from("mnopq"), min_size=1, max_size=5, unique=True)):
        fn = draw(
            st.sampled_from(["first", "last", "min", "max", "mean", "sum", "count", "first_where", "last_where"])
        )
        metric: dict[str, Any] = {"fn": fn}
        if fn != "count" or draw(st.booleans()):
            metric["column"] = draw(COLUMNS)
        if fn.endswith("_where"):
            value: Any = draw(COMPARED)
            if made and draw(st.booleans()):
                factor = draw(st.sampled_from([0.5, 1, -2, 0, 2**53]))
                value = {"ratio_of": draw(st.sampled_from(list(made))), "factor": factor}
            op = draw(st.sampled_from(["lt", "lte", "gt", "gte", "eq", "neq"]))
            metric["where"] = {"column": draw(COLUMNS), "op": op, "value": value}
        made[name] = metric
    names = draw(st.permutations(list(made)))
    return {name: made[name] for name in names}


@st.composite
def aggregates(draw: st.DrawFn) -> dict[str, Any]:
    step = {"op": "aggregate", "input": "rows", "group_by": draw(st.lists(COLUMNS, min_size=1, max_size=3))}
    if draw(st.booleans()):
        step["sort_by"] = draw(COLUMNS)
    return {**step, "metrics": draw(metrics())}


@st.composite
def joins(draw: st.DrawFn) -> dict[str, Any]:
    step: dict[str, Any] = {
        "op": "join",
        "left": "rows",
        "right": "others",
        "how": draw(st.sampled_from(["inner", "left"])),
    }
    step["on"] = {"left": draw(COLUMNS), "right": draw(COLUMNS)}
    if draw(st.booleans()):
        step["fields"] = draw(st.lists(COLUMNS, max_size=4))
    value = st.none() | COMPARED | st.booleans()
    wanted = value.filter(lambda item: item is not None) | st.lists(value, max_size=3)
    if draw(st.booleans()):
        step["where"] = draw(st.dictionaries(st.sampled_from([*NAMES, "a_right"]), wanted, max_size=2))
    return step


def expected(step: dict[str, Any], **inputs: Any) -> Any:
    made = Interpreter(Records({}, {}, {}), CAPS, {}, inputs, "step", set())
    try:
        return getattr(made, step["op"])(step)
    except Refused as error:
        return error


def examples(long: bool, n: int = 150) -> Any:
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=4000 if long else n, deadline=None, suppress_health_check=checks, database=None)


def test_random_aggregates_agree_with_the_reference(long: bool) -> None:
    @examples(long)
    @given(tables(), aggregates())
    def agree(pair: Any, step: dict[str, Any]) -> None:
        table, rows = pair
        wanted = expected(step, rows=rows)
        parsed = AggregateStep.model_validate(step)
        if isinstance(wanted, Refused):
            with pytest.raises(Invalid) as caught:
                aggregate(parsed, table)
            found = [problem.loc for problem in caught.value.problems]
            assert any(loc[: len(wanted.place) - 2] == wanted.place[1:-1] for loc in found), (wanted.place, found)
        else:
            assert_same(aggregate(parsed, table), wanted)

    agree()


def test_random_joins_agree_with_the_reference(long: bool) -> None:
    @examples(long)
    @given(tables(), tables(), joins())
    def agree(left: Any, right: Any, step: dict[str, Any]) -> None:
        wanted = expected(step, rows=left[1], others=right[1])
        parsed = JoinStep.model_validate(step)
        if isinstance(wanted, Refused):
            with pytest.raises(Invalid) as caught:
                join(parsed, left[0], right[0], CAPS["max_summary_rows"])
            found = [problem.loc for problem in caught.value.problems]
            assert any(loc[: len(wanted.place) - 1] == wanted.place[1:] for loc in found), (wanted.place, found)
        else:
            assert_same(join(parsed, left[0], right[0], CAPS["max_summary_rows"]), wanted)

    agree()


def _aggregate(table: Table, **metric: Any) -> Table:
    metrics = {"m": metric}
    step = {"op": "aggregate", "input": "rows", "group_by": ["k"], "metrics": metrics}
    return aggregate(AggregateStep.model_validate(step), table)


WILD = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1.7e308, -1.7e308, 0.1, 1e-320])


@pytest.mark.parametrize("fn", ["sum", "mean"])
def test_sums_and_means_of_any_finite_numbers_are_near_the_exact_value(fn: str, long: bool) -> None:
    @examples(long, 100)
    @given(st.lists(WILD, min_size=1, max_size=40))
    def near(values: list[float]) -> None:
        table = Table.of({"k": ["a"] * len(values), "v": values})
        (found,) = _aggregate(table, fn=fn, column="v")["m"].tolist()
        share = len(values) if fn == "mean" else 1
        exact = sum(map(Fraction, values)) / share
        scale = sum(abs(Fraction(value)) for value in values) / share
        if math.isinf(found):
            assert abs(exact) >= Fraction(sys.float_info.max) * (1 - Fraction(1, 10**9))
        else:
            assert abs(Fraction(found) - exact) <= scale * Fraction(1, 10**12) + Fraction(5e-324)

    near()


def test_infinities_sum_as_numbers_do() -> None:
    table = Table.of({"k": ["a", "a", "b", "b"], "v": [float("inf"), 1.0, float("inf"), float("-inf")]})
    first, second = _aggregate(table, fn="sum", column="v")["m"].tolist()
    assert first == float("inf")
    assert math.isnan(second)


def test_sums_of_whole_numbers_are_exact_and_become_floats_only_beyond_64_bits() -> None:
    table = Table.of({"k": [1, 1, 2], "v": [2**62, 2**62 - 1, 5]})
    assert _aggregate(table, fn="sum", column="v")["m"].tolist() == [2**63 - 1, 5]
    beyond = _aggregate(Table.of({"k": [1, 1, 2], "v": [2**62, 2**62, 5]}), fn="sum", column="v")["m"]
    assert beyond.kind == "number"
    assert beyond.tolist() == [2.0**63, 5.0]


def test_a_join_of_one_key_with_itself_is_refused_before_it_is_made() -> None:
    n = 200_000
    table = Table.of({"k": np.zeros(n, np.int64)})
    step = {"op": "join", "left": "a", "right": "b", "on": {"left": "k", "right": "k"}}
    with pytest.raises(Invalid, match=f"{spaced(n * n)} rows and at most 200\xa0000"):
        join(JoinStep.model_validate(step), table, table, 200_000)


def test_the_bound_of_a_join_counts_rows_after_where() -> None:
    n = 3000
    table = Table.of({"k": np.zeros(n, np.int64), "v": np.arange(n)})
    step = {"op": "join", "left": "a", "right": "b", "on": {"left": "k", "right": "k"}, "where": {"v_right": 7}}
    joined = join(JoinStep.model_validate(step), table, table, n)
    assert joined.n == n
    assert joined["v"].tolist() == list(range(n))


def test_a_column_of_where_that_is_not_there_is_refused_also_where_its_param_is_null() -> None:
    table = Table.of({"k": [1]})
    step = {"op": "join", "left": "l", "right": "r", "on": {"left": "k", "right": "k"}, "where": {"nope": "$p"}}
    bound = JoinStep.model_validate(step).rebuilt(lambda value, position, at: None)
    assert bound.where == {}
    with pytest.raises(Invalid, match="no column 'nope'") as caught:
        join(bound, table, table, 10)
    assert caught.value.problems[0].loc == ("where", "nope")


def test_a_taken_suffix_names_both_columns_and_points_to_fields() -> None:
    left = Table.of({"k": [1], "a": [1], "a_right": [1]})
    step = {"op": "join", "left": "l", "right": "r", "on": {"left": "k", "right": "k"}}
    with pytest.raises(Invalid, match=r"'a'.*'a_right'.*'fields'") as caught:
        join(JoinStep.model_validate(step), left, Table.of({"k": [1], "a": [2]}), 10)
    assert caught.value.problems[0].loc == ("fields",)


def test_every_step_has_one_meaning() -> None:
    registered = set(run_step.registry) - {object}
    assert registered == set(STEPS.values())


def test_a_condition_of_one_boolean_holds_for_no_other() -> None:
    left = Table.of({"k": [1, 1, 1], "ok": [True, False, None]})
    step = {"op": "join", "left": "l", "right": "r", "on": {"left": "k", "right": "k"}, "where": {"ok": True}}
    assert join(JoinStep.model_validate(step), left, Table.of({"k": [1]}), 10)["ok"].tolist() == [True]
