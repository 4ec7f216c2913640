"""Fixes that somebody asked for in a comment: those that the review of this head made and proved, written upon just that head.

A run that a comment started runs nothing of the change (``activity.py``): what no review has proved is not written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.action import PostComment
from reviewbot.domain.forge import (
    Standing,
)
from reviewbot.domain.history import Fate, Mended, PullMemory
from reviewbot.domain.repair import RepairOutcome
from reviewbot.domain.review import Review
from reviewbot.events import mended
from reviewbot.events.command import Command
from reviewbot.publish import fixes as words
from reviewbot.publish import replies
from reviewbot.publish.markdown_finding import details, fitting
from reviewbot.publish.sanitise import code_span, inline
from reviewbot.publish.wanted import Matter
from reviewbot.wiring.github import consulted, documents, fixes, ground, mending, orders, posts, pulls, writing
from reviewbot.wiring.github.job import Report
from reviewbot.wiring.github.situation import Hub, Situation
from reviewbot.wiring.github.writing import WRITES, Place, Written
from reviewbot.wiring.scene import Scene, opened

NO_REVIEW = "no review of this pull request is remembered: fixes are made by a review."
NO_DOCUMENT = (
    "the document of the review did not travel to this run: its job needs `actions: read`, and the artifact `reviewbot-review` "
    "of the run that reviewed is kept for some days only. The next push makes a new one."
)
NO_FIXES = (
    "the review of {} made no fixes. Set `autofix: suggest` (or `commit`, `pull_request`) where the review runs, in review.yml: "
    "at the next push it makes and proves them, and this command writes them."
)
OFF = (
    "`autofix` is `off` in this job, so it writes nothing. docs/workflows/autofix.yml has a job that does; it obeys where the "
    "repository's variable `REVIEWBOT_AUTOFIX` is `true`. The repository's own `fix.mode` may forbid it, too."
)
OF_ISSUES = (
    "a run that a comment started runs no code, and a fix of an issue needs a failing test first. In a checkout, `reviewbot fix "
    "--report FILE` with the text of the issue finds one, and mends it."
)
_DIFFS_BYTES = 30_000


@dataclass(frozen=True, slots=True)
class Answered:
    """Safe Markdown, what changes in the memory, whether anything was done, and what the job reports."""

    text: str
    change: Callable[[PullMemory], PullMemory] | None = None
    done: bool = False
    report: Report = Report()


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is asked for: the ids, in order; the review that has the fixes; what stands on the branch already, by id."""

    ids: tuple[str, ...]
    review: Review
    there: Mapping[str, Mended]


def fix(at: Situation, hub: Hub, order: Command) -> Answered:
    """Write the fixes that were asked for, and say what became of each. Raises ReviewbotError."""
    standing = _standing(at)
    if off := fixes.taken_back(at, hub):
        return _refused(f"no fix is written on this pull request any more: {inline(off)}.", lambda memory: _off(memory, off))
    if why := _not_pinned(standing, at.memory, order.sha):
        return _refused(why)
    review = with_fixes(at, hub)
    if review is None:
        return _refused(NO_DOCUMENT)
    if not review.repairs:
        return _refused(NO_FIXES.format(code_span(review.revisions.head[: words.SHORT])))
    wish = _Wish(order.findings or tuple(one.id for one in review.repairs), review, there(at))
    with ground.found(at.job, standing.pull, hub, more=(review.revisions.head,)) as found:
        asked = orders.order_of(at.job, found, standing, memory=at.memory, execute=False)
        with opened(asked) as scene:
            return _done(at, hub, scene, wish=wish)


def of_issue(at: Situation, hub: Hub) -> Report:
    """What is said to who asks for the fix of a plain issue."""
    said, number = at.job.event.comment, at.job.event.number
    assert said is not None
    assert number is not None
    who = said.author.login if said.author else "somebody"
    hub.do(PostComment(number, replies.page(said.body.strip().split("\n")[0], who, replies.refused(OF_ISSUES))))
    return Report(skip_reason="not_a_pull_request")


def with_fixes(at: Situation, hub: Hub) -> Review | None:
    """The newest review upon which nothing but commits of ours stands: rather one that made fixes."""
    first: Review | None = None
    for review in consulted.reviews(at, hub):
        if mended.upon(_standing(at), review.revisions.head) is not None:
            if review.repairs:
                return review
            first = first or review
    return first


def there(at: Situation) -> dict[str, Mended]:
    """The fixes that stand on the branch, by id: those that are remembered, and what a run wrote that was cut off."""
    standing, memory = _standing(at), at.memory
    shas = {commit.sha for commit in standing.commits}
    found = {made.id: made for made in memory.mended if made.is_written and made.commit in shas}
    for commit in mended.upon(standing, memory.unfinished or memory.history.head) or ():
        for name in mended.findings(commit):
            if mended.is_undo(commit):
                found.pop(name, None)
            else:
                found.setdefault(name, Mended(name, RepairOutcome.FIXED, head=commit.parents[0], commit=commit.sha))
    return found


def place_of(at: Situation, hub: Hub, scene: Scene, *, review: Review) -> Place | None:
    """Where fixes of a review of an earlier run are written; ``None`` where there is no repository."""
    if scene.git is None:
        return None
    named = pulls.named(review, at.job, _standing(at).pull)
    change, options = posts.change_of(scene, named.revisions), pulls.options_of(scene.configuration)
    matter = Matter(named, change, at.memory.history, options)
    return Place(at, hub, matter, scene.git, scene.revisions, there=tuple(there(at).values()), argued=False)


def _done(at: Situation, hub: Hub, scene: Scene, *, wish: _Wish) -> Answered:
    mode = scene.configuration.get("fix.mode", str)
    place = place_of(at, hub, scene, review=wish.review)
    if mode == "off" or place is None:
        return _refused(OFF if place else f"{fixes.NOT_FETCHED}.")
    unproven = scene.configuration.get("fix.unproven", bool)
    known = {name: next(_known(name, at.memory, wish, unproven=unproven), None) for name in wish.ids}
    wanted = frozenset(name for name, made in known.items() if made is None)
    bench = mending.bench(place.git, wish.review, scene.revisions, configuration=scene.configuration)
    chain = bench.chain(wish.review.repairs, place.head_tree, wanted=wanted, written=frozenset(wish.there))
    why = writing.barred(place.at) or (fixes.SUGGESTED if mode not in WRITES else "")
    written = Written() if why else writing.write(place, chain, mode)
    made = {one.id: one for one in written.made}
    head = place.pull.head_sha
    made |= {name: Mended(name, RepairOutcome.FAILED, told, head) for name, told in chain.left.items()}
    made |= {one.repair.id: Mended(one.repair.id, RepairOutcome.SUGGESTED, why, head) for one in chain.ready if why}
    said = tuple(known[name] or made[name] for name in wish.ids)
    if patch := bench.patch(chain):
        documents.write_bytes(at.job, documents.PATCH, patch)

    def change(memory: PullMemory) -> PullMemory:
        spent = {one.id for one in memory.mended if one.is_spent}
        return memory.with_mended(*(one for one in made.values() if one.id not in spent or one.commit))

    report = Report(autofix_sha=written.commits[-1] if written.commits else "", exit_code=3 if written.is_open else 0)
    if written.head not in ("", at.memory.history.head):
        fixed = fixes.fixed(*wish.there.values(), *written.made)
        report = replace(report, notices=writing.settled(place, written, fixed=fixed, alter=change).notices)
    offers = [one for one in bench.offers(chain, ()) if made[one.id].outcome is not RepairOutcome.FIXED]
    text = words.told(said, more=_more(place, written, offers))
    return Answered(text, change, any(one.outcome is RepairOutcome.FIXED for one in said), report)


def _known(name: str, memory: PullMemory, wish: _Wish, *, unproven: bool) -> Iterator[Mended]:
    """What there is to say of a fix without writing it, best first; nothing where it is to be written."""
    if name in wish.there:
        yield replace(wish.there[name], why="already")
    made = memory.mended_of(name)
    if made is not None and made.outcome is RepairOutcome.FIXED and made.pull:
        yield made
    finding = next((one for one in memory.history.findings if one.id == name), None)
    if finding is not None and finding.fate is not Fate.OPEN:
        yield Mended(name, RepairOutcome.SKIPPED, f"it is {finding.fate.value} already")
    repair = next((one for one in wish.review.repairs if one.id == name), None)
    if repair is None:
        yield Mended(name, RepairOutcome.SKIPPED, "the review made no fix for it" if finding else "no such finding is known here")
    elif not repair.is_made:
        yield Mended(name, repair.outcome, repair.why)
    elif repair.outcome is RepairOutcome.SUGGESTED and not unproven:
        yield Mended(name, RepairOutcome.SUGGESTED, mending.told(repair))


def _more(place: Place, written: Written, offers: list[words.Offer]) -> Iterator[str]:
    """What else is to be said: where the head is now, what does not run, and the diffs of what was not written."""
    if written.head:
        yield f"The head is {written.head[: words.SHORT]} now."
    if words.is_quiet(place.standing.me) and any(one.outcome is RepairOutcome.FIXED for one in written.made):
        yield words.STARTS_NOTHING
    diffs = (details(f"The fix of {offer.id}", words.diff(offer)) for offer in offers)
    yield from fitting((part for part in diffs if part), _DIFFS_BYTES, least=0)


def _not_pinned(standing: Standing, memory: PullMemory, sha: str) -> str:
    """Why the head is not the one that is meant; empty where it is."""
    head, reviewed = standing.pull.head_sha, memory.history.head
    if not reviewed:
        return NO_REVIEW
    shown, last = (code_span(name[: words.SHORT]) for name in (head, reviewed))
    if mended.upon(standing, reviewed) is None:
        return f"the head is {shown} now, and the last review was of {last}. A fix is written only upon what was reviewed."
    if sha and not (head.startswith(sha) or reviewed.startswith(sha)):
        return f"the head is {shown}, not {code_span(sha)}, which this was said about."
    return ""


def _off(memory: PullMemory, why: str) -> PullMemory:
    return replace(memory, autofix_off=True, autofix_why=why)


def _refused(why: str, change: Callable[[PullMemory], PullMemory] | None = None) -> Answered:
    return Answered(replies.refused(why), change)


def _standing(at: Situation) -> Standing:
    assert at.standing is not None
    return at.standing
