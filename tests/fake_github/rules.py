"""Rules that GitHub's schemas do not have: who may write what, and on which lines.

The texts are those that clients reported, G numbers those of the table of faults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fake_github.messages import ApiError, unprocessable, validation_failed
from tests.fake_github.records import Anchor, Comment, Issue, Review, ReviewComment, Thread, User

if TYPE_CHECKING:
    from tests.fake_github.permissions import Token
    from tests.fake_github.pull import Pull

BODY_CHARACTERS = 65_536
ACTIONS_BOT = "github-actions[bot]"
WRITERS = ("write", "maintain", "admin")
STATES = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}

THREAD = "Pull request review thread"
NO_HUNK = f"{THREAD} diff hunk can't be blank"
NO_LINE = f"{THREAD} line must be part of the diff and {NO_HUNK}"
OTHER_HUNK = f"{THREAD} start line must be part of the same hunk as the line."
NO_PATH = f"{THREAD} path is invalid and {NO_HUNK}"
NO_BODY = "You need to leave a comment indicating the requested changes."
TOO_LONG = f"Body is too long (maximum is {BODY_CHARACTERS} characters)"


def check_length(resource: str, body: str) -> None:
    """G9. GitHub counts characters."""
    if len(body) > BODY_CHARACTERS:
        raise validation_failed(resource, "data", TOO_LONG, "unprocessable")


def check_conversation(parent: Pull | Issue, actor: User) -> None:
    """G15. Who has write access may comment on a locked conversation; an app may not."""
    if parent.locked and parent.repository.role(actor.login) not in WRITERS:
        raise ApiError(403, "Unable to create comment because issue is locked.")


def create_comment(parent: Pull | Issue, actor: User, body: str) -> Comment:
    check_conversation(parent, actor)
    if not body.strip():
        raise validation_failed("IssueComment", "data", "Body cannot be blank", "unprocessable")
    check_length("IssueComment", body)
    home = parent.repository
    github = home.github
    comment = Comment(github.next_id(), home, actor, body, github.now(), parent)
    parent.comments.append(comment)
    return comment


def create_reply(thread: Thread, actor: User, body: str) -> ReviewComment:
    """A reply in a thread belongs to a review of its own."""
    pull, home, resource = thread.pull, thread.pull.repository, "PullRequestReviewComment"
    check_conversation(pull, actor)
    if has_pending_review(pull, actor):
        message = "user_id can only have one pending review per pull request"
        raise validation_failed("PullRequestReview", "user_id", message)
    if not body.strip():
        raise validation_failed(resource, "body", "body can't be blank", "missing_field")
    check_length(resource, body)
    github = home.github
    now, head, first = github.now(), pull.head_sha, thread.comments[0].id
    review = Review(github.next_id(), home, actor, "", now, pull, "COMMENTED", head, now)
    reply = ReviewComment(github.next_id(), home, actor, body, now, thread, review, first)
    review.comments.append(reply)
    thread.comments.append(reply)
    pull.reviews.append(review)
    return reply


def create_review(pull: Pull, actor: User, request: dict[str, Any]) -> Review:
    """G4, G6, G7, G8, G9, G15: a review with all its comments, or nothing."""
    event = request.get("event")
    body = request.get("body") or ""
    comments = request.get("comments") or []
    check_conversation(pull, actor)
    if has_pending_review(pull, actor):
        raise unprocessable("User can only have one pending review per pull request")
    commit = request.get("commit_id") or pull.head_sha
    if commit not in pull.commits:
        raise unprocessable("Commit oid is not part of the pull request")
    check_event(pull, actor, event)
    check_bodies(event, body, [comment["body"] for comment in comments])
    anchors = [find_anchor(pull, commit, comment) for comment in comments]
    home, github = pull.repository, pull.repository.github
    now = github.now()
    review = Review(github.next_id(), home, actor, body, now, pull, "PENDING", commit)
    for comment, anchor in zip(comments, anchors, strict=True):
        thread, text = Thread(github.next_id(), pull, anchor), comment["body"]
        first = ReviewComment(github.next_id(), home, actor, text, now, thread, review)
        thread.comments.append(first)
        review.comments.append(first)
        pull.all_threads.append(thread)
    pull.reviews.append(review)
    if event:
        review.state, review.submitted_at = STATES[event], now
    return review


def has_pending_review(pull: Pull, actor: User) -> bool:
    return any(review.state == "PENDING" and review.user is actor for review in pull.reviews)


def check_event(pull: Pull, actor: User, event: str | None) -> None:
    """G7"""
    if event == "APPROVE" and actor is pull.user:
        raise unprocessable("Can not approve your own pull request")
    actions_may = pull.repository.actions_may_approve
    if event == "APPROVE" and actor.login == ACTIONS_BOT and not actions_may:
        raise unprocessable("GitHub Actions is not permitted to approve pull requests.")
    if event == "REQUEST_CHANGES" and actor is pull.user:
        raise unprocessable("Can not request changes on your own pull request")


def check_bodies(event: str | None, body: str, comments: list[str]) -> None:
    if not body.strip() and (event == "REQUEST_CHANGES" or (event == "COMMENT" and not comments)):
        raise unprocessable(NO_BODY)
    if any(len(text) > BODY_CHARACTERS for text in (body, *comments)):
        raise unprocessable(TOO_LONG)
    if any(not text.strip() for text in comments):
        raise unprocessable("Pull request review comment body can't be blank")


def find_anchor(pull: Pull, commit: str, comment: dict[str, Any]) -> Anchor:
    """G4: the lines of a comment must be in one hunk of the diff."""
    file = next((f for f in pull.files_at(commit) if f.path == comment["path"]), None)
    if file is None:
        raise unprocessable(NO_PATH)
    side = comment.get("side") or "RIGHT"
    line, start = comment.get("line"), comment.get("start_line")
    if line is None or side not in ("LEFT", "RIGHT"):
        raise unprocessable(NO_LINE)
    hunk = next((hunk for hunk in file.hunks if line in hunk.lines(side)), None)
    start_side = (comment.get("start_side") or side) if start is not None else None
    if hunk is None:
        raise unprocessable(NO_LINE)
    if start is not None and (start >= line or start not in hunk.lines(side)):
        raise unprocessable(OTHER_HUNK)
    return Anchor(file.path, line, start, side, start_side, commit, pull.merge_base, hunk.text)


def needs_workflows(token: Token, paths: list[str]) -> bool:
    """G19: a workflow would change, and the token may not do that."""
    workflow = any(path.startswith(".github/workflows/") for path in paths)
    return workflow and not token.has("workflows", "write")
