"""How a job's files come to lie in its copy of the tree: what stands in their way is removed first, and no link is followed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath


class Unlayable(ValueError):
    """A file of the job cannot be laid where it says."""


def checked(name: str) -> str:
    """A name that leads nowhere else. Raises Unlayable."""
    if not name or "\0" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise Unlayable(f"{name!r} is no name for a file")
    return name


def lay(folder: Path, name: str, data: bytes) -> None:
    """One file in a folder of our own. Raises Unlayable."""
    target = folder / checked(name)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except (OSError, ValueError) as exc:
        raise Unlayable(f"{name!r} cannot be written: {getattr(exc, 'strerror', exc)}") from exc


def in_the_way(tree: Path, without: tuple[str, ...], overlay: tuple[str, ...]) -> tuple[str, ...]:
    """What to remove from a copy of ``tree``: the files to be taken out, each file or link that stands where an overlay needs a
    folder, and each folder that stands where it has a file. Raises Unlayable."""
    taken = (name for name in map(checked, without) if _blocked(tree, name) is None and os.path.lexists(tree / name))
    return tuple(dict.fromkeys((*taken, *(found for name in map(checked, overlay) if (found := _obstacle(tree, name))))))


def remove(tree: Path, names: tuple[str, ...]) -> None:
    """Take these out of a copy."""
    for name in names:
        place = tree / name
        if _is_folder(place):
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


def _obstacle(tree: Path, name: str) -> str | None:
    return _blocked(tree, name) or (name if _is_folder(tree / name) else None)


def _blocked(tree: Path, name: str) -> str | None:
    """The first of a name's folders that is none in the tree, though something stands there."""
    return next((folder for folder in _folders(name) if os.path.lexists(tree / folder) and not _is_folder(tree / folder)), None)


def _is_folder(place: Path) -> bool:
    return os.path.isdir(place) and not os.path.islink(place)  # noqa: PTH112, PTH114  # these bear names of any length


def _folders(name: str) -> Iterator[str]:
    """``a`` and ``a/b`` for ``a/b/c``."""
    yield from (str(folder) for folder in reversed(PurePosixPath(name).parents) if str(folder) != ".")
