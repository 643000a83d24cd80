"""Analyses in a script: the locked process gives what this process gives, and may load what they need."""

from __future__ import annotations

import sys

import pytest
from support.analysis_frames import KNOWN

from workbench.transform import inprocess, protected
from workbench.transform.protected.dataset_forms import packed_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lock is Linux's")

SCRIPT = """
from workbench import battery


def transform(data, params):
    made = {}
    for name, frame in data.items():
        table = getattr(battery, name)(frame, **params.get(name, {}))
        made[name] = [table.astype(str).to_dict("list"), table.attrs["warnings"]]
    return {"data": [], "layout": {"meta": made}}
"""


def test_every_analysis_runs_behind_the_lock(pool: protected.Pool) -> None:
    frames = {name: known.frame for name, known in KNOWN.items()}
    params = {name: dict(known.params) for name, known in KNOWN.items() if known.params}
    locked = protected.draw(SCRIPT, frames, params, by=pool)
    assert (locked["outcome"], locked["why"]) == ("figure", "")
    here = inprocess.draw(SCRIPT, packed_of(frames), params)
    assert locked["figure"] == here.figure.decode()
