"""Tests that the change broke: on which of them a claim stands, and how they are run again to prove it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from reviewbot.debate.numbers import CLUSTER_LINES
from reviewbot.domain.debate import Check, CheckKind, Claim
from reviewbot.domain.evidence import Evidence, Ledger

PYTEST = "pytest"
"""The tool whose tests are run again by their ids; those of other suites by their commands."""


class Placed(Protocol):
    """What points at lines of a file: a claim, or a finding."""

    @property
    def path(self) -> str:
        """The file."""

    @property
    def start_line(self) -> int:
        """The first line, 0 for the whole file."""

    @property
    def line(self) -> int:
        """The last line."""


def is_at(place: Placed, item: Evidence) -> bool:
    """The item is a test that the change broke, and it fails for that place: the line of a failure is made out to a few lines.

    Whoever raises a claim may cite anything. A test that broke elsewhere proves nothing of it, and neither does the author's
    word (``is_executed_proof``)."""
    result = item.result
    if not item.is_executed_proof or result.path != place.path or bool(result.line) != bool(place.line):
        return False
    return place.start_line - CLUSTER_LINES <= result.line <= place.line + CLUSTER_LINES


def stood_on(claims: Sequence[Claim], ledger: Ledger) -> tuple[Evidence, ...]:
    """The broken tests that claims about one thing cite, at the place of the one that speaks for them."""
    cited = dict.fromkeys(name for claim in claims for name in claim.evidence)
    items = (item for name in cited if (item := ledger.item(name)))
    return tuple(item for item in items if is_at(claims[0], item))


def again(item: Evidence) -> Check | None:
    """The test as a check: a failing test is its own. ``None`` where nothing says how it is run."""
    result = item.result
    if result.tool == PYTEST and result.subject:
        return Check((PYTEST, result.subject), subject=result.subject)
    return Check(result.command, subject=result.subject, kind=CheckKind.COMMAND) if result.command else None
