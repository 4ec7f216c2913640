"""reviewbot as a library: one function."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from reviewbot import wiring
from reviewbot.domain.review import Review
from reviewbot.domain.target import Target, TargetKind
from reviewbot.events.target import named
from reviewbot.wiring.places import state_directory


def review(
    target: str | None = None,
    *,
    repo: str | os.PathLike[str] = ".",
    patch: bytes | str | None = None,
    execute: bool = True,
    settings: Mapping[str, object] | None = None,
    state: str | os.PathLike[str] | None = None,
) -> Review:
    """Review a change and return the consensus.

    ``target`` is what the command line takes: ``"A..B"``, ``"A...B"``, one commit, ``"--staged"``, ``"--worktree"``, or nothing
    (uncommitted work, or where there is none the last commit). ``patch`` is a unified diff instead; then no repository is read.
    ``execute=False`` runs no test and no linter. ``settings`` are configuration keys, such as ``{"debate.rounds": 1}``. ``state``
    is the folder of what is remembered, by default the command line's: a panel of models pays nothing twice.

    Raises :class:`reviewbot.errors.UsageError` for what the caller can mend, :class:`reviewbot.errors.IncompleteError` where the
    review cannot run. What was not seen is said in the review's ``coverage`` and ``notes``, never as an exception.

    >>> from reviewbot import review
    >>> found = review("HEAD", repo=".")
    >>> print(found.verdict, [(finding.path, finding.line, finding.title) for finding in found.posted()])
    """
    order = wiring.Order(
        target=_target(target, patch),
        directory=Path(repo),
        environment=os.environ,
        flags={key: (value, f"settings[{key!r}]") for key, value in (settings or {}).items()},
        execute=execute,
        state=Path(state) if state is not None else state_directory(os.environ),
    )
    return wiring.review(order).review


def _target(target: str | None, patch: bytes | str | None) -> Target:
    if patch is not None:
        return Target(TargetKind.PATCH, patch=patch.encode() if isinstance(patch, str) else patch)
    flags = {"--staged": TargetKind.STAGED, "--worktree": TargetKind.WORKTREE}
    if target in flags:
        return Target(flags[target])
    return named(target)
