"""What of a standing is ours: the summary and its memory, threads by finding, reviews by head. A marker under another name is
nothing but words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reviewbot.domain.forge import (
    Comment,
    PostedReview,
    Standing,
    Thread,
)
from reviewbot.domain.history import PullMemory
from reviewbot.errors import ForgeError
from reviewbot.publish import markers, state
from reviewbot.publish.markers import FindingMark, ReviewMark

MOST_CHARACTERS = 64_000
"""Of a summary: a forge takes 65,536, however it counts."""
SHORTENED = "\n\n**Shortened:** the review document has all.\n"


@dataclass(frozen=True, slots=True)
class OwnThread:
    """A thread that we began about a finding."""

    thread: Thread
    mark: FindingMark

    @property
    def is_closed(self) -> bool:
        """It was resolved, or said to be done with where resolving was not permitted."""
        later = self.thread.comments[1:]
        return self.thread.is_resolved or any(said.is_own and markers.is_closing(said.body) for said in later)


@dataclass(frozen=True, slots=True)
class OwnReview:
    """A review that we posted."""

    posted: PostedReview
    mark: ReviewMark


def expect_whole(standing: Standing) -> None:
    """Raises ForgeError where words of ours may stand among what could not be read: they would be said again, and what they
    remember (a pause, a dismissal) would be forgotten."""
    if standing.hides_own:
        words = "what stands under the pull request cannot be read whole, and our own words may be among the rest"
        raise ForgeError(words, hint="give the token 'pull-requests: read'; a pull request with so many comments is not reviewed")


def summaries(standing: Standing) -> tuple[Comment, ...]:
    """Our summaries, the one that is kept first: the oldest of those that are not folded away. More than one stand there where
    two runs raced."""
    found = [said for said in standing.comments if said.is_own and markers.is_summary(said.body)]
    return tuple(sorted(found, key=lambda said: (said.is_minimized, said.id)))


def remembered(standing: Standing) -> state.Kept:
    """The memory in our summary, or why there is none."""
    found = summaries(standing)
    if not found:
        return state.Kept(None, "there is no summary yet")
    return state.decode(state_line(found[0].body))


def memory(standing: Standing) -> PullMemory:
    """The memory in our summary; a blank one where there is none."""
    return remembered(standing).memory or PullMemory()


def state_line(body: str) -> str:
    """The second line of a summary: where the state stands, and nowhere else."""
    lines = body.split("\n", 2)
    return lines[1].rstrip("\r") if len(lines) > 1 else ""


def with_state(body: str, line: str) -> str:
    """A summary with another state, and the same words."""
    first, *rest = body.split("\n", 1)
    words = rest[0] if rest else ""
    if state_line(body).startswith("<!-- reviewbot:state "):
        words = words.split("\n", 1)[1] if "\n" in words else ""
    return f"{first.rstrip()}\n{line}\n{_within(words, MOST_CHARACTERS - len(first) - len(line))}"


def _within(words: str, most: int) -> str:
    """Whole paragraphs, as many as there is room for: what is remembered may grow under words that stay."""
    if len(words) <= most:
        return words
    kept = words[: most - len(SHORTENED)].rpartition("\n\n")[0]
    return f"{kept}{SHORTENED}"


def threads(standing: Standing) -> tuple[OwnThread, ...]:
    """Our threads about findings, in order."""
    return tuple(_threads(standing))


def reviews(standing: Standing) -> tuple[OwnReview, ...]:
    """Our submitted reviews, in order."""
    ours = (posted for posted in standing.reviews if posted.is_own and posted.state != "PENDING")
    return tuple(OwnReview(posted, mark) for posted in ours if (mark := markers.review_of(posted.body)))


def open_threads(standing: Standing) -> Mapping[str, OwnThread]:
    """The threads that are not closed, by the finding's fingerprint."""
    return {own.mark.fingerprint: own for own in _threads(standing) if not own.is_closed}


def _threads(standing: Standing) -> Iterator[OwnThread]:
    for thread in standing.threads:
        if thread.is_own and (mark := markers.finding_of(thread.comments[0].body)):
            yield OwnThread(thread, mark)
