"""What is executed: the checks that a change deserves, and the experiments that a debate asks for."""

from __future__ import annotations

from collections.abc import Callable

from reviewbot.domain.counted import counted
from reviewbot.domain.debate import CheckOutcome
from reviewbot.domain.evidence import ANALYSERS, Ledger
from reviewbot.evidence import collect, plan, proof, sources
from reviewbot.evidence.match import Heard
from reviewbot.pipeline.material import Material
from reviewbot.pipeline.world import Run, Unremembered
from reviewbot.ports import Experiment, Progress, SessionState, Verification, WorkerLost
from reviewbot.publish import document, load
from reviewbot.publish.document_proof import proof_name


def begin(material: Material, run: Run) -> Callable[[], tuple[Ledger, float]]:
    """S0: what the checks say, or said when this debate was begun: who resumes it sees the same.

    Begun here, and asked for when it is needed. Also the seconds that would be saved if all checks could run at once."""
    session = run.world.session
    if (kept := session.recall("evidence")) is not None:
        run.world.observer.saw(Progress("evidence", "taken from the debate that is resumed"))
        session.keep("evidence", kept, SessionState.IN_DEBATE)
        return lambda: (load.load_evidence(document.dumps(kept)), 0.0)
    session.keep("checking", {}, SessionState.CHECKING)
    reading = run.world.worker.begin(sources.hear, sources.ends(material.view))

    def evidence() -> tuple[Ledger, float]:
        ledger, overlapped = _examined(material, reading, run)
        if isinstance(session, Unremembered):
            return ledger, overlapped
        written = document.evidence_document(ledger, material.change.revisions)
        # Analysers that were lost are worth another try: who resumes the debate shall not find them lost for ever.
        whole = all(check.ran for check in ledger.checks if check.name == ANALYSERS)
        session.keep("evidence" if whole else "evidence without analysers", written, SessionState.IN_DEBATE)
        return ledger, overlapped

    return evidence


def verified(wanted: Experiment, material: Material, run: Run) -> Verification | None:
    """What an experiment shows, or showed when this debate was begun; ``None`` where that is awaited."""
    world, name = run.world, proof_name(wanted)
    if (kept := world.session.recall(name)) is not None:
        return load.load_verification(document.dumps(kept))
    if world.elsewhere is not None:
        return world.elsewhere(wanted)
    shown = run.bench.conduct(proof.conduct(wanted, material.view, run.options.checks))
    whole = shown.check.outcome is not CheckOutcome.NOT_RUN and not run.bench.is_closed
    if whole:  # time or a program may be there another day
        world.session.keep(name, document.verification_document(shown))
    return shown


def _examined(material: Material, reading: Callable[[float], Heard], run: Run) -> tuple[Ledger, float]:
    """The checks that the change deserves, run at base and head."""
    world, options = run.world, run.options
    planned = plan.plan(material.view, options.checks)
    began = world.clock.seconds()
    outcomes = run.bench.run(planned.jobs)
    waited = world.clock.seconds() - began
    try:
        read = reading(run.deadline.left())
    except WorkerLost as exc:
        read = sources.unheard(str(exc))
    ledger = collect.collect(material.view, planned, outcomes, read=read, options=options.checks)
    world.observer.saw(Progress("evidence", f"{counted(len(ledger.items), 'result')}, {len(ledger.new())} new"))
    return ledger, max(waited - max((outcome.seconds for outcome in outcomes), default=waited), 0.0)
