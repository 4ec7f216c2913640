"""What preparations made, kept on the disk: complete or not at all, and disarmed. What nobody needs any more is forgotten."""

from __future__ import annotations

import json
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reviewbot.adapters.sandbox.borrow import PACKAGES, SCRIBBLED
from reviewbot.adapters.sandbox.host import Layer
from reviewbot.adapters.sandbox.laying import Unlayable, checked
from reviewbot.adapters.sandbox.scratch import remove_folder

TREE, HOME = "tree", "home"
_LISTING = "layer.json"
_UNFINISHED = "unfinished-"
_KEPT_SECONDS = 30 * 86_400.0
_ABANDONED_SECONDS = 86_400.0
_MOST_PATHS = 100
_IGNORED = ("__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache")
_OF_HOME = ("go/pkg/mod", ".local", ".cargo/registry", ".m2/repository")
"""What of a home is of use later; the rest are downloads that were unpacked."""


class Unusable(Exception):
    """What was made cannot be a layer; the text says why."""


def find(state: Path, key: str) -> Layer | None:
    """A layer made before; using it keeps it from being forgotten."""
    folder = state / key
    try:
        told = json.loads((folder / _LISTING).read_bytes())
        layer = Layer(folder, tuple(map(checked, told["paths"])), tuple(map(checked, told["home"])))
        os.utime(folder)
    except (OSError, ValueError, KeyError, TypeError, Unlayable):
        return None
    return layer


@contextmanager
def unfinished(state: Path) -> Iterator[Path]:
    """A folder in which a layer is made. It is gone afterwards, unless it was kept."""
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    _forget(state)
    folder = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=state))
    try:
        for name in (TREE, HOME):
            (folder / name).mkdir()
        yield folder
    finally:
        remove_folder(folder)


def keep(folder: Path, base: Path, state: Path, *, key: str) -> Layer:
    """Make a layer of what stands in ``folder`` beside what the tree ``base`` has. Where another has made it meanwhile, theirs
    counts. Raises Unusable."""
    try:
        paths = tuple(_sifted(folder / TREE, base))
        home = tuple(name for name in _OF_HOME if (folder / HOME / name).is_dir())
        if len(paths) > _MOST_PATHS:
            raise Unusable(f"it made {len(paths)} files and folders all over the tree; at most {_MOST_PATHS} can be kept")
        _prune(folder, (_LISTING, TREE, *(f"{HOME}/{name}" for name in home)))
        _disarm(folder)
        _leave_room(folder / TREE, paths)
        (folder / _LISTING).write_text(json.dumps({"paths": paths, "home": home}), "ascii")
        with suppress(FileExistsError, NotADirectoryError):
            _move(folder, state / key)
    except OSError as exc:
        raise Unusable(f"what it made cannot be kept: {exc.strerror}") from exc
    layer = find(state, key)
    if layer is None:
        raise Unusable("what it made cannot be read back")
    return layer


def _move(folder: Path, target: Path) -> None:
    """All at once, or not where somebody was faster. Raises FileExistsError."""
    try:
        folder.rename(target)
    except OSError as exc:
        if target.is_dir():
            raise FileExistsError(str(target)) from exc
        raise


def _sifted(made: Path, base: Path, prefix: str = "") -> Iterator[str]:
    """What is new, topmost folders only; the rest is removed."""
    for entry in sorted(made.iterdir()):
        older, name = base / entry.name, f"{prefix}{entry.name}"
        if not os.path.lexists(older) and entry.name not in _IGNORED:
            yield name
        elif _is_folder(entry) and _is_folder(older):
            yield from _sifted(entry, older, f"{name}/")
        else:
            _remove(entry)


def _prune(folder: Path, kept: tuple[str, ...], prefix: str = "") -> None:
    """Remove everything but these and what is on the way to them."""
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if any(one.startswith(f"{name}/") for one in kept) and _is_folder(entry):
            _prune(entry, kept, f"{name}/")
        elif name not in kept:
            _remove(entry)


def _remove(place: Path) -> None:
    if _is_folder(place):
        remove_folder(place)
    else:
        place.unlink()


def _disarm(folder: Path) -> None:
    """No file that lends its owner's powers, no device, pipe or socket."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            mode = path.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                path.unlink()
            elif stat.S_ISREG(mode) and mode & 0o7000:
                path.chmod(mode & 0o777)


def _leave_room(tree: Path, paths: tuple[str, ...]) -> None:
    """Folders for tools that insist on keeping something among the packages: a job finds them empty, and may write there."""
    for folder in (tree / name for name in paths if name.endswith(PACKAGES)):
        for name in SCRIBBLED if _is_folder(folder) else ():
            (folder / name).mkdir(exist_ok=True)


def _forget(state: Path) -> None:
    """Layers that were not used for long, and what a killed run left."""
    now = time.time()
    for folder in state.iterdir():
        with suppress(OSError):
            age = now - folder.stat().st_mtime
            if age > (_ABANDONED_SECONDS if folder.name.startswith(_UNFINISHED) else _KEPT_SECONDS):
                remove_folder(folder)


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()
