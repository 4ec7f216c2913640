"""Bring a review to its pull request, and leave there what should stand there, however it goes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from reviewbot.config.settings import Settings
from reviewbot.git.change import Change
from reviewbot.github import actions
from reviewbot.github.actions import Action, InlineComment, PostCheckRun, PostReview, ReviewEvent
from reviewbot.github.activity import MOVED, NothingToDo
from reviewbot.github.client import LATER, CallError, GitHubError
from reviewbot.github.job import Job, Runner
from reviewbot.github.plan import Desired, plan
from reviewbot.github.run import REVIEW_FILE, Run
from reviewbot.github.snapshot import Snapshot, read_snapshot
from reviewbot.github.state import (
    FINDING_MARKER,
    SUMMARY,
    State,
    decode_state,
    encode_state,
    state_of,
    summaries_of,
    threads_of,
)
from reviewbot.journal import write_file
from reviewbot.reports import markdown, render
from reviewbot.severity import Threshold, reaches
from reviewbot.text.markdown import inline
from reviewbot.verdict.document import Finding, Memory, Review, Verdict
from reviewbot.verdict.memory import with_dismissals

NOTHING: Mapping[str, str] = {}
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


def finish(
    run: Run, change: Change, review: Review, suggestions: Mapping[str, str] = NOTHING
) -> int:
    """Keep a review, bring it to its pull request, and say so. Returns the exit code of the job.

    `suggestions` are proven new lines by the ids of findings. Raises GitHubError.
    """
    runner = run.runner
    code = keep(run.job, runner, review, run.settings)
    if run.job.is_on("dry_run"):
        runner.say("A dry run: nothing is posted.", "notice")
        return code
    try:
        if not publish(run, review, change, suggestions):
            runner.say(NOT_PERMITTED, "notice")
            print(render(review, "github"), flush=True)
    except NothingToDo as reason:
        runner.say(str(reason), "notice")
    return code


def keep(job: Job, runner: Runner, result: Review, settings: Settings) -> int:
    """Write the documents, the outputs and the summary of the job; 1 if `fail_on` is reached."""
    job.documents.mkdir(parents=True, exist_ok=True)
    write_file(job.documents / REVIEW_FILE, msgspec.json.encode(result))
    if name := job.inputs["sarif_file"]:
        path = job.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, render(result, "sarif").encode())
    reported = result.reported
    runner.put(
        {
            "verdict": result.verdict,
            "complete": result.complete,
            "reviewed_sha": result.head_commit,
            "cost_usd": f"{result.usage.cost_usd:.6f}",
            "findings_json": msgspec.json.encode([*map(_brief_of, reported)]).decode(),
        }
    )
    subject = job.event.subject
    page = markdown.Page(
        run_url=job.run_url,
        has_commands=subject not in ("audit", "merge_group"),
        has_panel=subject != "merge_group" and job.mode != "collect",
    )
    runner.summarise(markdown.summary(result, page))
    return int(any(reaches(found.severity, settings.review.fail_on) for found in reported))


def publish(run: Run, review: Review, change: Change, suggestions: Mapping[str, str]) -> bool:
    """Read what is there, do what is missing, and look again until nothing is.

    Returns whether this token may comment. Raises GitHubError if the pull request cannot be read,
    or what is missing cannot be written, and NothingToDo if it is closed or moved on meanwhile.
    """
    client, runner, number = run.client, run.runner, run.snapshot.pull.number
    refused: set[Action | type[Action]] = set()
    resolved = 0
    has_lines = may_judge = True
    failed = "GitHub does not take the summary"
    for _ in range(ATTEMPTS):
        snapshot = read_snapshot(client, number)
        check_open(snapshot, review.head_commit)
        desired = make_desired(run, review, change, snapshot, suggestions)
        desired = replace(desired, may_judge=may_judge)
        if PostReview in refused:
            desired = replace(desired, comments=())  # those keep the summary back
        todo = [a for a in plan(desired, snapshot) if refused.isdisjoint((a, type(a)))]
        if not todo:
            break
        for action in todo:
            if isinstance(action, PostReview) and not has_lines:
                # GitHub does not say which line it refuses. The summary shows what has no thread.
                action = replace(action, comments=())
            try:
                actions.perform(client, number, action)
                resolved += isinstance(action, actions.ResolveThread)
            except CallError as error:
                if error.kind == "stale":
                    raise NothingToDo("head_moved", MOVED) from error
                if error.kind in ("unsure", "failed"):
                    failed = str(error)
                    break  # look what is there before anything is written again
                if isinstance(action, PostReview) and error.kind == "invalid":
                    is_verdict = action.event != "COMMENT"
                    if action.comments and (LINES.search(str(error)) or not is_verdict):
                        has_lines = False
                    elif is_verdict:
                        may_judge = False
                        if action.event == "APPROVE":
                            review = replace(review, verdict="comment")
                            runner.put({"verdict": review.verdict})
                            runner.say(f"{error} ({APPROVAL_HINT})", "warning")
                    else:
                        refused.add(PostReview)
                        runner.say(str(error), "warning")
                    break
                if error.kind == "gone":
                    refused.add(action)  # somebody was faster
                else:
                    refused.add(type(action) if error.kind == "not_permitted" else action)
                    runner.say(str(error), "warning")
    found = summaries_of(snapshot)
    may_comment = actions.WriteComment not in refused
    if todo or (may_comment and not found):
        raise GitHubError("failed", failed, hint=LATER)
    url = found[0].url if found else ""
    open_threads = sum(not own.is_closed for own in threads_of(snapshot))
    numbers = {"comments_inline": open_threads, "comments_resolved": resolved}
    runner.put({"summary_comment_url": url, **numbers})
    if may_comment:
        runner.say(f"The review is posted: {url}")
    return may_comment


def make_desired(
    run: Run, review: Review, change: Change, snapshot: Snapshot, suggestions: Mapping[str, str]
) -> Desired:
    """What should stand there. People may have dismissed findings while the review was made."""
    settings, state = run.settings.github, state_of(snapshot)
    review = with_dismissals(review, state.memory)
    memory = review.memory or Memory()
    reported = review.reported
    open_keys = frozenset(finding.key for finding in reported)
    threads = [own for own in threads_of(snapshot) if own.key in open_keys and not own.is_folded]
    links = {own.id: own.thread.comments[0].url for own in reversed(threads)}
    left = settings.max_comments - len({own.key for own in threads if not own.is_closed})
    without = [finding for finding in reported if finding.key not in {own.key for own in threads}]
    gone = [known for known in state.memory.findings if known.key not in open_keys]
    dismissed = tuple(known for known in memory.findings if known.dismissed)
    check = make_check_run(review, run.settings.review.fail_on)
    kept = replace(
        state.with_cost(review.usage.cost_usd, reviews=1),
        memory=memory,
        head=review.head_commit,
        base=run.snapshot.pull.base_ref,
        fails=check.conclusion == "failure",
        run_id=run.job.run_id,
    )
    line = encode_state(kept)
    page = markdown.Page(
        links=links,
        fixed=tuple(known for known in gone if not known.dismissed),
        dismissed=dismissed,
        run_url=run.job.run_url,
    )
    room = markdown.MAX_BYTES - len(line) - len(SUMMARY)
    event, label = VERDICTS[review.verdict]
    managed = frozenset(each for _, each in VERDICTS.values() if settings.labels)
    return Desired(
        commit=review.head_commit,
        is_complete=review.complete,
        event=event,
        body=markdown.review_body(review),
        comments=tuple(_inline_comments(without, change, review.head_commit, left, suggestions)),
        open_keys=open_keys,
        known_keys=frozenset(state.memory.numbers if state.head else ())
        | {finding.key for finding in review.findings},
        closed={known.key: inline(f"Dismissed: {known.dismissed}") for known in dismissed},
        check=check,
        labels=managed & {label},
        managed_labels=managed,
        state=decode_state(line) or State(),
        summary=f"{SUMMARY}\n{line}\n{markdown.summary(review, page, room)}",
        links=tuple(links.values()),
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
    if state_of(snapshot).stopped_by:
        raise NothingToDo("stopped", "reviewbot was told to stop here: nothing is posted.")


def _inline_comments(
    findings: Sequence[Finding],
    change: Change,
    commit: str,
    most: int,
    suggestions: Mapping[str, str],
) -> Iterator[InlineComment]:
    """The worst findings whose lines GitHub shows, each where its lines end."""
    files = {file.path_at(side): file for file in change.files for side in ("base", "head")}
    count = 0
    for finding in findings:
        place = finding.location
        file = files.get(place.path) if place else None
        if not place or not file or count >= most:
            continue
        for hunk in file.hunks:
            numbers = {number for number, _ in hunk.at(place.side)}
            if place.side == "base":
                numbers &= set(hunk.removed)
            shown = [n for n in range(place.line, place.end_line + 1) if n in numbers]
            if place.line in shown:
                count += 1
                marker = FINDING_MARKER.format(key=finding.key, id=finding.id, commit=commit)
                is_whole = shown[-1] == place.end_line
                suggestion = suggestions.get(finding.id) if is_whole else None
                yield InlineComment(
                    key=finding.key,
                    path=file.path,
                    line=shown[-1],
                    start_line=place.line,
                    side="LEFT" if place.side == "base" else "RIGHT",
                    body=f"{marker}\n{markdown.comment(finding, suggestion)}",
                )
                break


def make_check_run(review: Review, fail_on: Threshold, *, has_panel: bool = True) -> PostCheckRun:
    conclusion: actions.Conclusion = "success" if review.complete else "neutral"
    if any(reaches(finding.severity, fail_on) for finding in review.reported):
        conclusion = "failure"
    return PostCheckRun(
        head_sha=review.head_commit,
        conclusion=conclusion,
        title=markdown.check_title(review),
        summary=markdown.summary(review, markdown.Page(has_commands=False, has_panel=has_panel)),
        annotations=markdown.annotations(review),
    )


def _brief_of(finding: Finding) -> dict[str, object]:
    keys = ("id", "key", "title", "severity", "status", "rule", "blocks")
    place = finding.location
    found = {key: getattr(finding, key) for key in keys}
    return found | {"path": place.path if place else "", "line": place.line if place else 0}
