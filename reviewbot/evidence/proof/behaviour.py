"""Does a function do at head what it did at base? Arguments for which it does not are searched for, and then tried.

A difference counts only where calls in fresh processes, twice at each end, show it.
"""

from __future__ import annotations

from dataclasses import replace

from reviewbot.domain.debate import CheckOutcome
from reviewbot.domain.evidence import Side
from reviewbot.evidence import shown
from reviewbot.evidence.parsers import formal as report
from reviewbot.evidence.parsers.formal import Called, Counterexample, Searched, Unable
from reviewbot.evidence.proof import fixed, formal
from reviewbot.evidence.proof.method import Ground, Procedure, Unfit
from reviewbot.evidence.proof.runs import TIMES
from reviewbot.ports import Outcome, Verification


def conduct(ground: Ground) -> Procedure:
    """Search, then replay at base, at head, and at head with the fix."""
    experiment, check = ground.experiment, ground.experiment.check
    path, name = formal.place(check.subject)
    file = ground.view.change.file(path)
    older = file.base_path if file else path
    if older is None:
        raise Unfit(f"{path} is new: there is no earlier behaviour")
    function = {"path": path, "function": name}
    searched = yield from formal.search("behaviour", {**function, "base_path": older})
    found, python = searched.results[0], searched.python
    if isinstance(found, Searched | Unable):
        ended = CheckOutcome.NONE_FOUND if isinstance(found, Searched) else CheckOutcome.NOT_RUN
        return Verification(replace(check, outcome=ended), formal.told(found))
    if not isinstance(found, Counterexample):
        raise Unfit("the search ended in an unknown way")
    call = {"arguments": list(found.arguments)}
    mended = fixed.overlay(ground.view, experiment.fix)
    turns = range(1, TIMES + 1)
    before = {"path": older, "function": name, **call}
    at_base = tuple(formal.replay(f"base:{turn}", before, Side.BASE, python=python) for turn in turns)
    at_head = tuple(formal.replay(f"head:{turn}", {**function, **call}, Side.HEAD, python=python) for turn in turns)
    with_fix = (
        tuple(formal.replay(f"fix:{turn}", {**function, **call}, Side.HEAD, python=python, overlay=mended) for turn in turns)
        if mended
        else ()
    )
    outcomes = yield (*at_base, *at_head, *with_fix)
    base, head, fix = _calls(outcomes[:TIMES]), _calls(outcomes[TIMES : 2 * TIMES]), _calls(outcomes[2 * TIMES :])
    differs = report.differ(base, head)
    text = shown.excerpt(_words(name, found, base=base, head=head))
    outcome_of = CheckOutcome.FAILS_AT_HEAD if differs else CheckOutcome.UNSTABLE
    mends = None if not mended else len(fix) == TIMES and not any(one.differs(base[0]) for one in fix)
    return Verification(replace(check, outcome=outcome_of), text, mends if differs else None)


def _calls(outcomes: tuple[Outcome, ...]) -> tuple[Called, ...]:
    return tuple(one for outcome in outcomes if isinstance(one := formal.replayed(outcome), Called))


def _words(name: str, found: Counterexample, *, base: tuple[Called, ...], head: tuple[Called, ...]) -> str:
    call = f"{name}({', '.join(found.arguments)})"
    if not (base and head):
        return f"{call} could not be called again"
    return f"{call}\nbase: {_all(base[0])}\nhead: {_all(head[0])}\nfound by {found.by}"


def _all(called: Called) -> str:
    """The ending, and what else a caller sees."""
    seen = [f"{name} holds {text} afterwards" for name, text in called.mutated]
    seen += [f"prints {called.printed}"] if called.printed else []
    return "; ".join((called.words, *seen))
