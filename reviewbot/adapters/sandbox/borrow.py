"""What the work tree has beside the committed files and a job may use: its environment, its packages, or what was prepared.

A name counts only where no end of the change has committed something there: else it is part of the change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reviewbot.adapters.sandbox.host import Ground
from reviewbot.adapters.sandbox.interpreters import ENVIRONMENT_NAMES, has_pytest, is_environment
from reviewbot.adapters.sandbox.tools import Shelf
from reviewbot.domain.evidence import Side
from reviewbot.ports import Job

PACKAGES = "node_modules"
SCRIBBLED = (".cache", ".vite", ".vite-temp", ".tmp")
"""Folders among packages in which tools keep what they made: empty for a job, and its own."""
_DEEP = 2
"""How many folders down packages of parts of a repository are looked for."""
_MOST_FOLDERS = 500


@dataclass(frozen=True, slots=True)
class Borrowed:
    """Something to be seen in the tree at ``name``, that lies at ``source``."""

    name: str
    source: Path

    @property
    def has_programs(self) -> bool:
        """It is an environment, or the top folder's packages. What a link leads to is not looked at here, but inside."""
        known = self.name == PACKAGES or (self.name in ENVIRONMENT_NAMES and is_environment(self.source))
        return known and not self.source.is_symlink()

    @property
    def programs(self) -> str:
        """The folder of its programs, below it."""
        return ".bin" if self.name == PACKAGES else "bin"


def borrowed(job: Job, ground: Ground) -> tuple[Borrowed, ...]:
    """All of it, for a job. One that executes nothing of the change is lent nothing."""
    if not job.executes:
        return ()
    tree = ground.trees(job.tree) if job.tree else None
    found: dict[str, Borrowed] = {}
    for one in (*_prepared(ground), *_of_work_tree(ground, tree)):
        if one.name not in found and not _is_taken(one.name, job, tree):
            found[one.name] = one
    return tuple(found.values())


def packages(job: Job, ground: Ground) -> tuple[Borrowed, ...]:
    """What of it does not depend on the programs of this machine."""
    return tuple(one for one in borrowed(job, ground) if one.name.endswith(PACKAGES)) if job.tree else ()


def shelves(lent: tuple[Borrowed, ...], tree: str) -> tuple[Shelf, ...]:
    """Where programs lie among it; ``tree`` is the path of the tree for the job."""
    return tuple(Shelf(one.source / one.programs, f"{tree}/{one.name}/{one.programs}") for one in lent if one.has_programs)


def tests_python(job: Job, lent: tuple[Borrowed, ...], ground: Ground) -> tuple[Path, Borrowed | None]:
    """The Python that runs the project's tests, and the environment among what is lent that it belongs to."""
    own, top = ground.interpreters, ground.toplevel
    for one in lent:
        is_named = top is not None and own.project == top / one.name / "bin" / "python" and _is_at(one.source, top / one.name)
        if one.has_programs and one.name != PACKAGES and (is_named or has_pytest(one.source)):
            return one.source / "bin" / "python", one
    if own.project and job.executes and not (top and own.project.is_relative_to(top)):
        return own.project, None
    return own.own, None


def is_committed(name: str, ground: Ground) -> bool:
    """An end of the change has something there."""
    return any(os.path.lexists(ground.trees(side) / name) for side in Side)


def _prepared(ground: Ground) -> Iterator[Borrowed]:
    layer = ground.host.layer
    if layer:
        yield from (Borrowed(name, layer.folder / "tree" / name) for name in layer.paths)


def _of_work_tree(ground: Ground, tree: Path | None) -> Iterator[Borrowed]:
    top = ground.toplevel
    if top is None:
        return
    for name in (*ENVIRONMENT_NAMES, *(_packages(tree) if tree else ())):
        real = Path(os.path.realpath(top / name))  # a link may lead to an environment elsewhere
        if real.is_dir() and _is_what_it_says(name, real) and not ground.hides(real) and not is_committed(name, ground):
            yield Borrowed(name, real)


def _is_what_it_says(name: str, real: Path) -> bool:
    """A link may lead to another folder of the same kind, and nowhere else."""
    return is_environment(real) if name in ENVIRONMENT_NAMES else real.name == PACKAGES


def _packages(tree: Path) -> Iterator[str]:
    """Where packages may lie: at the top, and in the folders of the tree that have a ``package.json``."""
    yield PACKAGES
    left = _MOST_FOLDERS
    waiting = [(tree, 0)]
    while waiting and left:
        folder, depth = waiting.pop(0)
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False) and (left := left - 1) > 0:
                if Path(entry.path, "package.json").is_file():
                    yield f"{Path(entry.path).relative_to(tree)}/{PACKAGES}"
                if depth + 1 < _DEEP:
                    waiting.append((Path(entry.path), depth + 1))


def _is_taken(name: str, job: Job, tree: Path | None) -> bool:
    """The job's own tree has something there, or lays something there, or makes a file of one of its folders."""
    if any(path == name or path.startswith(f"{name}/") or name.startswith(f"{path}/") for path, _ in job.overlay):
        return True
    if tree is None:
        return False
    folders = [tree / folder for folder in Path(name).parents if folder != Path()]
    return os.path.lexists(tree / name) or any(os.path.lexists(place) and not _is_folder(place) for place in folders)


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _is_at(source: Path, place: Path) -> bool:
    return Path(os.path.realpath(place)) == source
