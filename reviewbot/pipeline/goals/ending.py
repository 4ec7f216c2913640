"""What becomes of a goal: one review that holds what was made, and says how far it came."""

from __future__ import annotations

from reviewbot import __version__
from reviewbot.domain.debate import Transcript
from reviewbot.domain.repair import Repair
from reviewbot.domain.review import Conclusion, Review
from reviewbot.pipeline.goals.ground import Ground, Prepared
from reviewbot.pipeline.world import Identity

WHAT = "no review: what was asked for was pursued, and nothing else of the change was judged"


def ended(
    ground: Ground, prepared: Prepared, transcript: Transcript, *, repairs: tuple[Repair, ...], identity: Identity
) -> Review:
    """The end of it. Without a verdict: nothing was reviewed."""
    ledger = prepared.ledger
    conclusion, reasons = _conclusion(prepared, transcript)
    revisions = ground.read.change.revisions
    notes = (*identity.notes, WHAT, *revisions.notes, *prepared.notes, *ledger.notes, *transcript.notes, *reasons)
    return Review(
        run_id=identity.run_id,
        tool_version=__version__,
        conclusion=conclusion,
        verdict=None,
        revisions=revisions,
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
        pull_request=ground.request.pull_request,
        repairs=repairs,
    )


def _conclusion(prepared: Prepared, transcript: Transcript) -> tuple[Conclusion, tuple[str, ...]]:
    """How far it came, with the reason where that is not to its end."""
    if prepared.failure:
        return Conclusion.NOT_REVIEWED, (prepared.failure,)
    if transcript.capped:
        return Conclusion.PARTIAL, (transcript.capped,)
    return Conclusion.COMPLETE, ()
