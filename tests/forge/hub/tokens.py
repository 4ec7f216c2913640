"""Who asks, and what they may: tokens, app credentials, and the permission each operation takes."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.forge.hub.problem import Problem, not_accessible, not_found

if TYPE_CHECKING:
    from tests.forge.hub.repository import Repository
    from tests.forge.hub.state import User

LEVELS = {"none": 0, "read": 1, "write": 2, "admin": 3}
#: What a job has that may review: the permissions of a workflow that this project recommends.
REVIEWER = {
    "actions": "read",
    "checks": "write",
    "contents": "read",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "security_events": "write",
    "statuses": "write",
}

#: For each operation the permissions of which one suffices. Those of pull requests that are reached as issues take either.
WORDS_READ = (("issues", "read"), ("pull_requests", "read"))
WORDS_WRITE = (("issues", "write"), ("pull_requests", "write"))
NEEDS: dict[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(
        [
            "pulls/get",
            "pulls/list",
            "pulls/list-files",
            "pulls/list-commits",
            "pulls/list-reviews",
            "pulls/get-review",
            "pulls/list-comments-for-review",
            "pulls/list-review-comments",
            "pulls/get-review-comment",
            "reactions/list-for-pull-request-review-comment",
        ],
        (("pull_requests", "read"),),
    ),
    **dict.fromkeys(
        [
            "pulls/create",
            "pulls/update",
            "pulls/create-review",
            "pulls/update-review",
            "pulls/delete-pending-review",
            "pulls/submit-review",
            "pulls/dismiss-review",
            "pulls/create-review-comment",
            "pulls/create-reply-for-review-comment",
            "pulls/update-review-comment",
            "pulls/delete-review-comment",
            "reactions/create-for-pull-request-review-comment",
        ],
        (("pull_requests", "write"),),
    ),
    **dict.fromkeys(
        [
            "issues/get",
            "issues/list-comments",
            "issues/get-comment",
            "issues/list-labels-on-issue",
            "issues/list-for-repo",
            "reactions/list-for-issue-comment",
        ],
        WORDS_READ,
    ),
    **dict.fromkeys(
        [
            "issues/create-comment",
            "issues/update-comment",
            "issues/delete-comment",
            "issues/add-labels",
            "issues/set-labels",
            "issues/remove-label",
            "issues/update",
            "reactions/create-for-issue-comment",
            "reactions/create-for-issue",
        ],
        WORDS_WRITE,
    ),
    "issues/create": (("issues", "write"),),
    **dict.fromkeys(("checks/create", "checks/update"), (("checks", "write"),)),
    **dict.fromkeys(("checks/get", "checks/list-for-ref", "checks/list-annotations"), (("checks", "read"),)),
    "repos/create-commit-status": (("statuses", "write"),),
    **dict.fromkeys(("repos/get-combined-status-for-ref", "repos/list-commit-statuses-for-ref"), (("statuses", "read"),)),
    **dict.fromkeys(
        [
            "repos/get-content",
            "repos/get-branch",
            "repos/get-commit",
            "repos/compare-commits-with-basehead",
            "git/get-ref",
            "git/get-commit",
            "git/get-tree",
            "git/get-blob",
        ],
        (("contents", "read"),),
    ),
    "repos/list-pull-requests-associated-with-commit": (("contents", "read"), ("pull_requests", "read")),
    **dict.fromkeys(
        ("git/create-blob", "git/create-tree", "git/create-commit", "git/create-ref", "git/update-ref"), (("contents", "write"),)
    ),
    "code-scanning/upload-sarif": (("security_events", "write"),),
    **dict.fromkeys(
        [
            "actions/download-artifact",
            "actions/get-artifact",
            "actions/get-workflow-run",
            "actions/list-artifacts-for-repo",
            "actions/list-workflow-run-artifacts",
            "actions/list-workflow-runs-for-repo",
        ],
        (("actions", "read"),),
    ),
    **dict.fromkeys(("repos/get", "repos/get-branch-rules", "repos/get-collaborator-permission-level"), (("metadata", "read"),)),
}
#: Operations that need no repository.
EVERYBODY = frozenset({"rate-limit/get", "users/get-by-username"})
OF_PEOPLE = frozenset({"users/get-authenticated"})
OF_APPS = frozenset({"apps/get-authenticated", "apps/create-installation-access-token", "apps/get-repo-installation"})


@dataclass(frozen=True)
class Token:
    """``text`` is what is sent. ``repositories``: the only ones it reaches, ``None`` for all. ``expires``: epoch seconds."""

    text: str
    user: User
    permissions: dict[str, str]
    repositories: frozenset[str] | None = None
    expires: float | None = None
    app: str = "github-actions"

    @property
    def is_app(self) -> bool:
        return self.user.kind == "Bot"

    def has(self, permission: str, level: str) -> bool:
        return LEVELS[self.permissions.get(permission, "none")] >= LEVELS[level]

    def reaches(self, repository: Repository) -> bool:
        if self.repositories is not None and repository.full_name.lower() not in self.repositories:
            return False
        return self.is_app or not repository.private or repository.role(self.user.login) != "none"

    def may(self, repository: Repository, needs: tuple[tuple[str, str], ...]) -> bool:
        """One of the permissions suffices; what is public may be read by everybody."""
        if not repository.private and all(level == "read" for _, level in needs):
            return True
        return self.reaches(repository) and any(self.has(permission, level) for permission, level in needs)


@dataclass
class App:
    """An app: its credential is a signed JWT whose issuer is its id. ``key``: the public key, PEM; ``None`` believes every signature."""

    id: int
    slug: str
    permissions: dict[str, str]
    installation_id: int
    key: str | None = None
    repositories: list[str] = field(default_factory=list)

    @property
    def login(self) -> str:
        return f"{self.slug}[bot]"


def sent(header: str) -> str | None:
    """The token of an ``Authorization`` header: bearer, token, or the password of basic (as git sends it)."""
    kind, _, rest = header.partition(" ")
    if kind.lower() in ("bearer", "token"):
        return rest.strip()
    if kind.lower() != "basic":
        return None
    try:
        return base64.b64decode(rest).decode().partition(":")[2]
    except ValueError:
        return None


def claims(text: str) -> dict[str, object] | None:
    """The claims of a JWT, where it is one."""
    parts = text.split(".")
    if len(parts) != 3:
        return None
    try:
        told = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return None
    return told if isinstance(told, dict) else None


def check_jwt(text: str, apps: dict[int, App]) -> App:
    """G17 for apps: the issuer is known, the time is right (ten minutes at most), and the signature where the key is known."""
    told = claims(text) or {}
    app = apps.get(int(str(told.get("iss", 0)))) if str(told.get("iss", "")).isdecimal() else None
    if app is None:
        raise Problem(401, "A JSON web token could not be decoded")
    begins, ends = told.get("iat"), told.get("exp")
    if not isinstance(ends, int | float) or ends < time.time():
        raise Problem(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
        )
    if not isinstance(begins, int | float) or begins > time.time() + 60 or ends - begins > 660:
        raise Problem(401, "'Expiration time' claim ('exp') is too far in the future")
    if app.key is not None:
        check_signature(text, app.key)
    return app


def check_signature(text: str, key: str) -> None:
    import jwt

    try:
        jwt.decode(text, key, algorithms=["RS256"], options={"verify_aud": False, "verify_iss": False})
    except jwt.InvalidTokenError as exc:
        raise Problem(401, "A JSON web token could not be decoded") from exc


def check_permission(token: Token | None, operation: str, repository: Repository | None) -> None:
    """G14. Private repositories are nowhere for who may not see them."""
    if token is None:
        if repository is None or repository.private or any(level != "read" for _, level in NEEDS.get(operation, ())):
            raise Problem(401, "Requires authentication")
        return
    if repository is None:
        if operation in OF_PEOPLE and token.is_app:
            raise not_accessible()
        return
    if repository.private and not token.reaches(repository):
        raise not_found()
    if operation in ("checks/create", "checks/update") and not token.is_app:
        raise Problem(403, "You must authenticate via a GitHub App.")
    if not token.may(repository, NEEDS[operation]):
        raise not_accessible()
