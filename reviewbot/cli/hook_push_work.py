"""A push under review: each of its parts, one after the other, told as soon as it is known."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from reviewbot import wiring
from reviewbot.cli import hook_push_told as telling
from reviewbot.cli.alarm import TimeUp, alarm
from reviewbot.cli.hook_push_told import Ended
from reviewbot.cli.options import HookArguments
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import deliver, say
from reviewbot.cli.watch import watching
from reviewbot.errors import ReviewbotError
from reviewbot.events.pushed import Push
from reviewbot.publish import plain
from reviewbot.publish.document import dumps
from reviewbot.wiring import outgoing, pushing_hook
from reviewbot.wiring.outgoing import Nothing, Part, Range, Unreadable

GRACE_SHARE, LEAST_GRACE = 0.1, 5.0
"""A review ends by itself when its time is up. What is not at its end so much later, as a share or in seconds, is stopped."""

WHOLE = ("this push",)


def run(arguments: HookArguments, named: Push, push: Push | None) -> int:
    """Review a push, tell it, and return the exit code. Without a ``push`` it is what is checked out, to the remote as it is
    ``named``. Where the operator's configuration cannot be read, nothing is reviewed."""
    try:
        order = order_of(arguments)
        seconds = pushing_hook.seconds_of(order)
    except ReviewbotError as error:
        unread = Ended(Unreadable(WHOLE, str(error)), why=str(error))
        say(telling.text(unread, arguments, environ=os.environ).rstrip("\n"))
        return _told(arguments, [unread])
    work = _Work(arguments, order)
    try:
        with alarm(seconds + max(LEAST_GRACE, seconds * GRACE_SHARE)):
            work.do(outgoing.by_hand(order, named) if push is None else push)
    except TimeUp:
        work.stop(seconds)
    return _told(arguments, work.ended)


def _told(arguments: HookArguments, ended: list[Ended]) -> int:
    if arguments.format == "json":
        deliver(dumps(telling.fields(ended)))
    return telling.code(ended, strict=arguments.strict)


@dataclass(slots=True)
class _Work:
    """A push, and what became of its parts so far. ``began`` is when the first review did, in seconds of a monotonic clock."""

    arguments: HookArguments
    order: wiring.Order
    parts: tuple[Part, ...] = ()
    ended: list[Ended] = field(default_factory=list)
    began: float | None = None

    def do(self, push: Push) -> None:
        """Review all of it."""
        try:
            self.parts = outgoing.outgoing(self.order, push)
        except ReviewbotError as error:
            self._tell(Ended(Unreadable(WHOLE, str(error)), why=str(error)))
            return
        if any(isinstance(part, Nothing) for part in self.parts):
            self._say(telling.left_out(self.parts))
        self.order, notes = pushing_hook.heeding(self.order)
        self._say(f"reviewbot: {plain.line(note)}" for note in notes)
        for part in self.parts:
            self._tell(self._ended(part))
        self._settle()

    def stop(self, seconds: float) -> None:
        """Say of what is not at its end that it will not be."""
        why = f"the {seconds:g} s of this push are up, and it did not end by itself"
        for part in self.parts[len(self.ended) :] or (Unreadable(WHOLE, why),):
            self._tell(Ended(part, why=f"{why}; {telling.by_itself(part)}"))

    def _ended(self, part: Part) -> Ended:
        match part:
            case Nothing():
                return Ended(part)
            case Unreadable():
                return Ended(part, why=part.why)
            case Range():
                try:
                    return self._reviewed(part)
                except ReviewbotError as error:
                    return Ended(part, why=telling.problem(error, part))

    def _reviewed(self, part: Range) -> Ended:
        known = pushing_hook.prospect(self.order, part)
        if known.finished is not None:
            again = Ended(part, pushing_hook.told_again(self.order, known), known=known, again=True)
            # What stops a push is looked at again: perhaps it was not the code, but the machine, and that is mended.
            if not again.blocks:
                self._say(telling.opening(known))
                return again
        self._say(telling.opening(known, anew=True))
        spent = self._spent()
        with watching(self.arguments, self.order) as observer:
            return Ended(part, pushing_hook.review(self.order, known, spent=spent, observer=observer), known=known)

    def _spent(self) -> float:
        """Seconds since the first review of this push began."""
        now = wiring.SystemClock().seconds()
        self.began = now if self.began is None else self.began
        return now - self.began

    def _settle(self) -> None:
        """Several reviews may have told findings: those of the last one are the ones that can be asked about."""
        made = [one for one in self.ended if one.outcome is not None]
        told = [one for one in made if one.outcome is not None and one.outcome.review.posted()]
        if not told or len(made) < 2:
            return
        last = told[-1]
        if last is not made[-1] and last.known is not None and last.outcome is not None:
            pushing_hook.remember(self.order, last.known, last.outcome.review)
        if len(told) > 1:
            self._say(telling.which(last.part))

    def _say(self, lines: Iterable[str]) -> None:
        for line in () if self.arguments.quiet else lines:
            say(line)

    def _tell(self, one: Ended) -> None:
        self.ended.append(one)
        words = telling.text(one, self.arguments, environ=self.order.environment)
        if words and not (self.arguments.quiet and one.is_calm):
            say(words.rstrip("\n"))
