"""Fixes written as commits of ours, or as a pull request of ours, and what stands there told anew: each with its outcome, and the
new head as reviewed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from reviewbot import pushing
from reviewbot.adapters.git import GitRepo
from reviewbot.changeset import diff
from reviewbot.consensus import carry
from reviewbot.consensus import mended as ours
from reviewbot.domain.change import ChangeSet, Revisions
from reviewbot.domain.forge import (
    PullRequest,
    Standing,
)
from reviewbot.domain.history import Fate, Mended, PullMemory
from reviewbot.domain.repair import RepairOutcome
from reviewbot.domain.target import Target, TargetKind
from reviewbot.publish import fixes, own, plan
from reviewbot.publish.wanted import Matter, with_dismissals
from reviewbot.pushing import Halt, Pushed, Series, Step
from reviewbot.wiring.github import posts
from reviewbot.wiring.github.job import Report
from reviewbot.wiring.github.mending import Chain
from reviewbot.wiring.github.situation import Hub, Situation

COMMIT, PULL_REQUEST = "commit", "pull_request"
WRITES = (COMMIT, PULL_REQUEST)
"""Modes in which something is written; the others only suggest."""

MOST_COMMITS = 40
"""Commits of one run: GitHub's limit for what is written is some 80 in a minute."""

TOO_MANY = f"more than {MOST_COMMITS} fixes are written at the next push"
SECONDS = (0.0, 1.0, 2.0, 4.0, 8.0)
"""Pauses until a pull request must have followed its branch."""

WHY: Mapping[Halt, str] = {
    Halt.MOVED: "the head moved meanwhile, and nothing is written over that",
    Halt.REFUSED: "this run's token may not write it: the job needs 'contents: write'",
}
"""What is said of a fix that was not written, instead of the forge's own words."""

Alter = Callable[[PullMemory], PullMemory]


@dataclass(frozen=True, slots=True)
class Place:
    """Where fixes of a review are written: what is to be told of the review, the repository, and both ends of the change as they
    are now. ``there`` are fixes that stand there already; ``argued``: the review is of this very run."""

    at: Situation
    hub: Hub
    matter: Matter
    git: GitRepo
    revisions: Revisions
    there: tuple[Mended, ...] = ()
    argued: bool = True

    @property
    def standing(self) -> Standing:
        """What stood there when the run began."""
        assert self.at.standing is not None
        return self.at.standing

    @property
    def pull(self) -> PullRequest:
        """The pull request."""
        return self.standing.pull

    @property
    def head_tree(self) -> str:
        """The tree upon which it is written."""
        assert self.revisions.head_tree is not None
        return self.revisions.head_tree


@dataclass(frozen=True, slots=True)
class Written:
    """What became of fixes. ``head`` and ``tree`` are those of the branch now, where commits of ours stand on it: the last ones
    are ``commits``. ``is_open``: the next run goes on with it. ``url`` is the page of a pull request that was opened, ``why``
    says what ended it early."""

    made: tuple[Mended, ...] = ()
    head: str = ""
    tree: str = ""
    is_open: bool = False
    url: str = ""
    why: str = ""
    commits: tuple[str, ...] = ()


def barred(at: Situation) -> str:
    """Why nothing may be written on the head's branch, whoever asks; empty where it may."""
    assert at.standing is not None
    pull, default = at.standing.pull, at.job.event.default_branch
    if at.job.inputs.is_dry:
        return "this is a dry run"
    if pull.is_fork:
        return "the head is a fork's, where nothing is written"
    return f"the head {pull.head_ref} is the default branch" if pull.head_ref == default else ""


def is_topic(at: Situation) -> bool:
    """The head is a branch for this pull request, and nobody's default: where nobody can say whether it is protected, it counts
    as not."""
    assert at.standing is not None
    pull, default = at.standing.pull, at.job.event.default_branch
    return bool(default) and pull.head_ref not in (default, pull.base_ref)


def write(place: Place, chain: Chain, mode: str) -> Written:
    """Write the fixes of ``chain`` upon the head that stands there."""
    over = tuple(Mended(one.repair.id, RepairOutcome.SKIPPED, TOO_MANY) for one in chain.ready[MOST_COMMITS:])
    now = replace(chain, ready=chain.ready[:MOST_COMMITS])
    pushed = (_stacked if mode == PULL_REQUEST else _committed)(place, now) if now.ready else Pushed()
    made = (*_outcomes(place, now, pushed, is_stacked=mode == PULL_REQUEST), *over)
    on_branch = () if mode == PULL_REQUEST else pushed.commits
    is_ours = place.pull.head_sha != place.matter.review.revisions.head
    head, tree = (place.pull.head_sha, chain.start) if is_ours else ("", "")
    if on_branch:
        head, tree = on_branch[-1], chain.ready[len(on_branch) - 1].tree
    if pushed.halt is Halt.ALTERED:  # what stands there was never tried: the next review looks at it
        head, tree = "", ""
    return Written(made, head, tree, pushed.halt is Halt.UNSURE, pushed.url, pushed.why, on_branch)


def settled(place: Place, written: Written, *, fixed: Mapping[str, str], alter: Alter) -> Report:
    """Tell what came of it where it stands: the summary, the threads and the check run of the new head. ``fixed`` says by id what
    became of the findings of the review that are no more."""

    def altered(memory: PullMemory) -> PullMemory:
        changed = alter(memory).with_mended(*place.there, *written.made)
        return replace(changed, unfinished=changed.unfinished if written.is_open else "")

    matter = replace(place.matter, alter=altered)
    if written.head:
        matter = replace(_derived(place, written, fixed), alter=altered)
    if written.head and not _has_followed(place, written.head):
        return _only_remembered(place, matter)
    report = posts.published(matter, place.at, place.hub, argued=place.argued)
    return _only_remembered(place, matter) if report.skip_reason == "head_moved" else report


def _committed(place: Place, chain: Chain) -> Pushed:
    series = Series(place.pull.head_ref, place.pull.head_sha, _steps(chain))
    return pushing.push(series, place.hub, me=place.standing.me, is_open_to_us=is_topic(place.at))


def _stacked(place: Place, chain: Chain) -> Pushed:
    pull = place.pull

    def opening(commits: Sequence[str]) -> tuple[str, str]:
        made = [(one.repair, sha) for one, sha in zip(chain.ready, commits, strict=True)]
        title = fixes.title_of_pull(pull.number, (repair.id for repair, _ in made))
        return title, fixes.body_of_pull(pull.number, made)

    series = Series(f"reviewbot/fix-{pull.number}-{pull.head_sha[:12]}", pull.head_sha, _steps(chain))
    return pushing.stack(series, place.hub, pull, me=place.standing.me, opened=opening)


def _steps(chain: Chain) -> tuple[Step, ...]:
    told = [(fixes.message(one.repair, beside=one.beside), one) for one in chain.ready]
    return tuple(Step(said.headline, said.body, one.edits, said.trailers) for said, one in told)


def _outcomes(place: Place, chain: Chain, pushed: Pushed, *, is_stacked: bool) -> Iterator[Mended]:
    """What became of each fix that was to be written."""
    head, halt = place.pull.head_sha, pushed.halt
    for number, one in enumerate(chain.ready):
        name, commit = one.repair.id, pushed.commits[number] if number < len(pushed.commits) else ""
        is_odd = halt is Halt.ALTERED and number == len(pushed.commits) - 1
        if pushed.number if is_stacked else commit and not is_odd:
            beside = f"proven together with {', '.join(one.beside)}" if one.beside else ""
            yield Mended(name, RepairOutcome.FIXED, beside, head, commit, pushed.number)
        else:
            is_bad = is_odd or halt is Halt.INVALID
            outcome = RepairOutcome.FAILED if is_bad else RepairOutcome.SKIPPED
            why = WHY.get(halt, pushed.why) if halt else pushed.why
            yield Mended(name, outcome, why, head, commit if is_odd else "")


def _derived(place: Place, written: Written, fixed: Mapping[str, str]) -> Matter:
    """The review as one of the head that is ours now."""
    git, matter = place.git, place.matter
    about = replace(place.revisions, head=written.head, head_tree=written.tree)
    before = git.resolve(Target(TargetKind.RANGE, base=matter.review.revisions.head, head=place.revisions.base)).base_tree
    since = Revisions(TargetKind.RANGE.value, matter.review.revisions.head, written.head, before, written.tree)
    change = _read(git, about)
    gone = {known.id: known.reason for known in matter.history.findings if known.fate is Fate.FIXED}
    review = ours.after(matter.review, change, mended={**gone, **fixed}, moved=_read(git, since))
    return replace(matter, review=review, change=change, history=carry.history_after(review, matter.history), offers=())


def _read(git: GitRepo, revisions: Revisions) -> ChangeSet:
    return diff.read(git.diff(revisions), revisions)


def _has_followed(place: Place, head: str) -> bool:
    """The pull request has this head. A forge takes a moment to see what was put on its branch."""
    for seconds in SECONDS:
        time.sleep(seconds)
        now = place.hub.standing(place.pull.number).pull.head_sha
        if now == head or now != place.pull.head_sha:
            break
    return now == head


def _only_remembered(place: Place, matter: Matter) -> Report:
    """Somebody pushed meanwhile, and has a review of their own: what was written is remembered, and counts as seen."""
    now = place.hub.standing(place.pull.number)
    memory = matter.alter(own.memory(now))
    for action in plan.remembering(replace(memory, history=with_dismissals(matter.history, memory.history)), now):
        place.hub.do(action)
    return Report(notices=(WHY[Halt.MOVED],))
