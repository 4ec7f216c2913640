"""Rules that stand only in GitHub's prose and answers: anchors, bodies, who may review how. Row numbers are those of the fault list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.forge.hub.code import ChangedFile, Hunk
from tests.forge.hub.problem import Problem, invalid, not_found, unprocessable
from tests.forge.hub.state import Anchor, Comment, Issue, Review, ReviewComment, Thread, User

if TYPE_CHECKING:
    from tests.forge.hub.pull import Pull

BODY_CHARACTERS = 65_536
ACTIONS_BOT = "github-actions[bot]"
STATES = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}

THREAD = "Pull request review thread"
NO_HUNK = f"{THREAD} diff hunk can't be blank"
NO_LINE = f"{THREAD} line must be part of the diff and {NO_HUNK}"
NO_LINES = (
    f"{THREAD} line must be part of the diff, {THREAD} start line must be part of the same hunk as the line., and {NO_HUNK}"
)
NO_PATH = f"{THREAD} path is invalid and {NO_HUNK}"
NOT_SAME_HUNK = f"{THREAD} start line must be part of the same hunk as the line."
NOT_BEFORE = f"{THREAD} start line must precede the end line."
NO_WORDS = "You need to leave a comment indicating the requested changes."
ONE_PENDING = "User can only have one pending review per pull request"


def check_length(resource: str, body: str) -> None:
    """G9. GitHub counts characters."""
    if len(body) > BODY_CHARACTERS:
        raise invalid(resource, "data", f"Body is too long (maximum is {BODY_CHARACTERS} characters)", "unprocessable")


def check_open_for_words(parent: Pull | Issue, actor: User) -> None:
    """G15, G16. Who may write in the repository may speak in a locked conversation; an app may not."""
    if parent.deleted:
        raise Problem(410, "This issue was deleted")
    if parent.locked and parent.repository.role(actor.login) not in ("write", "maintain", "admin"):
        raise Problem(403, "Unable to create comment because issue is locked.")


def said(parent: Pull | Issue, actor: User, body: str) -> Comment:
    """A comment under a pull request or an issue."""
    check_open_for_words(parent, actor)
    if not body.strip():
        raise invalid("IssueComment", "data", "Body cannot be blank", "unprocessable")
    check_length("IssueComment", body)
    hub = parent.repository.hub
    now = hub.now()
    made = Comment(hub.next_id(), actor, body, parent, now, now)
    parent.comments.append(made)
    return made


def begun_review(pull: Pull, actor: User, asked: dict[str, Any]) -> Review:
    """G4, G6, G7, G8, G9, G15: a review with all its comments, or nothing at all."""
    event = asked.get("event")
    body = asked.get("body") or ""
    comments = asked.get("comments") or []
    check_open_for_words(pull, actor)
    check_no_pending(pull, actor)
    commit = asked.get("commit_id") or pull.head_sha
    if commit not in pull.commits:
        raise unprocessable("Commit oid is not part of the pull request")
    check_verdict(pull, actor, event)
    check_words(event, body, comments)
    anchors = [anchored(pull, commit, comment) for comment in comments]
    hub = pull.hub
    review = Review(hub.next_id(), actor, pull, "PENDING", body, commit, commit)
    for comment, anchor in zip(comments, anchors, strict=True):
        begun_thread(review, anchor, comment["body"])
    pull.reviews.append(review)
    if event:
        submit(review, event)
    return review


def submit(review: Review, event: str) -> None:
    review.state = STATES[event]
    review.submitted_at = review.pull.hub.now()


def begun_thread(review: Review, anchor: Anchor, body: str) -> ReviewComment:
    hub = review.pull.hub
    thread = Thread(hub.next_id(), review.pull, anchor)
    now = hub.now()
    made = ReviewComment(hub.next_id(), review.user, body, thread, review, now, now)
    thread.comments.append(made)
    review.comments.append(made)
    review.pull.all_threads.append(thread)
    return made


def answered(pull: Pull, actor: User, body: str, first: ReviewComment) -> ReviewComment:
    """An answer in a thread: a review of its own holds it."""
    check_open_for_words(pull, actor)
    if any(review.state == "PENDING" and review.user is actor for review in pull.reviews):
        message = "user_id can only have one pending review per pull request"
        raise invalid("PullRequestReview", "user_id", message)
    if not body.strip():
        raise invalid("PullRequestReviewComment", "body", "body can't be blank", "missing_field")
    check_length("PullRequestReviewComment", body)
    return pull.reply(first.thread, actor.login, body)


def check_no_pending(pull: Pull, actor: User) -> None:
    """G6."""
    if any(review.state == "PENDING" and review.user is actor for review in pull.reviews):
        raise unprocessable(ONE_PENDING)


def check_verdict(pull: Pull, actor: User, event: str | None) -> None:
    """G7."""
    if event == "APPROVE" and actor is pull.user:
        raise unprocessable("Can not approve your own pull request")
    if event == "APPROVE" and actor.login == ACTIONS_BOT and not pull.repository.actions_may_approve:
        raise unprocessable("GitHub Actions is not permitted to approve pull requests.")
    if event == "REQUEST_CHANGES" and actor is pull.user:
        raise unprocessable("Can not request changes on your own pull request")


def check_words(event: str | None, body: str, comments: list[dict[str, Any]]) -> None:
    """A verdict needs words, and none may be too long."""
    if (event == "REQUEST_CHANGES" and not body.strip()) or (event == "COMMENT" and not body.strip() and not comments):
        raise unprocessable(NO_WORDS)
    for text in (body, *(comment["body"] for comment in comments)):
        if len(text) > BODY_CHARACTERS:
            raise unprocessable(f"Body is too long (maximum is {BODY_CHARACTERS} characters)")
    if any(not comment["body"].strip() for comment in comments):
        raise unprocessable("Pull request review comment body can't be blank")


def anchored(pull: Pull, commit: str, asked: dict[str, Any]) -> Anchor:
    """G4: where a comment goes, by git's own diff."""
    file = next((file for file in pull.files_at(commit) if file.path == asked["path"]), None)
    if file is None:
        raise unprocessable(NO_PATH)
    side = asked.get("side") or "RIGHT"
    line, start = asked.get("line"), asked.get("start_line")
    if asked.get("subject_type") == "file":
        return Anchor(file.path, None, None, side, None, commit, pull.merge_base, "")
    if line is None and asked.get("position") is not None:
        side, line = at_position(file, asked["position"])
    if line is None or side not in ("LEFT", "RIGHT"):
        raise unprocessable(NO_LINE)
    hunk = next((hunk for hunk in file.hunks if line in hunk.lines(side)), None)
    if start is not None:
        check_start(hunk, line, start, asked.get("start_side") or side)
    if hunk is None:
        raise unprocessable(NO_LINE)
    start_side = (asked.get("start_side") or side) if start is not None else None
    return Anchor(file.path, line, start, side, start_side, commit, pull.merge_base, hunk.text)


def check_start(hunk: Hunk | None, line: int, start: int, side: str) -> None:
    if start >= line:
        raise unprocessable(NOT_BEFORE)
    if hunk is None:
        raise unprocessable(NO_LINES)
    if start not in hunk.lines(side):
        raise unprocessable(NOT_SAME_HUNK)


def at_position(file: ChangedFile, position: int) -> tuple[str, int | None]:
    """The line that the old ``position`` names: lines below the first ``@@``, counted over all hunks."""
    at, left, right = -1, 0, 0
    for text in file.patch.split("\n"):
        at += 1
        if text.startswith("@@"):
            hunk = next(hunk for hunk in file.hunks if hunk.text.startswith(text))
            left, right = hunk.left.start - 1, hunk.right.start - 1
            continue
        left += text[:1] in (" ", "-")
        right += text[:1] in (" ", "+")
        if at == position:
            return ("LEFT", left) if text.startswith("-") else ("RIGHT", right)
    return "RIGHT", None


def own_pending(review: Review | None, actor: User) -> Review:
    """A review that exists for somebody: a pending one only for who began it."""
    if review is None or (review.state == "PENDING" and review.user is not actor):
        raise not_found()
    return review
