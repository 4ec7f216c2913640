"""Write fixes into the user's work tree: all of them or none, and take them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from reviewbot.git.repository import Repository


class Write(Struct, frozen=True, kw_only=True):
    files: Mapping[str, bytes | None]
    before: Mapping[str, bytes]
    message: str = ""


class Written(Struct, frozen=True, kw_only=True):
    id: str
    paths: tuple[str, ...]
    commits: tuple[str, ...]


async def write_fixes(
    repository: Repository, writes: Sequence[Write], folder: Path
) -> Written:
    raise NotImplementedError


async def undo_fixes(repository: Repository, id: str, folder: Path) -> tuple[str, ...]:
    raise NotImplementedError


async def recover(repository: Repository, folder: Path) -> str | None:
    return None
