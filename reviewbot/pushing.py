"""Commits of fixes, made safe: nothing on a branch that is guarded, nothing where the head is another one than was meant, nothing
twice after an answer that was lost, and each commit looked at once it is there.

Nothing here forces, rebases or merges. What was made so far is told whatever happened after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from reviewbot.domain.action import (
    DeleteBranch,
    MakeBranch,
    MakeCommit,
    OpenPull,
)
from reviewbot.domain.forge import (
    Author,
    PullRequest,
)
from reviewbot.domain.repair import Edit
from reviewbot.errors import (
    DeferredError,
    ForgeError,
    GoneError,
    InvalidError,
    NotAuthorizedError,
    NotPermittedError,
    StaleError,
    UnsureError,
)
from reviewbot.events import mended
from reviewbot.ports.forge import Branches, Desk, Forge, History
from reviewbot.publish.document_change import blob_id

TRIES = 3
"""How often one commit is tried at most: after a lost answer a second try is safe, for it expects the same head."""


class Host(Forge, Branches, History, Desk, Protocol):
    """Where it is written."""


class Halt(StrEnum):
    """Why not everything was written."""

    MOVED = "moved"
    GUARDED = "guarded"
    REFUSED = "refused"
    INVALID = "invalid"
    ALTERED = "altered"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Step:
    """One commit that is to be made: its message, the files that it changes as they shall be, and the ``trailers`` of ours in the
    message, by which it is known again."""

    headline: str
    body: str
    edits: tuple[Edit, ...]
    trailers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """What is to be written: ``steps``, one upon the other, upon the commit ``head`` of ``branch``."""

    branch: str
    head: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Pushed:
    """What came of it: the commits of the first steps by their ids, and why there are no more, in words. ``number`` and ``url``
    are those of a pull request that was opened."""

    commits: tuple[str, ...] = ()
    halt: Halt | None = None
    why: str = ""
    number: int = 0
    url: str = ""


def push(series: Series, host: Host, *, me: Author, is_open_to_us: bool) -> Pushed:
    """Write it on the branch of a pull request. ``is_open_to_us``: it is nobody's default, so that it counts as not guarded where
    that cannot be asked. Raises NotAuthorizedError."""
    run = _Run(series, host, me)
    try:
        run.expect_unguarded(is_open_to_us)
        run.commit()
    except NotAuthorizedError:
        raise
    except ForgeError as exc:
        return run.ended(_HALTS.get(type(exc), Halt.UNSURE), str(exc))
    return run.ended()


def stack(series: Series, host: Host, pull: PullRequest, *, me: Author, opened: Opening) -> Pushed:
    """Write it on a new branch, and open a pull request with it into the head of ``pull``. Where an earlier run did that, nothing
    is done; what it left half done is taken away. Raises NotAuthorizedError."""
    run = _Run(series, host, me)
    try:
        if number := run.find(pull):
            return Pushed(number=number)
        run.begin()
        run.commit()
        return run.open(pull, opened)
    except NotAuthorizedError:
        raise
    except ForgeError as exc:
        return run.ended(_HALTS.get(type(exc), Halt.UNSURE), str(exc))


class Opening(Protocol):
    """What a pull request says, once its commits are there."""

    def __call__(self, commits: Sequence[str]) -> tuple[str, str]:
        """Its title and its body."""
        ...


class _Guarded(ForgeError):
    """Commits come to this branch by pull requests."""


class _Altered(ForgeError):
    """A commit is not what was meant."""


_HALTS: dict[type[ForgeError], Halt] = {
    StaleError: Halt.MOVED,
    GoneError: Halt.MOVED,
    NotPermittedError: Halt.REFUSED,
    InvalidError: Halt.INVALID,
    DeferredError: Halt.UNSURE,
    UnsureError: Halt.UNSURE,
    _Guarded: Halt.GUARDED,
    _Altered: Halt.ALTERED,
}


class _Run:
    """One writing under way: the commits that are there."""

    def __init__(self, series: Series, host: Host, me: Author) -> None:
        self._series = series
        self._host = host
        self._me = me
        self._commits: list[str] = []

    @property
    def _tip(self) -> str:
        return self._commits[-1] if self._commits else self._series.head

    def expect_unguarded(self, is_open_to_us: bool) -> None:
        """Raises where the branch takes no commits but by pull requests, or nobody knows."""
        guarded = self._host.is_protected(self._series.branch)
        if guarded or (guarded is None and not is_open_to_us):
            words = (
                f"the branch {self._series.branch} is protected"
                if guarded
                else f"nobody can say whether {self._series.branch} is protected"
            )
            raise _Guarded(words, hint="have fixes as a pull request, with 'autofix: pull_request'")

    def commit(self) -> None:
        """Make every step, and look at each."""
        for step in self._series.steps:
            self._commits.append(self._made(step))
            self._look(step)

    def ended(self, halt: Halt | None = None, why: str = "") -> Pushed:
        """What came of it."""
        return Pushed(tuple(self._commits), halt, why)

    def find(self, pull: PullRequest) -> int:
        """The pull request that an earlier run opened, 0 where there is none."""
        there = self._host.head(self._series.branch)
        return (self._host.pull_of(pull.repository, self._series.branch, there.sha) or 0) if there else 0

    def begin(self) -> None:
        """The branch at the head that was meant. What an earlier run of ours left there and did not open is taken away."""
        name, head = self._series.branch, self._series.head
        there = self._host.head(name)
        if there is not None and there.sha != head:
            if not mended.is_ours(there, self._me):
                raise StaleError(f"a branch {name} of somebody else's stands there", hint="take it away, or give it another name")
            self._host.do(DeleteBranch(name, there.sha))
            there = None
        if there is None:
            try:
                self._host.do(MakeBranch(name, head))
            except (UnsureError, InvalidError, StaleError):
                there = self._host.head(name)
                if there is None or there.sha != head:
                    raise

    def open(self, pull: PullRequest, opened: Opening) -> Pushed:
        """Open the pull request."""
        title, body = opened(self._commits)
        action = OpenPull(title, body, head=self._series.branch, base=pull.head_ref)
        try:
            done = self._host.do(action)
        except (UnsureError, InvalidError):
            number = self._host.pull_of(pull.repository, self._series.branch, self._tip)
            if number is None:
                raise
            return Pushed(tuple(self._commits), number=number)
        return Pushed(tuple(self._commits), number=done.id, url=done.url)

    def _made(self, step: Step) -> str:
        """The commit of a step. A head that moved may have moved by this very commit, whose answer was lost."""
        action = MakeCommit(self._series.branch, self._tip, step.headline, step.body, step.edits)
        lost: ForgeError | None = None
        for _ in range(TRIES):
            try:
                return self._host.do(action).sha
            except UnsureError as exc:
                lost = exc
            except StaleError:
                if found := self._found(step):
                    return found
                raise
            if found := self._found(step):
                return found
        assert lost is not None
        raise lost

    def _found(self, step: Step) -> str:
        """The commit of a step where it is the branch's head now, else nothing."""
        there = self._host.head(self._series.branch)
        ours = there is not None and there.parents == (self._tip,) and mended.is_ours(there, self._me)
        return there.sha if there is not None and ours and mended.trailers(there) == step.trailers else ""

    def _look(self, step: Step) -> None:
        """The newest commit changed what it was to change, byte for byte, and nothing else. Raises where it did not."""
        sha = self._tip
        made = {file.path: file.after for file in self._host.touched(sha, sha)}
        if made != dict(_wanted(step.edits, like=sha)):
            raise _Altered(f"the commit {sha[:10]} is not what was proven", hint="look at it, and take it back with /debate undo")


def _wanted(edits: tuple[Edit, ...], *, like: str) -> Iterator[tuple[str, str | None]]:
    for edit in edits:
        yield edit.path, None if edit.content is None else blob_id(edit.content, like)
