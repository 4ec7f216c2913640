"""What the command line does, from Python: `reviewbot.review`, `reviewbot.chat` and their like.

The settings are those of the command line: of the repository's base, the user's file and the
environment. All functions raise reviewbot.errors.ReviewbotError.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from reviewbot.cli.host import make_host, read_variables
from reviewbot.git.change import Target
from reviewbot.git.repository import Repository
from reviewbot.pipeline import review as review_target
from reviewbot.services import Host
from reviewbot.state import State, find_state
from reviewbot.talk.chat import Chat
from reviewbot.talk.chat import open_chat as open_chat_of
from reviewbot.talk.negotiation import Negotiation
from reviewbot.talk.negotiation import negotiate as negotiate_with
from reviewbot.verdict.document import Review


@asynccontextmanager
async def open_host(directory: str | Path) -> AsyncIterator[tuple[Host, State]]:
    with Repository(Path(directory)) as repository:
        state = await find_state(repository, os.environ)
        yield make_host(repository, state, await read_variables(repository)), state


def review(target: str = "", *, directory: str | Path = ".") -> Review:
    """Review what `target` names: a commit, `A..B` or `A...B`; "" is uncommitted work."""
    return asyncio.run(review_async(target, directory=directory))


async def review_async(target: str = "", *, directory: str | Path = ".") -> Review:
    async with open_host(directory) as (host, state):
        wanted = Target(kind="revision", revision=target) if target else Target()
        result = await review_target(wanted, host)
    state.save(result)
    return result


def negotiate(
    question: str, paths: Sequence[str] = (), *, directory: str | Path = "."
) -> Negotiation:
    """Let the panel negotiate about a question and files; nobody decides."""
    return asyncio.run(negotiate_async(question, paths, directory=directory))


async def negotiate_async(
    question: str, paths: Sequence[str] = (), *, directory: str | Path = "."
) -> Negotiation:
    async with open_host(directory) as (host, _):
        return await negotiate_with(question, paths, host, lambda _: None)


def chat(message: str, *, directory: str | Path = ".") -> str:
    """The answer of the lead to one message."""
    return asyncio.run(chat_async(message, directory=directory))


async def chat_async(message: str, *, directory: str | Path = ".") -> str:
    async with open_chat(directory) as talk:
        return (await talk.say(message))[talk.lead]


@asynccontextmanager
async def open_chat(directory: str | Path = ".") -> AsyncIterator[Chat]:
    """A conversation, for any number of messages."""
    async with open_host(directory) as (host, _), open_chat_of(host) as talk:
        yield talk
