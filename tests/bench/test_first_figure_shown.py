"""The first figure that a notebook shows does not wait for imports that only compare a version."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("IPython")

BEGIN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
sent = []
shell.display_pub.publish = lambda data, **more: sent.append(sorted(data))
from workbench.bench.figure import Figure
figure = Figure(data=[{"type": "scatter", "y": [1, 2]}])
"""
FOUND = """
import plotly.io
before = "nbformat" in sys.modules
import nbformat
print(json.dumps({
    "sent": sent, "before": before, "whole": hasattr(nbformat, "v4"),
    "version": plotly.io._renderers.nbformat.__version__ == nbformat.__version__,
    "restored": plotly.optional_imports.get_module("nbformat") is nbformat,
}))
"""
NOT_INSTALLED = """
from importlib import metadata
def version(name, real=metadata.version):
    if name == "nbformat": raise metadata.PackageNotFoundError(name)
    return real(name)
metadata.version = version
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "nbformat": raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hidden())
try: figure.show()
except ValueError as error: print(json.dumps({"error": str(error)}))
"""


def run(program: str) -> dict[str, Any]:
    environment = {"PLOTLY_RENDERER": "plotly_mimetype", "PYTHONPATH": os.pathsep.join(sys.path)}
    made = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, timeout=120, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(made.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("how", ["figure.show()", "shell.display_formatter.format(figure)"])
def test_it_is_shown_without_nbformat(how: str) -> None:
    pytest.importorskip("nbformat")
    found = run(BEGIN + how + FOUND)
    assert found["sent"][0] == ["application/vnd.plotly.v1+json"]
    assert found["before"] is False
    assert found["whole"]
    assert found["version"]
    assert found["restored"]


def test_what_plotly_says_where_nbformat_is_not_installed_stays() -> None:
    assert "requires nbformat" in run(BEGIN + NOT_INSTALLED)["error"]
