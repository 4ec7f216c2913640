"""The hooks at work. Their exit code is 1 for findings that stop git, 3 if something was not
reviewed, else 0; whether 3 stops git is up to the caller.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from reviewbot.config.load import flag_layer
from reviewbot.config.settings import CheckSettings
from reviewbot.errors import GitError, ReviewbotError
from reviewbot.git.repository import Repository
from reviewbot.git.target import Target
from reviewbot.hooks.push import PushedRef, find_ranges
from reviewbot.hooks.script import Hook
from reviewbot.pipeline import review
from reviewbot.reports import render
from reviewbot.services import Host, read_base
from reviewbot.severity import Threshold, reaches
from reviewbot.state import State
from reviewbot.verdict.document import Review

Say = Callable[[str], None]

# What needs half of the time of a commit hook, and can wait for the push.
SLOW_CHECKS = ("public-api",)
PUSH_SECONDS = 60
MAX_GAPS = 5


async def review_commit(host: Host, repository: Repository, state: State, say: Say) -> int:
    """Review the index without running anything of it. Raises ReviewbotError."""
    change = await repository.load_change(Target(kind="staged"))
    if change.base_tree == change.head_tree:
        say("reviewbot: nothing is staged; reviewbot review HEAD reviews the last commit")
        return 0
    settings = (await read_base(change, host))[0].settings
    off = [CheckSettings(name=name, off=True) for name in SLOW_CHECKS]
    checks = msgspec.to_builtins((*settings.checks, *off))
    layers = (*host.layers, flag_layer({"checks": checks}))
    host = replace(host, layers=layers, may_execute=False, providers={})
    result = await review(change, host)
    state.save(result)
    return _report(result, "pre-commit", settings.hooks.commit, say)


async def review_push(
    host: Host, repository: Repository, state: State, refs: list[PushedRef], remote: str, say: Say
) -> int:
    """Review what each ref brings."""
    ends_at = time.monotonic() + PUSH_SECONDS
    codes = {0}
    try:
        async for name, revision in find_ranges(refs, remote, await repository.git_directory()):
            if not revision:
                say(f"reviewbot: {name} brings nothing new")
                continue
            base, _, head = revision.partition("..")
            say(f"reviewbot: reviewing {name} ({base[:10]}..{head[:10]})")
            try:
                codes.add(await _review_range(revision, host, repository, state, say, ends_at))
            except ReviewbotError as error:
                codes.add(not_reviewed(error, say))
    except GitError as error:
        codes.add(not_reviewed(error, say))
    return 1 if 1 in codes else max(codes)


def not_reviewed(error: ReviewbotError, say: Say) -> int:
    """Say why; return the exit code."""
    say(f"NOT REVIEWED: {error}{f'; {error.hint}' if error.hint else ''}")
    return ReviewbotError.exit_code


async def _review_range(
    revision: str, host: Host, repository: Repository, state: State, say: Say, ends_at: float
) -> int:
    change = await repository.load_change(Target(kind="revision", revision=revision))
    settings = (await read_base(change, host))[0].settings
    seconds = min(settings.limits.seconds, int(ends_at - time.monotonic()))
    if seconds < 1:
        message = f"the {PUSH_SECONDS} s of this push are over"
        raise ReviewbotError(message, hint=f"reviewbot review {revision}")
    layers = (*host.layers, flag_layer({"limits.seconds": seconds}))
    result = await review(change, replace(host, layers=layers))
    state.save(result)
    code = _report(result, "pre-push", settings.hooks.push, say)
    for gap in result.gaps[:MAX_GAPS]:
        say(f"NOT REVIEWED: {gap}")
    if more := len(result.gaps[MAX_GAPS:]):
        say(f"NOT REVIEWED: {more} more, see reviewbot sessions show")
    return code or (0 if result.complete else ReviewbotError.exit_code)


def _report(result: Review, hook: Hook, threshold: Threshold, say: Say) -> int:
    """Say what was found; return 1 if it stops git."""
    verb = hook.removeprefix("pre-")
    reported = result.reported
    stopping = [finding for finding in reported if reaches(finding.severity, threshold)]
    for line in render(replace(result, gaps=(), complete=True), "concise").splitlines():
        say(line)
    if stopping:
        found = "1 finding stops" if len(stopping) == 1 else f"{len(stopping)} findings stop"
        say(f"reviewbot: {found} this {verb}: hooks.{verb} is {threshold}.")
        say(f"reviewbot explain {stopping[0].id} shows more; git {verb} --no-verify ignores it.")
        return 1
    if reported:
        say(f"reviewbot: the {verb} goes on: hooks.{verb} is {threshold}.")
    else:
        files = len(result.coverage)
        say(f"reviewbot: nothing found in {files} changed file{'' if files == 1 else 's'}")
    return 0
