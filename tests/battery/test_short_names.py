"""Long names are cut in the middle, and those that differ stay different."""

from __future__ import annotations

import random

import pytest

from workbench.battery import short_names


def test_short_names_stay_and_long_ones_keep_both_ends() -> None:
    long = "NDK_-_LG_M50_deg_-_exp_2_2_-_rig_3_-_25degC_-_cell_C_-_BoL_-_RPT0_short_CA4"
    assert short_names([long, "B"]) == {long: "NDK_-_LG_M50_…RPT0_short_CA4", "B": "B"}


def test_what_makes_names_differ_is_kept() -> None:
    names = [f"{'x' * 40}{number}{'y' * 37}" for number in range(30)]
    made = short_names(names, 28)
    assert len(set(made.values())) == 30
    assert max(map(len, made.values())) <= 28
    assert all(str(number) in made[name] for number, name in enumerate(names))


def test_no_two_names_have_one_text() -> None:
    luck = random.Random(1)
    for _ in range(300):
        names = ["".join(luck.choices("ab…", k=luck.randint(1, 14))) for _ in range(luck.randint(1, 40))]
        assert len(set(short_names(names, luck.randint(5, 9)).values())) == len(set(names))


def test_too_few_letters_are_refused() -> None:
    with pytest.raises(ValueError, match="5 letters or more"):
        short_names(["a"], 4)
