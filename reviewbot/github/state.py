"""What is kept on the pull request itself: a hidden line in the summary, and hidden markers.

A marker counts where it opens a comment that this account wrote: anybody can write such a line.
The state holds what people decided, numbers, and what panelists read; never what is open or fixed.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.github.actions import ReviewEvent
from reviewbot.github.snapshot import Comment, PostedReview, Snapshot, Thread
from reviewbot.severity import RANK
from reviewbot.text.plain import shortened_bytes
from reviewbot.verdict.document import Memory

SUMMARY = "<!-- reviewbot:summary -->"
MAX_CHARACTERS, MAX_INFLATED = 20_000, 400_000  # of the line; bytes of what is in it
MAX_BODY = 65_000  # bytes of a comment; GitHub refuses 65,537 characters
MAX_TITLE = 120
STATE = re.compile(r"<!-- reviewbot:state ([A-Za-z0-9+/=]+) -->")
ID = re.compile(r"F[0-9]{1,6}")
# The first line of a comment that is about a finding, of an answer in its thread when it is gone,
# of a review, and of an answer to a command; and how they are read.
FINDING_MARKER = "<!-- reviewbot:finding key={key} id={id} commit={commit} -->"
CLOSED_MARKER = "<!-- reviewbot:closed key={key} -->"
REVIEW_MARKER = "<!-- reviewbot:review commit={commit} event={event} keys={keys} -->"
ANSWER_MARKER = "<!-- reviewbot:answer comment={comment} -->"
EVENT = "(COMMENT|APPROVE|REQUEST_CHANGES)"
FINDING = re.compile(FINDING_MARKER.format(key=r"([\w-]+)", id="(F[0-9]{1,6})", commit=r"(\w*)"))
CLOSED = re.compile(CLOSED_MARKER.format(key=r"([\w-]+)"))
REVIEW = re.compile(REVIEW_MARKER.format(commit=r"(\w+)", event=EVENT, keys=r"([\w,-]*)"))
ANSWER = re.compile(ANSWER_MARKER.format(comment=r"(\d{1,20})"))


class Fix(Struct, frozen=True, kw_only=True):
    """A commit of ours."""

    commit: str
    findings: tuple[str, ...]


class State(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the next run needs to know.

    Attributes:
        head: the commit that was reviewed last, to be merged into the branch `base`.
        fails: `fail_on` was reached.
        run_id: of the workflow run that did it, which keeps the document.
        fixes: commits that /debate undo can take back, the last one last.
        taken_back: findings whose fixes were taken back by it.
    """

    version: int = 1
    memory: Memory = Memory()
    head: str = ""
    base: str = ""
    fails: bool = False
    run_id: int = 0
    paused_by: str = ""
    stopped_by: str = ""
    reviews: int = 0
    cost_usd: float = 0
    fixes: tuple[Fix, ...] = ()
    taken_back: tuple[str, ...] = ()

    def with_cost(self, cost_usd: float, reviews: int = 0) -> State:
        """The state after something was paid for: so many reviews, or questions of people."""
        total = round(self.cost_usd + cost_usd, 6)
        return replace(self, cost_usd=total, reviews=self.reviews + reviews)


class OwnThread(Struct, frozen=True):
    """A thread that begins with a finding.

    Attributes:
        commit: the head when it was posted.
        is_folded: it was closed without being resolved, by a token that may not do that.
        is_answered: somebody else wrote in it.
    """

    thread: Thread
    key: str
    id: str
    commit: str
    is_folded: bool
    is_answered: bool

    @property
    def is_closed(self) -> bool:
        return self.thread.is_resolved or self.is_folded


class OwnReview(Struct, frozen=True):
    posted: PostedReview
    commit: str
    event: ReviewEvent
    keys: frozenset[str]


def encode_state(state: State) -> str:
    """The hidden line. What is too much goes by and by, and late what people dismissed.

    First go the parts that panelists read, so that they read them again, then the lowest numbers
    (the highest keeps any from being given twice), the mildest findings, and at last the fixes.
    """
    memory = state.memory
    parts = [*memory.parts.items()]  # those at head stand last
    numbers = sorted(memory.numbers.items(), key=lambda item: int(item[1][1:]))
    findings = [
        replace(known, title=known.title[:MAX_TITLE], text=known.text[:MAX_TITLE])
        for known in memory.findings
    ]
    while True:
        kept = replace(memory, parts=dict(parts), numbers=dict(numbers), findings=tuple(findings))
        document = msgspec.to_builtins(replace(state, memory=kept))
        # Models write lone surrogates, which UTF-8 does not have.
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        content = text.encode("utf-8", "replace")
        if len(content) <= MAX_INFLATED:
            packed = base64.b64encode(zlib.compress(content, 9)).decode("ascii")
            line = f"<!-- reviewbot:state {packed} -->"
            if len(line) <= MAX_CHARACTERS:
                return line
        if parts:
            parts = parts[len(parts) // 8 + 1 :]
        elif len(numbers) > 1:
            numbers = numbers[len(numbers) // 8 + 1 :]
        elif findings:
            findings.sort(key=lambda known: (bool(known.dismissed), RANK[known.severity]))
            findings = findings[len(findings) // 8 + 1 :]
        else:
            state = replace(state, fixes=(), taken_back=())


def decode_state(line: str) -> State | None:
    """None for a line that is none, or of another version."""
    match = STATE.fullmatch(line.strip())
    if match is None or len(line) > MAX_CHARACTERS + 100:
        return None
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(base64.b64decode(match[1], validate=True), MAX_INFLATED + 1)
        state = msgspec.json.decode(content, type=State)
    except (ValueError, zlib.error, RecursionError):
        return None
    ids = [*state.memory.numbers.values(), *(known.id for known in state.memory.findings)]
    is_right = inflate.eof and state.version == 1 and all(map(ID.fullmatch, ids))
    return state if is_right else None


def summaries_of(snapshot: Snapshot) -> list[Comment]:
    """Our summaries. The one that counts is first: the oldest that is not folded away."""
    found = [c for c in snapshot.comments if c.is_own and _first_line(c.body) == SUMMARY]
    return sorted(found, key=lambda comment: (comment.is_minimized, comment.id))


def state_of(snapshot: Snapshot) -> State:
    """The state that is kept; what was given a number there and is lost has it in its thread."""
    lines = [comment.body.split("\n", 2) for comment in summaries_of(snapshot)[:1]]
    state = decode_state(lines[0][1]) if lines and len(lines[0]) > 1 else None
    state = state or State()
    numbers = {own.key: own.id for own in reversed(threads_of(snapshot))}
    numbers |= {known.key: known.id for known in state.memory.findings}
    numbers |= state.memory.numbers
    return replace(state, memory=replace(state.memory, numbers=numbers))


def with_state(body: str, state: State) -> str:
    """A summary with another state."""
    words, line = body.partition("\n")[2], encode_state(state)
    if STATE.match(words):
        words = words.partition("\n")[2]
    room = MAX_BODY - len(SUMMARY) - len(line) - 2
    return f"{SUMMARY}\n{line}\n{shortened_bytes(words, room)}"


def threads_of(snapshot: Snapshot) -> list[OwnThread]:
    """Those that are not folded, then those with answers, then the oldest come first.

    Of several about one finding the first one counts.
    """
    found = []
    for thread in filter(lambda thread: thread.comments, snapshot.threads):
        first, *later = thread.comments
        match = FINDING.fullmatch(_first_line(first.body)) if first.is_own else None
        if match:
            is_folded = any(c.is_own and CLOSED.fullmatch(_first_line(c.body)) for c in later)
            is_answered = any(not comment.is_own for comment in later)
            found.append(OwnThread(thread, match[1], match[2], match[3], is_folded, is_answered))
    found.sort(key=lambda own: (own.is_folded, not own.is_answered, own.thread.comments[0].id))
    return found


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
