"""The scratch repository of a page: a small shop with a change on a branch, a remote, a home, and nobody's keys."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from reviewbot.cli.specimen import build
from tests.docs.console import Shell
from tests.docs.pages import TOP
from tests.models.stage import GUARD
from tests.repo import AUTHOR, EMAIL

PROGRAMS = Path(sys.prefix) / "bin"
IDENTITY = f"[user]\n\tname = {AUTHOR}\n\temail = {EMAIL}\n[init]\n\tdefaultBranch = main\n"


class Scratch:
    """``folder/shop`` is the repository: ``main``, and its change on ``topic``. ``models``: where fake models answer, for rows of
    the table that stand in for a key."""

    def __init__(self, folder: Path, models: str = "http://127.0.0.1:9") -> None:
        self.folder = folder
        self.home = folder / "home"
        self.shop = folder / "shop"
        self.attempts = folder / "attempts"
        self.models = models
        self.home.mkdir(parents=True)
        (self.home / ".gitconfig").write_text(IDENTITY, encoding="utf-8")
        build(self.shop, os.environ["PATH"])
        self.shell = Shell(self.shop, self.environment(), folder / "terminal")
        made = self.shell.run(
            "git branch -q -m topic && git branch -q main HEAD~1 && git clone -q --bare . ../origin.git && "
            "git -C ../origin.git update-ref -d refs/heads/topic && git remote add origin ../origin.git && git fetch -q"
        )
        assert made.code == 0, made.text

    def environment(self) -> dict[str, str]:
        """What a terminal is opened with: nothing of this machine's but its path. No process reaches beyond this machine."""
        return {
            "PATH": os.pathsep.join([str(PROGRAMS), os.environ["PATH"]]),
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary()),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONPATH": str(GUARD),
            "ATTEMPTS_FILE": str(self.attempts),
            "FAKE_MODELS": self.models,
            "REVIEWBOT_TOP": str(TOP),
        }

    def temporary(self) -> Path:
        """Where its processes put what they need for a moment."""
        made = self.folder / "tmp"
        made.mkdir(exist_ok=True)
        return made
