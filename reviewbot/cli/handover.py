"""The documents that go from one command to another: files of a folder, read bounded and written whole."""

from __future__ import annotations

import json
from pathlib import Path

from reviewbot.cli.options import ReviewArguments
from reviewbot.cli.output import deliver, say
from reviewbot.errors import OutputError, UsageError

CHANGESET = "changeset.json"
EVIDENCE = "evidence.json"
EXPERIMENTS = "experiments.json"
VERIFICATIONS = "verifications.json"
REVIEW = "review.json"


def read(path: Path, most: int) -> bytes:
    """A document's bytes. Raises UsageError where it cannot be read, or has more than ``most``."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as exc:
        raise UsageError(f"cannot read {path}: {exc.strerror}", hint="name a file that can be read") from exc
    if len(data) > most:
        raise UsageError(f"{path} has more than {most:,} bytes", hint="no document of reviewbot is so large")
    return data


def write(folder: Path, name: str, document: str) -> Path:
    """Write a document into a folder, which is made. What lies there under that name is replaced, never followed: a change may
    have planted a symbolic link. Raises OutputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise OutputError(f"cannot make the folder {folder}: {exc.strerror}", hint="name another one with --out") from exc
    path = folder / name
    if path.is_symlink():
        raise OutputError(f"{path} is a symbolic link", hint="remove it, or name another folder with --out")
    deliver(document, path)
    return path


def tell(arguments: ReviewArguments, *words: str) -> None:
    """Say what was done and what comes next, as progress is told: nothing where it is to be quiet."""
    for line in words if not arguments.quiet else ():
        notice = {"event": "notice", "stage": "documents", "at": 0.0, "text": line}
        say(json.dumps(notice) if arguments.log_format == "json" else line)


def take_away(folder: Path, name: str) -> None:
    """Remove a document of an earlier run that the one just written contradicts. Raises OutputError."""
    try:
        (folder / name).unlink(missing_ok=True)
    except OSError as exc:
        raise OutputError(f"cannot remove {folder / name}: {exc.strerror}", hint="it is out of date: remove it") from exc
