"""All that stands under a pull request: one GraphQL query, and a further page only of what has more than a hundred entries.

What the token may not read, and what is too much to be read, is said in ``Standing.unread`` and is no failure. Any answer of
another shape than GitHub's schema promises is one ForgeError.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reviewbot.adapters.github import faults, graphql, nodes, reading
from reviewbot.adapters.github import standing_query as ask
from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.faults import GraphqlFault
from reviewbot.adapters.github.graphql import Told
from reviewbot.adapters.github.session import Session
from reviewbot.adapters.github.standing_query import Part
from reviewbot.domain.forge import (
    Author,
    AuthorKind,
    CheckState,
    Comment,
    Standing,
    Thread,
)

MOST_FURTHER_PAGES = 100
"""Of all parts together: some 10,000 comments."""

_OURS = frozenset({ask.COMMENTS.name, ask.THREADS.name, ask.REVIEWS.name})
"""Parts in which something of ours may stand."""


def standing(session: Session, repository: str, number: int) -> Standing:
    """Everything that stands under pull request ``number`` of ``owner/name`` now. Raises ForgeError."""
    owner, _, name = repository.partition("/")
    reader = _Reader(session, {"owner": owner, "name": name, "number": number}, f"read pull request {number}")
    return reader.standing()


class _Reader:
    """One reading. ``_unread`` and the number of further pages grow on the way."""

    def __init__(self, session: Session, variables: Mapping[str, Any], doing: str) -> None:
        self._session = session
        self._variables = variables
        self._doing = doing
        self._unread: dict[str, None] = {}
        self._hides_own = False
        self._pages_left = MOST_FURTHER_PAGES

    def standing(self) -> Standing:
        told = self._whole()
        repository, pull = self._found(told)
        self._note(told.faults)
        lists = {part.name: self._all(part, pull) for part in ask.PARTS}
        comments = tuple(nodes.comment(node) for node in lists["comments"])
        threads = tuple(nodes.thread(node) for node in lists["reviewThreads"])
        return Standing(
            pull=nodes.pull(pull, reading.text(repository, "nameWithOwner"), lists["labels"]),
            me=_me(told.data.get("viewer"), comments, threads),
            comments=comments,
            threads=threads,
            reviews=tuple(nodes.review(node) for node in lists["reviews"]),
            checks=(*(run for node in lists["checkSuites"] for run in nodes.suite(node)), *_statuses(pull)),
            commits=tuple(nodes.commit(reading.fields(node.get("commit"), "a commit")) for node in lists["commits"]),
            issues=tuple(nodes.issue(node) for node in lists["closingIssuesReferences"]),
            unread=tuple(self._unread),
            hides_own=self._hides_own,
        )

    def _whole(self) -> Told:
        """The first page of everything. A token may have no viewer, and ``viewer`` cannot be null: then there is no data at all,
        and everything but that is asked for once more."""
        told = self._query(ask.whole(), me=True)
        if told.data or not told.faults or any(fault.path[:1] != ("viewer",) for fault in told.faults):
            return told
        self._unread["who we are"] = None
        return self._query(ask.whole(), me=False)

    def _query(self, text: str, **more: object) -> Told:
        return graphql.query(self._session, text, {**self._variables, **more}, doing=self._doing)

    def _found(self, told: Told) -> tuple[dict[str, Any], dict[str, Any]]:
        """The repository and the pull request. Raises ForgeError where one of them is not there."""
        repository = told.data.get("repository")
        pull = reading.fields(repository, "the repository").get("pullRequest") if repository is not None else None
        if repository is None or pull is None:
            raise faults.graphql_refusal(told.faults, Call("POST", "", self._doing))
        return repository, reading.fields(pull, "the pull request")

    def _all(self, part: Part, pull: dict[str, Any]) -> list[dict[str, Any]]:
        """Every entry of a part that can be read."""
        found: list[dict[str, Any]] = []
        page = _page(part, pull)
        while page is not None:
            entries = reading.items(page.get("nodes"), part.words)
            # A node is null where the token may not see it.
            found += [reading.fields(node, part.words) for node in entries if node is not None]
            if None in entries:
                self._unread[f"some {part.words}"] = None
            info = reading.fields(page.get("pageInfo"), part.words)
            if part is ask.CHECKS and any(nodes.is_cut(node) for node in entries if node is not None):
                self._unread["some check runs of one app"] = None
            if not reading.flag(info, "hasNextPage"):
                return found
            page = self._further(part, reading.text(info, "endCursor"))
        self._hides_own |= part.name in _OURS
        return found

    def _further(self, part: Part, after: str) -> dict[str, Any] | None:
        """The next page of a part, ``None`` where too many were read or this one cannot be had."""
        self._pages_left -= 1
        if self._pages_left < 0:
            self._unread[f"{part.words} beyond {MOST_FURTHER_PAGES} further pages"] = None
            return None
        told = self._query(ask.further(part), after=after)
        self._note(told.faults)
        return _page(part, self._found(told)[1])

    def _note(self, wrong: Iterable[GraphqlFault]) -> None:
        for fault in wrong:
            self._unread[_words(fault)] = None


def _page(part: Part, pull: dict[str, Any]) -> dict[str, Any] | None:
    """One page of a part, ``None`` where there is none: it may not be read, or the head has no checks."""
    at: Any = pull
    for step in part.way:
        if isinstance(step, int):
            entries = reading.items(at, part.words)
            at = entries[step] if len(entries) > step else None
        else:
            at = reading.fields(at, part.words).get(step)
        if at is None:
            return None
    return reading.fields(at, part.words)


def _statuses(pull: dict[str, Any]) -> tuple[CheckState, ...]:
    """The commit statuses of the head: none, where it has none or they may not be read."""
    at: Any = pull
    for step in ask.STATUSES:
        found = reading.items(at, "commits") if isinstance(step, int) else reading.fields(at, "the head").get(step)
        at = (found[step] if len(found) > step else None) if isinstance(found, list) and isinstance(step, int) else found
        if at is None:
            return ()
    return tuple(nodes.status(reading.fields(node, "a status")) for node in reading.items(at, "statuses"))


def _words(fault: GraphqlFault) -> str:
    """What a fault took away: the part that its path leads through, and why."""
    if fault.path[2:] and fault.path[2:][: len(ask.STATUSES) - 1] == tuple(map(str, ask.STATUSES[:-1])):
        return faults.one_line(f"commit statuses of the head: {fault.message}")
    part = next((part for part in ask.PARTS if _leads_through(part, fault.path)), None)
    what = part.words if part else ".".join(fault.path[2:]) or "something"
    return faults.one_line(f"{what}: {fault.message}")


def _leads_through(part: Part, path: tuple[str, ...]) -> bool:
    """Whether the path of a fault (``repository.pullRequest.…``) is of a part, or ends in what lies only around it."""
    below, way = path[2:], tuple(str(step) for step in part.way)
    shared = min(len(below), len(way))
    return bool(below) and below[:shared] == way[:shared]


def _me(viewer: Any, comments: tuple[Comment, ...], threads: tuple[Thread, ...]) -> Author:
    """Who we are: what GitHub says, else the author of what is ours; an empty login where there is nothing either."""
    if viewer is not None:
        node = reading.fields(viewer, "who we are")
        login = reading.text(node, "login")
        kind = AuthorKind.BOT if login.endswith(nodes.BOT) else AuthorKind.USER
        return Author(login, reading.number(node, "databaseId", optional=True), kind)
    return next((said.author for said in _own(comments, threads) if said.author), Author("", 0, AuthorKind.UNKNOWN))


def _own(comments: tuple[Comment, ...], threads: tuple[Thread, ...]) -> Iterator[Comment]:
    yield from (comment for comment in comments if comment.is_own)
    yield from (comment for thread in threads for comment in thread.comments if comment.is_own)
