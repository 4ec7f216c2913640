"""Branches, permissions, check runs, workflows and apps over REST."""

from __future__ import annotations

import secrets
import time
from typing import Any

from tests.fake_github import rest_objects as objects
from tests.fake_github import rules
from tests.fake_github.call import Call, Page, Respond, operation
from tests.fake_github.messages import ApiError, not_found, unauthenticated, validation_failed
from tests.fake_github.permissions import LEVELS, NO_JWT, App, Token
from tests.fake_github.records import CheckRun, Dispatch

COMPARE_FILES = 300
COMPARE_COMMITS = 250
MESSAGE_BYTES = 65_536
TITLE_CHARACTERS = 255
HOUR = 3600
# The old permission, which has no words for the newer roles (G29).
OLD_ROLES = {"maintain": "write", "triage": "read"}


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
    """G24. `per_page` and `page` are those of commits; files are on the first page."""
    home = call.repository
    left, dots, right = call.variables["basehead"].partition("...")
    base, head = (home.bare.sha(name.rpartition(":")[2]) for name in (left, right))
    if not (dots and base and head):
        raise not_found()
    merge_base = home.bare.merge_base(base, head)
    if merge_base is None:
        raise ApiError(404, f"No common ancestor between {left} and {right}.")
    ahead, behind = home.bare.log(base, head), home.bare.log(head, base)
    status = "diverged" if ahead and behind else "ahead" if ahead else "behind"
    size, number = int(call.query.get("per_page", COMPARE_COMMITS)), int(call.query.get("page", 1))
    files = home.bare.files(merge_base, head)[:COMPARE_FILES] if number == 1 else []
    return {
        "status": "identical" if base == head else status,
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "base_commit": objects.commit(home, base),
        "merge_base_commit": objects.commit(home, merge_base),
        "commits": [
            objects.commit(home, sha) for sha in ahead[(number - 1) * size : number * size]
        ],
        "files": [objects.file(file) for file in files],
    }


@operation("repos/get-branch", "contents:read")
def get_branch(call: Call) -> Any:
    home, name = call.repository, call.variables["branch"]
    sha = home.bare.sha(f"refs/heads/{name}")
    if sha is None:
        raise ApiError(404, "Branch not found")
    url = f"{home.api_url}/branches/{name}"
    return {
        "name": name,
        "commit": objects.commit(home, sha),
        "protected": name in home.protected,
        "protection_url": f"{url}/protection",
        "_links": {"self": url, "html": f"{home.url}/tree/{name}"},
    }


@operation("repos/get-branch-rules", "metadata:read")
def get_branch_rules(call: Call) -> Any:
    """Also for a branch that does not exist."""
    home = call.repository
    source = {"ruleset_source_type": "Repository", "ruleset_source": home.full_name}
    kinds = home.rules_of(call.variables["branch"])
    return Page([{"type": kind, "ruleset_id": 1, **source} for kind in kinds])


@operation("git/create-ref", "contents:write")
def create_ref(call: Call) -> Any:
    home, name, sha = call.repository, call.body["ref"], call.body["sha"]
    bare = home.bare
    if not name.startswith("refs/") or name.count("/") < 2:
        message = "Reference name must start with 'refs/' and have at least two slashes"
        raise ApiError(422, message)
    if not bare.run("check-ref-format", "--print", name, check=False):
        raise ApiError(422, f"{name} is not a valid ref name.")
    if bare.sha(name):
        raise ApiError(422, "Reference already exists")
    if bare.kind(sha) != "commit":
        raise ApiError(422, "Object does not exist")
    branch = name.removeprefix("refs/heads/")
    if broken := rules.broken_rules(home, branch, rules.CREATION_RULES):
        raise ApiError(422, broken)
    bare.run("update-ref", name, sha, check=False)
    if bare.sha(name) != sha:  # a branch of that name has another below it
        raise ApiError(422, "Reference update failed")
    reference = {"ref": name, "node_id": f"REF_{name}", "url": f"{home.api_url}/git/{name}"}
    return Respond(201, reference | {"object": {"type": "commit", "sha": sha, "url": ""}})


@operation("git/update-ref", "contents:write")
def update_ref(call: Call) -> Any:
    """A pull request without commits is closed."""
    home, name, sha = call.repository, f"refs/{call.variables['ref']}", call.body["sha"]
    old = home.bare.sha(name)
    if old is None:
        raise ApiError(422, "Reference does not exist")
    if not call.body.get("force") and home.bare.merge_base(old, sha) != old:
        raise ApiError(422, "Update is not a fast forward")
    if broken := rules.broken_rules(home, name.removeprefix("refs/heads/"), rules.COMMIT_RULES):
        raise ApiError(422, broken)
    home.bare.git("update-ref", name, sha)
    call.github.update_heads(home)
    for pull in home.pulls:
        if f"refs/heads/{pull.head_ref}" == name and pull.state == "open" and not pull.commits:
            pull.close()
    reference = {"ref": name, "node_id": f"REF_{name}", "url": f"{home.api_url}/git/{name}"}
    return reference | {"object": {"type": "commit", "sha": sha, "url": ""}}


@operation("git/delete-ref", "contents:write")
def delete_ref(call: Call) -> Any:
    home, name = call.repository, f"refs/{call.variables['ref']}"
    if home.bare.sha(name) is None:
        raise ApiError(422, "Reference does not exist")
    branch = name.removeprefix("refs/heads/")
    if branch in home.protected:
        raise ApiError(422, "Cannot delete a protected branch")
    if broken := rules.broken_rules(home, branch, rules.DELETION_RULES):
        raise ApiError(422, broken)
    home.bare.git("update-ref", "-d", name)
    return Respond(204)


def find_commit(call: Call, name: str) -> str:
    sha = call.repository.bare.sha(name)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {name}")
    return sha


@operation("checks/create", "checks:write")
def create_check_run(call: Call) -> Any:
    assert call.token
    sha = find_commit(call, call.body["head_sha"])
    home, name = call.repository, call.body["name"]
    run = CheckRun(call.github.next_check_id(), name, sha, call.token.app, home)
    change_check_run(call, run)
    home.all_check_runs.append(run)
    return Respond(201, objects.check_run(run))


@operation("checks/update", "checks:write")
def update_check_run(call: Call) -> Any:
    wanted = call.variables["check_run_id"]
    run = next((run for run in call.repository.all_check_runs if run.id == wanted), None)
    if run is None:
        raise not_found()
    assert call.token
    if run.app != call.token.app:
        owner = "check run can only be modified by the GitHub App that created it."
        raise ApiError(403, f"Invalid app_id `15368` - {owner}")
    change_check_run(call, run)
    return objects.check_run(run)


def change_check_run(call: Call, run: CheckRun) -> None:
    """Set what the request has. Annotations are added to those of earlier requests."""
    body = call.body
    output = body.get("output") or {}
    check_annotations(output.get("annotations", []))
    if body.get("status") == "completed" and not body.get("conclusion") and not run.conclusion:
        raise ApiError(422, 'Invalid request.\n\n"conclusion" wasn\'t supplied.')
    for name in ("name", "external_id", "details_url", "status", "conclusion"):
        setattr(run, name, body.get(name, getattr(run, name)))
    run.status = "completed" if run.conclusion else run.status
    now = call.github.now()
    run.started_at = run.started_at or body.get("started_at") or now
    run.completed_at = body.get("completed_at") or (now if run.status == "completed" else None)
    texts = ("title", "summary", "text")
    run.output |= {key: value for key, value in output.items() if key in texts}
    run.annotations += output.get("annotations", [])


def check_annotations(annotations: list[dict[str, Any]]) -> None:
    """G10. The schema limits their number and the length of summary and text."""
    for index, each in enumerate(annotations):
        problem = ""
        if len(each["message"].encode()) > MESSAGE_BYTES:
            problem = f"message is too long (maximum is {MESSAGE_BYTES} bytes)."
        elif len(each.get("title", "")) > TITLE_CHARACTERS:
            problem = f"title is too long (maximum is {TITLE_CHARACTERS} characters)."
        elif each["start_line"] > each["end_line"] or each["start_line"] < 0:
            problem = "end_line must be greater than or equal to start_line."
        if problem:
            raise ApiError(422, f"Invalid request.\n\nFor 'annotations/{index}', {problem}")


@operation("actions/list-workflow-run-artifacts", "actions:read")
def list_artifacts(call: Call) -> Any:
    wanted = call.variables["run_id"]
    run = next((run for run in call.repository.runs if run.id == wanted), None)
    if run is None:
        raise not_found()
    name = call.query.get("name")
    found = [each for each in reversed(run.artifacts) if name in (None, each.name)]
    return Page([objects.artifact(artifact) for artifact in found], "artifacts")


@operation("actions/download-artifact", "actions:read")
def download_artifact(call: Call) -> Any:
    """A redirect to another host, which must not see the token; 410 once it has expired."""
    if call.token is None:
        raise unauthenticated()
    artifact = call.github.artifact(call.variables["artifact_id"])
    if artifact is None or artifact.run.repository is not call.repository:
        raise not_found()
    if artifact.expired:
        raise ApiError(410, "Artifact has expired")
    location = f"{call.github.download_url}/{artifact.id}.zip?sig=once"
    return Respond(302, None, {"location": location})


@operation("actions/create-workflow-dispatch", "actions:write")
def dispatch_workflow(call: Call) -> Any:
    home, workflow, ref = call.repository, str(call.variables["workflow_id"]), call.body["ref"]
    if workflow not in home.workflows:
        raise not_found()
    if not home.bare.sha(f"refs/heads/{ref.removeprefix('refs/heads/')}"):
        raise ApiError(422, f"No ref found for: {ref}")
    inputs = call.body.get("inputs", {})
    home.dispatches.append(Dispatch(workflow, ref, inputs, call.actor.login))
    return Respond(204)


def find_app(call: Call) -> App:
    """The app whose JWT was sent."""
    login = call.token.user.login if call.token and not call.token.permissions else ""
    app = next((app for app in call.github.apps.values() if app.login == login), None)
    if app is None:
        raise ApiError(401, NO_JWT)
    return app


@operation("apps/get-repo-installation")
def get_installation(call: Call) -> Any:
    app, home, github = find_app(call), call.repository, call.github
    url = f"{github.api_url}/app/installations/{app.installation_id}/access_tokens"
    return {
        "id": app.installation_id,
        "app_id": app.id,
        "app_slug": app.slug,
        "account": objects.user(github.user(home.owner)),
        "access_tokens_url": url,
        "permissions": app.permissions,
        "target_type": "User",
        "repository_selection": "all",
    }


@operation("apps/create-installation-access-token")
def create_access_token(call: Call) -> Any:
    """A token for an hour, with no more permissions than the app has."""
    app, github = find_app(call), call.github
    if call.variables["installation_id"] != app.installation_id:
        raise not_found()
    wanted = call.body.get("permissions") or app.permissions
    has = {name: LEVELS[level] for name, level in app.permissions.items()}
    if any(LEVELS[level] > has.get(name, 0) for name, level in wanted.items()):
        message = "The permissions requested are not granted to this installation."
        raise validation_failed("Installation", "permissions", message)
    names = call.body.get("repositories")
    only = None
    if names is not None:
        only = frozenset(key for key, home in github.repositories.items() if home.name in names)
    text = f"ghs_{secrets.token_hex(18)}"
    permissions = {"metadata": "read", **wanted}
    expires = time.time() + HOUR
    github.tokens[text] = Token(text, github.user(app.login), permissions, only, expires, app.slug)
    selection = "all" if only is None else "selected"
    body = {"token": text, "permissions": wanted, "repository_selection": selection}
    return Respond(201, body | {"expires_at": github.later(HOUR)})
