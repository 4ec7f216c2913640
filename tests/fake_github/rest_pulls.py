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
    found = [p for p in reversed(call.repository.pulls) if base in (None, p.base_ref)]
    return Page([objects.pull(p) for p in found if state in ("all", p.state)])


@operation("pulls/create", WRITE)
def create(call: Call) -> Any:
    body, home = call.body, call.repository
    if call.actor.login == rules.ACTIONS_BOT and not home.actions_may_approve:
        message = "GitHub Actions is not permitted to create or approve pull requests."
        raise ApiError(403, message)
    base = home.bare.sha(f"refs/heads/{body['base']}")
    head = home.bare.sha(f"refs/heads/{body['head']}")
    if not (head and base and home.bare.log(base, head)):
        raise validation_failed("PullRequest", "head", code="invalid")
    wanted = (body["head"], body["base"], "open")
    if any((p.head_ref, p.base_ref, p.state) == wanted for p in home.pulls):
        raise validation_failed("PullRequest", "head", "A pull request already exists.")
    author, text = call.actor.login, body.get("body") or ""
    pull = home.pull(body["title"], body["head"], body["base"], author=author, body=text)
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
    if review.state != "PENDING":
        raise forbidden()
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
    """The last comment takes its thread along."""
    comment = find_review_comment(call)
    thread, review, pull = comment.thread, comment.review, comment.thread.pull
    thread.comments.remove(comment)
    review.comments.remove(comment)
    if not thread.comments:
        pull.all_threads.remove(thread)
    return Respond(204)


@operation("reactions/create-for-pull-request-review-comment", WRITE)
def react(call: Call) -> Any:
    return add_reaction(call, find_review_comment(call))
