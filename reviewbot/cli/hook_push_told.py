"""What a push hook says: a few lines for a person who waits, or one JSON document, and the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reviewbot import wiring
from reviewbot.cli import glance
from reviewbot.cli.hook_push_skipped import WORD, nothing_in
from reviewbot.cli.options import HookArguments
from reviewbot.cli.output import wants_color
from reviewbot.cli.review import exit_code
from reviewbot.domain.debate import SeatStatus
from reviewbot.domain.review import Conclusion, Review
from reviewbot.errors import ReviewbotError
from reviewbot.publish import phrases, plain, terminal_hook
from reviewbot.publish.document import document, storable
from reviewbot.publish.terminal_hook import Manner
from reviewbot.wiring.outgoing import SHORT, Nothing, Part, Range
from reviewbot.wiring.pushing_hook import Prospect


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a part of a push: its review, or ``why`` there is none (nothing, where there was nothing to look at).
    ``known`` is what was known before; ``again``: the review was made by an earlier push."""

    part: Part
    outcome: wiring.Outcome | None = None
    why: str = ""
    known: Prospect | None = None
    again: bool = False

    @property
    def is_whole(self) -> bool:
        """All that there was to look at was looked at."""
        return not self.why and (self.outcome is None or self.outcome.review.conclusion is Conclusion.COMPLETE)

    @property
    def is_calm(self) -> bool:
        """There is nothing to be said of it that somebody should know."""
        return self.is_whole and (self.outcome is None or not self.outcome.review.posted())

    @property
    def blocks(self) -> bool:
        """It has findings for which the push is to be stopped."""
        return self.outcome is not None and exit_code(self.outcome.review, self.fail_on) == 1

    @property
    def fail_on(self) -> str:
        """The severity from which on findings stop the push."""
        return self.outcome.configuration.get("review.fail_on", str) if self.outcome else "none"


def code(ended: Sequence[Ended], *, strict: bool) -> int:
    """1 where a finding blocks, whatever else there is; 3 for what was not reviewed, where that counts; else 0."""
    if any(one.blocks for one in ended):
        return 1
    return 3 if strict and not all(one.is_whole for one in ended) else 0


def left_out(parts: Sequence[Part]) -> Iterator[str]:
    """A line for each ref that brings nothing to look at."""
    return nothing_in([(part.name, part.why) for part in parts if isinstance(part, Nothing)])


def opening(known: Prospect, *, anew: bool = False) -> Iterator[str]:
    """What is looked at, by whom, and what is to be known of that: a review takes a while. Or that it was looked at before."""
    subject = plain.line(known.range.subject)
    if anew:
        yield _laid(f"reviewbot: reviewing {subject}", plain.line(known.seating.why), joint="; ")
    else:
        yield _laid(f"reviewbot: {subject}", "was reviewed before, and nothing changed; --fresh reviews it again")
    yield from (_laid(f"reviewbot: {plain.line(note)}") for note in (*known.range.notes, *known.seating.notices))


def which(part: Part) -> Iterator[str]:
    """Whose findings are meant by F1, where several reviews were told."""
    known = f"reviewbot: explain and dismiss know the findings of {plain.line(_called(part))}"
    yield _laid(known, "the others by a review of their own", joint="; ")


def _laid(words: str, rest: str = "", *, joint: str = " ") -> str:
    return terminal_hook.told(words, rest, glance.columns(os.environ), joint=joint)


def text(one: Ended, arguments: HookArguments, *, environ: Mapping[str, str]) -> str:
    """What is told of a part that was to be looked at, each line ended. Where it is not quiet, its opening was told."""
    if isinstance(one.part, Nothing):
        return ""
    painted = wants_color(arguments.color or "auto", sys.stderr, environ)
    is_opened = one.outcome is not None and not arguments.quiet
    subject, columns = plain.line(_called(one.part) if is_opened else one.part.subject), glance.columns(environ)
    manner = Manner(subject, WORD, blocks=one.blocks, fail_on=one.fail_on, color=painted, columns=columns)
    if one.outcome is None:
        return terminal_hook.not_reviewed(one.why, manner)
    review = one.outcome.review
    told = terminal_hook.render(review, manner) if one.is_whole or review.posted() else ""
    told += "".join(f"{line}\n" for line in _not_run(review))
    return told if one.is_whole else told + terminal_hook.not_reviewed(_unfinished(one.part, review), manner)


def _not_run(review: Review) -> Iterator[str]:
    """A line that names the checks without which the review had to do, and why."""
    gaps = [f"{check.name} ({check.reason or 'ended early'})" for check in review.checks if check.is_gap]
    if gaps:
        yield _laid("reviewbot: not run, or not to the end:", plain.line(", ".join(gaps)))


def _called(part: Part) -> str:
    return part.name if isinstance(part, Nothing) else ", ".join(part.names)


def problem(error: ReviewbotError, part: Part) -> str:
    """Why something could not be done, and what to do: as the error says, or else by itself."""
    return str(error) if error.hint else f"{error}; {by_itself(part)}"


def _unfinished(part: Part, review: Review) -> str:
    """Why a review is not whole, and what to do."""
    reasons: dict[str, list[str]] = {}
    for entry in review.attendance:
        if entry.status is SeatStatus.LOST:
            reasons.setdefault(entry.reason or "no reason given", []).append(entry.seat.name)
    lost = [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]
    if review.conclusion is Conclusion.NOT_REVIEWED:
        return "; ".join((*lost, *review.notes[-1:], by_itself(part)))
    unseen = phrases.unseen(review)
    files = [f"{phrases.coverage(review)}, not {unseen[0].path}: {unseen[0].reason}"] if unseen else list(review.notes[-1:])
    return "; ".join((*files, *lost, by_itself(part)))


def by_itself(part: Part) -> str:
    """How to review what was left out, without a hook's limits."""
    if not isinstance(part, Range):
        return "push again when that is mended"
    base = part.base[:SHORT] if part.has_base else part.base
    return f"`reviewbot review {base}..{part.head[:SHORT]}` has the time and the limits of a review"


def fields(ended: Sequence[Ended]) -> dict[str, Any]:
    """The push as one JSON document: for each part its refs, its ends, and the review as ``review --format json`` has it."""
    return {"schema_version": 1, "parts": [storable(_part(one)) for one in ended]}


def _part(one: Ended) -> dict[str, Any]:
    part = one.part
    ends = {"base": part.base, "head": part.head, "commits": part.commits, "since": part.words} if isinstance(part, Range) else {}
    return {
        "refs": [part.name] if isinstance(part, Nothing) else list(part.names),
        "base": None,
        "head": None,
        "commits": 0,
        "since": None,
        **ends,
        "reason": part.why if isinstance(part, Nothing) else one.why or None,
        "again": one.again,
        "review": document(one.outcome.review) if one.outcome else None,
    }
