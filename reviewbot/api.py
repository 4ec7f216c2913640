"""Reviews from Python, as `reviewbot.review` and `reviewbot.review_async`."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from reviewbot.cli.host import make_host, read_variables
from reviewbot.git.change import Target
from reviewbot.git.repository import Repository
from reviewbot.pipeline import review as review_target
from reviewbot.state import find_state
from reviewbot.verdict.document import Review


def review(target: str = "", *, directory: str | Path = ".") -> Review:
    """Review what `target` names: a commit, `A..B` or `A...B`; "" is uncommitted work.

    The settings are those of the command line: of the repository's base, the user's file and the
    environment. Raises reviewbot.errors.ReviewbotError.
    """
    return asyncio.run(review_async(target, directory=directory))


async def review_async(target: str = "", *, directory: str | Path = ".") -> Review:
    """The same as a coroutine."""
    with Repository(Path(directory)) as repository:
        state = await find_state(repository, os.environ)
        host = make_host(repository, state, await read_variables(repository))
        wanted = Target(kind="revision", revision=target) if target else Target()
        result = await review_target(wanted, host)
    state.save(result)
    return result
