"""The fake GitHub itself: its people, repositories, tokens and log, behind a socket on loopback."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.forge.hub import payloads
from tests.forge.hub.code import Code
from tests.forge.hub.faults import Faults
from tests.forge.hub.front import Front
from tests.forge.hub.journal import Entry
from tests.forge.hub.repository import Repository
from tests.forge.hub.server import Server
from tests.forge.hub.state import Artifact, User
from tests.forge.hub.tokens import REVIEWER, App, Token

ACTIONS = User("github-actions[bot]", 41_898_282, "Bot")
#: Above 32 bits, as ids of comments are on GitHub today: whoever asks GraphQL for ``databaseId`` of one sees it fail.
FIRST_ID = 3_400_000_001
#: Below 32 bits: GraphQL has no other number of a check run than ``databaseId``.
FIRST_CHECK = 1_700_000_001


class Hub:
    """See :mod:`tests.forge.hub`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hub-"))
        self.lock = threading.RLock()
        self.users: dict[str, User] = {ACTIONS.login: ACTIONS}
        self.repositories: dict[str, Repository] = {}
        self.tokens: dict[str, Token] = {}
        self.apps: dict[int, App] = {}
        self.faults = Faults()
        self.journal: list[Entry] = []
        self.violations: list[str] = []
        self.ids = FIRST_ID
        self.check_ids = FIRST_CHECK
        self.resolving_needs_contents = False
        self.server = Server(Front(self).done, self.violations.append)

    def __enter__(self) -> Hub:
        self.server.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        if kind is None:
            self.check()

    def check(self) -> None:
        """Fail where something was sent or answered that GitHub's description does not allow. A test that means it clears the list."""
        assert not self.violations, "not as GitHub describes it:\n" + "\n".join(self.violations)

    @property
    def server_url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    @property
    def api_url(self) -> str:
        return f"{self.server_url}/api/v3"

    @property
    def graphql_url(self) -> str:
        return f"{self.server_url}/api/graphql"

    @property
    def download_url(self) -> str:
        """Where artifacts lie: another host, as on GitHub."""
        return f"http://localhost:{self.server.port}/_download"

    def next_id(self) -> int:
        self.ids += 1
        return self.ids

    def next_check(self) -> int:
        self.check_ids += 1
        return self.check_ids

    def now(self) -> str:
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def user(self, login: str, id: int | None = None, type: str = "User") -> User:  # noqa: A002
        """An account, made where there is none. Logins that end in ``[bot]`` are bots."""
        known = self.users.get(login)
        if known is None:
            kind = "Bot" if login.endswith("[bot]") else type
            known = self.users[login] = User(login, id or 1_000 + len(self.users), kind)
        return known

    def repository(self, full_name: str, *, private: bool = False) -> Repository:
        """A new repository, its default branch ``main`` not yet born."""
        assert full_name.lower() not in self.repositories, f"{full_name} is there"
        made = Repository(self.next_id(), full_name, self, Code(self.folder / f"{full_name}.git"), private)
        self.user(made.owner)
        self.repositories[full_name.lower()] = made
        return made

    def token(
        self,
        login: str = "github-actions[bot]",
        permissions: Mapping[str, str] | None = None,
        *,
        repositories: Iterable[str] | None = None,
        expires_in: float | None = None,
    ) -> str:
        """A token of somebody. Without ``permissions`` those a reviewing job has (``tokens.REVIEWER``)."""
        kind = "ghs" if login.endswith("[bot]") else "ghp"
        text = f"{kind}_{secrets.token_hex(18)}"
        only = None if repositories is None else frozenset(name.lower() for name in repositories)
        expires = None if expires_in is None else time.time() + expires_in
        slug = login.removesuffix("[bot]")
        told = dict(REVIEWER if permissions is None else permissions)
        self.tokens[text] = Token(text, self.user(login), told, only, expires, slug)
        return text

    def app(self, slug: str, *, id: int = 77, key: str | None = None, permissions: Mapping[str, str] | None = None) -> App:  # noqa: A002
        """A GitHub App, installed on every repository. ``key``: its public key, PEM; without one every signature is believed."""
        made = App(id, slug, dict(REVIEWER if permissions is None else permissions), self.next_id() % 1_000_000, key)
        self.user(made.login)
        self.apps[id] = made
        return made

    def later(self, seconds: float) -> str:
        return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def follow_heads(self, changed: Repository) -> None:
        """Every pull request whose head is in a repository gets its newest commit."""
        for repository in self.repositories.values():
            for pull in repository.pulls:
                sha = (
                    changed.code.sha(f"refs/heads/{pull.head_ref}")
                    if pull.head_repository is changed and pull.state == "open"
                    else None
                )
                if sha is None or sha == repository.code.sha(f"refs/pull/{pull.number}/head"):
                    continue
                if changed is not repository:
                    repository.code.git("fetch", "-q", str(changed.git), sha)
                repository.code.git("update-ref", f"refs/pull/{pull.number}/head", sha)
                pull.updated_at = self.now()

    def artifact(self, number: int) -> Artifact | None:
        every = (artifact for repository in self.repositories.values() for run in repository.runs for artifact in run.artifacts)
        return next((artifact for artifact in every if artifact.id == number), None)

    def calls(self) -> int:
        """How many requests came to the API; git's own and downloads are not among them."""
        return sum(entry.operation not in ("git", "download") for entry in self.journal)

    def writes(self) -> list[str]:
        """The operations that wrote, in order, those that were refused left out."""
        return [
            entry.operation for entry in self.journal if entry.is_write and entry.operation != "git" and 0 < entry.status < 400
        ]

    def event(self, name: str, **told: Any) -> dict[str, Any]:
        """A webhook's payload; see :mod:`tests.forge.hub.payloads`."""
        return payloads.payload(self, name, **told)
