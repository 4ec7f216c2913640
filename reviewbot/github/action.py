"""What `reviewbot github` does in a job of a workflow."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress

from github import Auth
from msgspec.structs import replace

from reviewbot.config.settings import Settings
from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.git.change import TargetKind
from reviewbot.git.repository import Repository
from reviewbot.github import pulls, steps
from reviewbot.github.activity import Facts, NothingToDo, decide, may_execute, needs_permission_of
from reviewbot.github.client import LATER, CallError, Client, as_described
from reviewbot.github.commands import fix_issue, obey, obey_order, respond
from reviewbot.github.fixes import review_and_fix
from reviewbot.github.job import CommentEvent, Event, Job, Runner, read_job
from reviewbot.github.plan import perform
from reviewbot.github.pulls import State
from reviewbot.github.steps import Answer, Run
from reviewbot.pipeline import review as review_change
from reviewbot.reports import markdown
from reviewbot.state import read_review
from reviewbot.text.markdown import inline
from reviewbot.text.plain import first_line
from reviewbot.verdict.document import Memory, Review

AUDIT = "<!-- reviewbot:audit -->"
LABEL = "reviewbot:audit"
REFUSED = ("not_permitted", "gone")
NO_ISSUES = "The audit is in the job summary: give issues: write, where the repository has issues."


def main(variables: Mapping[str, str]) -> int:
    """Run the job. Returns its exit code: 1 if `fail_on` is reached, 3 if nothing was posted."""
    runner, job = Runner(variables), None
    try:
        job = read_job(variables)
        with ExitStack() as stack:
            return _run(job, runner, stack)
    except NothingToDo as reason:
        runner.put(skip_reason=reason.reason)
        runner.say(f"Nothing to do: {reason}")
        return reason.exit_code
    except ReviewbotError as error:
        runner.say(error.with_hint, "error")
        if job and job.event.asked_by and error.hint != LATER:  # else the next run may answer
            with suppress(ReviewbotError), closing(open_client(job)) as client:
                comment = CommentEvent(id=job.event.asked_by)
                respond(client, job, comment, Answer(words=inline(error.with_hint), is_done=False))
        return error.exit_code


def _run(job: Job, runner: Runner, stack: ExitStack) -> int:
    facts, subject = Facts(job=job), job.event.subject
    decide(facts)
    client = stack.enter_context(closing(open_client(job)))
    if subject == "audit":
        return audit(job, runner, client)
    if subject == "merge_group":
        return check_merge_group(job, runner, client)
    if subject == "issue":
        return fix_issue(job, client)
    if login := needs_permission_of(facts):
        facts = replace(facts, may_write=pulls.may_write(client, login))
        decide(facts)
    if subject == "comment" and job.event.issue:
        return obey(job, runner, client, facts)
    number = find_pull(client, job.event) if subject == "finished_run" else job.event.number
    snapshot = pulls.read_snapshot(client, number)
    facts = replace(facts, snapshot=snapshot, state=pulls.state_of(snapshot))
    decide(facts)
    if subject == "comment":
        return obey(job, runner, client, facts)
    folder = steps.fetch(job, snapshot.pull.head_sha, snapshot.pull.base_sha)
    repository = stack.enter_context(Repository(folder))
    settings = steps.settings_at(job, repository, snapshot.pull.base_sha)
    facts = replace(facts, settings=settings.github)
    decide(facts)
    if login := needs_permission_of(facts):
        facts = replace(facts, may_write=pulls.may_write(client, login))
    change = steps.read_change(job, client, repository, snapshot.pull)
    run = Run(job, runner, client, facts, repository, settings, change)
    if job.event.asked_by:
        return obey_order(run)
    if job.mode == "publish":
        path = job.documents / steps.REVIEW_FILE
        document = read_review(path.read_bytes()) if path.is_file() else None
        if document is None:
            raise UsageError(f"{path} holds no review", hint="fetch the artifact reviewbot-review")
        if document.base_commit != change.base_commit:
            raise NothingToDo("base_moved", "It has another base by now: its own run reviews that.")
        return steps.finish(run, document)[0]
    is_pushed = subject == "pull_request" and job.mode == "all"
    if is_pushed and may_execute(facts) and job.autofix != "off":
        return review_and_fix(run)
    review = asyncio.run(review_change(change, steps.host_of(run, facts.state.memory)))
    if job.mode == "all":
        return steps.finish(run, review)[0]
    steps.keep(job, runner, review, settings)
    runner.say("The review is handed to the next job: this one posts nothing.")
    return 0


def audit(job: Job, runner: Runner, client: Client) -> int:
    """Review the whole tree, and say in one issue what differs from the last audit."""
    number, last = 0, State()
    try:
        number, last = find_issue(client)
    except CallError as error:
        if error.kind not in REFUSED:  # there may be one
            raise
        runner.say(str(error), "warning")
    review, settings = review_target(job, job.sha, "all", [job.sha], last.memory)
    code = steps.keep(job, runner, review, settings)
    state = last.with_cost(review.usage.cost_usd, reviews=1)
    line = pulls.encode_state(replace(state, memory=review.memory or Memory(), head=job.sha))
    room = markdown.MAX_BYTES - len(line) - len(AUDIT)
    page = markdown.Page(run_url=job.run_url, has_commands=False)
    body = f"{AUDIT}\n{line}\n{markdown.audit(review, last.memory, page, room)}"
    if job.dry_run:
        return code
    try:
        where = ("PATCH", f"/issues/{number}") if number else ("POST", "/issues")
        new = {} if number else {"title": "Audit by reviewbot", "labels": [LABEL]}
        made = client.write(*where, "write the issue of the audit", {"body": body, **new})
    except CallError as error:
        if error.kind not in REFUSED:
            raise
        runner.say(f"{error}. {NO_ISSUES}", "warning")
        return code
    runner.put(summary_comment_url=made["html_url"])
    runner.say(f"The audit is in {made['html_url']}")
    return code


def check_merge_group(job: Job, runner: Runner, client: Client) -> int:
    """Run the checks over what the queue merges, without models, and say so in a check run."""
    commits = [job.event.base_sha, job.event.head_sha]
    review, settings = review_target(job, "..".join(commits), "auto", commits)
    code = steps.keep(job, runner, review, settings)
    if not job.dry_run:
        perform(client, 0, steps.make_check_run(review, settings.review.fail_on, has_panel=False))
    return code


def review_target(
    job: Job, target: str, kind: TargetKind, commits: Sequence[str], memory: Memory | None = None
) -> tuple[Review, Settings]:
    """A review without a pull request, and the settings that the first of its commits has."""
    with Repository(steps.fetch(job, *commits)) as repository:
        settings = steps.settings_at(job, repository, commits[0])
        change = asyncio.run(repository.load_change(target, kind=kind))
        host = replace(steps.make_host(job, repository, memory), may_execute=True)
        if job.event.subject == "merge_group":
            host = replace(host, providers={})
        return asyncio.run(review_change(change, host)), settings


@as_described()
def find_issue(client: Client) -> tuple[int, State]:
    """The number of the issue of the last audit, 0 if there is none, and what it keeps.

    Only people who may triage can set its label, so nobody else can make it up.
    """
    about = {"state": "open", "labels": LABEL, "per_page": "100"}
    for issue in client.read("/issues", "find the issue of the last audit", **about):
        body = issue.get("body") or ""
        if first_line(body) == AUDIT and "pull_request" not in issue:
            return int(issue["number"]), pulls.state_in(body)
    return 0, State()


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


@as_described()
def find_pull(client: Client, event: Event) -> int:
    """The number of the pull request for which a fork's run collected evidence.

    It comes from GitHub by the head of that run, never from what the run hands over.
    """
    name = event.head_repository
    head = f"{name.partition('/')[0]}:{event.head_ref}"
    for pull in client.read("/pulls", "find the pull request of a run", state="open", head=head):
        source, sha = pull["head"]["repo"] or {}, pull["head"]["sha"]
        if (source.get("full_name"), sha) == (name, event.head_sha):
            return int(pull["number"])
    raise NothingToDo("head_moved", "No open pull request has the head of the run that finished.")
