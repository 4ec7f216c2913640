"""The last commit of ours taken back: its files as they were before it, byte for byte, where nobody else touched them since."""

from __future__ import annotations

from dataclasses import replace

from reviewbot import pushing
from reviewbot.domain.forge import (
    Touched,
)
from reviewbot.domain.history import UNDONE, Fate, Mended, PullMemory
from reviewbot.domain.repair import Edit, RepairOutcome
from reviewbot.events import mended
from reviewbot.publish import fixes as words
from reviewbot.publish import replies
from reviewbot.publish.sanitise import code_span
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
    standing, memory = at.standing, at.memory
    assert standing is not None
    there = {commit.sha for commit in standing.commits}
    made = next((one for one in reversed(memory.mended) if _is_ours(one) and one.commit in there), None)
    if made is None:
        waits = next((one for one in reversed(memory.mended) if one.pull), None)
        return _refused(WAITS.format(code_span(waits.id), waits.pull) if waits else NOTHING)
    if why := writing.barred(at):
        return _refused(f"{why}.")
    touched = hub.touched(made.commit, standing.pull.head_sha)
    gone = replace(made, outcome=RepairOutcome.SKIPPED, why=f"{UNDONE} by {by}", commit="")
    if touched and all(file.is_taken_back for file in touched):
        return _found_undone(at, hub, made, gone=gone)
    if others := [file.path for file in touched if not file.is_intact]:
        shown = ", ".join(code_span(path, limit=200) for path in others[:5])
        return _refused(f"somebody changed {shown} since {made.commit[: words.SHORT]}: what they did would be lost.")
    edits = tuple(_edit(file, hub) for file in touched)
    return _written(at, hub, made, gone=gone, edits=edits)


def _written(at: Situation, hub: Hub, made: Mended, *, gone: Mended, edits: tuple[Edit, ...]) -> Answered:
    standing = at.standing
    assert standing is not None
    pull, said = standing.pull, words.undoing(made.id, made.commit)
    step = Step(said.headline, said.body, edits, said.trailers)
    series = Series(pull.head_ref, pull.head_sha, (step,))
    pushed = pushing.push(series, hub, me=standing.me, is_open_to_us=writing.is_topic(at))
    if not pushed.commits:
        why = writing.WHY.get(pushed.halt, pushed.why) if pushed.halt else pushed.why
        report = Report(exit_code=3 if pushed.halt is pushing.Halt.UNSURE else 0)
        return replace(_refused(f"{why}."), report=report)

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


def _found_undone(at: Situation, hub: Hub, made: Mended, *, gone: Mended) -> Answered:
    """The files are as they were before: by a run of ours that was cut off after it, or by somebody else."""
    standing = at.standing
    assert standing is not None
    ours = (one for one in standing.commits if mended.is_ours(one, standing.me) and mended.is_undo(one))
    if not any(made.commit in mended.undone(one) for one in ours):
        return _refused(f"somebody took {made.commit[: words.SHORT]} back already.")
    _told_anew(at, hub, gone, edits=(), commit=standing.pull.head_sha)
    text = f"The fix of {code_span(made.id)} is taken back."
    return Answered(text, lambda memory: _reopened(memory.with_mended(gone), made.id), done=True)


def _edit(file: Touched, hub: Hub) -> Edit:
    return Edit(file.path, None if file.before is None else hub.blob(file.before))


def _reopened(memory: PullMemory, finding: str) -> PullMemory:
    """The finding stands again."""
    known = next((one for one in memory.history.findings if one.id == finding), None)
    if known is None or known.fate is not Fate.FIXED:
        return memory
    return memory.with_known(replace(known, fate=Fate.OPEN, reason=""))


def _is_ours(made: Mended) -> bool:
    """It is on the branch, whatever is thought of it by now."""
    return bool(made.commit) and not made.pull and not made.why.startswith(UNDONE)


def _as_it_is(memory: PullMemory) -> PullMemory:
    return memory


def _refused(why: str) -> Answered:
    return Answered(replies.refused(why))
