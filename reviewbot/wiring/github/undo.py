"""The last commit of ours taken back: its files as they were before it, byte for byte, where nobody else touched them since."""

from __future__ import annotations

from dataclasses import replace

from reviewbot import pushing
from reviewbot.domain.forge import (
    Commit,
    Touched,
)
from reviewbot.domain.history import UNDONE, Fate, Mended, PullMemory
from reviewbot.domain.repair import Edit, RepairOutcome
from reviewbot.events import mended
from reviewbot.publish import fixes as words
from reviewbot.publish import replies
from reviewbot.publish.sanitise import code_span, inline
from reviewbot.pushing import Series, Step
from reviewbot.wiring.github import fixes, ground, orders, requested, writing
from reviewbot.wiring.github.job import Report
from reviewbot.wiring.github.requested import Answered
from reviewbot.wiring.github.situation import Hub, Situation
from reviewbot.wiring.github.writing import Written
from reviewbot.wiring.scene import opened

NOTHING = "there is no commit of mine on this pull request that could be taken back."
WAITS = "the fix of {} waits in #{}: close that pull request, and nothing has to be taken back."
NEVER = "I do not write it again by myself."
BY_THEN = "The next push, or a review that somebody asks for, tells the finding again."


def undo(at: Situation, hub: Hub, *, by: str) -> Answered:
    """Take it back, if the head still has it as it was written. Raises ReviewbotError."""
    standing = at.standing
    assert standing is not None
    if (begun := _begun(at)) is not None:
        return _finished(at, hub, gone=_gone(begun, by))
    made = _last(at)
    if made is None:
        waits = next((one for one in reversed(at.memory.mended) if one.pull), None)
        return _refused(WAITS.format(code_span(waits.id), waits.pull) if waits else NOTHING)
    if why := writing.barred(at):
        return _refused(f"{inline(why)}.")
    touched = hub.touched(made.commit, standing.pull.head_sha)
    gone = _gone(made, by)
    if touched and all(file.is_taken_back for file in touched):
        ours = any(made.commit in mended.undone(commit) for commit in _undoings(at))
        return _finished(at, hub, gone=gone) if ours else _refused(f"somebody took {made.commit[: words.SHORT]} back already.")
    if others := [file.path for file in touched if not file.is_intact]:
        shown = ", ".join(code_span(path, limit=200) for path in others[:5])
        return _refused(f"somebody changed {shown} since {made.commit[: words.SHORT]}: what they did would be lost.")
    edits = tuple(_edit(file, hub) for file in touched)
    return _written(at, hub, made, gone=gone, edits=edits)


def _written(at: Situation, hub: Hub, made: Mended, *, gone: Mended, edits: tuple[Edit, ...]) -> Answered:
    standing = at.standing
    assert standing is not None
    command = at.job.event.comment.id if at.job.event.comment else 0
    pull, said = standing.pull, words.undoing(made.id, made.commit, command=command)
    step = Step(said.headline, said.body, edits, said.trailers)
    series = Series(pull.head_ref, pull.head_sha, (step,))
    pushed = pushing.push(series, hub, me=standing.me, is_open_to_us=writing.is_topic(at))
    if not pushed.commits:
        why = writing.WHY.get(pushed.halt, pushed.why) if pushed.halt else pushed.why
        report = Report(exit_code=3 if pushed.halt is pushing.Halt.UNSURE else 0)
        return replace(_refused(f"{inline(why)}."), report=report)

    def change(memory: PullMemory) -> PullMemory:
        return _reopened(memory.with_mended(gone), made.id)

    (commit,) = pushed.commits
    told = _told_anew(at, hub, gone, edits=edits, commit=commit)
    text = f"The fix of {code_span(made.id)} is taken back by {commit[: words.SHORT]}: its files are as they were before."
    more = "" if told else f" {BY_THEN}"
    quiet = f"\n\n{words.STARTS_NOTHING}" if words.is_quiet(standing.me) else ""
    return Answered(
        f"{text} I do not write it again by myself.{more}{quiet}", change, done=True, report=Report(autofix_sha=commit)
    )


def _told_anew(at: Situation, hub: Hub, gone: Mended, *, edits: tuple[Edit, ...], commit: str) -> bool:
    """The review of the head without the fix, where its document can be had: the finding stands there again."""
    standing = at.standing
    assert standing is not None
    review = requested.with_fixes(at, hub)
    if review is None:
        return False
    with ground.found(at.job, standing.pull, hub, more=(review.revisions.head,)) as found:
        order = orders.order_of(at.job, found, standing, memory=at.memory, execute=False)
        with opened(order) as scene:
            place = requested.place_of(at, hub, scene, review=review)
            if place is None:
                return False
            matter = replace(place.matter, history=_reopened(at.memory, gone.id).history)
            others = tuple(one for one in place.there if one.id != gone.id)
            place = replace(place, matter=matter, there=others)
            made = Written((gone,), commit, place.git.graft(place.head_tree, edits))
            writing.settled(place, made, fixed=fixes.fixed(*others), alter=_as_it_is)
    return True


def _finished(at: Situation, hub: Hub, *, gone: Mended) -> Answered:
    """What a run of ours did that was cut off after it, told."""
    standing = at.standing
    assert standing is not None
    _told_anew(at, hub, gone, edits=(), commit=standing.pull.head_sha)
    text = f"The fix of {code_span(gone.id)} is taken back. {NEVER}"
    return Answered(text, lambda memory: _reopened(memory.with_mended(gone), gone.id), done=True)


def _begun(at: Situation) -> Mended | None:
    """What this very command took back already, in a run that was cut off."""
    said = at.job.event.comment
    for commit in _undoings(at):
        if said is not None and str(said.id) in mended.commands(commit):
            (finding,) = mended.findings(commit)
            return Mended(finding, RepairOutcome.FIXED, head=commit.parents[0])
    return None


def _undoings(at: Situation) -> tuple[Commit, ...]:
    """Commits of ours that take others back."""
    standing = at.standing
    assert standing is not None
    return tuple(one for one in standing.commits if mended.is_ours(one, standing.me) and mended.is_undo(one))


def _last(at: Situation) -> Mended | None:
    """The last commit of ours that is on the branch, whatever is thought of it by now."""
    assert at.standing is not None
    there = {commit.sha for commit in at.standing.commits}
    ours = (one for one in reversed(at.memory.mended) if one.commit in there and not one.pull)
    return next((one for one in ours if not one.why.startswith(UNDONE)), None)


def _gone(made: Mended, by: str) -> Mended:
    return replace(made, outcome=RepairOutcome.SKIPPED, why=f"{UNDONE} by {by}", commit="")


def _edit(file: Touched, hub: Hub) -> Edit:
    return Edit(file.path, None if file.before is None else hub.blob(file.before))


def _reopened(memory: PullMemory, finding: str) -> PullMemory:
    """The finding stands again."""
    known = next((one for one in memory.history.findings if one.id == finding), None)
    if known is None or known.fate is not Fate.FIXED:
        return memory
    return memory.with_known(replace(known, fate=Fate.OPEN, reason=""))


def _as_it_is(memory: PullMemory) -> PullMemory:
    return memory


def _refused(why: str) -> Answered:
    return Answered(replies.refused(why))
