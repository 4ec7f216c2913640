"""What `reviewbot github` does in a job of a workflow."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from github import Auth
from msgspec.structs import replace

from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.git.repository import Repository
from reviewbot.github.activity import Activity, Facts, decide, may_execute, needs_permission_of
from reviewbot.github.audit import audit, check_merge_group
from reviewbot.github.client import Client, graphql_error
from reviewbot.github.commands import obey
from reviewbot.github.fixes import review_and_fix
from reviewbot.github.issues import fix_issue
from reviewbot.github.job import Job, Runner, read_job
from reviewbot.github.ordered import obey_order
from reviewbot.github.run import (
    Run,
    fetch,
    finish,
    keep,
    make_review,
    read_change,
    read_document,
    settings_at,
)
from reviewbot.github.snapshot import may_write, read_snapshot
from reviewbot.github.state import state_of

PULLS = """query($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) {
    pullRequests(headRefName: $ref, states: OPEN, first: 50) {
      nodes { number headRefOid headRepository { nameWithOwner } }
    }
  }
}"""


def main(variables: Mapping[str, str]) -> int:
    """Run the job. Returns its exit code: 1 if `fail_on` is reached, 3 if nothing was posted."""
    runner = Runner(variables)
    try:
        job = read_job(variables)
        with ExitStack() as stack:
            return _run(job, runner, stack)
    except ReviewbotError as error:
        hint = f" ({error.hint})" if error.hint else ""
        runner.say(f"{error}{hint}", "error")
        return error.exit_code


def _run(job: Job, runner: Runner, stack: ExitStack) -> int:
    facts = Facts(
        event=job.event,
        repository=job.repository,
        mode=job.mode,
        has_keys=job.has_keys,
        is_rerun=job.is_rerun,
    )
    activity = _decide(facts, runner)
    if activity is None:
        return 0
    client = open_client(job)
    stack.callback(client.close)
    if activity == "audit":
        return audit(job, runner, client)
    if activity == "merge_group":
        return check_merge_group(job, runner, client)
    if activity == "issue":
        return fix_issue(job, runner, client)
    if activity == "command":
        return obey(job, runner, client, facts)
    number = job.event.number
    if activity in ("debate", "publish"):
        number = find_pull(client, job)
    snapshot = read_snapshot(client, number)
    facts = replace(facts, snapshot=snapshot, state=state_of(snapshot))
    if _decide(facts, runner) is None:
        return 0
    folder = fetch(job, snapshot.pull.head_sha, snapshot.pull.base_sha)
    repository = stack.enter_context(Repository(folder))
    settings = settings_at(job, repository, snapshot.pull.base_sha)
    facts = replace(facts, settings=settings.github)
    if _decide(facts, runner) is None:
        return 0
    if login := needs_permission_of(facts):
        facts = replace(facts, may_write=may_write(client, login))
    run = Run(
        job=job,
        runner=runner,
        client=client,
        facts=facts,
        repository=repository,
        settings=settings,
        executes=may_execute(facts),
    )
    change = read_change(run)
    if job.event.asked_by:
        return obey_order(run, change)
    if activity == "publish":
        return finish(run, change, read_document(job))
    is_pushed = activity == "review" and job.event.subject == "pull_request"
    if is_pushed and run.executes and job.autofix != "off":
        return review_and_fix(run, change)
    review = make_review(run, change)
    if activity == "review":
        return finish(run, change, review)
    keep(job, runner, review, settings)  # the next job goes on
    return 0


def open_client(job: Job) -> Client:
    """As an app where its key is given, else with the token of the job."""
    if job.app:
        auth = Auth.AppAuth(*job.app)
        as_app = Client(auth, job.repository, api_url=job.api_url)
        found = as_app.read("/installation", "find the installation of the app")
        as_app.close()
        installation = auth.get_installation_auth(int(found["id"]))
        return Client(installation, job.repository, api_url=job.api_url)
    if not job.token:
        raise UsageError("there is no token", hint="set the input github_token")
    return Client(Auth.Token(job.token), job.repository, api_url=job.api_url)


def find_pull(client: Client, job: Job) -> int:
    """The number of the pull request for which a fork's run collected evidence.

    It comes from GitHub by the head of that run, never from what the run hands over.
    """
    event = job.event
    owner, _, name = job.repository.partition("/")
    variables = {"owner": owner, "name": name, "ref": event.head_ref}
    data, faults = client.query(PULLS, variables, "find the pull request of a run")
    found = (data.get("repository") or {}).get("pullRequests")
    if not found:
        raise graphql_error(faults, "find the pull request of a run")
    for pull in found["nodes"]:
        head = (pull.get("headRepository") or {}).get("nameWithOwner") or ""
        if (head, pull["headRefOid"]) == (event.head_repository, event.head_sha):
            return int(pull["number"])
    raise UsageError("no open pull request has the head of the run that finished")


def _decide(facts: Facts, runner: Runner) -> Activity | None:
    decision = decide(facts)
    if decision.activity is None:
        runner.put({"skip_reason": decision.reason})
        runner.say(f"Nothing to do: {decision.words}")
    return decision.activity
