"""A specification as a check: arguments for which one of its conditions does not hold at head are searched for.

A counter-example counts only where calls in fresh processes, twice at each end, break the condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reviewbot.domain.debate import CheckOutcome
from reviewbot.domain.evidence import Side
from reviewbot.evidence import shown
from reviewbot.evidence.parsers.formal import Counterexample, Judged, Searched, Unable
from reviewbot.evidence.proof import fixed, formal
from reviewbot.evidence.proof.method import Ground, Procedure
from reviewbot.evidence.proof.runs import TIMES, Told, passes_with, together
from reviewbot.ports import Job, Outcome, Verification


def conduct(ground: Ground) -> Procedure:
    """Search, then replay at head, at base, and at head with the fix."""
    experiment, check = ground.experiment, ground.experiment.check
    spec = _claimed(ground)
    searching = yield from formal.search("contract", spec)
    results, python = searching.results, searching.python
    found = next((result for result in results if isinstance(result, Counterexample)), None)
    if found is None:
        searched = [result for result in results if isinstance(result, Searched | Unable)]
        whole = all(isinstance(result, Searched) for result in searched)
        text = "\n".join(f"{result.condition}: {formal.told(result)}".removeprefix(": ") for result in searched)
        ended = CheckOutcome.NONE_FOUND if whole else CheckOutcome.NOT_RUN
        return Verification(replace(check, outcome=ended), shown.excerpt(text))
    again = {**spec, "condition": found.calls, "arguments": list(found.arguments)}
    mended = fixed.overlay(ground.view, experiment.fix)
    fix = _jobs("fix", again, Side.HEAD, python=python, overlay=mended) if mended else ()
    outcomes = yield (*_jobs("head", again, Side.HEAD, python=python), *_jobs("base", again, Side.BASE, python=python), *fix)
    told = [_told(outcome) for outcome in outcomes]
    at_head, at_base, with_fix = told[:TIMES], told[TIMES : 2 * TIMES], told[2 * TIMES :]
    call = f"{found.calls or check.subject}({', '.join(found.arguments)})"
    text = "\n".join((f"{call} breaks the condition, found by {found.by}", at_head[0].text))
    return Verification(replace(check, outcome=together(at_head, at_base, with_fix)), shown.excerpt(text), passes_with(with_fix))


def _claimed(ground: Ground) -> dict[str, Any]:
    """The specification that was written, or the contract in the code itself. Raises Unfit."""
    check = ground.experiment.check
    if check.source:
        return {"spec": check.source}
    path, name = formal.place(check.subject)
    return {"path": path, "function": name, "contract": True}


def _jobs(where: str, spec: Mapping[str, Any], side: Side, *, python: str, overlay: formal.Overlay = ()) -> tuple[Job, ...]:
    return tuple(formal.replay(f"{where}:{turn}", spec, side, python=python, overlay=overlay) for turn in range(1, TIMES + 1))


def _told(outcome: Outcome) -> Told:
    judged = formal.replayed(outcome)
    if not isinstance(judged, Judged) or judged.skipped or judged.holds is None:
        return Told(None)
    return Told(judged.holds, f"{judged.raises} {judged.message}".strip())
