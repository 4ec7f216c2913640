"""Read `path:line:column: error: message [rule]`, as compilers and linters print it.

The TypeScript compiler prints `path(line,column): error RULE: message`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.checks.readers.output import LEVELS, diagnostic, reason_of, text_of
from reviewbot.checks.report import Diagnostic, Report
from reviewbot.sandbox.job import Completed

# The GNU coding standards, "Formatting Error Messages"; the level and the rule are customs.
LINE = re.compile(
    r"^(?P<path>[^\s:][^:\n]{0,1000}?)[:(](?P<line>\d{1,7})(?:[:,](?P<column>\d{1,7}))?\)?"
    r"(?:-\d+(?::\d+)?)?:\s?(?:(?P<level>\w+)(?::|(?=\s[A-Z]+\d+:))\s)?(?P<message>.{1,2000}?)"
    r"(?:\s\[(?P<rule>[\w./:-]{1,100})\])?\r?$",
    re.MULTILINE,
)
CODE = re.compile(r"^(?P<rule>[A-Z]{1,10}\d{2,6})\b:?\s+(?P<message>.+)$")


def read(completed: Completed) -> Report:
    """Raises ValueError if the command failed and printed something else."""
    found = tuple(diagnostics(text_of(completed)))
    # A program that crashed names lines of its own.
    is_read = any(d.location and not d.location.path.startswith("/") for d in found)
    if completed.exit_code and not is_read and reason_of(completed):
        raise ValueError(reason_of(completed))
    return Report(diagnostics=found)


def diagnostics(text: str) -> Iterator[Diagnostic]:
    for match in LINE.finditer(text):
        level, message, rule = match["level"] or "", match["message"], match["rule"] or ""
        if level == "note":  # explains the line before it
            continue
        if not rule and (code := CODE.match(message)):
            rule, message = code["rule"], code["message"]
        if level and level.lower() not in LEVELS:
            message = f"{level}: {message}"
        yield diagnostic(rule or level, message, level, match["path"], int(match["line"]))
