"""The variables of a run: the process's environment, and from a ``.env`` file what that lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from reviewbot.cli.options import Common
from reviewbot.cli.settings import read_file, top_of
from reviewbot.config.dotenv import IMPLICIT, parse
from reviewbot.config.layers import VARIABLE
from reviewbot.errors import ConfigError

NAME = ".env"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run may know of its environment. ``notices`` say what of a ``.env`` was left where it is."""

    variables: Mapping[str, str]
    notices: tuple[str, ...] = ()


def surroundings(arguments: Common, environ: Mapping[str, str], *, is_private: Callable[[Path], bool]) -> Surroundings:
    """The environment, filled up. A file named with ``--env-file`` may bring anything. Without one, and outside of CI, the
    ``.env`` at the top of the work tree brings keys only, and only where ``is_private``: git ignores it and does not track
    it, so that no commit of somebody else put it there. Raises ConfigError."""
    if arguments.env_file is not None:
        source = read_file(arguments.env_file)
        return _filled(environ, parse(source.data, source.name))
    found = top_of(arguments.repo) / NAME
    if environ.get("CI") or not found.is_file():
        return Surroundings(environ)
    return _implicit(found, environ, is_private=is_private)


def _implicit(path: Path, environ: Mapping[str, str], *, is_private: Callable[[Path], bool]) -> Surroundings:
    try:
        held = parse(read_file(path).data, NAME)
    except ConfigError as exc:
        return Surroundings(environ, (f"{NAME} is not read: {exc.message}",))
    keys = {name: value for name, value in held.items() if IMPLICIT.fullmatch(name)}
    steering = tuple(name for name in held if name.startswith(VARIABLE))
    if not keys and not steering:
        return Surroundings(environ)
    if not is_private(path):
        return Surroundings(environ, (f"{NAME} is not read: git tracks it or does not ignore it; name it with --env-file",))
    notice = f"{', '.join(steering)} in {NAME} is not read; name the file with --env-file"
    return _filled(environ, keys, *((notice,) if steering else ()))


def _filled(environ: Mapping[str, str], held: Mapping[str, str], *notices: str) -> Surroundings:
    """A variable that is there stays, also an empty one: that is how one is switched off."""
    return Surroundings(MappingProxyType({**held, **environ}), notices)
