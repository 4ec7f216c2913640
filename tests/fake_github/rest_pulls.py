"""Pull requests, reviews and comments on lines over REST."""

from __future__ import annotations

from typing import Any

from tests.fake_github import rest_objects as objects
from tests.fake_github import rules
from tests.fake_github.call import Call, Page, Respond, operation
from tests.fake_github.messages import (
    ApiError,
    forbidden,
    not_found,
    unprocessable,
    validation_failed,
)
from tests.fake_github.records import Review, ReviewComment
from tests.fake_github.rest_issues import add_reaction

WRITE = "pull_requests:write"


@operation("pulls/list", "pull_requests:read", WRITE)
def list_pulls(call: Call) -> Any:
    """Newest first."""
    state, base = call.query.get("state", "open"), call.query.get("base")
    owner, _, branch = call.query.get("head", "").partition(":")
    found = [p for p in reversed(call.repository.pulls) if base in (None, p.base_ref)]
    if branch:
        found = [p for p in found if (p.head_repository.owner, p.head_ref) == (owner, branch)]
    return Page([objects.pull_simple(p) for p in found if state in ("all", p.state)])


@operation("pulls/create", WRITE)
def create(call: Call) -> Any:
    body, home = call.body, call.repository
    if call.actor.login == rules.ACTIONS_BOT and not home.actions_may_approve:
        message = "GitHub Actions is not permitted to create or approve pull requests."
        raise ApiError(403, message)
    owner, _, branch = body["head"].rpartition(":")
    forks = (r for r in call.github.repositories.values() if home in (r, r.parent))
    source = next((fork for fork in forks if owner and fork.owner == owner), home)
    base = home.bare.sha(f"refs/heads/{body['base']}")
    head = source.bare.sha(f"refs/heads/{branch}")
    if head is None:
        raise validation_failed("PullRequest", "head", code="invalid")
    if base is None:
        raise validation_failed("PullRequest", "base", code="invalid")
    wanted = (branch, body["base"], source, "open")
    if any((p.head_ref, p.base_ref, p.head_repository, p.state) == wanted for p in home.pulls):
        message = f"A pull request already exists for {source.owner}:{branch}."
        raise validation_failed("PullRequest", "head", message)
    if source is home and not home.bare.log(base, head):
        message = f"No commits between {body['base']} and {branch}"
        raise validation_failed("PullRequest", "", message)
    pull = home.pull(
        body.get("title", branch),
        branch,
        body["base"],
        author=call.actor.login,
        head_repository=source,
        draft=body.get("draft", False),
        body=body.get("body") or "",
    )
    return Respond(201, objects.pull(pull))


def find_review(call: Call) -> Review:
    """A pending review exists for its author only."""
    wanted = call.variables["review_id"]
    found = next((review for review in call.pull.reviews if review.id == wanted), None)
    if found is None or (found.state == "PENDING" and found.user is not call.actor):
        raise not_found()
    return found


@operation("pulls/create-review", WRITE)
def create_review(call: Call) -> Any:
    return objects.review(rules.create_review(call.pull, call.actor, call.body))


@operation("pulls/delete-pending-review", WRITE)
def delete_pending_review(call: Call) -> Any:
    review = find_review(call)
    if review.user is not call.actor:
        raise forbidden()
    if review.state != "PENDING":
        raise unprocessable("Can not delete a non-pending pull request review")
    pull = call.pull
    pull.reviews.remove(review)
    pull.all_threads[:] = [t for t in pull.all_threads if t.comments[0].review is not review]
    return objects.review(review)


@operation("pulls/dismiss-review", WRITE)
def dismiss_review(call: Call) -> Any:
    review = find_review(call)
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        kind = "neither an approval nor a request for changes"
        raise unprocessable(f"Can not dismiss a review that is {kind}")
    if not call.body["message"].strip():
        raise unprocessable("Message can't be blank")
    review.state = "DISMISSED"
    return objects.review(review)


def find_review_comment(call: Call) -> ReviewComment:
    wanted = call.variables["comment_id"]
    pulls = [call.pull] if "pull_number" in call.variables else call.repository.pulls
    comments = (comment for pull in pulls for comment in pull.review_comments)
    found = next((comment for comment in comments if comment.id == wanted), None)
    if found is None:
        raise not_found()
    return found


@operation("pulls/create-reply-for-review-comment", WRITE)
def reply(call: Call) -> Any:
    first = find_review_comment(call)
    if first.in_reply_to_id is not None:
        raise ApiError(404, "Parent comment not found")
    comment = rules.create_reply(first.thread, call.actor, call.body["body"])
    return Respond(201, objects.review_comment(comment))


@operation("pulls/delete-review-comment", WRITE)
def delete_review_comment(call: Call) -> Any:
    """The last comment takes its thread along, and a review that has no text of its own."""
    comment = find_review_comment(call)
    rules.check_may_change(comment, call.actor)
    thread, review, pull = comment.thread, comment.review, comment.thread.pull
    thread.comments.remove(comment)
    review.comments.remove(comment)
    if not thread.comments:
        pull.all_threads.remove(thread)
    if not review.comments and not review.body and review.state == "COMMENTED":
        pull.reviews.remove(review)
    return Respond(204)


@operation("reactions/create-for-pull-request-review-comment", WRITE)
def react(call: Call) -> Any:
    return add_reaction(call, find_review_comment(call))
