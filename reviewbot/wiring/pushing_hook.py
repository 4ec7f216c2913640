"""The reviews of a push: each range within what is left of the hook's time, and none that was made before and still holds."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot import __version__, config, wiring
from reviewbot.config import Configuration
from reviewbot.config.seats import Seating
from reviewbot.domain.dismissal import FILE, Dismissals
from reviewbot.domain.review import Conclusion, Review
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import IncompleteError, UsageError
from reviewbot.ports import Observer
from reviewbot.publish import document, load
from reviewbot.wiring import books, dismissing, offers, scene
from reviewbot.wiring.order import Order, Outcome
from reviewbot.wiring.outgoing import Range

PUSHES = "pushes"
"""The folder of finished reviews in the state directory."""

MOST_KEPT = 50
"""Reviews of one repository's pushes that are kept."""

HOLDS_SECONDS = 86_400.0
"""How long a finished review is good: what programs and dependencies a machine has is no part of its key, and changes."""

STEP_SECONDS = 5.0
"""What is left of a hook's time is rounded down to this: a debate that was cut off is resumed where its options are the same."""

LEAST_SECONDS = 1.0
"""With less than this no review is begun: it is the least that ``limits.seconds`` may be."""

_PASSING = ("hook.", "display.", "limits.seconds", "review.fail_on")
"""Configuration that decides nothing of what a complete review says."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """A range that is about to be reviewed: under which configuration, by whom, and its key among finished reviews. ``finished``
    is the review that was made of it before, where that was complete and is not too old."""

    range: Range
    configuration: Configuration
    seating: Seating
    project: str
    key: str
    finished: Review | None = None

    @property
    def seconds(self) -> float:
        """The time of the whole push, by this range's configuration."""
        return self.configuration.get("hook.seconds", float)


def seconds_of(order: Order) -> float:
    """The time of a push as the operator has it: no range's own configuration is longer. Raises ConfigError."""
    held = config.load(flags=order.flags, environ=order.environment, user=order.user)
    return held.get("hook.seconds", float)


def heeding(order: Order) -> tuple[Order, tuple[str, ...]]:
    """The order with what is dismissed in the work tree, and what is to be said of that. Whoever pushes is at the keyboard and
    decides what is told there: what was dismissed a minute ago need not be committed, nor be on the remote."""
    try:
        shelf = dismissing.shelf(order)
    except UsageError as error:
        return order, (f"what {FILE} of the work tree dismisses is not known: {error}",)
    # Where the last one was taken back, nothing is dismissed: the file of the base commit has no say then.
    return (order if shelf.data is None else replace(order, dismissals=Dismissals(shelf.held, is_final=True))), ()


def prospect(order: Order, part: Range) -> Prospect:
    """What is known of a range before it is reviewed. Raises ReviewbotError."""
    with scene.opened(_narrowed(order, part)) as at:
        seating = offers.seated(order, at.configuration)
        key = _key(at, seating, order)
        finished = None if order.fresh else _recall(order.state, at.project, key)
        return Prospect(part, at.configuration, seating, at.project, key, finished)


def review(order: Order, known: Prospect, *, spent: float, observer: Observer | None = None) -> Outcome:
    """Review a range in what is left of the push's time after ``spent`` seconds, and keep that where it is complete. Raises
    IncompleteError where no time is left, ReviewbotError."""
    left = _left(known, spent)
    if left < LEAST_SECONDS:
        hint = "push the rest on its own, raise hook.seconds, or give --timeout"
        raise IncompleteError(f"the {known.seconds:g} s of this push were up before it was begun", hint=hint)
    limits: Mapping[str, tuple[object, str]] = {
        "limits.seconds": (min(left, known.configuration.get("limits.seconds", float)), "hook.seconds"),
        "fix.mode": ("off", "the hook"),
    }
    narrowed = _narrowed(order, known.range)
    outcome = wiring.review(replace(narrowed, flags={**order.flags, **limits}), observer)
    is_settled = outcome.review.conclusion is Conclusion.COMPLETE and not any(check.is_gap for check in outcome.review.checks)
    if is_settled and order.state is not None:
        _keep(outcome.review, order.state, known)
    return outcome


def told_again(order: Order, known: Prospect) -> Outcome:
    """The finished review as the last one of its repository, so that its findings can be asked about."""
    assert known.finished is not None
    books.keep(known.finished, order, known.project)
    return Outcome(known.finished, known.configuration)


def remember(order: Order, known: Prospect, made: Review) -> None:
    """Make a review of this push the last one of its repository: the one whose findings people ask about."""
    books.keep(made, order, known.project)


def _narrowed(order: Order, part: Range) -> Order:
    return replace(order, target=Target(TargetKind.RANGE, base=part.base, head=part.head))


def _left(known: Prospect, spent: float) -> float:
    """Seconds for the next review. The first of a push has all of them."""
    left = known.seconds - spent
    steps = left // STEP_SECONDS * STEP_SECONDS
    return known.seconds if spent == 0 else steps if steps >= STEP_SECONDS else left


def _key(at: scene.Scene, seating: Seating, order: Order) -> str:
    """Everything that decides what a complete review says, and can be known without making it."""
    rows = ((name, setting.value) for name, setting in at.configuration.rows() if not name.startswith(_PASSING))
    who = (seating.is_static, seating.seats, seating.moderator)
    trees = (at.revisions.base_tree, at.revisions.head_tree)
    decisive = (__version__, trees, who, tuple(rows), at.configuration.folders, order.execute, order.dismissals)
    return hashlib.sha256(repr(decisive).encode("utf-8", "surrogateescape")).hexdigest()


def _recall(state: Path | None, project: str, key: str) -> Review | None:
    if state is None:
        return None
    path = _folder(state, project) / f"{key}.json"
    with suppress(OSError, ValueError, UsageError):
        if 0 <= time.time() - path.stat().st_mtime < HOLDS_SECONDS:
            return load.load_review(path.read_bytes())
    return None


def _keep(made: Review, state: Path, known: Prospect) -> None:
    """What cannot be written is not kept: the next push then takes as long as this one."""
    folder = _folder(state, known.project)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = folder / f".{made.run_id}"
        draft.write_text(document.packed(document.document(made)), encoding="utf-8")
        draft.replace(folder / f"{known.key}.json")
        kept = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in kept[MOST_KEPT:]:
            old.unlink()


def _folder(state: Path, project: str) -> Path:
    return state / PUSHES / hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:32]
