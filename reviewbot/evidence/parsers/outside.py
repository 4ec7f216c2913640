"""A parser of another package: what its entry point stands for. What such a function reads was written by code of the change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from reviewbot.evidence.parsers.remark import Remark
from reviewbot.evidence.parsers.trial import Trial


@dataclass(frozen=True, slots=True)
class RemarkParser:
    """Reads the report of a linter. ``read`` is given all of it and raises Unreadable. ``of`` is the package with its version,
    filled in where it is found."""

    read: Callable[[bytes], tuple[Remark, ...]] = field(repr=False)
    of: str = ""


@dataclass(frozen=True, slots=True)
class TrialParser:
    """Reads the report of a test runner: as above."""

    read: Callable[[bytes], tuple[Trial, ...]] = field(repr=False)
    of: str = ""


OutsideParser = RemarkParser | TrialParser
