"""Fixes that a run began to write and did not end: what is missing of them is written, and nothing twice."""

from __future__ import annotations

from dataclasses import replace

from reviewbot.domain.history import PullMemory
from reviewbot.domain.review import Review
from reviewbot.wiring.github import consulted, ground, mending, orders, pulls, requested, writing
from reviewbot.wiring.github import fixes as unasked
from reviewbot.wiring.github.job import Report
from reviewbot.wiring.github.situation import Hub, Situation
from reviewbot.wiring.github.writing import WRITES, Place, Written
from reviewbot.wiring.scene import Scene, opened


def fixes(at: Situation, hub: Hub) -> Report:
    """Go on with them. Where the review that made them is lost, the head is reviewed anew. Raises ReviewbotError."""
    standing = at.standing
    assert standing is not None
    head = at.memory.unfinished
    found = (one for one in consulted.reviews(at, hub) if one.revisions.head == head and one.repairs)
    review = next(found, None)
    if review is None:
        return pulls.review(at, hub)
    with ground.found(at.job, standing.pull, hub, more=(head,)) as folder:
        order = orders.order_of(at.job, folder, standing, memory=at.memory, execute=False)
        with opened(order) as scene:
            place = requested.place_of(at, hub, scene, review=review)
            return _gone_on(place, scene, review) if place else Report(notices=(unasked.NOT_FETCHED,))


def _gone_on(place: Place, scene: Scene, review: Review) -> Report:
    memory, mode = place.at.memory, scene.configuration.get("fix.mode", str)
    bench = mending.bench(place.git, review, scene.revisions, configuration=scene.configuration)
    unproven = scene.configuration.get("fix.unproven", bool)
    written = frozenset(one.id for one in place.there)
    spent = {one.id for one in memory.mended if one.is_spent}
    proven = (one for one in review.repairs if mending.is_proven(one) or unproven)
    wanted = frozenset(one.id for one in proven) - written - spent
    chain = bench.chain(review.repairs, place.head_tree, wanted=wanted, written=written)
    stops = writing.barred(place.at) or unasked.taken_back(place.at, place.hub) or mode not in WRITES
    made = Written(head=_ours(place), tree=place.head_tree) if stops else writing.write(place, chain, mode)
    fixed = unasked.fixed(*memory.mended, *place.there, *made.made)
    told = writing.settled(place, made, fixed=fixed, alter=_as_it_is)
    why = (made.why,) if made.why else ()
    return replace(
        told,
        exit_code=max(told.exit_code, 3 if made.is_open else 0),
        notices=tuple(dict.fromkeys((*told.notices, *why))),
        autofix_sha=made.commits[-1] if made.commits else "",
    )


def _ours(place: Place) -> str:
    """The head, where it is a commit of ours."""
    head = place.pull.head_sha
    return head if head != place.matter.review.revisions.head else ""


def _as_it_is(memory: PullMemory) -> PullMemory:
    return memory
