"""What a step says to the runner: workflow commands in its output, and the files named by GITHUB_OUTPUT, GITHUB_ENV and others.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

COMMAND = re.compile(r"^::(?P<name>[A-Za-z-]+)(?: (?P<properties>[^\n]*?))?::(?P<text>.*)$")
LEVELS = ("error", "warning", "notice", "debug")
MOST_SUMMARY_BYTES = 1024 * 1024


class FileError(ValueError):
    """A file that the runner refuses; the step fails."""


@dataclass(frozen=True)
class Annotation:
    """``::error file=a.py,line=3::text``."""

    level: str
    text: str
    properties: dict[str, str] = field(default_factory=dict)


def annotated(log: str) -> list[Annotation]:
    """The annotations in a step's output; between ``::stop-commands::`` and its end nothing is a command."""
    found: list[Annotation] = []
    ending = ""
    for line in log.splitlines():
        match = COMMAND.match(line.strip())
        if ending:
            ending = "" if match and match["name"] == ending else ending
        elif match and match["name"] == "stop-commands":
            ending = match["text"]
        elif match and match["name"] in LEVELS:
            found.append(Annotation(match["name"], unescaped(match["text"]), properties(match["properties"] or "")))
    return found


def properties(text: str) -> dict[str, str]:
    pairs = (word.partition("=") for word in text.split(",") if word)
    return {name.strip(): unescaped(value).replace("%3A", ":").replace("%2C", ",") for name, _, value in pairs}


def unescaped(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def assignments(text: str) -> dict[str, str]:
    """``NAME=value`` lines and ``NAME<<END`` blocks. Raises FileError as the runner does."""
    found: dict[str, str] = {}
    lines = iter(text.split("\n"))
    for line in lines:
        line = line.rstrip("\r")
        if not line:
            continue
        equals, block = line.find("="), line.find("<<")
        if block > 0 and (equals < 0 or block < equals):
            found[line[:block]] = _block(lines, line[block + 2 :])
        elif equals > 0:
            found[line[:equals]] = line[equals + 1 :]
        else:
            raise FileError(f"Invalid format {line!r}")
    return found


def _block(lines: object, end: str) -> str:
    held: list[str] = []
    for line in lines:  # type: ignore[attr-defined]
        if line.rstrip("\r") == end:
            return "\n".join(held)
        held.append(line)
    raise FileError(f"Invalid value. Matching delimiter not found {end!r}")


def summary(data: bytes) -> str:
    """The summary that a step left; the runner drops one that is too long. Raises FileError."""
    if len(data) > MOST_SUMMARY_BYTES:
        raise FileError("$GITHUB_STEP_SUMMARY upload aborted, supports content up to a size of 1024k")
    return data.decode("utf-8", "replace")
