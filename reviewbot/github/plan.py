"""What is to be done so that under a pull request stands what should, and how each of it is done.

`plan` is a pure function of both. Whatever part of a plan was carried out, the next plans come to
the same end, where a plan is empty. The summary comes last: it says that a commit was reviewed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import quote

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from reviewbot.github import pulls
from reviewbot.github.client import CallError, Client
from reviewbot.github.pulls import BOT, OwnReview, OwnThread, ReviewEvent, Snapshot, Thread
from reviewbot.reports.markdown import Annotation

Conclusion = Literal["success", "failure", "neutral"]
# GitHub takes so many of a request. The summary of the check run has all findings.
MAX_ANNOTATIONS = 50
THREAD = re.compile(r"#discussion_r[0-9]+")  # where the summary links to
OPINIONS = ("APPROVED", "CHANGES_REQUESTED")


class Action(Struct, frozen=True):
    """One write, but for a thread to be folded."""


class InlineComment(Struct, frozen=True, kw_only=True):
    """A comment on lines of the diff, 1-based. `key` is that of its finding."""

    key: str
    path: str
    line: int
    start_line: int
    side: Literal["LEFT", "RIGHT"]
    body: str


class Delete(Action, frozen=True):
    """A review that was never submitted, a second summary, or a second thread about a finding."""

    what: Literal["pending review", "comment", "thread"]
    id: int


class PostReview(Action, frozen=True):
    commit: str
    event: ReviewEvent
    body: str
    comments: tuple[InlineComment, ...] = ()


class DismissReview(Action, frozen=True):
    id: int
    message: str


class HideReview(Action, frozen=True):
    """Fold away a review that another run had posted already."""

    node_id: str


class ResolveThread(Action, frozen=True):
    """Resolve a thread; tokens that may not do that reply to its first comment."""

    thread: Thread
    reply: str


class ReopenThread(Action, frozen=True):
    node_id: str


class PostCheckRun(Action, frozen=True, kw_only=True):
    """A check run; `id` is 0 for a new one, which alone gets annotations: GitHub only adds some."""

    id: int = 0
    head_sha: str
    conclusion: Conclusion
    title: str
    summary: str
    annotations: tuple[Annotation, ...] = ()


class AddLabels(Action, frozen=True):
    labels: tuple[str, ...]


class RemoveLabel(Action, frozen=True):
    label: str


class WriteComment(Action, frozen=True):
    """A comment; `id` is 0 for a new one."""

    body: str
    id: int = 0


class Desired(Struct, frozen=True, kw_only=True):
    """What should stand under a pull request after a review.

    Attributes:
        refused: what GitHub does not take of a review: more than comments from this account, or one
            of the lines. It does not say which one; the summary shows what has no thread.
        body: of the pull request review, without its marker.
        open_keys: of all findings that are reported.
        known_keys: of those that were looked at, or looked up; a thread about another one is not
            touched unless the review is complete.
        closed: what is said about a finding that is gone, by key.
        managed_labels: those of them that are not in `labels` go.
    """

    commit: str
    is_complete: bool
    event: ReviewEvent
    refused: frozenset[Literal["lines", "verdict"]] = frozenset()
    body: str
    comments: tuple[InlineComment, ...]
    open_keys: frozenset[str]
    known_keys: frozenset[str]
    closed: Mapping[str, str] = {}
    check: PostCheckRun
    labels: frozenset[str] = frozenset()
    managed_labels: frozenset[str] = frozenset()
    summary: str

    def is_gone(self, key: str) -> bool:
        return key not in self.open_keys and (self.is_complete or key in self.known_keys)


def plan(desired: Desired, snapshot: Snapshot) -> list[Action]:
    """What is to be done, in order. New comments are posted before a summary can link to them."""
    todo: list[Action] = []
    for posted in snapshot.reviews:
        # One that was never submitted stands in the way of any other. One without our marker stays
        # if the account is a person's: they may be writing it.
        is_ours = snapshot.me.endswith(BOT) or "<!-- reviewbot:review" in posted.body
        if posted.is_own and posted.state == "PENDING" and is_ours:
            todo.append(Delete("pending review", posted.id))
    review = list(_review(desired, snapshot))
    todo += review
    # Doubles first: once the first one is folded, the second would count.
    todo += sorted(_threads(desired, snapshot), key=lambda a: not isinstance(a, Delete))
    todo += _opinions(desired, snapshot)

    check, app = desired.check, snapshot.me.removesuffix(BOT).lower()
    runs = [run for run in snapshot.checks if run.external_id == check.head_sha]
    runs = [run for run in runs if app in ("", run.app.lower())]
    newest = max(runs, key=lambda run: run.id, default=None)
    if newest is None:
        todo.append(check)
    elif (newest.title, newest.conclusion) != (check.title, check.conclusion):
        todo.append(replace(check, id=newest.id))

    there = {label.lower(): label for label in snapshot.pull.labels}
    if missing := tuple(sorted(label for label in desired.labels if label.lower() not in there)):
        todo.append(AddLabels(missing))
    gone = sorted(label.lower() for label in desired.managed_labels - desired.labels)
    todo += (RemoveLabel(there[label]) for label in gone if label in there)

    # What two runs posted at the same time: the first one stays.
    summaries = pulls.summaries_of(snapshot)
    todo += (Delete("comment", comment.id) for comment in summaries[1:])
    if any(action.comments for action in review):
        return todo
    if not summaries:
        todo.append(WriteComment(desired.summary))
    elif _is_outdated(summaries[0], desired):
        todo.append(WriteComment(desired.summary, summaries[0].id))
    return todo


def _review(desired: Desired, snapshot: Snapshot) -> Iterator[PostReview]:
    """One review, if a comment is missing or the verdict was not given yet."""
    threads, reviews = pulls.threads_of(snapshot), list(pulls.reviews_of(snapshot))
    commit, wanted = desired.commit, desired.comments
    new = tuple(c for c in wanted if not _is_posted(c.key, commit, threads, reviews))
    is_due = _is_verdict_due(desired, reviews, pulls.state_of(snapshot).head)
    if new or is_due:
        event = desired.event if is_due else "COMMENT"
        keys = ",".join(comment.key for comment in new)
        marker = pulls.REVIEW_MARKER.format(commit=commit, event=event, keys=keys)
        sent = () if "lines" in desired.refused else new
        yield PostReview(commit, event, f"{marker}\n{desired.body}", sent)


def _is_posted(key: str, commit: str, threads: list[OwnThread], reviews: list[OwnReview]) -> bool:
    """A thread about it is there, or a review of this commit had it without making a thread."""
    about = [own for own in threads if own.key == key]
    if any(not own.is_folded for own in about):
        return True
    named = sum(own.commit == commit and key in own.keys for own in reviews)
    return named > sum(own.commit == commit for own in about)


def _is_verdict_due(desired: Desired, reviews: list[OwnReview], last_commit: str) -> bool:
    """An approval is of one commit. A request for changes stands until it is dismissed.

    One of this commit that was dismissed counts, as a person's decision, unless another commit was
    reviewed since: then the change came back, and what was said of it holds again.
    """
    if desired.event == "COMMENT" or "verdict" in desired.refused:
        return False
    came_back = last_commit not in ("", desired.commit)
    for own in reviews:
        is_same = (own.commit, own.event) == (desired.commit, desired.event)
        if is_same and not (came_back and own.posted.state == "DISMISSED"):
            return False
    states = [own.posted.state for own in reviews if own.posted.state in OPINIONS]
    return not (desired.event == "REQUEST_CHANGES" and states[-1:] == ["CHANGES_REQUESTED"])


def _threads(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    """Close threads about what is gone, reopen those about what came back, remove doubles.

    Where others wrote, or resolved it, a thread is theirs.
    """
    seen: set[str] = set()
    for own in pulls.threads_of(snapshot):
        if own.is_folded:
            continue
        thread, first = own.thread, own.thread.comments[0]
        is_ours = thread.resolved_by.removesuffix(BOT) == snapshot.me.removesuffix(BOT) != ""
        is_double = own.key in seen
        seen.add(own.key)
        if is_double and not own.is_answered:
            yield Delete("thread", first.id)
        elif desired.is_gone(own.key) and not own.is_closed and not own.is_answered:
            yield close_thread(own, desired.closed.get(own.key, "No longer found."))
        elif own.key in desired.open_keys and is_ours and not is_double:
            yield ReopenThread(thread.node_id)


def close_thread(own: OwnThread, words: str) -> ResolveThread:
    return ResolveThread(own.thread, f"{pulls.CLOSED_MARKER.format(key=own.key)}\n{words}")


def _opinions(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    """Take back what no longer holds: no review that failed takes back a request for changes.

    Of those that several runs posted at the same time, the first one stays.
    """
    threads = Counter((own.key, own.commit) for own in pulls.threads_of(snapshot))
    seen: Counter[object] = Counter()
    for own in sorted(pulls.reviews_of(snapshot), key=lambda own: own.posted.id):
        # What it named and nobody could look at again is carried, and would still block.
        is_met = desired.event != "REQUEST_CHANGES" and (
            desired.is_complete or (own.keys and own.keys <= desired.known_keys)
        )
        is_outdated = own.commit != desired.commit or desired.event != "APPROVE"
        if own.posted.state == "CHANGES_REQUESTED" and is_met:
            yield DismissReview(own.posted.id, "What was asked for is done.")
        elif own.posted.state == "APPROVED" and is_outdated:
            yield DismissReview(own.posted.id, "It was about an earlier state of the change.")
        elif own.posted.state != "DISMISSED":
            about = (own.commit, own.event, own.keys)
            # Two reviews may each have a thread about a finding that came back.
            count = max([1, *(threads[key, own.commit] for key in own.keys)])
            if seen[about] >= count and not own.posted.is_minimized:
                yield HideReview(own.posted.node_id)
            seen[about] += 1


def _is_outdated(summary: pulls.Comment, desired: Desired) -> bool:
    bodies = (summary.body, desired.summary)
    state, wanted = map(pulls.state_in, bodies)
    # How often it was reviewed, for how much and in which runs is not worth a write.
    wanted = replace(wanted, reviews=state.reviews, cost_usd=state.cost_usd, runs=state.runs)
    verdicts = {"".join(body.splitlines()[2:3]) for body in bodies}
    threads = {tuple(THREAD.findall(body)) for body in bodies}
    return state != wanted or len(verdicts) > 1 or len(threads) > 1


def perform(client: Client, number: int, action: Action) -> None:
    """Do it, at most once. Raises GitHubError; "unsure" if nobody knows whether it was done."""
    pull, issue = f"/pulls/{number}", f"/issues/{number}"
    match action:
        case Delete(what, id):
            paths = {"pending review": f"{pull}/reviews", "thread": "/pulls/comments"}
            path = paths.get(what, "/issues/comments")
            client.write("DELETE", f"{path}/{id}", f"delete a {what}")
        case PostReview(commit, event, body, comments):
            entries = [to_builtins(comment) for comment in comments]
            for entry in entries:
                del entry["key"]
                if entry["start_line"] == entry["line"]:  # GitHub refuses that
                    del entry["start_line"]
                else:
                    entry["start_side"] = entry["side"]
            content = {"commit_id": commit, "event": event, "body": body, "comments": entries}
            _create(client, f"{pull}/reviews", "post a review", content)
        case DismissReview(id, message):
            content = {"message": message, "event": "DISMISS"}
            client.write("PUT", f"{pull}/reviews/{id}/dismissals", "dismiss a review", content)
        case HideReview(node_id):
            _fold(client, node_id, "DUPLICATE")
        case ResolveThread(thread, reply):
            _resolve(client, pull, thread, reply)
        case ReopenThread(node_id):
            client.mutate("unresolveReviewThread", {"threadId": node_id}, "reopen a thread")
        case PostCheckRun(id=id, head_sha=sha):
            output: dict[str, Any] = {"title": action.title, "summary": action.summary}
            check: dict[str, Any] = {"name": pulls.CHECK_NAME, "external_id": sha, "output": output}
            check |= {"status": "completed", "conclusion": action.conclusion}
            if id:
                client.write("PATCH", f"/check-runs/{id}", "update a check run", check)
            else:
                output["annotations"] = to_builtins(action.annotations[:MAX_ANNOTATIONS])
                _create(client, "/check-runs", "create a check run", check | {"head_sha": sha})
        case AddLabels(labels):
            _create(client, f"{issue}/labels", "add labels", {"labels": list(labels)})
        case RemoveLabel(label):
            client.write("DELETE", f"{issue}/labels/{quote(label, safe='')}", "remove a label")
        case WriteComment(body, 0):
            _create(client, f"{issue}/comments", "post a comment", {"body": body})
        case WriteComment(body, id):
            client.write("PATCH", f"/issues/comments/{id}", "edit a comment", {"body": body})


def _create(client: Client, path: str, doing: str, body: dict[str, Any]) -> None:
    """GitHub says 404 of a token that may read and not write."""
    try:
        client.write("POST", path, doing, body)
    except CallError as error:
        if error.kind == "gone" and " 404" in str(error):
            raise CallError("not_permitted", str(error), hint=error.hint or "") from error
        raise


def _resolve(client: Client, pull: str, thread: Thread, reply: str) -> None:
    """Resolving needs `contents: write`. Without it the comment is folded away and answered.

    The answer comes last: the next run knows by it that nothing is left to do.
    """
    try:
        if not client.may_resolve:
            raise CallError("not_permitted", "threads may not be resolved")
        client.mutate("resolveReviewThread", {"threadId": thread.node_id}, "resolve a thread")
    except CallError as error:
        if error.kind != "not_permitted":
            raise
        client.may_resolve = False  # the others need not be tried
        first = thread.comments[0]
        _fold(client, first.node_id, "RESOLVED")
        path = f"{pull}/comments/{first.id}/replies"
        client.write("POST", path, "answer in a thread", {"body": reply})


def _fold(client: Client, node_id: str, classifier: str) -> None:
    subject = {"subjectId": node_id, "classifier": classifier}
    client.mutate("minimizeComment", subject, "fold a text away")
