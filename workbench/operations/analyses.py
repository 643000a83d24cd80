"""Operations on stored analyses: the kinds of tests, which analyses there are, and runs that compute them."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from ..analyses.shapes import AnalysisType, KindOfTest
from ..quick_import import later
from ..recipe.strict import NotNull
from ..store.records.people import Right
from .operation import Local, Sent, operation

if TYPE_CHECKING:
    from ..analyses import background, registry, tests
    from ..analyses import run as runs
else:  # an operation is declared without what carries it out: all functions on frames
    background = later("workbench.analyses.background")
    registry = later("workbench.analyses.registry")
    runs = later("workbench.analyses.run")
    tests = later("workbench.analyses.tests")


RUNS = "/projects/{project_id}/analyses/runs"


class AnalysisOperations:
    """What users can do with analyses that the workbench computes and keeps."""

    group = "Analyses"

    @operation("GET", "/projects/{project_id}/kinds", Right.READ, heavy=True, since="0.1.1")
    def kinds_of_tests(self: Local) -> list[KindOfTest]:
        """The kinds of all tests of the project: what their tags or protocols say, else what their steps show."""
        return self.store.kept_answer((self.scope, "kinds"), lambda: _kinds(self))

    @operation("GET", "/projects/{project_id}/analyses/types", Right.READ, since="0.1.1")
    def analysis_types(self: Local) -> list[AnalysisType]:
        """The analyses that can be computed, with the parameters that they take."""
        return [
            {
                "type": one.type,
                "question": one.question,
                "version": one.version,
                "reads": one.reads,
                "kinds": [*one.kinds],
                "parameters": one.defaults,
                "results": [*one.results],
            }
            for one in registry.ANALYSES.values()
        ]

    @operation("POST", RUNS, Right.WRITE, status=202, since="0.1.1")
    def begin_run(
        self: Local,
        type: Annotated[
            str,
            Field(description="The analysis, or 'kinds', or 'arrival': all that is due."),
        ],
        where: Annotated[dict[str, Sent] | None, NotNull()] = None,
        parameters: Annotated[dict[str, Sent] | None, NotNull()] = None,
        check: bool = False,
    ) -> background.Run:
        """Begin to compute an analysis of the tests that fit the filters, or of all whose kind it reads.

        What is fresh stays. With ``check`` nothing is computed; the report says what would be."""
        from ..ingest.recompute import chosen  # whoever computes nothing should not wait for the readers of files

        ids = None if where is None else chosen(self.store, self.scope, where)
        if type not in (runs.KINDS_JOB, runs.ARRIVAL_JOB):
            runs.known(type).parameters(parameters or {})
        store, scope, actor, fan_out = self.store, self.scope, self.actor, self.fan_out

        def work(progress: runs.Progress, stop: Event) -> runs.Analysed:
            return runs.analyse(
                store,
                scope,
                actor,
                type,
                ids,
                parameters or {},
                check=check,
                fan_out=fan_out,
                progress=progress,
                cancel=stop,
            )

        with self.writing(type):  # the run is in the audit log from its beginning, whenever it ends
            return background.begin(store, scope, actor, type, work)

    @operation("GET", f"{RUNS}/{{run_id}}", Right.READ, since="0.1.1")
    def run_state(self: Local, run_id: str) -> background.Run:
        """How far a run is, and at its end what it did."""
        return background.find(self.store, self.scope, run_id)

    @operation("DELETE", f"{RUNS}/{{run_id}}", Right.WRITE, since="0.1.1")
    def stop_run(self: Local, run_id: str) -> background.Run:
        """Stop a run after the tests at hand. What was computed is kept."""
        with self.writing(run_id):
            return background.stop(self.store, self.scope, run_id)

    @operation("GET", "/projects/{project_id}/analyses/arrival", Right.READ, since="0.1.1")
    def analysed_on_arrival(self: Local) -> bool:
        """Whether the analyses that fit the kinds of tests are computed when tests arrive in the project."""
        return self.store.switches.is_on("analyse on arrival", self.scope)

    @operation("PUT", "/projects/{project_id}/analyses/arrival", Right.WRITE, since="0.1.1")
    def analyse_on_arrival(self: Local, on: bool) -> bool:
        """Compute the analyses that fit their kinds when tests arrive in the project, or no more."""
        with self.writing("arrival", on=on):
            self.store.switches.turn("analyse on arrival", self.scope, on)
        return on


def _kinds(of: Local) -> list[KindOfTest]:
    among = tests.tests_in(of.store, of.scope, None, also_tables=True)
    found = runs.recognised(of.store, of.scope, among, of.cache)
    return [
        {
            "measurement_id": one.id,
            "measurement_name": one.name,
            "instance_name": one.cell,
            "kind": kind.name,
            "certainty": kind.certainty,
            "evidence": kind.evidence,
        }
        for one in among
        for kind in found[one.id]
    ]
