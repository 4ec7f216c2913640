"""Branches, permissions, check runs, workflows and apps over REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fake_github import rest_objects as objects
from tests.fake_github.call import Call, Page, Respond, operation
from tests.fake_github.messages import ApiError, not_found
from tests.fake_github.permissions import NO_JWT, App
from tests.fake_github.records import CheckRun, Dispatch

if TYPE_CHECKING:
    from tests.fake_github.repository import Repository

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
    """G24. Files are on the first page, which nobody asks for."""
    home = call.repository
    left, _, right = call.variables["basehead"].partition("...")
    base, head = home.bare.sha(left), home.bare.sha(right)
    merge_base = home.bare.merge_base(base, head) if base and head else None
    if not (base and head and merge_base):
        raise not_found()
    assert int(call.query["page"]) > 1, "the fake has no page with files"
    ahead, behind = len(home.bare.log(base, head)), len(home.bare.log(head, base))
    return {
        "status": "diverged" if ahead and behind else "ahead" if ahead else "behind",
        "ahead_by": ahead,
        "behind_by": behind,
        "total_commits": ahead,
        "base_commit": objects.commit(home, base),
        "merge_base_commit": objects.commit(home, merge_base),
        "commits": [],
        "files": [],
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
    if home.bare.sha(name):
        raise ApiError(422, "Reference already exists")
    home.bare.git("update-ref", name, sha)
    return Respond(201, reference(home, name, sha))


def reference(home: Repository, name: str, sha: str) -> dict[str, Any]:
    about = {"ref": name, "node_id": f"REF_{name}", "url": f"{home.api_url}/git/{name}"}
    return about | {"object": {"type": "commit", "sha": sha, "url": ""}}


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
    return reference(home, name, sha)


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
    wanted = call.variables["run_id"]
    run = next((run for run in call.repository.runs if run.id == wanted), None)
    if run is None:
        raise not_found()
    name = call.query.get("name")
    found = [each for each in reversed(run.artifacts) if name in (None, each.name)]
    return Page([objects.artifact(artifact) for artifact in found], "artifacts")


@operation("actions/download-artifact", "actions:read")
def download_artifact(call: Call) -> Any:
    """A redirect to another host, which must not see the token."""
    artifact = call.github.artifact(call.variables["artifact_id"])
    if artifact is None or artifact.run.repository is not call.repository:
        raise not_found()
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


def find_app(call: Call) -> App:
    """The app whose JWT was sent."""
    login = call.token.user.login if call.token and not call.token.permissions else ""
    app = next((app for app in call.github.apps.values() if app.login == login), None)
    if app is None:
        raise ApiError(401, NO_JWT)
    return app


@operation("apps/create-installation-access-token")
def create_access_token(call: Call) -> Any:
    """A token for an hour."""
    app, github = find_app(call), call.github
    if call.variables["installation_id"] != app.installation_id:
        raise not_found()
    text = github.token(app.login, app.permissions)
    body = {"token": text, "permissions": app.permissions, "repository_selection": "all"}
    return Respond(201, body | {"expires_at": github.later(HOUR)})
