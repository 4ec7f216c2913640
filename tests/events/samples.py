"""GitHub's own example payloads, and facts to decide about."""

from __future__ import annotations

import copy
import functools
import gzip
import json
from collections.abc import Iterator
from typing import Any

from reviewbot.domain.event import Event, FinishedRun, Happening, SaidComment
from reviewbot.domain.forge import (
    Author,
    AuthorKind,
    Commit,
    Permission,
    PullRequest,
    PullState,
)
from reviewbot.events.facts import Facts
from tests.events.vendor import EXAMPLES

REPOSITORY = "octo/shop"
HEAD, BASE, ZEROS = "a" * 40, "b" * 40, "0" * 40
ANN = Author("ann", 1, AuthorKind.USER)
WE = Author("reviewbot[bot]", 9, AuthorKind.BOT)
RENOVATE = Author("renovate[bot]", 7, AuthorKind.BOT)
DEPENDABOT = Author("dependabot[bot]", 8, AuthorKind.BOT)
OWN = Commit(HEAD, "Close the file\n\nIt leaked.\n\nReviewbot-Finding: F1\nReviewbot-Check: pytest", "reviewbot[bot]")

PULL = PullRequest(
    repository=REPOSITORY,
    number=5,
    title="Sell more",
    body="",
    author=ANN,
    state=PullState.OPEN,
    is_draft=False,
    is_locked=False,
    labels=(),
    base_ref="main",
    base_sha=BASE,
    head_ref="more",
    head_sha=HEAD,
    head_repository=REPOSITORY,
    changed_files=2,
)


@functools.cache
def _examples() -> dict[str, dict[str, list[Any]]]:
    found: dict[str, dict[str, list[Any]]] = json.loads(gzip.decompress(EXAMPLES.read_bytes()))
    return found


def examples() -> Iterator[tuple[str, str, Any]]:
    """Server, event and payload of each."""
    for server, events in _examples().items():
        for name, payloads in events.items():
            for payload in payloads:
                yield server, name, copy.deepcopy(payload)


def example(name: str, action: str | None = None, index: int = 0) -> Any:
    """One of GitHub's own, to be changed at will."""
    found = [payload for payload in _examples()["api.github.com"][name] if action in (None, payload.get("action"))]
    return copy.deepcopy(found[index])


def opened(**more: Any) -> Facts:
    """A pull request of the repository's own, as its author's run sees it."""
    event = Event(Happening.PULL_REQUEST, "opened", REPOSITORY, number=5, sender=ANN, pull=PULL)
    return Facts(event, **{"permission": Permission.WRITE, **more})


def commented(body: str = "/debate", author: Author | None = ANN, **more: Any) -> Facts:
    """A command under it."""
    event = Event(Happening.COMMENT, "created", REPOSITORY, number=5, sender=author, comment=SaidComment(3, "c", body, author))
    return Facts(event, **{"permission": Permission.WRITE, **more})


def finished(**more: Any) -> Facts:
    """A run of a fork's pull request that ended well."""
    run = FinishedRun(4, "pull_request", "success", "ann/shop", "more", HEAD)
    return Facts(Event(Happening.RUN_FINISHED, "completed", REPOSITORY, sender=ANN, run=run), **more)


def dispatched(number: int | None = None, **more: Any) -> Facts:
    """Somebody pressed the button."""
    return Facts(Event(Happening.DISPATCH, repository=REPOSITORY, number=number, sender=ANN, ref="refs/heads/main"), **more)


def pushed(**more: Any) -> Facts:
    """Something was merged."""
    event = Event(
        Happening.PUSH, "", REPOSITORY, sender=ANN, ref="refs/heads/main", before=BASE, after=HEAD, default_branch="main"
    )
    return Facts(event, **more)


def scheduled(**more: Any) -> Facts:
    """It is night."""
    return Facts(Event(Happening.SCHEDULE, repository=REPOSITORY, inputs=(("schedule", "0 3 * * *"),)), **more)
