"""Issues, comments on them and on pull requests, labels and reactions over REST."""

from __future__ import annotations

from typing import Any

from tests.fake_github import rest_objects as objects
from tests.fake_github import rules
from tests.fake_github.call import Call, Page, Respond, operation
from tests.fake_github.messages import ApiError, forbidden, not_found
from tests.fake_github.pull import Pull
from tests.fake_github.records import Comment, Issue, Reaction, ReviewComment

READ = ("issues:read", "pull_requests:read")
WRITE = ("issues:write", "pull_requests:write")


def accessible(call: Call) -> Pull | Issue:
    """With permission for pull requests alone, a token reaches no issue."""
    found = call.issue
    level = "write" if call.operation.is_write else "read"
    is_public_read = level == "read" and not call.repository.private
    if isinstance(found, Issue) and not is_public_read:
        assert call.token
        if not call.token.has("issues", level):
            raise forbidden()
    return found


@operation("issues/get", *READ)
def get(call: Call) -> Any:
    return objects.issue(accessible(call))


@operation("issues/list-for-repo", *READ)
def list_issues(call: Call) -> Any:
    """Pull requests are issues, too; newest first."""
    home = call.repository
    state, creator = call.query.get("state", "open"), call.query.get("creator")
    labels = set(filter(None, call.query.get("labels", "").split(",")))
    found = [
        issue
        for issue in sorted((*home.pulls, *home.issues), key=lambda issue: -issue.number)
        if not issue.deleted
        and state in ("all", issue.state)
        and labels <= set(issue.labels)
        and creator in (None, issue.user.login)
    ]
    return Page([objects.issue(issue) for issue in found])


@operation("issues/create", "issues:write")
def create(call: Call) -> Any:
    title, text = str(call.body["title"]), call.body.get("body") or ""
    rules.check_length("Issue", text)
    labels = tuple(label_names(call.body.get("labels", [])))
    issue = call.repository.issue(title, text, author=call.actor.login, labels=labels)
    return Respond(201, objects.issue(issue))


@operation("issues/update", *WRITE)
def update(call: Call) -> Any:
    issue = accessible(call)
    rules.check_length("Issue", call.body.get("body") or "")
    issue.title = call.body.get("title", issue.title)
    issue.state = call.body.get("state", issue.state)
    issue.body = call.body.get("body", issue.body) or ""
    return objects.issue(issue)


def find_comment(call: Call) -> Comment:
    wanted = call.variables["comment_id"]
    found = next((each for each in call.repository.comments if each.id == wanted), None)
    if found is None:
        raise not_found()
    return found


@operation("issues/create-comment", *WRITE)
def create_comment(call: Call) -> Any:
    comment = rules.create_comment(accessible(call), call.actor, call.body["body"])
    return Respond(201, objects.comment(comment))


@operation("issues/list-comments", *READ)
def list_comments(call: Call) -> Any:
    since = call.query.get("since", "")
    found = [objects.comment(comment) for comment in accessible(call).comments]
    return Page([comment for comment in found if comment["updated_at"] >= since])


@operation("issues/get-comment", *READ)
def get_comment(call: Call) -> Any:
    return objects.comment(find_comment(call))


@operation("issues/update-comment", *WRITE)
def update_comment(call: Call) -> Any:
    comment = find_comment(call)
    rules.check_length("IssueComment", call.body["body"])
    comment.edit(call.actor, call.body["body"], call.github.now())
    return objects.comment(comment)


@operation("issues/delete-comment", *WRITE)
def delete_comment(call: Call) -> Any:
    comment = find_comment(call)
    comment.parent.comments.remove(comment)
    return Respond(204)


def label_names(labels: list[Any]) -> list[str]:
    return [label if isinstance(label, str) else label["name"] for label in labels]


@operation("issues/add-labels", *WRITE)
def add_labels(call: Call) -> Any:
    """Labels that the repository does not have are created, as GitHub does."""
    issue = accessible(call)
    # GitHub describes both a list and an object around it.
    body: Any = call.body
    names = label_names(body.get("labels", []) if isinstance(body, dict) else body)
    issue.labels += [name for name in dict.fromkeys(names) if name not in issue.labels]
    return [objects.label(name) for name in issue.labels]


@operation("issues/remove-label", *WRITE)
def remove_label(call: Call) -> Any:
    issue = accessible(call)
    if call.variables["name"] not in issue.labels:
        raise ApiError(404, "Label does not exist")
    issue.labels.remove(call.variables["name"])
    return [objects.label(name) for name in issue.labels]


@operation("reactions/create-for-issue-comment", *WRITE)
def react(call: Call) -> Any:
    return add_reaction(call, find_comment(call))


def add_reaction(call: Call, comment: Comment | ReviewComment) -> Any:
    """The same reaction again answers 200 instead of 201."""
    content = call.body["content"]
    for each in comment.reactions:
        if each.user is call.actor and each.content == content:
            return Respond(200, objects.reaction(each))
    reaction = Reaction(call.github.next_id(), call.actor, content, call.github.now())
    comment.reactions.append(reaction)
    return Respond(201, objects.reaction(reaction))
