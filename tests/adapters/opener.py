"""Opens repositories and closes them after the test."""

from __future__ import annotations

from pathlib import Path

from reviewbot.adapters.git import GitRepo
from tests.repo import Repo


class Opener:
    """Opens repositories and closes them after the test."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._open: list[GitRepo] = []

    def __call__(self, repo: Repo, folder: Path | None = None, *, index: Path | None = None) -> GitRepo:
        git = GitRepo.open(folder or repo.path, self._scratch, environment=repo.environment, index=index)
        self._open.append(git)
        return git

    def close(self) -> None:
        for git in self._open:
            git.close()
