"""What every kind of check gives the runner: a job for one run, and what its outcome tells."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from reviewbot.domain.evidence import Side
from reviewbot.evidence.proof.runs import Told
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Experiment, Job, Outcome, Verification

Procedure = Generator[tuple[Job, ...], tuple[Outcome, ...], Verification]
"""The course of an experiment: it yields jobs that may run side by side, and is sent their outcomes in the same order."""


class Unfit(ValueError):
    """A check that cannot be run, with the reason in words."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What an experiment stands on. ``mended`` holds the files of head that read otherwise in a run: those of the fix."""

    experiment: Experiment
    view: View
    options: CheckOptions
    mended: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Method:
    """A kind of check. ``job`` makes the run at one side; it raises Unfit for a check that cannot be run at all. ``told`` reads
    an outcome of it."""

    job: Callable[[Ground, Side], Job]
    told: Callable[[Ground, Outcome, Side], Told]
