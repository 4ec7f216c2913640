"""Runs workflows and composite actions of GitHub Actions as its runner does.

    runner = Runner(folder=tmp_path, github=github, secrets={"OPENAI_API_KEY": "sk-1"})
    run = runner.run_workflow(Path("review.yml"), "pull_request", payload)
    assert run.jobs["review"].conclusion == "success", run.log

Scripts run in real shells; actions of others are in `simulated`. Not simulated: matrices,
containers, services, reusable workflows, caches, cancelling, filters by branch or path, workflow
commands.
"""

from tests.actions_runner.results import JobRun, WorkflowRun
from tests.actions_runner.runner import Runner
from tests.actions_runner.workflow import WorkflowError

__all__ = ["JobRun", "Runner", "WorkflowError", "WorkflowRun"]
