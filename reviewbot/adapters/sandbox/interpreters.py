"""Which Python runs the project's tests, which runs our own programs, and what of the disk they need to see.

Nothing of a repository is run to find out: a ``.venv`` may have been committed by whoever wrote the change.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT_NAMES = (".venv", "venv")
SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64")))
"""What every job sees anyway."""
_MOST_LINKS = 20


@dataclass(frozen=True, slots=True)
class Interpreters:
    """``project`` is the Python of the repository's own environment, if it has pytest; ``own`` is reviewbot's. ``ruff`` is a
    path to the program, or its bare name where it was not found."""

    project: Path | None
    own: Path
    ruff: Path

    @property
    def for_tests(self) -> Path:
        """The one that runs the project's tests."""
        return self.project or self.own


def discover(toplevel: Path | None) -> Interpreters:
    """Find them for a repository's work tree."""
    project = _environment(toplevel) if toplevel else None
    return Interpreters(project, Path(sys.executable), _ruff())


def needs(python: Path, hides: Callable[[Path], bool]) -> tuple[Path, ...]:
    """What an interpreter needs to see: its environment and the installation it was made from.

    A folder counts only where a Python lives in it, so that a forged ``pyvenv.cfg`` shows nothing else. Of one that ``hides``
    names only the Python is shown.
    """
    found = [hop.parent.parent for hop in hops_of(python)]
    found += [home.parent for home in _homes(python.parent.parent)]
    if python == Path(sys.executable):
        found += [Path(sys.prefix), Path(sys.base_prefix)]
    wanted = (folder for folder in dict.fromkeys(found) if not is_of_system(folder))
    pythons = (folder for folder in wanted if _is_installation(folder) or is_environment(folder))
    return tuple(part for folder in pythons for part in (_python_in(folder) if hides(folder) else (folder,)))


def links(python: Path, seen: tuple[Path, ...]) -> tuple[tuple[Path, Path], ...]:
    """The links on the way to a program that lie in none of the folders ``seen``, each with where it points: an environment may
    have been made by way of ``~/.local/bin/python3``."""
    hops = (hop for hop in hops_of(python) if hop.is_symlink())
    hidden = (hop for hop in hops if not (is_of_system(hop) or any(hop.is_relative_to(place) for place in seen)))
    return tuple((hop, _goal(hop)) for hop in hidden)


def _environment(toplevel: Path) -> Path | None:
    for name in ENVIRONMENT_NAMES:
        folder = toplevel / name
        python = folder / "bin" / "python"
        if python.exists() and has_pytest(folder):
            return python
    return None


def is_of_system(place: Path) -> bool:
    """Every job sees it."""
    return any(place.is_relative_to(root) for root in SYSTEM)


def has_pytest(folder: Path) -> bool:
    """An environment in which tests can be run."""
    return is_environment(folder) and any(folder.glob("lib/python3*/site-packages/pytest/__init__.py"))


def is_environment(folder: Path) -> bool:
    """A virtual environment, as ``python -m venv`` makes it."""
    return (folder / "pyvenv.cfg").is_file() and any(folder.glob("lib/python3*/site-packages"))


def _is_installation(folder: Path) -> bool:
    return any(folder.glob("bin/python3*")) and any(folder.glob("lib/python3*/os.py"))


def hops_of(python: Path) -> Iterator[Path]:
    """A program's path and every link on the way to its file."""
    here = python
    for _ in range(_MOST_LINKS):
        yield here
        if not here.is_symlink():
            return
        here = _goal(here)


def _goal(link: Path) -> Path:
    """Where a link points, without ``..`` wherever that means the same."""
    plain = Path(os.path.normpath(link.parent / link.readlink()))
    return plain if os.path.lexists(plain) else Path(os.path.realpath(link))


def _python_in(folder: Path) -> tuple[Path, ...]:
    """The interpreter and its library, of a folder with more in it than a Python."""
    return tuple(part for form in ("bin/python3*", "lib/python3*", "lib/libpython3*") for part in folder.glob(form))


def _homes(environment: Path) -> Iterator[Path]:
    """The ``home`` of a ``pyvenv.cfg``: the ``bin`` folder of the interpreter it was made from."""
    try:
        text = (environment / "pyvenv.cfg").read_text("utf-8", "replace")[:65536]
    except OSError:
        return
    for line in text.splitlines():
        key, found, value = line.partition("=")
        if found and key.strip().lower() == "home" and value.strip().startswith("/"):
            yield Path(value.strip())


def _ruff() -> Path:
    """Beside our interpreter, where its package puts it; else where the system has it."""
    places = (sysconfig.get_path("scripts"), str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin")
    found = (path for place in places if (path := Path(place) / "ruff").is_file())
    return next(found, Path("ruff"))
