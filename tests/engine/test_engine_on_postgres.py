"""The same plan on the same records gives the same bytes, whether they are in a file or on PostgreSQL."""

from __future__ import annotations

import functools

import hypothesis.strategies as st
import pytest
from engine.test_engine_ops import examples
from engine.test_engine_plans import plans
from hypothesis import assume, event, given
from support.engine_store import Lab, random_lab
from support.postgres import copied

from workbench.dataset import pack
from workbench.engine.run import run
from workbench.errors import Invalid
from workbench.recipe.bind import bind
from workbench.recipe.check import sound
from workbench.recipe.plot import PlotConfig
from workbench.recipe.values import effective
from workbench.store.scope import Scope
from workbench.store.store import Store


def outcome(config: PlotConfig, store: Store, scope: Scope) -> object:
    """The bytes of an answer with its warnings, or the problems of a plan that is refused."""
    try:
        ran = run(bind(config, effective(config)), store, scope)
    except Invalid as error:
        return [str(error)]
    return pack(ran.steps), [(warning.code, warning.step, warning.message) for warning in ran.warnings]


def test_random_plans_give_the_same_bytes_on_both(tmp_path_factory: pytest.TempPathFactory, long: bool) -> None:
    @functools.cache
    def labs(seed: int) -> tuple[Lab, Store]:
        lab = random_lab(tmp_path_factory.mktemp(f"lab{seed}"), seed)
        return lab, Store.open(copied(lab.store))

    @examples(long, 8)
    @given(st.integers(0, 20 if long else 0), st.data())
    def agree(seed: int, data: st.DataObject) -> None:
        lab, other = labs(seed)
        try:
            config = sound(data.draw(plans(lab)), transform=False)
        except Invalid:
            assume(False)
        found = outcome(config, lab.store, lab.scope)
        event("refused" if isinstance(found, list) else "runs")
        assert outcome(config, other, lab.scope) == found

    agree()
