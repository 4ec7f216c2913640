"""What a folder may say of its own reviews: a few keys, relative to it, on top of what holds for the whole repository.

A nested ``.reviewbot.yml`` can neither stop a review nor make it dearer: of another key, or where it cannot be read, nothing of
it counts, and the review says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reviewbot.config.configuration import Configuration, Folder
from reviewbot.config.layers import Source, held
from reviewbot.errors import ConfigError

NAME = ".reviewbot.yml"
ALLOWED = ("review.instructions", "review.path_rules", "review.ignore")
"""Keys that such a file may have, besides ``version``."""
MOST_FILES = 20


def wanted(paths: Iterable[str], changed: Iterable[str]) -> tuple[str, ...]:
    """Those of a tree's ``paths`` that configure a folder above a changed file, outer ones first. The top's own is none."""
    above = {folder for path in changed for folder in _folders(path)}
    found = (path for path in paths if path.endswith(f"/{NAME}") and path.removesuffix(f"/{NAME}") in above)
    return tuple(sorted(found, key=lambda path: (path.count("/"), path)))


def within(configuration: Configuration, sources: Iterable[Source]) -> Configuration:
    """``configuration`` with what files of folders say; ``sources`` as ``wanted`` names them. What is wrong becomes a notice."""
    folders: list[Folder] = []
    notices: list[str] = []
    for number, source in enumerate(sources):
        if number >= MOST_FILES:
            notices.append(f"{source.name} is not read: at most {MOST_FILES} folders configure a review")
            continue
        try:
            folders.append(read(source))
        except ConfigError as exc:
            notices.append(f"{source.name} is not followed: {exc.message}")
    return replace(configuration, folders=tuple(folders), notices=(*configuration.notices, *notices))


def read(source: Source) -> Folder:
    """What one such file says. Raises ConfigError, naming the key and its place."""
    folder = source.name.removesuffix(f"/{NAME}")
    told: dict[str, object] = {}
    for name, value, place in held(source):
        if name not in ALLOWED and name != "version":
            raise ConfigError(f"{name} may not stand in the file of a folder ({place})", hint=f"there are {', '.join(ALLOWED)}")
        told[name] = value
    return Folder(
        folder,
        tuple(f"{folder}/{name}" for name in _texts(told.get("review.instructions"))),
        tuple(_path_rules(told.get("review.path_rules"), folder)),
        tuple(glob for pattern in _texts(told.get("review.ignore")) if (glob := below(folder, pattern))),
    )


def below(folder: str, pattern: str) -> str | None:
    """A pattern of gitignore(5) that stands in ``folder``, as it is written at the top: it means nothing outside of the folder.
    ``None`` for one that means nothing at all."""
    if not pattern.strip() or pattern.startswith("#"):
        return None
    negated = pattern.startswith("!")
    body = pattern[negated:]
    if not body.strip("/ "):
        return None
    anchored = "/" in body.rstrip("/")
    where = re.sub(r"([\\*?\[\]])", r"\\\1", folder)
    return f"{'!' * negated}/{where}/{'' if anchored else '**/'}{body.removeprefix('/')}"


def _path_rules(value: object, folder: str) -> Iterator[tuple[str, str]]:
    for rule in value if isinstance(value, tuple) else ():
        assert isinstance(rule, Mapping)
        glob = below(folder, str(rule["path"]))
        if glob is not None:
            yield glob.removeprefix("/"), str(rule["instructions"])


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, tuple) else ()


def _folders(path: str) -> Iterator[str]:
    """The folders around a file, the top left out."""
    while path := path.rpartition("/")[0]:
        yield path
