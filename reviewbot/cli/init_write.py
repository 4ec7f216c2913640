"""The files of ``reviewbot init`` on the disk: all of them, or none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reviewbot.cli.init_plan import Piece
from reviewbot.cli.output import deliver
from reviewbot.errors import OutputError


def standing(top: Path, pieces: tuple[Piece, ...], *, force: bool) -> tuple[Piece, ...]:
    """What of the files is still to be written; one that is there just so is not. Raises OutputError where one is there that is
    not to be replaced, or where a link would lead out of the repository."""
    missing = []
    for piece in pieces:
        path = top / piece.path
        link = next(
            (place for place in (path, *path.parents) if place != top and place.is_relative_to(top) and place.is_symlink()), None
        )
        if link is not None:
            raise OutputError(f"{link} is a symbolic link; nothing was written", hint="put a file or a folder in its place")
        if path.is_file() and _says(path, piece.text):
            continue
        if path.exists() and not force:
            hint = "replace it with --force, or see with --dry-run or --stdout what would be written"
            raise OutputError(f"{path} is there already; nothing was written", hint=hint)
        missing.append(piece)
    return tuple(missing)


@contextmanager
def written(top: Path, pieces: tuple[Piece, ...]) -> Iterator[None]:
    """Write them. Where one cannot be written, or what is done with them fails, everything is as it was before. Raises
    OutputError, which names what could not be taken back."""
    before: dict[Path, bytes | None] = {}
    folders: list[Path] = []
    try:
        for piece in pieces:
            path = top / piece.path
            folders += _made(path.parent)
            before[path] = _bytes(path)
            deliver(piece.text, path)
        yield
    except BaseException as exc:
        left = _take_back(before, folders)
        if left:
            names = ", ".join(map(str, left))
            raise OutputError(f"{exc}; these could not be taken back: {names}", hint="look at them yourself") from exc
        if isinstance(exc, OutputError):
            raise OutputError(f"{exc.message}; nothing was written", hint="make it writable and try again") from exc
        raise


def _made(folder: Path) -> list[Path]:
    """Make a folder and those above it; which were made, the deepest last. Raises OutputError."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()][::-1]
    made: list[Path] = []
    try:
        for place in missing:
            place.mkdir()
            made.append(place)
    except OSError as exc:
        _remove(made)
        raise OutputError(f"cannot make {folder}: {exc.strerror}") from exc
    return made


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise OutputError(f"cannot read {path}: {exc.strerror}") from exc


def _says(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def _take_back(before: dict[Path, bytes | None], folders: list[Path]) -> list[Path]:
    """Put everything back; what could not be."""
    left = []
    for path, data in before.items():
        try:
            if data is None:
                path.unlink(missing_ok=True)
            elif path.read_bytes() != data:
                path.write_bytes(data)
        except OSError:
            left.append(path)
    _remove(folders)
    return left


def _remove(folders: list[Path]) -> None:
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:
            return  # somebody else has put something there meanwhile
