"""Check runs, commit statuses and SARIF over REST."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
from typing import Any

from tests.forge.hub import shown
from tests.forge.hub.call import Call, Listed, Made
from tests.forge.hub.problem import Problem, invalid, not_accessible, not_found
from tests.forge.hub.state import CheckRun

MESSAGE_BYTES = 65_536
TITLE_CHARACTERS = 255
STATUSES = 1000
WORST = ("failure", "error", "pending", "success")


def commit_of(call: Call, name: str) -> str:
    sha = call.repository.code.sha(name)
    if sha is None:
        raise Problem(422, f"No commit found for SHA: {name}")
    return sha


def find(call: Call) -> CheckRun:
    found = next((run for run in call.repository.all_check_runs if run.id == call.variables["check_run_id"]), None)
    if found is None:
        raise not_found()
    return found


def refused(words: str) -> Problem:
    return Problem(422, f"Invalid request.\n\n{words}")


def check_output(output: dict[str, Any]) -> None:
    """G10. The number of annotations and the length of summary and text are in the description already: too many are a violation."""
    for at, annotation in enumerate(output.get("annotations", ())):
        if len(annotation["message"].encode()) > MESSAGE_BYTES:
            raise refused(f"For 'annotations/{at}', message is too long (maximum is {MESSAGE_BYTES} bytes).")
        if len(annotation.get("title", "")) > TITLE_CHARACTERS:
            raise refused(f"For 'annotations/{at}', title is too long (maximum is {TITLE_CHARACTERS} characters).")
        if annotation["start_line"] > annotation["end_line"] or annotation["start_line"] < 0:
            raise refused(f"For 'annotations/{at}', end_line must be greater than or equal to start_line.")


def apply(call: Call, run: CheckRun) -> None:
    """What is told over; annotations stand beside those of before."""
    body = call.body
    output = body.get("output") or {}
    check_output(output)
    if body.get("status") == "completed" and not body.get("conclusion") and not run.conclusion:
        raise refused('"conclusion" wasn\'t supplied.')
    for name in ("name", "external_id", "details_url", "status", "conclusion"):
        setattr(run, name, body.get(name, getattr(run, name)))
    run.status = "completed" if run.conclusion else run.status
    run.started_at = run.started_at or body.get("started_at") or call.hub.now()
    run.completed_at = body.get("completed_at") or (call.hub.now() if run.status == "completed" else None)
    run.output |= {key: value for key, value in output.items() if key in ("title", "summary", "text")}
    run.annotations += output.get("annotations", [])


def create(call: Call) -> Any:
    sha = commit_of(call, call.body["head_sha"])
    assert call.token
    made = CheckRun(call.hub.next_check(), call.body["name"], sha, call.token.app, call.repository)
    apply(call, made)
    call.repository.all_check_runs.append(made)
    return Made(201, shown.check_run(made))


def update(call: Call) -> Any:
    """An app changes its own check runs alone."""
    run = find(call)
    assert call.token
    if run.app != call.token.app:
        raise Problem(403, "Invalid app_id `15368` - check run can only be modified by the GitHub App that created it.")
    apply(call, run)
    return shown.check_run(run)


def list_for_ref(call: Call) -> Any:
    sha = commit_of(call, call.variables["ref"])
    found = [run for run in call.repository.check_runs(sha) if call.query.get("check_name") in (None, run.name)]
    found = [run for run in found if call.query.get("status") in (None, run.status)]
    if call.query.get("filter", "latest") == "latest":
        found = list({(run.app, run.name): run for run in found}.values())
    return Listed([shown.check_run(run) for run in found], "check_runs")


def list_annotations(call: Call) -> Any:
    return Listed([{**annotation, "blob_href": ""} for annotation in find(call).annotations])


def create_status(call: Call) -> Any:
    """G26: a thousand of one context are the most."""
    sha = commit_of(call, call.variables["sha"])
    body = call.body
    context = body.get("context", "default")
    if sum(status.sha == sha and status.context == context for status in call.repository.statuses) >= STATUSES:
        raise invalid("Status", "base", "This SHA and context has reached the maximum number of statuses.")
    made = call.repository.status(sha, context, body["state"], author=call.actor.login, description=body.get("description") or "")
    made.target_url = body.get("target_url")
    return Made(201, shown.status(call.hub, made))


def list_statuses(call: Call) -> Any:
    sha = commit_of(call, call.variables["ref"])
    return Listed([shown.status(call.hub, known) for known in reversed(call.repository.statuses) if known.sha == sha])


def combined(call: Call) -> Any:
    sha = commit_of(call, call.variables["ref"])
    newest = {known.context: known for known in call.repository.statuses if known.sha == sha}
    states = {"error": "failure"}
    state = next((states.get(word, word) for word in WORST if any(known.state == word for known in newest.values())), "pending")
    told = [shown.status(call.hub, known) for known in newest.values()]
    return {
        "state": state,
        "sha": sha,
        "total_count": len(told),
        "statuses": told,
        "repository": shown.repository(call.repository),
    }


def upload_sarif(call: Call) -> Any:
    """The report is packed with gzip and written in base64."""
    if call.token is None:
        raise not_accessible()
    commit_of(call, call.body["commit_sha"])
    try:
        report = json.loads(gzip.decompress(base64.b64decode(call.body["sarif"], validate=True)))
    except (binascii.Error, OSError, EOFError, ValueError):
        raise Problem(400, "Invalid SARIF. The file must be a gzipped, base64 encoded SARIF document.") from None
    call.repository.sarifs.append({"ref": call.body["ref"], "commit_sha": call.body["commit_sha"], "report": report})
    number = str(call.hub.next_id())
    return Made(202, {"id": number, "url": f"{call.hub.api_url}/repos/{call.repository.full_name}/code-scanning/sarifs/{number}"})


OPERATIONS = {
    "checks/create": create,
    "checks/update": update,
    "checks/get": lambda call: shown.check_run(find(call)),
    "checks/list-for-ref": list_for_ref,
    "checks/list-annotations": list_annotations,
    "repos/create-commit-status": create_status,
    "repos/list-commit-statuses-for-ref": list_statuses,
    "repos/get-combined-status-for-ref": combined,
    "code-scanning/upload-sarif": upload_sarif,
}
