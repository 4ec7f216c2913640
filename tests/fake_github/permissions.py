"""Who sends a request, and what they may do: tokens and apps."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jwt as pyjwt

from tests.fake_github.messages import ApiError

if TYPE_CHECKING:
    from tests.fake_github.records import User
    from tests.fake_github.repository import Repository

LEVELS = {"none": 0, "read": 1, "write": 2, "admin": 3}
# What a job needs that reviews and reports: the default of `GitHub.token`.
REVIEWER = {
    "actions": "read",
    "checks": "write",
    "contents": "read",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "security_events": "write",
    "statuses": "read",
}
NO_JWT = "A JSON web token could not be decoded"
# Seconds. GitHub allows ten minutes and some drift of clocks.
LONGEST_JWT = 660
DRIFT = 60


@dataclass(frozen=True)
class Token:
    """A token has exactly the permissions given.

    Attributes:
        text: what is sent.
        app: the slug of the app that owns the check runs made with the token.
    """

    text: str
    user: User
    permissions: dict[str, str]
    app: str = "github-actions"

    @property
    def is_app(self) -> bool:
        return self.user.kind == "Bot"

    def has(self, permission: str, level: str) -> bool:
        return LEVELS[self.permissions.get(permission, "none")] >= LEVELS[level]

    def reaches(self, repository: Repository) -> bool:
        return self.is_app or not repository.private or repository.role(self.user.login) != "none"

    def may(self, repository: Repository, *needs: str) -> bool:
        """One of `needs`, as `contents:write`, suffices. Everybody may read what is public."""
        pairs = [need.split(":") for need in needs]
        if not repository.private and all(level == "read" for _, level in pairs):
            return True
        return self.reaches(repository) and any(self.has(name, level) for name, level in pairs)


@dataclass(frozen=True)
class App:
    """A GitHub App. It signs in with a JWT whose issuer is its id.

    Attributes:
        key: the public key, PEM.
    """

    id: int
    slug: str
    permissions: dict[str, str]
    installation_id: int
    key: str

    @property
    def login(self) -> str:
        return f"{self.slug}[bot]"


def token_in(header: str) -> str:
    """The token of an `Authorization` header. git sends it as a password."""
    kind, _, value = header.partition(" ")
    if kind.lower() in ("bearer", "token"):
        return value.strip()
    if kind.lower() != "basic":
        return ""
    return base64.b64decode(value).decode().partition(":")[2]


def find_app(jwt: str, apps: dict[int, App]) -> App:
    """G17 for apps: the issuer, the times (ten minutes at most) and the signature are checked."""
    try:
        payload = jwt.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        app = apps[int(claims["iss"])]
        begins, ends = float(claims["iat"]), float(claims["exp"])
    except (ValueError, KeyError, TypeError):
        raise ApiError(401, NO_JWT) from None
    if ends < time.time() or begins > time.time() + DRIFT or ends - begins > LONGEST_JWT:
        raise ApiError(401, "'Expiration time' claim ('exp') is in the past or too far away")
    pyjwt.decode(jwt, app.key, algorithms=["RS256"], options={"verify_aud": False})
    return app
