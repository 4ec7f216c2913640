"""What is kept of a bug in reviewbot itself: a report that a person can read through and paste."""

from __future__ import annotations

import os
import platform
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from reviewbot import __version__
from reviewbot.screen import secrets
from reviewbot.wiring.places import state_directory


def report(error: Exception, arguments: Sequence[str]) -> str:
    """Write the report and return the one line that says where it is."""
    place = _place(error)
    text, _ = secrets.redact(_text(error, arguments))
    written = _write(text)
    where = f"the report is in {written}, please attach it" if written else "no report could be written"
    return f"this is a bug in reviewbot: {type(error).__name__}{place}; {where}"


def _text(error: Exception, arguments: Sequence[str]) -> str:
    """Version, platform, arguments and traceback; nothing of the environment."""
    trace = "".join(traceback.format_exception(error))
    return (
        f"reviewbot {__version__}\n"
        f"Python {platform.python_version()} on {platform.platform()}\n"
        f"arguments: {list(arguments)!r}\n\n{trace}"
    )


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def _write(text: str) -> str | None:
    """A new file that only its owner reads: in the state directory, else among temporary files."""
    for folder in (state_directory(os.environ) / "crashes", Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(prefix="reviewbot-crash-", suffix=".txt", dir=folder)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return name
    return None
