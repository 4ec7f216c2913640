"""What a handler of an operation gets and gives, and the table of handlers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.fake_github.messages import not_found, unauthenticated

if TYPE_CHECKING:
    from tests.fake_github.contract import Operation
    from tests.fake_github.github import GitHub
    from tests.fake_github.permissions import Token
    from tests.fake_github.pull import Pull
    from tests.fake_github.records import Issue, User
    from tests.fake_github.repository import Repository

PER_PAGE = 30
MOST_PER_PAGE = 100


@dataclass(frozen=True)
class Call:
    github: GitHub
    operation: Operation
    variables: dict[str, Any]
    query: dict[str, str]
    body: dict[str, Any]
    token: Token | None

    @property
    def repository(self) -> Repository:
        name = f"{self.variables['owner']}/{self.variables['repo']}"
        found = self.github.repositories.get(name.lower())
        if found is None:
            raise not_found()
        return found

    def find(self, records: Sequence[Any], variable: str, of: str = "id") -> Any:
        """The record that a variable of the path names."""
        wanted = self.variables[variable]
        found = next((each for each in records if getattr(each, of) == wanted), None)
        if found is None:
            raise not_found()
        return found

    @property
    def actor(self) -> User:
        if self.token is None:
            raise unauthenticated()
        return self.token.user

    @property
    def pull(self) -> Pull:
        found = self.repository.pulls_by_number.get(self.variables["pull_number"])
        if found is None:
            raise not_found()
        return found

    @property
    def issue(self) -> Pull | Issue:
        """The pull request or issue that an issue number names."""
        home, number = self.repository, self.variables["issue_number"]
        found = home.pulls_by_number.get(number) or home.issues_by_number.get(number)
        if found is None:
            raise not_found()
        return found


@dataclass(frozen=True)
class Page:
    """All items, of which one page is sent; with a key as `{"total_count", key}`."""

    items: list[Any]
    key: str = ""

    def response(self, call: Call) -> Respond:
        """The page that the query names."""
        size = min(max(int(call.query.get("per_page", PER_PAGE)), 1), MOST_PER_PAGE)
        start = (max(int(call.query.get("page", 1)), 1) - 1) * size
        items = self.items[start : start + size]
        body = {"total_count": len(self.items), self.key: items} if self.key else items
        return Respond(call.operation.success, body)


@dataclass(frozen=True)
class Respond:
    """A response with another status than the operation's usual one, or with headers."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Handler:
    """`needs`: permissions of which one suffices; none where apps sign in with a JWT."""

    function: Callable[[Call], Any]
    needs: tuple[str, ...]


HANDLERS: dict[str, Handler] = {}


def operation(
    operation_id: str, *needs: str
) -> Callable[[Callable[[Call], Any]], Callable[[Call], Any]]:
    """Register the handler of an operation.

    It returns the body of a response with the first status that GitHub describes, or one of the
    types above.
    """

    def register(function: Callable[[Call], Any]) -> Callable[[Call], Any]:
        HANDLERS[operation_id] = Handler(function, needs)
        return function

    return register
