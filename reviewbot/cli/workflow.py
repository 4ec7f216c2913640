"""What a workflow run understands: outputs, annotations, its summary. Values can end neither their line nor their block."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from reviewbot.errors import OutputError

MOST_SUMMARY_BYTES = 1_000_000
"""GitHub drops a step's summary above 1 MiB."""


def outputs(values: Mapping[str, str]) -> str:
    """The text for ``$GITHUB_OUTPUT``: every value as a block whose end nobody can foresee."""
    end = f"reviewbot-{secrets.token_hex(16)}"
    return "".join(f"{name}<<{end}\n{value}\n{end}\n" for name, value in values.items())


def annotate(level: str, message: str, **place: object) -> str:
    """A workflow command (``notice``, ``warning``, ``error``), escaped as the runner unescapes it."""
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in place.items())
    return f"::{level}{' ' if properties else ''}{properties}::{_data(message)}"


def append(path: str, text: str) -> None:
    """Add text to one of the runner's files; where there is none, nothing. Raises OutputError."""
    if not path or not text:
        return
    data = text.encode("utf-8", "replace")[:MOST_SUMMARY_BYTES]
    try:
        with Path(path).open("ab") as file:
            file.write(data)
    except OSError as exc:
        raise OutputError(f"cannot write {path}: {exc.strerror}", hint="the runner names it in the environment") from exc


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
