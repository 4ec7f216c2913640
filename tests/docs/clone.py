"""A machine on which somebody clones this repository for the first time: an origin, a Python, wheels in place of a package index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.console import Shell
from tests.docs.pages import TOP
from tests.docs.scratch import IDENTITY, Scratch
from tests.hooks.wheelhouse import offline, stock

BROUGHT = ("pip", "editables", "reviewbot[models]")
"""What is installed by the README's commands, beside what builds."""


class Machine:
    """``folder/origin`` is what is cloned: the files of this work tree, in two commits. ``folder/home/project`` is a repository of the
    reader's own."""

    def __init__(self, folder: Path, models: str) -> None:
        self.folder = folder
        self.scratch = Scratch(folder, models)
        self.home = self.scratch.home
        self.scratch.shop.rename(self.home / "project")
        self._origin()
        stock(folder / "wheels", *BROUGHT)
        self.shell = Shell(self.home, self._environment(), folder / "desk")

    def _origin(self) -> None:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TOP, capture_output=True, check=True
        )
        origin = self.folder / "origin"
        for name in filter(None, listed.stdout.decode("utf-8", "surrogateescape").split("\0")):
            if (TOP / name).is_file():
                target = origin / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes((TOP / name).read_bytes())
                target.chmod((TOP / name).stat().st_mode)
        note = (origin / "CHANGELOG.md").read_text(encoding="utf-8")
        (origin / "CHANGELOG.md").unlink()
        self._git(origin, "init", "-q")
        self._git(origin, "add", "--all", "--force")
        self._git(origin, "commit", "-q", "-m", "All but what changed last")
        (origin / "CHANGELOG.md").write_text(note, encoding="utf-8")
        self._git(origin, "add", "--all", "--force")
        self._git(origin, "commit", "-q", "-m", "Say what changed")

    def _git(self, where: Path, *words: str) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *words], cwd=where, env=environment, check=True, capture_output=True)

    def _environment(self) -> dict[str, str]:
        """No reviewbot is on this machine, and nothing of the environment of the tests."""
        (self.home / ".gitconfig").write_text(IDENTITY, encoding="utf-8")
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "python3").symlink_to(Path(getattr(sys, "_base_executable", sys.executable)).resolve())
        own = Path(sys.prefix) / "bin"
        found = [part for part in os.environ["PATH"].split(os.pathsep) if Path(part) != own]
        return {
            **self.scratch.environment(),
            **offline(self.folder / "wheels"),
            "PATH": os.pathsep.join([str(programs), *found]),
            "ORIGIN": str(self.folder / "origin"),
        }
