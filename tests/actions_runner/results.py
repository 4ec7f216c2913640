"""What became of workflows, jobs and steps."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from tests.actions_runner.workflow import Concurrency

Conclusion = Literal["success", "failure", "skipped"]


class StepRun(Struct, kw_only=True):
    """A step.

    Attributes:
        outcome, conclusion: before and after `continue-on-error`.
        log: what it printed, as users see it.
    """

    name: str = ""
    id: str = ""
    outcome: Conclusion = "success"
    conclusion: Conclusion = "success"
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""
    summary: str = ""


class JobRun(Struct, kw_only=True):
    """A job. `folder` is its machine, with `workspace`, `temp` and `home`.

    Attributes:
        steps: in their order; the steps of a composite action stand before the step that uses it.
        permissions: those of its token.
    """

    id: str
    conclusion: Conclusion = "skipped"
    permissions: dict[str, str]
    concurrency: Concurrency = field(default_factory=Concurrency)
    folder: Path
    outputs: dict[str, str] = field(default_factory=dict)
    steps: list[StepRun] = field(default_factory=list)

    def step(self, name: str) -> StepRun:
        """The first step with this name or id."""
        return next(step for step in self.steps if name in (step.name, step.id))

    @property
    def log(self) -> str:
        return "".join(step.log for step in self.steps)

    @property
    def summary(self) -> str:
        return "".join(step.summary for step in self.steps)


class WorkflowRun(Struct, kw_only=True):
    """A run of a workflow; without jobs if the event does not start it.

    Attributes:
        artifacts: the folder of each.
    """

    id: int
    name: str
    concurrency: Concurrency = field(default_factory=Concurrency)
    jobs: dict[str, JobRun] = field(default_factory=dict)
    artifacts: dict[str, Path] = field(default_factory=dict)

    @property
    def conclusion(self) -> Conclusion:
        conclusions = {job.conclusion for job in self.jobs.values()}
        return next((each for each in ("failure", "success") if each in conclusions), "skipped")

    @property
    def log(self) -> str:
        return "".join(job.log for job in self.jobs.values())
