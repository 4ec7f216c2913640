"""The fake GitHub: people, repositories, tokens and the log, behind a socket on loopback."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fake_github import events
from tests.fake_github.bare_repository import BareRepository
from tests.fake_github.faults import Faults
from tests.fake_github.messages import LogEntry
from tests.fake_github.permissions import REVIEWER, App, Token
from tests.fake_github.records import Artifact, User
from tests.fake_github.repository import Repository
from tests.fake_github.rules import ACTIONS_BOT
from tests.fake_github.server import Server

ACTIONS_USER = User(41_898_282, ACTIONS_BOT, "Bot")
# Above 32 bits, as ids of comments are: GraphQL's `databaseId` of a comment is null.
FIRST_ID = 3_400_000_001
# Below 32 bits: GraphQL has no other number of a check run than `databaseId`.
FIRST_CHECK_ID = 1_700_000_001


class GitHub:
    """A context manager. Leaving it fails if anything was not as GitHub describes it.

    Attributes:
        faults: a queue; see `tests.fake_github.faults`.
        log: all requests, in the order of their responses.
        violations: what was not as GitHub describes it. A test that means it clears the list.
        resolving_needs_contents: `resolveReviewThread` needs `contents: write`, which GitHub
            asks of apps although its documentation does not say so.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fake-github-"))
        self.lock = threading.RLock()
        self.users: dict[str, User] = {ACTIONS_BOT: ACTIONS_USER}
        self.repositories: dict[str, Repository] = {}  # names in lower case
        self.tokens: dict[str, Token] = {}
        self.apps: dict[int, App] = {}
        self.faults = Faults()
        self.log: list[LogEntry] = []
        self.violations: list[str] = []
        self.resolving_needs_contents = False
        self.last_id = FIRST_ID
        self.last_check_id = FIRST_CHECK_ID
        self.server = Server(self)

    def __enter__(self) -> GitHub:
        self.server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raise AssertionError if a request or response was not as GitHub describes it."""
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
        """The host of artifacts, another than that of the API, as on GitHub."""
        return f"http://localhost:{self.server.port}/_download"

    def calls(self) -> int:
        """How many requests the API got."""
        return sum(entry.operation not in ("git", "download") for entry in self.log)

    def writes(self) -> list[str]:
        """The API's operations that wrote, in order, without those that were refused."""
        return [
            entry.operation
            for entry in self.log
            if entry.is_write and entry.operation != "git" and 0 < entry.status < 400
        ]

    def user(self, login: str) -> User:
        """An account, created if there is none. Logins that end in `[bot]` are bots."""
        if login not in self.users:
            kind = "Bot" if login.endswith("[bot]") else "User"
            self.users[login] = User(1_000 + len(self.users), login, kind)
        return self.users[login]

    def repository(self, full_name: str, *, private: bool = False) -> Repository:
        """A new repository without commits."""
        assert full_name.lower() not in self.repositories, f"{full_name} exists"
        bare = BareRepository(self.folder / f"{full_name}.git")
        repository = Repository(self.next_id(), full_name, self, bare, private)
        self.user(repository.owner)
        self.repositories[full_name.lower()] = repository
        return repository

    def token(self, login: str = ACTIONS_BOT, permissions: Mapping[str, str] | None = None) -> str:
        """A token that has exactly these permissions; without them, those of `REVIEWER`."""
        text = f"{'ghs' if login.endswith('[bot]') else 'ghp'}_{secrets.token_hex(18)}"
        granted = dict(REVIEWER if permissions is None else permissions)
        app = login.removesuffix("[bot]")
        self.tokens[text] = Token(text, self.user(login), granted, app)
        return text

    def app(self, slug: str, *, key: str, id: int = 77) -> App:
        """An app that is installed on every repository. `key`: its public key, PEM."""
        app = App(id, slug, dict(REVIEWER), self.next_id() % 1_000_000, key)
        self.user(app.login)
        self.apps[id] = app
        return app

    def event(self, name: str, **details: Any) -> dict[str, Any]:
        """The payload of a webhook, as in `GITHUB_EVENT_PATH`; see `tests.fake_github.events`."""
        return events.EVENTS[name](**details)

    def artifact(self, number: int) -> Artifact | None:
        runs = (run for repository in self.repositories.values() for run in repository.runs)
        return next((each for run in runs for each in run.artifacts if each.id == number), None)

    def update_heads(self, changed: Repository) -> None:
        """Move `refs/pull/N/head` of open pull requests from a repository that got commits."""
        for repository in self.repositories.values():
            for pull in repository.pulls:
                if pull.head_repository is not changed or pull.state != "open":
                    continue
                sha = changed.bare.sha(f"refs/heads/{pull.head_ref}")
                ref = f"refs/pull/{pull.number}/head"
                if sha is None or sha == repository.bare.sha(ref):
                    continue
                if changed is not repository:
                    repository.bare.git("fetch", "-q", str(changed.path), sha)
                repository.bare.git("update-ref", ref, sha)
                pull.updated_at = self.now()

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def next_check_id(self) -> int:
        self.last_check_id += 1
        return self.last_check_id

    def now(self) -> str:
        return self.later(0)

    def later(self, seconds: float) -> str:
        moment = datetime.now(UTC) + timedelta(seconds=seconds)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
