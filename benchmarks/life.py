"""The recipe that the benchmarks of large stores and of several servers draw: the cycles of a hundred tests."""

from __future__ import annotations

TESTS = 100
DRAW = """
def transform(data, params):
    table = data["life"]
    return {"data": [{"type": "scatter", "x": table["Cycle count"], "y": table["Discharge capacity [A.h]"]}]}
"""


def life(number: int = 0) -> dict[str, object]:
    """The recipe; ``number`` makes it one that no cache has."""
    steps = {
        "tests": {"op": "list", "source": "measurements", "limit": TESTS},
        "life": {
            "op": "summary",
            "source": "measurements",
            "ids": {"from": "tests", "column": "id"},
            "dataset": "cycles",
            "columns": ["Cycle count", "Discharge capacity [A.h]"],
        },
    }
    return {"plan": {"steps": steps}, "transform": f"{DRAW}# {number}\n"}
