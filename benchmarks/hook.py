"""The hook before a commit beside a no-op ``pre-commit run``, measured in turn. See ``docs/benchmarks.md``.

    python benchmarks/hook.py [--rounds 15] [--files 5000]

Run it with a Python that has reviewbot and pre-commit. Everything happens in two repositories, of 5 files and of ``--files``.
In every round each thing is done once in each, in another order; a ratio is that of one round, and the median of all is told.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import figures

BIN = Path(sys.executable).parent
REVIEWBOT, PRE_COMMIT = str(BIN / "reviewbot"), str(BIN / "pre-commit")
FEW = 5
CONFIGURATION = """repos:
- repo: local
  hooks:
  - {id: nothing, name: nothing, language: system, entry: "true"}
"""
CLEAN = '"""A part."""\n\n\ndef work(values: list[int]) -> int:\n    """The sum, and {0}."""\n    return sum(values) + {0}\n'
FAULTY = CLEAN + "\n\ndef keep(value: int, kept: list[int] = []) -> list[int]:\n    kept.append(value)\n    return kept\n"

NO_OP, NO_OP_FILE, BARE, VERSION = "no-op pre-commit run", "no-op pre-commit run, a file staged", "bare Python", "--version"
NOTHING, AGAIN, WARM, FINDING, COLD = (
    "nothing staged",
    "nothing new",
    "a file, warm",
    "a file with a finding, warm",
    "a file, cold",
)
COMMIT, COMMIT_HOOK = "git commit without a hook", "git commit with the hook"
BARS = {NOTHING: 0.5, AGAIN: 0.5, WARM: 1.0, COLD: 3.0}
"""Times the no-op ``pre-commit run`` that each of them may take."""

SAME = (NOTHING, AGAIN, WARM, COLD)
"""What may cost no more in the large repository."""


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="of which medians are taken")
    parser.add_argument("--files", type=int, default=5_000, help="files of the large repository")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reviewbot-bench-") as folder:
        places = [Place(Path(folder) / name, files) for name, files in (("small", FEW), ("large", options.files))]
        _round(places, 0)  # bytecode, caches of the file system, pre-commit's own files
        rounds = [_round(places, number) for number in range(1, options.rounds + 1)]
    few, many = zip(*rounds, strict=True)
    _tell(f"hook, {FEW} files", few)
    _tell(f"hook, {options.files:,} files", many)
    figures.begin("hook, size", f"{options.files:,} files beside {FEW}, round by round")
    for name in SAME:
        figures.tell(f"{name}: large / small", [other[name] / one[name] for one, other in rounds], "×", most=1.1)


def _round(places: Sequence[Place], number: int) -> list[dict[str, float]]:
    """Seconds of each thing in each place, once: the places by turns, in an order that the number decides."""
    steps = [place.steps(number) for place in places]
    names = list(steps[0])
    shift = number % len(names)
    found: list[dict[str, float]] = [{} for _ in places]
    for name in names[shift:] + names[:shift]:
        for at in sorted(range(len(places)), reverse=bool(number % 2)):
            found[at][name] = steps[at][name]()
    return [{name: one[name] for name in names} for one in found]


def _tell(part: str, rounds: Sequence[Mapping[str, float]]) -> None:
    figures.begin(part, f"{len(rounds)} rounds, in turn")
    for name in rounds[0]:
        figures.tell(name, [1000 * one[name] for one in rounds], "ms")
    figures.tell("reviewbot --version / bare Python", [one[VERSION] / one[BARE] for one in rounds], "×", most=4)
    for name in (NOTHING, AGAIN, WARM, FINDING, COLD):
        ratios = [one[name] / one[NO_OP] for one in rounds]
        figures.tell(f"{name} / no-op pre-commit run", ratios, "×", most=BARS.get(name))
    added = [(one[COMMIT_HOOK] - one[COMMIT]) / one[NO_OP] for one in rounds]
    figures.tell("what the hook adds to git commit / no-op pre-commit run", added, "×")


class Place:
    """A repository with a home, and a second one beside it in which commits are made."""

    def __init__(self, folder: Path, files: int) -> None:
        self._repo, self._commits, self._home = folder / "repo", folder / "commits", folder / "home"
        self._home.mkdir(parents=True)
        (self._home / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.org\n", encoding="utf-8")
        path = f"{BIN}:{os.environ['PATH']}"
        self._environment = {"PATH": path, "HOME": str(self._home), "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1"}
        for repo in (self._repo, self._commits):
            repo.mkdir()
            self._made(repo, "git", "init", "-q", "-b", "main")
            for number in range(files):
                _write(repo, number, CLEAN.format(number))
            (repo / ".pre-commit-config.yaml").write_text(CONFIGURATION, encoding="utf-8")
            self._made(repo, "git", "add", "-A")
            self._made(repo, "git", "commit", "-q", "-m", "Begin")
        self._made(self._commits, REVIEWBOT, "hook", "install", "--no-pre-push")

    def steps(self, number: int) -> dict[str, Callable[[], float]]:
        """What is measured, each once and in seconds; the number makes its contents new."""
        hook, fresh = (REVIEWBOT, "hook", "run", "pre-commit"), 10**6 + number
        return {
            BARE: lambda: self._timed(sys.executable, "-c", "pass"),
            VERSION: lambda: self._timed(REVIEWBOT, "--version"),
            NO_OP: lambda: self._staged("", PRE_COMMIT, "run"),
            NO_OP_FILE: lambda: self._staged(CLEAN.format(fresh), PRE_COMMIT, "run", says="Passed"),
            NOTHING: lambda: self._staged("", *hook),
            AGAIN: lambda: self._again(CLEAN.format(-1), *hook),
            WARM: lambda: self._staged(CLEAN.format(fresh), *hook, says="nothing found"),
            FINDING: lambda: self._staged(FAULTY.format(fresh), *hook, says="1 finding"),
            COLD: lambda: self._forgotten(CLEAN.format(-2), *hook),
            COMMIT: lambda: self._committed(2 * fresh, "-c", "core.hooksPath=/dev/null"),
            COMMIT_HOOK: lambda: self._committed(2 * fresh + 1, says="nothing found"),
        }

    def _staged(self, text: str, *command: str, says: str = "") -> float:
        """One file holds this and is staged, or nothing is; index and work tree are as fresh as after ``git add``."""
        self._made(self._repo, "git", "reset", "-q", "--hard")
        if text:
            _write(self._repo, 0, text)
            self._made(self._repo, "git", "add", "-A", "pkg")
        return self._timed(*command, says=says)

    def _again(self, text: str, *command: str) -> float:
        self._staged(text, *command)
        return self._timed(*command, says="nothing found")

    def _forgotten(self, text: str, *command: str) -> float:
        """Nothing is remembered; afterwards what was remembered before is there again, or warm would be cold."""
        folders = [self._home / ".local" / "state" / "reviewbot", self._home / ".cache" / "reviewbot"]
        kept = [folder.rename(folder.with_name("aside")) for folder in folders if folder.exists()]
        seconds = self._staged(text, *command, says="nothing found")
        for aside in kept:
            shutil.rmtree(aside.with_name("reviewbot"), ignore_errors=True)
            aside.rename(aside.with_name("reviewbot"))
        return seconds

    def _committed(self, number: int, *options: str, says: str = "") -> float:
        _write(self._commits, 0, CLEAN.format(number))
        self._made(self._commits, "git", "add", "-A", "pkg")
        return self._timed("git", *options, "commit", "-q", "-m", "Change a part", folder=self._commits, says=says)

    def _timed(self, *command: str, folder: Path | None = None, says: str = "") -> float:
        """Seconds of a command. A line says so where it did not say what it was meant to."""
        began = time.perf_counter()
        done = self._run(folder or self._repo, command)
        seconds = time.perf_counter() - began
        if done.returncode or says.encode() not in done.stdout:
            print(f"  not what was meant: {' '.join(command)} ended with {done.returncode}: {done.stdout.decode()[-300:]}")
        return seconds

    def _made(self, folder: Path, *command: str) -> None:
        self._run(folder, command).check_returncode()

    def _run(self, folder: Path, command: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.run(command, cwd=folder, env=self._environment, check=False, **streams)


def _write(repo: Path, number: int, text: str) -> None:
    """The module of that number: the first hundred in one folder, the others in folders of a hundred."""
    path = repo / (f"p{number // 100}" if number >= 100 else "pkg") / f"m{number}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
