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
from reviewbot.git.repository import Repository
from reviewbot.pipeline import review as review_target
from reviewbot.services import Host
from reviewbot.state import State, find_state
from reviewbot.talk import chat as chats
from reviewbot.talk import negotiation
from reviewbot.verdict.document import Review


@asynccontextmanager
async def open_host(directory: str | Path) -> AsyncIterator[tuple[Host, State]]:
    with Repository(Path(directory), variables=os.environ) as repository:
        state = await find_state(repository, os.environ)
        yield make_host(repository, state, await read_variables(repository)), state


async def review_async(target: str = "", *, directory: str | Path = ".") -> Review:
    """Review what `target` names: a commit, `A..B` or `A...B`; "" is uncommitted work."""
    async with open_host(directory) as (host, state):
        result = await review_target(target, host)
    state.save(result)
    return result


async def negotiate_async(
    question: str, paths: Sequence[str] = (), *, directory: str | Path = "."
) -> negotiation.Negotiation:
    """Let the panel negotiate about a question and files; nobody decides."""
    async with open_host(directory) as (host, _):
        return await negotiation.negotiate(question, paths, host, lambda _: None)


async def chat_async(message: str, *, directory: str | Path = ".") -> str:
    """The answer of the lead to one message."""
    async with open_chat(directory) as talk:
        return (await talk.say(message))[talk.lead]


@asynccontextmanager
async def open_chat(directory: str | Path = ".") -> AsyncIterator[chats.Chat]:
    """A conversation, for any number of messages."""
    async with open_host(directory) as (host, _), chats.open_chat(host) as talk:
        yield talk


def review(target: str = "", *, directory: str | Path = ".") -> Review:
    """Like `review_async`, where no event loop runs."""
    return asyncio.run(review_async(target, directory=directory))


def negotiate(
    question: str, paths: Sequence[str] = (), *, directory: str | Path = "."
) -> negotiation.Negotiation:
    """Like `negotiate_async`, where no event loop runs."""
    return asyncio.run(negotiate_async(question, paths, directory=directory))


def chat(message: str, *, directory: str | Path = ".") -> str:
    """Like `chat_async`, where no event loop runs."""
    return asyncio.run(chat_async(message, directory=directory))
