"""Where words go: documents to standard output or a file, words for people to standard error."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from reviewbot.cli.options import is_given

if TYPE_CHECKING:
    from reviewbot.reports.style import Style


def say(line: str) -> None:
    """Print a line for people, without secrets and without what steers a terminal."""
    from reviewbot.text.plain import plain
    from reviewbot.text.secrets import redact

    with suppress(BrokenPipeError):
        click.echo(plain(redact(line)[0]), err=True)


def deliver(document: str, file: Path | None) -> None:
    """Print a document, or write it to a file as a whole. Raises ReviewbotError."""
    from reviewbot.state import write_file

    text = document if document.endswith("\n") or not document else f"{document}\n"
    if file is None:
        # A surrogate stands for a byte of a file name that is not UTF-8.
        print(text.encode("utf-8", "backslashreplace").decode(), end="", flush=True)
    elif file.exists() and not file.is_file():  # a device or a pipe
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
    else:
        umask = os.umask(0o022)
        os.umask(umask)
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o666 & ~umask
        write_file(file.resolve(), text.encode("utf-8", "backslashreplace"), mode)


def uses_color(stream: TextIO) -> bool:
    """--color, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal that has colours."""
    choice = click.get_current_context().meta.get("reviewbot.color") or "auto"
    if choice != "auto":
        return bool(choice == "always")
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def style_for(file: Path | None = None) -> Style:
    """How to print a report, to standard output or into a file."""
    from reviewbot.reports.style import Style

    return Style(
        color=file is None and uses_color(sys.stdout),
        width=width(),
        verbose=is_given("verbose"),
        quiet=is_given("quiet"),
    )


def width() -> int:
    """Columns for text: those of the terminal, or 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100
