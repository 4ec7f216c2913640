"""Runs workflows and composite actions of GitHub Actions as its runner does.

    runner = Runner(folder=tmp_path, github=github, secrets={"OPENAI_API_KEY": "sk-1"})
    run = runner.run_workflow(Path("review.yml"), "pull_request", payload)
    assert run.jobs["review"].conclusion == "success", run.log

Scripts run in real shells; actions of others are in `simulated`. Not simulated: matrices,
containers, services, reusable workflows, caches, cancelling, patterns of `paths`.
"""

from tests.actions_runner.results import Annotation, JobRun, StepRun, WorkflowRun
from tests.actions_runner.runner import GitHub, Runner
from tests.actions_runner.workflow import Concurrency, WorkflowError, starts

__all__ = [
    "Annotation",
    "Concurrency",
    "GitHub",
    "JobRun",
    "Runner",
    "StepRun",
    "WorkflowError",
    "WorkflowRun",
    "starts",
]
