"""Write a git tree as files, wherever its author tries to put them.

`git archive` and `git checkout-index` would obey attributes of the tree and run filters.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from reviewbot.errors import GitError
from reviewbot.git.process import MISSING_HINT

# Deeper trees cannot be removed again: shutil.rmtree calls itself for each level.
MAX_DEPTH = 100
MAX_LINK_BYTES = 4_096
CHUNK = 1_000_000
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


class Entry(Struct, frozen=True):
    """A file of a tree: "100644" and "100755" are regular, "120000" is a symbolic link.

    "160000" is a submodule; its `blob` is a commit of another repository.
    """

    mode: str
    blob: str
    path: str


async def write_files(folder: Path, entries: Sequence[Entry], blobs: BinaryIO) -> None:
    """Write entries into a new folder, links last, without those that leave the folder.

    Args:
        blobs: what `git cat-file --batch` printed for the entries.
    """
    folder.mkdir(parents=True)
    links: dict[str, str] = {}
    made: set[str] = set()
    path = ""
    try:
        for number, (entry, size) in enumerate(read_blobs(entries, blobs)):
            if number % 100 == 0:
                await asyncio.sleep(0)  # writing holds up neither a deadline nor other tasks
            path = entry.path
            if is_outside(path):
                raise GitError(f"the tree has an entry outside of itself: {path!r}")
            if path.count("/") >= MAX_DEPTH:
                raise GitError(f"the tree has more than {MAX_DEPTH} levels: {path!r}")
            if (parent := path.rpartition("/")[0]) not in made:
                (folder / parent).mkdir(parents=True, exist_ok=True)
                made.add(parent)
            if entry.mode == "120000":
                content = blobs.read(min(size, MAX_LINK_BYTES))
                if b"\0" not in content:
                    links[path] = os.fsdecode(content)
                continue
            permissions = 0o755 if entry.mode == "100755" else 0o644
            with os.fdopen(os.open(f"{folder}/{path}", NEW_FILE, permissions), "wb") as file:
                while size and (chunk := blobs.read(min(size, CHUNK))):
                    file.write(chunk)
                    size -= len(chunk)
        for path, link in links.items():
            (folder / path).symlink_to(link)
        root = folder.resolve()
        ends = {path: Path(os.path.realpath(folder / path)) for path in links}
        for path, end in ends.items():
            if not end.is_relative_to(root):
                (folder / path).unlink()
    except OSError as error:
        raise GitError(f"{path!r} cannot be written: {error.strerror}") from error


def read_blobs(entries: Sequence[Entry], blobs: BinaryIO) -> Iterator[tuple[Entry, int]]:
    """Stand at the content of each entry in turn, and say how many bytes it has.

    Raises GitError if the repository lacks one.
    """
    for entry in entries:
        *_, size = blobs.readline().split()  # ID, "blob" and size, or ID and "missing"
        if not size.isdigit():
            message = f"{entry.path!r} cannot be read: the repository lacks blob {entry.blob}"
            raise GitError(message, hint=MISSING_HINT)
        end = blobs.tell() + int(size)
        yield entry, int(size)
        blobs.seek(end + 1)


def is_outside(path: str) -> bool:
    """Whether a path, of a tree or patch made by hand, leads out of the tree or into its .git."""
    return any(part in ("", ".", "..") or part.lower() == ".git" for part in path.split("/"))
