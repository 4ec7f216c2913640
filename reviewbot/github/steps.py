"""Review a pull request, and leave under it what should stand there, however it goes."""

import asyncio
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec
import requests
from msgspec import Struct
from msgspec.structs import replace
from urllib3.exceptions import HTTPError

from reviewbot.config.load import load_settings
from reviewbot.config.settings import Settings
from reviewbot.debate.panel import read_roles
from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.events import Event
from reviewbot.git.change import Change
from reviewbot.git.fetch import fetch_commits
from reviewbot.git.repository import Repository
from reviewbot.github import plan, pulls
from reviewbot.github.activity import MOVED, Facts, NothingToDo, may_execute
from reviewbot.github.client import LATER, CallError, Client, GitHubError, as_described
from reviewbot.github.job import Job, Runner
from reviewbot.github.pulls import SUMMARY, PullRequest, ReviewEvent, Snapshot, State
from reviewbot.journal import Journal, key_of, write_file
from reviewbot.reports import markdown, render
from reviewbot.services import CONFIG_FILES, Host, repository_layers
from reviewbot.severity import Threshold
from reviewbot.state import read_review
from reviewbot.text.markdown import inline
from reviewbot.text.plain import plain
from reviewbot.verdict.document import Finding, Memory, Remembered, Review, Verdict
from reviewbot.verdict.memory import with_dismissals

LONG = 5  # seconds
DEPTH = 60  # commits of a pull request that are fetched, for their messages
REVIEW_FILE = "review.json"
ARTIFACT = "reviewbot-review"
MAX_ARTIFACT = 50_000_000  # bytes
WORKFLOW = "reviewbot-review.yml"
NOT_EXECUTED = "this job executes nothing of forks, of Dependabot, or of who may not write here"
NOT_REVIEWED = "**reviewbot** has not reviewed this pull request yet."
VERDICTS: dict[Verdict, tuple[ReviewEvent, str]] = {  # with the label that says it
    "approve": ("APPROVE", "reviewbot:approved"),
    "comment": ("COMMENT", "reviewbot:reviewed"),
    "request_changes": ("REQUEST_CHANGES", "reviewbot:changes-requested"),
}
# Three refusals of a review, the review, its summary, a look, and two answers that are lost.
ATTEMPTS = 8
APPROVAL_HINT = "the repository's settings under Actions may allow approvals"
# What GitHub says of a review if it refuses one of its lines, and not its verdict.
LINES = re.compile(r"review thread|could not be resolved|diff", re.IGNORECASE)
NOT_PERMITTED = "The token of this job may not comment: the review is in the job summary."


class Run(Struct, frozen=True):
    job: Job
    runner: Runner
    client: Client
    facts: Facts
    repository: Repository
    settings: Settings
    change: Change

    @property
    def snapshot(self) -> Snapshot:
        assert self.facts.snapshot
        return self.facts.snapshot


class Answer(Struct, frozen=True, kw_only=True):
    """What is said, in Markdown, and what else is done.

    Attributes:
        update: changes the state, whatever it is by then.
        reviews_again: a run of its own, because the head moved on or a finding was dismissed.
    """

    words: str
    update: Callable[[State], State] | None = None
    actions: tuple[plan.Action, ...] = ()
    reviews_again: bool = False
    is_done: bool = True
    exit_code: int = 0


def fetch(job: Job, *commits: str) -> Path:
    """Fetch commits into the checkout of the job, where the project's environment is, if any."""
    folder = job.workspace if (job.workspace / ".git").exists() else job.documents / "repository"
    url, unique = f"{job.server_url}/{job.repository}.git", list(dict.fromkeys(commits))
    work = fetch_commits(url, unique, folder, token=job.token, depth=DEPTH, variables=job.variables)
    asyncio.run(work)
    return folder


def settings_at(job: Job, repository: Repository, commit: str) -> Settings:
    files = asyncio.run(repository.read_files(commit, CONFIG_FILES))
    return load_settings([*job.layers(), *repository_layers(files)]).settings


def read_change(job: Job, client: Client, repository: Repository, pull: PullRequest) -> Change:
    """What a pull request changes since it left its base, with what its author says about it."""
    path = f"/compare/{pull.base_sha}...{pull.head_sha}"
    # The files are on the first page only; the second has the merge base and none of them.
    found = client.read(path, "compare base and head", per_page="1", page="2")
    with as_described():
        base = str(found["merge_base_commit"]["sha"])
    if base != pull.base_sha:
        fetch(job, base)
    change = asyncio.run(repository.load_change(f"{base}..{pull.head_sha}"))
    said = "\n\n".join(filter(None, (pull.body, change.description)))
    return replace(change, title=pull.title, description=said)


def make_host(job: Job, repository: Repository, memory: Memory | None) -> Host:
    return Host(
        repository=repository,
        journal=Journal(job.documents / ("results" if job.mode == "debate" else "evidence")),
        state_folder=job.documents / "state",
        layers=job.layers(),
        variables=job.variables,
        panelists=read_roles(job.inputs["models"].replace(",", " ").split(), "the input models:"),
        may_execute=False,
        not_executed=NOT_EXECUTED,
        memory=memory,
        emit=_show,
    )


def _show(event: Event) -> None:
    """A line in the log for what took long: who waits for the job sees that it goes on."""
    if (seconds := event.seconds or 0) >= LONG:
        print(plain(f"{event.name.replace('/', ': ')} ({seconds:.1f} s)"), flush=True)


def host_of(run: Run, memory: Memory, focus: str = "") -> Host:
    journal = Journal(run.job.documents / "evidence")
    is_others = run.snapshot.is_fork or run.facts.is_by_dependabot
    return replace(
        make_host(run.job, run.repository, memory),
        may_execute=may_execute(run.facts),
        author_journal=journal if run.job.mode == "debate" else None,
        focus=focus,
        may_approve=run.job.allow_approve and not is_others,
    )


def finish(run: Run, review: Review, suggestions: Mapping[str, str] = {}) -> tuple[int, str]:
    """Keep a review, and bring it to its pull request. `suggestions` are proven new lines by id.

    Returns the exit code of the job, and the verdict or why none is posted. Raises GitHubError.
    """
    code = keep(run.job, run.runner, review, run.settings)
    try:
        if run.job.dry_run:
            unposted = "A dry run: nothing is posted."
        elif posted := publish(run, review, suggestions):
            return code, markdown.review_body(posted)
        else:
            unposted = NOT_PERMITTED
            print(render(review, "github"), flush=True)
    except NothingToDo as reason:
        unposted = str(reason)
    run.runner.say(unposted, "notice")
    return code, unposted


def keep(job: Job, runner: Runner, review: Review, settings: Settings) -> int:
    """Write the documents, the outputs and the summary of the job; 1 if `fail_on` is reached."""
    write_file(job.documents / REVIEW_FILE, msgspec.json.encode(review))
    if name := job.inputs["sarif_file"]:
        try:
            write_file(job.workspace / name, render(review, "sarif").encode())
        except ReviewbotError as error:  # the review was paid for, and is posted anyway
            runner.say(error.with_hint, "error")
    keys = ("id", "key", "title", "severity", "status", "rule", "blocks")
    briefs = []
    for finding in review.reported:
        place = finding.location
        where = {"path": place.path if place else "", "line": place.line if place else 0}
        briefs.append({key: getattr(finding, key) for key in keys} | where)
    runner.put(
        verdict=review.verdict,
        complete=review.complete,
        reviewed_sha=review.head_commit,
        cost_usd=f"{review.usage.cost_usd:.6f}",
        findings_json=msgspec.json.encode(briefs).decode(),
    )
    subject = job.event.subject
    page = markdown.Page(
        run_url=job.run_url,
        has_commands=subject not in ("audit", "merge_group"),
        has_panel=subject != "merge_group" and job.mode != "collect",
    )
    runner.summarise(markdown.summary(review, page))
    return int(review.reaches(settings.review.fail_on))


@cache
def read_artifact(client: Client, run_id: int) -> Review | None:
    """The review of a run of the workflow; None if it cannot be had."""
    if not run_id:
        return None
    with suppress(GitHubError, HTTPError, zipfile.BadZipFile, zlib.error, OSError), as_described():
        path = f"/actions/runs/{run_id}/artifacts"
        found = client.read(path, "find the review of a run", name=ARTIFACT, per_page="1")
        artifact = next(iter(found.get("artifacts") or []), None)
        if not artifact or artifact.get("expired"):
            return None
        url = client.location(f"/actions/artifacts/{artifact['id']}/zip", "download a review")
        # It lies on another host, which must not see the token.
        with requests.get(url, timeout=30, stream=True) as response:
            content = response.raw.read(MAX_ARTIFACT, decode_content=True)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            info = archive.getinfo(REVIEW_FILE)
            return read_review(archive.read(info)) if info.file_size < MAX_ARTIFACT else None
    return None


def find_debated(client: Client, state: State, known: Remembered) -> Finding | None:
    """A finding as the review has it that debated it; None if that is gone."""
    review = read_artifact(client, state.runs.get(known.id, 0))
    found = review.findings if review else ()
    return next((finding for finding in found if finding.key == known.key), None)


def publish(run: Run, review: Review, offers: Mapping[str, str]) -> Review | None:
    """Read what is there, do what is missing, and look again until nothing is.

    Returns the review as GitHub takes it, None if this token may not comment. Raises GitHubError
    if the pull request cannot be read or written, and NothingToDo if it is closed or moved on.
    """
    client, runner, number = run.client, run.runner, run.snapshot.pull.number
    # What GitHub refused, and check runs, however late it shows them.
    settled: set[plan.Action | type[plan.Action]] = set()
    refused = set[Literal["lines", "verdict"]]()  # of the review
    resolved, failed = 0, "GitHub does not take the summary"
    for _ in range(ATTEMPTS):
        snapshot = pulls.read_snapshot(client, number)
        check_open(snapshot, review.head_commit)
        desired = make_desired(run, review, snapshot, offers)
        desired = replace(desired, refused=frozenset(refused))
        if plan.PostReview in settled:
            desired = replace(desired, comments=())  # those keep the summary back
        todo = [a for a in plan.plan(desired, snapshot) if settled.isdisjoint((a, type(a)))]
        if not todo:
            break
        for action in todo:
            try:
                plan.perform(client, number, action)
                resolved += isinstance(action, plan.ResolveThread)
                if isinstance(action, plan.PostCheckRun):
                    settled.add(action)
            except CallError as error:
                if error.kind == "stale":
                    raise NothingToDo("head_moved", MOVED) from error
                if error.kind in ("unsure", "failed"):
                    failed = str(error)
                    break  # look what is there before anything is written again
                if isinstance(action, plan.PostReview) and error.kind == "invalid":
                    is_verdict = action.event != "COMMENT"
                    if action.comments and (LINES.search(str(error)) or not is_verdict):
                        refused.add("lines")
                    elif is_verdict:
                        refused.add("verdict")
                        if action.event == "APPROVE":
                            review = replace(review, verdict="comment")
                            keep(run.job, runner, review, run.settings)
                            runner.say(f"{error} ({APPROVAL_HINT})", "warning")
                    else:
                        settled.add(plan.PostReview)
                        runner.say(str(error), "warning")
                    break
                settled.add(type(action) if error.kind == "not_permitted" else action)
                if error.kind != "gone":  # somebody was faster
                    runner.say(error.with_hint, "warning")
    found = pulls.summaries_of(snapshot)
    may_comment = plan.WriteComment not in settled
    if todo or (may_comment and not found):
        raise GitHubError("failed", failed, hint=LATER)
    url = found[0].url if found else ""
    open_threads = sum(not own.is_closed for own in pulls.threads_of(snapshot))
    runner.put(summary_comment_url=url, comments_inline=open_threads, comments_resolved=resolved)
    if may_comment:
        runner.say(f"The review is posted: {url}")
    return review if may_comment else None


def make_desired(
    run: Run, review: Review, snapshot: Snapshot, suggestions: Mapping[str, str]
) -> plan.Desired:
    """What should stand there. People may have dismissed findings while the review was made."""
    settings, state = run.settings.github, pulls.state_of(snapshot)
    review = with_dismissals(review, state.memory)
    memory = review.memory or Memory()
    reported = review.reported
    open_keys = frozenset(finding.key for finding in reported)
    threads = [t for t in pulls.threads_of(snapshot) if t.key in open_keys and not t.is_folded]
    links = {own.id: own.thread.comments[0].url for own in reversed(threads)}
    left = settings.max_comments - len({own.key for own in threads if not own.is_closed})
    without = [finding for finding in reported if finding.key not in {own.key for own in threads}]
    gone = [known for known in state.memory.findings if known.key not in open_keys]
    dismissed = tuple(known for known in memory.findings if known.dismissed)
    check = make_check_run(review, run.settings.review.fail_on)
    debated = {finding.id for finding in review.findings if finding.claims}
    runs = {known.id: run.job.run_id for known in memory.findings}
    runs |= {id: state.runs[id] for id in runs.keys() & state.runs.keys() - debated}
    kept = replace(
        state.with_cost(review.usage.cost_usd, reviews=1),
        memory=memory,
        head=review.head_commit,
        base=run.snapshot.pull.base_ref,
        fails=check.conclusion == "failure",
        gaps=key_of(review.gaps)[:8] if review.gaps else "",
        runs=runs,
    )
    line = pulls.encode_state(kept)
    page = markdown.Page(
        links=links,
        fixed=tuple(known for known in gone if not known.dismissed),
        fixes=tuple(f"{', '.join(fix.findings)} as {fix.commit[:10]}" for fix in state.fixes),
        dismissed=dismissed,
        run_url=run.job.run_url,
    )
    room = markdown.MAX_BYTES - len(line) - len(SUMMARY)
    event, label = VERDICTS[review.verdict]
    managed = frozenset(each for _, each in VERDICTS.values() if settings.labels)
    comments = _inline_comments(without, run.change, review.head_commit, suggestions)
    return plan.Desired(
        commit=review.head_commit,
        is_complete=review.complete,
        event=event,
        body=markdown.review_body(review),
        comments=tuple(islice(comments, max(0, left))),
        open_keys=open_keys,
        known_keys=frozenset(state.memory.numbers if run.facts.state.head else ())
        | {known.key for known in (*review.findings, *dismissed)},
        closed={known.key: inline(f"Dismissed: {known.dismissed}") for known in dismissed},
        check=check,
        labels=managed & {label},
        managed_labels=managed,
        summary=f"{SUMMARY}\n{line}\n{markdown.summary(review, page, room)}",
    )


def check_open(snapshot: Snapshot, commit: str) -> None:
    """Raises NothingToDo if nothing is to be written for a commit (any more)."""
    if snapshot.pull.state != "OPEN":
        raise NothingToDo("closed", "The pull request was closed meanwhile: nothing is posted.")
    if snapshot.pull.is_locked:
        raise NothingToDo("locked", "The conversation is locked: nothing is posted.")
    if snapshot.pull.head_sha != commit:
        raise NothingToDo("head_moved", MOVED)
    if snapshot.hides_own:
        # What is ours would be posted again, and what it keeps would be forgotten.
        words = "what stands under the pull request cannot be read whole"
        raise GitHubError("not_permitted", words, hint="give the token pull-requests: read")
    if pulls.state_of(snapshot).stopped_by:
        raise NothingToDo("stopped", "reviewbot was told to stop here: nothing is posted.")


def _inline_comments(
    findings: Sequence[Finding], change: Change, commit: str, suggestions: Mapping[str, str]
) -> Iterator[plan.InlineComment]:
    """Findings whose lines GitHub shows, each where its lines end."""
    files = {file.path_at(side): file for file in change.files for side in ("base", "head")}
    for finding in findings:
        place = finding.location
        file = files.get(place.path) if place else None
        if not place or not file:
            continue
        for hunk in file.hunks:
            numbers = hunk.removed if place.side == "base" else dict(hunk.at("head"))
            shown = [n for n in range(place.line, place.end_line + 1) if n in numbers]
            if place.line in shown:
                marker = pulls.FINDING_MARKER.format(key=finding.key, id=finding.id, commit=commit)
                suggestion = suggestions.get(finding.id) if shown[-1] == place.end_line else None
                yield plan.InlineComment(
                    key=finding.key,
                    path=file.path,
                    line=shown[-1],
                    start_line=place.line,
                    side="LEFT" if place.side == "base" else "RIGHT",
                    body=f"{marker}\n{markdown.comment(finding, suggestion)}",
                )
                break


def make_check_run(review: Review, fail_on: Threshold, has_panel: bool = True) -> plan.PostCheckRun:
    conclusion: plan.Conclusion = "success" if review.complete else "neutral"
    return plan.PostCheckRun(
        head_sha=review.head_commit,
        conclusion="failure" if review.reaches(fail_on) else conclusion,
        title=markdown.check_title(review),
        summary=markdown.summary(review, markdown.Page(has_commands=False, has_panel=has_panel)),
        annotations=markdown.annotations(review),
    )


def update_state(client: Client, number: int, update: Callable[[State], State]) -> None:
    """Change the state of a pull request, whatever it is by now."""
    snapshot = pulls.read_snapshot(client, number)
    state = update(pulls.state_of(snapshot))
    found = pulls.summaries_of(snapshot)
    body, id = (found[0].body, found[0].id) if found else (f"{SUMMARY}\n{NOT_REVIEWED}", 0)
    plan.perform(client, number, plan.WriteComment(pulls.with_state(body, state), id))


def order(client: Client, job: Job, comment_id: int | None = None) -> None:
    """Start the review workflow, for a comment if one is given. Raises UsageError."""
    event, about = job.event, "issue" if job.event.issue else "pull_request"
    inputs = {"comment": str(comment_id or ""), about: str(event.issue or event.number)}
    body = {"ref": event.default_branch, "inputs": inputs}
    try:
        path = f"/actions/workflows/{WORKFLOW}/dispatches"
        client.write("POST", path, "start the review workflow", body)
    except GitHubError as error:
        if error.kind in ("gone", "invalid"):
            said = f"There is no workflow {WORKFLOW} here" if error.kind == "gone" else error
            raise UsageError(f"{said}: reviewbot init --workflow review.") from error
        if error.kind == "not_permitted":
            words = "To start the review workflow, this job needs actions: write."
            raise UsageError(words) from error
        raise
