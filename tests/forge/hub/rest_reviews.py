"""Reviews and comments about lines over REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.forge.hub import rules, shown
from tests.forge.hub.call import Call, Listed, Made
from tests.forge.hub.problem import Problem, not_found, unprocessable
from tests.forge.hub.rest_issues import reacted, reactions
from tests.forge.hub.state import Review, ReviewComment

if TYPE_CHECKING:
    from tests.forge.hub.state import User

CREATE = "PullRequestReviewComment"


def visible(call: Call) -> list[Review]:
    """Pending reviews are seen by who began them alone."""
    me: User | None = call.token.user if call.token else None
    return [review for review in call.pull.reviews if review.state != "PENDING" or review.user is me]


def one(call: Call) -> Review:
    found = next((review for review in call.pull.reviews if review.id == call.variables["review_id"]), None)
    return rules.own_pending(found, call.actor)


def list_reviews(call: Call) -> Any:
    return Listed([shown.review(review) for review in visible(call)])


def get(call: Call) -> Any:
    return shown.review(one(call))


def create(call: Call) -> Any:
    return shown.review(rules.begun_review(call.pull, call.actor, call.body))


def update(call: Call) -> Any:
    review = own(call, one(call))
    rules.check_words(None, call.body["body"], [])
    review.body = call.body["body"]
    return shown.review(review)


def delete_pending(call: Call) -> Any:
    review = own(call, one(call))
    if review.state != "PENDING":
        raise unprocessable("Can not delete a non-pending pull request review")
    call.pull.reviews.remove(review)
    call.pull.all_threads[:] = [
        thread for thread in call.pull.all_threads if not thread.comments or thread.comments[0].review is not review
    ]
    return shown.review(review)


def submit(call: Call) -> Any:
    review = own(call, one(call))
    if review.state != "PENDING":
        raise unprocessable("Can not submit a review that is not pending")
    body = call.body.get("body", review.body)
    rules.check_verdict(call.pull, call.actor, call.body["event"])
    rules.check_words(call.body["event"], body, [{"body": comment.body} for comment in review.comments])
    review.body = body
    rules.submit(review, call.body["event"])
    return shown.review(review)


def dismiss(call: Call) -> Any:
    review = one(call)
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        raise unprocessable("Can not dismiss a review that is neither an approval nor a request for changes")
    if not call.body["message"].strip():
        raise unprocessable("Message can't be blank")
    review.state = "DISMISSED"
    return shown.review(review)


def own(call: Call, review: Review) -> Review:
    if review.user is not call.actor:
        raise Problem(403, "Resource not accessible by integration")
    return review


def comments_of_review(call: Call) -> Any:
    return Listed([shown.review_comment(comment) for comment in one(call).comments])


def list_comments(call: Call) -> Any:
    return Listed([shown.review_comment(comment) for comment in call.pull.review_comments])


def comment_of(call: Call, *, pull_wide: bool = False) -> ReviewComment:
    pulls = [call.pull] if pull_wide else call.repository.pulls
    found = [c for pull in pulls for c in pull.review_comments if c.id == call.variables["comment_id"]]
    if not found:
        raise not_found()
    return found[0]


def create_comment(call: Call) -> Any:
    """A comment of its own. Its refusals have the other shape: ``pull_request_review_thread.line``."""
    asked, pull = call.body, call.pull
    if asked.get("in_reply_to"):
        first = next((c for c in pull.review_comments if c.id == asked["in_reply_to"]), None)
        if first is None:
            raise not_found()
        return Made(201, shown.review_comment(rules.answered(pull, call.actor, asked["body"], first.thread.comments[0])))
    try:
        review = rules.begun_review(pull, call.actor, {"event": "COMMENT", "commit_id": asked["commit_id"], "comments": [asked]})
    except Problem as problem:
        raise as_validation(problem) from None
    return Made(201, shown.review_comment(review.comments[0]))


def as_validation(problem: Problem) -> Problem:
    words = " ".join(str(error) for error in problem.body.get("errors", ()))
    if rules.THREAD not in words:
        return problem
    field = next(name for name in ("start_line", "path", "line") if name.replace("_", " ") in words)
    field = f"pull_request_review_thread.{field}"
    errors = [
        {"resource": CREATE, "code": "custom", "field": field, "message": f"{field} must be part of the diff"},
        {"resource": CREATE, "code": "missing_field", "field": "pull_request_review_thread.diff_hunk"},
    ]
    return Problem(422, "Validation Failed", errors)


def reply(call: Call) -> Any:
    """Only the first comment of a thread may be replied to."""
    first = comment_of(call, pull_wide=True)
    if first.in_reply_to is not None:
        raise Problem(404, "Parent comment not found")
    return Made(201, shown.review_comment(rules.answered(call.pull, call.actor, call.body["body"], first)))


def get_comment(call: Call) -> Any:
    return shown.review_comment(comment_of(call))


def update_comment(call: Call) -> Any:
    comment = comment_of(call)
    may_touch(call, comment)
    rules.check_length(CREATE, call.body["body"])
    comment.body, comment.updated_at = call.body["body"], call.hub.now()
    return shown.review_comment(comment)


def delete_comment(call: Call) -> Any:
    """A thread lives on while it has comments; a review without words or comments is gone."""
    comment = comment_of(call)
    may_touch(call, comment)
    thread, review = comment.thread, comment.review
    thread.comments.remove(comment)
    review.comments.remove(comment)
    pull = thread.pull
    if not thread.comments:
        pull.all_threads.remove(thread)
    if not review.comments and not review.body and review.state == "COMMENTED":
        pull.reviews.remove(review)
    return Made(204, None)


def may_touch(call: Call, comment: ReviewComment) -> None:
    if (
        comment.user is not call.actor
        and call.actor.kind != "Bot"
        and call.repository.role(call.actor.login) not in ("write", "maintain", "admin")
    ):
        raise not_found()


OPERATIONS = {
    "pulls/list-reviews": list_reviews,
    "pulls/get-review": get,
    "pulls/create-review": create,
    "pulls/update-review": update,
    "pulls/delete-pending-review": delete_pending,
    "pulls/submit-review": submit,
    "pulls/dismiss-review": dismiss,
    "pulls/list-comments-for-review": comments_of_review,
    "pulls/list-review-comments": list_comments,
    "pulls/create-review-comment": create_comment,
    "pulls/create-reply-for-review-comment": reply,
    "pulls/get-review-comment": get_comment,
    "pulls/update-review-comment": update_comment,
    "pulls/delete-review-comment": delete_comment,
    "reactions/create-for-pull-request-review-comment": lambda call: reacted(call, comment_of(call).reactions),
    "reactions/list-for-pull-request-review-comment": lambda call: reactions(call, comment_of(call).reactions),
}
