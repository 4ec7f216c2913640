"""Checks of the user's own: a command, and the format of what it reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reviewbot.evidence.coverage import Measurement
from reviewbot.evidence.parsers import (
    actionlint,
    checkstyle,
    eslint,
    gnu,
    hadolint,
    junit,
    mypy,
    pattern,
    pyright,
    rdjson,
    ruff,
    sarif,
    shellcheck,
    sqlfluff,
    tap,
    tsc,
    zizmor,
)
from reviewbot.evidence.parsers.outside import RemarkParser, TrialParser
from reviewbot.evidence.parsers.remark import Remark
from reviewbot.evidence.parsers.trial import Trial
from reviewbot.evidence.presets import go
from reviewbot.evidence.suites import Suite, by_bytes, by_exit_code
from reviewbot.evidence.tools import Tool
from reviewbot.evidence.view import Custom

ANY_CODE = tuple(range(126))
"""A linter of the user's own may end with any number; whether it worked is told by its report."""

REMARKS: Mapping[str, Callable[[bytes], tuple[Remark, ...]]] = {
    "sarif": sarif.read,
    "rdjson": rdjson.read,
    "rdjsonl": rdjson.read_lines,
    "checkstyle": checkstyle.read,
    "ruff": ruff.read,
    "mypy": mypy.read,
    "pyright": pyright.read,
    "eslint": eslint.read,
    "shellcheck": shellcheck.read,
    "gnu": gnu.read,
    "tsc": tsc.read,
    "hadolint": hadolint.read,
    "zizmor": zizmor.read,
    "actionlint": actionlint.read,
    "sqlfluff": sqlfluff.read,
}
"""Formats of remarks. ``regex`` is the one that needs an expression."""

TRIALS: Mapping[str, Callable[[bytes], tuple[Trial, ...]]] = {
    "junit": junit.read,
    "tap": tap.read,
}
"""Formats of tests. ``go-test`` is read from both streams, ``exit-code`` needs no report at all."""


def check(custom: Custom) -> Tool | Suite | Measurement:
    """A configured check as what it is. Raises pattern.BadPattern for an expression that cannot be used."""
    report = custom.report
    if custom.parser == "coverage-xml":
        return Measurement(custom.name, custom.run, custom.files, report)
    if custom.parser == "exit-code":
        return Suite(custom.name, custom.run, by_exit_code, custom.files)
    if custom.parser == "go-test":
        return Suite(custom.name, custom.run, go.read_tests, custom.files)
    read = _trials(custom)
    if read is not None:
        return Suite(custom.name, custom.run, by_bytes(read, report), custom.files, report=report)
    return Tool(custom.name, custom.run, _remarks(custom), custom.files, codes=ANY_CODE, report=report, telling=False)


def _trials(custom: Custom) -> Callable[[bytes], tuple[Trial, ...]] | None:
    """What reads tests; ``None`` for a parser of remarks."""
    return custom.outside.read if isinstance(custom.outside, TrialParser) else TRIALS.get(custom.parser)


def _remarks(custom: Custom) -> Callable[[bytes], tuple[Remark, ...]]:
    if isinstance(custom.outside, RemarkParser):
        return custom.outside.read
    return pattern.reader(custom.pattern) if custom.parser == "regex" else REMARKS[custom.parser]
