"""What of this machine a job may be shown, and with what a container is run: the operator's, never the change's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reviewbot.adapters.sandbox.interpreters import Interpreters
from reviewbot.adapters.sandbox.limits import Limits
from reviewbot.domain.evidence import Side

_PRIVATE_OF_HOME = ("", ".local", ".config", ".cache", ".ssh")


@dataclass(frozen=True, slots=True)
class ContainerOptions:
    """``engine``: ``docker``, ``podman``, or empty for the one that has the image. ``image`` is never pulled; it brings python3
    and the project's tools. ``runtime``: what the engine starts containers with, such as ``runsc``; empty for its own choice."""

    engine: str = ""
    image: str = ""
    runtime: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
    """What a preparation made beside the tree: ``paths`` below ``folder/tree``, ``home`` below ``folder/home``, slashes between
    the parts of each."""

    folder: Path
    paths: tuple[str, ...] = ()
    home: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """Where outcomes of jobs are kept, and the ids of the trees."""

    folder: Path
    trees: Mapping[Side, str]


@dataclass(frozen=True, slots=True)
class Host:
    """``path``: the folders where the operator's programs are found. ``home``: the operator's. ``go_modules``: Go's module cache.
    ``engine_variables``: what a container engine's own client is started with; no job sees it. ``memory``: where outcomes
    are kept. ``notes`` are for the reader."""

    path: tuple[Path, ...] = ()
    home: Path | None = None
    go_modules: Path | None = None
    container: ContainerOptions = ContainerOptions()
    engine_variables: tuple[tuple[str, str], ...] = ()
    layer: Layer | None = None
    memory: Memory | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """What every level stands on. ``trees`` gives the folder of an exported tree, ``toplevel`` the repository's own path."""

    trees: Callable[[Side], Path]
    interpreters: Interpreters
    limits: Limits
    toplevel: Path | None
    host: Host = Host()

    def hides(self, folder: Path) -> bool:
        """A folder that holds more than a tool: the root, the home, the repository, or what they lie in. None is shown."""
        kept = [self.host.home / name for name in _PRIVATE_OF_HOME] if self.host.home else []
        kept += [self.toplevel] if self.toplevel else []
        return folder == Path("/") or any(place.is_relative_to(folder) for place in kept)
