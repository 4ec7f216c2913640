"""What is kept on the pull request itself: a hidden line in the summary, and hidden markers.

A marker counts where it opens a comment that this account wrote: anybody can write such a line.
The state holds what people decided, numbers, and what panelists read; never what is open or fixed.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Collection, Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.github.actions import ReviewEvent
from reviewbot.github.snapshot import Comment, PostedReview, Snapshot, Thread
from reviewbot.verdict.document import Memory

SUMMARY = "<!-- reviewbot:summary -->"
MAX_CHARACTERS = 20_000
MAX_INFLATED = 400_000
MAX_TITLE = 120
STATE = re.compile(r"<!-- reviewbot:state ([A-Za-z0-9+/=]+) -->")
FINDING = re.compile(r"<!-- reviewbot:finding key=([\w-]+) id=(F\d{1,6}) commit=\w* -->")
CLOSED = re.compile(r"<!-- reviewbot:closed key=([\w-]+) -->")
REVIEW = re.compile(
    r"<!-- reviewbot:review commit=(\w+) event=(COMMENT|APPROVE|REQUEST_CHANGES) keys=([\w,-]*) -->"
)
ANSWER = re.compile(r"<!-- reviewbot:answer comment=(\d{1,20}) -->")


class State(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the next run needs to know.

    Attributes:
        head, base: the commits of the last review.
        run_id: of the workflow run that made it, which keeps its document.
        paused_by: who paused reviews of pushes.
        stopped_by: who stopped everything but /debate resume.
        reviews, cost_usd: of this pull request so far.
    """

    version: int = 1
    memory: Memory = Memory()
    head: str = ""
    base: str = ""
    run_id: int = 0
    paused_by: str = ""
    stopped_by: str = ""
    reviews: int = 0
    cost_usd: float = 0


class OwnThread(Struct, frozen=True):
    """A thread that begins with a finding.

    Attributes:
        is_folded: it was closed without being resolved, by a token that may not do that.
    """

    thread: Thread
    key: str
    id: str
    is_folded: bool

    @property
    def is_closed(self) -> bool:
        return self.thread.is_resolved or self.is_folded

    @property
    def is_answered(self) -> bool:
        """Whether somebody else wrote in it."""
        return any(not comment.is_own for comment in self.thread.comments[1:])


class OwnReview(Struct, frozen=True):
    posted: PostedReview
    commit: str
    event: ReviewEvent
    keys: frozenset[str]


def finding_marker(key: str, id: str, commit: str) -> str:
    return f"<!-- reviewbot:finding key={key} id={id} commit={commit} -->"


def closed_marker(key: str) -> str:
    return f"<!-- reviewbot:closed key={key} -->"


def review_marker(commit: str, event: ReviewEvent, keys: Collection[str]) -> str:
    return f"<!-- reviewbot:review commit={commit} event={event} keys={','.join(keys)} -->"


def answer_marker(comment_id: int) -> str:
    return f"<!-- reviewbot:answer comment={comment_id} -->"


def encode_state(state: State) -> str:
    """The hidden line. What does not fit is dropped: the panel then reads those parts again."""
    memory = state.memory
    parts = list(memory.parts.items())
    findings = [
        replace(known, title=known.title[:MAX_TITLE], text=known.text[:MAX_TITLE])
        for known in memory.findings
    ]
    while True:
        memory = replace(memory, parts=dict(parts), findings=tuple(findings))
        content = zlib.compress(msgspec.json.encode(replace(state, memory=memory)), 9)
        line = f"<!-- reviewbot:state {base64.b64encode(content).decode('ascii')} -->"
        if len(line) <= MAX_CHARACTERS:
            return line
        if parts:  # those at head stand last
            parts = parts[len(parts) // 8 + 1 :]
            continue
        kept = [known for known in findings if known.dismissed]
        findings = kept if len(kept) < len(findings) else findings[len(findings) // 8 + 1 :]


def decode_state(line: str) -> State | None:
    """None for a line that is none, or of another version."""
    match = STATE.fullmatch(line.strip())
    if match is None or len(line) > MAX_CHARACTERS + 100:
        return None
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(base64.b64decode(match[1], validate=True), MAX_INFLATED)
        state = msgspec.json.decode(content, type=State)
    except (binascii.Error, zlib.error, msgspec.MsgspecError, RecursionError):
        return None
    return state if state.version == 1 and not inflate.unconsumed_tail else None


def summaries_of(snapshot: Snapshot) -> list[Comment]:
    """Our summaries. The one that counts is first: the oldest that is not folded away."""
    found = [c for c in snapshot.comments if c.is_own and _first_line(c.body) == SUMMARY]
    return sorted(found, key=lambda comment: (comment.is_minimized, comment.id))


def state_of(snapshot: Snapshot) -> State:
    """The state that is kept; what was given a number there and is lost has it in its thread."""
    lines = [comment.body.split("\n", 2) for comment in summaries_of(snapshot)[:1]]
    state = decode_state(lines[0][1]) if lines and len(lines[0]) > 1 else None
    state = state or State()
    numbers = {own.key: own.id for own in threads_of(snapshot)} | dict(state.memory.numbers)
    return replace(state, memory=replace(state.memory, numbers=numbers))


def with_state(body: str, state: State) -> str:
    """A summary with another state."""
    words = body.split("\n", 2)[2:] if STATE.match(body.partition("\n")[2]) else [body]
    return "\n".join([SUMMARY, encode_state(state), *words])


def threads_of(snapshot: Snapshot) -> Iterator[OwnThread]:
    for thread in snapshot.threads:
        first = thread.comments[0] if thread.comments else None
        match = FINDING.fullmatch(_first_line(first.body)) if first and first.is_own else None
        if match:
            is_folded = any(
                comment.is_own and CLOSED.fullmatch(_first_line(comment.body))
                for comment in thread.comments[1:]
            )
            yield OwnThread(thread, match[1], match[2], is_folded)


def reviews_of(snapshot: Snapshot) -> Iterator[OwnReview]:
    for posted in snapshot.reviews:
        match = REVIEW.fullmatch(_first_line(posted.body))
        if posted.is_own and posted.state != "PENDING" and match:
            event = msgspec.convert(match[2], ReviewEvent)
            yield OwnReview(posted, match[1], event, frozenset(filter(None, match[3].split(","))))


def answers_of(snapshot: Snapshot) -> dict[int, Comment]:
    """Our answers, by the id of the comment that they answer."""
    found = {}
    for comment in snapshot.comments:
        match = ANSWER.fullmatch(_first_line(comment.body)) if comment.is_own else None
        if match:
            found[int(match[1])] = comment
    return found


def _first_line(body: str) -> str:
    return body.split("\n", 1)[0].rstrip("\r")
