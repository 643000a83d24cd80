"""The server answers every recorded request as 0.1.0 did on the same store.

A difference is shown as request, place, was, is. What tables have gained since is named in ``added.py`` and taken out
before. Another difference that is meant is accepted by ``python -m tests.recordings.record``
with the names of the recordings that it is in, and named in the release notes.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.recordings import flows, flows_files, flows_plots, flows_refused  # noqa: F401  (they declare the recordings)
from tests.recordings.asking import ANSWERS, FLOWS, Step, compared, recorded, run
from tests.stores.old_store import current, served
from workbench.operations import OPERATIONS

pytestmark = pytest.mark.xdist_group("recordings")
"""On one worker: the last test looks at the runs of the others."""
_MOST_SHOWN = 30
SINCE = {(one.method, one.path) for one in OPERATIONS if one.since != "0.1.0"} | {
    ("GET", "/store/backup"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    *((method, "/organizations/{organization_id}/keys") for method in ("GET", "POST")),
    ("DELETE", "/organizations/{organization_id}/keys/{key_id}"),
    ("POST", "/projects/{project_id}/figures/picture"),
    ("GET", "/projects/{project_id}/dashboards/{dashboard_id}/sketch"),
    ("POST", "/projects/{project_id}/gallery/{name}/figure/detail"),
    ("POST", "/projects/{project_id}/gallery/{name}/sketch"),
    ("POST", "/projects/{project_id}/gallery/{name}/dataset"),
    ("GET", "/projects/{project_id}/dashboards/{dashboard_id}/plots/{plot_id}/export/size"),
    ("GET", "/projects/{project_id}/dashboards/{dashboard_id}/export/size"),
    ("POST", "/projects/{project_id}/gallery/{name}/figure"),
    ("GET", "/organizations/{organization_id}/audit-log"),
    ("GET", "/projects/{project_id}/dashboards/{dashboard_id}/plots/{plot_id}/figure"),
    ("GET", "/projects/{project_id}/dashboards/{dashboard_id}/plots/{plot_id}/export"),
    ("GET", "/projects/{project_id}/dashboards/{dashboard_id}/export"),
    ("POST", "/projects/{project_id}/figures/current"),
    ("GET", "/dashboards"),
    ("GET", "/users/me/recent"),
    *((method, "/users/me/stars/{bookmark_kind}/{bookmark_id}") for method in ("PUT", "DELETE")),
    ("PUT", "/users/me/recent/{bookmark_kind}/{bookmark_id}"),
    ("GET", "/projects/{project_id}/shares"),
    ("POST", "/projects/{project_id}/shares"),
    ("DELETE", "/projects/{project_id}/shares/{share_id}"),
    ("GET", "/shared/{token}"),
    ("GET", "/shared/{token}/plots/{shown_plot_id}/figure"),
    ("POST", "/shared/{token}/plots/{shown_plot_id}/figure/detail"),
    ("GET", "/shared/{token}/plots/{shown_plot_id}/data"),
    *((method, "/session") for method in ("GET", "POST", "DELETE")),
}
"""What a server of 0.1.0 could not do, so that nothing of it is recorded."""


@cache
def replayed(name: str) -> tuple[list[Step], str | None, list[tuple[str, str, int]]]:
    """One run of a recording against the current code."""
    return run(name)


@pytest.mark.parametrize("name", FLOWS)
def test_a_recording_is_answered_as_it_was(name: str) -> None:
    steps, stopped, _ = replayed(name)
    found = compared(recorded(name), steps)
    if stopped is not None:
        found.append(f"it stopped after request {len(steps)}: {stopped}")
    if found:
        pytest.fail(f"{len(found)} differences in '{name}':\n" + "\n".join(found[:_MOST_SHOWN]), pytrace=False)


def test_every_recording_is_declared() -> None:
    assert {path.stem for path in ANSWERS.glob("*.json")} == set(FLOWS)


def test_every_operation_has_succeeded_and_failed(tmp_path: Path) -> None:
    """Over the paths of the document that the server gives out."""
    with served(current(tmp_path)) as client:
        paths = client.get("/openapi.json").json()["paths"]
    asked = [one for name in FLOWS for one in replayed(name)[2]]
    missing = []
    for path, methods in paths.items():
        pattern = re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))
        for method in methods:
            if (method.upper(), path) in SINCE:
                continue
            told = {status for verb, at, status in asked if verb == method.upper() and pattern.fullmatch(at)}
            succeeded, failed = any(status < 400 for status in told), any(400 <= status < 500 for status in told)
            if not succeeded or not (failed or path == "/healthz"):
                missing.append((method, path, sorted(told)))
    assert missing == []
