"""What tools work with, and how they show what is in files."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from reviewbot.config.settings import ToolSettings
from reviewbot.git.change import Change, Side
from reviewbot.git.repository import Repository
from reviewbot.git.tree import Entry
from reviewbot.journal import Journal
from reviewbot.sandbox.executor import Executor
from reviewbot.text.hidden import visible
from reviewbot.text.secrets import redact

MAX_LINE = 500  # characters

Path = Annotated[str, Meta(description="from the top of the repository")]
AtSide = Annotated[Side, Meta(description="head is after the change, base before it")]


class Context(Struct, frozen=True, kw_only=True):
    """What tools work with. `database_lock` lets one question at a time go to the database."""

    change: Change
    repository: Repository
    settings: ToolSettings
    executor: Executor
    journal: Journal
    database_lock: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)


async def entries_at(context: Context, side: Side, path: str) -> list[Entry]:
    """The file, link or submodule of that path, or all below the folder of that path.

    A path may be written as it is shown, with hidden characters made visible. It is only compared
    with those of the tree, so none leads out of it.
    """
    entries = await context.repository.list_entries(context.change.tree(side))
    if not path:
        return entries
    found = [e for e in entries if f"{e.path}/".startswith(f"{path}/")]
    return found or [e for e in entries if f"{shown(e.path)}/".startswith(f"{path}/")]


def clean(path: str) -> str:
    """A path without slashes around it and single dots in it."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def lines_of(content: bytes) -> list[str]:
    """The lines of a file as they are shown. A secret may have several, so none is shown alone."""
    text = shown(content.decode(errors="replace"))
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def shown(text: str) -> str:
    """Text without secrets and hidden characters."""
    return visible(redact(text)[0])
