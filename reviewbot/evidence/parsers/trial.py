"""What test runners say, in nobody's format: a trial is one test that ran, or could not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TestOutcome(StrEnum):
    """How a test ended. ``unfinished`` began and never did."""

    __test__ = False

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Trial:
    """One test. ``id`` tells it from every other of the run and is the same when the run is repeated.

    ``file`` and ``line`` (1-based) are where the test stands or failed, empty and 0 where the runner does not say. ``message``
    is what a failure says first, ``text`` all it said. ``is_group`` marks what stands for a file or package as a whole, such as
    one that could not be built.
    """

    id: str
    outcome: TestOutcome
    file: str = ""
    line: int = 0
    message: str = ""
    text: str = ""
    is_group: bool = False
