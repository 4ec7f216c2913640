"""Pull requests over REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.forge.hub import shown
from tests.forge.hub.call import Call, Listed, Made, Text
from tests.forge.hub.problem import Problem, invalid
from tests.forge.hub.pull import FILES_SHOWN
from tests.forge.hub.rules import ACTIONS_BOT

if TYPE_CHECKING:
    from tests.forge.hub.pull import Pull

DIFF_FILES = 300
DIFF_LINES = 20_000
PULL_COMMITS = 250
TOO_LARGE = [{"resource": "PullRequest", "field": "diff", "code": "too_large"}]
LINES = f"Sorry, the diff exceeded the maximum number of lines ({DIFF_LINES})"
FILES = (
    f"Sorry, the diff exceeded the maximum number of files ({DIFF_FILES}). "
    "Consider using 'List pull requests files' API or locally cloning the repository instead."
)


def get(call: Call) -> Any:
    return diff_of(call.pull) if call.wants_diff else shown.pull(call.pull)


def diff_of(pull: Pull) -> Text:
    """G1, G2: the diff, as long as it is small."""
    if len(pull.files) > DIFF_FILES:
        raise Problem(406, FILES, TOO_LARGE)
    text = pull.repository.code.diff(pull.merge_base, pull.head_sha)
    if text.count("\n") > DIFF_LINES:
        raise Problem(406, LINES, TOO_LARGE)
    return Text(text, "application/vnd.github.v3.diff; charset=utf-8")


def list_pulls(call: Call) -> Any:
    wanted, head, base = call.query.get("state", "open"), call.query.get("head"), call.query.get("base")
    found = [
        pull
        for pull in reversed(call.repository.pulls)
        if not pull.deleted
        and wanted in ("all", pull.state)
        and (base is None or base == pull.base_ref)
        and (
            head is None
            or ":" not in head
            or head.lower() == f"{pull.head_repository.owner if pull.head_repository else ''}:{pull.head_ref}".lower()
        )
    ]
    return Listed([shown.pull_simple(pull) for pull in found])


def of_commit(call: Call) -> Any:
    sha = call.repository.code.sha(call.variables["commit_sha"])
    if sha is None:
        raise Problem(422, f"No commit found for SHA: {call.variables['commit_sha']}")
    return Listed([shown.pull_simple(pull) for pull in call.repository.pulls if sha in pull.commits])


def files(call: Call) -> Any:
    """G3: at most 3000 are told."""
    pull = call.pull
    return Listed([shown.file(file, pull.repository, pull.head_sha) for file in pull.files[:FILES_SHOWN]])


def commits(call: Call) -> Any:
    return Listed([shown.commit(call.repository, sha) for sha in call.pull.commits[:PULL_COMMITS]])


def create(call: Call) -> Any:
    body, home = call.body, call.repository
    if call.actor.login == ACTIONS_BOT and not home.actions_may_approve:
        raise Problem(403, "GitHub Actions is not permitted to create or approve pull requests.")
    owner, _, branch = body["head"].rpartition(":")
    source = next(
        (r for r in call.hub.repositories.values() if owner and r.owner == owner and (r is home or r.parent is home)), home
    )
    if source.code.sha(f"refs/heads/{branch}") is None:
        raise invalid("PullRequest", "head", code="invalid")
    if home.code.sha(f"refs/heads/{body['base']}") is None:
        raise invalid("PullRequest", "base", code="invalid")
    if any(
        p.state == "open" and (p.head_ref, p.base_ref, p.head_repository) == (branch, body["base"], source) for p in home.pulls
    ):
        raise invalid("PullRequest", "head", f"A pull request already exists for {source.owner}:{branch}.")
    if source is home and not home.code.log(
        home.code.sha(f"refs/heads/{body['base']}"), home.code.sha(f"refs/heads/{branch}") or ""
    ):
        raise invalid("PullRequest", "", f"No commits between {body['base']} and {branch}")
    made = home.pull(
        body.get("title", branch),
        branch,
        body["base"],
        author=call.actor.login,
        head_repository=source,
        draft=body.get("draft", False),
        body=body.get("body") or "",
    )
    return Made(201, shown.pull(made))


def update(call: Call) -> Any:
    pull = call.pull
    for key in ("title", "state"):
        setattr(pull, key, call.body.get(key, getattr(pull, key)))
    pull.body = call.body.get("body", pull.body) or ""
    pull.base_ref = call.body.get("base", pull.base_ref)
    pull.updated_at = call.hub.now()
    return shown.pull(pull)


OPERATIONS = {
    "pulls/get": get,
    "pulls/list": list_pulls,
    "pulls/list-files": files,
    "pulls/list-commits": commits,
    "pulls/create": create,
    "pulls/update": update,
    "repos/list-pull-requests-associated-with-commit": of_commit,
}
