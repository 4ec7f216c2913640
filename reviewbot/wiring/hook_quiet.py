"""Which staged files nothing new can be said of: their blobs read, the linter started, the answer of ``pipeline.quiet``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reviewbot.adapters.git.command import Git, clean_environment
from reviewbot.adapters.hooks import linter
from reviewbot.errors import ReviewbotError
from reviewbot.pipeline import quiet
from reviewbot.pipeline.quiet import Blob
from reviewbot.ports import Ended, Job, Outcome, Sandbox

TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Told:
    """The paths of quiet files, each with whether it is silent; and the jobs that were run to find out, and what came of each."""

    quiet: Mapping[str, bool] = field(default_factory=dict)
    ran: tuple[tuple[Job, Outcome], ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """A regular file of the change: the ids of its blobs, ``None`` where there is none."""

    path: str
    base: str | None
    head: str | None


def told(files: Sequence[Listed], toplevel: Path, environment: Mapping[str, str]) -> Told:
    """What can be told of the files; nothing where blobs cannot be read."""
    ids = tuple(name for file in files for name in (file.base, file.head) if name)
    try:
        held = contents(ids, toplevel, environment)
    except (ReviewbotError, KeyError):
        return Told()
    read = (Blob(file.path, *(held[name] if name else None for name in (file.base, file.head))) for file in files)
    blobs = tuple(blob for blob in read if quiet.is_plain(blob))
    jobs = quiet.jobs(blobs)
    outcomes = linter.outcomes(jobs)
    return Told(quiet.quiet(blobs, outcomes), tuple((job, outcomes[job.name]) for job in jobs))


class RunBefore:
    """A sandbox that does not run again what was run over the same content already."""

    def __init__(self, room: Sandbox, ran: tuple[tuple[Job, Outcome], ...]) -> None:
        self._room = room
        self._known = {(job.argv, job.files): outcome for job, outcome in ran if outcome.ended is Ended.EXITED}
        self.level, self.notes = room.level, room.notes

    def run(self, job: Job) -> Outcome:
        """One job, which reads nothing but its own files where it is answered from memory."""
        known = None if job.executes or job.tree else self._known.get((job.argv, job.files))
        return known or self._room.run(job)


def contents(ids: Sequence[str], toplevel: Path, environment: Mapping[str, str]) -> Mapping[str, bytes]:
    """The bytes of blobs, by their ids. Raises GitError, and KeyError where one is not here or is no blob."""
    git = Git(toplevel, clean_environment(environment), timeout_seconds=TIMEOUT_SECONDS)
    output = git.run("cat-file", "--batch", stdin="".join(f"{name}\n" for name in ids).encode("ascii"))
    return dict(_objects(output))


def _objects(output: bytes) -> Iterator[tuple[str, bytes]]:
    """The answers ``ID KIND SIZE LF BYTES LF``. Raises KeyError."""
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        name, kind, size = (*output[at:end].decode("ascii", "replace").split(" "), "", "")[:3]
        if kind != "blob":
            raise KeyError(name)
        yield name, output[end + 1 : end + 1 + int(size)]
        at = end + 2 + int(size)
