"""Read TAP, the Test Anything Protocol, 12 to 14, as node, bats, prove and tape print it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from reviewbot.checks.readers.output import reason_of, text_of
from reviewbot.checks.report import Report, TestOutcome
from reviewbot.sandbox.job import Completed

TEST = re.compile(
    r"^(?P<indent> *)(?P<not>not )?ok\b(?: +(?P<number>\d+))?(?: +-)?(?: +(?P<name>[^#\n]*?))?"
    r"(?: +# *(?P<directive>SKIP|TODO)\b.*)?(?: +#.*)?$",
    re.IGNORECASE,
)
SUBTEST = re.compile(r"^(?P<indent> *)# Subtest: (?P<name>.*)$")
PLAN = re.compile(r"^1\.\.(\d+)\b(?! *#)")
BAIL_OUT = re.compile(r"^ *Bail out! *(.*)$", re.IGNORECASE)
MESSAGE = re.compile(r"^ +(?:error|message): *(.*)$")


def read(completed: Completed) -> Report:
    """Raises ValueError if there is neither a test nor a plan."""
    lines = text_of(completed).splitlines()
    tests = tuple(_tests(lines))
    plans = [int(match[1]) for line in lines if (match := PLAN.match(line))]
    if not tests and not plans:
        raise ValueError(reason_of(completed) or "printed no TAP")
    problem = next((f"bailed out: {m[1]}" for line in lines if (m := BAIL_OUT.match(line))), "")
    count = sum(1 for line in lines if (match := TEST.match(line)) and not match["indent"])
    if plans and count < plans[0] and not problem:
        problem = f"planned {plans[0]} tests, ran {count}"
    return Report(tests=tests, problem=problem)


def _tests(lines: list[str]) -> Iterator[TestOutcome]:
    """The tests without children. Names of their parents come before their own."""
    parents: list[tuple[int, str]] = []
    has_children: set[tuple[str, ...]] = set()
    matches = enumerate(SUBTEST.match(line) or TEST.match(line) for line in lines)
    found = [(number, match) for number, match in matches if match]
    for count, (number, match) in enumerate(found, start=1):
        depth, name = len(match["indent"]), (match["name"] or "").strip()
        parents = [parent for parent in parents if parent[0] < depth]
        path = tuple(parent for _, parent in parents)
        if match.re is SUBTEST:
            parents.append((depth, name))
        elif match[0].rstrip().endswith("{"):  # before version 14, subtests follow between brackets
            parents.append((depth, name.rstrip("{ ")))
        else:
            has_children.add(path)
            if (*path, name) not in has_children:
                name = name or f"test {match['number'] or count}"
                yield _test(match, "::".join((*path, name)), lines, number)


def _test(match: re.Match[str], id: str, lines: list[str], number: int) -> TestOutcome:
    outcome: Literal["passed", "failed", "skipped"] = "failed" if match["not"] else "passed"
    if match["directive"]:
        outcome = "skipped"
    message = ""
    if outcome == "failed":
        detail = lines[number + 1 : number + 20]
        found = (m[1] for line in detail if (m := MESSAGE.match(line)))
        message = next(found, "").strip("'\"|- ")
    return TestOutcome(id=id, outcome=outcome, message=message)
