"""Claims made executable: each check is run at both ends, twice, and with the proposed fix; what the runs say is one outcome.

A kind of check is one file with a :class:`Method`, or with a procedure of its own, and a line in the tables below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from reviewbot.domain.debate import CheckKind, CheckOutcome
from reviewbot.domain.evidence import Side
from reviewbot.evidence import shown
from reviewbot.evidence.plan import why_not
from reviewbot.evidence.proof import behaviour, benchmark, command, contract, fixed, rule, script, tests
from reviewbot.evidence.proof.method import Ground, Method, Procedure, Unfit
from reviewbot.evidence.proof.runs import TIMES, Told, passes_with, together
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Experiment, Job, Verification

__all__ = ["Procedure", "conduct"]

METHODS: Mapping[CheckKind, Method] = {
    CheckKind.TEST: tests.METHOD,
    CheckKind.SCRIPT: script.METHOD,
    CheckKind.COMMAND: command.METHOD,
    CheckKind.RULE: rule.METHOD,
    CheckKind.TYPES: rule.METHOD,
}
PROCEDURES: Mapping[CheckKind, Callable[[Ground], Procedure]] = {
    CheckKind.BEHAVIOUR: behaviour.conduct,
    CheckKind.CONTRACT: contract.conduct,
    CheckKind.BENCHMARK: benchmark.conduct,
}


def conduct(experiment: Experiment, view: View, options: CheckOptions) -> Procedure:
    """The course of an experiment. Returns what it showed; a check that cannot be run says why."""
    ground = Ground(experiment, view, options)
    if reason := why_not(view, options):
        return _unrun(experiment, f"it could not be run here: {reason}")
    try:
        if procedure := PROCEDURES.get(experiment.check.kind):
            return (yield from procedure(ground))
        return (yield from _compared(ground, METHODS[experiment.check.kind]))
    except Unfit as exc:
        return _unrun(experiment, str(exc))


def _compared(ground: Ground, method: Method) -> Procedure:
    """Twice at head, twice at base, and twice at head with the fix."""
    experiment = ground.experiment
    mended = fixed.overlay(ground.view, experiment.fix)
    head = _runs(method.job(ground, Side.HEAD), "head")
    base = _runs(method.job(ground, Side.BASE), "base")
    fix = tuple(replace(job, overlay=(*mended, *job.overlay)) for job in _runs(head[0], "fix")) if mended else ()
    outcomes = yield (*head, *base, *fix)
    fixed_ground = replace(ground, mended=dict(mended))
    ends = (*((ground, Side.HEAD),) * TIMES, *((ground, Side.BASE),) * TIMES, *((fixed_ground, Side.HEAD),) * len(fix))
    told = [method.told(here, outcome, side) for outcome, (here, side) in zip(outcomes, ends, strict=True)]
    at_head, at_base, with_fix = told[:TIMES], told[TIMES : 2 * TIMES], told[2 * TIMES :]
    outcome = together(at_head, at_base, with_fix)
    text = shown.excerpt(next(_texts(at_head, outcome), ""))
    return Verification(replace(experiment.check, outcome=outcome), text, passes_with(with_fix))


def _runs(job: Job, where: str) -> tuple[Job, ...]:
    return tuple(replace(job, name=f"proof:{where}:{turn}") for turn in range(1, TIMES + 1))


def _texts(runs: Sequence[Told], outcome: CheckOutcome) -> Iterator[str]:
    """What to show: a failing run's words, else any."""
    if outcome is not CheckOutcome.PASSES_AT_HEAD:
        yield from (run.text for run in runs if run.passes is False and run.text)
    yield from (run.text for run in runs if run.text)


def _unrun(experiment: Experiment, reason: str) -> Verification:
    return Verification(replace(experiment.check, outcome=CheckOutcome.NOT_RUN), reason)
