"""A repository to write to, a writer for it, and everything that a write must not disturb."""

from __future__ import annotations

import os
import signal
import stat
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.git import place as places
from reviewbot.adapters.git.writing import LocalWriter
from reviewbot.domain.repair import Edit
from reviewbot.domain.target import Target, TargetKind
from reviewbot.ports.writing import WritePlan, WriteStep
from tests.repo import Repo

Files = dict[str, tuple[bytes, int, int]]
"""Of every file of a work tree, without the git folder: its bytes, mode and time. A link has its target as bytes."""


@dataclass(frozen=True)
class State:
    """Everything of a repository that somebody could miss."""

    files: Files
    index: bytes
    index_age: int
    refs: str
    head: bytes
    config: bytes
    logs: dict[str, bytes]
    """Of branches, and the stash."""


class Stage:
    """A repository, and what is written to it."""

    def __init__(self, repo: Repo, folder: Path) -> None:
        self.repo = repo
        self.folder = folder
        self.scratch = folder / "scratch"
        self.scratch.mkdir(exist_ok=True)

    @cached_property
    def git_dir(self) -> Path:
        return Path(self.repo.git("rev-parse", "--absolute-git-dir"))

    @cached_property
    def common_dir(self) -> Path:
        return Path(self.repo.git("rev-parse", "--path-format=absolute", "--git-common-dir"))

    def writer(
        self,
        step: Callable[[str], None] | None = None,
        *,
        wait: float = 10.0,
        environment: Mapping[str, str] | None = None,
        index: Path | None = None,
    ) -> LocalWriter:
        scratch = self.scratch / f"place-{os.getpid()}-{len(list(self.scratch.iterdir()))}"
        scratch.mkdir()
        place = places.find(self.repo.path, scratch, self.repo.environment)
        said = self.repo.environment if environment is None else environment
        return LocalWriter(place, index or place.index, environment=said, step=step, wait_seconds=wait)

    def reviewed(self, kind: TargetKind) -> str:
        """The tree that a review of this kind would have looked at."""
        git = GitRepo.open(self.repo.path, self.scratch, environment=self.repo.environment)
        try:
            tree = git.resolve(Target(kind)).head_tree
            assert tree is not None
            return tree
        finally:
            git.close()

    def plan(
        self, kind: TargetKind, *steps: dict[str, bytes | str | None], commit: bool = False, tree: str | None = None
    ) -> WritePlan:
        """Each step is what shall be in which file."""
        made = tuple(
            WriteStep(
                tuple(Edit(path, text.encode() if isinstance(text, str) else text) for path, text in step.items()),
                f"F{number}",
                f"Fix F{number}\n\nReviewbot-Finding: F{number}\n",
            )
            for number, step in enumerate(steps, 1)
        )
        return WritePlan(kind, tree or self.reviewed(kind), made, commit)

    def state(self) -> State:
        git_dir, common = self.git_dir, self.common_dir
        index = git_dir / "index"
        return State(
            files=files(self.repo.path),
            index=index.read_bytes() if index.exists() else b"",
            index_age=index.stat().st_mtime_ns if index.exists() else 0,
            refs=self.repo.git("for-each-ref"),
            head=(git_dir / "HEAD").read_bytes(),
            config=(common / "config").read_bytes(),
            logs={
                str(path.relative_to(common)): path.read_bytes()
                for path in sorted((common / "logs").rglob("*"))
                if path.is_file()
            },
        )

    def is_sound(self) -> None:
        """Git finds nothing wrong, and nothing of ours lies about. (The folder in which a write is made out may: the next clears it.)"""
        found = self.repo.run("fsck", "--strict", "--no-dangling", "--no-progress")
        assert found == b""
        assert [str(path) for path in self.repo.path.rglob(".reviewbot-*")] == []
        assert not (self.git_dir / "index.lock").exists()
        assert not (self.git_dir / "reviewbot" / "journal.json").exists()

    def backups(self) -> list[str]:
        return self.repo.git("for-each-ref", "--format=%(refname)", "refs/reviewbot/backup/").split()


def unnamed(repo: Repo) -> dict[str, str]:
    """The repository's environment, in which nobody says who commits."""
    return {name: value for name, value in repo.environment.items() if not name.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_"))}


def files(top: Path) -> Files:
    found: Files = {}
    for folder, folders, names in os.walk(top):
        if ".git" in folders:
            folders.remove(".git")
        for path in (Path(folder, name) for name in (*names, *folders)):
            status = path.lstat()
            name = str(path.relative_to(top))
            if stat.S_ISLNK(status.st_mode):
                found[name] = (os.fsencode(path.readlink()), status.st_mode, status.st_mtime_ns)
            elif stat.S_ISREG(status.st_mode) and path.name != ".git":
                found[name] = (path.read_bytes(), status.st_mode, status.st_mtime_ns)
    return found


def contents(top: Path) -> dict[str, tuple[bytes, int]]:
    return {path: (content, mode) for path, (content, mode, _) in files(top).items()}


class Child:
    """A process of its own that does some work and ends with it: 0 done, 130 interrupted, else 1."""

    def __init__(self, work: Callable[[], object]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other threads of the tests' process hold nothing that it needs
            self.id = os.fork()
        if self.id == 0:
            code = 1
            try:
                work()
                code = 0
            except KeyboardInterrupt:
                code = 130
            finally:
                os._exit(code)
        self._status: int | None = None

    def kill(self) -> None:
        os.kill(self.id, signal.SIGKILL)

    def status(self) -> int:
        """As `os.waitpid` tells it, when the process has ended."""
        if self._status is None:
            self._status = os.waitpid(self.id, 0)[1]
        return self._status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is None:
            self.kill()
            self.status()


def status_of(work: Callable[[], object]) -> int:
    """How a process of its own ended that did this."""
    with Child(work) as child:
        return child.status()


class StopAt:
    """A step that sends this process a signal when it is reached for so many-th time."""

    def __init__(self, number: int, sign: signal.Signals) -> None:
        self._left = number
        self._sign = sign

    def __call__(self, _what: str) -> None:
        if self._left == 0:
            os.kill(os.getpid(), self._sign)
        self._left -= 1
