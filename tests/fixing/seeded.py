"""A repository with a planted bug, and models that claim it and write what a test wants them to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.evidence.corpus import FOLDER, Bug, bugs
from tests.fakes import Models, Seen, claim, reviewer
from tests.models.stage import HANGS, Ran, Stage, one_vendor

SEATS = ("critic", "reviewer", "proposer")
Mend = Sequence[Sequence[str]]
MENDS: dict[str, dict[str, Mend]] = yaml.safe_load((FOLDER / "mends.yml").read_text(encoding="utf-8"))
SEEDED = [bug for bug in bugs("python", "go", "javascript", "bash") if bug.name in MENDS]
SUITES = {
    "python": ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider"),
    "go": ("go", "test", "./..."),
    "javascript": ("node", "--test"),
    "bash": ("true",),
}
"""How a person runs all tests of a case. Those in Bash have none of their own."""


class Seeded(Stage):
    """The repository of a case: a commit with what is right, and one with the bug."""

    def __init__(self, folder: Path, bug: Bug) -> None:
        super().__init__(folder, functions=1)
        self.bug = bug
        for files in (bug.base, bug.head):
            for name in set(bug.base) - set(files):
                self.repo.remove(name)
            for name, text in files.items():
                self.repo.write(name, text)
            self.repo.commit(str(bug.document["title"]))
        self.repo.git("config", "user.name", "Ada")
        self.repo.git("config", "user.email", "ada@example.org")
        self.head = self.repo.git("rev-parse", "HEAD").strip()

    @property
    def claim(self) -> dict[str, Any]:
        """The bug as a panelist tells it, with a check that shows it."""
        told, (start, line) = self.bug.document["claim"], self.bug.lines
        written = {"kind": "", "command": [], "source": "", "subject": ""} | self.bug.document["right"]
        words = {name: told[name] for name in ("category", "severity", "title", "trigger", "consequence")}
        return claim(self.bug.path, line, str(told["quote"]).strip("\n"), **words, start_line=start, check=written)

    def edits(self, mends: Mend) -> list[tuple[str, str, str]]:
        """A mend as somebody writes it."""
        return [(self.bug.path, find, text) for find, text in mends]

    def fix(self, models: Models, *words: str, written: Iterable[Mend], **script: Any) -> Ran:
        """``reviewbot fix`` of the last commit; what is ``written`` is dealt out call by call, the last again and again."""
        self.seat(models, written=written, **script)
        # Each try compiles the project again, in some languages for half a minute.
        return self.run("fix", "HEAD", "--format", "json", *words, seconds=3 * HANGS)

    def seat(self, models: Models, *, written: Iterable[Mend], seats: Sequence[str] = SEATS, **script: Any) -> None:
        """Who sits, and what they say."""
        self.configure(one_vendor(models, panel={role: {"model": "gpu:fake-1"} for role in seats}, fix={"open": ["*.sh"]}))
        waiting = [self.edits(one) for one in written]

        def dealt(_: Seen) -> list[tuple[str, str, str]]:
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]

        claims = {"critic": [self.claim], "*": []}
        models.script = reviewer(**({"claims": claims, "stance": ("support", 0.9), "edits": dealt} | script))

    def state_of(self) -> dict[str, Any]:
        """All bytes of the work tree, with modes and times, the index, and every ref."""
        return snapshot(self.repo.path)


def snapshot(top: Path) -> dict[str, Any]:
    """All bytes of a work tree, with modes and times, its index, HEAD and every ref."""
    found: dict[str, Any] = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        for name in files:
            path = Path(folder) / name
            status = path.lstat()
            data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
            found[str(path.relative_to(top))] = (data, status.st_mode, status.st_mtime_ns)
    git = top / ".git"
    for name in ("index", "HEAD", "packed-refs", "config"):
        found[f".git/{name}"] = (git / name).read_bytes() if (git / name).exists() else None
    for path in sorted((git / "refs").rglob("*")):
        if path.is_file():
            found[str(path.relative_to(top))] = path.read_bytes()
    return found
