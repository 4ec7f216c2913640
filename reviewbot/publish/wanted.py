"""What should stand under a pull request after a review: comments on lines, a word, a check run, labels, the summary.

A pure function of the review, the change and what stands there now. What is to be done about the difference, ``plan.py`` says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.action import (
    InlineComment,
    PostCheck,
    ReviewEvent,
)
from reviewbot.domain.change import ChangeSet
from reviewbot.domain.dismissal import FILE
from reviewbot.domain.evidence import Severity
from reviewbot.domain.forge import (
    Standing,
)
from reviewbot.domain.history import Fate, History, Known, PullMemory
from reviewbot.domain.review import Conclusion, Finding, FindingStatus, Lifecycle, RangeMode, Review, Verdict
from reviewbot.publish import fixes, inline, markdown, markers, own, phrases, state, verdict
from reviewbot.publish import labels as labelling
from reviewbot.publish.annotate import of_findings
from reviewbot.publish.fixes import Offer
from reviewbot.publish.labels import Labels
from reviewbot.publish.markdown import Story
from reviewbot.publish.sanitise import code_span

CHECK_NAME = "reviewbot"
OFF_LINES = "its lines are not part of the diff"
OVER = "worse findings have the lines"
EARLIER = "told before"


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """``max_comments``: how many findings a review tells on their lines. ``fail_on``: from which severity on the check run fails,
    ``None`` for never. ``sticky_summary``: the comment tells the findings, else only the verdict (it stays: it is the memory)."""

    max_comments: int = 10
    fail_on: Severity | None = None
    allow_approve: bool = False
    sticky_summary: bool = True
    resolve_outdated: bool = True
    labels: Labels = Labels()
    check_name: str = CHECK_NAME


def _as_it_is(memory: PullMemory) -> PullMemory:
    return memory


@dataclass(frozen=True, slots=True)
class Matter:
    """What is to be published: the review, the change it is about, and what is known after it. ``offers`` are fixes that may be
    suggested; ``alter`` is what else changes in the memory, and may be done twice."""

    review: Review
    change: ChangeSet
    history: History
    options: PublishOptions = PublishOptions()
    workflow_run: int = 0
    offers: tuple[Offer, ...] = ()
    alter: Callable[[PullMemory], PullMemory] = _as_it_is

    def offer(self, finding: Finding) -> Offer | None:
        """The fix of a finding, where one may be suggested."""
        return next((offer for offer in self.offers if offer.id == finding.id), None)


@dataclass(frozen=True, slots=True)
class Closed:
    """A finding that is no longer told, and what is said of it under its thread."""

    fingerprint: str
    words: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What should stand there. ``comments`` are worst first. ``told`` are all findings, by fingerprint. ``closes_the_rest``: the
    whole change was looked at, so that a thread about anything else is about nothing. ``decided``: how whole the review is that
    came to a verdict, ``None`` where none did. ``off_lines`` are the comments by fingerprint in words that need no line, and
    ``whole_summary`` tells at length also what has a line: for where it gets none."""

    number: int
    head_sha: str
    event: ReviewEvent
    words: str
    comments: tuple[InlineComment, ...]
    off_lines: tuple[tuple[str, str], ...]
    told: frozenset[str]
    closed: tuple[Closed, ...]
    closes_the_rest: bool
    decided: Conclusion | None
    check: PostCheck
    labels: frozenset[str]
    managed_labels: frozenset[str]
    memory: PullMemory
    summary: str
    whole_summary: str
    notes: tuple[str, ...] = ()


def wanted(matter: Matter, standing: Standing) -> Wanted:
    """What should stand under this pull request, whose memory is read from what stands there."""
    options, before = matter.options, matter.alter(own.memory(standing))
    history = with_dismissals(matter.history, before.history)
    review = _still_told(matter.review, history)
    lines = _lines(review, matter, standing)
    memory = _placed(_remembering(before, history, review), standing, matter.workflow_run)
    memory = replace(memory, said=_gist(review, memory, options))
    story = replace(_story(memory, before, options), fixes=fixes.note(memory, standing.me))
    return Wanted(
        number=standing.pull.number,
        head_sha=review.revisions.head,
        event=verdict.event(review, standing, allow_approve=options.allow_approve, check_name=options.check_name),
        words=f"**reviewbot:** {phrases.counts(review)}, {phrases.wholeness(review)}. The summary says more.",
        comments=lines.comments,
        off_lines=tuple((_print(finding), inline.words(finding, review)) for finding in lines.chosen),
        told=frozenset(map(_print, review.posted())),
        closed=tuple(_closed(matter.review, history, review)) if options.resolve_outdated else (),
        closes_the_rest=options.resolve_outdated and _saw_all(review),
        decided=review.conclusion if review.verdict else None,
        check=_check(review, options),
        labels=labelling.labels(review, options.labels),
        managed_labels=options.labels.managed,
        memory=memory,
        summary=markdown.render(review, replace(story, on_lines=lines.ids, why=lines.why)),
        whole_summary=markdown.render(review, story),
        notes=_unapproved(review, standing, options),
    )


def with_dismissals(history: History, now: History) -> History:
    """Somebody may have dismissed a finding while the review was made: that holds. What a file dismisses, the review knows."""
    dismissed = {known.fingerprint: known for known in now.reopened(FILE).findings if known.fate is Fate.DISMISSED}

    def held(known: Known) -> Known:
        said = dismissed.get(known.fingerprint)
        return replace(known, fate=Fate.DISMISSED, reason=said.reason, by=said.by) if said else known

    return replace(history, findings=tuple(map(held, history.findings)), next_number=max(history.next_number, now.next_number))


def _still_told(review: Review, history: History) -> Review:
    """The review without what was fixed, and with what was dismissed meanwhile as dismissed."""
    dismissed = {known.fingerprint for known in history.findings if known.fate is Fate.DISMISSED}
    standing = (finding for finding in review.findings if finding.lifecycle is not Lifecycle.FIXED)
    findings = tuple(
        replace(finding, status=FindingStatus.DISMISSED) if finding.is_posted and finding.fingerprint in dismissed else finding
        for finding in standing
    )
    changed = replace(review, findings=findings)
    grave = any(finding.severity >= Severity.HIGH for finding in changed.posted())
    freed = review.verdict is Verdict.REQUEST_CHANGES and changed.posted() != review.posted() and not grave
    return replace(changed, verdict=Verdict.COMMENT) if freed else changed


@dataclass(frozen=True, slots=True)
class _Lines:
    """What is told on lines: findings of this review with their comments, all findings (by id) that have their own lines, and of
    the others why they have none."""

    chosen: tuple[Finding, ...]
    comments: tuple[InlineComment, ...]
    ids: frozenset[str]
    why: tuple[tuple[str, str], ...]


def _lines(review: Review, matter: Matter, standing: Standing) -> _Lines:
    """Only what is new gets a comment: what was carried along was told when it was new, on its lines or in the summary. What a
    run that was killed told already keeps its line, whatever the order says now."""
    head = markers.token(review.revisions.head)
    threads = own.threads(standing)
    kept = {thread.mark.fingerprint: thread for thread in reversed(threads) if not thread.is_closed}
    old = {name for name, thread in kept.items() if thread.mark.sha != head}
    ever = {thread.mark.fingerprint for thread in threads}
    now = {name for said in own.reviews(standing) if said.mark.sha == head for name in said.mark.told}
    fresh = [found for found in review.posted() if found.lifecycle is not Lifecycle.CARRIED and _print(found) not in old]
    placed = [(found, place) for found in fresh if (place := inline.place(found, matter.change, matter.offer(found)))]
    chosen = sorted(placed, key=lambda pair: _print(pair[0]) not in now)[: max(matter.options.max_comments, 0)]
    able, new = {found.id for found, _ in placed}, {found.id for found in fresh}
    carried = {found.id for found in review.posted() if found.id not in new and _print(found) in ever}
    ids = frozenset((*carried, *(found.id for found, _ in chosen)))
    others = (found.id for found in review.posted() if found.id not in ids)
    why = tuple((name, OVER if name in able else OFF_LINES if name in new else EARLIER) for name in others)
    comments = tuple(inline.comment(found, place, review, offer=matter.offer(found)) for found, place in chosen)
    return _Lines(tuple(found for found, _ in chosen), comments, ids, why)


def _remembering(before: PullMemory, history: History, review: Review) -> PullMemory:
    """The memory after this review. A run that comes back to its own traces does not pay twice."""
    if before.run_id == review.run_id:
        return replace(before, history=history)
    paid = before.cost_usd + review.bill.total.paid_usd
    return replace(before, history=history, run_id=review.run_id, runs=before.runs + 1, cost_usd=round(paid, 6))


def _placed(memory: PullMemory, standing: Standing, workflow_run: int) -> PullMemory:
    """The memory with where it was made: for which branch, and in which run of the forge's."""
    known = (run for run in memory.workflow_runs if run != workflow_run)
    runs = (*known, workflow_run) if workflow_run else memory.workflow_runs
    return replace(memory, base_ref=standing.pull.base_ref, workflow_runs=runs)


def _gist(review: Review, memory: PullMemory, options: PublishOptions) -> str:
    """A hash of what the summary says, without what differs between two reviews that say the same: the words that models chose,
    cost, time, who was asked, whether a finding is new or was carried."""
    earlier = (known for known in memory.history.findings if known.fate is not Fate.OPEN)
    said: dict[str, object] = {
        "head": review.revisions.head,
        "conclusion": review.conclusion,
        "verdict": review.verdict,
        "told": sorted([found.id, _print(found), found.severity.label, found.status] for found in review.posted()),
        "unseen": sorted([item.path, item.status] for item in phrases.unseen(review)),
        "checks": sorted([run.name, run.ran, run.failed] for run in review.checks),
        "earlier": [[known.id, known.fate, known.reason, known.by] for known in earlier],
        "paused_by": memory.paused_by,
        "short": not options.sticky_summary,
    }
    if memory.mended or memory.autofix_off:
        made = [[one.id, one.outcome, one.why, one.commit, one.pull] for one in memory.mended]
        said["fixes"] = [made, memory.autofix_why]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode("ascii")).hexdigest()[:32]


def _story(memory: PullMemory, before: PullMemory, options: PublishOptions) -> Story:
    by_fate = {fate: tuple(known for known in memory.history.findings if known.fate is fate) for fate in Fate}
    return Story(
        state=state.encode(memory),
        since=before.history.head,
        fixed=by_fate[Fate.FIXED],
        dismissed=by_fate[Fate.DISMISSED],
        runs=memory.runs,
        cost_usd=memory.cost_usd,
        paused_by=memory.paused_by,
        short=not options.sticky_summary,
    )


def _closed(made: Review, history: History, told: Review) -> Iterator[Closed]:
    """What was fixed or dismissed, once each."""
    still = set(map(_print, told.posted()))
    fixed = f"Fixed at {code_span(made.revisions.head[:10])}: it is no longer found."
    words: Mapping[Fate, str] = {Fate.FIXED: fixed, Fate.DISMISSED: "Dismissed."}
    found = {markers.token(known.fingerprint): words[known.fate] for known in history.findings if known.fate in words}
    gone = (finding for finding in made.findings if finding.lifecycle is Lifecycle.FIXED)
    found |= {_print(finding): fixes.closing(finding.stop_reason) or fixed for finding in gone}
    return (Closed(fingerprint, said) for fingerprint, said in found.items() if fingerprint not in still)


def _saw_all(review: Review) -> bool:
    return review.conclusion is Conclusion.COMPLETE and review.range_mode is RangeMode.FULL


def _check(review: Review, options: PublishOptions) -> PostCheck:
    return PostCheck(
        name=options.check_name,
        head_sha=review.revisions.head,
        external_id=review.revisions.head,
        conclusion=verdict.conclusion(review, options.fail_on),
        title=verdict.title(review),
        summary=markdown.render(review),
        annotations=of_findings(review, options.fail_on),
    )


def _unapproved(review: Review, standing: Standing, options: PublishOptions) -> tuple[str, ...]:
    """Why an approval that was recommended and allowed is not given."""
    asked = options.allow_approve and review.verdict is Verdict.APPROVE
    against: Iterable[str] = verdict.hindrances(review, standing, options.check_name) if asked else ()
    return (f"not approved: {'; '.join(against)}",) if against else ()


def _print(finding: Finding) -> str:
    return markers.token(finding.fingerprint)
