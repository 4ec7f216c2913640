"""Reviews without a pull request: of the whole tree on a schedule, and of a merge queue's group."""

from __future__ import annotations

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.git.change import Change
from reviewbot.git.repository import Repository
from reviewbot.git.target import Target
from reviewbot.github.actions import perform
from reviewbot.github.client import Client, GitHubError
from reviewbot.github.job import Job, Runner
from reviewbot.github.publish import PublishOptions, make_check_run
from reviewbot.github.run import fetch, keep, make_host, settings_at
from reviewbot.github.state import State, decode_state, encode_state
from reviewbot.pipeline import review as review_target
from reviewbot.reports import answers, markdown
from reviewbot.verdict.document import Memory

AUDIT = "<!-- reviewbot:audit -->"
LABEL = "reviewbot:audit"
TITLE = "Audit by reviewbot"
NO_ISSUES = (
    "The token may not write issues, so the audit is in the job summary: give issues: write."
)


class Issue(Struct, frozen=True):
    """The issue that holds the last audit; its number is 0 if there is none."""

    number: int = 0
    state: State = State()


def audit(job: Job, runner: Runner, client: Client) -> int:
    """Review the whole tree, and say in one issue what differs from the last audit."""
    try:
        last = find_issue(client)
    except GitHubError as error:
        if error.kind in ("not_authorized", "deferred"):
            raise
        runner.say(str(error), "warning")
        last = Issue()
    with Repository(fetch(job, job.sha)) as repository:
        settings = settings_at(job, repository, job.sha)
        change = asyncio.run(repository.load_change(Target(kind="all", revision=job.sha)))
        host = replace(make_host(job, repository, last.state.memory), may_execute=True)
        review = asyncio.run(review_target(change, host))
    code = keep(job, runner, review, settings)
    state = replace(
        last.state,
        memory=review.memory or Memory(),
        head=job.sha,
        run_id=job.run_id,
        reviews=last.state.reviews + 1,
        cost_usd=round(last.state.cost_usd + review.usage.cost_usd, 6),
    )
    line = encode_state(state)
    room = markdown.MAX_BYTES - len(line) - len(AUDIT)
    page = markdown.Page(run_url=job.run_url, has_commands=False)
    words = answers.audit(review, last.state.memory, page, room)
    body = f"{AUDIT}\n{line}\n{words}"
    if job.is_on("dry_run"):
        return code
    try:
        if last.number:
            path = f"/issues/{last.number}"
            made = client.write("PATCH", path, "edit the issue of the audit", {"body": body})
        else:
            content = {"title": TITLE, "body": body, "labels": [LABEL]}
            made = client.write("POST", "/issues", "open an issue for the audit", content)
    except GitHubError as error:
        if error.kind not in ("not_permitted", "gone"):
            raise
        runner.say(NO_ISSUES, "warning")
        return code
    runner.put({"summary_comment_url": made["html_url"]})
    runner.say(f"The audit is in {made['html_url']}")
    return code


def check_merge_group(job: Job, runner: Runner, client: Client) -> int:
    """Run the checks over what the queue merges, without models, and say so in a check run."""
    event = job.event
    with Repository(fetch(job, event.base_sha, event.head_sha)) as repository:
        settings = settings_at(job, repository, event.base_sha)
        target = Target(kind="revision", revision=f"{event.base_sha}..{event.head_sha}")
        change: Change = asyncio.run(repository.load_change(target))
        host = replace(make_host(job, repository, None), may_execute=True, providers={})
        review = asyncio.run(review_target(change, host))
    code = keep(job, runner, review, settings)
    options = PublishOptions(fail_on=settings.review.fail_on, run_url=job.run_url)
    if not job.is_on("dry_run"):
        perform(client, 0, make_check_run(review, options))
    return code


def find_issue(client: Client) -> Issue:
    """Only people who may triage can set its label, so nobody else can make it up."""
    found = client.read(
        "/issues", "find the issue of the last audit", state="open", labels=LABEL, per_page="100"
    )
    for issue in found if isinstance(found, list) else []:
        first, _, rest = (issue.get("body") or "").partition("\n")
        if first.rstrip("\r") == AUDIT and "pull_request" not in issue:
            return Issue(int(issue["number"]), decode_state(rest.partition("\n")[0]) or State())
    return Issue()
