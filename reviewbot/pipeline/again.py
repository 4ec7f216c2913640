"""What was made in a review, tried once more."""

from __future__ import annotations

from reviewbot.domain.repair import Edit, Repair
from reviewbot.domain.review import Review
from reviewbot.pipeline import material, repairing
from reviewbot.pipeline.world import Options, World, begun
from reviewbot.ports import Trialled


def retried(repairs: tuple[Repair, ...], edits: tuple[Edit, ...], review: Review, *, world: World, options: Options) -> Trialled:
    """What was made in a review, tried once more without the rest of what was made with it. ``world`` has trees and an annex."""
    run = begun(world, options)
    return repairing.retried(repairs, edits, material.read(review.revisions, run), run=run, review=review)
