"""From what should stand under a pull request and what does, what is to be done. Pure: planned again after any part of it was
done, the rest comes out, and nothing once all is done.

The summary comes last: its state says that a head was reviewed, so it may only stand there when all else does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reviewbot.domain.action import (
    Action,
    AddLabels,
    DeletePendingReview,
    DismissReview,
    EditComment,
    InlineComment,
    MinimizeComment,
    PostComment,
    PostReview,
    RemoveLabel,
    ReplyThread,
    ResolveThread,
    ReviewEvent,
)
from reviewbot.domain.forge import (
    AuthorKind,
    Standing,
)
from reviewbot.domain.history import Fate, PullMemory
from reviewbot.domain.review import Conclusion
from reviewbot.publish import markers, own, state
from reviewbot.publish.markdown_finding import fitting
from reviewbot.publish.own import OwnReview, OwnThread
from reviewbot.publish.sanitise import code_span
from reviewbot.publish.wanted import Wanted

OPINIONS = ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")
_MOVED_BYTES = 55_000
NO_LONGER = "No longer found."


SINCE = "**Since then:**"


def plan(wanted: Wanted, standing: Standing) -> tuple[Action, ...]:
    """What is to be done, in order."""
    return (
        *_pending(wanted, standing),
        *_review(wanted, standing),
        *_threads(wanted, standing),
        *_dismissals(wanted, standing),
        *_check(wanted, standing),
        *_labels(wanted, standing),
        *_duplicates(standing),
        *_summary(wanted, standing),
    )


def remembering(memory: PullMemory, standing: Standing) -> tuple[Action, ...]:
    """How a memory is kept without a review: other state in the summary that stands there, or a summary that says nothing yet."""
    found = own.summaries(standing)
    line = state.encode(memory)
    if not found:
        return (PostComment(standing.pull.number, f"{markers.SUMMARY}\n{line}\n**reviewbot:** not reviewed yet.\n"),)
    if own.remembered(standing).memory == state.decode(line).memory:
        return ()
    return (EditComment(found[0].id, _since(own.with_state(found[0].body, line), memory)),)


def _since(body: str, memory: PullMemory) -> str:
    """A summary that says at once what was dismissed since it was written: its table still tells it."""
    marker, line, *words = body.split("\n", 2)
    told = "".join(words)
    if told.startswith(SINCE):
        told = told.partition("\n\n")[2]
    gone = [known.id for known in memory.history.findings if known.fate is Fate.DISMISSED and f"| {known.id} " in told]
    said = f"{SINCE} dismissed {', '.join(map(code_span, gone))}.\n\n" if gone else ""
    return "\n".join((marker, line, f"{said}{told}"))


def without_lines(action: PostReview, wanted: Wanted) -> PostReview:
    """The same review with its comments as parts of its body: where the forge refuses one of the lines and does not say which."""
    words = dict(wanted.off_lines)
    told = [words[comment.fingerprint] for comment in action.comments]
    kept = fitting(told, _MOVED_BYTES, least=0)
    more = [f"And {len(told) - len(kept)} more: see the summary."] if len(kept) < len(told) else []
    return replace(action, comments=(), body="\n\n".join((action.body, *kept, *more)))


def closing(wanted: Wanted, thread: OwnThread) -> tuple[Action, ...]:
    """What is done about a thread that may not be resolved: it is folded away, and answered. The answer comes last: it is by it
    that the next run knows."""
    words = {closed.fingerprint: closed.words for closed in wanted.closed}.get(thread.mark.fingerprint, NO_LONGER)
    return folded(wanted.number, thread, words)


def folded(number: int, thread: OwnThread, words: str) -> tuple[Action, ...]:
    """A thread folded away and answered with ``words``, which are safe Markdown."""
    first = thread.thread.comments[0]
    answer = f"{markers.closed(thread.mark.fingerprint)}\n{words}"
    return (MinimizeComment(first.node_id), ReplyThread(number, first.id, answer))


def _pending(wanted: Wanted, standing: Standing) -> Iterator[Action]:
    """A review that was begun and never submitted stands in the way of any other. Where the token is a person's, one without our
    marker stays: they may be writing it."""
    for posted in standing.reviews:
        ours = standing.me.kind is AuthorKind.BOT or markers.review_of(posted.body) is not None
        if posted.is_own and posted.state == "PENDING" and ours:
            yield DeletePendingReview(wanted.number, posted.id)


def _review(wanted: Wanted, standing: Standing) -> Iterator[Action]:
    """One review, if a comment on lines is missing or its word was not said yet."""
    said = own.reviews(standing)
    new = tuple(comment for comment in wanted.comments if not _is_told(comment, wanted, standing))
    to_say = _must_be_said(wanted, said)
    if not new and not to_say:
        return
    event = wanted.event if to_say else ReviewEvent.COMMENT
    mark = markers.review(wanted.head_sha, event, (comment.fingerprint for comment in new))
    yield PostReview(wanted.number, wanted.head_sha, event, f"{mark}\n{wanted.words}", new)


def _is_told(comment: InlineComment, wanted: Wanted, standing: Standing) -> bool:
    """It stands there: in a review of this head, in a thread that is open, or in one of this head that somebody closed."""
    fingerprint, head = comment.fingerprint, markers.token(wanted.head_sha)
    if any(said.mark.sha == head and fingerprint in said.mark.told for said in own.reviews(standing)):
        return True
    about = (thread for thread in own.threads(standing) if thread.mark.fingerprint == fingerprint)
    return any(not thread.is_closed or thread.mark.sha == head for thread in about)


def _must_be_said(wanted: Wanted, said: tuple[OwnReview, ...]) -> bool:
    """An approval is said once for each head. A request for changes stands until it is taken back, on whatever head."""
    if wanted.event is ReviewEvent.COMMENT:
        return False
    head = markers.token(wanted.head_sha)
    if any(one.mark.sha == head and one.mark.event is wanted.event for one in said):
        return False
    last = next((one.posted.state for one in reversed(said) if one.posted.state in OPINIONS), "")
    return not (wanted.event is ReviewEvent.REQUEST_CHANGES and last == "CHANGES_REQUESTED")


def _threads(wanted: Wanted, standing: Standing) -> Iterator[Action]:
    """Own threads whose finding is gone, or told in an older thread as well, and that nobody else answered."""
    gone = {closed.fingerprint for closed in wanted.closed}
    seen: set[str] = set()
    for thread in own.threads(standing):
        fingerprint = thread.mark.fingerprint
        if thread.is_closed:
            continue
        is_gone = fingerprint in gone or (wanted.closes_the_rest and fingerprint not in wanted.told)
        if (is_gone or fingerprint in seen) and not thread.thread.is_answered:
            yield ResolveThread(thread.thread.node_id)
        seen.add(fingerprint)


def _dismissals(wanted: Wanted, standing: Standing) -> Iterator[Action]:
    """Own words that no longer hold. No review that failed takes back a request for changes."""
    for said in own.reviews(standing):
        if said.posted.state == "CHANGES_REQUESTED" and _is_met(wanted, said):
            yield DismissReview(wanted.number, said.posted.id, "What was asked for is done, or no longer asked for.")
        if said.posted.state == "APPROVED" and _is_outlived(wanted, said):
            yield DismissReview(wanted.number, said.posted.id, "It was about an earlier state of the change.")


def _is_met(wanted: Wanted, said: OwnReview) -> bool:
    """The verdict asks for nothing any more, and rests on the whole change, or at least on all that the request told."""
    if wanted.decided is None or wanted.event is ReviewEvent.REQUEST_CHANGES:
        return False
    answered = wanted.told | {closed.fingerprint for closed in wanted.closed}
    return wanted.decided is Conclusion.COMPLETE or (bool(said.mark.told) and said.mark.told <= answered)


def _is_outlived(wanted: Wanted, said: OwnReview) -> bool:
    if wanted.event is ReviewEvent.APPROVE:
        return False
    return said.mark.sha != markers.token(wanted.head_sha) or wanted.decided is not None


def _check(wanted: Wanted, standing: Standing) -> Iterator[Action]:
    """One check run for each head, with other words where they differ. A forge adds annotations to those that stand there:
    one that ended has had its own, and would show them twice."""
    slug = standing.me.login.removesuffix("[bot]").casefold()
    ours = [
        check
        for check in standing.checks
        if check.id and (check.name, check.external_id) == (wanted.check.name, wanted.check.external_id)
        if not check.app or check.app.casefold() == slug
    ]
    if not ours:
        yield wanted.check
    elif (ours[-1].title, ours[-1].conclusion) != (wanted.check.title, wanted.check.conclusion.value):
        annotations = wanted.check.annotations if ours[-1].conclusion is None else ()
        yield replace(wanted.check, check_id=ours[-1].id, annotations=annotations)


def _labels(wanted: Wanted, standing: Standing) -> Iterator[Action]:
    worn = {label.casefold() for label in standing.pull.labels}
    if missing := sorted(label for label in wanted.labels if label.casefold() not in worn):
        yield AddLabels(wanted.number, tuple(missing))
    unwanted = {label.casefold() for label in wanted.managed_labels} - {label.casefold() for label in wanted.labels}
    for label in standing.pull.labels:
        if label.casefold() in unwanted:
            yield RemoveLabel(wanted.number, label)


def _duplicates(standing: Standing) -> Iterator[Action]:
    """Two runs raced, and both posted a summary."""
    for said in own.summaries(standing)[1:]:
        if not said.is_minimized:
            yield MinimizeComment(said.node_id, "DUPLICATE")


def _summary(wanted: Wanted, standing: Standing) -> Iterator[Action]:
    found = own.summaries(standing)
    if not found:
        yield PostComment(wanted.number, wanted.summary)
        return
    stands = own.remembered(standing).memory
    kept = state.decode(own.state_line(wanted.summary)).memory
    if stands is None or kept is None or _essence(stands) != _essence(kept):
        yield EditComment(found[0].id, wanted.summary)


def _essence(memory: PullMemory) -> tuple[object, ...]:
    """What of a memory is worth a write: not which run it was, what it cost, nor in which words a finding was told."""
    history = memory.history
    findings = tuple((known.id, known.fingerprint, known.fate, known.reason, known.by) for known in history.findings)
    told = (memory.said, memory.paused_by, memory.stopped, memory.handled, memory.status_comment)
    made = (memory.mended, memory.autofix_off, memory.autofix_why, memory.mended_head, memory.unfinished)
    return (*told, *made, history.head, history.course, history.seen, history.whole, history.next_number, findings)
