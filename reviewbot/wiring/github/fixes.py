"""What the run of a review does about its fixes: it offers them on their lines, writes unasked what may be written so, and
remembers what became of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.event import Happening
from reviewbot.domain.history import Mended, PullMemory
from reviewbot.domain.repair import RepairOutcome
from reviewbot.domain.review import Lifecycle, Review
from reviewbot.errors import ForgeError
from reviewbot.events import mended
from reviewbot.publish import fixes
from reviewbot.publish.wanted import Matter
from reviewbot.wiring import fixing
from reviewbot.wiring.github import documents, mending, posts, writing
from reviewbot.wiring.github.job import Report
from reviewbot.wiring.github.mending import Bench, Chain
from reviewbot.wiring.github.situation import Hub, Situation
from reviewbot.wiring.github.writing import WRITES, Place
from reviewbot.wiring.order import Order
from reviewbot.wiring.scene import Scene, opened

MOST_ASKED = 20
"""Commits of ours about which the forge is asked whether they still hold."""

SUGGESTED = "proven; 'autofix' is 'suggest', which writes nothing by itself"
NOT_FETCHED = "the commits could not be fetched, and a patch is applied to nothing else"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is offered, and what is written unasked: nothing where there is a ``why``. ``off`` says what somebody did to a commit
    of ours; ``said`` what is known already of each fix."""

    matter: Matter
    chain: Chain
    why: str = ""
    off: str = ""
    said: tuple[Mended, ...] = ()


def published(matter: Matter, order: Order, *, at: Situation, hub: Hub) -> Report:
    """Post a review with its fixes, and write those that may be written. Raises ReviewbotError."""
    if not (matter.review.repairs or at.memory.mended):
        return posts.published(replace(matter, alter=_finished), at, hub)
    with opened(order) as scene:
        if scene.git is None:
            said = tuple(_left(matter.review, dict.fromkeys((one.id for one in matter.review.repairs), NOT_FETCHED)))
            return posts.published(replace(matter, alter=lambda memory: _with(memory, said, matter.review)), at, hub)
        place = Place(at, hub, matter, scene.git, scene.revisions)
        return _published(place, order, scene)


def taken_back(at: Situation, hub: Hub, review: Review | None = None) -> str:
    """What somebody did to a commit of ours: took it back, pushed over it, or undid it without a word. Empty where all of them
    stand; with ``review``, also what it says of them. Raises ForgeError."""
    assert at.standing is not None
    memory = at.memory
    if memory.autofix_off:
        return memory.autofix_why
    if why := mended.against(memory, at.standing):
        return why
    ours = [made for made in memory.mended if made.is_written]
    back = {finding.id for finding in review.findings if finding.lifecycle is Lifecycle.REOPENED} if review else set()
    for made in ours:
        if made.id in back:
            return f"{made.id} is back, which {made.commit[:10]} had fixed"
    there = {commit.sha for commit in at.standing.commits}
    for made in [one for one in ours if one.commit in there][-MOST_ASKED:]:
        if any(file.is_taken_back for file in hub.touched(made.commit, at.standing.pull.head_sha)):
            return f"somebody took {made.commit[:10]} back, the fix of {made.id}"
    return ""


def fixed(*made: Mended) -> dict[str, str]:
    """What became of the findings whose fix stands on the branch."""
    return {one.id: fixes.mended(one.commit) for one in made if one.is_written}


def _published(place: Place, order: Order, scene: Scene) -> Report:
    plan = _planned(place, order, scene)
    mode = scene.configuration.get("fix.mode", str)
    writes = mode in WRITES and bool(plan.chain.ready) and not plan.why
    pull, human = place.pull, mended.last_of_others(place.standing)

    def alter(memory: PullMemory) -> PullMemory:
        changed = _with(memory, plan.said, place.matter.review)
        if plan.off:
            changed = replace(changed, autofix_off=True, autofix_why=plan.off)
        return replace(changed, unfinished=pull.head_sha, mended_head=human) if writes else changed

    place = replace(place, matter=replace(plan.matter, alter=alter))
    first = posts.published(place.matter, place.at, place.hub)
    return _written(place, plan.chain, mode, first=first) if writes and first.posted else first


def _written(place: Place, chain: Chain, mode: str, *, first: Report) -> Report:
    made = writing.write(place, chain, mode)
    known = place.at.memory.mended
    second = writing.settled(place, made, fixed=fixed(*known, *made.made), alter=place.matter.alter)
    return replace(
        first,
        exit_code=max(first.exit_code, second.exit_code, 3 if made.is_open else 0),
        notices=tuple(dict.fromkeys((*first.notices, *second.notices, *((made.why,) if made.why else ())))),
        comments_resolved=first.comments_resolved + second.comments_resolved,
        autofix_sha=made.commits[-1] if made.commits else "",
    )


def _planned(place: Place, order: Order, scene: Scene) -> Plan:
    review, memory = place.matter.review, place.at.memory
    bench = mending.bench(place.git, review, scene.revisions, configuration=scene.configuration)
    every = bench.chain(review.repairs, place.head_tree, wanted=frozenset(one.id for one in review.repairs))
    unproven = scene.configuration.get("fix.unproven", bool)
    spent = {made.id for made in memory.mended if made.is_spent}
    wanted = frozenset(one.repair.id for one in every.ready if (one.is_proven or unproven) and one.repair.id not in spent)
    chain = every if len(wanted) == len(every.ready) else bench.chain(review.repairs, place.head_tree, wanted=wanted)
    mode = scene.configuration.get("fix.mode", str)
    off, why = _against(place)
    why = why or (SUGGESTED if mode not in WRITES else "")
    if not why:
        chain, why = _proved(chain, bench, order, scene=scene, review=review)
    if patch := bench.patch(chain):
        documents.write_bytes(place.at.job, documents.PATCH, patch)
    pending = frozenset() if why else frozenset(one.repair.id for one in chain.ready)
    words = {one.repair.id: chain.left.get(one.repair.id, why) for one in every.ready if one.is_proven}
    said = (*_left(review, every.left), *_offered(every, pending, words))
    return Plan(replace(place.matter, offers=bench.offers(every, review.findings)), chain, why, off, said)


def _against(place: Place) -> tuple[str, str]:
    """What somebody did to a commit of ours, and why nothing is written unasked."""
    at, review = place.at, place.matter.review
    try:
        off = taken_back(at, place.hub, review)
    except ForgeError as exc:
        return "", f"it could not be asked whether earlier fixes stand: {exc.message}"
    human = mended.last_of_others(place.standing)
    against = {
        f"no fix is written here any more: {off}": bool(off),
        writing.barred(place.at): bool(writing.barred(place.at)),
        "a run of this kind writes nothing unasked": at.job.event.kind is not Happening.PULL_REQUEST,
        "nothing could be executed here": not at.decision.execute or review.sandbox == "none",
        "the pull request has more commits than are told: whose the newest one is cannot be known": not mended.knows_all(
            place.standing
        ),
        "the newest commit is reviewbot's own": human != place.pull.head_sha,
        "fixes were written for this push already": at.memory.mended_head == human,
    }
    return off, next((why for why, holds in against.items() if holds), "")


def _proved(chain: Chain, bench: Bench, order: Order, *, scene: Scene, review: Review) -> tuple[Chain, str]:
    """The chain, tried once more where some of what it was proven together with is not in it."""
    beside = sorted({name for one in chain.ready for name in one.beside})
    if not beside:
        return chain, ""
    steps = tuple(fixing.Step(one.repair, bench.edits(chain.start, one.tree)) for one in chain.ready)
    trial = fixing.proved(order, replace(review, revisions=scene.revisions), chosen=fixing.Steps(steps, bench.patch(chain)))
    if not trial.passed:
        return chain, f"without the fix of {', '.join(beside)}, which is not written, it does not hold"
    return replace(chain, ready=tuple(replace(one, beside=()) for one in chain.ready)), ""


def _left(review: Review, left: Mapping[str, str]) -> Iterator[Mended]:
    """What became of the repairs of which there is nothing to use."""
    head = review.revisions.head
    for repair in review.repairs:
        if not repair.is_made:
            yield Mended(repair.id, repair.outcome, repair.why, head)
        elif repair.id in left:
            yield Mended(repair.id, RepairOutcome.FAILED, left[repair.id], head)


def _offered(every: Chain, pending: frozenset[str], words: Mapping[str, str]) -> Iterator[Mended]:
    """What may be used and is not written now."""
    for one in every.ready:
        name = one.repair.id
        if name not in pending:
            yield Mended(name, RepairOutcome.SUGGESTED, words.get(name) or mending.told(one.repair))


def _with(memory: PullMemory, said: tuple[Mended, ...], review: Review) -> PullMemory:
    """The memory with what became of the fixes of a review. What was written or taken back stays so; what was said of another
    head is said no more."""
    head = review.revisions.head
    kept = tuple(one for one in memory.mended if one.is_spent or one.head == head)
    spent = {one.id for one in kept if one.is_spent}
    news = (replace(one, head=head) for one in said if one.id not in spent)
    return _finished(replace(memory, mended=kept).with_mended(*news))


def _finished(memory: PullMemory) -> PullMemory:
    return replace(memory, unfinished="")
