"""What tools work with, and how they show what is in files."""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Struct

from reviewbot.config.settings import ToolSettings
from reviewbot.git.change import Change
from reviewbot.git.repository import Repository
from reviewbot.journal import Journal
from reviewbot.sandbox.executor import Executor
from reviewbot.text.hidden import visible
from reviewbot.text.secrets import redact


class Context(Struct, frozen=True, kw_only=True):
    """What tools work with. `database_lock` lets one question at a time go to the database."""

    change: Change
    repository: Repository
    settings: ToolSettings
    executor: Executor
    journal: Journal
    database_lock: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)


def shown(text: str) -> str:
    """Text without secrets and hidden characters."""
    return visible(redact(text)[0])
