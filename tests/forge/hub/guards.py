"""What guards branches, and how GitHub says so: G31 of a branch's own settings, G32 of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.forge.hub.repository import Repository
    from tests.forge.hub.tokens import Token

WORKFLOWS = ".github/workflows/"

#: What a rule says of a commit that somebody puts on a branch, by its type. Other rules have nothing against it.
AGAINST_COMMITS = {
    "pull_request": "Changes must be made through a pull request.",
    "update": "Cannot update this protected ref.",
    "required_status_checks": "3 of 3 required status checks are expected.",
    "merge_queue": "Changes must be made through the merge queue",
    "required_deployments": "Required deployments are expected.",
    "code_scanning": "Code scanning is waiting for results.",
    "workflows": "Required workflows are expected.",
}
AGAINST_NAMES = {"creation": "Cannot create ref due to creations being restricted."}


def violations(home: Repository, branch: str, against: dict[str, str]) -> str:
    """What rules say against it, as GitHub words it; empty where they allow it."""
    said = [against[kind] for kind in home.rules_of(branch) if kind in against]
    return "Repository rule violations found\n\n" + "\n\n".join(said) + "\n\n" if said else ""


def touches_workflows(token: Token, paths: list[str]) -> bool:
    """G19: a workflow would change, and the token may not."""
    return any(path.startswith(WORKFLOWS) for path in paths) and not token.has("workflows", "write")
