"""What every analysis does with a frame that it cannot answer: a row with the reason, never a number that is off."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from support.analysis_frames import KNOWN, Known

from tools.docs.analyses import families

each = pytest.mark.parametrize("known", [pytest.param(one, id=name) for name, one in KNOWN.items()])
ONE_TEST = ("Step count", "Cycle count", "Check-up")
each_of_one_test = pytest.mark.parametrize(
    "known",
    [pytest.param(one, id=name) for name, one in KNOWN.items() if one.needs[0] in ONE_TEST and name != "delta_q"],
)


def refused(made: pd.DataFrame) -> bool:
    """Whether no row has an answer, and each says why."""
    said = made["Warning"].str.len() > 8
    return bool(len(made) and not made["Valid"].any() and said.all())


@each
def test_a_good_frame_is_answered_and_not_changed(known: Known) -> None:
    before = known.frame.copy()
    made = known(known.frame)
    assert made["Valid"].any(), made["Warning"].tolist()
    assert list(made)[-2:] == ["Valid", "Warning"]
    assert all({"code", "message", "where"} == set(remark) for remark in made.attrs["warnings"])
    assert_frame_equal(known.frame, before)


@each
def test_an_empty_frame_is_refused(known: Known) -> None:
    made = known(known.frame.iloc[:0])
    assert refused(made)
    assert made.select_dtypes("number").isna().all(axis=None)


@each
def test_one_row_is_refused_or_exact(known: Known) -> None:
    made = known(known.frame.iloc[:1])
    if known.alone == "exact":
        assert_frame_equal(made, known(known.frame).iloc[:1])
    elif known.alone == "part":
        assert len(made) == 1
    else:
        assert refused(made)


@each
@pytest.mark.filterwarnings("error")
def test_values_that_are_all_null_are_refused(known: Known) -> None:
    frame = known.frame.assign(**dict.fromkeys(known.values, np.nan))
    assert refused(known(frame))


@each
@pytest.mark.filterwarnings("error")
def test_values_that_are_infinite_are_refused(known: Known) -> None:
    frame = known.frame.assign(**dict.fromkeys(known.values, np.inf))
    assert refused(known(frame))


@each
def test_a_missing_column_is_named(known: Known) -> None:
    for name in known.needs:
        made = known(known.frame.drop(columns=name))
        assert refused(made), name
        assert name in made["Warning"].iloc[0]
    assert refused(known(pd.DataFrame(index=range(300))))


@each
def test_reversed_rows_give_the_same_or_a_reason(known: Known) -> None:
    whole, turned = known(known.frame), known(known.frame.iloc[::-1])
    if refused(turned):
        assert "reversed" in turned["Warning"].iloc[0]
        return
    key = "Cell" if "Cell" in whole else None
    if key:
        whole, turned = (one.sort_values(key, ignore_index=True) for one in (whole, turned))
    assert_frame_equal(whole, turned, check_exact=False, rtol=1e-9)


@each_of_one_test
def test_rows_of_two_tests_are_refused(known: Known) -> None:
    twice = pd.concat([known.frame, known.frame], ignore_index=True)
    made = known(twice)
    assert refused(made)
    assert "one test" in made["Warning"].iloc[0]


def test_every_analysis_of_these_families_is_tried() -> None:
    ours = {f.__name__ for title, found in families() if title.startswith(("Capacity", "Life")) for f in found}
    assert ours == set(KNOWN)
