"""Where the programs lie that a job names, and what each of them needs to see: as little as makes it run.

A program is looked for in the project's own environment, beside reviewbot, where the operator's programs are, and in the system's
folders. A file is shown alone, unless it belongs to a toolchain or to an environment that it cannot do without. Nothing is
run to find out.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reviewbot.adapters.sandbox.interpreters import hops_of, is_of_system, links, needs
from reviewbot.adapters.sandbox.words import SYSTEM_FOLDERS
from reviewbot.ports import Ended, Outcome

_POSTGRES = Path("/usr/lib/postgresql")
"""Debian keeps what makes a database cluster outside of every PATH."""
_ALSO: Mapping[str, tuple[str, ...]] = {"golangci-lint": ("go",), "gopls": ("go",), "staticcheck": ("go",)}
"""Programs that start another one."""
_GO = ("go", "gofmt")
_SHIMS = "shims"
"""The folder in which version managers put scripts that cannot work without all of the home."""
_MOST_STEPS = 4
_BY_SHELL = re.compile(rb"""'''exec' "?(/[^"\n]*python[^" \n]*)""")


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder with programs, and where a job sees it."""

    folder: Path
    seen_as: str = ""

    @property
    def inside(self) -> str:
        """Its path for a job."""
        return self.seen_as or str(self.folder)


@dataclass(frozen=True, slots=True)
class Kit:
    """Tools by name, as a job calls them; what it must be shown for them, each at its own path; links to make; the names of those
    that were not found."""

    programs: Mapping[str, str]
    shows: tuple[Path, ...] = ()
    links: tuple[tuple[Path, Path], ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[str, ...]:
        """Where they lie, then the system's."""
        return (*(program.rpartition("/")[0] for program in self.programs.values()), *SYSTEM_FOLDERS)

    @property
    def words(self) -> dict[str, str]:
        """The words of a job that name them."""
        return {f"tool:{name}": program for name, program in self.programs.items()}


def gather(names: Iterable[str], shelves: tuple[Shelf, ...], hides: Callable[[Path], bool]) -> Kit:
    """These tools, and the programs that they start in turn. ``hides`` names folders that are shown to no job."""
    search = _Search(shelves, hides)
    for name in names:
        if not search.take(name):
            search.missing.append(name)
    shows = tuple(dict.fromkeys(search.shows))
    ways = tuple(dict.fromkeys(pair for way in search.ways for pair in links(way, shows)))
    return Kit(search.programs, shows, ways, tuple(search.missing))


def own_shelves(path: tuple[Path, ...], toplevel: Path | None) -> tuple[Shelf, ...]:
    """Beside reviewbot, on the operator's PATH, in the system. What of the PATH lies in the repository is no one's own."""
    beside = (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent)
    outside = (folder for folder in path if folder.is_absolute() and folder.name != _SHIMS)
    known = (folder for folder in outside if toplevel is None or not folder.is_relative_to(toplevel))
    databases = sorted(_POSTGRES.glob("*/bin"), reverse=True)
    return tuple(Shelf(folder) for folder in dict.fromkeys((*beside, *known, *map(Path, SYSTEM_FOLDERS), *databases)))


def missing(kit: Kit) -> Outcome:
    """What becomes of a job that names a tool which is not there."""
    names = " and ".join(kit.missing)
    return Outcome(Ended.MISSING, reason=f"{names} {'is' if len(kit.missing) == 1 else 'are'} not installed here")


class _Search:
    """One look through the shelves."""

    def __init__(self, shelves: tuple[Shelf, ...], hides: Callable[[Path], bool]) -> None:
        self._shelves = shelves
        self._hides = hides
        self.programs: dict[str, str] = {}
        self.shows: list[Path] = []
        self.ways: list[Path] = []
        self.missing: list[str] = []

    def take(self, name: str, steps: int = _MOST_STEPS) -> bool:
        """Find one, and what it needs. False where it is not there."""
        if name in self.programs:
            return True
        for shelf in self._shelves:
            place = shelf.folder / name
            if _is_program(place):
                self.programs[name] = f"{shelf.inside}/{name}"
                self._follow(place, shown=bool(shelf.seen_as), steps=steps)
                for other in _ALSO.get(name, ()):
                    self.take(other, steps - 1)
                return True
        return False

    def _follow(self, place: Path, *, shown: bool, steps: int) -> None:
        """What a program needs. One on a shelf that a job is shown anyway needs no more than its interpreter."""
        *_, file = hops_of(place)
        wanted, starts = _demands(file, self._hides)
        if not shown:
            self.ways.append(place)
            self.shows += (part for part in wanted if not is_of_system(part))
        if steps and starts:
            self._start(starts, steps)

    def _start(self, interpreter: str, steps: int) -> None:
        """The program that a script's first line names."""
        place = Path(interpreter)
        if not place.is_absolute():
            self.take(interpreter, steps - 1)
        elif place.name.startswith("python") and _is_program(place):
            self.ways.append(place)
            self.shows += needs(place, self._hides)
        elif _is_program(place):
            self._follow(place, shown=False, steps=steps - 1)


def _is_program(place: Path) -> bool:
    return place.is_file() and os.access(place, os.X_OK)


def _demands(file: Path, hides: Callable[[Path], bool]) -> tuple[tuple[Path, ...], str]:
    """What of the disk a file needs, itself included, and the interpreter that its first line names."""
    starts = _interpreter(file)
    folder = _toolchain(file)
    if folder and not hides(folder):
        return (folder,), starts
    if file.name.startswith("python"):
        return (*needs(file, hides), file), starts
    return (file,), starts


def _toolchain(file: Path) -> Path | None:
    """The folder that a program is useless without: Go's own, or the packages that a Node.js script lies among."""
    home = file.parent.parent
    if file.name in _GO and file.parent.name == "bin" and ((home / "src").is_dir() or (home / "pkg").is_dir()):
        return home
    packages = [folder for folder in file.parents if folder.name == "node_modules"]
    return packages[-1] if packages else None


def _interpreter(script: Path) -> str:
    """The program of a ``#!`` line, or the name that ``env`` shall look up; empty for anything else. Where the path is too long
    for such a line, installers let a shell start it in the next one."""
    try:
        with script.open("rb") as file:
            line, further = file.readline(512), file.readline(4096)
    except OSError:
        return ""
    if line.startswith(b"#!/bin/sh") and (found := _BY_SHELL.match(further)):
        return found[1].decode("utf-8", "replace")
    words = line[2:].decode("utf-8", "replace").split() if line.startswith(b"#!") else []
    if words and words[0].endswith("/env"):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""
