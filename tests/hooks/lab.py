"""A repository in which hooks run: a home of its own, the program as a process, and everything that a hook must not disturb.

``Lab(tmp_path)`` makes ``tmp_path/repo`` with one commit. ``lab.git(...)`` runs git as a person would, so hooks run;
``lab.reviewbot(...)`` runs the program. ``lab.hook("pre-commit")`` writes a hook that calls it, ``watched=True`` one that
also writes down, before and after, what ``snapshot`` sees.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.repo import SETTINGS, Repo

BIN = Path(sys.executable).parent
"""Where ``reviewbot`` and ``ruff`` stand beside the interpreter of the tests."""

CLEAN = 'def double(n):\n    """Twice."""\n    return 2 * n\n'
BROKEN = 'def double(n, seen=[]):\n    """Twice."""\n    seen.append(n)\n    return 2 * n\n'
"""A mutable default argument in line 1: one finding of ruff's own selection (B006)."""

SECONDS = 120

WATCHER = '''#!{python}
"""Everything before, the hook, everything after."""
import hashlib, json, os, subprocess, sys

def snapshot(tops):
    found = {{}}
    for top in tops:
        for folder, folders, names in os.walk(top):
            folders.sort()
            for name in (*names, *folders, "."):
                path = os.path.join(folder, name)
                status = os.lstat(path)
                content = ""
                if os.path.islink(path):
                    content = os.readlink(path)
                elif os.path.isfile(path):
                    with open(path, "rb") as file:
                        content = hashlib.sha256(file.read()).hexdigest()
                is_object = "/objects/" in path and os.path.isfile(path)
                found[path] = [content, status.st_mode, 0 if is_object else status.st_mtime_ns, status.st_ino]
    return found

before = snapshot({tops!r})
said = sys.stdin.buffer.read() if {reads!r} else None
done = subprocess.run([*{words!r}, *sys.argv[1:]], capture_output=True, **({{"input": said}} if {reads!r} else {{}}))
after = snapshot({tops!r})
differ = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
names = {{name: os.environ[name] for name in os.environ if name.startswith("GIT_")}}
with open({log!r}, "a") as file:
    ran = [done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")]
    print(json.dumps({{"code": done.returncode, "out": ran[0], "err": ran[1], "differ": differ, "git": names}}), file=file)
sys.stdout.buffer.write(done.stdout)
sys.stderr.buffer.write(done.stderr)
sys.exit(done.returncode)
'''


@dataclass(frozen=True)
class Ran:
    """How a process ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Standard output as JSON."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


@dataclass(frozen=True)
class Watched(Ran):
    """A hook that git ran: ``differ`` are the paths that were other ones afterwards, ``git`` the variables that git gave it."""

    differ: tuple[str, ...] = ()
    git: dict[str, str] = field(default_factory=dict)


class Lab:
    """A repository, a home, and the program."""

    def __init__(self, folder: Path, *, name: str = "repo") -> None:
        self.folder = folder
        self.repo = Repo(folder, name=name)
        self.path = self.repo.path
        self.extra: dict[str, str] = {}
        """Variables beside those of ``environment``."""
        self.repo.write("first.py", CLEAN)
        self.repo.commit("The first commit")

    @cached_property
    def state(self) -> Path:
        """Where reviewbot keeps what it remembers here."""
        return self.repo.home / ".local" / "state" / "reviewbot"

    @property
    def environment(self) -> dict[str, str]:
        """Of a person at work: nothing of the machine's configuration, no key."""
        own = self.repo.environment | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "GIT_EDITOR": "true"}
        return own | {"TMPDIR": str(self._temporary), **self.extra}

    @cached_property
    def _temporary(self) -> Path:
        folder = self.folder / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def run(
        self,
        *words: str | Path,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        stdin: bytes = b"",
        check: bool = False,
    ) -> Ran:
        """One process; ``env`` is added to ``environment``."""
        done = subprocess.run(
            [str(word) for word in words],
            cwd=cwd or self.path,
            env={**self.environment, **(env or {})},
            input=stdin,
            capture_output=True,
            check=False,
            timeout=SECONDS,
        )
        ran = Ran(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
        assert not check or ran.code == 0, f"{words} ended with {ran.code}: {ran.out}{ran.err}"
        return ran

    def git(
        self, *words: str, cwd: Path | None = None, env: dict[str, str] | None = None, stdin: bytes = b"", check: bool = True
    ) -> Ran:
        """One git command, hooks and all."""
        return self.run("git", *SETTINGS, *words, cwd=cwd, env=env, stdin=stdin, check=check)

    def reviewbot(
        self, *words: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None, stdin: bytes = b""
    ) -> Ran:
        """The program."""
        return self.run(*self.program, *words, cwd=cwd, env=env, stdin=stdin)

    @property
    def program(self) -> tuple[str, ...]:
        """The command line of the program, without its arguments."""
        return (sys.executable, "-m", "reviewbot.cli")

    def hook(self, name: str = "pre-commit", *words: str, watched: bool = False, git_dir: Path | None = None) -> Path:
        """Write a hook that calls ``reviewbot hook run NAME WORDS``, as git would find it."""
        line = (*self.program, "hook", "run", name, *words)
        target = (git_dir or self.git_dir) / "hooks" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if watched:
            said = {"python": sys.executable, "tops": [str(self.path)], "words": list(line), "log": str(self._log)}
            target.write_text(WATCHER.format(**said, reads=name == "pre-push"))
        else:
            quoted = " ".join(f"'{word}'" for word in line)
            target.write_text(f'#!/bin/sh\nexec {quoted} "$@"\n')
        target.chmod(0o755)
        return target

    @cached_property
    def git_dir(self) -> Path:
        """The folder ``.git``."""
        return Path(self.repo.git("rev-parse", "--absolute-git-dir"))

    @property
    def _log(self) -> Path:
        return self.folder / "watched.jsonl"

    def watched(self) -> list[Watched]:
        """Every run of a watched hook since this was last asked."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        found = (json.loads(line) for line in lines)
        return [Watched(one["code"], one["out"], one["err"], tuple(one["differ"]), one["git"]) for one in found]

    def snapshot(self) -> dict[str, tuple[bytes, int, int]]:
        """Everything of the repository: bytes, mode and time of every file, the index, refs, stash and objects among them, and
        the times of its folders, which change where a file comes or goes."""
        return snapshot(self.path)

    def stage(self, name: str, content: str | bytes) -> Path:
        """Write a file and add it to the index."""
        path = self.repo.write(name, content)
        self.git("add", "--", name)
        return path


def unwrapped(said: str) -> str:
    """What was said, on one line: where rows end depends on how long words are."""
    return " ".join(said.split())


def snapshot(top: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every file, link and folder below ``top``: content, mode, time in nanoseconds. Of a git object its time is left out: git
    notes there that it met it again."""
    found: dict[str, tuple[bytes, int, int]] = {}
    for folder, folders, names in os.walk(top):
        for path in (Path(folder), *(Path(folder, name) for name in (*names, *folders))):
            status = path.lstat()
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            name = str(path.relative_to(top))
            found[name] = (content, status.st_mode, 0 if "/objects/" in name and path.is_file() else status.st_mtime_ns)
    return found


def differing(before: dict[str, tuple[bytes, int, int]], after: dict[str, tuple[bytes, int, int]]) -> list[str]:
    """The paths that are not what they were."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
