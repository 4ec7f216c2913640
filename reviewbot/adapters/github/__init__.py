"""GitHub behind the ports of a forge. PyGithub is imported when a hub is opened, not before.

What GitHub answers to a fault, and what is done about it, stands in ``faults`` and ``session``; nothing here asks twice.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from reviewbot import __version__
from reviewbot.adapters.github import (
    acts,
    artifact,
    branches,
    changes,
    history,
    issues,
    merge_base,
    permission,
    pulls,
    sarif,
    standing,
)
from reviewbot.adapters.github.auth import App, AppToken, Credential, GivenToken, Keys, Token
from reviewbot.adapters.github.exchange import Wire
from reviewbot.adapters.github.session import Session, Waits
from reviewbot.domain.action import (
    Action,
    Done,
)
from reviewbot.domain.forge import (
    Commit,
    Notice,
    Permission,
    Standing,
    Touched,
)
from reviewbot.errors import ConfigError
from reviewbot.ports import Clock, ForgeDiff

__all__ = ["App", "Credential", "Hub", "Manners", "Token"]

_REPOSITORY = re.compile(r"(?!\.\.?/)[A-Za-z0-9_.-]{1,100}/(?!\.\.?\Z)[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, slots=True)
class Manners:
    """How faults are borne. ``patience`` is how many seconds may be waited in all for GitHub's limits and troubles; ``sleep``
    waits, ``random`` gives a number in [0, 1)."""

    patience: float = 180.0
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = random.random


class Hub:
    """One repository on GitHub: the ports ``Desk``, ``Changes``, ``Board``, ``Branches``, ``History`` and ``Forge``. For one
    thread.

    Every method raises ForgeError, and nothing of what it says holds a token.
    """

    def __init__(self, session: Session, repository: str) -> None:
        self._session = session
        self._repository = repository

    @classmethod
    def open(cls, api_url: str, repository: str, credential: Credential, *, clock: Clock, manners: Manners | None = None) -> Self:
        """The repository ``owner/name`` at ``https://api.github.com`` or ``https://HOST/api/v3``; nothing is asked for yet.
        Raises ConfigError for an address, a name or a token that cannot be used, or where PyGithub is not installed."""
        if not _REPOSITORY.fullmatch(repository):
            raise ConfigError("the repository is not named as OWNER/NAME", hint="write it as GitHub does in its address")
        manners = manners or Manners()
        wire, keys = _connected(api_url, repository, credential, clock=clock)
        waits = Waits(manners.patience, clock=clock, sleep=manners.sleep, random=manners.random)
        return cls(Session(wire, keys, waits), repository)

    def close(self) -> None:
        """End the connections."""
        self._session.close()

    def standing(self, number: int) -> Standing:
        """See the port ``Desk``."""
        return standing.standing(self._session, self._repository, number)

    def permission(self, login: str) -> Permission:
        """See the port ``Desk``."""
        return permission.permission(self._session, self._repository, login)

    def pull_of(self, head_repository: str, head_ref: str, head_sha: str) -> int | None:
        """See the port ``Desk``."""
        return pulls.pull_of(self._session, self._repository, (head_repository, head_ref, head_sha))

    def diff(self, number: int, changed_files: int) -> ForgeDiff:
        """See the port ``Changes``."""
        return changes.diff(self._session, self._repository, number, changed_files=changed_files)

    def merge_base(self, base_sha: str, head_sha: str) -> str:
        """See the port ``Changes``."""
        return merge_base.merge_base(self._session, self._repository, base_sha, head_sha=head_sha)

    def notice(self, marker: str) -> Notice | None:
        """See the port ``Board``."""
        return issues.notice(self._session, self._repository, marker)

    def head(self, branch: str) -> Commit | None:
        """See the port ``Branches``."""
        return branches.head(self._session, self._repository, branch)

    def is_protected(self, branch: str) -> bool | None:
        """See the port ``Branches``."""
        return branches.is_protected(self._session, self._repository, branch)

    def touched(self, sha: str, head: str) -> tuple[Touched, ...]:
        """See the port ``History``."""
        return history.touched(self._session, self._repository, sha, head=head)

    def blob(self, object_id: str) -> bytes:
        """See the port ``History``."""
        return history.blob(self._session, self._repository, object_id)

    def do(self, action: Action) -> Done:
        """See the port ``Forge``."""
        return acts.do(self._session, self._repository, action)

    def artifact(self, run_id: int, name: str) -> Mapping[str, bytes]:
        """The files of the artifact ``name`` of a workflow run, by path. What they say is the word of who ran it."""
        return artifact.files(self._session, self._repository, run_id, name=name)

    def upload(self, report: bytes, *, commit_sha: str, ref: str) -> Done:
        """Hand a SARIF report to code scanning."""
        return sarif.upload(self._session, self._repository, report, commit_sha=commit_sha, ref=ref)


def _connected(api_url: str, repository: str, credential: Credential, *, clock: Clock) -> tuple[Wire, Keys]:
    try:
        from reviewbot.adapters.github.wire import GithubWire, app_token
    except ModuleNotFoundError as exc:
        hint = "install it: pip install 'reviewbot[github]'"
        raise ConfigError(f"GitHub cannot be asked without {exc.name}", hint=hint) from exc
    wire = GithubWire(api_url, user_agent=f"reviewbot/{__version__}", clock=clock)
    if isinstance(credential, Token):
        return wire, GivenToken(credential)
    return wire, AppToken(credential, repository, signed=app_token, clock=clock)
