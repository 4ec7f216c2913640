"""A repository with a remote on disk, to which git really pushes, and what a push hook makes of what git tells it."""

from __future__ import annotations

import shlex
from pathlib import Path

from reviewbot import wiring
from reviewbot.domain.target import Target, TargetKind
from reviewbot.events.pushed import Push, read
from reviewbot.wiring.outgoing import Part, by_hand, outgoing
from tests.hooks.lab import Lab

REFUSED = 1


class Pushes(Lab):
    """A lab with the remote ``origin``, which has ``main``."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.remote = self.bare("origin")
        self.git("push", "-q", "-u", "origin", "main")

    def bare(self, name: str) -> Path:
        """One more empty remote, on disk."""
        path = self.folder / f"{name}.git"
        self.run("git", "init", "-q", "--bare", "-b", "main", path, cwd=self.folder, check=True)
        self.git("remote", "add", name, str(path))
        return path

    def change(self, name: str, content: str = "x = 1\n") -> str:
        """A commit with one file."""
        self.repo.write(name, content)
        return self.repo.commit(f"Write {name}")

    def elsewhere(self, name: str = "theirs.py", branch: str = "main") -> str:
        """What somebody else pushes meanwhile: a commit that is not fetched."""
        clone = self.folder / f"clone-{name}"
        self.run("git", "clone", "-q", str(self.remote), str(clone), cwd=self.folder, check=True)
        self.git("checkout", "-q", branch, cwd=clone)
        (clone / name).write_text("y = 2\n")
        self.git("add", name, cwd=clone)
        self.git("commit", "-q", "-m", "Theirs", cwd=clone)
        self.git("push", "-q", "origin", branch, cwd=clone)
        return self.git("rev-parse", "HEAD", cwd=clone).out.strip()

    def order(self) -> wiring.Order:
        """A review in this repository, as the command would ask for it."""
        return wiring.Order(Target(TargetKind.AUTO), self.path, self.environment, {})

    def told(self, *words: str) -> Push:
        """What git tells a pre-push hook of ``git push WORDS``, which it does not do."""
        said, named = self.folder / "stdin", self.folder / "named"
        hook = self.git_dir / "hooks" / "pre-push"
        hook.parent.mkdir(exist_ok=True)
        places = [shlex.quote(str(path)) for path in (said, named)]
        hook.write_text(f'#!/bin/sh\ncat > {places[0]}\nprintf "%s\\n" "$@" > {places[1]}\nexit {REFUSED}\n')
        hook.chmod(0o755)
        said.unlink(missing_ok=True)
        ran = self.git("push", *words, check=False)
        hook.unlink()
        assert said.exists(), ran.err
        remote, url = named.read_text().splitlines()
        return Push(read(said.read_bytes()), remote, url)

    def parts(self, *words: str) -> tuple[Part, ...]:
        """What would be reviewed of ``git push WORDS``."""
        return outgoing(self.order(), self.told(*words))

    def here(self, named: Push | None = None) -> Push:
        """The push of what is checked out."""
        return by_hand(self.order(), named or Push(()))

    def id(self, name: str) -> str:
        """The commit that a name means."""
        return self.git("rev-parse", f"{name}^{{commit}}").out.strip()
