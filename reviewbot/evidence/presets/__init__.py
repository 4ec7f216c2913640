"""The checks that need no configuration: each is found in the tree, and run where its program is installed.

A preset is a value in one of these modules and a line here. ``ruff`` and ``pytest`` have modules of their own (``lint``,
``suite``), since they tell more than a line; so have PostgreSQL ``migrations``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from reviewbot.evidence.coverage import Measurement
from reviewbot.evidence.presets import custom, go, infrastructure, javascript, python, shell
from reviewbot.evidence.suites import Suite
from reviewbot.evidence.tools import Tool
from reviewbot.evidence.view import CheckOptions, View

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        python.MYPY,
        python.PYRIGHT,
        go.VET,
        go.GOLANGCI,
        javascript.ESLINT,
        javascript.TSC,
        shell.SYNTAX,
        shell.SHELLCHECK,
        infrastructure.SQLFLUFF,
        infrastructure.ZIZMOR,
        infrastructure.ACTIONLINT,
        infrastructure.HADOLINT,
    )
}
SUITES: Mapping[str, Callable[[View], Suite]] = {"go-test": lambda _: go.TEST, "npm-test": javascript.suite_for}


def chosen(view: View, options: CheckOptions) -> Iterator[Tool | Suite | Measurement]:
    """What is wanted and has something in the change: presets, then the user's own."""
    for name in options.presets:
        if tool := TOOLS.get(name):
            yield tool
        elif suite := SUITES.get(name):
            yield suite(view)
    yield from map(custom.check, options.custom)
