"""The repository in which a pull request is reviewed: the job's own checkout where it holds both ends, else single commits that
are fetched from the forge into an empty repository. Nothing is ever checked out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot.adapters.git.fetched import fetch
from reviewbot.domain.change import Revisions
from reviewbot.domain.forge import (
    PullRequest,
)
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import ForgeError, GitError, RepositoryError, RevisionError
from reviewbot.ports import Changes
from reviewbot.wiring.github.job import Job
from reviewbot.wiring.rooms import open_repository


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a change is read. ``left_out`` says what of it could not be had, in words."""

    directory: Path
    target: Target
    left_out: tuple[str, ...] = ()


@contextmanager
def found(job: Job, pull: PullRequest, changes: Changes, *, more: tuple[str, ...] = ()) -> Iterator[Ground]:
    """A folder with the commits of a pull request, and the change between them; ``more`` commits, too. Raises ReviewbotError.

    Where the commits cannot be had by git, the diff that the forge itself makes has to do: it leaves things out."""
    with tempfile.TemporaryDirectory(prefix="reviewbot-", ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        if (here := _here(job, pull, scratch, more=more)) is not None:
            yield Ground(job.workspace, here)
            return
        try:
            base = changes.merge_base(pull.base_sha, pull.head_sha)
            commits = tuple(dict.fromkeys((base, pull.head_sha, *more)))
            place = fetch(job.git_url, commits, scratch / "fetched", token=job.place.token, environment=job.environment)
        except (GitError, ForgeError) as exc:
            told = changes.diff(pull.number, pull.changed_files)
            why = f"the commits could not be fetched, the diff is the forge's own: {exc.message}"
            yield Ground(scratch, Target(TargetKind.PATCH, patch=told.diff.patch), (why, *told.left_out))
            return
        yield Ground(place, Target(TargetKind.RANGE, base=base, head=pull.head_sha))


def _here(job: Job, pull: PullRequest, scratch: Path, *, more: tuple[str, ...]) -> Target | None:
    """The change in the job's own checkout, where that has both ends and the commit at which they parted. It is named by its two
    ends, as everywhere: jobs that found it in different ways must agree."""
    since_fork = Target(TargetKind.MERGE_BASE, base=pull.base_sha, head=pull.head_sha)
    try:
        with open_repository(job.workspace, scratch, job.environment) as repo:
            base = repo.resolve(since_fork).base
            for commit in more:
                repo.resolve(Target(TargetKind.RANGE, base=base, head=commit))
    except (RepositoryError, RevisionError, GitError):
        return None
    return Target(TargetKind.RANGE, base=base, head=pull.head_sha)


def as_of(revisions: Revisions, pull: PullRequest) -> Revisions:
    """The ends of a change that came as a patch, by their names on the forge."""
    return replace(revisions, base=pull.base_sha, head=pull.head_sha) if revisions.kind == TargetKind.PATCH else revisions
