"""The operations of the REST API."""

from __future__ import annotations

from typing import Any

from tests.fake_github import rest_objects as objects
from tests.fake_github import rules
from tests.fake_github.call import Call, Page, Respond, operation
from tests.fake_github.messages import ApiError, forbidden, not_found, unprocessable
from tests.fake_github.messages import validation_failed as invalid
from tests.fake_github.pull import Pull
from tests.fake_github.records import (
    CheckRun,
    Comment,
    Dispatch,
    Issue,
    Reaction,
    Review,
    ReviewComment,
)

MESSAGE_BYTES = 65_536
TITLE_CHARACTERS = 255
HOUR = 3600
# The old permission, which has no words for the newer roles (G29).
OLD_ROLES = {"maintain": "write", "triage": "read"}
READ = ("issues:read", "pull_requests:read")
WRITE = ("issues:write", "pull_requests:write")
PULLS = "pull_requests:write"


@operation("repos/get-collaborator-permission-level", "metadata:read")
def get_permission(call: Call) -> Any:
    """G29"""
    login = call.variables["username"]
    users = call.github.users.values()
    user = next((user for user in users if user.login.lower() == login.lower()), None)
    if user is None:
        raise ApiError(404, f"{login} is not a user")
    role = call.repository.role(user.login)
    permission = {"permission": OLD_ROLES.get(role, role), "role_name": role}
    return permission | {"user": objects.user(user)}


@operation("repos/compare-commits-with-basehead", "contents:read")
def compare(call: Call) -> Any:
    """G24. Files are on the first page, which nobody asks for."""
    home = call.repository
    left, _, right = call.variables["basehead"].partition("...")
    base, head = home.bare.sha(left), home.bare.sha(right)
    merge_base = home.bare.merge_base(base, head) if base and head else None
    if not (base and head and merge_base):
        raise not_found()
    assert int(call.query["page"]) > 1, "the fake has no page with files"
    return {"merge_base_commit": objects.commit(home, merge_base), "commits": [], "files": []}


@operation("repos/get-branch", "contents:read")
def get_branch(call: Call) -> Any:
    home, name = call.repository, call.variables["branch"]
    sha = home.bare.sha(f"refs/heads/{name}")
    if sha is None:
        raise ApiError(404, "Branch not found")
    is_protected = name in home.protected
    return {"name": name, "commit": objects.commit(home, sha), "protected": is_protected}


@operation("repos/get-branch-rules", "metadata:read")
def get_branch_rules(call: Call) -> Any:
    """Also for a branch that does not exist."""
    return Page([{"type": kind} for kind in call.repository.rules_of(call.variables["branch"])])


@operation("git/create-ref", "contents:write")
def create_ref(call: Call) -> Any:
    home, name, sha = call.repository, call.body["ref"], call.body["sha"]
    if home.bare.sha(name):
        raise ApiError(422, "Reference already exists")
    home.bare.git("update-ref", name, sha)
    return Respond(201, reference(name, sha))


def reference(name: str, sha: str) -> dict[str, Any]:
    return {"ref": name, "object": {"type": "commit", "sha": sha}}


@operation("git/update-ref", "contents:write")
def update_ref(call: Call) -> Any:
    home, name, sha = call.repository, f"refs/{call.variables['ref']}", call.body["sha"]
    old = home.bare.sha(name)
    if old is None:
        raise ApiError(422, "Reference does not exist")
    if not call.body.get("force") and home.bare.merge_base(old, sha) != old:
        raise ApiError(422, "Update is not a fast forward")
    home.bare.git("update-ref", name, sha)
    call.github.update_heads(home)
    return reference(name, sha)


@operation("git/delete-ref", "contents:write")
def delete_ref(call: Call) -> Any:
    home, name = call.repository, f"refs/{call.variables['ref']}"
    if home.bare.sha(name) is None:
        raise ApiError(422, "Reference does not exist")
    home.bare.git("update-ref", "-d", name)
    return Respond(204)


@operation("checks/create", "checks:write")
def create_check_run(call: Call) -> Any:
    assert call.token
    sha = call.repository.bare.sha(call.body["head_sha"])
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {call.body['head_sha']}")
    home, name = call.repository, call.body["name"]
    run = CheckRun(call.github.next_check_id(), name, sha, call.token.app, home)
    change_check_run(call, run)
    home.all_check_runs.append(run)
    return Respond(201, objects.check_run(run))


@operation("checks/update", "checks:write")
def update_check_run(call: Call) -> Any:
    run = call.find(call.repository.all_check_runs, "check_run_id")
    assert call.token
    if run.app != call.token.app:
        raise forbidden()
    change_check_run(call, run)
    return objects.check_run(run)


def change_check_run(call: Call, run: CheckRun) -> None:
    """Set what the request has. Annotations are added to those of earlier requests."""
    body = call.body
    output = body.get("output") or {}
    check_annotations(output.get("annotations", []))
    for name in ("name", "external_id", "details_url", "status", "conclusion"):
        setattr(run, name, body.get(name, getattr(run, name)))
    run.status = "completed" if run.conclusion else run.status
    texts = ("title", "summary", "text")
    run.output |= {key: value for key, value in output.items() if key in texts}
    run.annotations += output.get("annotations", [])


def check_annotations(annotations: list[dict[str, Any]]) -> None:
    """G10. The schema limits their number and the length of summary and text."""
    for each in annotations:
        too_long = len(each["message"].encode()) > MESSAGE_BYTES
        too_long |= len(each.get("title", "")) > TITLE_CHARACTERS
        if too_long or not 0 <= each["start_line"] <= each["end_line"]:
            raise ApiError(422, "Invalid request.\n\nAn annotation is too long or ends too early.")


@operation("actions/list-workflow-run-artifacts", "actions:read")
def list_artifacts(call: Call) -> Any:
    run = call.find(call.repository.runs, "run_id")
    name = call.query.get("name")
    found = [each for each in reversed(run.artifacts) if name in (None, each.name)]
    return Page([objects.artifact(artifact) for artifact in found], "artifacts")


@operation("actions/download-artifact", "actions:read")
def download_artifact(call: Call) -> Any:
    """A redirect to another host, which must not see the token."""
    found = [each for run in call.repository.runs for each in run.artifacts]
    artifact = call.find(found, "artifact_id")
    location = f"{call.github.download_url}/{artifact.id}.zip?sig=once"
    return Respond(302, None, {"location": location})


@operation("actions/create-workflow-dispatch", "actions:write")
def dispatch_workflow(call: Call) -> Any:
    home, workflow, ref = call.repository, str(call.variables["workflow_id"]), call.body["ref"]
    if workflow not in home.workflows:
        raise not_found()
    inputs = call.body.get("inputs", {})
    home.dispatches.append(Dispatch(workflow, ref, inputs, call.actor.login))
    return Respond(204)


@operation("apps/get-repo-installation")
def get_installation(call: Call) -> Any:
    """Where the app that asks is installed; here that is in each repository."""
    login, github = call.actor.login, call.github
    app = next(app for app in github.apps.values() if app.login == login)
    url = f"{github.api_url}/installations/{app.installation_id}"
    nothing = dict.fromkeys(("suspended_at", "suspended_by", "single_file_name"))
    times = dict.fromkeys(("created_at", "updated_at"), github.now())
    return {
        **{"id": app.installation_id, "app_id": app.id, "app_slug": login.removesuffix("[bot]")},
        **{"account": objects.user(github.user(call.repository.owner)), "target_type": "User"},
        **{"target_id": 1, "repository_selection": "all", "permissions": app.permissions},
        **{"html_url": url, "access_tokens_url": url, "repositories_url": url, "events": []},
        **nothing,
        **times,
    }


@operation("apps/create-installation-access-token")
def create_access_token(call: Call) -> Any:
    """A token for an hour."""
    login, github = call.actor.login, call.github
    found = [app for app in github.apps.values() if app.login == login]
    app = call.find(found, "installation_id", of="installation_id")
    text = github.token(app.login, app.permissions)
    body = {"token": text, "permissions": app.permissions, "repository_selection": "all"}
    return Respond(201, body | {"expires_at": github.later(HOUR)})


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
def get_issue(call: Call) -> Any:
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
        if state in ("all", issue.state)
        and labels <= set(issue.labels)
        and creator in (None, issue.user.login)
    ]
    return Page([objects.issue(issue) for issue in found])


@operation("issues/create", "issues:write")
def create_issue(call: Call) -> Any:
    title, text = str(call.body["title"]), call.body.get("body") or ""
    rules.check_length("Issue", text)
    labels = tuple(label_names(call.body.get("labels", [])))
    issue = call.repository.issue(title, text, author=call.actor.login, labels=labels)
    return Respond(201, objects.issue(issue))


@operation("issues/update", *WRITE)
def update_issue(call: Call) -> Any:
    issue = accessible(call)
    rules.check_length("Issue", call.body.get("body") or "")
    issue.title = call.body.get("title", issue.title)
    issue.state = call.body.get("state", issue.state)
    issue.body = call.body.get("body", issue.body) or ""
    return objects.issue(issue)


def find_comment(call: Call) -> Comment:
    found: Comment = call.find(call.repository.comments, "comment_id")
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


@operation("pulls/list", "pull_requests:read", PULLS)
def list_pulls(call: Call) -> Any:
    """Newest first."""
    state, base = call.query.get("state", "open"), call.query.get("base")
    found = [p for p in reversed(call.repository.pulls) if base in (None, p.base_ref)]
    if head := call.query.get("head"):
        found = [p for p in found if objects.pull(p)["head"]["label"] == head]
    return Page([objects.pull(p) for p in found if state in ("all", p.state)])


@operation("pulls/create", PULLS)
def create_pull(call: Call) -> Any:
    body, home = call.body, call.repository
    if call.actor.login == rules.ACTIONS_BOT and not home.actions_may_approve:
        message = "GitHub Actions is not permitted to create or approve pull requests."
        raise ApiError(403, message)
    base = home.bare.sha(f"refs/heads/{body['base']}")
    head = home.bare.sha(f"refs/heads/{body['head']}")
    if not (head and base and home.bare.log(base, head)):
        raise invalid("PullRequest", "head", code="invalid")
    wanted = (body["head"], body["base"], "open")
    if any((p.head_ref, p.base_ref, p.state) == wanted for p in home.pulls):
        raise invalid("PullRequest", "head", "A pull request already exists.")
    author, text = call.actor.login, body.get("body") or ""
    pull = home.pull(body["title"], body["head"], body["base"], author=author, body=text)
    return Respond(201, objects.pull(pull))


def find_review(call: Call) -> Review:
    """A pending review exists for its author only."""
    reviews = [r for r in call.pull.reviews if r.state != "PENDING" or r.user is call.actor]
    found: Review = call.find(reviews, "review_id")
    return found


@operation("pulls/create-review", PULLS)
def create_review(call: Call) -> Any:
    return objects.review(rules.create_review(call.pull, call.actor, call.body))


@operation("pulls/delete-pending-review", PULLS)
def delete_pending_review(call: Call) -> Any:
    review = find_review(call)
    if review.state != "PENDING":
        raise forbidden()
    pull = call.pull
    pull.reviews.remove(review)
    pull.all_threads[:] = [t for t in pull.all_threads if t.comments[0].review is not review]
    return objects.review(review)


@operation("pulls/dismiss-review", PULLS)
def dismiss_review(call: Call) -> Any:
    review = find_review(call)
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        kind = "neither an approval nor a request for changes"
        raise unprocessable(f"Can not dismiss a review that is {kind}")
    review.state = "DISMISSED"
    return objects.review(review)


def find_review_comment(call: Call) -> ReviewComment:
    pulls = [call.pull] if "pull_number" in call.variables else call.repository.pulls
    comments = [comment for pull in pulls for comment in pull.review_comments]
    found: ReviewComment = call.find(comments, "comment_id")
    return found


@operation("pulls/create-reply-for-review-comment", PULLS)
def reply(call: Call) -> Any:
    first = find_review_comment(call)
    if first.in_reply_to_id is not None:
        raise ApiError(404, "Parent comment not found")
    comment = rules.create_reply(first.thread, call.actor, call.body["body"])
    return Respond(201, objects.review_comment(comment))


@operation("pulls/delete-review-comment", PULLS)
def delete_review_comment(call: Call) -> Any:
    """The last comment takes its thread along."""
    comment = find_review_comment(call)
    thread, review, pull = comment.thread, comment.review, comment.thread.pull
    thread.comments.remove(comment)
    review.comments.remove(comment)
    if not thread.comments:
        pull.all_threads.remove(thread)
    return Respond(204)


@operation("reactions/create-for-pull-request-review-comment", PULLS)
def react_in_thread(call: Call) -> Any:
    return add_reaction(call, find_review_comment(call))
