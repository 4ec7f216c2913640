"""Where a command's words go: documents to stdout or a file, words for people to stderr."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from reviewbot.errors import OutputError


def deliver(document: str, output: Path | None = None) -> None:
    """Print a document, or write it to ``output`` whole or not at all. Raises OutputError."""
    text = document if document.endswith("\n") else document + "\n"
    if output is not None:
        _replace(output, text)
    elif sys.stdout is None:
        raise OutputError("standard output is closed", hint="name a file with -o")
    else:
        sys.stdout.write(text)


def say(words: str) -> None:
    """Tell a person something that is no document."""
    if sys.stderr is not None:
        print(words, file=sys.stderr)


def wants_color(choice: str, stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """``always`` and ``never`` are obeyed; ``auto`` means a terminal that is not dumb, and no ``NO_COLOR``.

    https://no-color.org: the variable counts where it is not empty.
    """
    if choice != "auto":
        return choice == "always"
    refused = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
    return stream is not None and stream.isatty() and not refused


def _replace(path: Path, text: str) -> None:
    """Write beside the file and rename over it; a device or a pipe is written to as it is."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = path.resolve()
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
            Path(name).chmod(mode)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as exc:
        raise OutputError(f"cannot write {path}: {exc.strerror}", hint="name another file with -o") from exc


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
