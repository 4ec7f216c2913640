"""Issues, comments under them and under pull requests, labels and reactions over REST."""

from __future__ import annotations

from typing import Any

from tests.forge.hub import rules, shown
from tests.forge.hub.call import Call, Listed, Made
from tests.forge.hub.problem import Problem, invalid, not_accessible, not_found
from tests.forge.hub.state import Comment, Reaction
from tests.forge.hub.tokens import LEVELS

NO_LABEL = "Label does not exist"
WRITERS = ("triage", "write", "maintain", "admin")


def check_kind(call: Call) -> None:
    """A token for pull requests reaches pull requests by their issue's number, and no issues."""
    number = call.variables["issue_number"]
    if number in call.repository.pulls_by_number or call.token is None:
        return
    level = "write" if call.operation.is_write else "read"
    if (
        not (level == "read" and not call.repository.private)
        and LEVELS[call.token.permissions.get("issues", "none")] < LEVELS[level]
    ):
        raise not_accessible()


def talk(call: Call) -> Any:
    found = call.talk
    check_kind(call)
    return found


def get(call: Call) -> Any:
    return shown.issue(talk(call))


def create(call: Call) -> Any:
    body = call.body
    rules.check_length("Issue", body.get("body") or "")
    names = tuple(label if isinstance(label, str) else label["name"] for label in body.get("labels", ()))
    if not str(body["title"]).strip():
        raise invalid("Issue", "title", code="missing_field")
    return Made(
        201, shown.issue(call.repository.issue(str(body["title"]), body.get("body") or "", author=call.actor.login, labels=names))
    )


def update(call: Call) -> Any:
    known = talk(call)
    for key in ("title", "state"):
        setattr(known, key, call.body.get(key, getattr(known, key)))
    known.body = call.body.get("body", known.body) or ""
    if "labels" in call.body:
        known.labels[:] = [label if isinstance(label, str) else label["name"] for label in call.body["labels"]]
    return shown.issue(known)


def list_issues(call: Call) -> Any:
    wanted = call.query.get("state", "open")
    labels = set(filter(None, call.query.get("labels", "").split(",")))
    creator = call.query.get("creator")
    found = [
        known
        for known in sorted(call.repository.talks, key=lambda known: -known.number)
        if not known.deleted
        and wanted in ("all", known.state)
        and labels <= set(known.labels)
        and creator in (None, known.user.login)
    ]
    return Listed([shown.issue(known) for known in found])


def comment_of(call: Call) -> Comment:
    for parent in call.repository.talks:
        for comment in parent.comments:
            if comment.id == call.variables["comment_id"]:
                return comment
    raise not_found()


def list_comments(call: Call) -> Any:
    since = call.query.get("since", "")
    return Listed([shown.comment(comment) for comment in talk(call).comments if comment.updated_at >= since])


def create_comment(call: Call) -> Any:
    return Made(201, shown.comment(rules.said(talk(call), call.actor, call.body["body"])))


def update_comment(call: Call) -> Any:
    comment = comment_of(call)
    may_touch(call, comment)
    rules.check_length("IssueComment", call.body["body"])
    comment.body, comment.updated_at = call.body["body"], call.hub.now()
    return shown.comment(comment)


def delete_comment(call: Call) -> Any:
    comment = comment_of(call)
    may_touch(call, comment)
    comment.parent.comments.remove(comment)
    return Made(204, None)


def may_touch(call: Call, comment: Comment) -> None:
    """An app with the permission may edit what others wrote, and so may who writes in the repository."""
    if comment.user is call.actor or call.actor.kind == "Bot" or call.repository.role(call.actor.login) in WRITERS[1:]:
        return
    raise Problem(403, "Must have admin rights to Repository.")


def label_names(call: Call) -> list[str]:
    body: Any = call.body.get("labels", []) if isinstance(call.body, dict) else call.body
    return [label if isinstance(label, str) else label["name"] for label in body]


def list_labels(call: Call) -> Any:
    return Listed([shown.label(call.repository, name) for name in talk(call).labels])


def add_labels(call: Call) -> Any:
    """Labels that the repository does not have are made, as GitHub does."""
    known = talk(call)
    may_label(call)
    known.labels += [name for name in dict.fromkeys(label_names(call)) if name not in known.labels]
    return [shown.label(call.repository, name) for name in known.labels]


def set_labels(call: Call) -> Any:
    known = talk(call)
    may_label(call)
    known.labels[:] = list(dict.fromkeys(label_names(call)))
    return [shown.label(call.repository, name) for name in known.labels]


def remove_label(call: Call) -> Any:
    known = talk(call)
    may_label(call)
    if call.variables["name"] not in known.labels:
        raise Problem(404, NO_LABEL)
    known.labels.remove(call.variables["name"])
    return [shown.label(call.repository, name) for name in known.labels]


def may_label(call: Call) -> None:
    if call.actor.kind != "Bot" and call.repository.role(call.actor.login) not in WRITERS:
        raise Problem(403, "Must have admin rights to Repository.")


def reacted(call: Call, kept: list[Reaction]) -> Any:
    """The same reaction twice is one."""
    for known in kept:
        if known.user is call.actor and known.content == call.body["content"]:
            return Made(200, shown.reaction(call.hub, known))
    made = Reaction(call.hub.next_id(), call.actor, call.body["content"], call.hub.now())
    kept.append(made)
    return Made(201, shown.reaction(call.hub, made))


def reactions(call: Call, kept: list[Reaction]) -> Any:
    return Listed([shown.reaction(call.hub, known) for known in kept if call.query.get("content") in (None, known.content)])


OPERATIONS = {
    "issues/get": get,
    "issues/create": create,
    "issues/update": update,
    "issues/list-for-repo": list_issues,
    "issues/list-comments": list_comments,
    "issues/create-comment": create_comment,
    "issues/get-comment": lambda call: shown.comment(comment_of(call)),
    "issues/update-comment": update_comment,
    "issues/delete-comment": delete_comment,
    "issues/list-labels-on-issue": list_labels,
    "issues/add-labels": add_labels,
    "issues/set-labels": set_labels,
    "issues/remove-label": remove_label,
    "reactions/create-for-issue": lambda call: reacted(call, talk(call).reactions),
    "reactions/create-for-issue-comment": lambda call: reacted(call, comment_of(call).reactions),
    "reactions/list-for-issue-comment": lambda call: reactions(call, comment_of(call).reactions),
}
