"""A real git repository for a test: deterministic, in a home of its own, deaf to the configuration of the machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

AUTHOR = "Ada Lovelace"
EMAIL = "ada@example.org"
DATE = "2026-01-02T03:04:05+00:00"
SETTINGS = tuple(
    word
    for setting in ("protocol.file.allow=always", "commit.gpgsign=false", "maintenance.auto=false", "gc.auto=0")
    for word in ("-c", setting)
)
"""No second process after a commit that looks whether there is something to pack: it takes as long as the commit."""


class Repo:
    """``Repo(tmp_path)`` makes ``tmp_path/repo`` and initialises it; options of ``git init`` may follow."""

    def __init__(self, folder: Path, *options: str, name: str = "repo") -> None:
        self.path = folder / name
        self.home = folder / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self.path.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", *options)

    @property
    def environment(self) -> dict[str, str]:
        """What git is run with, and what ``GitRepo`` may be given as its base environment."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": AUTHOR,
            "GIT_AUTHOR_EMAIL": EMAIL,
            "GIT_AUTHOR_DATE": DATE,
            "GIT_COMMITTER_NAME": AUTHOR,
            "GIT_COMMITTER_EMAIL": EMAIL,
            "GIT_COMMITTER_DATE": DATE,
        }

    def run(self, *args: str | bytes, stdin: bytes = b"", check: bool = True) -> bytes:
        """One git command; its output as bytes."""
        command = ["git", *SETTINGS, *args]
        done = subprocess.run(command, cwd=self.path, env=self.environment, input=stdin, capture_output=True, check=False)
        if check and done.returncode:
            raise AssertionError(f"git {args!r} failed: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def git(self, *args: str) -> str:
        """One git command; its output as text without the last line feed."""
        return self.run(*args).decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file below the repository and its folders; what stood there before is replaced."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink():
            target.unlink()
        target.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
        return target

    def link(self, name: str, target: str) -> Path:
        """Make a symbolic link."""
        link = self.path / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        return link

    def remove(self, name: str) -> None:
        """Delete a file of the work tree."""
        (self.path / name).unlink()

    def commit(self, message: str = "A change") -> str:
        """Commit everything, even nothing; the commit's id."""
        self.git("add", "--all", "--force")
        self.git("commit", "-q", "--no-verify", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def snapshot(self) -> dict[str, bytes]:
        """Every byte of the work tree and of the ``.git`` folder, to prove that nothing touched them."""
        files = (path for path in sorted(self.path.rglob("*")) if path.is_file() and not path.is_symlink())
        return {str(path.relative_to(self.path)): path.read_bytes() for path in files}
