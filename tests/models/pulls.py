"""A pull request from push to push, in this process: a repository, what its reviews remember, and who looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reviewbot import wiring
from reviewbot.config import Source
from reviewbot.consensus import carry
from reviewbot.domain.history import History
from reviewbot.domain.review import Review
from reviewbot.domain.target import Target, TargetKind
from tests.repo import Repo

NUMBER = 7


class Pull:
    """A branch beside ``main`` and its reviews, one after the other."""

    def __init__(self, folder: Path, user: dict[str, Any] | None = None) -> None:
        self.repo = Repo(folder)
        self.state = folder / "state"
        self.user = user
        self.history = History()
        self.repo.write("README.md", "A shop.\n")
        self.repo.write("shop/__init__.py", "")
        self.repo.commit("Begin a shop")
        self.repo.git("checkout", "-q", "-b", "topic")

    def push(self, files: dict[str, str]) -> None:
        """A commit on the branch."""
        for name, text in files.items():
            self.repo.write(name, text)
        self.repo.commit("Go on")

    def rebase(self, files: dict[str, str]) -> None:
        """The branch on a ``main`` that went on."""
        self.repo.git("checkout", "-q", "main")
        for name, text in files.items():
            self.repo.write(name, text)
        self.repo.commit("Go on elsewhere")
        self.repo.git("checkout", "-q", "topic")
        self.repo.git("rebase", "-q", "main")

    def review(self, observer: Any = None, **other: Any) -> Review:
        """What is said of the branch, and remembered."""
        made = wiring.review(self.order(**other), observer).review
        self.history = carry.history_after(made, self.history)
        return made

    def order(self, **other: Any) -> wiring.Order:
        """A review of all that the branch changes."""
        fields: dict[str, Any] = {
            "target": Target(TargetKind.MERGE_BASE, base="main", head="topic"),
            "directory": self.repo.path,
            "environment": {**self.repo.environment, "XDG_CONFIG_HOME": str(self.repo.home)},
            "flags": {},
            "user": Source("user.yml", json.dumps(self.user).encode()) if self.user else None,
            "execute": False,
            "state": self.state,
            "history": self.history,
            "pull_request": NUMBER,
        }
        return wiring.Order(**(fields | other))
