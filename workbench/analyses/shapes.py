"""What answers about analyses hold: kinds of tests, and the analyses that there are."""

from __future__ import annotations

from pydantic import JsonValue
from typing_extensions import TypedDict


class KindOfTest(TypedDict):
    """A kind that a test is, how certain that is, from 0 to 1, and why."""

    measurement_id: str
    measurement_name: str
    instance_name: str
    kind: str
    certainty: float
    evidence: str


class AnalysisType(TypedDict):
    """An analysis that can be computed: the question it answers, the kinds of tests it reads, its parameters."""

    type: str
    question: str
    version: int
    reads: str
    kinds: list[str]
    parameters: dict[str, JsonValue]
    results: list[str]
