"""The real ``pre-commit`` with this repository as one that it fetches: cloned from a disk, installed by pip from wheels, no network.

``source(...)`` is this repository's state in a git repository of its own, and what pre-commit makes of it lies in one
``PRE_COMMIT_HOME`` for all tests of a run, which pre-commit locks by itself.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.hooks.lab import Lab, Ran
from tests.hooks.wheelhouse import offline, stock
from tests.repo import Repo

TOP = Path(__file__).parents[2]
MANIFEST = ".pre-commit-hooks.yaml"
LEFT = ("tests", "benchmarks", "build", "dist")
"""What nothing is installed of, as hidden files are not."""

PRE_COMMIT = Path(sys.executable).parent / "pre-commit"
BOTH = [{"id": "reviewbot"}, {"id": "reviewbot-push"}]
PATIENCE = 600
"""Seconds for pre-commit, which may have to make an environment first."""


@dataclass(frozen=True)
class Source:
    """A repository that pre-commit can be told of, the commit that is meant, and the variables with which it installs it."""

    path: Path
    rev: str
    environment: dict[str, str]

    def config(self, *hooks: dict[str, object]) -> str:
        """A ``.pre-commit-config.yaml`` with these hooks of it."""
        repo = {"repo": str(self.path), "rev": self.rev, "hooks": list(hooks or BOTH)}
        return yaml.safe_dump({"default_install_hook_types": ["pre-commit", "pre-push"], "repos": [repo]}, sort_keys=False)


def source(folder: Path) -> Source:
    """Made by whoever comes first; every worker of a test run gets the same."""
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        if not (folder / "rev").exists():
            repo = Repo(folder, name="reviewbot")
            for entry in TOP.iterdir():
                if entry.name == MANIFEST or not entry.name.startswith((*LEFT, ".")):
                    _copy(entry, repo.path / entry.name)
            stock(folder / "wheels", "reviewbot")
            made = _source(folder, repo.commit("As it is"))
            (folder / "config.yaml").write_text(made.config())
            words = ("install-hooks", "--config", folder / "config.yaml")
            ran = _run(words, repo.path, repo.environment | made.environment)
            assert ran.code == 0, ran.out + ran.err
            (folder / "rev").write_text(made.rev)
    return _source(folder, (folder / "rev").read_text())


def _source(folder: Path, rev: str) -> Source:
    home = {"PRE_COMMIT_HOME": str(folder / "pre-commit"), "PRE_COMMIT_COLOR": "never", "XDG_DATA_HOME": str(folder / "data")}
    return Source(folder / "reviewbot", rev, {**offline(folder / "wheels"), **home})


def _run(words: Sequence[str | Path], folder: Path, environment: Mapping[str, str]) -> Ran:
    done = subprocess.run(
        [PRE_COMMIT, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


class Framed(Lab):
    """A repository whose hooks are pre-commit's. reviewbot is nowhere but in the environment that pre-commit made of it."""

    def __init__(self, folder: Path, origin: Source) -> None:
        super().__init__(folder)
        self.origin = origin
        self.extra |= origin.environment | {"PATH": os.pathsep.join(_without_reviewbot())}

    def use(self, *hooks: dict[str, object]) -> None:
        """Commit a configuration with these hooks, and have git run them."""
        self.repo.write(".pre-commit-config.yaml", self.origin.config(*hooks))
        self.repo.commit("Use pre-commit")
        self.pre_commit("install", check=True)

    def pre_commit(self, *words: str | Path, check: bool = False) -> Ran:
        """The program."""
        ran = _run(words, self.path, self.environment)
        assert not check or ran.code == 0, ran.out + ran.err
        return ran

    def commit(self, *words: str, env: dict[str, str] | None = None) -> Ran:
        """``git commit``; what the hooks said is in ``err``."""
        return self.git("commit", "-m", "A change", *words, env=env, check=False)


def _without_reviewbot() -> Iterator[str]:
    return (place for place in os.environ["PATH"].split(os.pathsep) if not (Path(place) / "reviewbot").exists())


def _copy(origin: Path, to: Path) -> None:
    if origin.is_dir():
        shutil.copytree(origin, to, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(origin, to)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
