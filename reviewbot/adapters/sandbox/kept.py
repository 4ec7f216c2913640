"""Outcomes of jobs that say the same every time, kept for the next review: a second push pays for its head only.

A job is known by all that decides it: its words and files, the tree it runs on, the sandbox, and the programs, interpreters and
packages that it meets. What was ended by a limit is not kept. The folder may be removed at any time.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reviewbot import __version__
from reviewbot.adapters.sandbox import borrow, tools, words
from reviewbot.adapters.sandbox.attended import ClosableSandbox
from reviewbot.adapters.sandbox.host import Ground, Memory
from reviewbot.ports import Ended, Job, Outcome

MOST_FILES = 500
"""Outcomes that are kept; the oldest go first."""
MOST_BYTES = 4_000_000
"""Of one outcome, compressed."""


_INSTALLED = (".dist-info", ".egg-info", ".pth")


class Kept:
    """A sandbox that remembers the jobs that may be kept."""

    def __init__(self, within: ClosableSandbox, ground: Ground, memory: Memory) -> None:
        self._within = within
        self._ground = ground
        self._memory = memory
        self.level, self.notes = within.level, within.notes

    def run(self, job: Job) -> Outcome:
        """One job, or what came of it before."""
        tree = self._memory.trees.get(job.tree) if job.tree else None
        if not job.keep or tree is None:
            return self._within.run(job)
        place = self._memory.folder / f"{self._key(job, tree)}.json"
        if (known := _read(place)) is not None:
            return known
        outcome = self._within.run(job)
        if outcome.ended is Ended.EXITED and outcome.exit_code in job.keep:
            _write(place, outcome)
        return outcome

    def close(self) -> None:
        """End what runs."""
        self._within.close()

    def _key(self, job: Job, tree: str) -> str:
        beside = self._memory.trees.get(job.beside) if job.beside else None
        course = (job.argv, job.files, job.overlay, job.without, job.collect, job.environment, job.stdin, job.executes)
        ground, host = self._ground, self._ground.host
        place = (str(ground.toplevel), host.layer, host.container)
        here = (__version__, self.level, ground.limits, place, tuple(_met(job, ground)))
        return hashlib.sha256(repr((here, tree, beside, course)).encode("utf-8", "surrogateescape")).hexdigest()


def _met(job: Job, ground: Ground) -> Iterator[str]:
    """The programs, interpreters and packages that a job meets, each with what tells one version from another."""
    lent = borrow.borrowed(job, ground)
    shelves = (*borrow.shelves(lent, ""), *tools.own_shelves(ground.host.path, ground.toplevel))
    kit = tools.gather(words.tools(job), shelves, ground.hides)
    python, _ = borrow.tests_python(job, lent, ground)
    for program in (
        *kit.programs.values(),
        *map(str, kit.shows),
        str(python),
        str(ground.interpreters.own),
        str(ground.interpreters.ruff),
    ):
        yield _stamp(Path(program))
    for one in lent:  # what lies in the tree's copy for a job lies here for us
        if one.has_programs:
            yield from (_stamp(one.source / one.programs / name) for name in words.tools(job))
    environments = {python.parent.parent, ground.interpreters.own.parent.parent, *(one.source for one in lent)}
    for environment in sorted(environments):
        yield from _packages(environment)


def _stamp(place: Path) -> str:
    """A file by its place, size and time of change."""
    try:
        found = place.stat()
    except OSError:
        return f"{place} is not there"
    return f"{place} {found.st_size} {found.st_mtime_ns}"


def _packages(environment: Path) -> Iterator[str]:
    """What is installed in an environment: the names carry the versions, the folders' times what was changed by hand."""
    for site in sorted(environment.glob("lib/python3*/site-packages")):
        yield _stamp(site)
        yield " ".join(sorted(entry.name for entry in os.scandir(site) if entry.name.endswith(_INSTALLED)))
    for name in (".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"):
        yield _stamp(environment / name)


def _read(place: Path) -> Outcome | None:
    """What is kept there; ``None`` where nothing is, or nothing that can be read."""
    try:
        written = json.loads(zlib.decompress(place.read_bytes()))
        place.touch()
        return Outcome(
            Ended.EXITED,
            exit_code=int(written["exit_code"]),
            stdout=base64.b64decode(written["stdout"]),
            stderr=base64.b64decode(written["stderr"]),
            collected=tuple((str(name), base64.b64decode(data)) for name, data in written["collected"]),
        )
    except (OSError, ValueError, KeyError, TypeError, zlib.error):
        return None


def _write(place: Path, outcome: Outcome) -> None:
    """Keep it, whole or not at all. Where that is not possible the next review runs the job again."""
    written: dict[str, Any] = {
        "exit_code": outcome.exit_code,
        "stdout": base64.b64encode(outcome.stdout).decode(),
        "stderr": base64.b64encode(outcome.stderr).decode(),
        "collected": [(name, base64.b64encode(data).decode()) for name, data in outcome.collected],
    }
    packed = zlib.compress(json.dumps(written).encode("ascii"))
    if len(packed) > MOST_BYTES:
        return
    made = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        made.write_bytes(packed)
        made.replace(place)
        _thin_out(place.parent)
    except OSError:
        made.unlink(missing_ok=True)


def _thin_out(folder: Path) -> None:
    """Let go of what was not used for longest."""
    found = sorted(folder.glob("*.json"), key=lambda place: place.stat().st_mtime)
    for place in found[: max(len(found) - MOST_FILES, 0)]:
        place.unlink(missing_ok=True)
