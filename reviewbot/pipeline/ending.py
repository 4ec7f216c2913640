"""What becomes of it all: one review."""

from __future__ import annotations

from dataclasses import replace

from reviewbot import __version__
from reviewbot.changeset import select
from reviewbot.consensus import carry, dismissed, policy
from reviewbot.domain.debate import Transcript
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.review import Conclusion, Finding, Review, Timing, Verdict
from reviewbot.pipeline.material import Chosen
from reviewbot.pipeline.past import Past
from reviewbot.pipeline.world import Identity
from reviewbot.ports import SessionState

ENDS = {
    Conclusion.COMPLETE: SessionState.CONVERGED,
    Conclusion.PARTIAL: SessionState.PARTIAL,
    Conclusion.NOT_REVIEWED: SessionState.FAILED,
    Conclusion.PENDING: SessionState.PENDING,
}
"""How a session ends, by how whole the review is."""


def concluded(
    chosen: Chosen, past: Past, ledger: Ledger, *, transcript: Transcript, told: tuple[Finding, ...], identity: Identity
) -> Review:
    """The review of a change: what was told in the light of what is known, the verdict, and everything that led to it."""
    revisions, scope = chosen.change.revisions, chosen.scope
    seen = select.coverage(chosen.change, scope, transcript.unread)
    whole, reasons = policy.conclusion(seen, ledger, transcript)
    is_whole = whole is Conclusion.COMPLETE
    look = past.looked(chosen.change, chosen.contents, ledger, told=(one.path for one in told), whole=is_whole)
    if past.is_kept:
        told = dismissed.settled(carry.carried(told, look), look, past.dismissals.held)
    told = dismissed.opposed(told, look, past.dismissals.opposed)
    spoken = (f"{run.name}: {'' if run.ran else 'not run: '}{run.reason}" for run in ledger.checks if run.reason)
    said = (past.note,) if past.note else ()
    notes = (
        *identity.notes,
        *said,
        *revisions.notes,
        *scope.notes,
        *ledger.notes,
        *spoken,
        *transcript.notes,
        *reasons,
        *past.dismissals.notes,
        *carry.remarks(told, past.history),
    )
    return Review(
        run_id=identity.run_id,
        tool_version=__version__,
        conclusion=whole,
        verdict=policy.verdict(whole, told, ledger, coverage=seen),
        revisions=revisions,
        coverage=seen,
        findings=told,
        evidence=ledger.items,
        checks=ledger.checks,
        attendance=transcript.attendance,
        turns=transcript.turns,
        rulings=transcript.rulings,
        rounds=transcript.rounds,
        criteria=transcript.criteria,
        bill=transcript.bill,
        sandbox=ledger.sandbox,
        notes=tuple(dict.fromkeys(notes)),
        repository=identity.repository,
        range_mode=past.mode,
        footprint=past.footprint(chosen.change, ledger, chosen.names, whole=is_whole),
    )


def unchanged(chosen: Chosen, past: Past, identity: Identity) -> Review:
    """The review of a change that was reviewed already, as it stands: nobody is asked, and it is no better than it was."""
    made = concluded(chosen, past, Ledger(), transcript=Transcript(), told=(), identity=identity)
    blocks = made.verdict is Verdict.REQUEST_CHANGES
    before = past.history.verdict
    verdict = made.verdict if blocks else Verdict.COMMENT if before is Verdict.REQUEST_CHANGES or made.posted() else before
    return replace(made, verdict=verdict)


def timed(made: Review, seconds: float, overlapped: float = 0.0) -> Review:
    """The review with the seconds it took, and those of its longest chain of steps."""
    return replace(made, timing=Timing(round(seconds, 3), round(seconds - overlapped, 3)))
