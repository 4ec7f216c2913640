"""What the measurements on GitHub happen in: the fake hub with a clock and a delay, changes of any size, timed processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from debate_journal import open_seconds
from debate_scene import module

from tests.forge import acting
from tests.forge.hub import Hub, Pull, Repository
from tests.forge.hub.answers import Answer, Asked

TOP = Path(__file__).resolve().parents[1]
CLOCK = (sys.executable, "-SE", str(TOP / "benchmarks" / "pull_requests_clock.py"))
BARE = TOP / "benchmarks" / "pull_requests_bare.py"
REVIEWBOT = (sys.executable, "-c", "from reviewbot.cli import program; program()")

FAULTY = "def f{0}(x, y=[]):\n    y.append(x)\n    return y\n"
MENDED = "def f{0}(x, y=None):\n    y = [x]\n    return y\n"
PLAIN = "def f{0}(x):\n    return x\n"
CHANGED = "def f{0}(x):\n    # changed\n    return x + 1\n"
HARMLESS = "def f{0}(x, y=2):\n    x += y\n    return x\n"
MENDED_FILES = 3


@dataclass(frozen=True, slots=True)
class Case:
    """A change: files at its base, at its head, and those of a push that mends three of its ``findings``."""

    name: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    mended: Mapping[str, str]
    findings: int

    @property
    def lines(self) -> int:
        """Lines that are added or removed."""
        older = (self.before.get(path, "").splitlines() for path in self.after)
        return sum(_changed(lines, text.splitlines()) for lines, text in zip(older, self.after.values(), strict=True))


def _changed(older: Sequence[str], newer: Sequence[str]) -> int:
    """Lines that are in one of them only: none of those here is there twice."""
    return len(set(older) ^ set(newer)) if older else len(newer)


def sized(name: str, lines: int, *, files: int, findings: int) -> Case:
    """So many added lines in so many new modules; the first ``findings`` of them begin with a fault."""
    sizes = [lines // files + (number < lines % files) for number in range(files)]
    rests = ["\n".join(["", "", *module(number, size - 3)[2:]]) + "\n" for number, size in enumerate(sizes)]
    paths = [f"pkg/m{number:03}.py" for number in range(files)]
    heads = [(FAULTY if number < findings else HARMLESS).format(number) for number in range(files)]
    after = {path: head + rest for path, head, rest in zip(paths, heads, rests, strict=True)}
    mended = {paths[number]: MENDED.format(number) + rests[number] for number in range(MENDED_FILES)}
    return Case(name, {"pkg/__init__.py": ""}, after, mended, findings)


def forty() -> Case:
    """Forty files that were there before, each changed, twelve of them for the worse."""
    paths = [f"m{number:02}.py" for number in range(40)]
    before = {path: PLAIN.format(number) for number, path in enumerate(paths)}
    after = {path: (FAULTY if number < 12 else CHANGED).format(number) for number, path in enumerate(paths)}
    mended = {paths[number]: MENDED.format(number) for number in range(MENDED_FILES)}
    return Case("forty", before, after, mended, 12)


@dataclass(frozen=True, slots=True)
class Took:
    """What one command took. Seconds; ``waited``: the forge had a request of it; MB; calls of the API by their operations."""

    wall: float
    waited: float
    cpu: float
    peak_mb: float
    calls: Mapping[str, int]
    writes: int

    @property
    def own(self) -> float:
        """Seconds in which the forge had no request of it."""
        return self.wall - self.waited


class Forge:
    """The fake hub, every call of whose API is answered ``delay`` seconds later, and when it was busy. git is not delayed."""

    def __init__(self, hub: Hub, delay: float) -> None:
        self.hub = hub
        self._delay = delay
        self._done = hub.server.done
        self._spans: list[dict[str, float]] = []
        hub.server.done = self._clocked

    def _clocked(self, asked: Asked) -> Answer:
        began = time.perf_counter()
        if asked.path.startswith("/api/"):
            time.sleep(self._delay)
        answer = self._done(asked)
        self._spans.append({"began": began, "ended": time.perf_counter()})
        return answer

    def timed(self, command: Sequence[str], environment: Mapping[str, str]) -> Took:
        """A command to its end. An exit that is neither 0 nor 1 ends the benchmark with what it said."""
        seen = len(self.hub.journal)
        self._spans.clear()
        done = subprocess.run((*CLOCK, *command), env=dict(environment), capture_output=True, check=False)
        return self._took(done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), seen)

    def acted(self, actor: acting.Actor, event: Mapping[str, Any], **inputs: str) -> tuple[Took, acting.Ran]:
        """A run of the Action to its end, and what it left behind."""
        seen = len(self.hub.journal)
        self._spans.clear()
        ran = actor.run("pull_request", dict(event), **inputs)
        return self._took(ran.stdout, ran.stderr, seen), ran

    def _took(self, said: str, complaint: str, seen: int) -> Took:
        wall, cpu, peak_kb, code = json.loads(said.rstrip("\n").rpartition("\n")[2])
        if code not in (0, 1):
            sys.exit(f"a command ended with {code}\n{said}\n{complaint}")
        entries = [entry for entry in self.hub.journal[seen:] if entry.operation != "git"]
        writes = sum(entry.is_write for entry in entries)
        return Took(wall, open_seconds(self._spans), cpu, peak_kb / 1024, Counter(entry.operation for entry in entries), writes)


@dataclass(frozen=True, slots=True)
class Place:
    """A repository with two pull requests of the same change: one for the Action, one for the floor."""

    forge: Forge
    actor: acting.Actor
    repository: Repository
    pull: Pull
    other: Pull
    base: str

    @classmethod
    def built(cls, forge: Forge, case: Case, folder: Path) -> Place:
        """A new one, its repository called as ``folder`` is."""
        repository = forge.hub.repository(f"octo/{folder.name}")
        repository.allow("octocat", "write")
        base = repository.commit("main", dict(case.before), "Begin")
        pulls = []
        for branch in ("topic", "floor"):
            repository.commit(branch, dict(case.after), "Change everything")
            pulls.append(repository.pull("Change everything", branch))
        token = forge.hub.token(permissions=acting.REVIEWER)
        actor = acting.Actor(forge.hub, folder, token, repository.full_name, command=(*CLOCK, *REVIEWBOT, "github"))
        return cls(forge, actor, repository, *pulls, base)

    def floor(self) -> Took:
        """The bare loop."""
        words = (self.forge.hub.api_url, self.repository.full_name, str(self.other.number), self.other.head_sha)
        return self.forge.timed((sys.executable, str(BARE), *words), {"PATH": os.environ["PATH"], "TOKEN": self.actor.token})

    def alone(self) -> Took:
        """The same range reviewed in a clone, without a forge."""
        folder = self.actor.folder / "alone"
        folder.mkdir(parents=True)
        clone = str(folder / "clone")
        subprocess.run(("git", "clone", "--quiet", "--no-checkout", str(self.repository.git), clone), check=True)
        words = (f"{self.base}..{self.pull.head_sha}", "-C", clone, "--state", str(folder / "state"))
        out = ("--format", "json", "-o", str(folder / "review.json"), "-q")
        return self.forge.timed((*REVIEWBOT, "review", *words, *out), {"PATH": os.environ["PATH"], "HOME": str(folder)})

    def act(self, action: str) -> tuple[Took, acting.Ran]:
        """The Action's run on an event of the pull request."""
        event = self.forge.hub.event("pull_request", action=action, pull=self.pull)
        return self.forge.acted(self.actor, event, max_comments="12")
