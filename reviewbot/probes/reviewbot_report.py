"""The frame of a search or a replay: a SPEC of JSON is read, and a REPORT of JSON lines written.

``KEY=FOLDER`` on the command line goes into the SPEC, because where a tree stands may be known only there. The last line of a
report is ``{"type": "finish"}``, so that a run cut off shows.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

MAX_REASON = 500
Spec = dict[str, Any]


class Unable(Exception):
    """Nothing can be said, with a code and the reason in words."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Report:
    """The file, appended to line by line."""

    def __init__(self, path: str) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def say(self, kind: str, **fields: Any) -> None:
        """One line."""
        os.write(self._handle, json.dumps({"type": kind, **fields}).encode("ascii") + b"\n")

    def unable(self, exc: Unable, **fields: Any) -> None:
        """Say why nothing can be said."""
        words = exc.reason.encode("ascii", "backslashreplace").decode("ascii").replace("\0", "\\x00")
        self.say("unable", code=exc.code, reason=words[:MAX_REASON], **fields)


def run(check: Callable[[Spec, Report], None], needed: tuple[str, ...], words: list[str]) -> int:
    """Let ``check`` write the report that the command line asks for; the exit code. ``needed`` are keys of the SPEC."""
    try:
        spec_path, report_path, *folders = words
        with open(spec_path, encoding="utf-8") as file:
            spec = json.load(file)
        spec.update(folder.split("=", 1) for folder in folders)
        missing = [key for key in needed if key not in spec]
        if missing:
            raise ValueError(f"it has no {', '.join(missing)}")
        report = Report(report_path)
    except (OSError, ValueError, AttributeError) as exc:
        print(f"SPEC and REPORT are wanted, and the SPEC cannot be used: {exc}", file=sys.stderr)
        return 2
    try:
        check(spec, report)
    except Unable as exc:
        report.unable(exc)
    report.say("finish")
    return 0
