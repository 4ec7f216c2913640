"""A change with its ends resolved, the configuration that holds for it, and the name of its repository in what is remembered."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from reviewbot import config
from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.patch import PatchOnly
from reviewbot.config import Configuration
from reviewbot.domain.change import Revisions
from reviewbot.domain.target import TargetKind
from reviewbot.wiring.hook_order import StagedOrder
from reviewbot.wiring.order import Order, configure
from reviewbot.wiring.rooms import open_repository, open_staged, repository_files


@dataclass(frozen=True, slots=True)
class Scene:
    """A change with its ends resolved, and the configuration that holds for it."""

    repo: GitRepo | PatchOnly
    revisions: Revisions
    configuration: Configuration
    scratch: Path

    @property
    def git(self) -> GitRepo | None:
        """The repository, where there is one."""
        return self.repo if isinstance(self.repo, GitRepo) else None

    @property
    def project(self) -> str:
        """A name for the repository in what is remembered."""
        return _project(self.repo)


@contextmanager
def opened(order: Order) -> Iterator[Scene]:
    """The change of an order, and its configuration."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reviewbot-", ignore_cleanup_errors=True)))
        repo: GitRepo | PatchOnly = PatchOnly()
        if isinstance(order, StagedOrder):
            repo = stack.enter_context(open_staged(order, scratch))
        elif order.target.kind is not TargetKind.PATCH:
            repo = stack.enter_context(open_repository(order.directory, scratch, order.environment))
        revisions = repo.resolve(order.target)
        yield Scene(repo, revisions, configure(order, repo, revisions), scratch)


def project_of(order: Order) -> str:
    """The name under which the repository of an order is remembered. Raises RepositoryError."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reviewbot-")))
        return _project(stack.enter_context(open_repository(order.directory, scratch, order.environment)))


def _project(repo: GitRepo | PatchOnly) -> str:
    return (repo.remote_name() or str(repo.toplevel)) if isinstance(repo, GitRepo) else "patch"


def configured_here(order: Order) -> Configuration:
    """The configuration of a place apart from any change: the committed file of the repository counts."""
    repository = (order.config,) if order.config else repository_files(order.directory, order.environment)
    return config.load(flags=order.flags, environ=order.environment, repository=repository, user=order.user)
