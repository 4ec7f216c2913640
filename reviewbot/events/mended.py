"""Commits of ours among those of a pull request: which they are, whether anything else came after them, whether somebody took
them back.

A trailer is anybody's, and so is the name of an author: a commit is ours where the forge vouches for both.
"""

from __future__ import annotations

import re

from reviewbot.domain.forge import (
    Author,
    Commit,
    Standing,
)
from reviewbot.domain.history import Mended, PullMemory
from reviewbot.domain.repair import COMMAND_TRAILER, FINDING_TRAILER, UNDO_TRAILER

MOST_COMMITS = 250
"""Of a pull request, so many are told (https://docs.github.com/rest/pulls/pulls#list-commits-on-a-pull-request)."""

_REVERTS = re.compile(r"\bThis reverts commit ([0-9a-f]{7,64})\b")


def trailers(commit: Commit) -> tuple[str, ...]:
    """The lines of ours in the last paragraph of its message, as ``Reviewbot-…: …``."""
    last = re.split(r"\n\s*\n", commit.message.strip())[-1]
    return tuple(line.strip() for line in last.splitlines() if line.startswith("Reviewbot-"))


def findings(commit: Commit) -> tuple[str, ...]:
    """The findings for which it says that it was made."""
    return _said(commit, FINDING_TRAILER)


def undone(commit: Commit) -> tuple[str, ...]:
    """The commits of ours that it says to take back."""
    return _said(commit, UNDO_TRAILER)


def commands(commit: Commit) -> tuple[str, ...]:
    """The numbers of the comments that it says to obey."""
    return _said(commit, COMMAND_TRAILER)


def is_undo(commit: Commit) -> bool:
    """It says that it takes another one back."""
    return bool(undone(commit))


def is_ours(commit: Commit, me: Author) -> bool:
    """The forge made and signed it for us, and it is for a finding."""
    same = commit.author.casefold().removesuffix("[bot]") == me.login.casefold().removesuffix("[bot]")
    return commit.is_vouched and same and bool(findings(commit))


def upon(standing: Standing, since: str) -> tuple[Commit, ...] | None:
    """The commits of ours that stand upon ``since``, one upon the other, up to the head; none where that is the head. ``None``
    where anything else is among them, or it is not below the head."""
    by_id = {commit.sha: commit for commit in standing.commits}
    found: list[Commit] = []
    at = standing.pull.head_sha
    while at != since:
        commit = by_id.pop(at, None)
        if commit is None or len(commit.parents) != 1 or not is_ours(commit, standing.me):
            return None
        found.append(commit)
        at = commit.parents[0]
    return tuple(reversed(found))


def last_of_others(standing: Standing) -> str:
    """The last commit that is not ours: who pushed it asked for what comes after it."""
    by_id = {commit.sha: commit for commit in standing.commits}
    at = standing.pull.head_sha
    while (commit := by_id.pop(at, None)) is not None and is_ours(commit, standing.me) and commit.parents:
        at = commit.parents[0]
    return at


def against(memory: PullMemory, standing: Standing) -> str:
    """What somebody did to a commit of ours, as far as the commits tell: they took it back, or pushed over it. Empty where all of
    them stand."""
    for made in memory.mended:
        if made.is_written and (why := _against(made, standing)):
            return why
    return _reverted(standing)


def knows_all(standing: Standing) -> bool:
    """Every commit of the pull request was told: what is not among them is not there."""
    return len(standing.commits) < MOST_COMMITS and not any("commits" in words for words in standing.unread)


def _reverted(standing: Standing) -> str:
    """The same for commits of ours that are not remembered, or came by a pull request of ours: the branch remembers them."""
    made = [commit for commit in standing.commits if is_ours(commit, standing.me) and not is_undo(commit)]
    for commit in standing.commits:
        said = _REVERTS.search(commit.message)
        if said and not is_ours(commit, standing.me) and (back := next((o for o in made if o.sha.startswith(said[1])), None)):
            return f"{commit.author} took {back.sha[:10]} back, the fix of {', '.join(findings(back))}"
    return ""


def _against(made: Mended, standing: Standing) -> str:
    names = {made.commit, *(one.sha for one in standing.commits if made.id in findings(one) and not is_undo(one))}
    for commit in standing.commits:
        said = _REVERTS.search(commit.message)
        if said and not is_ours(commit, standing.me) and any(name.startswith(said[1]) for name in names):
            return f"{commit.author} took {made.commit[:10]} back, the fix of {made.id}"
    there = any(commit.sha in names for commit in standing.commits)
    return f"{made.commit[:10]}, the fix of {made.id}, was pushed over" if knows_all(standing) and not there else ""


def _said(commit: Commit, trailer: str) -> tuple[str, ...]:
    lines = (line for line in trailers(commit) if line.startswith(f"{trailer}:"))
    return tuple(line.partition(":")[2].strip() for line in lines)
