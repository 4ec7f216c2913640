"""What equal runs of a check at both ends show together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviewbot.domain.debate import CheckOutcome

TIMES = 2
"""A check is run so often at each end: one run may be chance."""


@dataclass(frozen=True, slots=True)
class Told:
    """One run. ``passes`` is ``None`` where it did not come to tell; ``text`` is what it said; ``related`` is false where it is
    known that the run did not touch what the claim is about."""

    passes: bool | None
    text: str = ""
    related: bool = True


def together(head: Sequence[Told], base: Sequence[Told], fixed: Sequence[Told] = ()) -> CheckOutcome:
    """One word for all runs. A run that did not tell leaves its side open."""
    at_head, at_base = _side(head), _side(base)
    if _is_torn(head) or (at_head is False and _is_torn(base)):
        return CheckOutcome.UNSTABLE
    if at_head is None:
        return CheckOutcome.NOT_RUN
    related = any(run.related for run in head)
    if at_head:
        return CheckOutcome.PASSES_AT_HEAD if related else CheckOutcome.UNRELATED
    if at_base:
        return CheckOutcome.FAILS_AT_HEAD if related else CheckOutcome.UNRELATED
    if _side(fixed):
        return CheckOutcome.PASSES_WITH_FIX
    return CheckOutcome.NOT_RUN if at_base is None else CheckOutcome.FAILS_AT_BOTH


def passes_with(fixed: Sequence[Told]) -> bool | None:
    """Whether it passes with the fix each time; ``None`` where no run told."""
    told = [run.passes for run in fixed if run.passes is not None]
    return None if not told else len(told) == len(fixed) and all(told)


def _side(runs: Sequence[Told]) -> bool | None:
    """What all runs of one end say, ``None`` where they do not say one thing."""
    said = {run.passes for run in runs}
    return said.pop() if len(said) == 1 else None


def _is_torn(runs: Sequence[Told]) -> bool:
    return {run.passes for run in runs} >= {True, False}
