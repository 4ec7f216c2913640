"""One request to an operation, and what a handler may answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.forge.hub.problem import Problem, not_found

if TYPE_CHECKING:
    from tests.forge.hub.hub import Hub
    from tests.forge.hub.pull import Pull
    from tests.forge.hub.repository import Repository
    from tests.forge.hub.router import Operation
    from tests.forge.hub.state import Issue, User
    from tests.forge.hub.tokens import Token

PER_PAGE = 30


@dataclass(frozen=True)
class Listed:
    """Many: cut into pages. ``key`` wraps the page as ``{"total_count": …, key: […]}``."""

    items: list[Any]
    key: str | None = None


@dataclass(frozen=True)
class Made:
    """A body with a status that is not the operation's usual one."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Text:
    """A body that is no JSON."""

    text: str
    media: str


@dataclass(frozen=True)
class Call:
    """Who asks for what."""

    hub: Hub
    operation: Operation
    variables: dict[str, Any]
    query: dict[str, str]
    body: dict[str, Any]
    accept: str
    token: Token | None
    repository_or_none: Repository | None = None

    @property
    def repository(self) -> Repository:
        if self.repository_or_none is None:
            raise not_found()
        return self.repository_or_none

    @property
    def actor(self) -> User:
        if self.token is None:
            raise Problem(401, "Requires authentication")
        return self.token.user

    @property
    def pull(self) -> Pull:
        found = self.repository.pulls_by_number.get(self.variables["pull_number"])
        if found is None or found.deleted:
            raise not_found()
        return found

    @property
    def talk(self) -> Pull | Issue:
        """The pull request or issue that an issue number names."""
        number = self.variables["issue_number"]
        found = self.repository.pulls_by_number.get(number) or self.repository.issues_by_number.get(number)
        if found is None:
            raise not_found()
        if found.deleted:
            raise Problem(410, "This issue was deleted")
        return found

    @property
    def wants_diff(self) -> bool:
        return self.accept.startswith("application/vnd.github") and self.accept.partition("+")[0].endswith(".diff")

    def page(self, listed: Listed, url: str) -> tuple[Any, dict[str, str]]:
        """A page of many, and its ``Link`` header."""
        size = min(max(int(self.query.get("per_page", PER_PAGE)), 1), 100)
        at = max(int(self.query.get("page", 1)), 1)
        last = max(-(-len(listed.items) // size), 1)
        items = listed.items[(at - 1) * size : at * size]
        pages = {"next": at + 1, "last": last} if at < last else {}
        pages |= {"prev": at - 1, "first": 1} if at > 1 else {}
        link = ", ".join(f'<{url}?{urlencode({**self.query, "page": page})}>; rel="{word}"' for word, page in pages.items())
        body = items if listed.key is None else {"total_count": len(listed.items), listed.key: items}
        return body, {"link": link} if link else {}
