"""Runs of workflows and their artifacts over REST."""

from __future__ import annotations

from typing import Any

from tests.forge.hub import shown
from tests.forge.hub.call import Call, Listed, Made
from tests.forge.hub.problem import Problem, not_found
from tests.forge.hub.state import Artifact, Run


def run_of(call: Call) -> Run:
    found = next((run for run in call.repository.runs if run.id == call.variables["run_id"]), None)
    if found is None:
        raise not_found()
    return found


def list_runs(call: Call) -> Any:
    asked = call.query
    found = [
        run
        for run in reversed(call.repository.runs)
        if asked.get("head_sha") in (None, run.head_sha)
        and asked.get("event") in (None, run.event)
        and asked.get("branch") in (None, run.head_branch)
    ]
    return Listed([shown.run(run) for run in found], "workflow_runs")


def artifacts_of(call: Call, artifacts: list[Artifact]) -> Any:
    name = call.query.get("name")
    return Listed([shown.artifact(known) for known in reversed(artifacts) if name in (None, known.name)], "artifacts")


def artifact_of(call: Call) -> Artifact:
    found = call.hub.artifact(call.variables["artifact_id"])
    if found is None or found.run.repository is not call.repository:
        raise not_found()
    return found


def download(call: Call) -> Any:
    """A redirection to another host, where no token belongs; 410 once it has expired."""
    if call.token is None:
        raise Problem(401, "Requires authentication")
    found = artifact_of(call)
    if found.expired:
        raise Problem(410, "Artifact has expired")
    return Made(302, None, {"location": f"{call.hub.download_url}/{found.id}.zip?sig=once"})


OPERATIONS = {
    "actions/get-workflow-run": lambda call: shown.run(run_of(call)),
    "actions/list-workflow-runs-for-repo": list_runs,
    "actions/list-workflow-run-artifacts": lambda call: artifacts_of(call, run_of(call).artifacts),
    "actions/list-artifacts-for-repo": lambda call: artifacts_of(
        call, [a for run in call.repository.runs for a in run.artifacts]
    ),
    "actions/get-artifact": lambda call: shown.artifact(artifact_of(call)),
    "actions/download-artifact": download,
}
